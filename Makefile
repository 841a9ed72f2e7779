# Two commands do everything: `make demo` runs the main job, `make test` passes the tests. Both set up what they need.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.ready

.PHONY: help setup demo test fuzz lint lock bench bench-record bench-selection e2e soak pythons clean

help:            ## show this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit("compozy needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "==> creating $(VENV) and installing the locked dependencies (once, about half a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements-dev.lock
	@$(PY) -m pip --quiet --disable-pip-version-check install --no-deps --no-build-isolation -e .
	@touch $(STAMP)

setup: $(STAMP)  ## create .venv with the locked dependencies

lint: $(STAMP)   ## style, types and layers
	@$(VENV)/bin/ruff check -q src tests bench scripts
	@$(VENV)/bin/ruff format -q --check src tests bench scripts
	@$(VENV)/bin/mypy --no-error-summary
	@$(VENV)/bin/lint-imports --no-cache > .lint-imports.log || { cat .lint-imports.log; exit 1; }

demo: $(STAMP)   ## do the main job on a sample workspace, with the embedded agent (no account, no network)
	@scripts/demo.sh

# Most tests wait for processes, so one worker more than there are cores; a file's tests share their daemon.
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 1 )))
test: $(STAMP)   ## run the tests (WORKERS=0: in this process)
	@echo "==> running the tests with $$($(PY) --version)"
	@PYTHONHASHSEED=0 $(PY) -m pytest -n $(WORKERS) --dist loadfile

FACTOR ?= 20
SEED ?=
fuzz: $(STAMP)   ## search for bugs with other made-up input, FACTOR=20 times as much (k=WORD for some, SEED=N again)
	@seed="$(SEED)"; seed=$${seed:-$$(date +%s)}; \
	echo "==> SEED=$$seed FACTOR=$(FACTOR)"; \
	COMPOZY_FUZZ_SEED=$$seed COMPOZY_FUZZ_FACTOR=$(FACTOR) PYTHONHASHSEED=$$((seed % 4294967296)) \
	$(PY) -m pytest -m "fuzz and not e2e" -o faulthandler_timeout=0 --hypothesis-seed=$$seed -n $(WORKERS) --dist worksteal -k "$(k)"

AGENTS ?=
RECORD ?=
e2e: $(STAMP)    ## run the end-to-end tests against real agents from the registries (AGENTS="agentao opencode")
	@$(PY) scripts/install_agents.py $(AGENTS)
	@COMPOZY_E2E_AGENTS="$(AGENTS)" COMPOZY_E2E_RECORD="$(RECORD)" $(PY) -m pytest tests/e2e -m e2e -rs

soak: $(STAMP)   ## kill agents and the daemon at random under load, for about five minutes (ROUNDS, CYCLES, SEED)
	@$(PY) -m tests.soak $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(CYCLES),--cycles $(CYCLES)) $(if $(SEED),--seed $(SEED))

bench: $(STAMP)  ## measure figures beside targets (k=WORD for some)
	@$(PY) -m bench -k "$(k)"

bench-record: $(STAMP) ## the same, written to docs/benchmarks.md
	@$(PY) -m bench --record

bench-selection: $(STAMP) ## quality and speed of selection beside targets (COMPOZY_SELECTION_DATA=FOLDER)
	@$(PY) -m bench -k selection

clean:           ## remove what the other targets made
	rm -rf $(VENV) .cache .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

lock:            ## rewrite the lock files (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header requirements.in -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --allow-unsafe requirements-dev.in -o requirements-dev.lock

pythons: $(STAMP) ## run the fast tests on the other supported Pythons this machine has
	@scripts/other_pythons.sh
