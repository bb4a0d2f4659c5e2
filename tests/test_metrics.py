"""The metrics against rational arithmetic, scikit-learn, and what must hold for every sample."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reference_metrics import area_in_rectangle, height_at, ranked_pairs, roc_points
from rocband.metrics import (
    NarrowBandWarning,
    empirical_partial_auc,
    froc_band,
    partial_auc_score,
    partial_auc_scorer,
    tpr_at_fpr_score,
)
from rocband.risks.band import Band

# Samples of a few are what hypothesis finds faults with; TestFewNegatives has the warning.
pytestmark = pytest.mark.filterwarnings("ignore::rocband.metrics.NarrowBandWarning")

EXACT = 1e-12
THOROUGH = settings(max_examples=400, deadline=None)

# Whole numbers in a small range tie often, floats hardly ever; both extremes of the float range must do no harm.
TIED = st.integers(-3, 3).map(float)
UNTIED = st.floats(-1e3, 1e3, allow_subnormal=False)
EXTREME = st.sampled_from([-1e308, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e308])


@st.composite
def samples(draw, weighted=False, max_size=25):
    """Labels with both classes, scores of one of three kinds, and weights or None."""
    size = draw(st.integers(2, max_size))
    labels = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size).filter(lambda y: 0 < sum(y) < len(y)))
    kind = draw(st.sampled_from([TIED, UNTIED, EXTREME]))
    scores = draw(st.lists(kind, min_size=size, max_size=size))
    if not weighted:
        return labels, scores, None
    weights = draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]), min_size=size, max_size=size))
    assume(all(any(w > 0 for w, y in zip(weights, labels, strict=True) if y == side) for side in (0, 1)))
    return labels, scores, weights


@st.composite
def bands(draw):
    """Ranges of at least a hundredth, some with ends on simple fractions."""
    ends = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.75, 0.9, 1.0]))
    low, high = sorted((draw(ends), draw(ends)))
    assume(high - low > 0.01)
    return low, high


def exact_share(sample, fpr_range=(0.0, 1.0), tpr_range=(0.0, 1.0)):
    area = area_in_rectangle(roc_points(*sample), fpr_range, tpr_range)
    widths = [Fraction(high) - Fraction(low) for low, high in (fpr_range, tpr_range)]
    return float(area / (widths[0] * widths[1]))


def noisy_sample(seed, n=2000, ties=False):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    scores = rng.normal(size=n) + y
    return y, np.round(scores, 1) if ties else scores


class TestAreaAgainstRationalArithmetic:
    @THOROUGH
    @given(samples(), bands())
    def test_fpr_band(self, sample, band):
        labels, scores, _ = sample
        assert abs(partial_auc_score(labels, scores, fpr_range=band) - exact_share(sample, band)) <= EXACT

    @THOROUGH
    @given(samples(), bands())
    def test_tpr_band(self, sample, band):
        labels, scores, _ = sample
        assert abs(partial_auc_score(labels, scores, tpr_range=band) - exact_share(sample, (0, 1), band)) <= EXACT

    @THOROUGH
    @given(samples(), bands(), bands())
    def test_two_way(self, sample, fpr, tpr):
        labels, scores, _ = sample
        value = partial_auc_score(labels, scores, fpr_range=fpr, tpr_range=tpr)
        assert abs(value - exact_share(sample, fpr, tpr)) <= EXACT

    @THOROUGH
    @given(samples(weighted=True), bands(), bands())
    def test_weighted(self, sample, fpr, tpr):
        labels, scores, weights = sample
        for ranges in ({"fpr_range": fpr}, {"tpr_range": tpr}, {"fpr_range": fpr, "tpr_range": tpr}):
            value = partial_auc_score(labels, scores, sample_weight=weights, **ranges)
            assert abs(value - exact_share(sample, **ranges)) <= EXACT

    @THOROUGH
    @given(samples(), bands())
    def test_raw_and_mcclish(self, sample, band):
        labels, scores, _ = sample
        low, high = map(Fraction, band)
        area = area_in_rectangle(roc_points(*sample), band)
        raw = partial_auc_score(labels, scores, fpr_range=band, normalize="none")
        assert abs(raw - float(area)) <= EXACT
        chance, best = (high**2 - low**2) / 2, high - low
        if best - chance > 1e-3:
            rescaled = partial_auc_score(labels, scores, fpr_range=band, normalize="mcclish")
            assert abs(rescaled - float((1 + (area - chance) / (best - chance)) / 2)) <= EXACT

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.uint16, np.int64])
    def test_each_type_of_scores(self, dtype):
        y, raw = noisy_sample(3, 300)
        scores = (np.round(raw * 10) + 50).astype(dtype)
        sample = y.tolist(), scores.tolist()
        for fpr in ((0.0, 0.05), (0.02, 0.3), (0.0, 1.0)):
            assert abs(partial_auc_score(y, scores, fpr_range=fpr) - exact_share(sample, fpr)) <= EXACT

    @pytest.mark.parametrize("ties", [False, True])
    @pytest.mark.parametrize("seed", range(5))
    def test_larger_samples(self, seed, ties):
        y, scores = noisy_sample(seed, 400, ties)
        sample = y.tolist(), scores.tolist()
        for fpr in ((0.0, 0.01), (0.02, 0.05), (0.5, 1.0)):
            assert abs(partial_auc_score(y, scores, fpr_range=fpr) - exact_share(sample, fpr)) <= EXACT

    def test_narrow_band_keeps_its_precision(self):
        y, scores = noisy_sample(0, 300, ties=True)
        band = (0.3, 0.3 + 1e-9)
        assert (
            abs(partial_auc_score(y, scores, fpr_range=band) - exact_share((y.tolist(), scores.tolist()), band)) < 1e-7
        )

    @given(samples(weighted=True), st.floats(1e-3, 0.999), st.sampled_from(["fpr_range", "tpr_range"]))
    def test_narrowest_band_has_the_height_of_a_point(self, sample, high, axis):
        labels, scores, weights = sample
        band = np.nextafter(high, 0), high
        value = partial_auc_score(labels, scores, sample_weight=weights, **{axis: band})
        around = [
            exact_share(sample, **{axis: (max(low, 0), min(low + 2e-9, 1))}) for low in (high - 3e-9, high + 1e-9)
        ]
        assert min(around) - 1e-6 <= value <= max(around) + 1e-6

    @pytest.mark.parametrize("n", range(1, 60))
    def test_narrowest_band_at_the_far_end(self, n):
        labels, scores = np.repeat([0, 1], [n, 3]), np.arange(n + 3)
        assert partial_auc_score(labels, scores, fpr_range=(np.nextafter(1, 0), 1)) == 1


class TestAgainstScikitLearn:
    @pytest.mark.parametrize("ties", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_full_and_mcclish(self, ties, weighted):
        y, scores = noisy_sample(1, ties=ties)
        weights = np.random.default_rng(0).random(len(y)) if weighted else None
        assert partial_auc_score(y, scores, sample_weight=weights) == pytest.approx(
            roc_auc_score(y, scores, sample_weight=weights), abs=EXACT
        )
        for high in (0.01, 0.05, 0.3, 0.99):
            ours = partial_auc_score(y, scores, fpr_range=(0, high), normalize="mcclish", sample_weight=weights)
            theirs = roc_auc_score(y, scores, max_fpr=high, sample_weight=weights)
            assert ours == pytest.approx(theirs, abs=EXACT)

    @pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")  # 1 and 2, and -3 and -1
    @pytest.mark.parametrize("labels", [(False, True), (-1, 1), (1, 2), (0.0, 1.0), (-3, -1)])
    def test_greater_number_is_positive(self, labels):
        y, scores = noisy_sample(2)
        assert partial_auc_score(np.array(labels)[y], scores) == pytest.approx(roc_auc_score(y, scores), abs=EXACT)


class TestInvariances:
    @given(samples(), bands())
    def test_monotone_transform(self, sample, band):
        labels, scores, _ = sample
        ranks = np.unique(scores, return_inverse=True)[1]
        assert partial_auc_score(labels, ranks, fpr_range=band) == partial_auc_score(labels, scores, fpr_range=band)

    @given(samples(), bands(), st.data())
    def test_weights_are_repeats(self, sample, band, data):
        labels, scores, _ = sample
        counts = data.draw(st.lists(st.integers(1, 4), min_size=len(labels), max_size=len(labels)))
        weighted = partial_auc_score(labels, scores, fpr_range=band, sample_weight=counts)
        repeated = partial_auc_score(np.repeat(labels, counts), np.repeat(scores, counts), fpr_range=band)
        assert weighted == pytest.approx(repeated, abs=EXACT)

    @given(samples(), bands(), st.floats(0.05, 0.95))
    def test_raw_areas_add_up(self, sample, band, share):
        labels, scores, _ = sample
        middle = band[0] + share * (band[1] - band[0])
        parts = [(band[0], middle), (middle, band[1])]
        for axis in ("fpr_range", "tpr_range"):
            total = sum(partial_auc_score(labels, scores, normalize="none", **{axis: part}) for part in parts)
            assert total == pytest.approx(
                partial_auc_score(labels, scores, normalize="none", **{axis: band}), abs=EXACT
            )

    @given(samples(), bands())
    def test_swapped_classes_swap_the_axes(self, sample, band):
        labels, scores, _ = sample
        swapped = partial_auc_score(
            [1 - y for y in labels], [-s for s in scores], fpr_range=(1 - band[1], 1 - band[0]), normalize="none"
        )
        assert partial_auc_score(labels, scores, tpr_range=band, normalize="none") == pytest.approx(swapped, abs=1e-11)

    @given(samples(), bands())
    def test_negated_scores_turn_the_curve(self, sample, band):
        labels, scores, _ = sample
        turned = partial_auc_score(labels, [-s for s in scores], fpr_range=(1 - band[1], 1 - band[0]))
        assert partial_auc_score(labels, scores, fpr_range=band) == pytest.approx(1 - turned, abs=1e-11)

    @given(bands())
    def test_known_curves(self, band):
        labels = [0, 0, 1, 1]
        for axis in ("fpr_range", "tpr_range"):
            for normalize in ("width", "mcclish"):
                assert partial_auc_score(labels, labels, normalize=normalize, **{axis: band}) == pytest.approx(
                    1, abs=1e-14
                )
            chance = partial_auc_score(labels, [7, 7, 7, 7], normalize="mcclish", **{axis: band})
            assert chance == pytest.approx(0.5, abs=1e-11)

    def test_input_is_left_alone(self):
        y, scores = noisy_sample(0)
        before = y.copy(), scores.copy()
        partial_auc_score(y, scores, fpr_range=(0.01, 0.1))
        empirical_partial_auc(y, scores, fpr_range=(0.01, 0.1))
        tpr_at_fpr_score(y, scores, fpr=0.1)
        np.testing.assert_array_equal(y, before[0])
        np.testing.assert_array_equal(scores, before[1])

    def test_lists_and_series(self):
        y, scores = noisy_sample(0)
        expected = partial_auc_score(y, scores, fpr_range=(0, 0.1))
        assert partial_auc_score(y.tolist(), scores.tolist(), fpr_range=(0, 0.1)) == expected
        assert partial_auc_score(pd.Series(y), pd.Series(scores), fpr_range=(0, 0.1)) == expected


class TestEmpirical:
    @THOROUGH
    @given(samples(), bands())
    def test_agrees_with_all_pairs(self, sample, band):
        labels, scores, _ = sample
        ranks = Band.from_range(band, labels.count(0))
        expected = float(ranked_pairs(labels, scores, ranks.start, ranks.stop))
        assert empirical_partial_auc(labels, scores, fpr_range=band) == expected

    def test_ties_are_errors(self):
        assert empirical_partial_auc([0, 1], [2.0, 2.0], fpr_range=(0, 1)) == 0

    def test_equals_the_area_without_ties_when_ranks_fit(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], [100, 40])
        scores = rng.normal(size=140) + y
        area = partial_auc_score(y, scores, fpr_range=(0.1, 0.3))
        assert empirical_partial_auc(y, scores, fpr_range=(0.1, 0.3)) == pytest.approx(area, abs=EXACT)

    def test_pos_label(self):
        y, scores = noisy_sample(0)
        names = np.array(["sick", "healthy"])[1 - y]
        expected = empirical_partial_auc(y, scores, fpr_range=(0, 0.1))
        assert empirical_partial_auc(1 - y, scores, fpr_range=(0, 0.1), pos_label=0) == expected
        assert empirical_partial_auc(names, scores, fpr_range=(0, 0.1), pos_label="sick") == expected


class TestHeight:
    @THOROUGH
    @given(samples(), st.data())
    def test_at_every_corner(self, sample, data):
        labels, scores, _ = sample
        n = labels.count(0)
        rank = data.draw(st.integers(0, n))
        expected = float(height_at(roc_points(*sample), Fraction(rank, n)))
        assert tpr_at_fpr_score(labels, scores, fpr=rank / n) == pytest.approx(expected, abs=EXACT)

    @THOROUGH
    @given(samples(), st.integers(0, 999))
    def test_between_corners(self, sample, thousandths):
        labels, scores, _ = sample
        fpr = Fraction(2 * thousandths + 1, 2003)  # 2003 is prime: never a corner
        expected = float(height_at(roc_points(*sample), fpr))
        assert tpr_at_fpr_score(labels, scores, fpr=float(fpr)) == pytest.approx(expected, abs=EXACT)

    @given(samples(), st.data())
    def test_weights_are_repeats(self, sample, data):
        labels, scores, _ = sample
        counts = data.draw(st.lists(st.integers(0, 3), min_size=len(labels), max_size=len(labels)))
        amounts = [sum(c for c, y in zip(counts, labels, strict=True) if y == side) for side in (0, 1)]
        assume(all(amounts))
        fpr = data.draw(st.integers(0, amounts[0])) / amounts[0]
        weighted = tpr_at_fpr_score(labels, scores, fpr=fpr, sample_weight=np.multiply(counts, 0.1))
        repeated = tpr_at_fpr_score(np.repeat(labels, counts), np.repeat(scores, counts), fpr=fpr)
        assert weighted == pytest.approx(repeated, abs=1e-9)

    def test_vertical_segment_gives_its_upper_end(self):
        labels, scores = [1, 0, 1, 1, 0], [5, 4, 3, 2, 1]
        assert tpr_at_fpr_score(labels, scores, fpr=0.0) == pytest.approx(1 / 3)
        assert tpr_at_fpr_score(labels, scores, fpr=0.5) == 1.0

    def test_rounding_does_not_miss_a_corner(self):
        labels = np.repeat([0, 1], [100, 1])
        scores = np.append(-np.arange(100.0), -28.5)  # exactly 29 negatives score higher; 0.29 * 100 < 29 in floats
        assert tpr_at_fpr_score(labels, scores, fpr=0.29) == 1.0
        assert tpr_at_fpr_score(labels, scores, fpr=0.29, sample_weight=np.full(101, 0.1)) == 1.0


@pytest.fixture(scope="module")
def problem():
    return make_classification(400, 5, weights=[0.8], class_sep=0.7, random_state=0)


class TestScorer:
    @pytest.mark.parametrize(
        ("model", "response"),
        [
            (LogisticRegression(), "decision_function"),
            (RidgeClassifier(), "decision_function"),
            (GaussianNB(), "predict_proba"),
            (make_pipeline(StandardScaler(), LogisticRegression()), "decision_function"),
            (make_pipeline(StandardScaler(), GaussianNB()), "predict_proba"),
        ],
    )
    def test_cross_val_score_uses_the_scores(self, problem, model, response):
        X, y = problem
        model.fit(X, y)
        scores = getattr(model, response)(X)
        scores = scores[:, 1] if scores.ndim == 2 else scores
        scorer = partial_auc_scorer((0.0, 0.2), normalize="mcclish")
        expected = partial_auc_score(y, scores, fpr_range=(0.0, 0.2), normalize="mcclish")
        assert scorer(model, X, y) == pytest.approx(expected, abs=EXACT)
        assert np.isfinite(cross_val_score(model, X, y, cv=3, scoring=scorer)).all()

    @pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")
    @pytest.mark.parametrize("dtype", [str, object])
    @pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
    def test_labels_that_are_text(self, problem, model, dtype):
        """As for scikit-learn's scorers, the positives are the second of the classes."""
        X, y = problem
        names = np.where(y == 1, "yes", "no").astype(dtype)
        scorer = partial_auc_scorer((0.0, 0.2))
        expected = cross_val_score(model, X, y, cv=3, scoring=scorer)
        np.testing.assert_allclose(cross_val_score(model, X, names, cv=3, scoring=scorer), expected)
        reversed_names = np.where(y == 1, "a", "b").astype(dtype)
        flipped = cross_val_score(model, X, 1 - y, cv=3, scoring=scorer)
        np.testing.assert_allclose(cross_val_score(model, X, reversed_names, cv=3, scoring=scorer), flipped)

    def test_grid_search(self, problem):
        X, y = problem
        for model, grid in ((LogisticRegression(), {"C": [0.01, 1.0]}), (GaussianNB(), {"var_smoothing": [1e-9, 0.1]})):
            search = GridSearchCV(model, grid, cv=3, scoring=partial_auc_scorer((0.0, 0.2))).fit(X, y)
            assert 0 < search.best_score_ < 1

    @pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
    @pytest.mark.parametrize("names", [("b", "a"), ("a", "b")])
    def test_pos_label_may_be_either_label(self, problem, model, names):
        X, y = problem
        plain = partial_auc_scorer((0.0, 0.2))(model.fit(X, y), X, y)
        named = np.array(names)[y]
        scorer = partial_auc_scorer((0.0, 0.2), pos_label=names[1])
        assert scorer(model.fit(X, named), X, named) == pytest.approx(plain, abs=1e-6)

    def test_pickles(self, problem):
        X, y = problem
        scorer = partial_auc_scorer((0.02, 0.2), tpr_range=(0.1, 0.9))
        model = LogisticRegression().fit(X, y)
        assert pickle.loads(pickle.dumps(scorer))(model, X, y) == scorer(model, X, y)

    def test_refuses_a_bad_band_at_once(self):
        with pytest.raises(ValueError, match="fpr_range must satisfy"):
            partial_auc_scorer((0.2, 0.1))
        with pytest.raises(ValueError, match="normalize must be"):
            partial_auc_scorer((0.1, 0.2), normalize="area")


