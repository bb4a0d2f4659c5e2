"""Errors that know which parameter they are about."""

from __future__ import annotations

from typing import Any

__all__ = ["ParameterError"]


class ParameterError(ValueError):
    """A parameter has a value that cannot be used.

    The message is ``parameter`` followed by ``problem``. A caller that knows the parameter by another name, such as an
    option of the command line, puts that name before the same problem.

    Parameters
    ----------
    parameter : str
        Its name in Python.
    problem : str
        The rest of the sentence, as in "must be above 0, got -1.".
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers send errors back by pickling, which would else call the class with the whole message.
        return type(self), (self.parameter, self.problem)
