"""A headless Chromium, and pages in it that tell of everything that should not happen."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser():
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail("There is no Chromium; run these tests with make test-browser, which installs it.")
    flags = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else list(QUIET)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Open a page; in the end there must have been no error, no dialog, and no request but for the page itself."""
    contexts = []
    troubles = []

    def opened(path: Path, width: int = 1400, scheme: str = "light"):
        viewport = {"width": width, "height": 900}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url != path.as_uri() and troubles.append(f"request: {request.url}"))
        page.goto(path.as_uri())
        return page

    opened.troubles = troubles
    yield opened
    for context in contexts:
        context.close()
    assert not troubles
