"""A problem whose best direction depends on the band."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from rocband._errors import ParameterError
from rocband._input import check_open
from rocband._types import FloatArray

__all__ = ["make_band_problem"]

# These were found by scanning directions: (1, 1) has the best AUC, 0.83, but only 0.08 of the area in [0, 0.05]; the
# second feature alone has an AUC of 0.71 and 0.38 of that area.

# Most positives stand out along the first feature, ...
_COMMON_SHARE = 0.6
_COMMON_MEAN = (2.0, 0.0)
# ... the others along the second, ...
_CLEAR_MEAN = (0.0, 3.5)
# ... and some negatives lie beyond the first kind.
_ALIKE_SHARE = 0.1
_ALIKE_MEAN = (4.0, 0.0)


def make_band_problem(
    n_samples: int = 2000,
    *,
    prevalence: float = 0.2,
    n_features: int = 2,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Make a sample for which the best linear model by AUC is a bad one at low false-positive rates.

    Most positives stand out along the first feature, and so do, further out, a tenth of the negatives: look-alikes,
    such as harmless lesions in a screening. The other positives stand out along the second feature. A model for the
    AUC follows the majority along the first feature and has the look-alikes on top; a model for the band [0, 0.05]
    must leave that feature aside.

    Parameters
    ----------
    n_samples : int, default 2000
        Number of rows.
    prevalence : float, default 0.2
        Share of the positives, strictly between 0 and 1.
    n_features : int, default 2
        Number of columns; those after the second are noise.
    random_state : int, RandomState or None
        Seed of the generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        1 for positives, 0 for negatives.

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.metrics import partial_auc_score
    >>> X, y = make_band_problem(20_000, random_state=0)
    >>> for scores in (X[:, 0] + X[:, 1], X[:, 1]):
    ...     area = partial_auc_score(y, scores, fpr_range=(0.0, 0.05))
    ...     print(f"AUC {partial_auc_score(y, scores):.1f}, in the band {area:.1f}")
    AUC 0.8, in the band 0.1
    AUC 0.7, in the band 0.4
    """
    n_positives = _check_sizes(n_samples, prevalence, n_features)
    n_common = round(_COMMON_SHARE * n_positives)
    n_alike = round(_ALIKE_SHARE * (n_samples - n_positives))
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    X[:n_common, :2] += _COMMON_MEAN
    X[n_common:n_positives, :2] += _CLEAR_MEAN
    X[n_positives : n_positives + n_alike, :2] += _ALIKE_MEAN
    y = (np.arange(n_samples) < n_positives).astype(np.int64)
    order = rng.permutation(n_samples)
    return X[order], y[order]


def _check_sizes(n_samples: int, prevalence: float, n_features: int) -> int:
    """Return the number of positives."""
    for name, size in {"n_samples": n_samples, "n_features": n_features}.items():
        if not isinstance(size, Integral) or size < 2:
            raise ParameterError(name, f"must be a whole number of at least 2, got {size!r}.")
    wanted = round(check_open(prevalence, "prevalence") * n_samples)
    # At least one row of each class.
    return min(max(wanted, 1), int(n_samples) - 1)
