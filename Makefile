# Everything that can be done with this repository, one target each; `make help` lists them.
# Two of them need nothing but Python 3.11+: `make serve` and `make test`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST_ARGS ?=

# A stamp stands for "installed what these files ask for"; it is older than they are when they changed.
WANTED := pyproject.toml constraints.txt
RUNTIME := $(VENV)/.installed-runtime
TEST := $(VENV)/.installed-test
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench

.PHONY: help
help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: serve
serve: $(RUNTIME) ## Serve on 127.0.0.1:8080 with data in ./data (TAILRACE_PORT=... and so on change that)
	@export TAILRACE_DATA_DIR="$${TAILRACE_DATA_DIR:-./data}"; exec $(BIN)/tailrace serve

.PHONY: setup
setup: $(DEV) redis-server chromium ## Install everything that tests and checks need

.PHONY: test
test: $(TEST) redis-server chromium ## Run all tests; every branch of core must have been taken
	@$(BIN)/python -m pytest --cov --cov-report=term $(PYTEST_ARGS)

.PHONY: check
check: $(DEV) ## Lint, formatting, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: crash
crash: $(TEST) ## Kill the server 200 times, cut the power 10 000 times, flip 1 000 bits (about 12 minutes)
	@CRASH_KILL_ROUNDS=200 CRASH_POWER_CUTS=10000 CRASH_BIT_FLIPS=1000 \
	  $(BIN)/python -m pytest -s tests/crash $(PYTEST_ARGS)

.PHONY: bench-waiting
bench-waiting: $(BENCH) ## How fast waiting readers are woken, with build/wakeups.svg, and the fan-out to a thousand
	@mkdir -p build
	@failed=0; \
	for bench in 'wakeups --plot build/wakeups.svg' claims fanout; do \
	  echo "== $$bench"; $(BIN)/python -m bench.$$bench || failed=1; \
	done; exit $$failed

.PHONY: format
format: $(DEV) ## Format the code and sort its imports
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

.PHONY: constraints
constraints: python-is-usable ## Pin anew all that is installed, from a clean environment
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PYTHON) -m venv "$$fresh"; \
	"$$fresh/bin/python" -m pip install --quiet --disable-pip-version-check '.[dev,bench]'; \
	"$$fresh/bin/python" -m pip freeze --exclude tailrace > "$$fresh/pins"; \
	if grep -vE '^[A-Za-z0-9._-]+==[A-Za-z0-9.+!-]+$$' "$$fresh/pins"; then echo 'not a plain pin' >&2; exit 1; fi; \
	{ sed -n '/^#/p' constraints.txt; cat "$$fresh/pins"; } > "$$fresh/all"; \
	cp "$$fresh/all" constraints.txt; \
	echo "constraints.txt: $$(grep -c == constraints.txt) pins"

.PHONY: clean
clean: ## Remove what was installed or made here, but not data
	rm -rf $(VENV) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what the targets above stand on ----------------------------------------------------------------

.PHONY: python-is-usable
python-is-usable:
	@command -v $(PYTHON) >/dev/null || { \
	  echo 'Python 3.11 or newer is needed, and there is no $(PYTHON). Name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) -V). Name another: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo '$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }

$(BIN)/python:
	@$(MAKE) --no-print-directory python-is-usable
	@echo 'Making $(VENV)'
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME): $(WANTED) | $(BIN)/python
	@echo 'Installing what serving needs'
	@$(PIP_INSTALL) --constraint constraints.txt --editable .
	@touch $@

$(TEST): $(WANTED) | $(BIN)/python
	@echo 'Installing what tests need'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[test]'
	@touch $(RUNTIME) $@

$(DEV): $(WANTED) | $(BIN)/python
	@echo 'Installing what tests and checks need'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev]'
	@touch $(RUNTIME) $(TEST) $@

$(BENCH): $(WANTED) | $(BIN)/python
	@echo 'Installing what tests, checks and benches need'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev,bench]'
	@touch $(RUNTIME) $(TEST) $(DEV) $@

# The differential tests ask Debian's Redis the same questions; the browser tests drive its Chromium.
.PHONY: redis-server chromium
redis-server chromium:
	@command -v $@ >/dev/null && exit 0; \
	no() { echo "The tests need $@, which is missing, and $$1: install it, then run this again." >&2; exit 1; }; \
	command -v apt-get >/dev/null || no 'there is no apt-get here to install it'; \
	if [ "$$(id -u)" = 0 ]; then as_root=; \
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root='sudo -n'; \
	else no 'installing it needs root or sudo'; fi; \
	echo 'Installing $@'; \
	$$as_root apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -qq -y --no-install-recommends $@ >/dev/null \
	  || no 'apt-get could not install it'