Y, S = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]
BAD_INPUT = {
    "empty": (([], []), {}, "y_true and y_score are empty"),
    "lengths": ((Y, S[:3]), {}, "y_true has 4 entries but y_score has 3"),
    "one class": (([1, 1, 1, 1], S), {}, "y_true holds only the label 1"),
    "one class of strings": ((["a"] * 4, S), {}, "y_true holds only the label 'a'"),
    "three labels": (([0, 1, 2, 1], S), {}, "y_true holds more labels than 0 and 2, in 2 of 4"),
    "three strings": ((["a", "b", "c", "a"], S), {"pos_label": "a"}, "y_true holds more labels than 'a' and 'c'"),
    "strings without pos_label": ((["a", "b", "a", "b"], S), {}, "'a' and 'b'; say which is positive with pos_label"),
    "unknown pos_label": ((Y, S), {"pos_label": 7}, "pos_label 7 is not among the labels of y_true, 0 and 1"),
    "mixed labels": ((np.array([0, "a", None, 1], dtype=object), S), {}, "y_true mixes labels"),
    "NaN label": (([0.0, 1.0, np.nan, 1.0], S), {}, "y_true holds NaN"),
    "2-d labels": (([[0, 1]], S), {}, r"y_true must be one-dimensional, got an array of shape \(1, 2\)"),
    "NaN score": ((Y, [0.1, np.nan, 0.3, 0.4]), {}, "y_score holds nan at position 1"),
    "infinite score": ((Y, [0.1, 0.2, -np.inf, 0.4]), {}, "y_score holds -inf at position 2"),
    "2-d scores": ((Y, np.ones((4, 2))), {}, r"shape \(4, 2\); pass the scores of the positive class alone"),
    "text scores": ((Y, ["a", "b", "c", "d"]), {}, "y_score must hold real numbers"),
    "complex scores": ((Y, [1j, 2j, 3j, 4j]), {}, "y_score must hold real numbers"),
}
BAD_WEIGHTS = {
    "negative": ([1, -1, 1, 1], "sample_weight holds -1 at position 1"),
    "NaN": ([1, 1, np.nan, 1], "sample_weight holds nan at position 2"),
    "infinite": ([1, 1, 1, np.inf], "sample_weight holds inf at position 3"),
    "short": ([1, 1], "y_true has 4 entries but sample_weight has 2"),
    "2-d": ([[1, 1, 1, 1]], "sample_weight must be one-dimensional"),
    "text": (["a"] * 4, "sample_weight must hold real numbers"),
    "no positive": ([1, 0, 1, 0], "sample_weight of the positives sums to zero"),
    "no negative": ([0, 1, 0, 1], "sample_weight of the negatives sums to zero"),
}
BAD_RANGES = {
    "reversed": ((0.2, 0.1), r"must satisfy 0 <= low < high <= 1, got \(0.2, 0.1\)"),
    "empty": ((0.1, 0.1), "must satisfy"),
    "below 0": ((-0.1, 0.5), "must satisfy"),
    "above 1": ((0.5, 1.1), "must satisfy"),
    "NaN": ((0.0, float("nan")), "must satisfy"),
    "text": (("a", "b"), "must be a pair of numbers"),
    "one number": (0.1, "must be a pair"),
}
METRICS = [
    partial_auc_score,
    lambda y, s, **options: empirical_partial_auc(y, s, fpr_range=(0, 1), **options),
    lambda y, s, **options: tpr_at_fpr_score(y, s, fpr=0.5, **options),
]


