"""Folds: what only some readers need is one click or key away, and printed in full.

One kind of fold for the whole book, a ``<details>`` that works without a script: proofs and
background marked ``dropdown``, answers and solutions written as ``<details>`` in the text, and
the code that ``code_cells.py`` puts away.
"""

from __future__ import annotations

import re

from docutils import nodes

OPENING = re.compile(r"\s*<details[^>]*>\s*<summary>(.*?)</summary>\s*$", re.S)
CLOSING = re.compile(r"\s*</details>\s*$")


class fold(nodes.General, nodes.Element):
    """A ``fold_summary``, always seen, and what it hides."""


class fold_summary(nodes.General, nodes.TextElement):
    """The line that opens a fold."""


def make_fold(kind: str, summary: str | list[nodes.Node], *content) -> fold:
    """Return a fold; ``kind`` becomes its class ``fold-kind``."""
    line = fold_summary()
    line += nodes.Text(summary) if isinstance(summary, str) else summary
    return fold("", line, *content, classes=["fold", f"fold-{kind}"])


def fold_html_details(parent: nodes.Element) -> None:
    """Turn ``<details>`` … ``</details>`` among the children, and below them, into folds."""
    open_folds: list[fold] = []
    children: list[nodes.Node] = []
    for child in list(parent.children):
        html = child.astext() if isinstance(child, nodes.raw) else ""
        if opening := OPENING.match(html):
            kind = re.sub(r"\W+", "-", opening[1].lower()).strip("-")
            open_folds.append(make_fold(kind, opening[1]))
        elif open_folds and CLOSING.match(html):
            closed = open_folds.pop()
            (open_folds[-1] if open_folds else children).append(closed)
        elif open_folds:
            open_folds[-1].append(child)
        else:
            children.append(child)
    if open_folds:  # never closed here: leave the page as it was written
        return
    if len(children) != len(parent.children):
        parent.children = []
        parent.extend(children)
    for child in parent.children:
        if isinstance(child, nodes.Element) and not isinstance(
            child, nodes.TextElement
        ):
            fold_html_details(child)


def fold_dropdowns(doctree: nodes.document) -> None:
    """Fold the admonitions of class ``dropdown``: their title is the line that stays."""
    for box in list(doctree.findall(nodes.admonition)):
        if "dropdown" in box["classes"] and isinstance(box[0], nodes.title):
            kinds = [name for name in box["classes"] if name != "dropdown"]
            folded = make_fold("box", box[0].children, *box.children[1:])
            folded["classes"] += kinds
            folded["ids"] = box["ids"]
            box.parent.replace(box, folded)


def set_proofs(doctree: nodes.document) -> None:
    """Begin a proof with an italic "Proof." and end it with ∎; fold it where it is long."""
    for box in list(doctree.findall(nodes.admonition)):
        if box["classes"][:2] != ["proof", "proof"]:
            continue
        _without_first_word(box)
        _append_tombstone(box)
        word = nodes.emphasis("", "Proof.", classes=["proof-word"])
        if "dropdown" in box["classes"]:
            new = make_fold("proof", [word], *box.children)
        else:
            first = box[0]
            if not isinstance(first, nodes.paragraph):
                first = nodes.paragraph()
                box.insert(0, first)
            first.insert(0, [word, nodes.Text(" ")])
            new = nodes.container("", *box.children, classes=["proof-text"])
        box.parent.replace(box, new)  # without its id, which all proofs share


def _without_first_word(box: nodes.admonition) -> None:
    """Take away the "Proof. " that sphinx-proof writes into the first line of the text."""
    for text in box.findall(nodes.Text):
        if text.startswith("Proof."):
            rest = nodes.Text(text.removeprefix("Proof.").lstrip())
            text.parent.replace(text, rest)
        break
    first = box[0]
    if (
        isinstance(first, nodes.paragraph)
        and not first.astext()
        and len(box) > 1
    ):
        box.remove(first)


def _append_tombstone(box: nodes.admonition) -> None:
    end = nodes.inline("", "∎", classes=["qed"])
    last = box[-1]
    while isinstance(
        last, nodes.bullet_list | nodes.enumerated_list | nodes.list_item
    ):
        last = last[-1]
    if isinstance(last, nodes.paragraph):
        last += [nodes.Text(" "), end]
    else:
        box += nodes.paragraph("", "", end, classes=["qed-line"])


def mark_opening_cards(doctree: nodes.document) -> None:
    """Give the box "This chapter", or "This page", a class of its own."""
    for box in doctree.findall(nodes.admonition):
        title = box[0].astext() if isinstance(box[0], nodes.title) else ""
        if title in ("This chapter", "This page"):
            box["classes"].append("opening-card")


def fold_everything(app, doctree: nodes.document) -> None:
    mark_opening_cards(doctree)
    fold_html_details(doctree)
    set_proofs(doctree)
    fold_dropdowns(doctree)


def visit_fold(self, node) -> None:
    self.body.append(self.starttag(node, "details"))


def depart_fold(self, node) -> None:
    self.body.append("</div></details>\n")


def visit_fold_summary(self, node) -> None:
    self.body.append("<summary>")


def depart_fold_summary(self, node) -> None:
    self.body.append('</summary>\n<div class="fold-body">\n')


def visit_plainly(self, node) -> None:
    """Other builders show what is inside."""


def setup(app):
    plain = (visit_plainly, visit_plainly)
    app.add_node(fold, html=(visit_fold, depart_fold), latex=plain, text=plain)
    app.add_node(
        fold_summary,
        html=(visit_fold_summary, depart_fold_summary),
        latex=plain,
        text=plain,
    )
    app.connect("doctree-read", fold_everything, priority=410)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
