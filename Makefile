# Every target sets up what it needs. PYTHON may name another interpreter (3.11 or later).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint fix golden bench crash search storm faults editors clean
.DEFAULT_GOAL := test

# Without pip inside: plain Debian ships the venv module without ensurepip, and pip installs into it from outside.
$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv --without-pip --clear $(VENV)
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

## Start the daemon on the example workspace: live diagnostics, a state tour, how to connect an editor.
run: $(VENV)/.ready
	$(BIN)/python editor-clients/workspace/tour.py

## Lint, types, layers and every test.
test: lint
	$(BIN)/pytest

lint: $(VENV)/.ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/validate-pyproject pyproject.toml

fix: $(VENV)/.ready
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

## Rewrite the golden files from what the program prints now, then show what changed.
golden: $(VENV)/.ready
	STATEWARD_GOLDEN=write $(BIN)/pytest -q tests/docs tests/e2e -k golden
	git diff --stat -- tests docs

## Ratios against a bare echo, a bare fsync and a bare interpreter; what somebody who types waits for; rest.
bench: $(VENV)/.ready
	$(BIN)/python tests/bench/run.py

## The long sweeps: crash states, failing calls, power cuts and kills of the store; edits and renderings of documents.
crash: $(VENV)/.ready
	$(BIN)/python tests/store/faults/crash.py
	STATEWARD_GOAL_EDITS=200000 $(BIN)/pytest -q tests/goals/test_rereading.py
	STATEWARD_GOAL_DOCUMENTS=10000 $(BIN)/pytest -q tests/goals/test_render_laws.py

## The laws of state with many examples, other ones each time.
search: $(VENV)/.ready
	STATEWARD_EXAMPLES=1000 $(BIN)/pytest -q tests/state -m property

## 2,000 outside edits of goal documents in every way of saving, and how long each takes to be shown.
storm: $(VENV)/.ready
	STATEWARD_STORM_EDITS=2000 $(BIN)/pytest -q -s tests/daemon/test_lsp_storm.py

## One planted fault for each rule, and the test that must catch it.
faults: $(VENV)/.ready
	$(BIN)/python tests/faults.py

## The editor clients in their real editors: a line of figures for each, and what a person sees in build/editors.
editors: $(VENV)/.ready
	$(BIN)/python tests/editors/run.py
	$(BIN)/pytest -q -m fetched tests/editors

clean:
	rm -rf $(VENV) build dist
