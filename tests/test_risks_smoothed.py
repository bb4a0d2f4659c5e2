"""The smoothed surrogates: planes below the exact risk, slopes and curvature against all pairs and differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
import reference_curvature
import reference_smoothed
from reference_smoothed import Pairs
from rocband.risks import Band, Scores, Smoothing, risk_for
from rocband.risks.graphs import Bipartite, Star
from samples import CLOSE, WIDE, samples, seeds
from test_risks_scores import SAMPLED, draws

THOROUGH = settings(max_examples=100)
EXACT = 1e-11
NAMES = ("tight", "naive", "hinge", "ramp")

names = pytest.mark.parametrize("name", NAMES)
structural = pytest.mark.parametrize("name", ["tight", "naive"])
over_a_band = pytest.mark.parametrize("name", ["hinge", "ramp"])

any_sample = samples(kinds=(*CLOSE, WIDE))
close_sample = samples(kinds=CLOSE)

smoothings = st.builds(
    Smoothing,
    margin=st.one_of(st.sampled_from([2.0, 1.0, 0.1, 1e-3]), st.floats(1e-6, 2.0)),
    rank=st.one_of(st.sampled_from([1.0, 0.3, 1e-3]), st.floats(1e-6, 1.0)),
)


def smoothed(name, positives, negatives, band, smoothing):
    """The plane of a surrogate's smoothed choice."""
    return risk_for(name, band).plane(Scores.of(positives, negatives), smoothing)


def exact(name, positives, negatives, band):
    return getattr(reference, name)(positives, negatives, band)


def rounding(*scores):
    return EXACT * (1 + np.abs(np.concatenate(scores)).max())


def plane_rounding(smoothing, *scores):
    """Weights are differences of prefix sums over the width of the smoothing: far scores cost digits."""
    return rounding(*scores) * (1 + 1e-4 * np.abs(np.concatenate(scores)).max() / min(smoothing.margin, smoothing.rank))


def at(plane, positives, negatives):
    return plane.offset + plane.positives @ positives + plane.negatives @ negatives[plane.index]


def dense(plane, n):
    """Weights of all negatives."""
    return np.bincount(plane.index, plane.negatives, minlength=n)


def scores_elsewhere(positives, negatives, random):
    """Scores near and far, tied and not, better and worse than the given ones."""
    m = len(positives)
    n = len(negatives)
    for scale in (1e-3, 0.3, 3.0, 100.0):
        yield positives + scale * random.normal(size=m), negatives + scale * random.normal(size=n)
        yield scale * random.normal(size=m), scale * random.normal(size=n)
    yield random.integers(-1, 2, m) / 1.0, random.integers(-1, 2, n) / 1.0
    yield np.zeros(m), np.zeros(n)
    yield np.full(m, 50.0), np.zeros(n)
    yield np.full(m, -50.0), random.normal(size=n)
    yield -positives, -negatives
    yield 2 * positives, 2 * negatives


# Planes


@names
@THOROUGH
@given(sample=any_sample, smoothing=smoothings)
@example(sample=(np.zeros(2), np.zeros(5), Band(2, 4, 5)), smoothing=Smoothing(2.0, 1.0))
@example(sample=(np.zeros(1), np.arange(5.0), Band(4, 5, 5)), smoothing=Smoothing(0.1, 0.2))
def test_value_is_exact_and_errors_make_up_the_rest(sample, smoothing, name):
    positives, negatives, band = sample
    plane = smoothed(name, *sample, smoothing)
    slack = rounding(positives, negatives)
    assert plane.value == pytest.approx(exact(name, *sample), rel=0, abs=slack)
    slack = 10 * plane_rounding(smoothing, positives, negatives)
    here = at(plane, positives, negatives)
    assert here + plane.margin_error + plane.rank_error == pytest.approx(plane.value, rel=0, abs=slack)
    assert plane.margin_error >= -max(1e-9, slack)
    assert plane.rank_error >= -max(1e-9, slack)
    if not risk_for(name, band).convex:
        # Without a bound there is nothing to fall short of: the slope is put through the exact value.
        assert plane.margin_error == plane.rank_error == 0


@structural
@THOROUGH
@given(sample=any_sample, smoothing=smoothings, seed=seeds)
@example(sample=(np.zeros(2), np.zeros(5), Band(2, 4, 5)), smoothing=Smoothing(2.0, 1.0), seed=0)
def test_planes_lie_below_the_risk_everywhere(sample, smoothing, name, seed):
    positives, negatives, band = sample
    plane = smoothed(name, *sample, smoothing)
    random = np.random.default_rng(seed)
    slack = plane_rounding(smoothing, positives, negatives)
    assert at(plane, positives, negatives) <= plane.value + slack
    for s, z in scores_elsewhere(positives, negatives, random):
        assert at(plane, s, z) <= exact(name, s, z, band) + rounding(s, z) + slack


