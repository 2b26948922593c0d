"""Code cells as a reader wants them: results first, the code behind them a click away.

- **Set-up** (tag ``setup``): one line "Imports and set-up" that unfolds.
- **Figures**: the code that draws one (tag ``hide-input``) is folded under it; a figure is normal
  or ``wide``; one tagged ``live`` gets a place where a script can make it move.
- **Checks** (first line ``# check: …``, output that begins with ✓): the line that was printed,
  which unfolds into the cell.
- **Listings** (``show_source(f)`` alone): the source under a title that links to the reference,
  without the call that made it.
- **Exercises**: statement, hints, place for the answer and solution in one box.

What only tools read (``# check: …``, ``# fmt: skip``) is not shown.
"""

from __future__ import annotations

import ast
import html
import importlib.util
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from folds import fold, make_fold
from sphinx.addnodes import pending_xref
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
CHECK = re.compile(r"^# check: .*\n?", re.M)
FOR_TOOLS = re.compile(
    r"^[ \t]*# (?:check: .*|fmt: (?:off|on))\n|[ \t]*# (?:check: .*|fmt: skip)$",
    re.M,
)
LISTING = re.compile(r"(?:# .*\n)*show_source\((?P<shown>.+)\);?\s*")
DEFINED = re.compile(r"^ *(?:def|class) (\w+)", re.M)


def code_cells(doctree: nodes.Node) -> list[nodes.container]:
    return [
        box
        for box in doctree.findall(nodes.container)
        if box.get("nb_element") == "cell_code"
    ]


def part(cell: nodes.container, name: str) -> nodes.container | None:
    """Return the source or the output of a cell, if it has one."""
    wanted = f"cell_code_{name}"
    return next(
        (c for c in cell.children if c.get("nb_element") == wanted), None
    )


def source(cell: nodes.container) -> str:
    code = part(cell, "source")
    return code.astext() if code is not None else ""


def tags(cell: nodes.container) -> set[str]:
    return set(cell["cell_metadata"].get("tags", []))


def arrange_cells(app, doctree: nodes.document) -> None:
    for cell in code_cells(doctree):
        prompt = cell.get("prompt_show", "")
        for key in ("hide_mode", "prompt_show", "prompt_hide"):
            cell.attributes.pop(key, None)
        if "solution" in tags(cell) or 'check("' in source(cell):
            continue  # parts of an exercise's box
        if is_listing(cell):
            make_listing(cell)
        elif not make_check(cell):
            fold_code(cell, prompt)
    box_exercises(doctree)
    for cell in code_cells(doctree):
        hide_words_for_tools(cell)
        arrange_figures(app.env, cell)


# Folds


def fold_code(cell: nodes.container, prompt: str) -> None:
    """Fold what the author marked; the code that drew a figure goes below it."""
    code, output = part(cell, "source"), part(cell, "output")
    if "setup" in tags(cell):
        title, content = "Imports and set-up", cell.children
    elif "hide-cell" in tags(cell):
        custom = (
            re.sub(r"^Show ", "", prompt)
            if "code cell" not in prompt
            else "code and output"
        )
        title, content = custom[:1].upper() + custom[1:], cell.children
    elif "hide-input" in tags(cell) and code is not None:
        draws = output is not None and next(output.findall(nodes.image), None)
        cell.children = [] if output is None else [output]
        cell += make_fold("code", "Plot code" if draws else "Code", code)
        return
    else:
        return
    cell.children = []
    cell += make_fold("code", title, *content)


# Checks


def make_check(cell: nodes.container) -> bool:
    """Turn a check that prints "✓ …" into that line; return False for every other cell."""
    output = part(cell, "output")
    if not CHECK.match(source(cell)) or output is None:
        return False
    printed = output[0]
    text = printed.astext()
    if not text.startswith("✓"):
        return False
    verdict, _, rest = text.partition("\n")
    if rest.strip():
        for block in [printed, *printed.findall(nodes.literal_block)]:
            if isinstance(block, nodes.literal_block):
                block.rawsource, block.children = rest, []
                block += nodes.Text(rest)
                break
    else:
        output.remove(printed)
        if not output.children:
            cell.remove(output)
    tick = nodes.inline("", "✓", classes=["tick"])
    content = cell.children
    cell.children = []
    cell += make_fold("check", [tick, nodes.Text(verdict[1:])], *content)
    return True


