# Every target sets up what it needs: a machine with Python 3.11, pip, node, npm and make is enough.

UV := $(shell uv --version >/dev/null 2>&1 && command -v uv || echo .tools/bin/uv)
BIN := .venv/bin
READY := .venv/.ready
UI_READY := ui/node_modules/.ready
UI := src/plait/server/static/index.html
UI_TYPES := ui/src/api/schema.ts
SEEDS ?= 20000
FIRST ?= 0
DIALECT ?= all
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)

PROCESSES ?= 3
CLUSTERS_ENVIRONMENT := $(CURDIR)/.venvs/clusters
BENCH_ENVIRONMENT := $(CURDIR)/bench/.venvs/plait
BENCH := $(if $(PYTHON),$(BENCH_ENVIRONMENT)/bin,$(BIN))

export UV_PROJECT_ENVIRONMENT := $(CURDIR)/.venv
unexport VIRTUAL_ENV
unexport PYTHONDONTWRITEBYTECODE # tests start hundreds of processes: they need not compile everything again

TOGETHER := $(MAKE) --no-print-directory --jobs --output-sync=line

.DEFAULT_GOAL := help
.PHONY: help setup run ui ui-types check test test-clusters test-long faults lint style types pure tests test-ui fmt sim bench bench-api bench-ui chromium clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Install everything into .venv (the other targets do this by themselves)

run: $(READY) $(UI) ## Start engine, API and web UI with a demo: http://127.0.0.1:8080
	$(BIN)/plait dev $(ARGS)

ui: $(UI) ## Build the web UI, and what removes types from TypeScript

ui-types: $(UI_TYPES) ## Generate the types of the web UI from the API

check: $(READY) $(UI_READY) $(UI_TYPES) ## For every edit: lint, and the tests that need nothing but a process
	@$(TOGETHER) style types pure

test: $(READY) $(UI) $(UI_TYPES) chromium ## All that a release needs: lint, and the tests with databases, browser and kill -9
	@$(TOGETHER) style types test-ui tests

test-long: $(READY) ## What chance may find, ten times as hard: seeds, fuzzing, kills under load
	$(BIN)/pytest --long --timeout 3600

# One after the other: their figures are of a machine that does nothing else.
faults: $(READY) ## Kill, freeze, cut and restart real processes and databases for 40 minutes, and print what came of it
	$(BIN)/pytest --long --numprocesses=0 --timeout 3600 -m trial tests/faults $(ARGS)

# Ray is as big as all that Plait needs: only these tests have it.
test-clusters: $(READY) ## Steps on real local clusters of Dask and Ray, and a Kubernetes API of ours
	UV_PROJECT_ENVIRONMENT=$(CLUSTERS_ENVIRONMENT) $(UV) sync --locked --all-extras
	$(CLUSTERS_ENVIRONMENT)/bin/pytest --numprocesses=0 tests/clusters

lint: $(READY) $(UI_READY) $(UI_TYPES) ## Check style, types, borders between modules, and the lock files
	@$(TOGETHER) style types

style: $(READY) $(UI_READY) $(UI_TYPES)
	npm --prefix ui run lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.support.lockfile

types: $(READY)
	$(BIN)/pyright

pure: $(READY)
	$(BIN)/pytest --pure

tests: $(READY) $(UI) chromium
	$(BIN)/pytest --numprocesses=$(PROCESSES)

test-ui: $(UI_READY)
	npm --prefix ui test

fmt: $(READY) $(UI_READY) ## Format the code and fix what can be fixed
	npm --prefix ui run fmt
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Stopped by Ctrl-C or a kill, it says which seeds are left.
sim: $(READY) ## Simulate crashes and bad luck in each dialect: make sim SEEDS=1000 FIRST=0 DIALECT=afl JOBS=1
	$(BIN)/python -m plait.testing.sim --first $(FIRST) --seeds $(SEEDS) --dialect $(DIALECT) $(if $(JOBS),--jobs $(JOBS))

BENCHES := afl goals graph refs tools ale pipelines conditions hops profile remote written lists fleet parked
# One that misses a limit does not keep the others from running.
# With PYTHON, Plait gets an environment of that interpreter; the bench makes those of the peers with the same one.
bench: $(READY) ## Measure Plait beside its peers: make bench ARGS=--quick PYTHON=/usr/bin/python3
	$(if $(PYTHON),UV_PROJECT_ENVIRONMENT=$(BENCH_ENVIRONMENT) $(UV) sync --locked --all-extras --no-extra ray --python $(PYTHON))
	@missed=; $(BENCH)/python -m bench $(ARGS) || missed=" bench"; \
	for part in $(BENCHES); do $(BENCH)/python -m bench.$$part || missed="$$missed bench.$$part"; done; \
	[ -z "$$missed" ] || { echo "missed a limit, or did not run:$$missed"; exit 1; }

bench-api: $(READY) ## Measure the HTTP API under load: make bench-api ARGS="--seconds 10"
	$(BIN)/python -m bench.api $(ARGS)

bench-ui: $(READY) $(UI) chromium ## Measure the web UI in a browser
	$(BIN)/python -m bench.ui $(ARGS)

clean: ## Remove everything that was installed or built
	rm -rf .venv .venvs .tools dist bench/.venvs bench/.data .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf ui/node_modules $(UI_TYPES) src/plait/server/static src/plait/scripts/javascript/static tests/artefacts
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +

$(READY): pyproject.toml uv.lock | $(UV)
	$(UV) sync --locked --all-extras --no-extra ray
	@touch $@

.tools/bin/uv:
	python3 -m pip install --quiet --disable-pip-version-check --target .tools uv

# Not `npm ci`: it wants the binaries of every platform in the lock file, which a registry may not have.
$(UI_READY): ui/package.json ui/package-lock.json
	cd ui && npm install --no-save --no-audit --no-fund
	@touch $@

# Only the type check needs them: a build and the tests of the UI do without, and so without Python.
$(UI_TYPES): $(READY) ui/tools/api-types.js $(shell find src/plait -name '*.py')
	$(BIN)/python -m plait.server.print_openapi | node ui/tools/api-types.js $@

$(UI): $(UI_READY) ui/index.html $(wildcard ui/vite*.ts) ui/tools/strip-types.js $(shell find ui/src ui/public -type f ! -name schema.ts 2>/dev/null)
	npm --prefix ui run build

# The browser of the tests; where there is no apt, install it by hand or name it in PLAIT_CHROMIUM.
chromium:
	@test -n "$$PLAIT_CHROMIUM" || command -v chromium >/dev/null || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium; }
