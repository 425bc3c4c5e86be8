# `make demo`, `make demo-gate`, `make docs`, `make package` and `make test` need Python (3.11 or newer) with venv, and make; each installs the rest into .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_OUTPUT ?= demo-output
DEMO_GATE_OUTPUT ?= demo-gate
DOCS_OUTPUT ?= docs-site

.PHONY: demo demo-gate docs schemas check test lint types contracts tests package sbom clean

demo: $(VENV)/.installed
	[ "$(DEMO_OUTPUT)" != demo-output ] || rm -rf demo-output  # a folder of another name is the user's
	$(BIN)/areopage demo --folder $(DEMO_OUTPUT)

demo-gate: $(VENV)/.installed-rag
	$(BIN)/areopage models pull embedded:smollm2
	$(BIN)/areopage demo gate --folder $(DEMO_GATE_OUTPUT)

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir $(DOCS_OUTPUT)
	@echo "open this page: $(DOCS_OUTPUT)/index.html"

# the JSON schemas that the documentation publishes, from the code
schemas: $(VENV)/.installed
	for name in $$($(BIN)/areopage schema); do $(BIN)/areopage schema $$name > docs/schemas/$$name.schema.json || exit; done

# the shortest loop: all static checks, and the tests of what changed since main
check: lint types contracts
	files=$$($(BIN)/python tools/changed_tests.py) && if [ -n "$$files" ]; then $(BIN)/pytest -n auto -q -m "not long" $$files; fi

test: lint types contracts tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports

# the package is compiled once, and not by each of pytest's processes
tests: $(VENV)/.installed-dev
	PYTHONPYCACHEPREFIX= $(BIN)/python -m compileall -q src
	PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX= $(BIN)/pytest -n 4 --dist worksteal --durations=25

# the date of the last commit, so that the same sources give the same bytes
package: $(VENV)/.installed-dev
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800) $(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*

sbom: package
	$(PYTHON) -m venv --clear --without-pip build/clean
	$(BIN)/uv pip install --quiet --python build/clean/bin/python dist/*.whl
	$(BIN)/python tools/sbom.py build/clean/bin/python dist/areopage.cdx.json
	$(BIN)/python tools/licences.py dist/areopage.cdx.json
	$(BIN)/python tools/licences.py

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
	rm -rf $(VENV) build dist $(DEMO_OUTPUT) $(DEMO_GATE_OUTPUT) $(DOCS_OUTPUT)