@structural
@settings(max_examples=60)
@given(sample=samples(max_positives=2, max_negatives=4), smoothing=smoothings, seed=seeds)
def test_planes_lie_below_the_brute_force_risk(sample, smoothing, name, seed):
    # The largest over all orderings is the definition, whatever the formulas of the surrogates say.
    positives, negatives, band = sample
    plane = smoothed(name, *sample, smoothing)
    brute_force = reference.naive_by_brute_force if name == "naive" else reference.tight_by_brute_force
    random = np.random.default_rng(seed)
    for scale in (0.5, 2.0):
        s = scale * random.normal(size=len(positives))
        z = scale * random.normal(size=len(negatives))
        assert at(plane, s, z) <= brute_force(s, z, band) + rounding(s, z)


@given(sample=any_sample, smoothing=smoothings)
def test_the_hinge_from_the_top_has_the_planes_of_tight(sample, smoothing):
    positives, negatives, band = sample
    band = Band(0, band.stop, band.n_negatives)
    plane = smoothed("hinge", positives, negatives, band, smoothing)
    other = smoothed("tight", positives, negatives, band, smoothing)
    assert plane.value == other.value
    assert plane.offset == other.offset
    np.testing.assert_array_equal(plane.positives, other.positives)
    np.testing.assert_array_equal(plane.negatives, other.negatives)


@names
@THOROUGH
@given(sample=any_sample, shift=st.sampled_from([0.0, 1.0, -200.0]))
def test_moving_all_scores_changes_nothing(sample, shift, name):
    positives, negatives, band = sample
    smoothing = Smoothing(0.5, 0.3)
    plane = smoothed(name, *sample, smoothing)
    slack = plane_rounding(smoothing, positives, negatives)
    assert plane.positives.sum() + plane.negatives.sum() == pytest.approx(0, abs=slack)
    moved = smoothed(name, positives + shift, negatives + shift, band, smoothing)
    assert moved.value == pytest.approx(plane.value, abs=slack)
    assert at(moved, positives + shift, negatives + shift) == pytest.approx(
        at(plane, positives, negatives), abs=slack * (1 + abs(shift))
    )


@structural
@THOROUGH
@given(sample=close_sample)
def test_sharp_planes_touch_the_risk(sample, name):
    positives, negatives, band = sample
    for width in (1e-2, 1e-4, 1e-6):
        plane = smoothed(name, *sample, Smoothing(width, width))
        # A pair, a rank or a row that is smoothed is off by no more than a few widths.
        assert plane.value - at(plane, positives, negatives) <= 3 * band.n_negatives / band.width * width + EXACT


@names
@THOROUGH
@given(sample=close_sample, smoothing=smoothings)
def test_tied_rows_have_equal_weights(sample, smoothing, name):
    positives, negatives, band = sample
    plane = smoothed(name, *sample, smoothing)
    weights = dense(plane, band.n_negatives)
    for score in np.unique(negatives):
        assert np.ptp(weights[negatives == score]) <= EXACT
    for score in np.unique(positives):
        assert np.ptp(plane.positives[positives == score]) <= EXACT


def test_the_first_plane_spreads_over_all_negatives():
    plane = smoothed("tight", np.zeros(5), np.zeros(40), Band(1, 3, 40), Smoothing(2.0, 1.0))
    assert sorted(plane.index) == list(range(40))
    assert np.ptp(plane.negatives) < EXACT
    assert plane.negatives.min() > 0


@pytest.mark.parametrize("name", ["tight", "ramp"])
@pytest.mark.parametrize("band", [Band(0, 4, 9), Band(2, 5, 9), Band(0, 9, 9)])
def test_smoothed_planes_vary_continuously(band, name):
    random = np.random.default_rng(0)
    positives = random.normal(size=6)
    negatives = random.normal(size=9)
    towards = random.normal(size=15)

    def weights(step):
        plane = smoothed(
            name, positives + step * towards[:6], negatives + step * towards[6:], band, Smoothing(0.5, 0.3)
        )
        return np.concatenate([plane.positives, dense(plane, 9)])

    path = np.array([weights(step) for step in np.linspace(0, 2, 2001)])
    # Ranks change hands on the way, and no weight jumps (a sharp one would by about 1 / (6 * width)).
    assert np.abs(np.diff(path, axis=0)).max() < 0.02
    assert np.abs(path[-1] - path[0]).max() > 0.05


