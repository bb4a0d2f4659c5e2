# Every target creates and fills .venv when needed and is quick when nothing changed.
PYTHON ?= python3
BIN := .venv/bin

# Tests that run at the same time: make test WORKERS=8
WORKERS ?= 2

.PHONY: demo test coverage test-browser lint docs bench bench-peers paper clean

demo: .venv/.demo
	$(BIN)/python -m rocband.demo

test: .venv/.test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Apart from test, since counting branches doubles the processor time before Python 3.14.
coverage: .venv/.test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term

test-browser: .venv/.browser
	sh tests/browser/chromium.sh
	$(BIN)/python -m pytest tests/browser

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: .venv/.bench
	$(BIN)/python -m benchmarks $(ARGS)

bench-peers: .venv/.bench-peers

paper: .venv/.bench
	$(BIN)/python -m benchmarks.paper $(ARGS)

.venv/.pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rocband needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	touch $@

# The stamp of one extra: .venv/.test is there once rocband[test] is installed for this pyproject.toml.
.venv/.demo: EXTRA = plot
.venv/.test: EXTRA = test
.venv/.browser: EXTRA = browser
.venv/.docs: EXTRA = docs
.venv/.bench: EXTRA = bench
.venv/.bench-peers: EXTRA = bench-peers
.venv/.demo .venv/.test .venv/.browser .venv/.docs .venv/.bench .venv/.bench-peers: .venv/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRA)]'
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage docs/_build dist tests/browser/screenshots
