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
    "listing_problems",
]

MOST_LINES = 25  # of a listing, signature and docstring included

# Okabe and Ito's palette: told apart with every common kind of colour blindness, and in grey.
BLACK, BLUE, ORANGE, GREEN, PURPLE, SKY = (
    "#000000",
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
)

STYLE = {  # large type on small figures
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
    "grid.color": "#dddddd",
    "lines.linewidth": 2,
    "legend.frameon": False,
    "image.cmap": "gray",
}


def use_book_style() -> None:
    """Set matplotlib to the book's look: large type on small figures, readable on a phone."""
    try:
        from cycler import cycler
        from matplotlib import style
    except ImportError:
        raise ImportError(
            "Figures need matplotlib: pip install 'kpca_edu[book]' brings it."
        ) from None
    colours = cycler(color=[BLUE, ORANGE, GREEN, PURPLE, SKY, BLACK])
    style.use(STYLE | {"axes.prop_cycle": colours})


def show_source(function: Callable | property) -> Source:
    """Return the source of a function or class, shown as highlighted code at the end of a cell.

    A listing is public and has at most 25 lines, signature and docstring included: see
    :func:`listing_problems`.
    """
    return Source(_source(function))


def listing_problems(function: Callable | property) -> list[str]:
    """Say what keeps a function or class from being shown in the book; an empty list if nothing.

    A reader should be able to call what the page shows, and to take it in at one glance.

    >>> listing_problems(show_source)
    []
    >>> listing_problems(_source)
    ['_source is private: show the public function that calls it, or give it a public name.']
    """
    bare = _function(function)
    name = bare.__qualname__
    problems = []
    if any(part.startswith("_") and not part.endswith("__") for part in name.split(".")):
        problems.append(
            f"{name} is private: show the public function that calls it, or give it a public name."
        )
    if "._engine" in bare.__module__:
        problems.append(f"{name} belongs to the engine, which the book does not show.")
    if (lines := len(_source(function).splitlines())) > MOST_LINES:
        problems.append(f"{name} has {lines} lines: at most {MOST_LINES} can be read at a glance.")
    return problems


def _function(shown: Callable | property) -> Callable:
    """Return what a method or property was defined as."""
    defined = shown.fget if isinstance(shown, property) else shown
    assert defined is not None, "a property without a getter has no source to show"
    return inspect.unwrap(defined)


def _source(function: Callable | property) -> str:
    return textwrap.dedent(inspect.getsource(_function(function))).rstrip()


@dataclass(frozen=True)
class Source:
    """A piece of Python that Jupyter and the book show highlighted, a terminal as it is."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"
