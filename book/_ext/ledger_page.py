"""The directive ``equation-ledger``: the ledger as tables that can be filtered, a fold a chapter.

The nodes are made by hand: hundreds of rows would take seconds to be parsed as text. The script
``filter.js`` hides the rows that lack what the reader types; without it the tables are all there.
"""

from __future__ import annotations

from html import escape
from itertools import groupby

from contents import chapters, page_title
from docutils import nodes
from folds import make_fold
from ledger import Entry, Equation, book_pages, read_entries
from marked import (
    add_filter_script,
    function_link,
    html,
    joined,
    reference,
    row_filter,
    table,
)
from sphinx.util.docutils import SphinxDirective

PAGE = "book/ledger"
COLUMNS = ["Where", "What", "Function", "Check", "Tests"]


class EquationLedger(SphinxDirective):
    """Write a row for each equation, and for each statement that something cites."""

    def run(self) -> list[nodes.Node]:
        for page in book_pages():
            self.env.note_dependency(str(page))
        numbers = {c.page: c.number for c in chapters()}
        shown = [
            e for e in read_entries()[0] if isinstance(e, Equation) or e.cited
        ]
        out: list[nodes.Node] = [
            row_filter(
                "Filter the ledger",
                "Filter by anything in a row: a function, a symbol, a test, a title",
                "center_gram, lambda, Eckart …",
            )
        ]
        for page, group in groupby(shown, key=lambda e: e.page):
            entries = list(group)
            summary = html(_summary(page, entries, numbers))
            rows = [_row(entry, numbers) for entry in entries]
            fold = make_fold(
                "rows", [summary], table("ledger", COLUMNS, rows, "Tests")
            )
            out.append(fold)
        return out


def _summary(page: str, entries: list[Entry], numbers: dict[str, int]) -> str:
    number = f"{numbers[page]} " if page in numbers else ""
    count = sum(isinstance(e, Equation) for e in entries)
    said = f"{count} equation{'s' * (count != 1)}"
    if others := len(entries) - count:
        said += f", {others} theorem{'s' * (others != 1)}"
    title = escape(number + page_title(page))
    return f'<h2>{title}</h2> <span class="rows-size">{said}</span>'


def _row(entry: Entry, numbers: dict[str, int]) -> list[list[nodes.Node]]:
    words = f"{entry.label} {getattr(entry, 'tex', '')}"
    if isinstance(entry, Equation):
        where = reference("math", "eq", entry.label, PAGE)
        what: nodes.Node = nodes.math(entry.tex, entry.tex)
    else:
        where = reference("prf", "ref", entry.label, PAGE)
        what = nodes.Text(entry.title)
    functions = (
        function_link(
            name, PAGE, name.removeprefix("kpca_edu.").split(".", 1)[1]
        )
        for name in entry.functions
    )
    checks = (
        reference("std", "doc", f"/{page}", PAGE, _check_text(page, numbers))
        for page in entry.checks
    )
    return [
        [where, html(f"<span hidden>{escape(words)}</span>")],
        [what],
        joined(functions),
        joined(checks),
        [html(_tests(entry.tests))] if entry.tests else [],
    ]


def _check_text(page: str, numbers: dict[str, int]) -> nodes.Node:
    text = f"ch. {numbers[page]}" if page in numbers else page_title(page)
    return nodes.inline(text, f"✓ {text}")


def _tests(tests: list[str]) -> str:
    """Return a fold that says how many tests there are and holds their names."""
    names = []
    for file, group in groupby(tests, key=lambda test: test.split("::")[0]):
        said = ", ".join(
            test.rsplit(".", 1)[-1].split("::")[-1].removeprefix("test_")
            for test in group
        )
        names.append(
            f"<p><code>{escape(file)}</code> {escape(said.replace('_', ' '))}</p>"
        )
    count = f"{len(tests)} test{'s' * (len(tests) != 1)}"
    return (
        f'<details class="row-tests"><summary>{count}</summary>'
        f"{''.join(names)}</details>"
    )


def setup(app):
    app.add_directive("equation-ledger", EquationLedger)
    app.connect("html-page-context", add_filter_script)
    return {"version": "1", "parallel_read_safe": True}
