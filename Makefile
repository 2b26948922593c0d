# make book    build the book into _build/html        make serve   build and serve it on localhost
# make test    everything that must hold              make bench   speed beside other libraries (FULL=1: slow ones too)
# make pdf     the whole book as one PDF              make clean   remove what was made
# make wheel   the library as one file, in dist/      make lock    write down the versions in use
# make notebooks   run the notebooks and store their outputs (NB=book/01_svd.ipynb for one)

# Compiled modules are kept, also where the environment says otherwise: each worker and notebook starts sooner.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
# The exact versions of the last full run, with hashes; `make LOCK= …` takes the newest that requirements.txt allows.
LOCK ?= requirements.lock
PORT ?= 8000
INSTALLED := .venv/installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on
BUILT := $(addprefix tests/test_,book.py browser.py pages.py live.py page_answers.py)

CLOCK := start=$$(date +%s); took() { s=$$(($$(date +%s) - start)); echo "$$((s / 60)) min $$((s % 60)) s"; }

.PHONY: book pdf serve test style types library quiet-book pages bench notebooks format lock wheel clean

book: $(INSTALLED)
	@echo "── Building the book (about a minute; warnings are errors)"
	@$(CLOCK); $(BIN)/jupyter-book build . -W -n --keep-going --quiet \
		|| { echo "The book was not built: the first warning above names the page and the line."; exit 1; }; \
		echo "The book is ready after $$(took). Open file://$(CURDIR)/_build/html/index.html"

serve: book
	@echo "Serving on http://localhost:$(PORT)/ (Ctrl-C ends it)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

# Printed from the pages of the book; afterwards the site links to the PDF.
pdf: $(INSTALLED)
	@$(BIN)/python book/_ext/print_book.py --ready
	@echo "── 1/3 The pages (a minute)"
	@$(MAKE) --no-print-directory book
	@echo "── 2/3 The PDF (about five minutes, ten on a busy machine; a dot is ten seconds)"
	@$(BIN)/python book/_ext/print_book.py
	@echo "── 3/3 The pages once more, with a link to the PDF"
	@$(MAKE) --no-print-directory book

test: $(INSTALLED)
	@$(CLOCK); $(MAKE) --no-print-directory style && $(MAKE) --no-print-directory -j3 types library quiet-book \
		&& $(MAKE) --no-print-directory pages \
		|| { echo "Something does not hold: see above after $$(took). CONTRIBUTING.md says what each check means."; \
			echo "One test again, by itself: $(BIN)/python -m pytest -n 0 'tests/test_svd.py::test_name'"; exit 1; }; \
		echo "Everything holds, after $$(took)."

style: $(INSTALLED)
	@echo "── 1/3 Style (ruff)"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(INSTALLED)
	@$(BIN)/mypy

# What needs no built book; types are checked and the book is built beside it.
library: $(INSTALLED)
	@echo "── 2/3 Library and notebooks (pytest), with types (mypy) and the book beside them"
	@$(BIN)/python -m pytest $(addprefix --ignore=,$(BUILT))

quiet-book: $(INSTALLED)
	@$(MAKE) --no-print-directory book > .venv/book.log 2>&1 || { cat .venv/book.log; exit 1; }

pages: $(INSTALLED)
	@echo "── 3/3 The book as it was built, and every page in a browser (pytest)"
	@$(BIN)/python -m pytest --dist=load $(BUILT)

bench: $(INSTALLED)
	@$(BIN)/python -m benchmarks $(if $(FULL),--full) $(ARGS)

notebooks: $(INSTALLED)
	@$(BIN)/python book/_ext/notebooks.py $(NB)

format: $(INSTALLED)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# Write down what is installed now, after a `make LOCK= test` that passed: every version, for every
# system and Python, with the hashes of its files. uv keeps the versions that the file names.
lock: $(INSTALLED)
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/python -m pip freeze --exclude-editable --exclude uv > requirements.lock
	@$(BIN)/uv pip compile requirements.txt --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-package kpca-edu --no-annotate --custom-compile-command "make lock" -o requirements.lock

wheel: $(INSTALLED)
	@rm -rf build dist
	@$(BIN)/python -m pip wheel . --quiet --no-deps --no-build-isolation -w dist
	@rm -rf build
	@echo "Built: $$(ls dist/*.whl)"

clean:
	rm -rf _build build dist .venv

$(INSTALLED): requirements.txt pyproject.toml $(wildcard $(LOCK))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
	@echo "── Setting up .venv (once; about two minutes)"
	@$(PYTHON) -m venv .venv
	@{ $(PIP) $(if $(wildcard $(LOCK)),-r $(LOCK) && $(PIP) --no-deps --no-build-isolation -e .,-r requirements.txt); } \
		|| { echo "The packages were not installed: pip says above why. Once that is mended, run make again."; exit 1; }
	@touch $@
