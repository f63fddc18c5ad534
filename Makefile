# Two commands: `make run` and `make test`. The rest is in `make help`.

PYTHON ?= $(shell command -v python3.11 >/dev/null 2>&1 && python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
BIN := .venv/bin
STAMP := .venv/.installed
.DEFAULT_GOAL := help

.PHONY: help
help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: $(STAMP) ## Run everything here until Ctrl-C; choose with PORT=8080 DATA=folder
	@exec $(BIN)/admitone run $(if $(PORT),--port "$(PORT)") $(if $(DATA),--data "$(DATA)")

.PHONY: test
test: $(STAMP) ## Run every test
	@$(BIN)/pytest -n auto

.PHONY: check
check: $(STAMP) ## Format, lint, types, layers and the architecture tests, in under a minute
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/admitone schema --check
	@$(BIN)/pytest -n auto tests/architecture

.PHONY: bench
bench: $(STAMP) ## Measure; fails when a figure that must be reached is not
	@$(BIN)/python -m bench

.PHONY: soak
soak: $(STAMP) ## Break everything under load, from a seed, for ten minutes; choose with SECONDS=3600 SEED=7 CASES=5000
	@$(BIN)/python -m bench.faults.money --cases "$(or $(CASES),5000)" --seed "$(or $(SEED),1)"
	@$(BIN)/python -m bench.faults.money --kill --seed "$(or $(SEED),1)"
	@$(BIN)/python -m bench.faults.money --payday --seed "$(or $(SEED),1)"
	@$(BIN)/python -m bench.faults --seconds "$(or $(SECONDS),600)" --seed "$(or $(SEED),1)"

.PHONY: peers
peers: $(STAMP) ## Run the Stripe adapter against two more peers, where node is; says so where it is not
	@$(BIN)/python -m tests.peers

.PHONY: golden
golden: $(STAMP) ## Write schema.sql and the golden files anew; read the difference before you commit it
	@$(BIN)/admitone schema
	@GOLDEN=write $(BIN)/pytest -n 0 tests/golden

.PHONY: lock
lock: $(STAMP) ## Choose the versions of all dependencies anew
	@$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
		--no-emit-find-links --no-emit-trusted-host --no-header --extra dev --output-file requirements.lock pyproject.toml

# Made when it is missing, and brought up to date when the lock changed. The stamp comes last, so that an installation
# that was cut off is done again.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; choose it with PYTHON=…")'
	@echo "Installing into .venv (the first time takes a minute)…"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)
