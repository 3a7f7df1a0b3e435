# Everything goes through scripts/bootstrap.py, which makes .venv and installs the locked dependencies.
# PYTHON=python3.12 chooses the Python; ARGS="…" is handed on.

PYTHON ?= python3
BOOTSTRAP = command -v $(PYTHON) >/dev/null 2>&1 || { echo "$(PYTHON) is not on the PATH; metacog needs Python 3.11 to 3.14." >&2; exit 1; }; exec $(PYTHON) scripts/bootstrap.py

.PHONY: help up demo example test test-all test-smoke check bench faults mutate release messages lock screenshots

help:
	@echo "make up           install what is missing, then start metacog on http://127.0.0.1:8000"
	@echo "make demo         the same with example data and a small agent that keeps posting"
	@echo "make example      run an agent that asks: NAME=support-desk, coding-agent, rag-bot or nightly-batch; no model, no key"
	@echo "make test         run the tests on SQLite, and on PostgreSQL those that depend on it (ARGS=\"-k word\": some)"
	@echo "make test-all     run every test on both, and those of adapters and other clients with the packages they adapt"
	@echo "make test-smoke   start the program in all ways, have axe look at every page, and run the tests of the API: for a second Python (PYTHON=python3.13)"
	@echo "make check        linters, types, scripts, migrations, deploy checks, templates, what nothing uses, links, licenses, translations"
	@echo "make bench        how fast responses are scored, against the seed's own rules in Node (ARGS=\"--corpus FOLDER\")"
	@echo "make faults       the long fault tests"
	@echo "make mutate       break what the tests hold, one bit at a time, and count what they do not notice (ARGS=\"stats --sample 100\")"
	@echo "make release      build wheel and source into dist/, with a list of all that is in them (CycloneDX)"
	@echo "make messages     bring the translations' sources, the table of signals and the client's types up to date with the code"
	@echo "make screenshots  take the pictures in docs/pictures from the running program (ARGS=FOLDER: of every page)"
	@echo "make lock         write requirements*.txt from pyproject.toml (ARGS=--upgrade for newer releases)"

up:
	@$(BOOTSTRAP) manage.py up $(ARGS)

# Never on the data folder of `make up`.
demo:
	@METACOG_DATA_DIR="$${METACOG_DATA_DIR:-data-demo}"; export METACOG_DATA_DIR; $(BOOTSTRAP) manage.py demo $(ARGS)

example:
	@$(BOOTSTRAP) examples/run.py $(NAME) $(ARGS)

test:
	@$(BOOTSTRAP) --dev tests/run.py $(ARGS)

test-all:
	@$(BOOTSTRAP) --dev tests/run.py --all

test-smoke:
	@$(BOOTSTRAP) --dev tests/run.py --smoke

check:
	@$(BOOTSTRAP) --dev scripts/check.py $(ARGS)

messages:
	@$(BOOTSTRAP) --dev manage.py messages $(ARGS)
	@$(BOOTSTRAP) --dev scripts/signal_table.py $(ARGS)
	@$(BOOTSTRAP) --dev scripts/client_types.py $(ARGS)
	@$(BOOTSTRAP) --dev scripts/sync_client.py $(ARGS)

screenshots:
	@$(BOOTSTRAP) --dev scripts/screenshots.py $(ARGS)

lock:
	@$(BOOTSTRAP) scripts/lock.py $(ARGS)

bench:
	@$(BOOTSTRAP) --dev scripts/bench.py $(ARGS)

faults:
	@$(BOOTSTRAP) --dev -m tests.faults $(ARGS)

mutate:
	@$(BOOTSTRAP) --dev scripts/mutate.py $(ARGS)

release:
	@$(BOOTSTRAP) --dev scripts/release.py $(ARGS)
