"""Intervals, tests and comparisons against slow resampling, numerical derivatives, and simulation."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from reference_inference import bowed_curve, delong_variance, derivative, resampled, spaced_curve
from rocband.inference import (
    compare_many,
    compare_partial_auc,
    generalization_bound,
    partial_auc_interval,
    partial_auc_test,
    resampling,
    tpr_at_fpr_interval,
)
from rocband.inference.figures import Height, Rectangle, Steps
from rocband.inference.sample import Sample
from rocband.metrics import NarrowBandWarning, empirical_partial_auc, partial_auc_score, tpr_at_fpr_score

EXACT = 1e-12
THOROUGH = settings(max_examples=200, deadline=None)
METHODS = ("spacings", "analytic", "bootstrap")
BANDS = [
    {"fpr_range": (0.0, 1.0)},
    {"fpr_range": (0.0, 0.1)},
    {"fpr_range": (0.13, 0.37)},
    {"tpr_range": (0.71, 1.0)},
    {"fpr_range": (0.0, 0.41), "tpr_range": (0.33, 0.93)},
]
# No simple fraction, so that the ends of a band do not fall on a corner of a small sample's curve.
PLAIN_ENDS = st.sampled_from([0.0, 0.0613, 0.1307, 0.2719, 0.3541, 0.6137, 0.8513, 1.0])


def noisy_sample(seed, m=60, n=80, shift=1.0, ties=False):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], (m, n))
    scores = rng.normal(size=m + n) + shift * y
    return y, np.round(scores, 1) if ties else scores


@st.composite
def classes(draw):
    """Scores of both classes, tied or not."""
    kind = draw(st.sampled_from([st.integers(-3, 3).map(float), st.floats(-1e3, 1e3, allow_subnormal=False)]))
    return [np.array(draw(st.lists(kind, min_size=2, max_size=15))) for _ in range(2)]


@st.composite
def rectangles(draw):
    ranges = [sorted((draw(PLAIN_ENDS), draw(PLAIN_ENDS))) for _ in range(2)]
    assume(all(low < high for low, high in ranges))
    return {"fpr_range": tuple(ranges[0]), "tpr_range": tuple(ranges[1])}


def figure_of(options):
    if "fpr" in options:
        return Height(options["fpr"])
    return Rectangle(options.get("fpr_range", (0.0, 1.0)), options.get("tpr_range", (0.0, 1.0)))


def counts_in_steps(steps, positives, negatives):
    sides = ((steps.positive, positives), (steps.negative, negatives))
    return [np.bincount(step, times, minlength=steps.count)[np.newaxis].astype(int) for step, times in sides]


@pytest.mark.filterwarnings("ignore::rocband.metrics.NarrowBandWarning")
class TestCurve:
    @THOROUGH
    @given(classes(), rectangles(), st.integers(0, 2**32 - 1))
    def test_resampled_area_is_the_metric_of_the_resample(self, sides, options, seed):
        self.check(sides, options, seed)

    @THOROUGH
    @given(classes(), st.integers(0, 1000).map(lambda k: k / 1000), st.integers(0, 2**32 - 1))
    def test_resampled_height_is_the_metric_of_the_resample(self, sides, fpr, seed):
        self.check(sides, {"fpr": fpr}, seed)

    def check(self, sides, options, seed):
        rng = np.random.default_rng(seed)
        times = [rng.multinomial(len(side), np.full(len(side), 1 / len(side))) for side in sides]
        steps, y = Steps.of(*sides), np.repeat([1, 0], [len(side) for side in sides])
        value = figure_of(options).values(steps, *counts_in_steps(steps, *times))[0]
        assert abs(value - resampled(y, np.concatenate(sides), np.concatenate(times), **options)) <= EXACT

    @THOROUGH
    @given(classes(), rectangles())
    def test_influence_is_the_derivative_by_the_weight(self, sides, options):
        y, scores = np.repeat([1, 0], [len(side) for side in sides]), np.concatenate(sides)
        influence = figure_of(options).influence(Steps.of(*sides))
        slopes = [derivative(y, scores, index, **options) for index in range(len(y))]
        corners = self.near_corner(sides, options)
        assume(not corners)
        assert np.allclose(np.concatenate((influence.positive, influence.negative)), slopes, atol=1e-6)

    @staticmethod
    def near_corner(sides, options):
        """Whether an end of the rectangle meets a flat or vertical piece exactly, where one-sided slopes differ."""
        rates = [np.arange(len(side) + 1) / len(side) for side in sides]
        ends = [[end for end in options[name] if 0 < end < 1] for name in ("tpr_range", "fpr_range")]
        return any(np.abs(r - end).min() < 1e-5 for r, own in zip(rates, ends, strict=True) for end in own)

    @pytest.mark.parametrize("ties", [False, True])
    def test_variance_of_the_full_area_is_delongs(self, ties):
        y, scores = noisy_sample(0, ties=ties)
        sample = Sample.of(y, {"y_score": scores})
        variance, _ = sample.variance(
            Rectangle((0.0, 1.0), (0.0, 1.0)).influence(Steps.of(scores[y == 1], scores[y == 0]))
        )
        assert variance == pytest.approx(delong_variance(scores[y == 1], scores[y == 0]), rel=1e-10)

    def test_only_what_no_resample_reaches_is_left_out(self):
        y, scores = noisy_sample(1, 2000, 3000)
        figure = Rectangle((0.0, 0.05), (0.0, 1.0))
        short = Steps.of(scores[y == 1], scores[y == 0], figure.reach(3000))
        full = Steps.of(scores[y == 1], scores[y == 0])
        assert short.count < full.count / 3
        rng = np.random.default_rng(0)
        for _ in range(50):
            times = [rng.multinomial(size, np.full(size, 1 / size)) for size in (2000, 3000)]
            short_value, full_value = (figure.values(s, *counts_in_steps(s, *times))[0] for s in (short, full))
            assert abs(short_value - full_value) <= EXACT


class TestSpacings:
    @THOROUGH
    @given(st.integers(2, 12), st.integers(2, 12), rectangles(), st.integers(0, 2**32 - 1))
    def test_area_of_an_even_curve(self, m, n, options, seed):
        sides, gaps = self.drawn(m, n, 1.0, seed)
        x, y = spaced_curve(*sides, *gaps)
        drawn_x, drawn_y = self.points(resampling._Path.even(resampling._Merged.of(*sides), np.inf), gaps)
        assert np.allclose(drawn_x, x)
        assert np.allclose(drawn_y, y)
        self.check_area(options, (drawn_x, drawn_y), (x, y))

    @THOROUGH
    @given(
        st.integers(2, 12),
        st.integers(2, 12),
        st.sampled_from([-2.0, 1.0, 4.0]),
        rectangles(),
        st.integers(0, 2**32 - 1),
    )
    def test_area_of_a_bowed_curve(self, m, n, shift, options, seed):
        sides, gaps = self.drawn(m, n, shift, seed)
        points = self.points(resampling._Path.bowed(resampling._Merged.of(*sides), np.inf), gaps)
        self.check_area(options, points, bowed_curve(*sides, *gaps))

    @staticmethod
    def drawn(m, n, shift, seed):
        """Scores by falling order, and gaps between the rates at them, of the positives and of the negatives."""
        rng = np.random.default_rng(seed)
        sides = [np.sort(rng.normal(mean, 1, size))[::-1] for mean, size in ((shift, m), (0, n))]
        return sides, [rng.dirichlet(np.ones(size + 1)) for size in (m, n)]

    @staticmethod
    def points(path, gaps):
        row = np.zeros(1, dtype=np.intp)
        y, x = (
            resampling._cumulated(own[np.newaxis], row, path.gaps[axis], path.parts[axis])
            for axis, own in enumerate(gaps)
        )
        return x, y

    @staticmethod
    def check_area(options, drawn, expected):
        value = figure_of(options).polyline_values(*drawn, (np.ones(1), np.ones(1)))[0]
        fine = np.linspace(*options["fpr_range"], 200_001)
        low, high = options["tpr_range"]
        area = np.mean(np.clip(np.interp(fine, *expected), low, high) - low) / (high - low)
        assert value == pytest.approx(area, abs=2e-5)

    def test_every_third_draw_bows(self):
        y, scores = noisy_sample(40, 30, 30, shift=4)
        sample, figure = Sample.of(y, {"y_score": scores}), Rectangle((0.0, 1.0), (0.0, 1.0))
        source = resampling._Spacings(sample, figure)
        values = source.draw(range(3000), *np.random.default_rng(0).spawn(2))[:, 0]
        odd = source.draw(range(1, 3001), *np.random.default_rng(0).spawn(2))[:, 0]
        # The same gaps straight and bowed: the bowed curve is above.
        assert np.all(values[2::3] > odd[2::3])
        assert np.all(values[1::3] < odd[1::3])
        assert np.array_equal(values[::3], odd[::3])

    @pytest.mark.parametrize("shift", [-1.0, 0.0, 1.0, 4.0])
    def test_reversed_scores_mirror_the_interval(self, shift):
        y, scores = noisy_sample(41, 40, 60, shift=shift)
        there, back = (partial_auc_interval(y, s, n_draws=20_000, random_state=0) for s in (scores, -scores))
        assert [there.low, there.high] == pytest.approx([1 - back.high, 1 - back.low], abs=0.01)

    def test_height_where_the_curve_is_vertical(self):
        y, scores = noisy_sample(42, 40, 40, shift=2)
        interval = tpr_at_fpr_interval(y, scores, fpr=0.0, random_state=0)
        assert interval.low == 0 < interval.estimate < interval.high <= 1

    def test_gaps_are_uniform_spacings(self):
        y, scores = noisy_sample(2, 5, 4)
        source = resampling._Spacings(Sample.of(y, {"y_score": scores}), Rectangle((0.0, 1.0), (0.0, 1.0)))
        weights, rest = source._weights(4000, np.random.default_rng(0), np.random.default_rng(1))
        assert [side.shape[1] for side in weights] == [6, 5]
        assert not np.any(rest)
        first = weights[1][:, 0] / weights[1].sum(axis=1)
        assert stats.kstest(first, stats.beta(1, 4).cdf).pvalue > 0.01

    def test_leaving_out_what_is_never_reached_keeps_the_distribution(self, monkeypatch):
        y, scores = noisy_sample(3, 400, 2000)
        options = {"fpr_range": (0.0, 0.02), "n_draws": 20_000}
        short = partial_auc_interval(y, scores, random_state=0, **options)
        monkeypatch.setattr(Rectangle, "reach", lambda self, n: np.inf)
        full = partial_auc_interval(y, scores, random_state=1, **options)
        assert short.low == pytest.approx(full.low, abs=0.01)
        assert short.high == pytest.approx(full.high, abs=0.01)

    def test_single_members_as_groups_change_nothing(self):
        y, scores = noisy_sample(4)
        options = {"fpr_range": (0.0, 0.2), "n_draws": 20_000, "random_state": 0}
        alone = partial_auc_interval(y, scores, **options)
        grouped = partial_auc_interval(y, scores, groups=np.arange(len(y)), **options)
        assert grouped.low == pytest.approx(alone.low, abs=0.01)
        assert grouped.high == pytest.approx(alone.high, abs=0.01)


class TestBootstrap:
    def test_distribution_is_that_of_a_plain_loop(self):
        y, scores = noisy_sample(5, ties=True)
        rng = np.random.default_rng(0)
        loop = []
        for _ in range(2000):
            rows = np.concatenate([rng.choice(np.flatnonzero(y == side), (y == side).sum()) for side in (1, 0)])
            loop.append(partial_auc_score(y[rows], scores[rows], fpr_range=(0.0, 0.3)))
        interval = partial_auc_interval(
            y, scores, fpr_range=(0.0, 0.3), method="bootstrap", n_draws=20_000, random_state=0
        )
        assert np.quantile(loop, [0.025, 0.975]) == pytest.approx([interval.low, interval.high], abs=0.015)

    @pytest.mark.parametrize("mixed", [False, True])
    def test_groups_are_resampled_as_a_whole(self, mixed):
        y, scores = noisy_sample(6, ties=True)
        groups = np.arange(len(y)) % 20 if mixed else np.arange(len(y)) // 5
        rng = np.random.default_rng(0)
        loop = []
        members = {name: np.flatnonzero(groups == name) for name in np.unique(groups)}
        strata = [list(members)] if mixed else [[g for g in members if y[members[g][0]] == side] for side in (1, 0)]
        for _ in range(2000):
            names = [name for stratum in strata for name in rng.choice(stratum, len(stratum))]
            rows = np.concatenate([members[name] for name in names])
            loop.append(partial_auc_score(y[rows], scores[rows], fpr_range=(0.0, 0.3)))
        options = {"fpr_range": (0.0, 0.3), "method": "bootstrap", "n_draws": 20_000, "random_state": 0}
        interval = partial_auc_interval(y, scores, groups=groups, **options)
        assert np.quantile(loop, [0.025, 0.975]) == pytest.approx([interval.low, interval.high], abs=0.015)

    def test_draws_without_a_class_are_drawn_again(self):
        y, scores = noisy_sample(7, 4, 40)
        groups = np.concatenate(([0, 0, 1, 1], np.arange(40) % 8))
        interval = partial_auc_interval(y, scores, groups=groups, method="bootstrap", n_draws=500, random_state=0)
        assert 0 <= interval.low < interval.high <= 1


@pytest.mark.parametrize("method", METHODS)
class TestInterval:
    @pytest.mark.parametrize("band", BANDS)
    def test_estimate_is_the_metric(self, method, band):
        y, scores = noisy_sample(8, ties=True)
        interval = partial_auc_interval(y, scores, method=method, n_draws=200, random_state=0, **band)
        assert interval.estimate == pytest.approx(partial_auc_score(y, scores, **band), abs=EXACT)
        assert 0 <= interval.low < interval.estimate < interval.high <= 1

    def test_height_is_the_metric(self, method):
        y, scores = noisy_sample(9)
        interval = tpr_at_fpr_interval(y, scores, fpr=0.1, method=method, n_draws=200, random_state=0)
        assert interval.estimate == pytest.approx(tpr_at_fpr_score(y, scores, fpr=0.1), abs=EXACT)
        assert 0 <= interval.low < interval.estimate < interval.high <= 1

    @pytest.mark.parametrize("fpr", [0.0, 1.0])
    def test_height_at_the_ends(self, method, fpr):
        y, scores = noisy_sample(9)
        interval = tpr_at_fpr_interval(y, scores, fpr=fpr, method=method, n_draws=200, random_state=0)
        assert interval.low <= interval.estimate <= interval.high

    def test_methods_agree_on_large_samples(self, method):
        y, scores = noisy_sample(10, 3000, 5000)
        reference = partial_auc_interval(y, scores, fpr_range=(0.0, 0.1), random_state=0)
        interval = partial_auc_interval(y, scores, fpr_range=(0.0, 0.1), method=method, random_state=1)
        assert [interval.low, interval.high] == pytest.approx([reference.low, reference.high], abs=0.003)

    @pytest.mark.parametrize("grouped", [False, True])
    def test_order_of_the_samples_changes_nothing(self, method, grouped):
        y, scores = noisy_sample(11)
        groups = np.arange(len(y)) // 3 if grouped else None
        order = np.random.default_rng(0).permutation(len(y))
        options = {"fpr_range": (0.0, 0.2), "method": method, "n_draws": 200, "random_state": 7}
        first = partial_auc_interval(y, scores, groups=groups, **options)
        second = partial_auc_interval(
            y[order], scores[order], groups=None if groups is None else groups[order], **options
        )
        assert [first.low, first.high] == pytest.approx([second.low, second.high], abs=EXACT)

    def test_increasing_transformations_change_nothing(self, method):
        y, scores = noisy_sample(12)
        options = {"fpr_range": (0.05, 0.2), "method": method, "n_draws": 200, "random_state": 3}
        assert partial_auc_interval(y, scores, **options) == partial_auc_interval(y, np.exp(scores), **options)

    @pytest.mark.parametrize("shift", [-20, 20])
    def test_perfect_separation_leaves_room(self, method, shift):
        y, scores = noisy_sample(13, 20, 20, shift=shift)
        interval = partial_auc_interval(y, scores, fpr_range=(0.0, 0.5), method=method, random_state=0)
        assert interval.estimate == (shift > 0)
        assert interval.low <= interval.estimate <= interval.high
        if method != "bootstrap":
            assert 0.02 < interval.high - interval.low < 0.6

    def test_higher_confidence_is_wider(self, method):
        y, scores = noisy_sample(14)
        widths = []
        for confidence in (0.5, 0.9, 0.99):
            interval = partial_auc_interval(y, scores, confidence=confidence, method=method, random_state=0)
            widths.append(interval.high - interval.low)
        assert widths == sorted(widths)

    def test_positive_label(self, method):
        y, scores = noisy_sample(15)
        names = np.where(y == 1, "ill", "well")
        options = {"fpr_range": (0.0, 0.2), "method": method, "n_draws": 200, "random_state": 0}
        assert partial_auc_interval(names, scores, pos_label="ill", **options) == partial_auc_interval(
            y, scores, **options
        )

    @pytest.mark.parametrize("mixed", [False, True])
    def test_groups_that_vary_together_widen_the_interval(self, method, mixed):
        rng = np.random.default_rng(0)
        y = np.tile([1, 0], 200) if mixed else np.repeat([1, 0], 200)
        groups = np.arange(400) // 10
        # In mixed groups only the positives share what varies, else it would cancel.
        shared = rng.normal(size=40)[groups] * (y if mixed else 1)
        scores = shared + 0.3 * rng.normal(size=400) + y
        options = {"fpr_range": (0.0, 0.3), "method": method, "n_draws": 500, "random_state": 0}
        alone, grouped = (partial_auc_interval(y, scores, groups=g, **options) for g in (None, groups))
        assert grouped.high - grouped.low > 1.3 * (alone.high - alone.low)

    def test_repeated_members_as_groups_give_the_interval_of_the_members(self, method):
        y, scores = noisy_sample(16)
        options = {"fpr_range": (0.0, 0.2), "method": method, "n_draws": 10_000, "random_state": 0}
        once = partial_auc_interval(y, scores, **options)
        thrice = partial_auc_interval(
            np.repeat(y, 3), np.repeat(scores, 3), groups=np.repeat(np.arange(len(y)), 3), **options
        )
        assert [once.low, once.high] == pytest.approx([thrice.low, thrice.high], abs=0.02)


class TestOneInterval:
    @pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float32, bool])
    def test_any_kind_of_numbers(self, dtype):
        y, scores = noisy_sample(17)
        kept = (scores > np.median(scores)) if dtype is bool else np.round(100 + 10 * scores).astype(dtype)
        interval, same = (partial_auc_interval(y, s, n_draws=200, random_state=0) for s in (kept, kept.astype(float)))
        assert interval == same

    def test_whole_numbers_beyond_floats_are_told_apart(self):
        y = np.repeat([1, 0], 20)
        scores = 2**60 + np.arange(40)[::-1]
        assert partial_auc_interval(y, scores, random_state=0) == partial_auc_interval(
            y, scores - 2**60, random_state=0
        )

    def test_is_frozen_and_readable(self):
        y, scores = noisy_sample(17)
        interval = partial_auc_interval(y, scores, method="analytic")
        with pytest.raises(FrozenInstanceError):
            interval.low = 0.0
        assert str(interval).startswith(f"{interval.estimate:.4f} (95% interval ")
        assert interval.method == "analytic"

    def test_seeds_decide(self):
        y, scores = noisy_sample(18)
        first, again, other = (partial_auc_interval(y, scores, n_draws=200, random_state=s) for s in (1, 1, 2))
        assert first == again != other
        kinds = [partial_auc_interval(y, scores, n_draws=200, random_state=s) for s in (None, np.random.RandomState(0))]
        assert all(interval.estimate == first.estimate for interval in kinds)

    def test_a_generator_moves_on(self):
        y, scores = noisy_sample(18)
        rng = np.random.default_rng(0)
        first, second = (partial_auc_interval(y, scores, n_draws=200, random_state=rng) for _ in range(2))
        assert first != second

    @pytest.mark.parametrize("method", ["spacings", "bootstrap"])
    def test_block_size_changes_nothing(self, method, monkeypatch):
        y, scores = noisy_sample(19)
        options = {"fpr_range": (0.0, 0.2), "n_draws": 300, "method": method, "random_state": 0}
        first = partial_auc_interval(y, scores, **options)
        monkeypatch.setattr(resampling, "_BLOCK_ENTRIES", 1000)
        assert partial_auc_interval(y, scores, **options) == first

    def test_progress_on_request(self, capsys, monkeypatch):
        y, scores = noisy_sample(20)
        monkeypatch.setattr(resampling, "_BLOCK_ENTRIES", 1000)
        partial_auc_interval(y, scores, n_draws=200, random_state=0)
        assert capsys.readouterr().err == ""
        partial_auc_interval(y, scores, n_draws=200, random_state=0, verbose=1)
        output = capsys.readouterr()
        assert "200 of 200 draws" in output.err
        assert output.out == ""

    @pytest.mark.parametrize("method", ["spacings", "bootstrap"])
    def test_memory_does_not_grow_with_the_draws(self, method):
        y, scores = noisy_sample(21, 2000, 2000)
        peaks = []
        for n_draws in (200, 2000):
            tracemalloc.start()
            partial_auc_interval(y, scores, n_draws=n_draws, method=method, random_state=0)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < 1.2 * peaks[0] < 40e6


class TestCoverage:
    """Few replicates: the limits are those of chance. ``benchmarks/coverage.py`` measures."""

    @pytest.mark.parametrize(("m", "n", "band"), [(30, 30, (0.0, 0.05)), (100, 30, (0.0, 1.0)), (40, 200, (0.02, 0.1))])
    def test_spacings_cover_even_few_negatives(self, m, n, band):
        replicates, hits = 300, 0
        grid = np.linspace(*band, 2001)
        truth = np.mean(stats.norm.sf(stats.norm.isf(grid) - 1))
        for seed in range(replicates):
            y, scores = noisy_sample([seed, m], m, n)
            interval = partial_auc_interval(y, scores, fpr_range=band, n_draws=200, random_state=seed)
            hits += interval.low <= truth <= interval.high
        assert hits >= stats.binom.ppf(1e-3, replicates, 0.94)

    @pytest.mark.parametrize(
        ("shift", "m", "n", "band"),
        [
            (4.0, 143, 85, (0.0, 1.0)),
            (4.0, 143, 85, (0.0, 0.05)),
            (5.0, 143, 85, (0.0, 1.0)),
            (4.0, 300, 300, (0.0, 1.0)),
        ],
    )
    def test_spacings_cover_very_strong_scorers(self, shift, m, n, band):
        replicates, hits = 300, 0
        grid = np.linspace(*band, 200_001)
        truth = np.mean(stats.norm.sf(stats.norm.isf(grid) - shift))
        for seed in range(replicates):
            y, scores = noisy_sample([seed, m], m, n, shift=shift)
            interval = partial_auc_interval(y, scores, fpr_range=band, n_draws=200, random_state=seed)
            assert interval.low <= interval.estimate <= interval.high
            hits += interval.low <= truth <= interval.high
        assert hits >= 0.92 * replicates

    def test_equal_scorers_are_rarely_told_apart(self):
        rejected, replicates = dict.fromkeys(METHODS, 0), 200
        for seed in range(replicates):
            rng = np.random.default_rng(seed)
            y = np.repeat([1, 0], (60, 150))
            first, second = rng.normal(size=(2, len(y))) + y
            for method in METHODS:
                result = compare_partial_auc(
                    y, first, second, fpr_range=(0.0, 0.2), method=method, n_draws=200, random_state=0
                )
                rejected[method] += result.pvalue < 0.05
        assert all(count <= stats.binom.isf(1e-3, replicates, 0.06) for count in rejected.values())


class TestValue:
    @pytest.mark.parametrize("method", METHODS)
    def test_p_value_agrees_with_the_interval(self, method):
        y, scores = noisy_sample(22)
        options = {"fpr_range": (0.0, 0.2), "method": method, "n_draws": 1000, "random_state": 0}
        interval = partial_auc_interval(y, scores, **options)
        for value, outside in ((interval.low - 0.01, True), (interval.low + 0.01, False), (interval.high + 0.01, True)):
            result = partial_auc_test(y, scores, value=value, **options)
            assert (result.pvalue < 0.05) == outside
            assert (result.low, result.high) == (interval.low, interval.high)
        assert partial_auc_test(y, scores, value=interval.estimate, **options).pvalue > 0.7

    @pytest.mark.parametrize("method", ["spacings", "bootstrap"])
    def test_nothing_speaks_against_the_estimate(self, method):
        y, scores = noisy_sample(43, 30, 30, shift=20)
        result = partial_auc_test(y, scores, value=1.0, method=method, n_draws=200, random_state=0)
        assert (result.estimate, result.high, result.pvalue) == (1.0, 1.0, 1.0)
        assert partial_auc_test(y, scores, value=0.5, method=method, n_draws=200, random_state=0).pvalue < 0.05

    def test_is_readable(self):
        y, scores = noisy_sample(23)
        assert str(partial_auc_test(y, scores, value=0.5, method="analytic")).endswith("against 0.5")

    @pytest.mark.parametrize(
        ("shift", "value", "certain"), [(20, 0.99, False), (20, 0.2, True), (-20, 0.5, True), (1, 1.0, True)]
    )
    def test_where_the_logit_is_infinite(self, shift, value, certain):
        y, scores = noisy_sample(24, 20, 20, shift=shift)
        assert (partial_auc_test(y, scores, value=value, method="analytic").pvalue < 0.05) == certain


class TestComparison:
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("band", BANDS)
    def test_difference_of_the_metrics(self, method, band):
        y, first = noisy_sample(25)
        _, second = noisy_sample(26, shift=2.0)
        result = compare_partial_auc(y, first, second, method=method, n_draws=200, random_state=0, **band)
        expected = partial_auc_score(y, first, **band) - partial_auc_score(y, second, **band)
        assert result.difference == pytest.approx(expected, abs=EXACT)
        assert result.low < result.difference < result.high

    @pytest.mark.parametrize("method", METHODS)
    def test_a_scorer_does_not_differ_from_itself(self, method):
        y, scores = noisy_sample(27)
        result = compare_partial_auc(y, scores, 3 * scores + 1, method=method, n_draws=200, random_state=0)
        assert (result.difference, result.pvalue) == (0.0, 1.0)
        assert result.low == pytest.approx(0.0, abs=EXACT)
        assert result.high == pytest.approx(0.0, abs=EXACT)

    @pytest.mark.parametrize("method", METHODS)
    def test_pairing_narrows_the_interval(self, method):
        y, scores = noisy_sample(28, 200, 200)
        noise = np.random.default_rng(0).normal(size=(2, len(y)))
        near, far = scores + 0.2 * noise[0], noise[1] + y
        widths = []
        for other in (near, far):
            result = compare_partial_auc(
                y, scores, other, fpr_range=(0.0, 0.2), method=method, n_draws=500, random_state=0
            )
            widths.append(result.high - result.low)
        assert widths[0] < widths[1] / 2

    def test_analytic_is_delongs_test(self):
        y, first = noisy_sample(29)
        second = first + np.random.default_rng(0).normal(size=len(y))
        result = compare_partial_auc(y, first, second, method="analytic")
        wins = [(s[y == 1][:, None] > s[y == 0]).astype(float) for s in (first, second)]
        gap = wins[0] - wins[1]
        variance = gap.mean(axis=1).var(ddof=1) / 60 + gap.mean(axis=0).var(ddof=1) / 80
        z = (roc_auc_score(y, first) - roc_auc_score(y, second)) / np.sqrt(variance)
        assert result.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.1)

    @pytest.mark.parametrize("method", METHODS)
    def test_swapping_changes_the_sign(self, method):
        y, first = noisy_sample(30)
        _, second = noisy_sample(31)
        options = {"fpr_range": (0.0, 0.3), "method": method, "n_draws": 10_000, "random_state": 0}
        there, back = compare_partial_auc(y, first, second, **options), compare_partial_auc(y, second, first, **options)
        assert [there.low, there.high] == pytest.approx([-back.high, -back.low], abs=0.015)

    def test_is_readable(self):
        y, scores = noisy_sample(32)
        assert str(compare_partial_auc(y, scores, -scores, method="analytic")).startswith("score_a - score_b: +")


class TestManyScorers:
    def scorers(self, seed=0, count=4):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], (80, 160))
        base = rng.normal(size=len(y)) + y
        return y, {f"model {k}": base + 0.5 * rng.normal(size=len(y)) for k in range(count)}

    @pytest.mark.parametrize("method", ["spacings", "bootstrap"])
    def test_all_pairs_or_one_reference(self, method):
        y, scores = self.scorers()
        options = {"fpr_range": (0.0, 0.3), "method": method, "n_draws": 300, "random_state": 0}
        pairs = compare_many(y, scores, **options)
        assert [result.names for result in pairs] == list(itertools.combinations(scores, 2))
        against = compare_many(y, scores, reference="model 2", **options)
        assert [result.names for result in against] == [(name, "model 2") for name in scores if name != "model 2"]
        for result in (*pairs, *against):
            expected = [partial_auc_score(y, scores[name], fpr_range=(0.0, 0.3)) for name in result.names]
            assert result.estimates == pytest.approx(expected, abs=EXACT)
            assert result.low < result.difference < result.high
            assert (result.pvalue < 0.05) == (not result.low < 0 < result.high)

    def test_more_comparisons_are_judged_more_strictly(self):
        y, scores = self.scorers(count=6)
        first = dict(list(scores.items())[:2])
        options = {"n_draws": 2000, "random_state": 0}
        alone, among = compare_many(y, first, **options)[0], compare_many(y, scores, **options)[0]
        assert among.names == alone.names
        assert among.high - among.low > 1.2 * (alone.high - alone.low)
        assert among.pvalue > alone.pvalue

    def test_analytic_is_holm_and_bonferroni(self):
        y, scores = self.scorers()
        scores["far"] = -scores["model 0"]
        band = (0.0, 0.3)
        options = {"fpr_range": band, "method": "analytic"}
        together = compare_many(y, scores, confidence=0.9, **options)
        level = 1 - 0.1 / len(together)
        alone = [compare_partial_auc(y, *(scores[n] for n in r.names), confidence=level, **options) for r in together]
        for result, single in zip(together, alone, strict=True):
            assert (result.low, result.high) == pytest.approx((single.low, single.high))
            # Holm: the largest, over the p-values no larger, of each times how many are left from it on.
            others = [r.pvalue for r in alone]
            left = [(p, sum(q >= p for q in others)) for p in others if p <= single.pvalue]
            assert result.pvalue == pytest.approx(min(max(p * count for p, count in left), 1))
        assert len({result.pvalue < 0.1 for result in together}) == 2

    def test_one_analytic_pair_needs_no_adjustment(self):
        y, scores = self.scorers(count=2)
        (pair,) = compare_many(y, scores, fpr_range=(0.0, 0.3), method="analytic")
        single = compare_partial_auc(y, *scores.values(), fpr_range=(0.0, 0.3), method="analytic")
        assert (pair.low, pair.high, pair.pvalue) == pytest.approx((single.low, single.high, single.pvalue))

    def test_copies_need_no_correction(self):
        y, scores = self.scorers(count=2)
        first, second = scores.values()
        copies = {"a": first, "b": second, "b again": second + 1}
        options = {"reference": "a", "method": "spacings", "n_draws": 2000, "random_state": 0}
        alone = compare_many(y, scores, reference="model 0", method="spacings", n_draws=2000, random_state=0)[0]
        among = compare_many(y, copies, **options)[0]
        assert among.high - among.low == pytest.approx(alone.high - alone.low, rel=0.05)

    def test_equal_scorers_are_rarely_told_apart(self):
        replicates = 100
        options = {"fpr_range": (0.0, 0.3), "method": "spacings", "n_draws": 200, "random_state": 0}
        rejected = sum(
            min(r.pvalue for r in compare_many(*self.scorers(seed), **options)) < 0.05 for seed in range(replicates)
        )
        assert rejected <= stats.binom.isf(1e-3, replicates, 0.06)


class TestBound:
    def test_shrinks_with_samples_and_grows_with_dimension_and_narrowness(self):
        def risk(m=10**5, n=10**5, band=(0.0, 0.1), d=5):
            return generalization_bound(m, n, fpr_range=band, vc_dimension=d).risk

        assert risk(m=10**6) < risk() < risk(m=10**4)
        assert risk(n=10**6) < risk() < risk(n=10**4)
        assert risk(band=(0.0, 0.2)) < risk() < risk(band=(0.05, 0.1))
        assert risk(d=2) < risk() < risk(d=50)

    def test_holds_for_the_best_direction_found(self):
        rng = np.random.default_rng(0)
        m, n, band = 20_000, 20_000, (0.0, 0.5)
        X, y = rng.normal(size=(m + n, 2)), np.repeat([1, 0], (m, n))
        directions = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, np.pi, 20)]
        risks = [1 - empirical_partial_auc(y, X @ direction, fpr_range=band) for direction in directions]
        bound = generalization_bound(m, n, fpr_range=band, vc_dimension=3, empirical_risk=min(risks))
        assert not bound.vacuous
        assert bound.risk > 0.75  # chance has a risk of 0.75 in this band

    def test_says_when_it_says_nothing(self):
        bound = generalization_bound(30, 30, fpr_range=(0.0, 0.1), vc_dimension=500)
        assert bound.vacuous
        assert "says nothing" in str(bound)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_positives": 0}, "n_positives must be a whole number"),
            ({"n_negatives": 2.5}, "n_negatives must be a whole number"),
            ({"vc_dimension": 0}, "vc_dimension must be a whole number"),
            ({"empirical_risk": 2}, "empirical_risk must be a number between 0 and 1"),
            ({"confidence": 1.0}, "confidence must be a number between 0 and 1"),
            ({"fpr_range": (0.2, 0.1)}, "fpr_range must satisfy"),
        ],
    )
    def test_bad_input(self, change, message):
        options = {"n_positives": 100, "n_negatives": 100, "fpr_range": (0.0, 0.1), "vc_dimension": 3} | change
        with pytest.raises(ValueError, match=message):
            generalization_bound(options.pop("n_positives"), options.pop("n_negatives"), **options)


class TestBadInput:
    y, scores = noisy_sample(0, 10, 10)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"y_true": np.ones(20)}, "only the label"),
            ({"y_true": np.repeat([1, 0], (1, 19))}, "one of the positives only"),
            ({"y_true": np.repeat([1, 0], (19, 1))}, "one of the negatives only"),
            ({"y_score": np.full(20, np.nan)}, "y_score holds nan at position 0"),
            ({"y_score": np.ones(19)}, "y_true has 20 entries but y_score has 19"),
            ({"fpr_range": (0.1, 0.1)}, "fpr_range must satisfy 0 <= low < high <= 1"),
            ({"tpr_range": (0.5, 0.2)}, "tpr_range must satisfy"),
            ({"n_draws": 99}, "n_draws must be a whole number of at least 100, got 99"),
            ({"n_draws": 150.5}, "n_draws must be a whole number"),
            ({"confidence": 95}, "confidence must lie strictly between 0 and 1, got 95"),
            ({"method": "delong"}, "method must be 'auto', 'spacings', 'bootstrap' or 'analytic', got 'delong'"),
            ({"groups": np.zeros(19)}, "y_true has 20 entries but groups has 19"),
            ({"groups": np.zeros(20)}, "All positives belong to the group 0.0"),
            ({"groups": np.repeat(["a", "b"], (15, 5))}, "All positives belong to the group 'a'"),
            ({"groups": np.concatenate((np.arange(10), np.full(10, 3)))}, "All negatives belong to the group 3"),
            ({"groups": np.array([1, "a"] * 10, dtype=object)}, "groups mixes values that cannot be compared"),
        ],
    )
    def test_interval(self, change, message):
        options = {"y_true": self.y, "y_score": self.scores} | change
        with pytest.raises(ValueError, match=message):
            partial_auc_interval(options.pop("y_true"), options.pop("y_score"), **options)

    def test_rate(self):
        with pytest.raises(ValueError, match=r"fpr must be a number in \[0, 1\]"):
            tpr_at_fpr_interval(self.y, self.scores, fpr=5)

    def test_value(self):
        with pytest.raises(ValueError, match=r"value must be a partial AUC in \[0, 1\], got 75"):
            partial_auc_test(self.y, self.scores, value=75)

    def test_pair(self):
        with pytest.raises(ValueError, match="y_true has 20 entries but score_b has 19"):
            compare_partial_auc(self.y, self.scores, self.scores[1:])
        with pytest.raises(ValueError, match="score_a holds inf at position 3"):
            compare_partial_auc(self.y, np.where(np.arange(20) == 3, np.inf, 0.0), self.scores)

    @pytest.mark.parametrize(
        ("scores", "options", "message"),
        [
            ({"a": scores}, {}, "scores must hold at least two scorers, got 1"),
            ({"a": scores, "b": scores[:5]}, {}, r"y_true has 20 entries but scores\['b'\] has 5"),
            ({"a": scores, "b": ["x"] * 20}, {}, r"scores\['b'\] must hold real numbers"),
            ({"a": scores, "b": -scores}, {"reference": "c"}, "reference must be one of the scorers 'a', 'b', got 'c'"),
            ({"a": scores, "b": -scores}, {"method": "delong"}, "method must be 'auto', 'permutation', 'spacings'"),
        ],
    )
    def test_many(self, scores, options, message):
        with pytest.raises(ValueError, match=message):
            compare_many(self.y, scores, **options)


class TestFewNegatives:
    y = np.repeat([1, 0], (10, 30))
    scores = np.random.default_rng(0).normal(size=40) + y

    @pytest.mark.parametrize("method", ["analytic", "bootstrap"])
    @pytest.mark.parametrize(
        ("call", "band"),
        [
            (partial_auc_interval, {"fpr_range": (0.0, 0.16)}),
            (partial_auc_test, {"fpr_range": (0.0, 0.16), "value": 0.5}),
            (tpr_at_fpr_interval, {"fpr": 0.16}),
        ],
    )
    def test_methods_that_miss_the_truth_say_so(self, call, band, method):
        with pytest.warns(NarrowBandWarning) as caught:
            call(self.y, self.scores, method=method, n_draws=100, random_state=0, **band)
        (warning,) = caught
        expected = (
            f"holds 4.8 of the 30 negatives: with fewer than 5, method='{method}' covers too rarely; 'spacings' does"
        )
        assert expected in str(warning.message)
        assert warning.filename == __file__

    @pytest.mark.parametrize("method", ["analytic", "bootstrap", "spacings"])
    def test_comparisons_that_find_too_much_say_so(self, method):
        options = {"fpr_range": (0.0, 0.1), "method": method, "n_draws": 100, "random_state": 0}
        with pytest.warns(NarrowBandWarning, match="holds 3 of the 30 negatives") as caught:
            compare_partial_auc(self.y, self.scores, -self.scores, **options)
        assert f"method='{method}' finds differences where there are none; 'permutation' does not." in str(
            caught[0].message
        )
        assert caught[0].filename == __file__

    @pytest.mark.parametrize("method", ["auto", "spacings"])
    def test_less_than_one_is_told_by_any_method(self, method):
        options = {"fpr_range": (0.0, 0.03), "n_draws": 100, "random_state": 0}
        with pytest.warns(NarrowBandWarning, match=r"holds 0.9 of the 30 negatives: the figure rests on one or two"):
            partial_auc_interval(self.y, self.scores, method=method, **options)
        with pytest.warns(NarrowBandWarning, match=r"holds 0.9 of the 30 negatives: the figures rest on one or two"):
            compare_partial_auc(self.y, self.scores, -self.scores, method="permutation", **options)

    def test_enough_are_not_told(self):
        options = {"n_draws": 100, "random_state": 0}
        for method in METHODS:
            partial_auc_interval(self.y, self.scores, fpr_range=(0.2, 0.4), method=method, **options)
        partial_auc_interval(self.y, self.scores, fpr_range=(0.0, 0.05), **options)
        compare_partial_auc(self.y, self.scores, -self.scores, fpr_range=(0.0, 0.05), **options)
        tpr_at_fpr_interval(self.y, self.scores, fpr=0.0, method="analytic")


def test_the_curve_ends_at_one_even_for_a_scorer_worse_than_chance():
    random = np.random.default_rng(0)
    y = np.repeat([1, 0], 30)
    interval = tpr_at_fpr_interval(y, random.normal(size=60) - 1.5 * y, fpr=1.0, random_state=0)
    assert (interval.low, interval.estimate, interval.high) == (1.0, 1.0, 1.0)
