"""Comparisons of scorers: exchanged ranks against slow ones, p-values that agree with intervals, and their level."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from command_line import run
from reference_inference import exchanged_statistic, rank_ranges
from rocband.inference import compare_many, compare_partial_auc, resampling
from rocband.inference.comparison import draws_of_each, smallest_pvalue
from rocband.inference.figures import Rectangle
from rocband.inference.permutation import Exchanges, Judgement
from rocband.inference.sample import Sample
from rocband.study import Study

# Few negatives are what is tried; TestFewNegatives of test_inference.py has the warning.
pytestmark = pytest.mark.filterwarnings("ignore::rocband.metrics.NarrowBandWarning")

EXACT = 1e-12
METHODS = ("permutation", "analytic", "spacings", "bootstrap")
FULL = (0.0, 1.0)
# No simple fractions, so that the ends of a band fall on no corner of a small sample's curve, where slopes differ.
PLAIN_ENDS = st.sampled_from([0.0, 0.0613, 0.1307, 0.2719, 0.3541, 0.6137, 0.8513, 1.0])


def two_scorers(seed, m=20, n=40, shift=0.0, correlation=0.5, grid=None):
    """Labels and two scorers of normal scores; the first separates better by ``shift``."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], (m, n))
    noise = rng.normal(size=(2, m + n))
    first = noise[0] + (1 + shift) * y
    second = correlation * noise[0] + np.sqrt(1 - correlation**2) * noise[1] + y
    return (y, first, second) if grid is None else (y, np.round(first / grid), np.round(second / grid))


@st.composite
def pairs(draw, most=8):
    """Labels and the scores of two scorers, tied or not."""
    sizes = [draw(st.integers(2, most)) for _ in range(2)]
    kind = draw(st.sampled_from([st.integers(-2, 2).map(float), st.floats(-1e3, 1e3, allow_subnormal=False)]))
    first, second = (np.array(draw(st.lists(kind, min_size=sum(sizes), max_size=sum(sizes)))) for _ in range(2))
    return np.repeat([1, 0], sizes), first, second


@st.composite
def rectangles(draw):
    ranges = [sorted((draw(PLAIN_ENDS), draw(PLAIN_ENDS))) for _ in range(2)]
    assume(all(low < high for low, high in ranges))
    return {"fpr_range": tuple(ranges[0]), "tpr_range": tuple(ranges[1])}


def exchanges(y, first, second, fpr_range=FULL, tpr_range=FULL, groups=None):
    sample = Sample.of(y, {"first": first, "second": second}, groups)
    return Exchanges(sample, Rectangle(fpr_range, tpr_range), (0, 1))


def judged(*data, n_draws=200, **options):
    return exchanges(*data, **options).judged(n_draws, np.random.default_rng(0))


