"""Boxes and arrows as inline SVG, in the colours of the page: what the book's maps share."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from zlib import crc32

WIDTH, HEIGHT, GAP_X, GAP_Y, LINE = 124, 50, 16, 34, 16


@dataclass(frozen=True)
class Box:
    """A box in a grid: some short lines of text, and a link where there is one."""

    lines: tuple[str, ...]
    column: float
    row: float
    link: str | None = None
    solid: bool = True


def draw(
    boxes: dict[str, Box],
    arrows: list[tuple[str, str]],
    label: str,
    *,
    height: int = HEIGHT,
) -> str:
    """Return an SVG with an arrow from the first to the second box of each pair.

    An arrow that passes rows keeps to the middle of the box where it starts, which is a gap between
    the boxes below if it stands half a column aside of them.
    """
    grid = _Grid(height, f"tip-{crc32(label.encode()):x}")
    columns = 1 + max(box.column for box in boxes.values())
    rows = 1 + max(box.row for box in boxes.values())
    across = columns * (WIDTH + GAP_X) - GAP_X + 4
    down = rows * (height + GAP_Y) - GAP_Y + 4
    paths = "".join(grid.arrow(boxes[a], boxes[b]) for a, b in arrows)
    drawn = "".join(map(grid.box, boxes.values()))
    return (
        f'<svg class="chapter-map" style="max-width: {1.4 * across:.0f}px" '
        f'viewBox="-2 -2 {across:g} {down:g}" role="group" aria-label="{escape(label)}">'
        f'<defs><marker id="{grid.tip}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
        f"</defs>{paths}{drawn}</svg>"
    )


@dataclass(frozen=True)
class _Grid:
    height: int
    tip: str  # the arrow head's name, another one for each picture of a page

    def corner(self, box: Box) -> tuple[float, float]:
        return box.column * (WIDTH + GAP_X), box.row * (self.height + GAP_Y)

    def box(self, box: Box) -> str:
        x, y = self.corner(box)
        lines = [escape(line) for line in box.lines if line]
        top = y + self.height / 2 + 5 - LINE / 2 * (len(lines) - 1)
        text = "".join(
            f'<text x="{x + WIDTH / 2:g}" y="{top + LINE * i:g}">{line}</text>'
            for i, line in enumerate(lines)
        )
        kind = "written" if box.solid else "planned"
        drawn = (
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{WIDTH}" height="{self.height}"'
            f' rx="7"/>{text}'
        )
        return f'<a href="{box.link}">{drawn}</a>' if box.link else drawn

    def arrow(self, first: Box, second: Box) -> str:
        (x1, y1), (x2, y2) = self.corner(first), self.corner(second)
        if first.row == second.row:  # same row: from side to side
            y = y1 + self.height / 2
            points = [(x1 + WIDTH, y), (x2 - 2, y)]
        elif second.row - first.row > 1:  # straight down, then over
            x = x1 + WIDTH / 2
            points = [(x, y1 + self.height), (x, y2 - GAP_Y)]
            aside = (second.column - first.column) * WIDTH / 4
            points.append((x2 + WIDTH / 2 - aside, y2 - 2))
        else:  # shifted, so that arrows of one box don't start in one point
            shift = max(-44, min(44, 22 * (second.column - first.column)))
            points = [
                (x1 + WIDTH / 2 + shift, y1 + self.height),
                (x2 + WIDTH / 2 - shift / 2, y2 - 2),
            ]
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        return (
            f'<path d="M{path}" stroke="currentColor" stroke-width="1.5" fill="none" '
            f'marker-end="url(#{self.tip})"/>'
        )
