# `make demo` and `make test` need Python (3.11 or newer) with venv, and make; each installs the rest into .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_OUTPUT ?= demo-output

.PHONY: demo test lint types contracts tests clean

demo: $(VENV)/.installed
	$(BIN)/areopage models pull embedded:smollm2
	$(BIN)/areopage bench run --suite child_safety --target embedded:smollm2 --judge embedded:smollm2 --judge rules:readability \
		--criteria safety.privacy,anthropomorphism.parasocial_bonds.exclusivity_claims,age.readability \
		--passes 1 --limit 5 --out $(DEMO_OUTPUT) --yes

test: lint types contracts tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports

tests: $(VENV)/.installed-dev
	$(BIN)/pytest -n 2

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[embedded]"
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) $(DEMO_OUTPUT)
