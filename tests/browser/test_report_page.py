"""The report in a real browser: quiet, offline, its explorer right and usable by keys, and fit for paper and phones."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from rocband import report
from rocband.datasets import load_letter
from rocband.threshold import operating_points

BAND = (0.02, 0.1)
HOSTILE = "<script>alert(1)</script>"
ATTRIBUTE = '"><img src=x onerror=alert(2)>\u2028</script><script>alert(3)</script>'
FIGURES = {"fpr": "FPR", "tpr": "TPR", "ppv": "PPV", "alerts": "alerts per 1,000"}
SCREENSHOTS = Path(__file__).parent / "screenshots"


@pytest.fixture(scope="session")
def data():
    """Return labels and scores of letters that the models have not seen."""
    X, y = load_letter("Q", return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    models = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "linear discriminant": LinearDiscriminantAnalysis(),
        "naive Bayes": GaussianNB(),
    }
    return y_test, {
        name: model.fit(X_train / 15, y_train).predict_proba(X_test / 15)[:, 1] for name, model in models.items()
    }


@pytest.fixture(scope="session")
def path(data, tmp_path_factory):
    y, scores = data
    title = "Letter Q against the other 25"
    return report.write(
        tmp_path_factory.mktemp("report") / "letters.html", y, scores, fpr_range=BAND, title=title, random_state=0
    )


@pytest.fixture(scope="session")
def hostile(data, tmp_path_factory):
    y, scores = data
    named = dict(zip((HOSTILE, ATTRIBUTE), scores.values(), strict=False))
    return report.write(
        tmp_path_factory.mktemp("report") / "hostile.html", y, named, fpr_range=BAND, title=HOSTILE, method="analytic"
    )


def shown(page):
    """The threshold and the figures with their ends, as the page shows them."""
    texts = {key: page.inner_text(f"#value-{key}") for key in ("threshold", *FIGURES)}
    return texts | {f"{key} ends": page.inner_text(f"#ends-{key}") for key in FIGURES}


def expected(row):
    """The texts for one row of operating_points, which is where the slider stands."""
    texts = {}
    for key, label in FIGURES.items():
        values = [row[name] for name in (label, f"{label} low", f"{label} high")]
        written = [f"{value:.1f}" if key == "alerts" else percent(value) for value in values]
        texts |= {key: written[0], f"{key} ends": " to ".join(written[1:])}
    return texts


def percent(value):
    return f"{100 * value:#.3g}".rstrip(".") + "%" if value else "0%"


def row_at(data, page, name, **options):
    """What Python says of the threshold that the page shows."""
    y, scores = data
    threshold = float(page.inner_text("#value-threshold"))
    negatives = scores[name][y == 0]
    above = np.count_nonzero(negatives > threshold)
    row = operating_points(y, scores[name], above / len(negatives), **options).iloc[0]
    assert row["threshold"] == threshold
    return row


def marker(page, chart="whole"):
    """Where the marker is on a chart, as it was drawn."""
    return page.evaluate(
        "id => { const { x, y } = Chart.getChart(id).getDatasetMeta(0).data[0]; return [x, y]; }", chart
    )


def settle(page):
    """Let the page draw what it has been told."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_starts_at_the_upper_end_of_the_band(visit, data, path):
    page = visit(path)
    row = row_at(data, page, "logistic regression")
    assert 0.99 * BAND[1] <= row["FPR"] <= BAND[1]
    assert expected(row).items() <= shown(page).items()


@pytest.mark.parametrize("stop", [0, 1, 20, 77, 150])
@pytest.mark.parametrize("name", ["logistic regression", "naive Bayes"])
def test_slider_moves_marker_and_numbers(visit, data, path, name, stop):
    page = visit(path)
    page.select_option("#scorer", label=name)
    before = marker(page)
    page.locator("#threshold").fill(str(stop))
    row = row_at(data, page, name)
    assert expected(row).items() <= shown(page).items()
    after = marker(page)
    assert after != before
    place = page.evaluate(
        "([x, y]) => { const { scales } = Chart.getChart('whole');"
        " return [scales.x.getPixelForValue(x), scales.y.getPixelForValue(y)]; }",
        [row["FPR"], row["TPR"]],
    )
    assert after == pytest.approx(place, abs=0.1)


def test_the_band_holds_the_curves(visit, data, tmp_path):
    y, scores = data
    tied = np.round(4 * scores["logistic regression"])
    page = visit(report.write(tmp_path / "tied.html", y, tied, fpr_range=BAND, method="analytic"))
    (scorer,) = page.evaluate("data.scorers")
    low, high = page.evaluate("() => { const { min, max } = Chart.getChart('band').scales.y; return [min, max]; }")
    assert low <= min(scorer["ends"]) < max(scorer["ends"]) <= high


