"""Text that a terminal shows as it is, whatever a file put into names and values."""

from __future__ import annotations

__all__ = ["visible"]


def visible(text: str) -> str:
    r"""Return text with every character escaped that would move the cursor, change colours or turn the reading order.

    Examples
    --------
    >>> from rocband.cli.visible import visible
    >>> print(visible("age\x1b[31m"))
    age\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return character.encode("unicode_escape").decode()
