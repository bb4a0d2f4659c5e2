"""Risks: from scores to a value and planes, knowing nothing of features.

A surrogate is one class in one file; `risk_for` is the only place that knows their names.
"""

from typing import Literal, get_args

from rocband._errors import ParameterError
from rocband.risks.band import Band
from rocband.risks.base import BandRisk, Difference, Risk
from rocband.risks.graphs import Bipartite, Clique, Graph, Star
from rocband.risks.hinge import HingeRisk
from rocband.risks.naive import NaiveRisk
from rocband.risks.plane import Plane, SmoothedPlane, Smoothing
from rocband.risks.ramp import RampRisk
from rocband.risks.scores import Negatives, Scores
from rocband.risks.tight import TightRisk

__all__ = [
    "Band",
    "BandRisk",
    "Bipartite",
    "Clique",
    "Difference",
    "Graph",
    "Negatives",
    "Plane",
    "Risk",
    "Scores",
    "SmoothedPlane",
    "Smoothing",
    "Star",
    "Surrogate",
    "check_surrogate",
    "risk_for",
]

Surrogate = Literal["tight", "hinge", "ramp", "naive"]

_RISKS: dict[Surrogate, type[BandRisk]] = {
    "tight": TightRisk,
    "hinge": HingeRisk,
    "ramp": RampRisk,
    "naive": NaiveRisk,
}


def check_surrogate(surrogate: object) -> None:
    """Say in one sentence what is wrong when ``surrogate`` names no risk."""
    if isinstance(surrogate, type) and issubclass(surrogate, BandRisk):
        return
    if not isinstance(surrogate, str) or surrogate not in _RISKS:
        names = ", ".join(repr(name) for name in get_args(Surrogate))
        raise ParameterError("surrogate", f"must be one of {names}, got {surrogate!r}.")


def risk_for(surrogate: Surrogate | type[BandRisk], band: Band) -> BandRisk:
    """Return the risk of that name for a band; a class of risks, such as one of your own, stands for itself.

    Examples
    --------
    >>> import numpy as np
    >>> risk = risk_for("ramp", Band.from_range((0.0, 0.5), 2))
    >>> risk.value(Scores.of(np.array([1.0, 0.0]), np.array([0.5, -2.0])))
    0.75
    """
    check_surrogate(surrogate)
    kind = surrogate if isinstance(surrogate, type) else _RISKS[surrogate]
    return kind(band)
