"""The equation ledger: which function is an equation, which cell checks it, which test guards it.

Read from the sources alone, so that the tests and the book's page see the same thing:

- a numbered equation is ``$$ … $$ (eq-name)`` in a notebook or page of the book;
- a function claims it by ``:eq:`eq-name``` in its docstring;
- a cell checks it by a comment ``# check: eq-name``;
- a test guards it by naming it in its docstring.
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
CITED = re.compile(r"\beq-[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass
class Equation:
    """A numbered equation and all that cites it."""

    label: str
    tex: str
    page: str  # the page that states it, such as book/01_svd
    functions: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)


def read_ledger(
    root: Path = ROOT,
) -> tuple[list[Equation], dict[str, set[str]]]:
    """Return the equations in the order of the book, and {unknown label: the places that cite it}."""
    equations = {eq.label: eq for eq in _numbered(root)}
    unknown: dict[str, set[str]] = {}
    for kind, place, label in _citations(root):
        if label not in equations:
            unknown.setdefault(label, set()).add(place)
        elif place not in (places := getattr(equations[label], kind)):
            places.append(place)
    return list(equations.values()), unknown


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


def _numbered(root: Path) -> Iterator[Equation]:
    for page in book_pages(root):
        name = page.relative_to(root).with_suffix("").as_posix()
        for text in cells(page, "markdown"):
            for match in NUMBERED.finditer(text):
                yield Equation(match["label"], match["tex"].strip(), name)


def _citations(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, place, label) for everything that cites an equation."""
    for path in sorted(root.glob("kpca_edu/**/*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for name, doc in _docstrings(path):
            for label in re.findall(r":eq:`(eq-[\w-]+)`", doc):
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