def assert_one_sentence(error):
    text = str(error.value)
    # Or a question, what was meant.
    assert text.endswith((".", "?"))
    assert "\n" not in text
    assert len(text) < 200


class TestBadInput:
    @pytest.mark.parametrize("metric", METRICS)
    @pytest.mark.parametrize("case", BAD_INPUT)
    def test_arrays(self, metric, case):
        arrays, options, message = BAD_INPUT[case]
        with pytest.raises(ValueError, match=message) as error:
            metric(*arrays, **options)
        assert_one_sentence(error)

    @pytest.mark.parametrize("metric", [METRICS[0], METRICS[2]])
    @pytest.mark.parametrize("case", BAD_WEIGHTS)
    def test_weights(self, metric, case):
        weights, message = BAD_WEIGHTS[case]
        with pytest.raises(ValueError, match=message) as error:
            metric(Y, S, sample_weight=weights)
        assert_one_sentence(error)

    @pytest.mark.parametrize("axis", ["fpr_range", "tpr_range"])
    @pytest.mark.parametrize("case", BAD_RANGES)
    def test_ranges(self, axis, case):
        bounds, message = BAD_RANGES[case]
        with pytest.raises(ValueError, match=f"{axis} {message}") as error:
            partial_auc_score(Y, S, **{axis: bounds})
        assert_one_sentence(error)

    def test_empirical_band_without_negatives(self):
        with pytest.raises(ValueError, match="must satisfy"):
            empirical_partial_auc(Y, S, fpr_range=(0.3, 0.3))
        # The float after 0.5 leaves no rank between floor(2 * 0.5) and ceil(2 * high).
        with pytest.raises(ValueError, match="holds none of the 2 negatives") as error:
            empirical_partial_auc(Y, S, fpr_range=(0.5, np.nextafter(0.5, 1)))
        assert_one_sentence(error)

    @pytest.mark.parametrize("fpr", [-0.1, 1.1, float("nan"), "a", None, True])
    def test_rate(self, fpr):
        with pytest.raises(ValueError, match=r"fpr must be a number in \[0, 1\]"):
            tpr_at_fpr_score(Y, S, fpr=fpr)

    def test_normalize(self):
        with pytest.raises(ValueError, match="normalize must be 'width', 'none' or 'mcclish', got 'area'"):
            partial_auc_score(Y, S, normalize="area")
        with pytest.raises(ValueError, match="defined for a band of one axis only"):
            partial_auc_score(Y, S, fpr_range=(0, 0.5), tpr_range=(0.5, 1), normalize="mcclish")