@names
@given(sample=any_sample, sharper=st.sampled_from([0.7, 0.3, 0.01]))
def test_another_smoothing_at_the_same_scores(sample, sharper, name):
    positives, negatives, band = sample
    wide = Smoothing(0.8, 0.4)
    narrow = wide.sharpened(sharper)
    again = smoothed(name, *sample, wide).again(narrow)
    anew = smoothed(name, *sample, narrow)
    slack = plane_rounding(narrow, positives, negatives)
    assert again.value == pytest.approx(anew.value, rel=0, abs=rounding(positives, negatives))
    np.testing.assert_allclose(again.positives, anew.positives, rtol=0, atol=slack)
    np.testing.assert_allclose(dense(again, band.n_negatives), dense(anew, band.n_negatives), rtol=0, atol=slack)
    assert again.margin_error == pytest.approx(anew.margin_error, abs=10 * slack)
    assert again.rank_error == pytest.approx(anew.rank_error, abs=10 * slack)


@pytest.mark.parametrize("kind", ["normal", "hidden", "tied"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 0.01), (0.005, 0.02)])
def test_planes_of_many_negatives(kind, low, high):
    random = np.random.default_rng(1)
    negatives = draws(kind, SAMPLED, random)
    positives = random.normal(size=5) + 2
    band = Band.from_range((low, high), SAMPLED)
    plane = smoothed("tight", positives, negatives, band, Smoothing(0.5, 0.1))
    assert plane.value == pytest.approx(reference.tight(positives, negatives, band), rel=1e-10)
    gap = plane.value - at(plane, positives, negatives)
    assert 0 <= gap == pytest.approx(plane.margin_error + plane.rank_error, abs=1e-9)
    s = random.normal(size=5)
    z = random.normal(size=SAMPLED)
    assert at(plane, s, z) <= reference.tight(s, z, band)


# Slopes


def slope_of_all_pairs(name, positives, negatives, band, smoothing):
    pairs = Pairs.of(positives, negatives, band, smoothing)
    if name in ("tight", "naive"):
        return reference_smoothed.structural_slope(pairs, band, tail=name == "naive")
    return reference_smoothed.band_slope(pairs, capped=name == "ramp")


@names
@THOROUGH
@given(sample=close_sample, smoothing=smoothings)
# All shares are 11/12: nearly whole, but not whole.
@example(sample=(np.zeros(2), np.zeros(12), Band(0, 11, 12)), smoothing=Smoothing(0.5, 0.3))
def test_slopes_are_those_of_all_pairs(sample, smoothing, name):
    band = sample[2]
    plane = smoothed(name, *sample, smoothing)
    of_positives, of_negatives = slope_of_all_pairs(name, *sample, smoothing)
    # Sums of a dozen scores of up to 5 are off by some 1e-13; over the width of the ranks they say how deep a row of up
    # to a dozen pairs runs.
    slack = 1e-8 + 1e-12 / smoothing.rank
    np.testing.assert_allclose(plane.positives, of_positives, rtol=0, atol=slack)
    np.testing.assert_allclose(dense(plane, band.n_negatives), of_negatives, rtol=0, atol=slack)


def problem_for_curvature(seed, m=6, n=15):
    random = np.random.default_rng(seed)
    return np.concatenate([random.normal(size=m) + 0.5, random.normal(size=n)]), m


def dense_weights(risk, scores, m, smoothing):
    plane = risk.plane(Scores.of(scores[:m], scores[m:]), smoothing)
    return np.concatenate([plane.positives, dense(plane, len(scores) - m)])


@names
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("band", [Band(0, 4, 15), Band(2, 6, 15), Band(0, 15, 15)])
def test_sharp_slopes_are_gradients(band, seed, name):
    scores, m = problem_for_curvature(seed)
    slope = dense_weights(risk_for(name, band), scores, m, Smoothing(1e-7, 1e-7))
    step = 1e-6
    gradient = [
        (exact(name, up[:m], up[m:], band) - exact(name, down[:m], down[m:], band)) / (2 * step)
        for up, down in ((scores + e, scores - e) for e in step * np.eye(len(scores)))
    ]
    np.testing.assert_allclose(slope, gradient, rtol=0, atol=1e-8)
    assert np.abs(slope).max() > 0.01


# Curvature


