# make book    build the book into _build/html        make serve   build and serve it on localhost
# make test    everything that must hold              make bench   speed beside other libraries (FULL=1: slow ones too)
# make pdf     the whole book as one PDF              make clean   remove what was made
# make notebooks   run the notebooks and store their outputs (NB=book/01_svd.ipynb for one)

PYTHON ?= python3
BIN := .venv/bin
# The exact versions of the last full run; `make LOCK= …` takes the newest that requirements.txt allows.
LOCK ?= requirements.lock
PORT ?= 8000
INSTALLED := .venv/installed
BUILT := $(addprefix tests/test_,book.py browser.py pages.py live.py page_answers.py)

.PHONY: book pdf serve test library bench notebooks format lock clean

book: $(INSTALLED)
	@echo "── Building the book (warnings are errors)"
	@$(BIN)/jupyter-book build . -W -n --keep-going --quiet
	@echo "The book is ready. Open file://$(CURDIR)/_build/html/index.html"

serve: book
	@echo "Serving on http://localhost:$(PORT)/ (Ctrl-C ends it)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

# Printed from the pages of the book; afterwards the site links to the PDF.
pdf: $(INSTALLED)
	@$(BIN)/python book/_ext/print_book.py --ready
	@echo "── 1/3 The pages (a minute or two)"
	@$(MAKE) --no-print-directory book
	@echo "── 2/3 The PDF (about five minutes, ten on a busy machine; a dot is ten seconds)"
	@$(BIN)/python book/_ext/print_book.py
	@echo "── 3/3 The pages once more, with a link to the PDF"
	@$(MAKE) --no-print-directory book

test: $(INSTALLED)
	@echo "── 1/3 Style and types (ruff, mypy)"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@echo "── 2/3 Library and notebooks (pytest), and the book beside them"
	@$(MAKE) --no-print-directory -j2 --output-sync=target book library
	@echo "── 3/3 The book as it was built, and every page in a browser (pytest)"
	@$(BIN)/python -m pytest --dist=load $(BUILT)

# What needs no built book; it runs while the book is built.
library: $(INSTALLED)
	@$(BIN)/python -m pytest $(addprefix --ignore=,$(BUILT))

bench: $(INSTALLED)
	@$(BIN)/python -m benchmarks $(if $(FULL),--full) $(ARGS)

notebooks: $(INSTALLED)
	@$(BIN)/python book/_ext/notebooks.py $(NB)

format: $(INSTALLED)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# Write down the versions that are installed now, after a `make LOCK= test` that passed.
lock: $(INSTALLED)
	@echo "# The exact versions of the last full run; written by make lock." > requirements.lock
	@$(BIN)/python -m pip freeze --exclude-editable >> requirements.lock

clean:
	rm -rf _build .venv

$(INSTALLED): requirements.txt pyproject.toml $(wildcard $(LOCK))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
	@echo "── Setting up .venv (once; about a minute)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on \
		-r requirements.txt $(if $(wildcard $(LOCK)),-c $(LOCK))
	@touch $@
