# `make decide` answers one decision question, `make studio` serves the studio page, `make check` and
# `make test` run the tests, `make attack` tries every known attack. Each sets up what it needs in
# .venv the first time, and is quick afterwards.

PYTHON ?= python3
BIN := .venv/bin
PORT ?= 2024
SEED ?= 1
# So many files of tests run at the same time. A file's tests share its servers, so they stay together.
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help decide studio lint check test coverage weights attack site lock clean

help:
	@echo "make decide   answer one decision question with the embedded model (fetches 1.1 GB once)"
	@echo "make studio   serve the studio page at http://127.0.0.1:$(PORT)/studio/ (fetches 1.2 GB once)"
	@echo "make lint     lint, spelling and types"
	@echo "make check    the same, and the quick tests: no server, browser, model or training"
	@echo "make test     the same, and all tests (fetches 0.5 GB of test models once)"
	@echo "make coverage all tests, and which lines they run"
	@echo "make attack   try every attack of tests/attacks and print the table (15 minutes; SEED=$(SEED))"
	@echo "make site     build the documentation into site/"
	@echo "make lock     resolve the dependencies again into the requirements files"
	@echo "make clean    remove .venv and caches"

decide: .venv/run.done
	@$(BIN)/planweave models pull embedded
	@$(BIN)/planweave decide --scenario sourcing

studio: .venv/serve.done
	@$(BIN)/python -c 'import socket; socket.create_server(("127.0.0.1", $(PORT)))' 2>/dev/null || \
		{ echo "Port $(PORT) is taken. Stop what listens there, or run: make studio PORT=2025"; exit 1; }
	@$(BIN)/planweave models pull embedded
	@$(BIN)/planweave models pull minilm
	@$(BIN)/planweave serve --port $(PORT)

# What a test starts need not compile the program again, as it must where this is set.
unexport PYTHONDONTWRITEBYTECODE

# One process loads more native libraries than any command does: they need room for their threads.
PYTEST := GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 $(BIN)/pytest
PARALLEL := -q -n $(WORKERS) --maxprocesses=4 --dist=loadfile --no-loadscope-reorder

lint: .venv/dev.done
	@echo "== Lint and types"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/codespell
	@$(BIN)/mypy --num-workers $(WORKERS)

check: lint
	@echo "== Quick tests"
	@$(PYTEST) $(PARALLEL) -m "not server and not model and not published and not slow"

test: lint weights
	@echo "== Tests"
	@$(PYTEST) $(PARALLEL)

coverage: weights
	@$(PYTEST) $(PARALLEL) --cov --cov-report=term:skip-covered

weights: .venv/dev.done
	@echo "== Weights of the test models"
	@$(BIN)/planweave models pull embedded:0.5b
	@$(BIN)/planweave models pull minilm

attack: .venv/dev.done
	@$(BIN)/planweave models pull minilm
	@PLANWEAVE_ATTACK=full PLANWEAVE_ATTACK_SEED=$(SEED) $(PYTEST) tests/attacks $(PARALLEL) \
		--timeout=3600 --session-timeout=14400

site: .venv-docs/done
	@.venv-docs/bin/mkdocs build --strict --quiet
	@echo "Read site/index.html"

.venv-docs/done:
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --disable-pip-version-check --quiet 'mkdocs-material>=9.7,<10'
	@touch $@

.venv/bin/python:
	@echo "== Making .venv"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "planweave needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 …"; exit 1; }
	@$(PYTHON) -m venv .venv || \
		{ rm -rf .venv; echo "Python has no venv module; on Debian run: apt install python3-venv"; exit 1; }

.venv/run.done: .venv/bin/python requirements.lock pyproject.toml
	@echo "== Installing what a run needs (about a minute the first time)"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --editable .
	@touch $@

.venv/serve.done: .venv/run.done requirements-serve.lock
	@echo "== Installing what the server needs"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-deps -r requirements-serve.lock
	@touch $@

.venv/dev.done: .venv/run.done requirements-dev.lock
	@echo "== Installing what the tests need (about a minute the first time)"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

# All but inspect, which holds other packages back (docs/dependencies.md).
EXTRAS := arena bench documents embedded environments files learning mcp mysql postgresql ray serve studio telemetry

lock: .venv/dev.done
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		pyproject.toml $(addprefix --extra ,$(EXTRAS)) --group dev --output-file requirements-dev.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		pyproject.toml --extra documents --extra embedded --extra files --constraint requirements-dev.lock \
		--output-file requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		pyproject.toml --extra documents --extra embedded --extra files --extra mcp --extra mysql --extra serve --extra telemetry \
		--constraint requirements-dev.lock --output-file requirements-serve.lock

clean:
	rm -rf .venv .venv-docs site .coverage .mypy_cache .pytest_cache .ruff_cache build *.egg-info
