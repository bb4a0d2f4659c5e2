"""The smoothed surrogates: planes below the exact risk, shares of the top ranks, and their curvature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
from rocband.risks import Band
from rocband.risks.smoothed import SmoothedRisk, Smoothing, entering_band, share_threshold, shares
from rocband.risks.smoothed_ramp import SmoothedRamp

THOROUGH = settings(max_examples=100, deadline=None)
EXACT = 1e-11

seeds = st.integers(0, 2**32 - 1)
tails = pytest.mark.parametrize("tail", [False, True], ids=["tight", "naive"])

TIED = st.integers(-2, 3).map(lambda half: half / 2)
UNTIED = st.floats(-5, 5, allow_subnormal=False)
EQUAL = st.just(0.7)
WIDE = st.sampled_from([-1e6, -30.0, -1.0, -1e-9, 0.0, 1e-300, 0.5, 1.0, 1e3, 1e6])


@st.composite
def bands(draw, n):
    start = draw(st.one_of(st.just(0), st.integers(0, n - 1)))
    return Band(start, draw(st.one_of(st.just(n), st.integers(start + 1, n))), n)


@st.composite
def samples(draw, max_positives=7, max_negatives=12, kinds=(TIED, UNTIED, EQUAL, WIDE)):
    """Scores of positives and negatives, and a band of ranks."""
    kind = draw(st.sampled_from(kinds))
    m, n = draw(st.integers(1, max_positives)), draw(st.integers(1, max_negatives))
    scores = np.array(draw(st.lists(kind, min_size=m + n, max_size=m + n)))
    return scores[:m], scores[m:], draw(bands(n))


smoothings = st.builds(
    Smoothing,
    margin=st.one_of(st.sampled_from([2.0, 1.0, 0.1, 1e-3]), st.floats(1e-6, 2.0)),
    rank=st.one_of(st.sampled_from([1.0, 0.3, 1e-3]), st.floats(1e-6, 1.0)),
)


def exact(tail, positives, negatives, band):
    risk = reference.naive if tail else reference.tight
    return risk(positives, negatives, band)


def rounding(*scores):
    return EXACT * (1 + np.abs(np.concatenate(scores)).max())


def plane_rounding(smoothing, *scores):
    """Weights are differences of prefix sums over the width of the smoothing: far scores cost digits."""
    return rounding(*scores) * (1 + 1e-4 * np.abs(np.concatenate(scores)).max() / min(smoothing.margin, smoothing.rank))


def at(plane, positives, negatives):
    return plane.offset + plane.positives @ positives + plane.negatives @ negatives[plane.index]


def scores_elsewhere(positives, negatives, random):
    """Scores near and far, tied and not, better and worse than the given ones."""
    m, n = len(positives), len(negatives)
    for scale in (1e-3, 0.3, 3.0, 100.0):
        yield positives + scale * random.normal(size=m), negatives + scale * random.normal(size=n)
        yield scale * random.normal(size=m), scale * random.normal(size=n)
    yield random.integers(-1, 2, m) / 1.0, random.integers(-1, 2, n) / 1.0
    yield np.zeros(m), np.zeros(n)
    yield np.full(m, 50.0), np.zeros(n)
    yield np.full(m, -50.0), random.normal(size=n)
    yield -positives, -negatives
    yield 2 * positives, 2 * negatives


@tails
@THOROUGH
@given(sample=samples(), smoothing=smoothings)
@example(sample=(np.zeros(2), np.zeros(5), Band(2, 4, 5)), smoothing=Smoothing(2.0, 1.0))
@example(sample=(np.zeros(1), np.arange(5.0), Band(4, 5, 5)), smoothing=Smoothing(0.1, 0.2))
def test_value_is_exact_and_errors_make_up_the_rest(sample, smoothing, tail):
    positives, negatives, band = sample
    plane = SmoothedRisk(band, tail=tail).linearize(positives, negatives, smoothing)
    slack = rounding(positives, negatives)
    assert plane.value == pytest.approx(exact(tail, positives, negatives, band), rel=0, abs=slack)
    here = at(plane, positives, negatives)
    slack = plane_rounding(smoothing, positives, negatives)
    assert here + plane.margin_error + plane.rank_error == pytest.approx(plane.value, rel=0, abs=slack)
    assert plane.margin_error >= -max(1e-9, slack)
    assert plane.rank_error >= -max(1e-9, slack)


@tails
@THOROUGH
@given(sample=samples(), smoothing=smoothings, seed=seeds)
@example(sample=(np.zeros(2), np.zeros(5), Band(2, 4, 5)), smoothing=Smoothing(2.0, 1.0), seed=0)
def test_planes_lie_below_the_risk_everywhere(sample, smoothing, tail, seed):
    positives, negatives, band = sample
    plane = SmoothedRisk(band, tail=tail).linearize(positives, negatives, smoothing)
    random = np.random.default_rng(seed)
    slack = plane_rounding(smoothing, positives, negatives)
    assert at(plane, positives, negatives) <= plane.value + slack
    for s, z in scores_elsewhere(positives, negatives, random):
        assert at(plane, s, z) <= exact(tail, s, z, band) + rounding(s, z) + slack


@tails
@settings(max_examples=60, deadline=None)
@given(sample=samples(max_positives=2, max_negatives=4, kinds=(TIED, UNTIED, EQUAL)), smoothing=smoothings, seed=seeds)
def test_planes_lie_below_the_brute_force_risk(sample, smoothing, tail, seed):
    # The largest over all orderings is the definition, whatever the formulas of the surrogates say.
    positives, negatives, band = sample
    plane = SmoothedRisk(band, tail=tail).linearize(positives, negatives, smoothing)
    brute_force = reference.naive_by_brute_force if tail else reference.tight_by_brute_force
    random = np.random.default_rng(seed)
    for scale in (0.5, 2.0):
        s, z = scale * random.normal(size=len(positives)), scale * random.normal(size=len(negatives))
        assert at(plane, s, z) <= brute_force(s, z, band) + rounding(s, z)


@tails
@THOROUGH
@given(sample=samples(), shift=st.sampled_from([0.0, 1.0, -200.0]))
def test_moving_all_scores_changes_nothing(sample, shift, tail):
    positives, negatives, band = sample
    smoothing = Smoothing(0.5, 0.3)
    plane = SmoothedRisk(band, tail=tail).linearize(positives, negatives, smoothing)
    slack = plane_rounding(smoothing, positives, negatives)
    assert plane.positives.sum() + plane.negatives.sum() == pytest.approx(0, abs=slack)
    moved = SmoothedRisk(band, tail=tail).linearize(positives + shift, negatives + shift, smoothing)
    assert moved.value == pytest.approx(plane.value, abs=slack)
    assert at(moved, positives + shift, negatives + shift) == pytest.approx(
        at(plane, positives, negatives), abs=slack * (1 + abs(shift))
    )


@tails
@THOROUGH
@given(sample=samples(kinds=(TIED, UNTIED, EQUAL)))
def test_sharp_planes_touch_the_risk(sample, tail):
    positives, negatives, band = sample
    for width in (1e-2, 1e-4, 1e-6):
        plane = SmoothedRisk(band, tail=tail).linearize(positives, negatives, Smoothing(width, width))
        # A pair, a rank or a row that is smoothed is off by no more than a few widths.
        assert plane.value - at(plane, positives, negatives) <= 3 * band.n_negatives / band.width * width + EXACT


@tails
@THOROUGH
@given(sample=samples(kinds=(TIED, UNTIED, EQUAL)), smoothing=smoothings)
def test_tied_rows_have_equal_weights(sample, smoothing, tail):
    positives, negatives, band = sample
    plane = SmoothedRisk(band, tail=tail).linearize(positives, negatives, smoothing)
    weights = np.zeros(band.n_negatives)
    np.add.at(weights, plane.index, plane.negatives)
    for score in np.unique(negatives):
        assert np.ptp(weights[negatives == score]) <= EXACT
    for score in np.unique(positives):
        assert np.ptp(plane.positives[positives == score]) <= EXACT


def test_the_first_plane_spreads_over_all_negatives():
    band = Band(1, 3, 40)
    plane = SmoothedRisk(band).linearize(np.zeros(5), np.zeros(40), Smoothing(2.0, 1.0))
    assert sorted(plane.index) == list(range(40))
    assert np.ptp(plane.negatives) < EXACT
    assert plane.negatives.min() > 0


@pytest.mark.parametrize("band", [Band(0, 4, 9), Band(2, 5, 9), Band(0, 9, 9)])
def test_smoothed_planes_vary_continuously(band):
    random = np.random.default_rng(0)
    positives, negatives = random.normal(size=6), random.normal(size=9)
    towards = random.normal(size=15)
    smoothing = Smoothing(0.5, 0.3)

    def weights(step):
        s, z = positives + step * towards[:6], negatives + step * towards[6:]
        plane = SmoothedRisk(band).linearize(s, z, smoothing)
        dense = np.zeros(9)
        np.add.at(dense, plane.index, plane.negatives)
        return np.concatenate([plane.positives, dense])

    steps = np.linspace(0, 2, 2001)
    path = np.array([weights(step) for step in steps])
    # Ranks change hands on the way, and no weight jumps (a sharp one would by about 1 / (6 * width)).
    assert np.abs(np.diff(path, axis=0)).max() < 0.02
    assert np.abs(path[-1] - path[0]).max() > 0.05


# Shares of the top ranks


@st.composite
def ascending(draw, min_size=2):
    kind = draw(st.sampled_from([TIED, UNTIED, EQUAL, WIDE]))
    return np.sort(np.array(draw(st.lists(kind, min_size=min_size, max_size=30))))


def share_rounding(scores, width):
    """Shares are what is left of prefix sums and of a score less the threshold, over the width."""
    return 2e-12 * len(scores) + 1e-10 + 30 * np.spacing(np.abs(scores).sum()) / width


@THOROUGH
@given(scores=ascending(), data=st.data(), width=st.one_of(st.just(1.0), st.floats(1e-6, 1.0)))
def test_share_threshold_solves_its_equation(scores, data, width):
    k = data.draw(st.one_of(st.integers(1, len(scores) - 1), st.floats(0.1, len(scores) - 0.1)))
    theta = share_threshold(scores, k, width)
    slack = share_rounding(scores, width)
    assert np.clip((scores - theta) / width, 0, 1).sum() == pytest.approx(k, rel=0, abs=slack)


@THOROUGH
@given(scores=ascending(), data=st.data(), width=st.one_of(st.just(1.0), st.floats(1e-6, 1.0)))
def test_shares(scores, data, width):
    n = len(scores)
    small = data.draw(st.integers(0, n))
    large = data.draw(st.integers(small, n))
    few, many = shares(scores, small, width), shares(scores, large, width)
    slack = share_rounding(scores, width)
    for share, k in ((few, small), (many, large)):
        assert share.min() >= 0
        assert share.max() <= 1
        assert share.sum() == pytest.approx(k, rel=0, abs=slack)
        assert share.sum() <= k * (1 + 1e-14)
        assert (np.diff(share) >= 0).all()
        assert not np.diff(share)[np.diff(scores) == 0].any()
        sure = scores[n - k] if k else np.inf
        assert share[scores > sure + width] == pytest.approx(1, abs=slack)
        assert not share[scores < sure - width].any()
    assert (few <= many + slack).all()


def test_shares_of_known_scores():
    np.testing.assert_allclose(shares(np.zeros(5), 2, 1.0), 0.4)
    np.testing.assert_allclose(shares(np.array([0.0, 0.0, 3.0]), 2, 1.0), [0.5, 0.5, 1.0])
    np.testing.assert_allclose(shares(np.array([0.0, 0.2, 1.0]), 1, 1.0), [0.0, 0.1, 0.9])
    assert share_threshold(np.array([0.0, 0.2, 1.0]), 1, 1.0) == pytest.approx(0.1)


# Which negatives enter

SAMPLED = 16384 * 3 + 17


def draws(kind, n, random):
    """Scores of many negatives; "hidden" ones hide the top from a strided sample."""
    if kind == "normal":
        return random.normal(size=n)
    if kind == "tied":
        return random.integers(0, 5, n) / 1.0
    if kind == "equal":
        return np.zeros(n)
    if kind == "heavy":
        return random.standard_cauchy(n)
    if kind == "hidden":
        scores = random.normal(size=n)
        scores[1 :: max(n // 16384, 2)] += 10.0
        return scores
    return np.sort(random.normal(size=n))


@pytest.mark.parametrize("n", [40, SAMPLED])
@pytest.mark.parametrize("width", [1.0, 0.05, 1e-6])
@pytest.mark.parametrize("kind", ["normal", "tied", "equal", "heavy", "hidden", "sorted"])
def test_every_negative_with_a_share_enters(kind, width, n):
    random = np.random.default_rng(0)
    negatives = draws(kind, n, random)
    order = np.argsort(negatives, kind="stable")
    for k in sorted({1, 2, n // 30 + 1, n // 3, n - 1, n}):
        index = entering_band(negatives, k, width)
        assert len(index) == len(np.unique(index)) >= k
        assert (np.diff(negatives[index]) >= 0).all()
        share = np.zeros(n)
        share[order] = shares(negatives[order], k, width)
        outside = np.setdiff1d(np.arange(n), index)
        slack = max(share_rounding(negatives, width), 1e-9)
        assert share[outside].max(initial=0) <= slack
        # The shares among those that enter are the shares among all.
        np.testing.assert_allclose(shares(negatives[index], k, width), share[index], rtol=0, atol=slack)


def test_a_guess_that_misses_some_shares_is_mended():
    # The strided sample holds far more of the top than the rest: more than k pass the guess, but not all with a share.
    negatives, stride = np.full(SAMPLED, -10.0), SAMPLED // 16384
    negatives[: 328 * stride : stride] = 3.0
    negatives[1 : 164 * stride : stride] = 3.0
    negatives[2 : 1000 * stride : stride] = 2.2
    index = entering_band(negatives, 480, 1.0)
    share = shares(np.sort(negatives), 480, 1.0)
    assert len(index) >= np.count_nonzero(share) == 1492


def test_few_others_enter():
    negatives = np.random.default_rng(0).normal(size=SAMPLED)
    k = SAMPLED // 100
    with_share = np.count_nonzero(negatives > share_threshold(np.sort(negatives), k, 0.01))
    assert len(entering_band(negatives, k, 0.01)) <= 1.5 * with_share


@pytest.mark.parametrize("kind", ["normal", "hidden", "tied"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 0.01), (0.005, 0.02)])
def test_planes_of_many_negatives(kind, low, high):
    random = np.random.default_rng(1)
    negatives, positives = draws(kind, SAMPLED, random), random.normal(size=5) + 2
    band = Band.from_range((low, high), SAMPLED)
    plane = SmoothedRisk(band).linearize(positives, negatives, Smoothing(0.5, 0.1))
    assert plane.value == pytest.approx(reference.tight(positives, negatives, band), rel=1e-10)
    gap = plane.value - at(plane, positives, negatives)
    assert 0 <= gap == pytest.approx(plane.margin_error + plane.rank_error, abs=1e-9)
    s, z = random.normal(size=5), random.normal(size=SAMPLED)
    assert at(plane, s, z) <= reference.tight(s, z, band)


# Curvature


def dense_weights(risk, scores, m, smoothing):
    plane = risk.linearize(scores[:m], scores[m:], smoothing)
    weights = np.concatenate([plane.positives, np.zeros(len(scores) - m)])
    np.add.at(weights, m + plane.index, plane.negatives)
    return weights


def finite_differences(risk, scores, m, smoothing, step=1e-6):
    """Jacobian of the smoothed gradient in the scores."""
    columns = [
        (dense_weights(risk, scores + e, m, smoothing) - dense_weights(risk, scores - e, m, smoothing)) / (2 * step)
        for e in step * np.eye(len(scores))
    ]
    return np.array(columns).T


def curvature(risk, scores, m, smoothing):
    """Scatter of the graphs when row k is the k-th unit vector: the curvature in the scores."""
    graphs = risk.linearize(scores[:m], scores[m:], smoothing).graphs()
    return sum(graph.scatter(lambda rows: np.eye(len(scores))[rows]) for graph in graphs)


def problem_for_curvature(seed, m=6, n=15):
    random = np.random.default_rng(seed)
    return np.concatenate([random.normal(size=m) + 0.5, random.normal(size=n)]), m


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [2.0, 0.7, 0.1])
def test_curvature_of_the_margin_is_exact(seed, margin):
    scores, m = problem_for_curvature(seed)
    risk, smoothing = SmoothedRisk(Band(0, 15, 15)), Smoothing(margin, 0.5)
    expected = finite_differences(risk, scores, m, smoothing)
    np.testing.assert_allclose(curvature(risk, scores, m, smoothing), expected, rtol=0, atol=1e-7)
    assert np.abs(expected).max() > 0.005


@pytest.mark.parametrize("seed", range(5))
def test_curvature_of_the_upper_edge_is_exact_below_it(seed):
    # Positives that lose to every negative at the edge: their pairs count whole, only the shares change.
    scores, m = problem_for_curvature(seed)
    scores[:m] -= 10
    risk, smoothing = SmoothedRisk(Band(0, 4, 15)), Smoothing(0.5, 0.6)
    expected = finite_differences(risk, scores, m, smoothing)
    np.testing.assert_allclose(curvature(risk, scores, m, smoothing), expected, rtol=0, atol=1e-7)
    assert np.abs(expected).max() > 0.1


@pytest.mark.parametrize("seed", range(5))
def test_curvature_of_both_edges_is_exact_below_them(seed):
    scores, m = problem_for_curvature(seed)
    scores[:m] -= 10
    risk, smoothing = SmoothedRisk(Band(2, 5, 15)), Smoothing(0.5, 0.6)
    expected = finite_differences(risk, scores, m, smoothing)
    np.testing.assert_allclose(curvature(risk, scores, m, smoothing), expected, rtol=0, atol=1e-7)


@tails
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("band", [Band(0, 4, 15), Band(0, 15, 15), Band(3, 6, 15), Band(3, 15, 15), Band(14, 15, 15)])
def test_curvature_is_positive_and_about_as_large(band, seed, tail):
    scores, m = problem_for_curvature(seed)
    risk, smoothing = SmoothedRisk(band, tail=tail), Smoothing(0.7, 0.5)
    given, expected = (of(risk, scores, m, smoothing) for of in (curvature, finite_differences))
    assert np.linalg.eigvalsh(given).min() >= -1e-12
    assert 0.3 * np.trace(expected) <= np.trace(given) <= 4 * np.trace(expected) + 0.1


# The ramp


def shares_anywhere(scores, k, width):
    share, order = np.zeros(len(scores)), np.argsort(scores)
    share[order] = shares(scores[order], k, width)
    return share


@THOROUGH
@given(sample=samples(), smoothing=smoothings)
def test_value_of_the_ramp_is_exact(sample, smoothing):
    positives, negatives, band = sample
    line = SmoothedRamp(band).linearize(positives, negatives, smoothing)
    slack = rounding(positives, negatives)
    assert line.value == pytest.approx(reference.ramp(positives, negatives, band), rel=0, abs=slack)
    slack = plane_rounding(smoothing, positives, negatives)
    assert at(line, positives, negatives) == pytest.approx(line.value, rel=0, abs=10 * slack)


@THOROUGH
@given(sample=samples(kinds=(TIED, UNTIED, EQUAL)), smoothing=smoothings)
def test_slope_of_the_ramp_from_all_pairs(sample, smoothing):
    positives, negatives, band = sample
    line = SmoothedRamp(band).linearize(positives, negatives, smoothing)
    lost = np.subtract.outer(-positives, -negatives)
    pairs = np.clip((1 + lost) / smoothing.margin, 0, 1) - np.clip(lost / smoothing.margin, 0, 1)
    inside = shares_anywhere(negatives, band.stop, smoothing.rank) - shares_anywhere(
        negatives, band.start, smoothing.rank
    )
    expected = pairs * inside / reference.normalizer(positives, band)
    weights = np.zeros(band.n_negatives)
    np.add.at(weights, line.index, line.negatives)
    np.testing.assert_allclose(line.positives, -expected.sum(axis=1), rtol=0, atol=1e-8)
    np.testing.assert_allclose(weights, expected.sum(axis=0), rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("band", [Band(0, 4, 15), Band(2, 6, 15), Band(0, 15, 15)])
def test_sharp_slope_of_the_ramp_is_its_gradient(band, seed):
    scores, m = problem_for_curvature(seed)
    slope = dense_weights(SmoothedRamp(band), scores, m, Smoothing(1e-7, 1e-7))
    step = 1e-6
    gradient = [
        (reference.ramp(up[:m], up[m:], band) - reference.ramp(down[:m], down[m:], band)) / (2 * step)
        for up, down in ((scores + e, scores - e) for e in step * np.eye(len(scores)))
    ]
    np.testing.assert_allclose(slope, gradient, rtol=0, atol=1e-8)
    assert np.abs(slope).max() > 0.01


@pytest.mark.parametrize("band", [Band(0, 4, 15), Band(2, 6, 15), Band(0, 15, 15)])
def test_curvature_of_the_ramp_is_that_of_its_convex_part(band):
    scores, m = problem_for_curvature(1)
    smoothing = Smoothing(0.7, 0.5)
    found = curvature(SmoothedRamp(band), scores, m, smoothing)
    assert np.linalg.eigvalsh(found).min() >= -1e-12
    if band.width == band.n_negatives:
        convex = curvature(SmoothedRisk(band), scores, m, smoothing)
        np.testing.assert_allclose(found, convex, rtol=0, atol=1e-12)
