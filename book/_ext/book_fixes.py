"""Repairs of the Jupyter Book 1.x tool chain.

1. sphinx-proof and sphinx-exercise wrap their content in ``section`` nodes without a title, all
   with the same id: duplicate ids in the page. They become ``container`` nodes.
2. Jupyter Book always loads sphinx-thebe, which declares a constant twice on every page: a
   JavaScript error. Its scripts are dropped.
3. The theme crashes on launch buttons while the repository's address is not set. They are dropped
   until it is.
4. Screen readers and keyboards: the theme's folding arrows have no name, the entries of the
   bibliography have a role that was withdrawn, and every name in every code cell is a stop of
   the Tab key.
5. Python's garbage collector goes through the many nodes of the book again and again, which takes
   two fifths of a build. It is turned off, for 1 GB more of memory.
6. The theme loads Sphinx's search index on every page. The book has a search of its own
   (``search_page.py``), without that index: the scripts would fail.
7. The theme loads 1.5 MB of script on every page to draw a dozen icons, which its style sheet
   draws as well, from a font. The script is dropped.
8. The reference would say "Alias for field number 0" of each field of a named tuple, which tells
   nothing that the signature above does not. These entries are dropped.
"""

from __future__ import annotations

import gc
import os
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.domains.std import StandardDomain

SPOKEN = {
    '<summary><span class="toctree-toggle"': '<summary aria-label="Show or hide the pages below"><span class="toctree-toggle"',
    'role="doc-biblioentry"': 'role="listitem"',
}

SEARCH_SCRIPTS = re.compile(
    r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
)
ICON_SCRIPT = re.compile(
    r'\s*<script defer src="[^"]*/fontawesome\.js[^"]*"></script>'
)


def unwrap_untitled_sections(app, doctree) -> None:
    for section in list(doctree.findall(nodes.section)):
        if len(section) and isinstance(section[0], nodes.title):
            continue
        box = nodes.container(classes=[*section["classes"], *section["ids"]])
        box += section.children
        section.replace_self(box)


def drop_thebe(app, pagename, templatename, context, doctree) -> None:
    def belongs_to_thebe(file) -> bool:
        body = getattr(file, "attributes", {}).get("body") or ""
        return (
            "thebe" in str(getattr(file, "filename", file) or "")
            or "THEBE_JS_URL" in body
        )

    for key in ("script_files", "css_files"):
        context[key] = [
            file for file in context.get(key, ()) if not belongs_to_thebe(file)
        ]


def drop_launch_buttons_without_address(app) -> None:
    options = app.config.html_theme_options
    if not options.get("repository_url"):
        options["launch_buttons"] = {}


def mend_pages(app, exception) -> None:
    if exception or app.builder.name != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text("utf8")
        repaired = page if app.builder.search else SEARCH_SCRIPTS.sub("", page)
        repaired = ICON_SCRIPT.sub("", repaired)
        for wrong, right in SPOKEN.items():
            repaired = repaired.replace(wrong, right)
        if repaired != page:
            path.write_text(repaired, "utf8")
    for path in Path(app.outdir, "_static/scripts").glob("fontawesome.js*"):
        path.unlink()


def write_in_parallel(app, env) -> None:
    """Write pages on all cores; jupyter-book has no option for it.

    Only now, since pages must be read one by one: sphinx-proof can't merge what two processes read.
    """
    app.parallel = os.cpu_count() or 1


def read_each_page_once(app) -> None:
    """Keep the pages that references to figures look at; Sphinx reads them anew for each one."""
    resolve = StandardDomain._resolve_numref_xref

    class Kept:
        """The environment, with a memory for the pages that are only looked at."""

        def __init__(self, env):
            self.env, self.get_doctree = env, cache(env.get_doctree)

        def __getattr__(self, name):
            return getattr(self.env, name)

    kept: dict[int, Kept] = {}

    def resolve_kept(self, env, *args):
        return resolve(self, kept.setdefault(id(env), Kept(env)), *args)

    StandardDomain._resolve_numref_xref = resolve_kept


def skip_fields(app, what, name, thing, skip, options) -> bool | None:
    """Leave out a field without a sentence of its own; None leaves it to others."""
    text = getattr(thing, "__doc__", None) or ""
    return True if text.startswith("Alias for field number") else None


def setup(app):
    gc.disable()
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("builder-inited", read_each_page_once)
    app.connect("env-updated", write_in_parallel)
    app.connect("builder-inited", drop_launch_buttons_without_address)
    app.connect("doctree-read", unwrap_untitled_sections, priority=400)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", mend_pages, priority=900)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
