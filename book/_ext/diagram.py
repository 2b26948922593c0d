"""Boxes and arrows as inline SVG, in the colours of the page: what the book's maps share."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, GAP_X, GAP_Y = 124, 50, 16, 34


@dataclass(frozen=True)
class Box:
    """A box in a grid: up to two short lines of text, and a link where there is one."""

    lines: tuple[str, ...]
    column: float
    row: int
    link: str | None = None
    solid: bool = True

    @property
    def corner(self) -> tuple[float, float]:
        return self.column * (WIDTH + GAP_X), self.row * (HEIGHT + GAP_Y)


def draw(
    boxes: dict[str, Box], arrows: list[tuple[str, str]], label: str
) -> str:
    """Return an SVG with an arrow from the first to the second box of each pair."""
    columns = 1 + max(box.column for box in boxes.values())
    rows = 1 + max(box.row for box in boxes.values())
    width = columns * (WIDTH + GAP_X) - GAP_X + 4
    height = rows * (HEIGHT + GAP_Y) - GAP_Y + 4
    paths = "".join(_arrow(boxes[a], boxes[b]) for a, b in arrows)
    return (
        f'<svg class="chapter-map" style="max-width: {1.4 * width:.0f}px" '
        f'viewBox="-2 -2 {width} {height}" role="group" aria-label="{escape(label)}">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
        f"</defs>{paths}{''.join(map(_box, boxes.values()))}</svg>"
    )


def _box(box: Box) -> str:
    x, y = box.corner
    lines = [escape(line) for line in box.lines if line]
    top = y + HEIGHT / 2 + 5 - 8 * (len(lines) - 1)
    text = "".join(
        f'<text x="{x + WIDTH / 2}" y="{top + 16 * i}">{line}</text>'
        for i, line in enumerate(lines)
    )
    kind = "written" if box.solid else "planned"
    drawn = (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="7"/>'
        f"{text}"
    )
    return f'<a href="{box.link}">{drawn}</a>' if box.link else drawn


def _arrow(first: Box, second: Box) -> str:
    (x1, y1), (x2, y2) = first.corner, second.corner
    if first.row == second.row:  # same row: from side to side
        start, end = (x1 + WIDTH, y1 + HEIGHT / 2), (x2 - 2, y2 + HEIGHT / 2)
    else:  # shifted, so that arrows of one box don't start in one point
        shift = max(-44, min(44, 22 * (second.column - first.column)))
        start = (x1 + WIDTH / 2 + shift, y1 + HEIGHT)
        end = (x2 + WIDTH / 2 - shift / 2, y2 - 2)
    return (
        f'<path d="M{start[0]} {start[1]}L{end[0]} {end[1]}" stroke="currentColor" '
        'stroke-width="1.5" fill="none" marker-end="url(#tip)"/>'
    )