class TestFROC:
    def test_counts_false_positives_as_the_band_does(self):
        y, scores = noisy_sample(0)
        n, n_images = int((y == 0).sum()), 40
        low, high = froc_band((0.5, 4.0), n_images=n_images, n_negatives=n)
        assert low * n == pytest.approx(0.5 * n_images)
        assert high * n == pytest.approx(4.0 * n_images)
        assert 0 < partial_auc_score(y, scores, fpr_range=(low, high)) < 1

    @pytest.mark.parametrize(
        ("rates", "sizes", "message"),
        [
            ((0.3, 0.2), (10, 100), "must satisfy 0 <= low < high <= 10"),
            ((0.0, 11.0), (10, 100), "must satisfy 0 <= low < high <= 10"),
            (0.2, (10, 100), "must be a pair"),
            ((0.1, 0.2), (0, 100), "n_images must be a whole number of at least 1"),
            ((0.1, 0.2), (10, 1.5), "n_negatives must be a whole number of at least 1"),
        ],
    )
    def test_bad_input(self, rates, sizes, message):
        with pytest.raises(ValueError, match=message):
            froc_band(rates, n_images=sizes[0], n_negatives=sizes[1])


class TestFewNegatives:
    Y = np.repeat([1, 0], (5, 40))
    SCORES = np.arange(45.0)[::-1] % 17

    @pytest.mark.parametrize(
        ("band", "held"), [((0.0, 0.024), "(0, 0.024) holds 0.96"), ((0.1, 0.12), "(0.1, 0.12) holds 0.8")]
    )
    def test_a_band_of_less_than_one_is_told(self, band, held):
        with pytest.warns(NarrowBandWarning) as caught:
            partial_auc_score(self.Y, self.SCORES, fpr_range=band)
        assert (
            str(caught[0].message) == f"fpr_range={held} of the 40 negatives: the figure rests on one or two of them."
        )
        assert caught[0].filename == __file__

    @pytest.mark.filterwarnings("error")
    def test_a_band_of_one_is_not(self):
        partial_auc_score(self.Y, self.SCORES, fpr_range=(0.0, 0.025))
        partial_auc_score(self.Y, self.SCORES, fpr_range=(0.0, 0.01), sample_weight=np.ones(45))


