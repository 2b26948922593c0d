"""Links, tables and docstrings as nodes made by hand: what the pages of reference share."""

from __future__ import annotations

import re
from collections.abc import Iterable

from docutils import nodes
from sphinx import addnodes

MARKUP = re.compile(
    r"``(?P<literal>[^`]+)``"
    r"|:(?P<role>[a-z]+(?::[a-z]+)?):`(?P<target>[^`]+)`"
    r"|(?<!\w)\*(?P<emphasis>[^*\s][^*]*)\*(?!\w)"
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZΑ-Ω`:])")


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def reference(
    domain: str,
    kind: str,
    target: str,
    page: str,
    text: nodes.Node | None = None,
) -> addnodes.pending_xref:
    """Return a link that Sphinx resolves; without a text it reads as the target's number."""
    return addnodes.pending_xref(
        "",
        text or nodes.inline(target, target),
        refdomain=domain,
        reftype=kind,
        reftarget=target,
        refexplicit=text is not None,
        refdoc=page,
        refwarn=True,
    )


def function_link(name: str, page: str, shown: str = "") -> nodes.Node:
    """Return a link to a function of the library: its short name, as code."""
    shown = shown or name.rsplit(".", 1)[-1]
    literal = nodes.literal(shown, shown, classes=["xref", "py"])
    return reference("py", "obj", name, page, literal)


def joined(parts: Iterable[nodes.Node]) -> list[nodes.Node]:
    """Return the parts with commas between them."""
    out: list[nodes.Node] = []
    for part in parts:
        out += [nodes.Text(", "), part] if out else [part]
    return out


def first_sentence(docstring: str) -> str:
    """Return the sentence that a docstring begins with."""
    paragraph = " ".join(docstring.strip().split("\n\n")[0].split())
    return SENTENCE.split(paragraph)[0]


def docstring_nodes(text: str, module: str, page: str) -> list[nodes.Node]:
    """Return a line of a docstring as nodes: code, math, emphasis, links to equations."""
    out: list[nodes.Node] = []
    end = 0
    for match in MARKUP.finditer(text):
        out.append(nodes.Text(text[end : match.start()]))
        out.append(_marked(match, module, page))
        end = match.end()
    return [*out, nodes.Text(text[end:])]


def _marked(match: re.Match, module: str, page: str) -> nodes.Node:
    if code := match["literal"]:
        return nodes.literal(code, code)
    if word := match["emphasis"]:
        return nodes.emphasis(word, word)
    role, target = match["role"].removeprefix("py:"), match["target"]
    if role == "eq":
        return reference("math", "eq", target, page)
    if role == "prf:ref":
        return reference("prf", "ref", target, page)
    if role == "math":
        return nodes.math(target, target)
    name = target.lstrip("~")
    if role in {"func", "class", "meth", "obj", "attr"}:
        full = name if name.startswith("kpca_edu.") else f"{module}.{name}"
        return function_link(full, page)
    return nodes.Text(name)


def table(
    kind: str,
    columns: list[str],
    rows: list[list[list[nodes.Node]]],
    bare: str = "",
) -> nodes.table:
    """Return a table of class ``kind``; the column named ``bare`` gets no paragraphs."""
    group = nodes.tgroup(cols=len(columns))
    group += [nodes.colspec(colwidth=1) for _ in columns]
    head, body = nodes.thead(), nodes.tbody()
    group += [head, body]

    def line(cells: list[list[nodes.Node]], bare: str) -> nodes.row:
        row = nodes.row()
        for name, content in zip(columns, cells, strict=True):
            cell = nodes.entry(classes=[f"{kind}-{name.lower()}"])
            if name == bare:
                cell += content
            elif content:
                cell += nodes.paragraph("", "", *content)
            row += cell
        return row

    head += line([[nodes.Text(name)] for name in columns], "")
    body += [line(row, bare) for row in rows]
    return nodes.table("", group, classes=[kind])


def row_filter(name: str, label: str, example: str) -> nodes.raw:
    """Return the field of ``filter.js``, which hides the rows that lack what is typed."""
    return html(
        f'<form class="row-filter" role="search" aria-label="{name}">'
        f'<label for="row-words">{label}</label>'
        '<input type="search" id="row-words" autocomplete="off" spellcheck="false"'
        f' placeholder="{example}" aria-describedby="row-count">'
        '<p id="row-count" role="status"></p></form>'
    )


def add_filter_script(app, pagename, templatename, context, doctree) -> None:
    """Load the script on the pages that have a field to type in, and on no other."""
    if doctree is not None and any(
        'class="row-filter"' in raw.astext()
        for raw in doctree.findall(nodes.raw)
    ):
        app.add_js_file("filter.js", loading_method="defer")