def finite_differences(risk, scores, m, smoothing, step=1e-6):
    """Jacobian of the smoothed gradient in the scores."""
    columns = [
        (dense_weights(risk, scores + e, m, smoothing) - dense_weights(risk, scores - e, m, smoothing)) / (2 * step)
        for e in step * np.eye(len(scores))
    ]
    return np.array(columns).T


def curvature(risk, scores, m, smoothing):
    """Scatter of the graphs, pair by pair, when row k is the k-th unit vector: the curvature in the scores."""
    graphs = risk.plane(Scores.of(scores[:m], scores[m:]), smoothing).curvature()
    return sum(reference_curvature.scatter(graph, np.eye(len(scores))) for graph in graphs)


def curvature_of_all_pairs(name, scores, m, band, smoothing):
    pairs = Pairs.of(scores[:m], scores[m:], band, smoothing)
    if name in ("tight", "naive"):
        return reference_smoothed.structural_curvature(pairs, band, tail=name == "naive")
    return reference_smoothed.band_curvature(pairs, capped=name == "ramp")


BANDS = [Band(0, 4, 15), Band(2, 5, 15), Band(3, 6, 15), Band(3, 15, 15), Band(14, 15, 15)]


@names
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("smoothing", [Smoothing(0.7, 0.5), Smoothing(2.0, 1.0), Smoothing(0.05, 0.4)])
def test_curvature_is_that_of_all_pairs(name, band, seed, smoothing):
    scores, m = problem_for_curvature(seed)
    found = curvature(risk_for(name, band), scores, m, smoothing)
    expected = curvature_of_all_pairs(name, scores, m, band, smoothing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@names
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("band", BANDS)
def test_pairs_at_an_end_of_the_smoothed_part_are_outside_it(name, band, seed):
    """Scores in quarters: many pairs have a weight of exactly 0 or 1 at the very end of the width."""
    scores, m = problem_for_curvature(seed)
    scores = np.round(4 * scores) / 4
    smoothing = Smoothing(0.5, 0.375)
    found = curvature(risk_for(name, band), scores, m, smoothing)
    expected = curvature_of_all_pairs(name, scores, m, band, smoothing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@structural
@pytest.mark.parametrize("seed", range(4))
def test_curvature_of_rows_whose_negatives_are_above_inside_and_beyond_at_once(name, seed):
    """All scores within the width of the ranks, and most ranks above the band: rows are mixed, and lose beyond it."""
    random = np.random.default_rng(seed)
    m = 6
    scores = np.concatenate([0.3 + 0.4 * random.random(m), random.random(15)])
    band = Band(12, 13, 15)
    smoothing = Smoothing(0.1, 1.0)
    rows = reference_smoothed.structural_rows(Pairs.of(scores[:m], scores[m:], band, smoothing), band, tail=True)
    assert np.count_nonzero((rows.mix > 0) & (rows.mix < 1)) > 0
    found = curvature(risk_for(name, band), scores, m, smoothing)
    expected = curvature_of_all_pairs(name, scores, m, band, smoothing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@names
def test_far_scores_leave_no_pair_of_negative_weight(name):
    # Next to 1e13 numbers are further apart than the width: a smoothed part would end before it begins.
    positives = np.array([1.0, 1 - 1e13])
    negatives = np.array([0.0, -1e13, -1e13])
    plane = smoothed(name, positives, negatives, Band(0, 3, 3), Smoothing(1e-4, 0.5))
    for graph in plane.curvature():
        if isinstance(graph, Bipartite):
            assert (graph.first <= graph.last).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [2.0, 0.7, 0.1])
def test_curvature_of_the_margin_is_exact(seed, margin):
    scores, m = problem_for_curvature(seed)
    risk = risk_for("tight", Band(0, 15, 15))
    smoothing = Smoothing(margin, 0.5)
    expected = finite_differences(risk, scores, m, smoothing)
    np.testing.assert_allclose(curvature(risk, scores, m, smoothing), expected, rtol=0, atol=1e-7)
    assert np.abs(expected).max() > 0.005


@pytest.mark.parametrize("seed", range(5))
def test_curvature_of_the_lower_edge_is_exact_below_it(seed):
    # Positives that lose to every negative at the edge: their pairs count whole, only the shares change.
    scores, m = problem_for_curvature(seed)
    scores[:m] -= 10
    risk = risk_for("tight", Band(0, 4, 15))
    smoothing = Smoothing(0.5, 0.6)
    expected = finite_differences(risk, scores, m, smoothing)
    np.testing.assert_allclose(curvature(risk, scores, m, smoothing), expected, rtol=0, atol=1e-7)
    assert np.abs(expected).max() > 0.1


@structural
@pytest.mark.parametrize("seed", range(5))
def test_curvature_of_both_edges_is_exact_below_them(seed, name):
    scores, m = problem_for_curvature(seed)
    scores[:m] -= 10
    risk = risk_for(name, Band(2, 5, 15))
    smoothing = Smoothing(0.5, 0.6)
    expected = finite_differences(risk, scores, m, smoothing)
    np.testing.assert_allclose(curvature(risk, scores, m, smoothing), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("name", "felt_by"), [("hinge", 6), ("ramp", 2)])
@pytest.mark.parametrize("start", [0, 1])
def test_only_pairs_below_the_cap_pull_at_the_edge(seed, name, felt_by, start):
    """Two positives within the margin of the edge, four beyond help: the ramp no longer cares for these."""
    random = np.random.default_rng(seed)
    # Far above the edge one negative; around it six whose shares change, well within the width of the ranks.
    negatives = np.concatenate([[3.0], 0.1 * random.random(6)])
    positives = np.concatenate([[0.5, 0.6], np.full(4, -5.0)])
    scores = np.concatenate([positives, negatives])
    band = Band(start, 4, 7)
    risk = risk_for(name, band)
    # No pair is in the smoothed part of its margin, so that nothing but the shares at the lower edge changes.
    smoothing = Smoothing(0.1, 0.5)
    expected = finite_differences(risk, scores, 6, smoothing)
    np.testing.assert_allclose(curvature(risk, scores, 6, smoothing), expected, rtol=0, atol=1e-7)
    # Each of the six negatives passes on 5/6 of what it gains, for each positive that feels it.
    pull = felt_by / (6 * band.width * smoothing.rank)
    np.testing.assert_allclose(np.diag(expected)[7:], pull * 5 / 6, atol=1e-7)


@structural
@pytest.mark.parametrize("seed", range(6))
def test_curvature_of_rows_that_change_their_depth_is_exact_in_the_positives(seed, name):
    """Around the ranks above the band a positive's row is a mixture; with sharp pairs only its depth changes."""
    random = np.random.default_rng(seed)
    m = 9
    scores = np.concatenate([np.linspace(0, 3, m) + random.normal(size=m) / 10, random.normal(size=15)])
    band = Band(4, 9, 15)
    smoothing = Smoothing(1e-4, 0.8)
    pairs = Pairs.of(scores[:m], scores[m:], band, smoothing)
    mix = reference_smoothed.structural_rows(pairs, band, tail=name == "naive").mix
    assert np.count_nonzero((mix > 0) & (mix < 1)) > 0
    risk = risk_for(name, band)
    found = curvature(risk, scores, m, smoothing)[:m, :m]
    expected = finite_differences(risk, scores, m, smoothing)[:m, :m]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    assert np.diag(expected).max() > 0.05


@structural
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("band", [*BANDS, Band(0, 15, 15)])
def test_curvature_is_positive_and_about_as_large(band, seed, name):
    scores, m = problem_for_curvature(seed)
    risk = risk_for(name, band)
    smoothing = Smoothing(0.7, 0.5)
    given = curvature(risk, scores, m, smoothing)
    expected = finite_differences(risk, scores, m, smoothing)
    assert np.linalg.eigvalsh(given).min() >= -1e-12
    assert 0.3 * np.trace(expected) <= np.trace(given) <= 4 * np.trace(expected) + 0.1


@over_a_band
@pytest.mark.parametrize("band", [Band(0, 4, 15), Band(2, 6, 15), Band(0, 15, 15)])
def test_curvature_over_a_band_is_that_of_its_convex_part(band, name):
    scores, m = problem_for_curvature(1)
    smoothing = Smoothing(0.7, 0.5)
    found = curvature(risk_for(name, band), scores, m, smoothing)
    assert np.linalg.eigvalsh(found).min() >= -1e-12
    if band.width == band.n_negatives:
        convex = curvature(risk_for("tight", band), scores, m, smoothing)
        np.testing.assert_allclose(found, convex, rtol=0, atol=1e-12)


def test_only_mixed_rows_are_in_the_star():
    scores, m = problem_for_curvature(0)
    band = Band(4, 9, 15)
    for name in NAMES:
        graphs = risk_for(name, band).plane(Scores.of(scores[:m], scores[m:]), Smoothing(0.1, 0.8)).curvature()
        stars = [graph for graph in graphs if isinstance(graph, Star)]
        assert len(stars) == (1 if name in ("tight", "naive") else 0)
