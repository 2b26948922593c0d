"""The directive ``chapter-map``: which chapter builds on which."""

from __future__ import annotations

from diagram import Box, draw
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

# page: (title in two short lines, column, row, pages it builds on). What builds on what is a
# judgement and stands here; whether a chapter exists is read from the contents.
CHAPTERS = {
    "01_svd": ("1 SVD and", "Eckart–Young", 1, 0, []),
    "02_power_method": ("2 Power", "method", 0, 1, ["01_svd"]),
    "03_pca": ("3 PCA", "", 1, 1, ["01_svd", "02_power_method"]),
    "04_ppca": ("4 Probabilistic", "PCA", 0, 2, ["03_pca"]),
    "05_kernel_pca": ("5 Kernel PCA", "", 1, 2, ["03_pca"]),
    "08_sparse_pca": ("8 Sparse PCA", "", 2, 2, ["03_pca"]),
    "09_scaling": ("9 Large data", "", 0, 3, ["05_kernel_pca"]),
    "06_centering": ("6 Centring", "", 1, 3, ["05_kernel_pca"]),
    "11_relations": ("11 Relations", "", 2, 3, ["05_kernel_pca"]),
    "07_preimages": ("7 Pre-images", "", 1, 4, ["06_centering"]),
    "10_applications": ("10 Applications", "", 2, 4, ["07_preimages"]),
}


class ChapterMap(SphinxDirective):
    """Draw a box for each chapter, linked if it is in this edition, and an arrow for each need."""

    def run(self) -> list[nodes.Node]:
        boxes = {}
        for page, (first, second, column, row, _) in CHAPTERS.items():
            written = f"book/{page}" in self.env.found_docs
            link = f"{page}.html" if written else None
            boxes[page] = Box((first, second), column, row, link, written)
        arrows = [
            (need, page)
            for page, chapter in CHAPTERS.items()
            for need in chapter[4]
        ]
        svg = draw(boxes, arrows, f"Map of the chapters: {_in_words()}")
        return [nodes.raw("", svg, format="html")]


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
