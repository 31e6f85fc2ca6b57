# GNU make. `make` alone prints the targets; nothing but a python3 of 3.11 or later is needed.
.DEFAULT_GOAL := help

ifneq ($(dir $(lastword $(MAKEFILE_LIST))),./)
# Called as `make -f path/to/Makefile` from elsewhere: do the same from the project's folder.
GOALS := $(or $(MAKECMDGOALS),help)
.PHONY: $(GOALS)
$(GOALS):
	@+$(MAKE) --no-print-directory -C "$(dir $(lastword $(MAKEFILE_LIST)))" $@
else

VENV := .venv
BIN := $(VENV)/bin
UV_INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Without PYTHON the first of these that is new enough is taken; a given PYTHON is the only choice.
PYTHON ?=
CANDIDATES := $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.14)
NEW_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
MINOR_VERSION := import sys; print(*sys.version_info[:2])
# One stamp for each way of asking, so that another PYTHON is noticed.
STAMP := $(VENV)/.installed$(subst /,_,$(PYTHON))

COMPILE = $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --quiet \
	--generate-hashes --no-annotate --no-emit-index-url --custom-compile-command "make lock" \
	$(if $(UPGRADE),--upgrade)

# Each page of docs/ that is made from the code, and the module that prints it.
GENERATED := cli.md=punctual.commands.reference openapi.json=control_api.openapi \
	api.md=control_api.api_reference grants.md=control_api.grants_reference \
	metrics.md=control_api.metrics_reference

.PHONY: help setup run lint check test docs bench lock clean

help: ## print the targets (the default)
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s  %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## create .venv with the locked packages (PYTHON=... picks the interpreter)

$(STAMP): requirements/dev.txt pyproject.toml
	@python=; for candidate in $(CANDIDATES); do \
	  if $$candidate -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "make setup: no Python 3.11 or later with venv and ensurepip among: $(CANDIDATES)." >&2; \
	  for candidate in $(CANDIDATES); do \
	    echo "  $$candidate: $$($$candidate --version 2>&1 | head -n 1)" >&2; \
	  done; \
	  echo "Install one (with its venv package), or name it: make setup PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	old=$$($(BIN)/python -c '$(MINOR_VERSION)' 2>/dev/null); \
	new=$$($$python -c '$(MINOR_VERSION)'); \
	if [ -z "$$old" ] || { [ -n "$(PYTHON)" ] && [ "$$old" != "$$new" ]; }; then \
	  echo "Creating $(VENV) with Python $$($$python -c 'import platform as p; print(p.python_version())')"; \
	  $$python -m venv --clear $(VENV); \
	fi
	@# uv installs the lock some ten times as fast as pip; pip needs only to bring uv, itself locked.
	@if [ ! -x $(BIN)/uv ]; then \
	  awk '/^uv==/ { on = 1 } on { print } on && !/\\$$/ { exit }' requirements/dev.txt \
	    > $(VENV)/uv.txt && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	    -r $(VENV)/uv.txt; \
	fi
	@$(UV_INSTALL) --require-hashes -r requirements/dev.txt
	@$(UV_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $(STAMP) $(VENV)/.installed

run: setup ## start the whole service with demonstration triggers
	@$(BIN)/punctual up --demo

lint: setup ## formatting, lint rules, strict types and import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

check: lint ## lint, then the unit and contract tests; run it before every commit
	@$(PYTEST) $(wildcard tests/unit tests/contract)

test: lint ## lint, then every test
	@$(PYTEST) tests

docs: setup ## write every generated page of docs/ anew
	@set -e; for pair in $(GENERATED); do \
	  page="docs/$${pair%%=*}"; \
	  $(BIN)/python -m "$${pair#*=}" > "$$page.new" || { rm -f "$$page.new"; exit 1; }; \
	  mv "$$page.new" "$$page"; \
	done

bench: setup ## run every bench/bench_*.py, one after the other
	@set -e; for file in $(sort $(wildcard bench/bench_*.py)); do \
	  echo "== $$file"; \
	  $(BIN)/python -m "$$(echo "$${file%.py}" | tr / .)"; \
	done

lock: setup ## recompile requirements/*.txt from pyproject.toml (UPGRADE=1 takes newer versions)
	@# The widest set first: the others take its versions, so that no two locks disagree.
	@$(COMPILE) --extra gcp --output-file requirements/gcp.txt
	@$(COMPILE) --extra dev --constraint requirements/gcp.txt --output-file requirements/dev.txt
	@$(COMPILE) --constraint requirements/gcp.txt --constraint requirements/dev.txt \
	  --output-file requirements/base.txt

clean: ## remove .venv, caches and build output
	@rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

endif
