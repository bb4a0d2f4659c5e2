"""The study: one interval a scorer and one p-value a pair, whoever asks."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from rocband.inference import (
    compare_many,
    compare_partial_auc,
    partial_auc_interval,
    partial_auc_test,
    tpr_at_fpr_interval,
)
from rocband.inference.comparison import _drawn_together
from rocband.inference.figures import Influence
from rocband.inference.intervals import two_sided
from rocband.inference.sample import Sample
from rocband.study import Study

RNG = np.random.default_rng(0)
Y = np.repeat([1, 0], (40, 60))
SCORES = {name: RNG.normal(size=100) + shift * Y for name, shift in (("a", 1.0), ("b", 1.5), ("c", 0.5))}
BAND = (0.02, 0.3)
DRAWN = {"n_draws": 200, "random_state": 3}
METHODS = ("spacings", "bootstrap", "analytic")


def study(*names, **options):
    return Study.of(Y, {name: SCORES[name] for name in names}, **({"fpr_range": BAND} | DRAWN | options))


def ends(result):
    return result.low, result.high, result.pvalue


@pytest.mark.parametrize("method", METHODS)
class TestOneAnswer:
    def test_figures_are_those_of_the_functions(self, method):
        figures = study("a", "b", method=method).figures("b")
        options = {"method": method, **DRAWN}
        assert figures.pauc == partial_auc_interval(Y, SCORES["b"], fpr_range=BAND, **options)
        assert figures.tpr == tpr_at_fpr_interval(Y, SCORES["b"], fpr=BAND[1], **options)
        assert figures.auc == partial_auc_interval(Y, SCORES["b"], **options)

    def test_other_scorers_change_no_interval(self, method):
        alone, among = study("b", method=method), study("c", "b", "a", method=method)
        assert alone.figures("b") == among.figures("b")

    def test_two_scorers_have_one_comparison(self, method):
        (pair,) = study("a", "b", method=method).comparisons
        options = {"fpr_range": BAND, "method": method, **DRAWN}
        single = compare_partial_auc(Y, SCORES["a"], SCORES["b"], **options)
        (many,) = compare_many(Y, {"a": SCORES["a"], "b": SCORES["b"]}, **options)
        assert ends(pair) == ends(single) == ends(many)

    def test_more_pairs_never_make_a_pair_surer(self, method):
        options = {"method": method, "n_draws": 4000}
        (alone,) = study("a", "b", **options).comparisons
        among = study("a", "b", "c", **options).comparisons[0]
        assert among.names == alone.names
        assert among.pvalue >= alone.pvalue - 0.02
        assert among.low <= alone.low + 0.01
        assert among.high >= alone.high - 0.01


@pytest.mark.parametrize("state", [None, np.random.RandomState(1), np.random.default_rng(1)])
def test_all_figures_share_one_seed_whatever_it_came_from(state):
    made = study("a", "b", random_state=state)
    later = made.pauc("b")
    again = study("b", "a", random_state=made.random_state)
    assert again.pauc("b") == later
    assert made.pauc("b") is later


def test_rates():
    assert study("a").rates == (0.01, 0.02, 0.05, 0.3)
    assert study("a", fpr_range=(0.0, 1.0)).rates == (0.01, 0.05)
    assert list(study("a", rates=[0.1]).operating_points("a").index) == [0.1]
    with pytest.raises(ValueError, match="rates must be numbers from 0 to less than 1, got 1"):
        study("a", rates=[1])


@pytest.mark.filterwarnings("ignore::rocband.metrics.NarrowBandWarning")
@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_an_operating_point_at_the_true_rate_is_the_tpr_of_the_summary(method):
    made = study("a", method=method, groups=np.arange(100) // 2)
    row = made.operating_points("a", at_true_fpr=True).loc[BAND[1]]
    tpr = made.tpr("a")
    assert row["TPR at true FPR"] == tpr.estimate
    assert (row["TPR at true FPR low"], row["TPR at true FPR high"]) == (tpr.low, tpr.high)


def test_calls_count_scores_above_zero():
    scores = np.array([1.0, 0.0, -1.0, 2.0, 0.0])
    calls = Study.of([1, 1, 1, 0, 0], scores, fpr_range=BAND).calls("scores")
    assert (calls.true_positives, calls.positives, calls.false_positives, calls.negatives) == (1, 3, 1, 2)


def test_a_study_is_equal_to_itself_alone():
    one = study("a")
    again = one
    assert one == again
    assert one != study("a")  # fields that are arrays have no single answer
    assert len({one, study("a")}) == 2


def test_an_unknown_scorer_is_named():
    with pytest.raises(ValueError, match="name must be one of the scorers 'a', got 'z'"):
        study("a").pauc("z")


def test_one_scorer_is_compared_with_none():
    assert study("a").comparisons == ()


class TestDrawnPValues:
    """A difference that no draw contradicts still has the p-value of the sample itself, which is one more draw."""

    Y = np.repeat([1, 0], 50)
    PERFECT: ClassVar = {"good": Y + 0.0, "bad": -1.0 * Y}

    @pytest.mark.parametrize("method", ["spacings", "bootstrap"])
    def test_smallest_of_one_pair(self, method):
        options = {"fpr_range": (0.0, 1.0), "method": method, "n_draws": 100, "random_state": 0}
        made = Study.of(self.Y, self.PERFECT, **options)
        assert made.comparisons[0].pvalue == made.smallest_pvalue == 2 / 101
        assert partial_auc_test(self.Y, self.PERFECT["good"], value=0.1, **options).pvalue == 2 / 101

    def test_smallest_of_several_pairs(self):
        noise = np.random.default_rng(0).normal(size=100)
        scores = {**self.PERFECT, "noise": noise}
        made = Study.of(self.Y, scores, fpr_range=(0.0, 1.0), method="spacings", n_draws=100, random_state=0)
        assert made.comparisons[0].pvalue == made.smallest_pvalue == 1 / 101

    def test_without_draws_there_is_no_smallest(self):
        assert study("a", "b", method="analytic").smallest_pvalue == 0

    def test_one_pair_counts_draws_and_the_sample(self):
        assert two_sided(np.arange(1.0, 100.0), 0.0, 50.0) == 2 / 100
        # The draw 0 itself is on both sides of 0.
        assert two_sided(np.arange(0.0, 99.0), 0.0, 50.0) == 4 / 100

    def test_several_pairs_count_draws_and_the_sample(self):
        column = np.array([-3.0, -1.0, 1.0, 3.0])
        # Two equal columns with one error: the largest deviations are 3, 1, 1 and 3, two of them at least 2.
        draws = np.column_stack((column, column))
        first, second = _drawn_together(draws, np.array([2.0, 9.0]), 0.95)
        assert first.pvalue == (2 + 1) / (4 + 1)
        assert second.pvalue == 1 / (4 + 1)

    def test_a_draw_as_large_as_the_difference_speaks_for_chance(self):
        column = np.array([-1.0, 1.0])
        draws = np.column_stack((column, column))
        verdicts = _drawn_together(draws, np.array([1.0, -1.0]), 0.95)
        assert [verdict.pvalue for verdict in verdicts] == [1.0, 1.0]


class TestWelch:
    """Few of one class: Student's distribution has few degrees of freedom, by Welch's formula as SciPy has it."""

    POSITIVE = np.array([0.7, -0.9, 0.2])
    NEGATIVE = np.array([2.0, -1.5, 1.0, -1.0, 0.3, -0.8])

    def test_degrees_of_freedom_are_scipys(self):
        sample = Sample.of([1] * 3 + [0] * 6, {"y_score": np.arange(9.0)})
        # The influences are centred and divided by the size of their class, as the terms of a mean are.
        influence = Influence(self.POSITIVE / 3, self.NEGATIVE / 6)
        variance, degrees = sample.variance(influence)
        expected = stats.ttest_ind(self.POSITIVE, self.NEGATIVE, equal_var=False)
        assert degrees == pytest.approx(expected.df)
        assert variance == pytest.approx(self.POSITIVE.var(ddof=1) / 3 + self.NEGATIVE.var(ddof=1) / 6)

    def test_mixed_groups_are_one_part(self):
        groups = [0, 1, 2, 0, 1, 2, 3, 3, 3]
        sample = Sample.of([1] * 3 + [0] * 6, {"y_score": -np.arange(9.0)}, groups)
        variance, degrees = sample.variance(Influence(self.POSITIVE / 3, self.NEGATIVE / 6))
        sums = np.array([0.7 / 3 + 2.0 / 6, -0.9 / 3 - 1.5 / 6, 0.2 / 3 + 1.0 / 6, -1.5 / 6])
        assert degrees == pytest.approx(3)
        assert variance == pytest.approx(sums @ sums * 4 / 3)

    def test_the_interval_and_the_p_value_use_them(self):
        rng = np.random.default_rng(2)
        y = np.repeat([1, 0], (4, 6))
        first = rng.normal(size=10) + y
        second = rng.normal(size=10) + y
        wins = [(scores[y == 1][:, np.newaxis] > scores[y == 0]).astype(float) for scores in (first, second)]
        gap = wins[0] - wins[1]
        test = stats.ttest_ind(gap.mean(axis=1), -gap.mean(axis=0), equal_var=False)
        error = np.sqrt(gap.mean(axis=1).var(ddof=1) / 4 + gap.mean(axis=0).var(ddof=1) / 6)
        result = compare_partial_auc(y, first, second, method="analytic")
        assert result.difference != 0
        assert result.pvalue == pytest.approx(2 * stats.t.sf(abs(gap.mean()) / error, test.df))
        assert result.high - result.difference == pytest.approx(stats.t.isf(0.025, test.df) * error)
