"""The directive ``chapter-map``: which chapter builds on which."""

from __future__ import annotations

import textwrap
from html import escape

from contents import ROOT, Chapter, chapters
from diagram import Box, draw
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

# chapter: (column, row, chapters to read first). What builds on what is a judgement and stands
# here; which chapters there are, their numbers and their titles are read from the contents.
PLACES = {
    "01_svd": (1.5, 0, []),
    "03_pca": (0.5, 1, ["01_svd"]),
    "06_kernels": (1.5, 1, ["01_svd"]),
    "02_power_method": (2.5, 1, ["01_svd"]),
    "10_sparse_pca": (0, 2, ["03_pca"]),
    "04_ppca": (1, 2, ["03_pca"]),
    "07_kernel_pca": (2, 2, ["03_pca", "06_kernels"]),
    "11_sketching": (3, 2, ["02_power_method", "07_kernel_pca"]),
    "12_streaming": (0, 3, ["03_pca"]),
    "05_choosing_k": (1, 3, ["04_ppca"]),
    "08_centering": (2, 3, ["07_kernel_pca"]),
    "09_preimages": (3, 3, ["08_centering"]),
}
# Short chapters that use what others have built: drawn below, with the numbers of those.
AT_WORK = {
    "13_faces": ["03_pca"],
    "14_documents": ["01_svd", "03_pca"],
    "15_genes": ["03_pca", "07_kernel_pca"],
    "16_digits": ["09_preimages"],
    "17_novelty": ["07_kernel_pca"],
    "18_relations": ["08_centering"],
}
HEIGHT = 78  # of a box: up to four lines
LETTERS = 15  # in a line of a box


class ChapterMap(SphinxDirective):
    """Draw a box for each chapter of the contents, and an arrow for each need."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ROOT / "_toc.yml"))
        there = {c.stem: c for c in chapters()}
        html = (
            f'<div class="map-drawn">{chapter_map(there)}</div>{as_list(there)}'
        )
        return [nodes.raw("", html, format="html")]


def chapter_map(there: dict[str, Chapter]) -> str:
    """Return the map of the chapters that are there, as SVG."""
    boxes = {
        stem: Box(_title(there[stem]), column, row, f"{stem}.html")
        for stem, (column, row, _) in PLACES.items()
        if stem in there
    }
    rows = sorted({box.row for box in boxes.values()})
    boxes = {
        stem: Box(box.lines, box.column, rows.index(box.row), box.link)
        for stem, box in boxes.items()
    }
    arrows = [
        (need, stem)
        for stem in boxes
        for need in PLACES[stem][2]
        if need in boxes
    ]
    below = [stem for stem in AT_WORK if stem in there]
    for place, stem in enumerate(below):
        across = 0.5 + place % 3
        lines = (*_title(there[stem]), f"after {_numbers(stem, there)}")
        row = len(rows) + 0.12 + 0.82 * (place // 3)
        boxes[stem] = Box(lines, across, row, f"{stem}.html")
    label = f"Map of the chapters: {in_words(there)}"
    return draw(boxes, arrows, label, height=HEIGHT)


def _title(chapter: Chapter) -> tuple[str, ...]:
    title = f"{chapter.number} {chapter.title}"
    return tuple(textwrap.wrap(title, LETTERS, max_lines=4, placeholder=" …"))


def _needs(stem: str) -> list[str]:
    return PLACES[stem][2] if stem in PLACES else AT_WORK[stem]


def _numbers(stem: str, there: dict[str, Chapter]) -> str:
    return ", ".join(str(there[n].number) for n in _needs(stem) if n in there)


def in_words(there: dict[str, Chapter]) -> str:
    """Say for a screen reader what the arrows say."""
    needs = [
        f"{chapter.number} {chapter.title} builds on {_numbers(stem, there).replace(', ', ' and ')}"
        for stem, chapter in there.items()
        if stem in PLACES or stem in AT_WORK
        if _numbers(stem, there)
    ]
    return "; ".join(needs) + "."


def as_list(there: dict[str, Chapter]) -> str:
    """Return the same as a list, for screens on which the boxes would be too small to read."""
    items = [
        f'<li><a href="{stem}.html">{chapter.number} {escape(chapter.title)}</a>'
        + (f": after {numbers}" if (numbers := _numbers(stem, there)) else "")
        + "</li>"
        for stem, chapter in there.items()
        if stem in PLACES or stem in AT_WORK
    ]
    return f'<ul class="map-listed">{"".join(items)}</ul>'


def setup(app):
    app.add_directive("chapter-map", ChapterMap)
    return {"version": "1", "parallel_read_safe": True}
