# Every target sets up what it needs: a machine with Python 3.11, pip and make is enough.

UV := $(shell uv --version >/dev/null 2>&1 && command -v uv || echo .tools/bin/uv)
BIN := .venv/bin
READY := .venv/.ready
SEEDS ?= 1000

export UV_PROJECT_ENVIRONMENT := $(CURDIR)/.venv
unexport VIRTUAL_ENV

.DEFAULT_GOAL := help
.PHONY: help setup run test lint fmt sim bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Install everything into .venv (the other targets do this by themselves)

run: $(READY) ## Watch a small demo in the terminal
	$(BIN)/plait demo

test: lint ## Check everything: lint, then all tests
	$(BIN)/pytest

lint: $(READY) ## Check style, types, borders between modules, and the lock file
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.support.lockfile

fmt: $(READY) ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

sim: $(READY) ## Simulate crashes and bad luck: make sim SEEDS=1000
	$(BIN)/python -m plait.testing.sim --seeds $(SEEDS)

bench: $(READY) ## Measure Plait beside its peers: make bench ARGS=--quick
	$(BIN)/python -m bench $(ARGS)

clean: ## Remove everything that was installed or built
	rm -rf .venv .tools dist bench/.venvs bench/.data .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +

$(READY): pyproject.toml uv.lock | $(UV)
	$(UV) sync --locked
	@touch $@

.tools/bin/uv:
	python3 -m pip install --quiet --disable-pip-version-check --target .tools uv
