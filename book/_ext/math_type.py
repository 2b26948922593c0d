"""Keep an inline formula and the comma, bracket or ending that belongs to it on one line.

A browser may break a line before and after a formula, which it sees as a picture: lines would
begin with "." or "," or "-means". What touches the formula is put with it into one ``nobr``.
A number and its "%" stay together, too.
"""

from __future__ import annotations

import re

from docutils import nodes

BEFORE = re.compile(r"[^\s]{1,12}\Z")
AFTER = re.compile(r"\A(?:\u00a0?[^\s]{1,14}(?=\s|\Z)|[.,;:!?)\]’'”%-]+)")
PERCENT = re.compile(r"(?<=\d) (?=%)")
FIRST_PERCENT = re.compile(r"\A %")


def bind_inline_math(app, doctree: nodes.document) -> None:
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        if not isinstance(parent, nodes.TextElement) or "nobr" in parent.get(
            "classes", []
        ):
            continue
        place = parent.index(
            formula
        )  # of texts index() would find the first that is equal
        group: list[nodes.Node] = [formula]
        before = parent[place - 1] if place else None
        if isinstance(before, nodes.Text) and (match := BEFORE.search(before)):
            group.insert(0, nodes.Text(match[0]))
            parent[place - 1] = nodes.Text(before[: match.start()])
        after = parent[place + 1] if place + 1 < len(parent) else None
        if isinstance(after, nodes.Text) and (match := AFTER.match(after)):
            group.append(nodes.Text(match[0]))
            parent[place + 1] = nodes.Text(after[match.end() :])
        if len(group) > 1:
            bound = nodes.inline(classes=["nobr"])
            parent.replace(formula, bound)
            bound.extend(group)


def bind_percent(app, doctree: nodes.document) -> None:
    """Put a space that does not break between a number, or a formula, and its "%"."""
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        if isinstance(
            parent, nodes.literal | nodes.FixedTextElement | nodes.math
        ):
            continue
        bound = PERCENT.sub("\u00a0", text)
        place = parent.index(text)
        if place and isinstance(parent[place - 1], nodes.math):
            bound = FIRST_PERCENT.sub("\u00a0%", bound)
        if bound != text:
            parent.replace(text, nodes.Text(bound))


def setup(app):
    app.connect("doctree-read", bind_percent, priority=429)
    app.connect("doctree-read", bind_inline_math, priority=430)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
