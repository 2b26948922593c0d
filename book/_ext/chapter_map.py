"""The directive ``chapter-map``: how the chapters depend on each other, drawn from the contents."""

from __future__ import annotations

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

# page: (title in two short lines, column, row, pages it builds on)
CHAPTERS = {
    "01_svd": ("1 SVD and", "Eckart–Young", 1, 0, []),
    "02_power_method": ("2 Power", "method", 0, 1, ["01_svd"]),
    "03_pca": ("3 PCA", "", 1, 1, ["01_svd", "02_power_method"]),
    "04_ppca": ("4 Probabilistic", "PCA", 0, 2, ["03_pca"]),
    "05_kernel_pca": ("5 Kernel PCA", "", 1, 2, ["03_pca"]),
    "08_sparse_pca": ("8 Sparse PCA", "", 2, 2, ["03_pca"]),
    "09_scaling": ("9 Large data", "", 0, 3, ["05_kernel_pca"]),
    "06_centering": ("6 Centering", "", 1, 3, ["05_kernel_pca"]),
    "11_relations": ("11 Relations", "", 2, 3, ["05_kernel_pca"]),
    "07_preimages": ("7 Pre-images", "", 1, 4, ["06_centering"]),
    "10_applications": ("10 Applications", "", 2, 4, ["07_preimages"]),
}
WIDTH, HEIGHT, GAP_X, GAP_Y = 124, 50, 16, 34


class ChapterMap(SphinxDirective):
    """Draw a box for each chapter, linked if it is in this edition, and an arrow for each need."""

    def run(self) -> list[nodes.Node]:
        written = {
            page for page in CHAPTERS if f"book/{page}" in self.env.found_docs
        }
        arrows = [
            _arrow(CHAPTERS[need], chapter)
            for chapter in CHAPTERS.values()
            for need in chapter[4]
        ]
        boxes = [
            _box(page, chapter, page in written)
            for page, chapter in CHAPTERS.items()
        ]
        rows = 1 + max(chapter[3] for chapter in CHAPTERS.values())
        width = 3 * WIDTH + 2 * GAP_X + 4
        height = rows * HEIGHT + (rows - 1) * GAP_Y + 4
        svg = (
            f'<svg class="chapter-map" viewBox="-2 -2 {width} {height}" role="group" '
            f'aria-label="Map of the chapters: {_in_words()}">'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
            f"</defs>{''.join(arrows)}{''.join(boxes)}</svg>"
        )
        return [nodes.raw("", svg, format="html")]


def _corner(chapter: tuple) -> tuple[float, float]:
    return chapter[2] * (WIDTH + GAP_X), chapter[3] * (HEIGHT + GAP_Y)


def _box(page: str, chapter: tuple, written: bool) -> str:
    x, y = _corner(chapter)
    lines = [line for line in chapter[:2] if line]
    top = y + HEIGHT / 2 + 5 - 8 * (len(lines) - 1)
    text = "".join(
        f'<text x="{x + WIDTH / 2}" y="{top + 16 * i}">{line}</text>'
        for i, line in enumerate(lines)
    )
    kind = "written" if written else "planned"
    box = f'<rect class="{kind}" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="7"/>{text}'
    return f'<a href="{page}.html">{box}</a>' if written else box


def _arrow(need: tuple, chapter: tuple) -> str:
    (x1, y1), (x2, y2) = _corner(need), _corner(chapter)
    if need[3] == chapter[3]:  # same row: from side to side
        start, end = (x1 + WIDTH, y1 + HEIGHT / 2), (x2 - 2, y2 + HEIGHT / 2)
    else:
        shift = 22 * (
            chapter[2] - need[2]
        )  # so that arrows of one box don't start in one point
        start, end = (
            (x1 + WIDTH / 2 + shift, y1 + HEIGHT),
            (x2 + WIDTH / 2, y2 - 2),
        )
    return (
        f'<path d="M{start[0]} {start[1]}L{end[0]} {end[1]}" stroke="currentColor" '
        'stroke-width="1.5" fill="none" marker-end="url(#tip)"/>'
    )


def _in_words() -> str:
    """Say for a screen reader what the arrows say."""
    name = {
        page: " ".join(filter(None, chapter[:2]))
        for page, chapter in CHAPTERS.items()
    }
    needs = [
        f"{name[page]} builds on {' and '.join(name[need] for need in chapter[4])}"
        for page, chapter in CHAPTERS.items()
        if chapter[4]
    ]
    return "; ".join(needs) + "."


def setup(app):
    app.add_directive("chapter-map", ChapterMap)
    return {"version": "1", "parallel_read_safe": True}
