"""The equation ledger: which function is an equation, which cell checks it, which test guards it.

Read from the sources alone, so that the tests and the book's page see the same thing:

- a numbered equation is ``$$ … $$ (eq-name)`` in a notebook or page of the book, and a statement
  is a box ``:::{prf:theorem} Title`` with a ``:label:``;
- a function claims an equation by ``:eq:`eq-name``` in its docstring, or a statement by
  ``:prf:ref:`thm-name```;
- a cell checks one by a comment ``# check: eq-name thm-name``;
- a test guards one by naming it in its docstring.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBERED = re.compile(r"\$\$(?P<tex>[^$]+)\$\$\s*\((?P<label>eq-[\w-]+)\)")
STATED = re.compile(
    r"^:::+\{prf:(?P<kind>\w+)\}[ \t]*(?P<title>.*)\n(?::(?!label)\w+:.*\n)*:label:[ \t]*(?P<label>\S+)",
    re.MULTILINE,
)
CITED = re.compile(
    r"\b(?:eq|thm|lem|prop|cor|def|alg)-[a-z0-9]+(?:-[a-z0-9]+)*"
)


@dataclass
class Entry:
    """Something stated in the book, and all that cites it."""

    label: str
    page: str  # the page that states it, such as book/01_svd
    functions: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)

    @property
    def cited(self) -> bool:
        return bool(self.functions or self.checks or self.tests)


@dataclass
class Equation(Entry):
    """A numbered equation."""

    tex: str = ""


@dataclass
class Statement(Entry):
    """A theorem, lemma, definition or the like, with its title."""

    kind: str = ""
    title: str = ""


def read_ledger(
    root: Path = ROOT,
) -> tuple[list[Equation], dict[str, set[str]]]:
    """Return the equations in the order of the book, and {unknown label: the places that cite it}."""
    entries, unknown = read_entries(root)
    return [e for e in entries if isinstance(e, Equation)], unknown


def read_entries(root: Path = ROOT) -> tuple[list[Entry], dict[str, set[str]]]:
    """Return equations and statements in the order of the book, and what cites unknown ones."""
    entries = {entry.label: entry for entry in _stated(root)}
    unknown: dict[str, set[str]] = {}
    for kind, place, label in _citations(root):
        if label not in entries:
            unknown.setdefault(label, set()).add(place)
        elif place not in (places := getattr(entries[label], kind)):
            places.append(place)
    return list(entries.values()), unknown


def book_pages(root: Path = ROOT) -> list[Path]:
    """Return the book's notebooks and pages, chapters in reading order."""
    pages = [*root.glob("book/**/*.ipynb"), *root.glob("book/**/*.md")]
    return sorted(
        p for p in pages if not {"_build", ".ipynb_checkpoints"} & set(p.parts)
    )


def cells(page: Path, kind: str) -> list[str]:
    """Return the sources of a notebook's cells of one kind; a page of text is one markdown cell."""
    text = page.read_text("utf8")
    if page.suffix == ".md":
        return [text] if kind == "markdown" else []
    return [
        "".join(c["source"])
        for c in json.loads(text)["cells"]
        if c["cell_type"] == kind
    ]


def _stated(root: Path) -> Iterator[Entry]:
    for page in book_pages(root):
        name = page.relative_to(root).with_suffix("").as_posix()
        for text in cells(page, "markdown"):
            found: list[tuple[int, Entry]] = [
                (m.start(), Equation(m["label"], name, tex=m["tex"].strip()))
                for m in NUMBERED.finditer(text)
            ]
            found += [
                (
                    m.start(),
                    Statement(
                        m["label"], name, kind=m["kind"], title=m["title"]
                    ),
                )
                for m in STATED.finditer(text)
            ]
            for _, entry in sorted(found, key=lambda pair: pair[0]):
                yield entry


def _citations(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, place, label) for everything that cites an equation or a statement."""
    for path in sorted(root.glob("kpca_edu/**/*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for name, doc in _docstrings(path):
            for label in re.findall(r":(?:eq|prf:ref):`([\w-]+)`", doc):
                yield "functions", f"{module}.{name}", label
    for page in book_pages(root):
        place = page.relative_to(root).with_suffix("").as_posix()
        for text in cells(page, "code"):
            for line in re.findall(r"# check: (.*)", text):
                for label in CITED.findall(line):
                    yield "checks", place, label
    for path in sorted(root.glob("tests/test_*.py")):
        for name, doc in _docstrings(path):
            for label in CITED.findall(doc):
                yield (
                    "tests",
                    f"{path.relative_to(root).as_posix()}::{name}",
                    label,
                )


def _docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (dotted name, docstring) of every class and function in a file."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = prefix + child.name
                yield name, ast.get_docstring(child) or ""
                yield from walk(child, name + ".")

    yield from walk(ast.parse(path.read_text("utf8")), "")
