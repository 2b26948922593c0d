"""The directive ``api-index``: every public name of the library with the sentence it begins with.

Read from ``__all__`` and the docstrings when the book is built, and grouped by the pages of the
reference, which carry the chapters' names.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from contents import ROOT, chapters, page_title, read_contents
from docutils import nodes
from marked import (
    docstring_nodes,
    first_sentence,
    function_link,
    html,
    row_filter,
    table,
)
from sphinx.util.docutils import SphinxDirective

PAGE = "book/api/index"
COLUMNS = ["Name", "Summary", "From"]


def reference_pages(root: Path = ROOT) -> list[str]:
    """Return the pages of the reference: first those of the chapters, in their order."""
    listed = [
        section["file"]
        for part in read_contents(root)["parts"]
        for entry in part["chapters"]
        if entry["file"] == PAGE
        for section in entry.get("sections", [])
    ]
    number = {c.name: c.number for c in chapters(root)}
    return sorted(listed, key=lambda p: number.get(p.rsplit("/", 1)[-1], 99))


def modules(page: str, root: Path = ROOT) -> list[str]:
    """Return the modules that a page of the reference describes."""
    text = (root / f"{page}.md").read_text("utf8")
    return re.findall(r"automodule:: (\S+)", text)


def public(module: str) -> Iterator[tuple[str, str]]:
    """Yield (name, first sentence) for the functions and classes that a module offers."""
    loaded = importlib.import_module(module)
    for name in loaded.__all__:
        thing = getattr(loaded, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, first_sentence(inspect.getdoc(thing) or "")


class ApiIndex(SphinxDirective):
    """Write a table for each page of the reference."""

    def run(self) -> list[nodes.Node]:
        for path in (ROOT / "kpca_edu").glob("*.py"):
            self.env.note_dependency(str(path))
        numbers = {c.name: c for c in chapters()}
        top = set(importlib.import_module("kpca_edu").__all__)
        out: list[nodes.Node] = [
            row_filter(
                "Filter the functions",
                "Filter by a name or a word of the description",
                "centred, singular, fit_ …",
            )
        ]
        for page in reference_pages():
            stem = page.rsplit("/", 1)[-1]
            chapter = numbers.get(stem)
            title = _heading(page_title(page))
            aside = (
                f' <span class="rows-size"><a href="../{chapter.stem}.html">chapter'
                f" {chapter.number}</a></span>"
                if chapter
                else ""
            )
            head = f'<h2><a href="{stem}.html">{title}</a></h2>{aside}'
            rows = [
                self.row(module, name, sentence, name in top)
                for module in modules(page)
                for name, sentence in public(module)
            ]
            group = nodes.container(classes=["row-group"])
            group += [html(head), table("api-names", COLUMNS, rows)]
            out.append(group)
        return out

    def row(
        self, module: str, name: str, sentence: str, at_top: bool
    ) -> list[list[nodes.Node]]:
        place = "kpca_edu" if at_top else module
        return [
            [function_link(f"{module}.{name}", PAGE)],
            docstring_nodes(sentence, module, PAGE),
            [nodes.literal(place, place)],
        ]


def _heading(title: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(title))


def setup(app):
    app.add_directive("api-index", ApiIndex)
    return {"version": "1", "parallel_read_safe": True}