class TestExchanges:
    @settings(max_examples=60)
    @given(pairs(), rectangles(), st.integers(0, 2**32 - 1))
    def test_an_exchange_is_that_of_ranks_written_out(self, data, options, seed):
        y, first, second = data
        swaps = np.random.default_rng(seed).random(len(y)) < 0.5
        # Each sample its own group, so that it has a coin of its own, in the order of the samples.
        made = exchanges(*data, **options, groups=np.arange(len(y)))
        order = np.lexsort((-second, -first))
        side_order = [order[y[order] == side] for side in (1, 0)]
        swapped = [swaps[rows][np.newaxis].astype(float) for rows in side_order]
        difference, error = made._differences(tuple(swapped))
        slow = exchanged_statistic(y, rank_ranges(first), rank_ranges(second), swaps, **options)
        assert difference[0] == pytest.approx(slow[0], abs=1e-9)
        assert error[0] == pytest.approx(slow[1], abs=1e-5)

    @settings(max_examples=40)
    @given(pairs(), rectangles())
    def test_nothing_exchanged_is_the_sample(self, data, options):
        y, first, second = data
        plain = compare_partial_auc(y, first, second, method="analytic", **options)
        made = judged(*data, **options, n_draws=1)
        assert made.difference == pytest.approx(plain.difference, abs=EXACT)

    def test_standard_error_is_that_of_the_analytic_method(self):
        data = two_scorers(0, 30, 50)
        plain = compare_partial_auc(*data, fpr_range=(0.0, 0.3), method="analytic")
        made = judged(*data, fpr_range=(0.0, 0.3))
        gap = np.diff([plain.low, plain.high])[0] / 2
        # Student's quantile, for at least the degrees of freedom of the smaller class and at most all.
        assert stats.t.isf(0.025, 78) <= gap / made.error <= stats.t.isf(0.025, 29)

    @pytest.mark.parametrize("grid", [None, 1.0])
    @pytest.mark.parametrize("groups", [None, np.arange(9), np.array([0, 0, 1, 2, 3, 3, 4, 4, 5])])
    def test_p_value_is_the_share_of_all_exchanges(self, grid, groups):
        data = two_scorers(3, 4, 5, shift=1.0, grid=grid)
        y, first, second = data
        ranks = rank_ranges(first), rank_ranges(second)
        names = np.arange(9) if groups is None else groups
        coins = itertools.product([False, True], repeat=len(np.unique(names)))
        all_exchanges = [np.array(coin)[names] for coin in coins]
        if groups is not None and len(np.unique(groups)) < 9:
            figures = [exchanged_statistic(y, *ranks, swap)[0] for swap in all_exchanges]
            made = exchanges(*data, groups=groups)
            drawn = made._differences(made.coins.toss(20_000, np.random.default_rng(0)))[0]
            assert drawn.std() == pytest.approx(np.std(figures), rel=0.03)
            assert sorted(set(np.round(drawn, 9))) == pytest.approx(sorted(set(np.round(figures, 9))))
            return
        differences, errors = np.array([exchanged_statistic(y, *ranks, swap) for swap in all_exchanges]).T
        # Numerical derivatives leave an error of 1e-9 where there is none.
        statistics = np.abs(differences) / np.maximum(errors, 1e-7)
        share = np.mean(statistics >= statistics[0] * (1 - 1e-6))
        made = judged(*data, groups=groups, n_draws=20_000)
        assert made.pvalue == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 20_000))

    def test_what_no_exchange_reaches_is_left_out(self):
        data = two_scorers(4, 300, 3000, correlation=0.9)
        short = exchanges(*data, fpr_range=(0.0, 0.01))
        assert short.shares.shape[1] < 150
        full = exchanges(*data, fpr_range=FULL)
        assert full.shares.shape[1] > 500

    @pytest.mark.parametrize("groups", [None, np.arange(60) // 3, np.arange(60) % 7])
    def test_blocks_change_nothing(self, monkeypatch, groups):
        data = two_scorers(5)
        once = judged(*data, groups=groups)
        monkeypatch.setattr(resampling, "_BLOCK_ENTRIES", 1000)
        assert judged(*data, groups=groups).exchanged == pytest.approx(once.exchanged, abs=1e-9)

    def test_progress_on_request(self, capsys):
        compare_partial_auc(*two_scorers(6), n_draws=200, random_state=0)
        assert capsys.readouterr().err == ""
        compare_partial_auc(*two_scorers(6), n_draws=200, random_state=0, verbose=1)
        assert "200 of 200 draws" in capsys.readouterr().err


class TestJudgement:
    FALLING = np.arange(19.0, 0.0, -1.0)

    def judgement(self, statistic, error=0.01):
        return Judgement(error * statistic, error, True, statistic, self.FALLING)

    def test_exchanges_as_far_and_the_sample_count(self):
        assert self.judgement(20.0).pvalue == 1 / 20
        assert self.judgement(19.0).pvalue == 2 / 20
        assert self.judgement(-17.5).pvalue == 3 / 20
        assert self.judgement(0.0).pvalue == 20 / 20

    def test_ends_lie_where_the_p_value_crosses_the_level(self):
        # P-values below 0.1 are 1/20 alone: further away than all but no exchange, that is than the farthest.
        assert self.judgement(3.0).interval(0.9) == pytest.approx((-0.16, 0.22))
        # Those below 0.11 are 1/20 and 2/20: further away than the second.
        assert self.judgement(3.0).interval(0.89) == pytest.approx((-0.15, 0.21))
        # None is below 0.05.
        assert self.judgement(3.0).interval(0.95) == (-1.0, 1.0)

    @settings(max_examples=200)
    @given(
        st.integers(0, 2**32 - 1),
        st.sampled_from([99, 100, 199, 1999]),
        st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]),
        st.sampled_from([None, 1.0]),
    )
    def test_zero_is_outside_if_and_only_if_the_p_value_is_below_the_level(self, seed, n_draws, confidence, grid):
        made = judged(*two_scorers(seed, 6, 9, shift=1.5, grid=grid), n_draws=n_draws)
        low, high = made.interval(confidence)
        level = round(1 - confidence, 9)
        assert (low > 0 or high < 0) == (made.pvalue < level)


