"""Repairs of the Jupyter Book 1.x tool chain.

1. sphinx-proof and sphinx-exercise wrap their content in ``section`` nodes without a title, all
   with the same id: duplicate ids in the page, and sphinx-codeautolink crashes on them. They
   become ``container`` nodes.
2. Jupyter Book always loads sphinx-thebe, which declares a constant twice on every page: a
   JavaScript error. Its scripts are dropped.
3. The theme crashes on launch buttons while the repository's address is not set. They are dropped
   until it is.
4. Screen readers: the theme's folding arrows have no name, and the entries of the bibliography
   have a role that was withdrawn.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes

SPOKEN = {
    '<summary><span class="toctree-toggle"': '<summary aria-label="Show or hide the pages below"><span class="toctree-toggle"',
    'role="doc-biblioentry"': 'role="listitem"',
}


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


def name_for_screen_readers(app, exception) -> None:
    if exception or app.builder.name != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text("utf8")
        repaired = page
        for wrong, right in SPOKEN.items():
            repaired = repaired.replace(wrong, right)
        if repaired != page:
            path.write_text(repaired, "utf8")


def setup(app):
    app.connect("builder-inited", drop_launch_buttons_without_address)
    app.connect("doctree-read", unwrap_untitled_sections, priority=400)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", name_for_screen_readers)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