def test_keys(visit, data, path):
    page = visit(path)
    slider = page.locator("#threshold")
    slider.focus()
    start = int(slider.input_value())
    texts = shown(page)
    page.keyboard.press("ArrowLeft")
    assert int(slider.input_value()) == start - 1
    assert shown(page) != texts
    assert expected(row_at(data, page, "logistic regression")).items() <= shown(page).items()
    page.keyboard.press("ArrowRight")
    assert shown(page) == texts
    page.keyboard.press("Home")
    assert shown(page)["fpr"] == "0%"
    page.keyboard.press("End")
    assert float(shown(page)["fpr"].rstrip("%")) > 99
    assert re.match(r"[-\d.e]+, false-positive rate", slider.get_attribute("aria-valuetext"))


def test_every_control_is_reached_by_tab(visit, path):
    page = visit(path)
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"scorer", "threshold", "prevalence"} <= reached


@pytest.mark.parametrize("typed", ["0.1", "2", "60"])
def test_a_prevalence_of_the_readers(visit, data, path, typed):
    page = visit(path)
    before = shown(page)
    page.fill("#prevalence", typed)
    row = row_at(data, page, "logistic regression", prevalence=float(typed) / 100)
    wanted = expected(row)
    seen = shown(page)
    for key in ("fpr", "fpr ends", "tpr", "tpr ends", "ppv", "ppv ends", "alerts"):
        assert seen[key] == wanted[key]
    # The ends of the alerts are combined from those of the rates, which Python does by quantiles.
    low, high = map(float, seen["alerts ends"].split(" to "))
    width = row["alerts per 1,000 high"] - row["alerts per 1,000 low"]
    assert low == pytest.approx(row["alerts per 1,000 low"], abs=0.05 * width + 0.05)
    assert high == pytest.approx(row["alerts per 1,000 high"], abs=0.05 * width + 0.05)
    page.fill("#prevalence", "")
    assert shown(page) == before


@pytest.mark.parametrize("typed", ["0", "100", "-3"])
def test_an_impossible_prevalence_is_refused(visit, path, typed):
    page = visit(path)
    before = shown(page)
    page.fill("#prevalence", typed)
    assert shown(page) == before
    assert page.get_attribute("#prevalence", "aria-invalid") == "true"
    assert "between 0 and 100" in page.inner_text("#prevalence-note")


def test_another_scorer_keeps_the_rate(visit, data, path):
    page = visit(path)
    page.locator("#threshold").fill("60")
    before = row_at(data, page, "logistic regression")["FPR"]
    page.select_option("#scorer", label="linear discriminant")
    assert row_at(data, page, "linear discriminant")["FPR"] == pytest.approx(before, abs=0.001)


def test_hostile_names_are_text(visit, hostile):
    page = visit(hostile)
    assert page.title() == HOSTILE
    assert page.inner_text("h1") == HOSTILE
    assert page.inner_text("tbody bdi >> nth=0") == HOSTILE
    assert page.text_content("tbody bdi >> nth=1") == ATTRIBUTE
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    page.select_option("#scorer", index=1)
    assert page.text_content("#state-scorer") == ATTRIBUTE
    # With the mouse over its curve, the chart shows the name too.
    box = page.locator("#whole").bounding_box()
    x, y = page.evaluate(
        "() => { const curve = Chart.getChart('whole').getDatasetMeta(3).data;"
        " const { x, y } = curve[curve.length >> 1]; return [x, y]; }"
    )
    page.mouse.move(box["x"] + x, box["y"] + y)
    settle(page)
    assert page.evaluate("Chart.getChart('whole').tooltip.body[0].lines[0]").startswith(f"{HOSTILE}: FPR ")


def test_injected_scripts_would_not_run(visit, path):
    page = visit(path)
    inject = "const script = document.createElement('script'); script.textContent = 'ran = true';"
    page.evaluate(f"() => {{ {inject} document.body.append(script); }}")
    assert page.evaluate("typeof ran") == "undefined"
    (trouble,) = visit.troubles
    assert "Content Security Policy" in trouble
    visit.troubles.clear()


def test_prints(visit, data, path):
    page = visit(path, scheme="dark")
    page.locator("#threshold").fill("40")
    pdf = page.pdf(path=SCREENSHOTS / "print.pdf", format="A4", print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) in range(2, 6)
    assert not page.evaluate("document.documentElement.hasAttribute('data-printing')")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.screenshot(path=SCREENSHOTS / "print.png", full_page=True)
    assert not page.is_visible("#threshold")
    assert page.inner_text(".state").startswith(
        f"logistic regression, prevalence {percent(data[0].mean())}, threshold "
    )
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [1400, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_the_screen(visit, path, hostile, scheme, width):
    for report_path in (path, hostile):
        page = visit(report_path, width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(path=SCREENSHOTS / f"{report_path.stem}-{scheme}-{width}.png", full_page=True)
    bright = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert bright == (scheme == "light")


def test_follows_a_change_of_scheme(visit, path):
    page = visit(path)
    curve = "Chart.getChart('whole').data.datasets[3].borderColor"
    light = page.evaluate(curve)
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert page.evaluate(curve) != light