def hide_words_for_tools(cell: nodes.container) -> None:
    """Take what only tools read out of the code, and out of the source that a listing shows."""
    for box in cell.findall(nodes.container):
        is_code = box.get("nb_element") == "cell_code_source"
        if not is_code and box.get("mime_type") != "text/markdown":
            continue
        for block in list(box.findall(nodes.literal_block)):
            text = FOR_TOOLS.sub("", block.astext())
            block.rawsource, block.children = text, []
            block += nodes.Text(text)


# Listings


def is_listing(cell: nodes.container) -> bool:
    if "listing" in tags(cell):
        return True
    return LISTING.fullmatch(source(cell)) is not None


def make_listing(cell: nodes.container) -> None:
    """Put a title over the source, and take away the call that showed it."""
    code, output = part(cell, "source"), part(cell, "output")
    if output is None:
        return
    named = LISTING.fullmatch(source(cell))
    defined = DEFINED.search(output.astext())
    name = (
        named["shown"]
        if named and re.fullmatch(r"[\w.]+", named["shown"])
        else ""
    )
    name = name or (defined[1] if defined else "")
    if code is not None:
        cell.remove(code)
    cell["classes"].append("listing")
    title = nodes.paragraph("", "Source: ", classes=["listing-title"])
    title += _linked(name)
    cell.insert(0, title)


def _linked(name: str) -> nodes.Node:
    """Return the name as a link to the reference, or as code where nothing has that name."""
    short = name.split(".")[-1]
    owner = ".".join(name.split(".")[-2:])
    names = library_names()
    full = names.get(owner) or names.get(short)
    shown = nodes.literal(
        "", owner if names.get(owner) and owner[0].isupper() else short
    )
    if not full:
        return shown
    return pending_xref(
        "",
        shown,
        refdomain="py",
        reftype="obj",
        reftarget=full,
        refexplicit=True,
        refwarn=True,
    )


