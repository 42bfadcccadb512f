# Thin targets over `rogue` and pytest. `make` alone prints them; each target does its own set-up.
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
EXPERIMENT ?= experiments/quickstart.yaml
TESTBED ?= simulator
INVENTORY ?= virtual
JOBS ?= auto
INPUTS ?= 100000
KILLS ?= 300
COUNT ?= 300
PACKAGE ?= rogue.agent.core
unexport PYTHONDONTWRITEBYTECODE  # tests start a thousand interpreters, each would compile everything
ENGINE_SOURCES := CMakeLists.txt pyproject.toml simulator/CMakeLists.txt $(shell find simulator/cpp -type f)
PACKAGES := $(shell find -L src -name __init__.py)  # an editable install has a map of modules and packages
COMPILED := $(shell find simulator/cpp simulator/include tests/simulator/reference_engine tests/data/plugins -name '*.h' -o -name '*.cpp')
FAST_TESTS := tests/test_tidy.py tests/workloads tests/agent/core
CODE := harness playbooks workloads src/rogue rogue_agent reports remote simulator virtual profile.py tests benchmarks scripts

.DEFAULT_GOAL := help
.PHONY: help setup run-experiment provision report reproduce test test-long nightly test-bare test-hostile test-sanitize coverage mutants check lint \
	format wheels bench docs docs-serve clean

help: ## print the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.dependencies: requirements/run.txt
	@sh scripts/setup.sh dependencies $(VENV)

$(VENV)/.engine: $(VENV)/.dependencies $(ENGINE_SOURCES) $(PACKAGES)
	@sh scripts/setup.sh engine $(VENV)

$(VENV)/.develop: requirements/develop.txt $(VENV)/.dependencies
	@sh scripts/setup.sh develop $(VENV)

$(VENV)/.reference: $(VENV)/.engine $(VENV)/.develop $(wildcard tests/simulator/reference_engine/*)
	@sh scripts/setup.sh reference $(VENV)

setup: $(VENV)/.engine ## create .venv and build the engine (every other target does this by itself)

run-experiment: setup ## run EXPERIMENT=experiments/quickstart.yaml on TESTBED=simulator and write its report
	@$(BIN)/rogue run $(EXPERIMENT) --testbed $(TESTBED)

provision: setup ## bring INVENTORY=virtual up if need be, and its nodes into the state that experiments need
	@$(BIN)/rogue provision $(INVENTORY)

report: setup ## rebuild the report of RUN=results/...
	@$(BIN)/rogue report $(RUN)

reproduce: setup ## run what is missing of PAPER=rogue|irn|rocc|hpcc|rdma-at-scale|ecn-or-delay|dctcp|swift|powertcp|uet|reps|smartt|all [SET=scale=quick] [DASK=tls://...] [AGAIN=1 to run all again], write the claims board
	@$(BIN)/rogue reproduce $(or $(PAPER),all) $(if $(AGAIN),--again) $(foreach each,$(SET),--set $(each)) $(if $(DASK),--dask $(DASK))

test: $(VENV)/.reference ## run the test suite
	@echo "test: this takes about 15 minutes on two cores, less on more; what a machine lacks is skipped by name" >&2
	@$(BIN)/pytest -n $(JOBS) --dist worksteal --budgets -m "not long and not virtual"

test-long: $(VENV)/.reference ## run everything that takes minutes too; what needs QEMU is skipped where there is none
	@$(BIN)/pytest -n $(JOBS) --dist worksteal --hypothesis-profile new-examples -m "not long and not virtual"
	@$(BIN)/pytest -n $(JOBS) --dist loadfile --durations 10 -m "long and not virtual"
	@$(BIN)/pytest -s -m "virtual and long" tests/virtual
	@SANITIZE='_core;_reference' sh scripts/test_sanitize.sh $(VENV)

nightly: test-long ## test-long, then the experiments of all papers at their quick scale, with the claims board; hours
	@$(BIN)/rogue reproduce all --set scale=quick

test-bare: ## run the README's first two commands on a Debian where nothing is installed (root, mmdebstrap)
	@sh scripts/bare_debian.sh

test-hostile: setup $(VENV)/.develop ## read INPUTS=100000 hostile inputs, and kill runs and fill disks KILLS=300 times; test-long does it, too
	@HOSTILE_INPUTS=$(INPUTS) ROGUE_KILLS=$(KILLS) $(BIN)/pytest -n $(JOBS) --durations 0 -m long tests/hostile \
		tests/agent/drivers/verbs/test_side_channel.py

coverage: $(VENV)/.reference ## measure which branches of rogue.harness and rogue.agent the tests take (an hour on two cores)
	@$(BIN)/pytest -q -n $(JOBS) -m "not long and not virtual" --cov --cov-report=term-missing:skip-covered --cov-fail-under=90 \
		tests/harness tests/agent/core tests/agent/node

mutants: $(VENV)/.reference ## change COUNT=300 places of PACKAGE=rogue.agent.core, one by one, and print those that no test catches
	@$(BIN)/python scripts/mutation_score.py $(COUNT) --package $(PACKAGE)

test-sanitize: setup $(VENV)/.develop ## run the simulator's tests on an engine built with AddressSanitizer and UBSan
	@sh scripts/test_sanitize.sh $(VENV)

check: lint ## lint, and the fastest tests: tidiness, workloads, the core of the agent
	@$(BIN)/pytest -q -n $(JOBS) --dist worksteal -m "not long and not virtual" $(FAST_TESTS)

lint: setup $(VENV)/.develop ## format, lint, types, import contracts; advice on prose
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/clang-format --dry-run --Werror $(COMPILED)
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/python scripts/prose_check.py
	@$(BIN)/mypy & \
	{ $(BIN)/lint-imports --no-cache && (cd playbooks && PATH="$(CURDIR)/$(BIN):$$PATH" ansible-lint -q) && \
	$(BIN)/vermin -q --target=3.10- --violations --no-tips rogue_agent src/rogue/__init__.py playbooks/collections; }; \
	others=$$?; wait $$! && exit $$others

format: $(VENV)/.develop ## rewrite the code in the house format
	@$(BIN)/ruff format $(CODE)
	@$(BIN)/clang-format -i $(COMPILED)
	@$(BIN)/ruff check --fix $(CODE)

wheels: setup ## build a wheel into dist/ and run the quickstart from it in an environment without a compiler
	@CXX=$${CXX:-c++} $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@PYTHON=$(BIN)/python sh scripts/test_wheel.sh "$$(ls -t dist/*.whl | head -n 1)"

bench: setup ## measure the engine's speed
	@$(BIN)/python benchmarks/engine.py --rogue

.cache/docs/sample-report.html: $(VENV)/.engine experiments/quickstart.yaml
	@$(BIN)/python scripts/docs_pictures.py report

docs: setup $(VENV)/.develop .cache/docs/sample-report.html ## build the documentation site in build/site; a dead link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

docs-serve: setup $(VENV)/.develop .cache/docs/sample-report.html ## show the documentation site at http://127.0.0.1:8000, and build it again after each change
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

clean: ## remove what the targets made, except results
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis

-include virtual/virtual.mk
