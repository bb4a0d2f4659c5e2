"""The report: its figures are the library's, names are only text, nothing is loaded, and it is written whole or not."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

import rocband
from rocband import report
from rocband.datasets import make_band_problem
from rocband.inference import compare_many, partial_auc_interval, tpr_at_fpr_interval
from rocband.metrics import tpr_at_fpr_score
from rocband.threshold import operating_points
from rocband.threshold.decimals import threshold_text

# Small samples make quick pages; that their bands hold few negatives is not what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore::rocband.metrics.NarrowBandWarning")

BAND = (0.02, 0.2)
X, Y = make_band_problem(240, random_state=0)
SCORES = {"second": X[:, 1], "both": X[:, 0] + X[:, 1], "rounded": np.round(X[:, 1])}
HOSTILE = "<script>alert(1)</script>"
SMALL_Y, SMALL = np.repeat([1, 0], (4, 6)), np.array([5.0, 4.0, 2.0, 1.0, 3.0, 0.5, 0.4, 0.3, 0.2, 0.1])
FIGURES = {"fpr": "FPR", "tpr": "TPR", "ppv": "PPV", "alerts": "alerts per 1,000"}
DIGITS = 1e-8  # figures in the page have 9 digits


class Page(HTMLParser):
    """The elements with their attributes and own text, the cells of the tables, and the data of the charts."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.own, self.rows, self.open = [], [], [], []
        self.source = path.read_bytes().decode("utf-8")
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "input"):
            self.open.append(len(self.tags))
        self.tags.append((tag, dict(attrs)))
        self.own.append("")
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.tags[self.open.pop()][0] == tag

    def handle_data(self, text):
        if self.open:
            self.own[self.open[-1]] += text
        if {"td", "th"} & {self.tags[k][0] for k in self.open}:
            self.rows[-1][-1] += text

    def texts(self, tag):
        return [text for (name, _), text in zip(self.tags, self.own, strict=True) if name == tag]

    def attributes(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def data(self):
        def refuse(constant):
            raise AssertionError(f"{constant} is not JSON")

        position = next(k for k, (_, attrs) in enumerate(self.tags) if attrs.get("id") == "data")
        return json.loads(self.own[position], parse_constant=refuse)


def write(path, scores=SCORES, y=Y, **options):
    given = {"fpr_range": BAND, "method": "analytic"} | options
    return Page(report.write(path, y, scores, **given))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report") / "page.html", method="spacings", random_state=0, n_draws=200)


def rates(points):
    """The false-positive rates of the slider's stops, before they were rounded."""
    negatives = np.count_nonzero(Y == 0)
    return np.round(np.array(points["fpr"])[:, 0] * negatives) / negatives


def with_ends(estimate, low, high):
    return f"{estimate:.3f} {low:.3f} to {high:.3f}"


class TestFigures:
    def test_summary(self, page):
        options = {"n_draws": 200, "random_state": 0}
        for name, scores in SCORES.items():
            area = partial_auc_interval(Y, scores, fpr_range=BAND, **options)
            rate = tpr_at_fpr_interval(Y, scores, fpr=BAND[1], **options)
            auc = partial_auc_interval(Y, scores, **options)
            expected = [with_ends(figure.estimate, figure.low, figure.high) for figure in (area, rate, auc)]
            assert [f" {name}", *expected] in page.rows

    def test_comparison(self, page):
        for result in compare_many(Y, SCORES, fpr_range=BAND, method="spacings", n_draws=200, random_state=0):
            cell = f"{result.difference:+.3f} {result.low:+.3f} to {result.high:+.3f}"
            assert [*result.names, cell, f"{result.pvalue:.2g}"] in page.rows

    def test_one_scorer_has_nothing_to_compare(self, tmp_path):
        page = write(tmp_path / "page.html", SCORES["both"])
        assert "Comparison" not in page.texts("h2")
        assert not page.attributes("select")

    def test_whole_curve(self, tmp_path):
        page = write(tmp_path / "page.html", SMALL, SMALL_Y, fpr_range=(0.0, 1.0))
        assert page.rows[0] == ["Scorer", "Partial AUC, FPR 0% to 100%"]
        assert [attributes["id"] for attributes in page.attributes("canvas")][:2] == ["whole", "scores-0"]

    @pytest.mark.parametrize("prevalence", [None, 0.02])
    def test_explorer(self, tmp_path, prevalence):
        page = write(tmp_path / "page.html", prevalence=prevalence, confidence=0.9)
        for name, shown in zip(SCORES, page.data["scorers"], strict=True):
            assert shown["name"] == name
            points = {key: np.array(values, dtype=float) for key, values in shown["points"].items()}
            assert np.all(np.diff(points["threshold"]) < 0)
            table = operating_points(Y, SCORES[name], rates(points), prevalence=prevalence, confidence=0.9)
            assert points["threshold"] == pytest.approx(table["threshold"].to_numpy())
            for key, label in FIGURES.items():
                expected = table[[label, f"{label} low", f"{label} high"]].to_numpy()
                np.testing.assert_allclose(points[key], expected, rtol=DIGITS)

    @pytest.mark.parametrize("share", [0.001, 0.3, 0.98])
    def test_ppv_at_any_prevalence_follows_from_even_classes(self, page, share):
        points = page.data["scorers"][0]["points"]
        table = operating_points(Y, SCORES["second"], rates(points), prevalence=share)
        low, low_rest, high, high_rest = np.array(points["even"]).T
        for end, hits, rest in (("low", low, low_rest), ("high", high, high_rest)):
            ppv = share * hits / (share * hits + (1 - share) * rest)
            np.testing.assert_allclose(ppv, table[f"PPV {end}"], rtol=1e-3)

    def test_table_of_operating_points(self, tmp_path):
        page = write(tmp_path / "page.html", SCORES["both"], prevalence=0.1)
        (first, *_) = operating_points(Y, SCORES["both"], BAND[0], prevalence=0.1).to_dict("records")
        row = next(row for row in page.rows if row[0] == "2%")
        assert row[1] == threshold_text(first["threshold"], SCORES["both"])
        above = SCORES["both"][Y == 0] > float(row[1])
        assert above.mean() == first["FPR"] <= BAND[0]
        assert row[3].startswith(f"{100 * first['TPR']:#.3g}% ")
        assert row[5].startswith(f"{first['alerts per 1,000']:.1f} ")
        assert "at a prevalence of 10.0%" in page.source.lower()

    def test_no_alert_is_said(self, tmp_path):
        silent = write(tmp_path / "page.html", np.zeros(10), SMALL_Y, fpr_range=(0.0, 0.1))
        assert silent.data["scorers"][0]["points"]["ppv"] == [[None, 0.0, 1.0]]
        assert any("no alerts" in cell for row in silent.rows for cell in row)

    def test_distributions(self, page):
        for name, shown in zip(SCORES, page.data["scorers"], strict=True):
            histogram = shown["histogram"]
            for side, label in (("positives", 1), ("negatives", 0)):
                own = SCORES[name][label == Y]
                inner = np.histogram(own, [-np.inf, *histogram["edges"][1:-1], np.inf])[0]
                np.testing.assert_allclose(histogram[side], inner / len(own), atol=2 / len(own))
                assert sum(histogram[side]) == pytest.approx(1, abs=1e-4)
                row = next(row for row in page.rows if row[:2] == [name, side])
                assert [row[2], row[-1]] == [f"{own.min():.4g}", f"{own.max():.4g}"]

    def test_probabilities_are_spread_by_their_logit(self, tmp_path):
        probabilities = 1 / (1 + np.exp(-4 * SMALL))
        histogram = write(tmp_path / "page.html", probabilities, SMALL_Y).data["scorers"][0]["histogram"]
        assert histogram["logit"]
        inner = np.histogram(4 * SMALL[SMALL_Y == 1], [-np.inf, *histogram["edges"][1:-1], np.inf])[0]
        assert histogram["positives"] == (inner / inner.sum()).tolist()
        assert not write(tmp_path / "page.html", SMALL, SMALL_Y).data["scorers"][0]["histogram"]["logit"]

    def test_how_it_was_made(self, tmp_path):
        options = {"groups": np.arange(10) // 2, "random_state": 7, "title": "Spring round"}
        page = write(tmp_path / "mine.html", SMALL, SMALL_Y, **options)
        (call,) = page.texts("pre")
        for part in ("'mine.html'", "fpr_range=(0.02, 0.2)", "title='Spring round'", "groups=...", "random_state=7"):
            assert part in call
        made = " ".join(page.texts("dd"))
        assert f"rocband {rocband.__version__}" in made
        assert "in 5 groups" in made
        assert page.texts("h1")[0] == "Spring round"
        generator = write(tmp_path / "mine.html", SMALL, SMALL_Y, random_state=np.random.default_rng(0))
        (seed,) = re.findall(r"random_state=(\d+),", generator.texts("pre")[0])
        assert int(seed) == np.random.default_rng(0).integers(1 << 32)

    def test_version_of_the_charts(self, page):
        script = max(page.texts("script"), key=len)
        assert re.search(r"Chart\.js v([\d.]+)", script)[1] in " ".join(page.texts("dd"))


class TestCurves:
    @pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.01), (0.1, 0.3), (0.5005, 0.5006)])
    def test_thinning_is_not_seen(self, tmp_path, band):
        X, y = make_band_problem(30_000, random_state=1)
        fpr, tpr, _ = roc_curve(y, X[:, 1])
        curve = write(tmp_path / "page.html", X[:, 1], y, fpr_range=band).data["scorers"][0]["curve"]
        kept = np.column_stack((curve["fpr"], curve["tpr"]))
        assert len(kept) < len(fpr) / 2
        corners = np.column_stack((fpr, tpr))
        for left, right in ((0.0, 1.0), band):
            inside = (fpr >= left) & (fpr <= right)
            cell = np.array([right - left, np.ptp(tpr[inside]) if inside.any() else 1.0]) / 800
            # Each corner is within a cell, some thousandth of the chart, of a kept one before it.
            for corner in corners[inside][:: max(int(inside.sum()) // 500, 1)]:
                before = kept[(kept <= corner + 1e-6).all(axis=1)][-1]
                assert (corner - before <= cell + 2e-6).all()
        assert (kept[0] == 0).all()
        assert (kept[-1] == 1).all()

    def test_marker_is_on_the_curve(self, page):
        for shown in page.data["scorers"]:
            fpr, tpr = (np.array(shown["curve"][key]) for key in ("fpr", "tpr"))
            for (x, *_), (y, *_) in zip(shown["points"]["fpr"], shown["points"]["tpr"], strict=True):
                below = np.interp(x - 2e-6, fpr, tpr)
                above = np.interp(x + 2e-6, fpr, tpr)
                assert below - 3e-3 <= y <= above + 3e-3

    def test_heights_at_the_ends_of_the_band(self, page):
        for name, shown in zip(SCORES, page.data["scorers"], strict=True):
            assert shown["ends"] == [tpr_at_fpr_score(Y, SCORES[name], fpr=rate) for rate in BAND]

    def test_slider_stops_in_the_band_most(self, tmp_path):
        X, y = make_band_problem(30_000, random_state=1)
        stops = np.array(write(tmp_path / "page.html", X[:, 1], y).data["scorers"][0]["points"]["fpr"])[:, 0]
        assert np.count_nonzero((stops >= BAND[0]) & (stops <= BAND[1])) > 100
        assert len(stops) < 250
        assert stops[0] == 0
        assert stops[-1] > 0.99

    def test_the_page_stays_light(self, tmp_path):
        sizes = []
        for count in (10_000, 300_000):
            X, y = make_band_problem(count, random_state=1)
            sizes.append(len(write(tmp_path / "page.html", X[:, 1], y, fpr_range=(0.0, 0.05)).source))
        library = (resources.files("rocband.report") / "assets" / "chart.umd.min.js").read_text(encoding="utf-8")
        assert sizes[1] - len(library) < 150_000
        assert sizes[1] < 1.3 * sizes[0]


class TestNames:
    @settings(max_examples=40, deadline=None)
    @given(name=st.text(min_size=1).filter(str.strip), title=st.text())
    @example(name=HOSTILE, title="</title><script>alert(2)</script>")
    @example(name="</script><!-- <script>", title='"><img src=x onerror=alert(3)>')
    @example(name="\u2028]]>\u2029&amp;", title="{{ 7 * 7 }}{% for %}")
    @example(name="' onmouseover='alert(4)", title="--></style>")
    def test_are_only_text(self, tmp_path_factory, name, title):
        path = tmp_path_factory.getbasetemp() / "names.html"
        other = f"not {name}"
        page = write(path, {name: SMALL, other: -SMALL}, SMALL_Y, title=title)
        plain = write(path, {"a": SMALL, "b": -SMALL}, SMALL_Y)
        assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
        assert Counter(key for _, attrs in page.tags for key in attrs) == Counter(
            key for _, attrs in plain.tags for key in attrs
        )
        assert [scorer["name"] for scorer in page.data["scorers"]] == [name, other]
        assert page.texts("title") == [title]
        assert page.texts("bdi")[0] == name

    def test_data_can_close_no_script(self, tmp_path):
        page = write(tmp_path / "page.html", {HOSTILE: SMALL, "<!--\u2028": -SMALL}, SMALL_Y)
        (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.source, re.S)
        assert not set("<>&\u2028\u2029") & set(data)

    def test_what_no_encoding_knows(self, tmp_path):
        page = write(tmp_path / "page.html", {"half \ud800": SMALL}, SMALL_Y)
        assert page.texts("bdi")[0] == "half ?"


class TestInput:
    @pytest.mark.parametrize(
        ("scores", "names"),
        [
            (SMALL, ["scores"]),
            (list(SMALL), ["scores"]),
            (pd.Series(SMALL, name="risk"), ["risk"]),
            (pd.DataFrame({"a": SMALL, 7: SMALL > 2}), ["a", "7"]),
            ({"a": SMALL, "b": SMALL.astype(int)}, ["a", "b"]),
        ],
    )
    def test_kinds(self, tmp_path, scores, names):
        page = write(tmp_path / "page.html", scores, SMALL_Y)
        assert [scorer["name"] for scorer in page.data["scorers"]] == names

    def test_labels_of_any_kind(self, tmp_path):
        words = np.where(SMALL_Y == 1, "ill", "well")
        page = write(tmp_path / "page.html", SMALL, words, pos_label="ill")
        assert page.data == write(tmp_path / "page.html", SMALL, SMALL_Y).data

    @settings(max_examples=60, deadline=None)
    @given(
        scores=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=10, max_size=10),
        band=st.sampled_from([(0.0, 1.0), (0.0, 1e-6), (0.3, 0.9), (0.5, 1.0)]),
    )
    def test_any_finite_scores(self, tmp_path_factory, scores, band):
        page = write(tmp_path_factory.getbasetemp() / "any.html", scores, SMALL_Y, fpr_range=band)
        (shown,) = page.data["scorers"]
        assert len(shown["histogram"]["edges"]) == len(shown["histogram"]["positives"]) + 1
        assert shown["points"]["threshold"]

    @pytest.mark.parametrize(
        ("scores", "options", "message"),
        [
            ({}, {}, "scores holds no scorer; pass the scores of at least one model"),
            ({" ": SMALL}, {}, "The scorer at position 0 of scores has an empty name"),
            ({1: SMALL, "1": SMALL}, {}, "scores holds 2 scorers of the name '1'"),
            ({"a": SMALL, "b": SMALL[:5]}, {}, r"y_true has 10 entries but scores\['b'\] has 5"),
            ({"a": SMALL, "b": SMALL * np.nan}, {}, r"scores\['b'\] holds nan at position 0; remove or replace"),
            ({"b": ["x"] * 10}, {}, r"scores\['b'\] must hold real numbers"),
            (np.column_stack((SMALL, SMALL)), {}, r"scores\['scores'\] must be one-dimensional"),
            (SMALL, {"y": np.ones(10)}, "y_true holds only the label 1.0; a ROC curve needs positives and negatives"),
            (SMALL, {"fpr_range": (0.2, 0.2)}, "fpr_range must satisfy"),
            (SMALL, {"prevalence": 2}, "prevalence must be a number between 0 and 1"),
            (SMALL, {"confidence": 1}, "confidence must lie strictly between 0 and 1"),
            (SMALL, {"method": "delong"}, "method must be 'auto', 'spacings', 'bootstrap' or 'analytic'"),
            (SMALL, {"n_draws": 10}, "n_draws must be a whole number of at least 100"),
            (SMALL, {"groups": [1] * 10}, "All positives belong to the group 1"),
        ],
    )
    def test_bad_input_is_named_and_nothing_written(self, tmp_path, scores, options, message):
        with pytest.raises(ValueError, match=message):
            write(tmp_path / "page.html", scores, **({"y": SMALL_Y} | options))
        assert not list(tmp_path.iterdir())

    def test_progress_on_request(self, tmp_path, capsys):
        write(tmp_path / "page.html", {"a": SMALL}, SMALL_Y)
        assert capsys.readouterr().err == ""
        write(tmp_path / "page.html", {"a": SMALL}, SMALL_Y, verbose=1, method="spacings", n_draws=100)
        told = capsys.readouterr().err
        assert "[rocband] partial AUC of 'a'" in told
        assert "100 of 100 draws" in told

    def test_missing_extra(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "jinja2", None)
        with pytest.raises(ImportError, match=r"rocband.report needs jinja2; .*rocband\[report\]"):
            write(tmp_path / "page.html", SMALL, SMALL_Y)

    def test_import_needs_no_extra(self):
        code = "import sys; sys.modules['jinja2'] = sys.modules['pandas'] = None; import rocband, rocband.report"
        subprocess.run([sys.executable, "-c", code], check=True)


class TestFile:
    def test_replaces_and_leaves_nothing_else(self, tmp_path):
        path = tmp_path / "page.html"
        path.write_text("before")
        assert report.write(str(path), SMALL_Y, SMALL, fpr_range=BAND, method="analytic") == path
        assert path.read_text(encoding="utf-8").endswith("</html>")
        assert list(tmp_path.iterdir()) == [path]

    def test_others_may_read_it_as_any_new_file(self, tmp_path):
        (tmp_path / "usual").touch()
        page = report.write(tmp_path / "page.html", SMALL_Y, SMALL, fpr_range=BAND, method="analytic")
        assert page.stat().st_mode == (tmp_path / "usual").stat().st_mode

    def test_follows_a_link(self, tmp_path):
        link = tmp_path / "latest.html"
        link.symlink_to(tmp_path / "page.html")
        report.write(link, SMALL_Y, SMALL, fpr_range=BAND, method="analytic")
        assert link.is_symlink()
        assert (tmp_path / "page.html").is_file()

    def test_an_error_keeps_what_was_there(self, tmp_path):
        path = tmp_path / "page.html"
        path.write_text("before")
        with pytest.raises(ValueError, match="holds nan"):
            write(path, SMALL * np.nan, SMALL_Y)
        assert path.read_text() == "before"

    def test_a_name_too_long_leaves_nothing(self, tmp_path):
        with pytest.raises(OSError, match="could not be written: File name too long; nothing was changed"):
            write(tmp_path / ("x" * 300), SMALL, SMALL_Y)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("place", "message"),
        [
            ("missing/page.html", "The folder of the report, .*missing, does not exist; create it"),
            ("file/page.html", "The folder of the report, .*file, does not exist"),
            ("", "The path of the report, .*, is a folder; add the name of a file"),
        ],
    )
    def test_places_that_cannot_be_written(self, tmp_path, place, message):
        (tmp_path / "file").touch()
        with pytest.raises(OSError, match=message):
            write(tmp_path / place, SMALL, SMALL_Y)
        assert os.listdir(tmp_path) == ["file"]


