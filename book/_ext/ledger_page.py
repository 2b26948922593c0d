"""The directive ``equation-ledger``: the ledger as a page of the book, made when it is built."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from docutils import nodes
from docutils.statemachine import StringList
from ledger import Equation, book_pages, read_ledger
from sphinx.util.docutils import SphinxDirective


class EquationLedger(SphinxDirective):
    """Write each equation with the functions that are it and the checks and tests that guard it."""

    def run(self) -> list[nodes.Node]:
        for page in book_pages():
            self.env.note_dependency(str(page))
        lines: list[str] = []
        for page, group in groupby(read_ledger()[0], key=lambda eq: eq.page):
            lines += ["", f"## {{doc}}`/{page}`", ""]
            for equation in group:
                lines += _entry(equation)
        box = (
            nodes.section()
        )  # headings need a section around them while they are parsed
        box.document = self.state.document
        self.state.nested_parse(
            StringList(lines, "ledger"),
            self.content_offset,
            box,
            match_titles=1,
        )
        return box.children


def _entry(equation: Equation) -> list[str]:
    functions = ", ".join(
        f"{{py:obj}}`{name} <{name}>`" for name in equation.functions
    )
    checks = ", ".join(f"{{doc}}`/{page}`" for page in equation.checks)
    tests = "; ".join(_tests_by_file(equation.tests))
    parts = [("Function", functions), ("Check in", checks), ("Test", tests)]
    facts = [f"- {title}: {text}" for title, text in parts if text]
    return [
        f":::{{admonition}} Equation {{eq}}`{equation.label}`",
        ":class: ledger",
        "",
        f"$${equation.tex}$$",
        "",
        *facts,
        ":::",
        "",
    ]


def _tests_by_file(tests: list[str]) -> Iterator[str]:
    """Yield, for each file, its name and those of the tests in it."""
    for file, group in groupby(tests, key=lambda test: test.split("::")[0]):
        names = [test.split("::")[1].replace(".", "::") for test in group]
        yield f"`{file}` " + ", ".join(
            name.removeprefix("test_").replace("_", " ") for name in names
        )


def setup(app):
    app.add_directive("equation-ledger", EquationLedger)
    return {"version": "1", "parallel_read_safe": True}
