"""Pictures: what they show, on which axes, and what they refuse."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from rocband.datasets import make_band_problem
from rocband.inference import partial_auc_interval
from rocband.metrics import tpr_at_fpr_score
from rocband.plot import PartialROCDisplay, plot_convergence, plot_generalization_bound, plot_path

mpl.use("Agg")

X, Y = make_band_problem(400, random_state=0)
SCORES = X[:, 1]
BAND = (0.02, 0.2)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def display(scores=SCORES, **options):
    return PartialROCDisplay.from_predictions(Y, scores, **({"fpr_range": BAND, "random_state": 0} | options))


def texts(shown):
    return [text.get_text() for text in shown.ax_.get_legend().get_texts()]


class TestDisplay:
    def test_emphasises_the_curve_inside_the_band(self):
        shown = display()
        x, y = shown.line_.get_data()
        assert (x.min(), x.max()) == BAND
        for rate, height in ((x[0], y[0]), (x[-1], y[-1])):
            assert height == pytest.approx(tpr_at_fpr_score(Y, SCORES, fpr=rate), abs=0.02)
        assert np.all(np.diff(x) >= 0)
        assert np.all(np.diff(y) >= 0)

    def test_a_band_that_starts_at_zero_shows_the_vertical_start(self):
        shown = display(fpr_range=(0.0, 0.1))
        assert shown.line_.get_ydata()[0] == 0

    def test_both_ranges_cut_the_curve(self):
        shown = display(fpr_range=(0.0, 0.5), tpr_range=(0.45, 0.6))
        x, y = shown.line_.get_data()
        assert (y.min(), y.max()) == pytest.approx((0.45, 0.6))
        assert x.max() <= 0.5
        assert shown.ax_.get_legend().get_title().get_text() == "partial AUC, FPR 0 to 0.5, TPR 0.45 to 0.6"

    def test_legend_shows_figure_and_interval(self):
        interval = partial_auc_interval(Y, SCORES, fpr_range=BAND, random_state=0)
        expected = f"{interval.estimate:.3f}  [{interval.low:.3f}, {interval.high:.3f}]"
        assert texts(display(name="second")) == [f"second: {expected}"]
        assert texts(display()) == [expected]
        assert texts(display(confidence=None)) == [f"{interval.estimate:.3f}"]

    def test_full_range_is_the_auc(self):
        shown = display(fpr_range=(0.0, 1.0))
        assert shown.ax_.get_legend().get_title().get_text() == "AUC"
        assert not shown.ax_.patches

    def test_several_scorers_share_the_axes(self):
        first = display(name="a", zoom=True)
        second = display(X[:, 0] + X[:, 1], name="b", ax=first.ax_, zoom=True)
        assert second.ax_ is first.ax_
        assert second.figure_ is first.figure_
        assert second.zoom_ is first.zoom_
        assert len(first.ax_.patches) == 1
        assert len(texts(second)) == 2
        assert first.line_.get_color() != second.line_.get_color()
        assert first.line_.get_linestyle() != second.line_.get_linestyle()

    def test_options_reach_the_line(self):
        shown = display(color="black", linewidth=5.0)
        assert shown.line_.get_color() == "black"
        assert shown.line_.get_linewidth() == 5.0

    @pytest.mark.parametrize("method", ["spacings", "analytic", "bootstrap"])
    def test_limits_of_the_curve(self, method):
        shown = display(curve_band=True, zoom=True, method=method)
        rates, low, high = shown.band
        heights = [tpr_at_fpr_score(Y, SCORES, fpr=rate) for rate in rates]
        assert np.all(low <= high)
        assert np.mean((low - 1e-9 <= heights) & (heights <= high + 1e-9)) > 0.95
        assert shown.zoom_.get_xlim() == pytest.approx(BAND)

    def test_logarithmic_rates(self):
        shown = display(log_fpr=True)
        assert shown.ax_.get_xscale() == "log"
        assert 0 < shown.ax_.get_xlim()[0] < BAND[0]
        with pytest.raises(ValueError, match="zoom and log_fpr both enlarge the band"):
            display(log_fpr=True, zoom=True)

    def test_drawing_again(self):
        shown = display()
        again = shown.plot(name="later", chance=False)
        assert again is shown
        assert texts(again)[0].startswith("later: ")

    def test_without_figures(self):
        shown = PartialROCDisplay(fpr=[0, 0, 1], tpr=[0, 1, 1]).plot()
        assert shown.ax_.get_legend() is None
        assert texts(PartialROCDisplay(fpr=[0, 0, 1], tpr=[0, 1, 1], name="perfect").plot()) == ["perfect"]

    def test_bad_input(self):
        with pytest.raises(ValueError, match="fpr_range must satisfy"):
            display(fpr_range=(0.2, 0.1))
        with pytest.raises(ValueError, match="y_score holds nan"):
            display(np.full(len(Y), np.nan))

    def test_saves(self, tmp_path):
        shown = display(zoom=True, curve_band=True)
        shown.figure_.savefig(tmp_path / "band.png")
        shown.figure_.savefig(tmp_path / "band.pdf")
        assert (tmp_path / "band.png").stat().st_size > 10_000


class TestEstimator:
    @pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
    def test_scores_of_either_kind(self, model):
        model.fit(X, Y)
        shown = PartialROCDisplay.from_estimator(model, X, Y, fpr_range=BAND, random_state=0)
        expected = partial_auc_interval(Y, model.predict_proba(X)[:, 1], fpr_range=BAND, random_state=0)
        assert shown.interval == expected
        assert shown.name == type(model).__name__

    @pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
    def test_either_label_is_positive(self, model):
        names = np.where(Y == 1, "ill", "well")
        model.fit(X, names)
        shown = PartialROCDisplay.from_estimator(model, X, names, pos_label="ill", fpr_range=BAND, random_state=0)
        expected = partial_auc_interval(Y, model.predict_proba(X)[:, 0], fpr_range=BAND, random_state=0)
        assert shown.interval.estimate == pytest.approx(expected.estimate)

    def test_unknown_label(self):
        model = LogisticRegression().fit(X, Y)
        with pytest.raises(ValueError, match="pos_label 'ill' is not among the estimator's classes"):
            PartialROCDisplay.from_estimator(model, X, Y, pos_label="ill")


@dataclass
class Record:
    passes: int
    objective: float
    lower_bound: float
    gap: float


class TestConvergence:
    @staticmethod
    def history(kind=dict, bound=True):
        for k in range(1, 20):
            high, low = 1 + 1 / k, 1 - 1 / k if bound else np.nan
            yield kind(passes=k, objective=high, lower_bound=low, gap=high - low)

    @pytest.mark.parametrize("kind", [dict, Record])
    def test_values_and_gap(self, kind):
        values, gap = plot_convergence(self.history(kind))
        assert [line.get_label() for line in values.get_lines()] == ["objective", "certified lower bound"]
        assert gap.get_yscale() == "log"
        assert np.allclose(gap.get_lines()[0].get_ydata(), [2 / k for k in range(1, 20)])

    def test_without_a_bound(self):
        axes = plot_convergence(self.history(bound=False))
        assert len(axes) == 1
        assert axes[0].get_xlabel() == "Passes over the data"

    def test_on_given_axes(self):
        _, axes = plt.subplots(2)
        assert plot_convergence(self.history(), axes=axes) is axes

    def test_empty(self):
        with pytest.raises(ValueError, match="history is empty"):
            plot_convergence([])


class TestPath:
    cv = SimpleNamespace(Cs_=np.geomspace(0.01, 100, 5), scores_=np.linspace(0, 1, 15).reshape(5, 3), C_=1.0)

    def test_folds_mean_and_choice(self):
        ax = plot_path(self.cv)
        assert ax.get_xscale() == "log"
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels == ["one fold", "mean of the folds", "chosen: C = 1"]

    def test_on_given_axes(self):
        _, ax = plt.subplots()
        assert plot_path(self.cv, ax=ax) is ax

    def test_mismatch(self):
        with pytest.raises(
            ValueError, match=r"scores_ must have one row for each of the 2 values of C, got shape \(3, 4\)"
        ):
            plot_path(SimpleNamespace(Cs_=[1, 2], scores_=np.ones((3, 4)), C_=1))


class TestBound:
    def test_one_line_for_each_band(self):
        ax = plot_generalization_bound(sizes=[1000, 100_000], fpr_ranges=[(0.0, 0.1), (0.0, 0.5)])
        lines = ax.get_lines()
        assert [line.get_label() for line in lines] == ["FPR 0 to 0.1", "FPR 0 to 0.5"]
        assert all(np.diff(line.get_ydata())[0] < 0 for line in lines)

    def test_prevalence(self):
        with pytest.raises(ValueError, match="prevalence must lie strictly between 0 and 1"):
            plot_generalization_bound(prevalence=1.0)


def test_import_needs_no_matplotlib():
    code = "import sys; sys.modules['matplotlib'] = None; import rocband.plot"
    subprocess.run([sys.executable, "-c", code], check=True)
