"""The surrogates against all pairs and brute force, their planes, and what relates them to each other."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
from rocband import risks
from rocband._errors import ParameterError
from rocband.risks import Band, BandRisk, Plane, Scores, Smoothing, Surrogate, check_surrogate, risk_for
from rocband.risks.base import Risk
from rocband.risks.hinge import HingeRisk, top_hinge
from rocband.risks.naive import NaiveRisk
from rocband.risks.ramp import RampRisk
from rocband.risks.tight import TightRisk
from samples import EXTREME, NOISY, TIED, UNTIED, samples, seeds

THOROUGH = settings(max_examples=150)
EXACT = 1e-12
NAMES = get_args(Surrogate)

names = pytest.mark.parametrize("name", NAMES)
convex_names = pytest.mark.parametrize("name", ["naive", "tight"])

any_sample = samples(8, 12, (TIED, UNTIED, NOISY, EXTREME), moved=True)
tiny_sample = samples(3, 4, (TIED, UNTIED, NOISY), moved=True)
plain_sample = samples(8, 12, (TIED, UNTIED, NOISY), moved=True)
tied_sample = samples(8, 12, (TIED,), moved=True)


def sharp(name, positives, negatives, band):
    """The plane of a surrogate that touches it at some scores."""
    return risk_for(name, band).sharp(Scores.of(positives, negatives))


def value(name, positives, negatives, band):
    return risk_for(name, band).value(Scores.of(positives, negatives))


def top(positives, negatives, k, margin):
    return top_hinge(Scores.of(positives, negatives), k, margin)


def rounding(positives, negatives):
    """Error to allow for: scores enter by their differences, so a common offset must not cost digits."""
    scores = np.concatenate([positives, negatives]).astype(np.float64)
    return EXACT * (1 + np.ptp(scores))


def at_other(plane, positives, negatives):
    """The plane at some scores."""
    return plane.offset + plane.positives @ positives + plane.negatives @ negatives[plane.index]


def dense(plane, n):
    """Weights of all negatives."""
    return np.bincount(plane.index, plane.negatives, minlength=n)


def random_scores(seed, m, n, scale=2.0):
    random = np.random.default_rng(seed)
    positives = scale * random.normal(size=m)
    return positives, scale * random.normal(size=n)


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
    @given(sample=any_sample)
    def test_all_pairs(self, name, sample):
        s, z, _ = sample
        expected = getattr(reference, name)(*sample)
        assert abs(sharp(name, *sample).value - expected) <= rounding(s, z)
        assert abs(value(name, *sample) - expected) <= rounding(s, z)

    @THOROUGH
    @given(any_sample, st.sampled_from([0.0, 1.0, 0.3, -0.5]), st.data())
    def test_top_hinge(self, sample, margin, data):
        s, z, _ = sample
        k = data.draw(st.integers(0, len(z)), label="k")
        expected = reference.top_hinge(s, z, k, margin)
        assert abs(top(s, z, k, margin).value - expected) <= rounding(s, z) * len(s) * max(k, 1)

    @THOROUGH
    @given(tiny_sample)
    def test_tight_is_the_largest_over_subsets_and_orderings(self, sample):
        s, z, _ = sample
        assert abs(value("tight", *sample) - reference.tight_by_brute_force(*sample)) <= rounding(s, z)

    @THOROUGH
    @given(tiny_sample)
    def test_naive_is_the_largest_over_orderings(self, sample):
        s, z, _ = sample
        assert abs(value("naive", *sample) - reference.naive_by_brute_force(*sample)) <= rounding(s, z)

    @names
    @pytest.mark.parametrize("fpr_range", [(0.0, 0.05), (0.02, 0.05), (0.3, 1.0), (0.0, 1.0)])
    @pytest.mark.parametrize("offset", [0.0, 1e6])
    def test_larger_samples(self, name, fpr_range, offset):
        s, z = random_scores(0, 300, 1500)
        s += offset + 1
        z += offset
        band = Band.from_range(fpr_range, len(z))
        expected = getattr(reference, name)(s, z, band)
        assert abs(sharp(name, s, z, band).value - expected) <= rounding(s, z)
        assert abs(value(name, s, z, band) - expected) <= rounding(s, z)

    @names
    def test_sampled_selection(self, name):
        """So many negatives that the top is selected by a sampled threshold."""
        s, z = random_scores(0, 20, 100_000)
        band = Band.from_range((0.01, 0.03), len(z))
        expected = getattr(reference, name)(s, z, band)
        assert abs(sharp(name, s, z, band).value - expected) <= 10 * rounding(s, z)
        assert abs(value(name, s, z, band) - expected) <= 10 * rounding(s, z)

    @pytest.mark.parametrize("far", [-1e6, -1e12])
    @pytest.mark.parametrize("name", ["hinge", "ramp"])
    def test_a_negative_far_below_costs_no_digits(self, name, far):
        random = np.random.default_rng(0)
        s = random.normal(size=30)
        z = random.normal(size=50)
        z[3] = far
        band = Band(0, 50, 50)
        expected = getattr(reference, name)(s, z, band)
        assert sharp(name, s, z, band).value == pytest.approx(expected, rel=1e-14)
        assert value(name, s, z, band) == pytest.approx(expected, rel=1e-14)

    def test_brute_force_knows_all_valid_orderings(self):
        """Of the 16 matrices of two positives and two negatives, two contradict themselves."""
        matrices, _ = reference.orderings(2, 2)
        assert len(matrices) == 14


class TestPlanes:
    @names
    @THOROUGH
    @given(sample=any_sample)
    def test_reproduce_the_value(self, name, sample):
        s, z, _ = sample
        plane = sharp(name, *sample)
        largest = max(np.abs(s).max(), np.abs(z).max())
        assert abs(at_other(plane, s.astype(np.float64), z.astype(np.float64)) - plane.value) <= EXACT * (1 + largest)

    @names
    @THOROUGH
    @given(sample=any_sample)
    def test_are_counts_of_pairs(self, name, sample):
        s, z, band = sample
        plane = sharp(name, *sample)
        pairs = reference.normalizer(s, band)
        counts = np.concatenate([-plane.positives, plane.negatives]) * pairs
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
        assert counts.min() >= 0
        assert abs(plane.positives.sum() + plane.negatives.sum()) <= EXACT * (1 + len(z) / band.width)

    @names
    @THOROUGH
    @given(sample=any_sample)
    def test_lie_on_the_top_negatives(self, name, sample):
        s, z, band = sample
        plane = sharp(name, *sample)
        last = band.n_negatives if name == "naive" else band.stop
        assert plane.positives.shape == s.shape
        assert plane.negatives.shape == plane.index.shape
        assert len(np.unique(plane.index)) == len(plane.index) <= last
        assert z[plane.index].min() >= np.sort(z)[len(z) - last]

    @names
    @THOROUGH
    @given(sample=any_sample)
    def test_float32_costs_no_digits(self, name, sample):
        s, z, band = sample
        plane = sharp(name, *sample)
        wide = sharp(name, s.astype(np.float64), z.astype(np.float64), band)
        assert plane.value == wide.value
        assert value(name, *sample) == value(name, s.astype(np.float64), z.astype(np.float64), band)
        assert plane.positives.dtype == plane.negatives.dtype == np.float64

    @convex_names
    @THOROUGH
    @given(plain_sample, seeds, st.sampled_from([1e-3, 1.0, 30.0]))
    def test_lie_below_the_risk_at_other_scores(self, name, sample, seed, scale):
        s, z, band = sample
        plane = sharp(name, *sample)
        step_s, step_z = random_scores(seed, len(s), len(z), scale)
        other_s = s + step_s
        other_z = z + step_z
        slack = EXACT * (1 + max(np.abs(other_s).max(), np.abs(other_z).max()))
        assert value(name, other_s, other_z, band) >= at_other(plane, other_s, other_z) - slack

    @THOROUGH
    @given(plain_sample, seeds, st.sampled_from([0.0, 1.0]))
    def test_of_the_top_hinge_lie_below_it(self, sample, seed, margin):
        s, z, band = sample
        plane = top(s, z, band.stop, margin)
        step_s, step_z = random_scores(seed, len(s), len(z))
        other_s = s + step_s
        other_z = z + step_z
        slack = EXACT * len(s) * len(z) * (1 + max(np.abs(other_s).max(), np.abs(other_z).max()))
        assert top(other_s, other_z, band.stop, margin).value >= at_other(plane, other_s, other_z) - slack

    @convex_names
    @THOROUGH
    @given(seeds, st.tuples(st.integers(1, 8), st.integers(1, 12), st.integers(1, 4)), st.booleans())
    def test_give_a_subgradient_in_a_linear_model(self, name, seed, sizes, whole):
        random = np.random.default_rng(seed)
        m, n, d = sizes
        features = random.normal(size=(m + n, d))
        w = random.normal(size=d)
        other = random.normal(size=d)
        if whole:
            features = np.round(features)
            w = np.round(w)
        band = random_band(seed, n)
        plane = sharp(name, features[:m] @ w, features[m:] @ w, band)
        elsewhere = value(name, features[:m] @ other, features[m:] @ other, band)
        slope = features[:m].T @ plane.positives + features[m:][plane.index].T @ plane.negatives
        assert elsewhere >= plane.value + slope @ (other - w) - 100 * EXACT

    @names
    @THOROUGH
    @given(seed=seeds, m=st.integers(1, 6), n=st.integers(1, 9))
    def test_slope_is_exact_where_the_surrogate_is_linear(self, name, seed, m, n):
        s, z = random_scores(seed, m, n)
        assume(is_generic(s, z))
        band = random_band(seed, n)
        step_s, step_z = random_scores(seed + 1, m, n, 1e-6)
        ahead = value(name, s + step_s, z + step_z, band)
        back = value(name, s - step_s, z - step_z, band)
        plane = sharp(name, s, z, band)
        slope = plane.positives @ step_s + dense(plane, n) @ step_z
        if name in {"naive", "tight"}:  # still convex at the kink of max(A_i, B_i)
            assert ahead - plane.value >= slope - EXACT
            assert plane.value - back <= slope + EXACT
        else:
            assert abs(ahead - plane.value - slope) <= EXACT
            assert abs(plane.value - back - slope) <= EXACT

    @convex_names
    def test_slope_of_convex_surrogates_at_many_points(self, name):
        """A kink of max(A_i, B_i) within 1e-6 is next to impossible at fifty random points."""
        for seed in range(50):
            s, z = random_scores(seed, 5, 12)
            band = random_band(seed + 1000, 12)
            step_s, step_z = random_scores(seed + 2000, 5, 12, 1e-7)
            plane = sharp(name, s, z, band)
            ahead = value(name, s + step_s, z + step_z, band)
            assert abs(ahead - plane.value - plane.positives @ step_s - dense(plane, 12) @ step_z) <= EXACT

    @names
    def test_pairs_at_the_margin_carry_no_weight(self, name):
        """A sample ranked with margin 1 has slope 0, also when a pair misses the margin by nothing."""
        plane = sharp(name, np.array([1.0, 2.0, 1.0]), np.array([0.0, -1.0, 0.0, 0.0]), Band(1, 3, 4))
        assert plane.value == plane.offset == 0
        assert not plane.positives.any()
        assert not plane.negatives.any()

    def test_worked_example(self):
        """Two positives, band of ranks 2 and 3: one positive loses to all above, one to none."""
        s = np.array([-1.0, 2.0])
        z = np.array([0.5, 1.0, -1.0, 0.0])
        plane = sharp("tight", s, z, Band(1, 3, 4))  # N = 4; A = (2, 0), B = (2 + 2.5 + 2, -1 + 0 + 0)
        assert plane.value == 6.5 / 4
        assert plane.offset == 2 / 4
        np.testing.assert_array_equal(plane.positives, [-3 / 4, 0])
        np.testing.assert_array_equal(dense(plane, 4), [1 / 4, 1 / 4, 0, 1 / 4])

    def test_worked_example_of_the_ramp(self):
        """The same ranks: one positive is beyond help, one beats a negative, but not by the margin."""
        s = np.array([-1.0, 0.75])
        z = np.array([0.5, 1.0, -1.0, 0.0])  # the band is 0.5 and 0
        plane = sharp("ramp", s, z, Band(1, 3, 4))
        assert plane.value == value("ramp", s, z, Band(1, 3, 4)) == (1 + 1 + 0.75 + 0.25) / 4
        np.testing.assert_array_equal(plane.positives, [0, -2 / 4])
        np.testing.assert_array_equal(dense(plane, 4), [1 / 4, 0, 0, 1 / 4])


class TestDifferenceOfConvex:
    @THOROUGH
    @given(seeds, st.integers(1, 6), st.integers(1, 9))
    def test_hinge(self, seed, m, n):
        s, z = random_scores(seed, m, n)
        band = random_band(seed, n)
        pieces = top(s, z, band.stop, 1).minus(top(s, z, band.start, 1))
        assert_same(sharp("hinge", s, z, band), pieces.scaled(1 / (m * band.width)), n)

    @THOROUGH
    @given(seeds, st.integers(1, 6), st.integers(1, 9))
    def test_ramp(self, seed, m, n):
        s, z = random_scores(seed, m, n)
        band = random_band(seed, n)
        rising = top(s, z, band.stop, 1).minus(top(s, z, band.start, 1))
        capped = top(s, z, band.stop, 0).minus(top(s, z, band.start, 0))
        assert_same(sharp("ramp", s, z, band), rising.minus(capped).scaled(1 / (m * band.width)), n)

    @THOROUGH
    @given(any_sample)
    def test_values_with_ties(self, sample):
        s, z, band = sample
        pairs = reference.normalizer(s, band)
        slack = rounding(s, z) * len(z)
        rising = top(s, z, band.stop, 1).value - top(s, z, band.start, 1).value
        capped = top(s, z, band.stop, 0).value - top(s, z, band.start, 0).value
        assert abs(value("hinge", *sample) - rising / pairs) <= slack
        assert abs(value("ramp", *sample) - (rising - capped) / pairs) <= slack

    @THOROUGH
    @given(any_sample)
    def test_the_difference_that_is_descended_is_the_hinge(self, sample):
        s, z, band = sample
        difference = HingeRisk(band).difference
        scores = Scores.of(s, z)
        assert difference.convex.convex
        taken_off = difference.concave(scores)
        found = difference.factor * difference.convex.value(scores) - taken_off.value
        assert abs(found - reference.hinge(*sample)) <= rounding(s, z) * len(z)
        assert taken_off.value == pytest.approx(
            reference.top_hinge(s, z, band.start, 1) / reference.normalizer(s, band),
            rel=0,
            abs=rounding(s, z) * len(z),
        )

    @THOROUGH
    @given(seeds, st.integers(1, 6), st.integers(1, 9))
    def test_the_tangent_of_what_is_taken_off(self, seed, m, n):
        s, z = random_scores(seed, m, n)
        band = random_band(seed, n)
        expected = top(s, z, band.start, 1).scaled(1 / (m * band.width))
        assert_same(HingeRisk(band).difference.concave(Scores.of(s, z)), expected, n)

    def test_only_the_hinge_is_descended_as_a_difference(self):
        band = Band(1, 3, 5)
        assert [name for name in NAMES if risk_for(name, band).difference is not None] == ["hinge"]

    def test_no_negatives(self):
        plane = top(np.array([1.0, 2.0]), np.array([3.0]), 0, 1.0)
        assert plane.value == plane.offset == 0
        assert not plane.positives.any()
        assert plane.positives.shape == (2,)
        assert plane.index.shape == plane.negatives.shape == (0,)


def assert_same(plane: Plane, other: Plane, n: int) -> None:
    assert abs(plane.value - other.value) <= 100 * EXACT
    assert abs(plane.offset - other.offset) <= EXACT * n
    np.testing.assert_allclose(plane.positives, other.positives, atol=EXACT * n)
    np.testing.assert_allclose(dense(plane, n), dense(other, n), atol=EXACT * n)


class TestRelations:
    """Section 2 of the method: what holds for all scores."""

    @THOROUGH
    @given(any_sample)
    def test_risk_below_hinge_and_ramp(self, sample):
        s, z, _ = sample
        risk = reference.empirical_risk(*sample)
        assert risk <= value("ramp", *sample) + rounding(s, z)
        assert risk <= value("hinge", *sample) + rounding(s, z)

    @THOROUGH
    @given(any_sample)
    def test_risk_below_tight_below_naive(self, sample):
        s, z, _ = sample
        risk = reference.empirical_risk(*sample)
        tight = value("tight", *sample)
        assert risk <= tight + rounding(s, z)
        assert tight <= value("naive", *sample) + rounding(s, z)

    @THOROUGH
    @given(any_sample)
    def test_tight_between_its_bounds(self, sample):
        s, z, _ = sample
        tight = value("tight", *sample)
        assert tight <= value("hinge", *sample) + reference.eta(*sample) + rounding(s, z)
        assert tight >= reference.lower_bound(*sample) - rounding(s, z)

    @THOROUGH
    @given(tied_sample, st.sampled_from([1.0, 1.5, 32.25]))
    def test_tight_is_hinge_plus_eta_when_no_pair_is_close(self, sample, unit):
        """Positives at odd and negatives at even multiples of a unit that is at least the margin."""
        s, z, band = sample
        s = unit * (np.round(2 * s.astype(np.float64)) * 2 + 1)
        z = unit * (np.round(2 * z.astype(np.float64)) * 2)
        assert np.abs(reference.gaps(s, z)).min() >= 1
        expected = value("hinge", s, z, band) + reference.eta(s, z, band)
        assert abs(value("tight", s, z, band) - expected) <= rounding(s, z)

    @THOROUGH
    @given(any_sample)
    def test_tight_is_hinge_from_the_first_rank(self, sample):
        s, z, band = sample
        band = Band(0, band.stop, len(z))
        plane = sharp("tight", s, z, band)
        other = sharp("hinge", s, z, band)
        assert plane.value == other.value
        np.testing.assert_array_equal(plane.positives, other.positives)
        np.testing.assert_array_equal(plane.negatives, other.negatives)

    @names
    @THOROUGH
    @given(sample=any_sample)
    def test_full_band_is_the_pairwise_auc_risk(self, name, sample):
        s, z, _ = sample
        losses = np.maximum(1 - np.subtract.outer(s.astype(np.float64), z.astype(np.float64)), 0)
        if name == "ramp":
            losses = np.minimum(losses, 1)
        assert abs(value(name, s, z, Band(0, len(z), len(z))) - losses.mean()) <= rounding(s, z)

    @THOROUGH
    @given(any_sample)
    def test_hinge_from_bands_that_start_at_the_first_rank(self, sample):
        s, z, band = sample
        assume(band.start > 0)
        outer = value("hinge", s, z, Band(0, band.stop, len(z)))
        inner = value("hinge", s, z, Band(0, band.start, len(z)))
        expected = (band.stop * outer - band.start * inner) / band.width
        assert abs(value("hinge", *sample) - expected) <= rounding(s, z) * len(z)

    def test_hinge_may_exceed_tight(self):
        """A positive above all but within the margin: the ranks before the band pay for its loss inside."""
        s = np.array([0.5])
        z = np.array([0.0, 0.0])
        assert value("hinge", s, z, Band(1, 2, 2)) == 0.5
        assert value("tight", s, z, Band(1, 2, 2)) == 0.0

    @THOROUGH
    @given(any_sample)
    def test_ramp_bounded(self, sample):
        s, z, _ = sample
        ramp = value("ramp", *sample)
        assert -rounding(s, z) <= ramp <= 1 + rounding(s, z)
        assert ramp <= value("hinge", *sample) + rounding(s, z)

    @names
    @THOROUGH
    @given(sample=tied_sample, shift=st.sampled_from([1e6, -3e5, 0.5]))
    def test_common_shift_changes_nothing(self, name, sample, shift):
        s, z, band = sample
        moved = value(name, s + shift, z + shift, band)
        assert moved == pytest.approx(value(name, s, z, band), abs=rounding(s, z))


class TestArithmeticOfPlanes:
    def test_scaled(self):
        s = np.array([0.5, 1.0])
        z = np.array([0.0, 0.2, 1.5])
        plane = sharp("hinge", s, z, Band(0, 2, 3))
        doubled = plane.scaled(2)
        assert doubled.value == 2 * plane.value
        assert at_other(doubled, s - 1, z) == pytest.approx(2 * at_other(plane, s - 1, z))
        np.testing.assert_array_equal(doubled.index, plane.index)

    def test_minus(self):
        s = np.array([0.5, 1.0])
        z = np.array([0.0, 0.2, 1.5])
        one = sharp("hinge", s, z, Band(0, 3, 3))
        other = sharp("hinge", s, z, Band(0, 1, 3))
        difference = one.minus(other)
        assert difference.value == one.value - other.value
        assert at_other(difference, s - 1, z) == pytest.approx(at_other(one, s - 1, z) - at_other(other, s - 1, z))

    def test_sharpened(self):
        assert Smoothing(margin=2.0, rank=1.0).sharpened(0.25) == Smoothing(margin=0.5, rank=0.25)


class TestNames:
    def test_each_names_its_class(self):
        band = Band(1, 3, 5)
        found = {name: type(risk_for(name, band)) for name in NAMES}
        assert found == {"tight": TightRisk, "hinge": HingeRisk, "ramp": RampRisk, "naive": NaiveRisk}
        assert all(risk_for(name, band).band == band for name in NAMES)

    def test_a_class_stands_for_itself(self):
        class Own(TightRisk):
            pass

        check_surrogate(Own)
        risk = risk_for(Own, Band(1, 3, 5))
        assert type(risk) is Own
        assert type(risk.on(Band(0, 2, 4))) is Own
        assert risk.on(Band(0, 2, 4)).band == Band(0, 2, 4)

    @pytest.mark.parametrize("wrong", ["Ramp", "", None, 1, ["ramp"], Risk, dict, TightRisk(Band(0, 1, 2))])
    def test_another_is_refused(self, wrong):
        expected = r"^surrogate must be one of 'tight', 'hinge', 'ramp', 'naive', got "
        for refuse in (check_surrogate, lambda surrogate: risk_for(surrogate, Band(0, 1, 2))):
            with pytest.raises(ParameterError, match=expected) as error:
                refuse(wrong)
            assert error.value.parameter == "surrogate"

    @pytest.mark.parametrize("band", [Band(0, 2, 5), Band(1, 2, 5)])
    def test_which_are_convex(self, band):
        convex = {name for name in NAMES if risk_for(name, band).convex}
        assert convex == ({"tight", "naive", "hinge"} if band.start == 0 else {"tight", "naive"})

    @pytest.mark.parametrize("name", ["hinge", "ramp"])
    def test_the_others_are_not(self, name):
        """At the middle of these two samples the risk is above the mean of its ends."""
        band = Band(1, 2, 2)
        s = np.zeros(1)
        start = value(name, s, np.array([-0.75, 0.25]), band)
        end = value(name, s, np.array([0.25, -0.75]), band)
        middle = value(name, s, np.array([-0.25, -0.25]), band)
        assert middle > (start + end) / 2

    @names
    def test_reach_and_a_wider_band(self, name):
        risk = risk_for(name, Band(2, 5, 20))
        assert risk.reach == 0.25
        wider = risk.widened(2.0, 40)
        assert type(wider) is type(risk)
        assert wider.band == Band(4, 20, 40)
        assert risk.widened(2.0).band == Band(2, 10, 20)

    def test_a_risk_of_another_kind_reaches_all_negatives(self):
        class Constant(Risk):
            convex = True

            def sharp(self, scores):
                return Plane(1.0, 1.0, np.zeros(1), np.zeros(0), np.zeros(0, dtype=np.intp))

            def plane(self, scores, smoothing):
                raise NotImplementedError

        risk = Constant()
        assert risk.reach == 1.0
        assert risk.widened(2.0) is risk
        assert risk.difference is None
        assert risk.value(Scores.of(np.zeros(1), np.zeros(1))) == 1.0
        assert not isinstance(risk, BandRisk)


STANDARD = {"__future__", "abc", "collections", "dataclasses", "functools", "math", "typing"}
KNOWN = ("numpy", "rocband._errors", "rocband._types", "rocband.ranks", "rocband.risks")


def imported(path):
    """Modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", sorted(Path(risks.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_risks_know_nothing_but_numpy_ranks_and_types(path):
    others = [module for module in imported(path) if module.split(".")[0] not in STANDARD]
    assert [module for module in others if not f"{module}.".startswith(tuple(f"{name}." for name in KNOWN))] == []
