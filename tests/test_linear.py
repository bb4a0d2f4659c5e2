"""PartialAUCSVC: a scikit-learn citizen, its certificate, its warnings and its errors."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rocband import PartialAUCSVC

SURROGATES = ("tight", "hinge", "ramp", "naive")


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@parametrize_with_checks(
    [PartialAUCSVC(fpr_range, surrogate=s) for s in SURROGATES for fpr_range in ((0.0, 0.3), (0.05, 0.2))]
    + [PartialAUCSVC(surrogate="tight", anchor=None), PartialAUCSVC((0.0, 1.0), surrogate="tight", anchor="auc")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