# Bands whose ends meet corners of the curve, its flat and its vertical pieces, or nothing, worked out by hand. The
# curve: (0, 0), (0, 1/4), (1/4, 1/4), (1/4, 1/2), a tie of one each up to (1/2, 3/4), (3/4, 3/4), (3/4, 1), (1, 1).
BOUNDARY = ([1, 0, 1, 1, 0, 0, 1, 0], [8, 7, 6, 5, 5, 4, 3, 2])
BOUNDARY_AREAS = [
    ((0.0, 0.25), (0.0, 1.0), "1/16"),
    ((0.25, 0.5), (0.0, 1.0), "5/32"),
    ((0.5, 0.75), (0.0, 1.0), "3/16"),
    ((0.75, 1.0), (0.0, 1.0), "1/4"),
    ((0.0, 1.0), (0.0, 1.0), "21/32"),
    ((0.125, 0.375), (0.0, 1.0), "13/128"),
    ((0.25, 0.375), (0.0, 1.0), "9/128"),
    ((0.6, 0.75), (0.0, 1.0), "9/80"),
    ((0.9, 1.0), (0.0, 1.0), "1/10"),
    # The area right of the curve, over a band of TPR.
    ((0.0, 1.0), (0.0, 0.25), "1/4"),
    ((0.0, 1.0), (0.25, 0.5), "3/16"),
    ((0.0, 1.0), (0.5, 0.75), "5/32"),
    ((0.0, 1.0), (0.75, 1.0), "1/16"),
    ((0.0, 1.0), (0.625, 0.75), "9/128"),
    # Both.
    ((0.0, 0.5), (0.5, 1.0), "1/32"),
    ((0.25, 0.75), (0.25, 0.75), "7/32"),
    ((0.5, 0.75), (0.75, 1.0), "0"),
    ((0.75, 1.0), (0.5, 0.75), "1/16"),
    ((0.0, 0.25), (0.25, 1.0), "0"),
]


@pytest.mark.parametrize(("fpr_range", "tpr_range", "area"), BOUNDARY_AREAS)
def test_ends_at_corners_and_between(fpr_range, tpr_range, area):
    found = partial_auc_score(*BOUNDARY, fpr_range=fpr_range, tpr_range=tpr_range, normalize="none")
    assert found == pytest.approx(float(Fraction(area)), abs=EXACT)
    assert area_in_rectangle(roc_points(*BOUNDARY), fpr_range, tpr_range) == pytest.approx(float(Fraction(area)))