@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(METHODS),
    st.sampled_from([FULL, (0.0, 0.1), (0.05, 0.4)]),
    st.sampled_from([0.8, 0.95]),
    st.sampled_from([None, 0.5]),
    st.booleans(),
)
def test_interval_and_p_value_agree(seed, method, band, confidence, grid, grouped):
    y, first, second = two_scorers(seed, 12, 15, shift=1.0, grid=grid)
    groups = np.arange(len(y)) // 2 if grouped else None
    options = {"fpr_range": band, "method": method, "confidence": confidence, "n_draws": 199, "random_state": 0}
    result = compare_partial_auc(y, first, second, groups=groups, **options)
    excluded = result.low > 0 or result.high < 0
    if method in ("permutation", "analytic"):
        assert excluded == (result.pvalue < round(1 - confidence, 9))
    else:
        # Quantiles lie between two draws, and p-values count whole ones.
        near = 2 / 200 + 1e-12  # such as 0.21 and 0.2, whose difference is a little more in floating point
        assert excluded == (result.pvalue < 1 - confidence) or abs(result.pvalue - (1 - confidence)) <= near


class TestOneAnswer:
    @settings(max_examples=30)
    @given(
        st.integers(0, 2**32 - 1),
        st.sampled_from([None, 0.5]),
        st.sampled_from([FULL, (0.0, 0.1), (0.05, 0.4)]),
        st.sampled_from(["auto", "permutation", "analytic"]),
        st.sampled_from([None, "mixed", "apart"]),
    )
    def test_the_order_of_the_scorers_and_of_the_samples_does_not_matter(self, seed, grid, band, method, grouping):
        y, first, second = two_scorers(seed, 15, 25, shift=0.5, grid=grid)
        groups = {None: None, "mixed": np.arange(40) % 11, "apart": np.arange(40) // 5}[grouping]
        options = {"fpr_range": band, "method": method, "n_draws": 100, "random_state": seed}
        there = compare_partial_auc(y, first, second, groups=groups, **options)
        back = compare_partial_auc(y, second, first, groups=groups, **options)
        assert back.pvalue == pytest.approx(there.pvalue, abs=EXACT)
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-9)
        order = np.random.default_rng(0).permutation(len(y))
        moved = None if groups is None else groups[order]
        mixed = compare_partial_auc(y[order], np.exp(first)[order], second[order], groups=moved, **options)
        assert mixed.pvalue == pytest.approx(there.pvalue, abs=EXACT)
        assert (mixed.low, mixed.high) == pytest.approx((there.low, there.high), abs=1e-9)

    @settings(max_examples=20)
    @given(
        st.integers(0, 2**32 - 1),
        st.integers(2, 30),
        st.integers(2, 120),
        st.sampled_from([FULL, (0.0, 0.3), (0.2, 0.6)]),
        st.sampled_from(["auto", "spacings", "bootstrap", "analytic"]),
    )
    def test_whatever_asks(self, seed, m, n, band, method):
        y, first, second = two_scorers(seed, m, n, shift=0.5)
        options = {"fpr_range": band, "method": method, "n_draws": 100, "random_state": 5}
        single = compare_partial_auc(y, first, second, **options)
        (many,) = compare_many(y, {"a": first, "b": second}, **options)
        (study,) = Study.of(y, {"a": first, "b": second}, **options).comparisons
        for other in (many, study):
            assert (other.pvalue, other.low, other.high) == (single.pvalue, single.low, single.high)
            assert other.method == single.method

    @pytest.mark.parametrize(("m", "n"), [(20, 60), (80, 90)])
    def test_the_command_line_too(self, folder, m, n):
        y, first, second = two_scorers(1, m, n, shift=0.5)
        pd.DataFrame({"y": y, "a": first, "b": second}).to_csv("scores.csv", index=False)
        single = compare_partial_auc(y, first, second, fpr_range=(0.0, 0.7), random_state=0)
        asked = ("compare", "scores.csv", "--target", "y", "--score", "a", "--score", "b", "--fpr", 0, 0.7)
        shown = json.loads(run(*asked, "--json").stdout)["comparisons"]
        assert [one["pvalue"] for one in shown] == pytest.approx([single.pvalue])
        assert [(one["low"], one["high"]) for one in shown] == [pytest.approx((single.low, single.high))]

    def test_a_pair_among_others_is_adjusted_by_holm_and_bonferroni(self):
        y, first, second = two_scorers(8, shift=1.5)
        third = np.random.default_rng(9).normal(size=len(y))
        scores = {"a": first, "b": second, "c": third}
        options = {"fpr_range": (0.0, 0.5), "n_draws": 1000, "random_state": 3}
        together = compare_many(y, scores, **options)
        alone = [
            compare_partial_auc(y, *(scores[n] for n in r.names), confidence=1 - 0.05 / 3, **options) for r in together
        ]
        assert [(r.low, r.high) for r in together] == [(r.low, r.high) for r in alone]
        falling = np.sort([r.pvalue for r in alone])
        assert sorted(r.pvalue for r in together) == pytest.approx(
            np.minimum(np.maximum.accumulate(falling * [3, 2, 1]), 1)
        )

    def test_a_generator_serves_all_pairs_alike(self):
        y, first, second = two_scorers(8)
        scores = {"a": first, "b": second, "a again": first}
        pair, same, back = compare_many(y, scores, n_draws=100, random_state=np.random.default_rng(0))
        assert same.pvalue == 1.0
        assert (pair.low, pair.high) == pytest.approx((-back.high, -back.low))


