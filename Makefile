# Plain make and python3 >= 3.11 are all it needs; everything else comes from requirements.lock into .venv.
#
#   make setup    the virtual environment, translations, static files
#   make demo     the whole thing with people, jobs and workers, on PORT
#   make test     every test, on SQLite and on PostgreSQL, the browser included
#   make check    format, lint, types, import contract, unsafe patterns
#   make prove    the long runs: crashes, races, histories, random commands, far more of each than make test
#   make mutants  the product broken on purpose, some 300 ways, to see that a test notices each
#   make audit-deps  known vulnerabilities of what the lock installs; asks PyPI
#   make bench    commands a second, as ratios to the raw SQL transaction
#   make serve    production-like: migrate, server, settle loop; DATABASE_URL and the like from the environment

PYTHON ?= python3
PORT ?= 8000
HOST ?= 127.0.0.1
# More options for pytest: make test ARGS="-k cancel -x"
ARGS ?=

BIN := .venv/bin
STAMP := .venv/.installed
TRANSLATIONS := $(patsubst %.po,%.mo,$(wildcard locale/*/LC_MESSAGES/*.po))
STATIC := $(or $(CANCELBOARD_VAR),var)/static/staticfiles.json
.PHONY: setup demo test prove mutants check audit-deps bench serve lock format

setup: $(STAMP) $(TRANSLATIONS) $(STATIC)

# Only when the lock has changed. A half-made environment has no stamp and is made anew.
$(STAMP): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "cancelboard needs Python 3.11 or newer: make setup PYTHON=/path/to/python3" >&2; exit 1; }
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	touch $@

%.mo: %.po $(STAMP)
	$(BIN)/pybabel --quiet compile --input-file $< --output-file $@

$(STATIC): $(STAMP) $(shell find static -type f)
	$(BIN)/python manage.py collectstatic --noinput --verbosity 0

demo: setup
	PORT=$(PORT) $(BIN)/python manage.py demo

# Two rows of runs, one on each core: PostgreSQL, whose output is kept and shown when the other row has ended; SQLite
# with the pure tests, which run once, and then the browser (its driver keeps an event loop, so in processes of its
# own): what tells a whole story on SQLite, all of it on PostgreSQL.
test: setup
	@$(BIN)/python -m pytest --db=postgres -m "not pure and not browser" $(ARGS) >var/postgres.log 2>&1 & postgres=$$!; \
	trap 'kill $$postgres 2>/dev/null; wait; exit 130' INT TERM; \
	$(BIN)/python -m pytest --db=sqlite -m "not browser" $(ARGS); sqlite=$$?; \
	$(BIN)/python -m pytest --db=sqlite -m story $(ARGS); story=$$?; \
	$(BIN)/python -m pytest --db=postgres -m browser $(ARGS); browser=$$?; \
	wait $$postgres; postgres=$$?; cat var/postgres.log; \
	exit $$((sqlite | postgres | browser | story))

# Long runs: never in CI; at most 40 minutes on 2 cores. What carries the mark `prove`, at its full scale, the two
# engines at the same time. One of them alone: PROVE=1 .venv/bin/python -m pytest --db=sqlite -m prove
prove: setup
	@PROVE=1 $(BIN)/python -m pytest --db=postgres --timeout=1800 -m "prove and not pure" $(ARGS) >var/prove-postgres.log 2>&1 & \
	postgres=$$!; trap 'kill $$postgres 2>/dev/null; wait; exit 130' INT TERM; \
	PROVE=1 $(BIN)/python -m pytest --db=sqlite --timeout=1800 -m prove $(ARGS); sqlite=$$?; \
	wait $$postgres; postgres=$$?; cat var/prove-postgres.log; \
	exit $$((sqlite | postgres))

# Never in CI: some 300 runs of the few tests that are about each. In pieces: ARGS="--tables", ARGS="--listed",
# ARGS="--only lock"
mutants: setup
	$(BIN)/python -m tests.mutants.run $(ARGS)

# Ratios to the raw transaction, in one run; a minute for each engine. Never in CI.
bench: setup
	$(BIN)/python -m tests.bench.run --db=sqlite
	$(BIN)/python -m tests.bench.run --db=postgres

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy cancelboard runs
	$(BIN)/lint-imports --no-logo
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive cancelboard runs manage.py

# Needs PyPI, so never in CI: an advisory of tomorrow is no fault of today's change. A tool of its own, outside the
# lock, which would otherwise be half as long again.
audit-deps:
	$(PYTHON) -m venv var/audit
	var/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	@$(PYTHON) .ci/audit_deps.py var/audit/bin/pip-audit requirements.lock

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The settle loop runs beside the server. Ctrl-C (or TERM) stops both, each in its own time; if one of them ends
# by itself, so does the other, and make says so. More options for the server: DAPHNE="--proxy-headers"
serve: setup
	$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py settle & settle=$$!; \
	$(BIN)/daphne -b $(HOST) -p $(PORT) $(DAPHNE) cancelboard.asgi:application & server=$$!; \
	stop() { kill $$settle $$server 2>/dev/null; wait; }; \
	trap 'stop; exit 0' INT TERM; \
	while kill -0 $$settle 2>/dev/null && kill -0 $$server 2>/dev/null; do sleep 1; done; \
	stop; echo "the server or the settle loop has ended by itself" >&2; exit 1

# For maintainers: needs uv. The universal lock installs with plain pip on 3.11 and later.
lock:
	uv pip compile pyproject.toml --extra server --extra demo --extra redis --extra dev --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		--custom-compile-command "make lock" --quiet --output-file requirements.lock
