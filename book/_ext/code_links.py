"""Names in code link to the reference: whatever a page imports from the library.

Done in the finished pages, by name. A general extension, which follows every assignment through
all cells, took half of the time of the build for the same links.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Iterable
from pathlib import Path

BLOCK = re.compile(
    r'<div class="highlight-i?python3? notranslate"><div class="highlight">.*?</div>',
    re.S,
)


def imported(cells: list[dict]) -> dict[str, str]:
    """Return {name in the code: full name in the library} for the imports of a notebook."""
    found = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or "kpca_edu" not in source:
            continue
        lines = [
            line
            for line in source.splitlines()
            if not line.lstrip().startswith("%")
        ]
        try:
            tree = ast.parse("\n".join(lines))
        except SyntaxError:  # the install cell without its magic line
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (
                node.module or ""
            ).startswith("kpca_edu"):
                module = importlib.import_module(node.module)
                for alias in node.names:
                    thing = getattr(module, alias.name, None)
                    if inspect.isclass(thing) or inspect.isroutine(thing):
                        full = f"{thing.__module__}.{alias.name}"
                        found[alias.asname or alias.name] = full
    return found


def marker(names: Iterable[str]) -> re.Pattern:
    """Match each of the names in highlighted code, but not the attribute of another thing."""
    return re.compile(
        rf'(?<!<span class="o">\.</span>)<span class="n[fc]?">({"|".join(sorted(names))})</span>'
    )


def link_names(app, exception) -> None:
    """Put a link round each such name; none is a stop of the Tab key, there are hundreds."""
    if exception or app.builder.name != "html":
        return
    objects = app.env.get_domain("py").objects
    for docname in app.env.found_docs:
        source = Path(app.srcdir, f"{docname}.ipynb")
        page = Path(app.outdir, f"{docname}.html")
        if not source.exists() or not page.exists():
            continue
        names = {
            name: f"{app.builder.get_relative_uri(docname, objects[full].docname)}#{full}"
            for name, full in imported(
                json.loads(source.read_text("utf8"))["cells"]
            ).items()
            if full in objects
        }
        if not names:
            continue
        mark = marker(names)

        def link(match: re.Match, names=names) -> str:
            return f'<a class="code-name" tabindex="-1" href="{names[match[1]]}">{match[0]}</a>'

        text = page.read_text("utf8")
        if 'class="code-name"' in text:  # an earlier build wrote this page
            continue
        linked = BLOCK.sub(
            lambda block, mark=mark, link=link: mark.sub(link, block[0]), text
        )
        if linked != text:
            page.write_text(linked, "utf8")


def setup(app):
    app.connect("build-finished", link_names, priority=850)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
