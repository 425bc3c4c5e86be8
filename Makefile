# `make demo`, `make demo-gate`, `make docs` and `make test` need Python (3.11 or newer) with venv, and make; each installs the rest into .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_OUTPUT ?= demo-output
DEMO_GATE_OUTPUT ?= demo-gate
DOCS_OUTPUT ?= docs-site

.PHONY: demo demo-gate docs test lint types contracts tests clean

demo: $(VENV)/.installed
	[ "$(DEMO_OUTPUT)" != demo-output ] || rm -rf demo-output  # a folder of another name is the user's
	$(BIN)/areopage demo --folder $(DEMO_OUTPUT)

demo-gate: $(VENV)/.installed-rag
	$(BIN)/areopage models pull embedded:smollm2
	$(BIN)/areopage demo gate --folder $(DEMO_GATE_OUTPUT)

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir $(DOCS_OUTPUT)
	@echo "open this page: $(DOCS_OUTPUT)/index.html"

test: lint types contracts tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports

tests: $(VENV)/.installed-dev
	PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX= $(BIN)/pytest -n 4 --dist worksteal --durations=25

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-rag: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[embedded,rag,server]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@ $(VENV)/.installed $(VENV)/.installed-docs $(VENV)/.installed-rag

clean:
	rm -rf $(VENV) $(DEMO_OUTPUT) $(DEMO_GATE_OUTPUT) $(DOCS_OUTPUT)