class TestPage:
    def test_loads_nothing(self, page):
        assert not [attrs for _, attrs in page.tags if {"src", "href", "srcset", "action"} & set(attrs)]
        assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in page.tags}
        assert not re.search(r"@import|url\(", page.texts("style")[0])
        assert "sourceMappingURL" not in page.source

    def test_policy_allows_the_pages_own_scripts_alone(self, page):
        policy = next(attrs["content"] for attrs in page.attributes("meta") if "http-equiv" in attrs)
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        for text in (*page.texts("script")[1:], *page.texts("style")):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy

    def test_can_be_read_aloud(self, page):
        assert page.attributes("html")[0]["lang"] == "en"
        labelled = {attrs["for"] for attrs in page.attributes("label")}
        assert {attrs["id"] for tag in ("input", "select") for attrs in page.attributes(tag)} == labelled
        assert all("scope" in attrs for attrs in page.attributes("th"))
        assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in page.attributes("canvas"))
        assert [attrs["aria-live"] for attrs in page.attributes("dl") if "aria-live" in attrs] == ["polite"]
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        assert len(ids) == len(set(ids))
        for _, attrs in page.tags:
            for key in ("aria-labelledby", "aria-describedby"):
                assert attrs.get(key, "summary") in ids

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_contrast(self, page, scheme):
        light, dark = re.findall(r":root(?::not\(\[data-printing\]\))? \{(.*?)\}", page.texts("style")[0], re.S)[:2]
        colors = dict(re.findall(r"--([\w-]+): (#\w{6})", light if scheme == "light" else dark))
        for back in ("paper", "panel"):
            for text in ("ink", "quiet", "accent"):
                assert contrast(colors[text], colors[back]) >= 4.5  # WCAG 2.2, 1.4.3
        for drawn in ("mark", "quiet", *(f"line-{k}" for k in range(7))):
            for back in ("paper", "shade"):
                assert contrast(colors[drawn], colors[back]) >= 3  # WCAG 2.2, 1.4.11


def contrast(first, second):
    """The contrast ratio of two colours, after WCAG 2.2."""
    light = []
    for color in (first, second):
        channels = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        light.append(linear @ [0.2126, 0.7152, 0.0722])
    return (max(light) + 0.05) / (min(light) + 0.05)