class TestDraws:
    def test_many_pairs_have_more(self):
        assert draws_of_each(2000, 1, 0.99) == 2000
        assert draws_of_each(2000, 3, 0.95) == 2000
        assert draws_of_each(2000, 45, 0.95) == 9000

    def test_smallest_p_values(self):
        assert smallest_pvalue("permutation", 1999, 1, 0.95) == 1 / 2000
        assert smallest_pvalue("permutation", 1999, 45, 0.95) == 45 / 9001
        assert smallest_pvalue("spacings", 1999, 1, 0.95) == 2 / 2000
        assert smallest_pvalue("bootstrap", 1999, 3, 0.95) == 1 / 2000
        assert smallest_pvalue("analytic", 1999, 3, 0.95) == 0

    def test_the_study_knows_the_smallest(self):
        y = np.repeat([1, 0], 20)
        scores = {"good": y + 0.0, "bad": -1.0 * y, "noise": np.random.default_rng(0).normal(size=40)}
        made = Study.of(y, scores, fpr_range=FULL, n_draws=1000, random_state=0)
        assert made.comparisons[0].method == "permutation"
        assert made.comparisons[0].pvalue == made.smallest_pvalue == 3 / 1001


class TestChoice:
    @pytest.mark.parametrize(
        ("m", "n", "band", "method"),
        [
            (50, 50, {}, "analytic"),
            (49, 500, {}, "permutation"),
            (500, 49, {}, "permutation"),
            (60, 990, {"fpr_range": (0.0, 0.05)}, "permutation"),
            (60, 1000, {"fpr_range": (0.0, 0.05)}, "analytic"),
            (60, 1000, {"fpr_range": (0.05, 0.09)}, "permutation"),
            (240, 60, {"tpr_range": (0.8, 1.0)}, "permutation"),
            (250, 60, {"tpr_range": (0.8, 1.0)}, "analytic"),
        ],
    )
    def test_by_what_the_band_holds(self, m, n, band, method):
        result = compare_partial_auc(*two_scorers(0, m, n), n_draws=100, random_state=0, **band)
        assert result.method == method

    def test_by_groups_where_they_are_given(self):
        y, first, second = two_scorers(0, 90, 90)
        assert compare_partial_auc(y, first, second).method == "analytic"
        grouped = compare_partial_auc(y, first, second, groups=np.arange(180) // 2, n_draws=100, random_state=0)
        assert grouped.method == "permutation"

    def test_one_scorer_has_spacings(self):
        y, first, _ = two_scorers(0)
        made = Study.of(y, {"a": first}, fpr_range=FULL, n_draws=100, random_state=0)
        assert made.pauc("a").method == made.method_of_intervals == "spacings"


@pytest.mark.parametrize("method", ["permutation", "analytic"])
class TestNoVariation:
    """Where a sample shows no variation, an interval without width would claim what nobody knows."""

    Y = np.repeat([1, 0], 20)
    PERFECT = Y + np.arange(40) / 100
    OTHER = Y - np.arange(40) / 100
    # Clopper and Pearson's upper end for none of 20.
    ROOM = 1 - 0.025 ** (1 / 20)

    def compared(self, first, second, method, **options):
        return compare_partial_auc(self.Y, first, second, method=method, n_draws=200, random_state=0, **options)

    def test_two_perfect_scorers_may_differ(self, method):
        result = self.compared(self.PERFECT, self.OTHER, method)
        assert (result.difference, result.pvalue) == (0.0, 1.0)
        assert (result.low, result.high) == pytest.approx((-self.ROOM, self.ROOM))

    def test_one_order_cannot_differ(self, method):
        result = self.compared(self.PERFECT, 2 * self.PERFECT, method)
        assert (result.low, result.high, result.pvalue) == (0.0, 0.0, 1.0)

    def test_perfect_against_reversed(self, method):
        result = self.compared(self.PERFECT, -self.OTHER, method)
        assert result.difference == 1.0
        assert 0 < result.low <= 1 - self.ROOM + EXACT
        assert result.high == 1.0
        assert result.pvalue < 0.01

    def test_a_narrow_band_knows_little(self, method):
        result = self.compared(self.PERFECT, self.OTHER, method, fpr_range=(0.0, 0.1))
        # Of 20 negatives, the band holds 2.
        assert result.high == pytest.approx(1 - 0.025 ** (1 / 2))

    def test_groups_count_once(self, method):
        result = self.compared(self.PERFECT, self.OTHER, method, groups=np.arange(40) // 4)
        assert result.high == pytest.approx(1 - 0.025 ** (1 / 5))


class TestLevel:
    """Few samples: the limits are those of chance. ``benchmarks/levels.py`` measures."""

    def rejected(self, m, n, band, correlation, grid, count):
        options = {"fpr_range": band, "n_draws": 199, "random_state": 0}
        scorers = (two_scorers([seed, m, n], m, n, correlation=correlation, grid=grid) for seed in range(count))
        return sum(compare_partial_auc(*data, **options).pvalue < 0.05 for data in scorers)

    # The defaults before rejected 12.3% of the first, the analytic method 14% of the second and 8% of the third.
    @pytest.mark.parametrize(
        ("m", "n", "band", "correlation", "grid"),
        [
            (20, 200, FULL, 0.5, None),
            (20, 20, (0.0, 0.05), 0.5, None),
            (20, 20, (0.0, 0.05), 0.95, 0.5),
            (20, 200, (0.0, 0.05), 0.95, 0.5),
        ],
    )
    def test_a_true_null_is_rarely_rejected(self, m, n, band, correlation, grid):
        count = 300
        assert self.rejected(m, n, band, correlation, grid, count) <= stats.binom.isf(1e-3, count, 0.05)

    def test_a_difference_is_found(self):
        found = sum(
            compare_partial_auc(
                *two_scorers(seed, 20, 100, shift=1.0), fpr_range=(0.0, 0.2), n_draws=199, random_state=0
            ).pvalue
            < 0.05
            for seed in range(100)
        )
        assert found >= 60