@cache
def library_names() -> dict[str, str]:
    """Return {name or Class.method: its full dotted name} of all that the library defines."""
    root = Path(importlib.util.find_spec("kpca_edu").origin).parent
    names: dict[str, str] = {}
    for path in sorted(root.glob("*.py")):
        module = f"kpca_edu.{path.stem}"
        for node in ast.parse(path.read_text("utf8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.setdefault(node.name, f"{module}.{node.name}")
            for method in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(method, ast.FunctionDef):
                    name = f"{node.name}.{method.name}"
                    names.setdefault(name, f"{module}.{name}")
    return names


def number_equations_in_listings(app, exception) -> None:
    """Write "(1.1)", as a link, where a shown docstring has a role for an equation.

    Only now, in the finished pages, where the numbers are known.
    """
    if exception or app.builder.name != "html":
        return
    equations = app.env.get_domain("math").equations
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text("utf8")
        if 'class="sd"' not in page:
            continue
        docname = path.relative_to(app.outdir).with_suffix("").as_posix()

        def number(match: re.Match, docname=docname) -> str:
            label = match[1]
            if label not in equations:
                return f"({label})"
            home = equations[label][0]
            numbers = app.env.toc_fignumbers.get(home, {}).get(
                "displaymath", {}
            )
            parts = numbers.get(f"equation-{label}", ())
            shown = ".".join(map(str, parts)) or str(equations[label][1])
            target = (
                app.builder.get_relative_uri(docname, home)
                if home != docname
                else ""
            )
            return f'<a href="{html.escape(target)}#equation-{label}">({shown})</a>'

        def docstring(match: re.Match, number=number) -> str:
            text = re.sub(r":eq:`([\w-]+)`", number, match[0])
            return re.sub(
                r":(?:py:)?\w+:`~?(?:[\w.]+\.)?(\w+)`", r"``\1``", text
            )

        repaired = re.sub(
            r'<span class="sd">.*?</span>', docstring, page, flags=re.S
        )
        if repaired != page:
            path.write_text(repaired, "utf8")


# Figures


def arrange_figures(env, cell: nodes.container) -> None:
    """Tell the figure how wide it is and whether it is a picture; make room for a live one."""
    for figure in cell.findall(nodes.figure):
        figure["align"] = "center"
        images = list(figure.findall(nodes.image))
        if any("wide" in image["classes"] for image in images):
            figure["classes"].append("wide")
        if "photo" in tags(cell):
            figure["classes"].append("photo")
    live = cell["cell_metadata"].get("live")
    if "live" in tags(cell) and live:
        bundle = next(
            (
                box
                for box in cell.findall(nodes.container)
                if box.get("nb_element") == "mime_bundle"
            ),
            None,
        )
        if bundle is None:
            return
        module, figure = (
            html.escape(str(live[key])) for key in ("module", "figure")
        )
        start = f'<div class="live-figure" data-live-module="{module}" data-live-figure="{figure}">'
        where = bundle.parent.index(bundle)
        bundle.parent.insert(where + 1, nodes.raw("", "</div>", format="html"))
        bundle.parent.insert(where, nodes.raw("", start, format="html"))
        env.metadata[env.docname].setdefault("live_modules", []).append(module)


def add_live_scripts(app, pagename, templatename, context, doctree) -> None:
    """Load ``_static/live/<module>.js`` on the pages that have such a figure, where it exists."""
    for module in sorted(
        set(app.env.metadata.get(pagename, {}).get("live_modules", []))
    ):
        for folder in app.config.html_static_path:
            if Path(app.srcdir, folder, "live", f"{module}.js").exists():
                app.add_js_file(f"live/{module}.js", type="module")
                break


# Exercises


def box_exercises(doctree: nodes.document) -> None:
    """Put hints, answer and solution, which follow the statement, into its box."""
    for box in list(doctree.findall(_is_exercise)):
        parent = box.parent
        start = parent.index(box) + 1
        answer: list[nodes.Node] = []
        solution: list[nodes.Node] = []
        while start < len(parent) and _belongs(parent[start], box["label"]):
            found = parent.pop(start)
            if isinstance(found, fold):
                solution += found.children[1:]
            elif "solution" in tags(found):
                solution.append(found)
            else:
                if (output := part(found, "output")) is not None:
                    found.remove(output)  # "not yet", of no use on a page
                answer.append(found)
        folds = [
            make_fold(
                "hint", f"Hint {i}", nodes.paragraph("", "", *_with_code(hint))
            )
            for i, hint in enumerate(hints(box["label"]), 1)
        ]
        if answer:
            folds.append(make_fold("answer", "Your answer", *answer))
        if solution:
            folds.append(make_fold("solution", "Solution", *solution))
        field = f'<div class="exercise-field" data-exercise="{html.escape(box["label"])}"></div>'
        box += nodes.raw("", field, format="html")
        box += nodes.container("", *folds, classes=["exercise-folds"])


def _is_exercise(node: nodes.Node) -> bool:
    return node.__class__.__name__ in (
        "exercise_node",
        "exercise_enumerable_node",
    )


def _belongs(node: nodes.Node, label: str) -> bool:
    if isinstance(node, fold):
        return "fold-solution" in node["classes"]
    if (
        not isinstance(node, nodes.container)
        or node.get("nb_element") != "cell_code"
    ):
        return False
    return "solution" in tags(node) or f'check("{label}"' in source(node)


def _with_code(text: str) -> list[nodes.Node]:
    """Return the words of a hint, with what stands in backticks as code."""
    pieces = enumerate(re.split(r"`+([^`]+)`+", text))
    return [
        nodes.literal("", piece) if i % 2 else nodes.Text(piece)
        for i, piece in pieces
    ]


@cache
def hints(label: str) -> tuple[str, ...]:
    """Return the hints that the checker of an exercise gives, from gentle to plain."""
    try:
        import kpca_edu.exercises  # noqa: F401, fills the registry
        from kpca_edu.exercises.checking import REGISTRY
    except Exception as error:
        LOGGER.warning("The hints cannot be read: %s", error)
        return ()
    return REGISTRY[label].hints if label in REGISTRY else ()


def setup(app):
    app.connect("doctree-read", arrange_cells, priority=420)
    app.connect("html-page-context", add_live_scripts)
    app.connect("build-finished", number_equations_in_listings, priority=900)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
