"""The surrogates against all pairs and brute force, their weights, and what relates them to each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
from rocband.risks import SURROGATES, Band, Linearization, hinge, naive, ramp, tight, top_hinge
from rocband.risks.surrogates import ramp_value

THOROUGH = settings(max_examples=250, deadline=None)
EXACT = 1e-12

names = pytest.mark.parametrize("name", sorted(SURROGATES))
convex_names = pytest.mark.parametrize("name", ["naive", "tight"])
seeds = st.integers(0, 2**32 - 1)

TIED = st.integers(-2, 3).map(lambda half: half / 2)
UNTIED = st.floats(-5, 5, allow_subnormal=False)
EXTREME = st.sampled_from([-1e100, -1e9, -1.0, -5e-324, 0.0, 1e-300, 1.0, 1e9, 1e100])
# Differences that miss 0 or 1 by a few units in the last place.
NOISY = st.sampled_from([0.1 * i for i in range(14)] + [0.1 + i / 10 for i in range(14)] + [np.nextafter(1, 2)])


@st.composite
def samples(draw, max_positives=8, max_negatives=12, kinds=(TIED, UNTIED, NOISY, EXTREME)):
    """Scores of positives and negatives, and a band of ranks."""
    kind = draw(st.sampled_from(kinds))
    m, n = draw(st.integers(1, max_positives)), draw(st.integers(1, max_negatives))
    scores = np.array(draw(st.lists(kind, min_size=m + n, max_size=m + n)))
    if kind is not EXTREME:
        scores += draw(st.sampled_from([0.0, 0.0, 1e6, -1e6 / 3]))
        scores = scores.astype(draw(st.sampled_from([np.float64, np.float32])))
    return scores[:m], scores[m:], draw(bands(n))


@st.composite
def bands(draw, n):
    """Any ranks 0 <= start < stop <= n."""
    start = draw(st.integers(0, n - 1))
    return Band(start, draw(st.integers(start + 1, n)), n)


tiny_samples = samples(max_positives=3, max_negatives=4, kinds=(TIED, UNTIED, NOISY))
plain_samples = samples(kinds=(TIED, UNTIED, NOISY))


def rounding(positives, negatives):
    """Error to allow for: scores enter by their differences, so a common offset must not cost digits."""
    scores = np.concatenate([positives, negatives]).astype(np.float64)
    return EXACT * (1 + np.ptp(scores))


def at_other(line, positives, negatives):
    """The tangent at some scores."""
    return line.offset + line.positives @ positives + line.negatives @ negatives[line.index]


def dense(line, n):
    """Weights of all negatives."""
    return np.bincount(line.index, line.negatives, minlength=n)


def random_scores(seed, m, n, scale=2.0):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=m), scale * rng.normal(size=n)


def random_band(seed, n):
    start, stop = np.sort(np.random.default_rng(seed).choice(n + 1, 2, replace=False))
    return Band(int(start), int(stop), n)


def is_generic(positives, negatives, distance=1e-4):
    """No ties and no pair at a kink, so that every surrogate but for max(A_i, B_i) is linear nearby."""
    gaps = reference.gaps(positives, negatives)
    kinks = [np.abs(gaps), np.abs(gaps - 1), np.diff(np.sort(negatives))]
    return all(np.min(kink, initial=1) > distance for kink in kinks)


class TestValues:
    @names
    @THOROUGH
    @given(sample=samples())
    def test_all_pairs(self, name, sample):
        s, z, _ = sample
        assert abs(SURROGATES[name](*sample).value - getattr(reference, name)(*sample)) <= rounding(s, z)

    @THOROUGH
    @given(samples(), st.sampled_from([0.0, 1.0, 0.3, -0.5]), st.data())
    def test_top_hinge(self, sample, margin, data):
        s, z, _ = sample
        k = data.draw(st.integers(0, len(z)), label="k")
        expected = reference.top_hinge(s, z, k, margin)
        assert abs(top_hinge(s, z, k, margin).value - expected) <= rounding(s, z) * len(s) * max(k, 1)

    @THOROUGH
    @given(tiny_samples)
    def test_tight_is_the_largest_over_subsets_and_orderings(self, sample):
        s, z, _ = sample
        assert abs(tight(*sample).value - reference.tight_by_brute_force(*sample)) <= rounding(s, z)

    @THOROUGH
    @given(tiny_samples)
    def test_naive_is_the_largest_over_orderings(self, sample):
        s, z, _ = sample
        assert abs(naive(*sample).value - reference.naive_by_brute_force(*sample)) <= rounding(s, z)

    @names
    @pytest.mark.parametrize("fpr_range", [(0.0, 0.05), (0.02, 0.05), (0.3, 1.0), (0.0, 1.0)])
    @pytest.mark.parametrize("offset", [0.0, 1e6])
    def test_larger_samples(self, name, fpr_range, offset):
        s, z = random_scores(0, 300, 1500)
        s, z = s + offset + 1, z + offset
        band = Band.from_range(fpr_range, len(z))
        assert abs(SURROGATES[name](s, z, band).value - getattr(reference, name)(s, z, band)) <= rounding(s, z)

    @names
    def test_sampled_selection(self, name):
        """So many negatives that the top is selected by a sampled threshold."""
        s, z = random_scores(0, 20, 100_000)
        band = Band.from_range((0.01, 0.03), len(z))
        assert abs(SURROGATES[name](s, z, band).value - getattr(reference, name)(s, z, band)) <= 10 * rounding(s, z)

    def test_brute_force_knows_all_valid_orderings(self):
        """Of the 16 matrices of two positives and two negatives, two contradict themselves."""
        matrices, _ = reference.orderings(2, 2)
        assert len(matrices) == 14


class TestWeights:
    @names
    @THOROUGH
    @given(sample=samples())
    def test_reproduce_the_value(self, name, sample):
        s, z, _ = sample
        line = SURROGATES[name](*sample)
        largest = max(np.abs(s).max(), np.abs(z).max())
        assert abs(at_other(line, s.astype(np.float64), z.astype(np.float64)) - line.value) <= EXACT * (1 + largest)

    @names
    @THOROUGH
    @given(sample=samples())
    def test_are_counts_of_pairs(self, name, sample):
        s, z, band = sample
        line = SURROGATES[name](*sample)
        pairs = reference.normalizer(s, band)
        counts = np.concatenate([-line.positives, line.negatives]) * pairs
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
        assert counts.min() >= 0
        assert abs(line.positives.sum() + line.negatives.sum()) <= EXACT * (1 + len(z) / band.width)

    @names
    @THOROUGH
    @given(sample=samples())
    def test_lie_on_the_top_negatives(self, name, sample):
        s, z, band = sample
        line = SURROGATES[name](*sample)
        last = band.n_negatives if name == "naive" else band.stop
        assert line.positives.shape == s.shape
        assert line.negatives.shape == line.index.shape
        assert len(np.unique(line.index)) == len(line.index) <= last
        assert z[line.index].min() >= np.sort(z)[len(z) - last]

    @names
    @THOROUGH
    @given(sample=samples())
    def test_float32_costs_no_digits(self, name, sample):
        s, z, band = sample
        line, wide = SURROGATES[name](*sample), SURROGATES[name](s.astype(np.float64), z.astype(np.float64), band)
        assert line.value == wide.value
        assert line.positives.dtype == line.negatives.dtype == np.float64

    @convex_names
    @THOROUGH
    @given(plain_samples, seeds, st.sampled_from([1e-3, 1.0, 30.0]))
    def test_subgradient_at_other_scores(self, name, sample, seed, scale):
        s, z, band = sample
        line = SURROGATES[name](*sample)
        step_s, step_z = random_scores(seed, len(s), len(z), scale)
        other_s, other_z = s + step_s, z + step_z
        slack = EXACT * (1 + max(np.abs(other_s).max(), np.abs(other_z).max()))
        assert SURROGATES[name](other_s, other_z, band).value >= at_other(line, other_s, other_z) - slack

    @THOROUGH
    @given(plain_samples, seeds, st.sampled_from([0.0, 1.0]))
    def test_subgradient_of_top_hinge(self, sample, seed, margin):
        s, z, band = sample
        line = top_hinge(s, z, band.stop, margin)
        step_s, step_z = random_scores(seed, len(s), len(z))
        other_s, other_z = s + step_s, z + step_z
        slack = EXACT * len(s) * len(z) * (1 + max(np.abs(other_s).max(), np.abs(other_z).max()))
        assert top_hinge(other_s, other_z, band.stop, margin).value >= at_other(line, other_s, other_z) - slack

    @convex_names
    @THOROUGH
    @given(seeds, st.tuples(st.integers(1, 8), st.integers(1, 12), st.integers(1, 4)), st.booleans())
    def test_subgradient_in_the_weights_of_a_linear_model(self, name, seed, sizes, whole):
        rng, (m, n, d) = np.random.default_rng(seed), sizes
        features, w, other = (rng.normal(size=size) for size in ((m + n, d), d, d))
        if whole:
            features, w = np.round(features), np.round(w)
        band = random_band(seed, n)
        line, elsewhere = (SURROGATES[name](features[:m] @ v, features[m:] @ v, band) for v in (w, other))
        slope = features[:m].T @ line.positives + features[m:][line.index].T @ line.negatives
        assert elsewhere.value >= line.value + slope @ (other - w) - 100 * EXACT

    @names
    @THOROUGH
    @given(seed=seeds, m=st.integers(1, 6), n=st.integers(1, 9))
    def test_slope_is_exact_where_the_surrogate_is_linear(self, name, seed, m, n):
        s, z = random_scores(seed, m, n)
        assume(is_generic(s, z))
        band = random_band(seed, n)
        step_s, step_z = random_scores(seed + 1, m, n, 1e-6)
        ahead, back = (SURROGATES[name](s + t * step_s, z + t * step_z, band).value for t in (1, -1))
        line = SURROGATES[name](s, z, band)
        slope = line.positives @ step_s + dense(line, n) @ step_z
        if name in {"naive", "tight"}:  # still convex at the kink of max(A_i, B_i)
            assert ahead - line.value >= slope - EXACT
            assert line.value - back <= slope + EXACT
        else:
            assert abs(ahead - line.value - slope) <= EXACT
            assert abs(line.value - back - slope) <= EXACT

    @convex_names
    def test_slope_of_convex_surrogates_at_many_points(self, name):
        """A kink of max(A_i, B_i) within 1e-6 is next to impossible at fifty random points."""
        for seed in range(50):
            s, z = random_scores(seed, 5, 12)
            band = random_band(seed + 1000, 12)
            step_s, step_z = random_scores(seed + 2000, 5, 12, 1e-7)
            line = SURROGATES[name](s, z, band)
            ahead = SURROGATES[name](s + step_s, z + step_z, band).value
            assert abs(ahead - line.value - line.positives @ step_s - dense(line, 12) @ step_z) <= EXACT

    @names
    def test_pairs_at_the_margin_carry_no_weight(self, name):
        """A sample ranked with margin 1 has slope 0, also when a pair misses the margin by nothing."""
        line = SURROGATES[name](np.array([1.0, 2.0, 1.0]), np.array([0.0, -1.0, 0.0, 0.0]), Band(1, 3, 4))
        assert line.value == line.offset == 0
        assert not line.positives.any()
        assert not line.negatives.any()

    def test_worked_example(self):
        """Two positives, band of ranks 2 and 3: one positive loses to all above, one to none."""
        s, z = np.array([-1.0, 2.0]), np.array([0.5, 1.0, -1.0, 0.0])
        line = tight(s, z, Band(1, 3, 4))  # N = 4; A = (2, 0), B = (2 + 2.5 + 2, -1 + 0 + 0)
        assert line.value == 6.5 / 4
        assert line.offset == 2 / 4
        np.testing.assert_array_equal(line.positives, [-3 / 4, 0])
        np.testing.assert_array_equal(dense(line, 4), [1 / 4, 1 / 4, 0, 1 / 4])


class TestDifferenceOfConvex:
    @THOROUGH
    @given(seeds, st.integers(1, 6), st.integers(1, 9))
    def test_hinge(self, seed, m, n):
        s, z = random_scores(seed, m, n)
        band = random_band(seed, n)
        pieces = top_hinge(s, z, band.stop, 1).minus(top_hinge(s, z, band.start, 1))
        assert_same(hinge(s, z, band), pieces.scaled(1 / (m * band.width)), n)

    @THOROUGH
    @given(seeds, st.integers(1, 6), st.integers(1, 9))
    def test_ramp(self, seed, m, n):
        s, z = random_scores(seed, m, n)
        band = random_band(seed, n)
        convex, concave = (
            [top_hinge(s, z, k, margin) for k, margin in parts]
            for parts in (((band.stop, 1), (band.start, 0)), ((band.stop, 0), (band.start, 1)))
        )
        pieces = convex[0].minus(concave[0]).minus(concave[1].minus(convex[1]))
        assert_same(ramp(s, z, band), pieces.scaled(1 / (m * band.width)), n)

    @THOROUGH
    @given(samples())
    def test_values_with_ties(self, sample):
        s, z, band = sample
        pairs = reference.normalizer(s, band)
        slack = rounding(s, z) * len(z)
        t = {(k, margin): top_hinge(s, z, k, margin).value for k in (band.start, band.stop) for margin in (0, 1)}
        hinges, losses = t[band.stop, 1] - t[band.start, 1], t[band.stop, 0] - t[band.start, 0]
        assert abs(hinge(*sample).value - hinges / pairs) <= slack
        assert abs(ramp(*sample).value - (hinges - losses) / pairs) <= slack

    def test_no_negatives(self):
        line = top_hinge(np.array([1.0, 2.0]), np.array([3.0]), 0, 1.0)
        assert line.value == line.offset == 0
        assert not line.positives.any()
        assert line.positives.shape == (2,)
        assert line.index.shape == line.negatives.shape == (0,)


def assert_same(line: Linearization, other: Linearization, n: int) -> None:
    assert abs(line.value - other.value) <= 100 * EXACT
    assert abs(line.offset - other.offset) <= EXACT * n
    np.testing.assert_allclose(line.positives, other.positives, atol=EXACT * n)
    np.testing.assert_allclose(dense(line, n), dense(other, n), atol=EXACT * n)


class TestRelations:
    """Section 2 of the method: what holds for all scores."""

    @THOROUGH
    @given(samples())
    def test_risk_below_hinge_and_ramp(self, sample):
        s, z, _ = sample
        risk = reference.empirical_risk(*sample)
        assert risk <= ramp(*sample).value + rounding(s, z)
        assert risk <= hinge(*sample).value + rounding(s, z)

    @THOROUGH
    @given(samples())
    def test_risk_below_tight_below_naive(self, sample):
        s, z, _ = sample
        risk, middle, top = reference.empirical_risk(*sample), tight(*sample).value, naive(*sample).value
        assert risk <= middle + rounding(s, z)
        assert middle <= top + rounding(s, z)

    @THOROUGH
    @given(samples())
    def test_tight_between_its_bounds(self, sample):
        s, z, _ = sample
        value = tight(*sample).value
        assert value <= hinge(*sample).value + reference.eta(*sample) + rounding(s, z)
        assert value >= reference.lower_bound(*sample) - rounding(s, z)

    @THOROUGH
    @given(samples(kinds=(TIED,)), st.sampled_from([1.0, 1.5, 32.25]))
    def test_tight_is_hinge_plus_eta_when_no_pair_is_close(self, sample, unit):
        """Positives at odd and negatives at even multiples of a unit that is at least the margin."""
        s, z = (unit * (np.round(2 * scores.astype(np.float64)) * 2) for scores in sample[:2])
        s, band = s + unit, sample[2]
        assert np.abs(reference.gaps(s, z)).min() >= 1
        assert abs(tight(s, z, band).value - hinge(s, z, band).value - reference.eta(s, z, band)) <= rounding(s, z)

    @THOROUGH
    @given(samples())
    def test_tight_is_hinge_from_the_first_rank(self, sample):
        s, z, band = sample
        band = Band(0, band.stop, len(z))
        line, other = tight(s, z, band), hinge(s, z, band)
        assert line.value == other.value
        np.testing.assert_array_equal(line.positives, other.positives)

    @names
    @THOROUGH
    @given(sample=samples())
    def test_full_band_is_the_pairwise_auc_risk(self, name, sample):
        s, z, _ = sample
        losses = np.maximum(1 - np.subtract.outer(s.astype(np.float64), z.astype(np.float64)), 0)
        if name == "ramp":
            losses = np.minimum(losses, 1)
        assert abs(SURROGATES[name](s, z, Band(0, len(z), len(z))).value - losses.mean()) <= rounding(s, z)

    @THOROUGH
    @given(samples())
    def test_hinge_from_bands_that_start_at_the_first_rank(self, sample):
        s, z, band = sample
        assume(band.start > 0)
        outer, inner = (hinge(s, z, Band(0, stop, len(z))).value for stop in (band.stop, band.start))
        expected = (band.stop * outer - band.start * inner) / band.width
        assert abs(hinge(*sample).value - expected) <= rounding(s, z) * len(z)

    def test_hinge_may_exceed_tight(self):
        """A positive above all but within the margin: the ranks before the band pay for its loss inside."""
        s, z, band = np.array([0.5]), np.array([0.0, 0.0]), Band(1, 2, 2)
        assert hinge(s, z, band).value == 0.5
        assert tight(s, z, band).value == 0.0

    @THOROUGH
    @given(samples())
    def test_ramp_bounded(self, sample):
        s, z, _ = sample
        value = ramp(*sample).value
        assert -rounding(s, z) <= value <= 1 + rounding(s, z)
        assert value <= hinge(*sample).value + rounding(s, z)

    @names
    @THOROUGH
    @given(sample=samples(kinds=(TIED,)), shift=st.sampled_from([1e6, -3e5, 0.5]))
    def test_common_shift_changes_nothing(self, name, sample, shift):
        s, z, band = sample
        moved = SURROGATES[name](s + shift, z + shift, band)
        assert moved.value == pytest.approx(SURROGATES[name](s, z, band).value, abs=rounding(s, z))


class TestLinearization:
    def test_scaled(self):
        s, z, band = np.array([0.5, 1.0]), np.array([0.0, 0.2, 1.5]), Band(0, 2, 3)
        line = hinge(s, z, band)
        doubled = line.scaled(2)
        assert doubled.value == 2 * line.value
        assert at_other(doubled, s - 1, z) == pytest.approx(2 * at_other(line, s - 1, z))
        np.testing.assert_array_equal(doubled.index, line.index)

    def test_minus(self):
        s, z = np.array([0.5, 1.0]), np.array([0.0, 0.2, 1.5])
        one, other = (hinge(s, z, Band(0, stop, 3)) for stop in (3, 1))
        difference = one.minus(other)
        assert difference.value == one.value - other.value
        assert at_other(difference, s - 1, z) == pytest.approx(at_other(one, s - 1, z) - at_other(other, s - 1, z))

    def test_names(self):
        assert {name: risk.__name__ for name, risk in SURROGATES.items()} == {name: name for name in SURROGATES}
        assert set(SURROGATES) == {"tight", "hinge", "ramp", "naive"}


@pytest.mark.parametrize("far", [-1e6, -1e12])
@pytest.mark.parametrize("name", ["hinge", "ramp"])
def test_a_negative_far_below_costs_no_digits(name, far):
    random = np.random.default_rng(0)
    positives, negatives, band = random.normal(size=30), random.normal(size=50), Band(0, 50, 50)
    negatives[3] = far
    value = SURROGATES[name](positives, negatives, band).value
    assert value == pytest.approx(getattr(reference, name)(positives, negatives, band), rel=1e-14)


@THOROUGH
@given(sample=samples())
def test_value_of_the_ramp_alone(sample):
    positives, negatives, band = sample
    expected = reference.ramp(positives, negatives, band)
    assert ramp_value(positives, negatives, band) == pytest.approx(expected, rel=0, abs=rounding(positives, negatives))
