"""What the chapters show: one look for all figures, and the library's source beside the text."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "ORANGE",
    "PURPLE",
    "SKY",
    "use_book_style",
    "show_source",
]

# Okabe and Ito's palette: told apart with every common kind of colour blindness, and in grey.
BLACK, BLUE, ORANGE, GREEN, PURPLE, SKY = (
    "#000000",
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
)


def use_book_style() -> None:
    """Set matplotlib to the book's look: large type on small figures, readable on a phone."""
    try:
        import matplotlib as mpl
        from cycler import cycler
    except ImportError:
        raise ImportError(
            "Figures need matplotlib: pip install 'kpca_edu[book]' brings it."
        ) from None
    mpl.rcParams.update(
        {
            "figure.figsize": (5.6, 3.8),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "savefig.dpi": 160,
            "font.size": 12,
            "axes.titlesize": 13,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PURPLE, SKY, BLACK]),
            "grid.color": "#dddddd",
            "lines.linewidth": 2,
            "legend.frameon": False,
            "image.cmap": "gray",
        }
    )


def show_source(function: Callable) -> Source:
    """Return the source of a function or class, shown as highlighted code at the end of a cell."""
    return Source(textwrap.dedent(inspect.getsource(function)).rstrip())


@dataclass(frozen=True)
class Source:
    """A piece of Python that Jupyter and the book show highlighted, a terminal as it is."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"
