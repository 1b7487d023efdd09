# Each target makes its own virtual environment; a second call finds it ready.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: run test test-all test-shared lint benchmarks clean

run: $(VENV)/installed-base  ## audit the embedded model with all 46 tests
	$(BIN)/weatherglass run

test: $(VENV)/installed-dev lint  ## what CI runs
	$(BIN)/python -m pytest -n 2 -m "not large"

test-all: $(VENV)/installed-all lint  ## also what needs TensorFlow, large downloads or minutes of work
	$(BIN)/python -m pytest -n 2

test-shared: $(VENV)/installed-dev  ## what needs data that is not in the repository: SHARED=DIR with reference/ and corpora/
	$(if $(SHARED),,$(error name the folder of the data: make test-shared SHARED=DIR))
	WEATHERGLASS_SHARED="$(SHARED)" $(BIN)/python -m pytest -m shared

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmarks: $(VENV)/installed-dev  ## print every benchmark's table
	$(BIN)/python -m benchmarks

$(VENV)/installed-base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[all]" --group dev
	touch $@ $(VENV)/installed-base

$(VENV)/installed-all: $(VENV)/installed-dev
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[all,use]"
	touch $@

clean:
	rm -rf $(VENV)
