"""What the chapters show: one look for all figures, and the library's source beside the text."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "ORANGE",
    "PURPLE",
    "SKY",
    "use_book_style",
    "holds",
    "show_source",
    "listing_problems",
]

MOST_LINES = 25  # of a listing, signature and docstring included
MOST_MARKS = 4000  # of an SVG; more make it heavier than a picture

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
    "svg.hashsalt": "kpca_edu",  # the same names inside the file at every run
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
    _draw_lines_and_pictures_apart()


def _draw_lines_and_pictures_apart() -> None:
    """In Jupyter, show plots of lines as SVG and figures that hold pixels as PNG, twice as fine."""
    try:
        from IPython.core.getipython import get_ipython
        from matplotlib.figure import Figure
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # no Jupyter, nothing to set
        return
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel") or shell.display_formatter is None:
        return
    set_matplotlib_formats("svg", "retina", metadata={"Date": None})
    formatters = shell.display_formatter.formatters
    for kind, wants_pixels in (("image/svg+xml", False), ("image/png", True)):
        draw = formatters[kind].lookup_by_type(Figure)
        formatters[kind].for_type(Figure, _only_if(wants_pixels, draw))


def _only_if(pixels: bool, draw: Callable) -> Callable:
    def shown(figure: Any) -> Any:
        return draw(figure) if _holds_pixels(figure) == pixels else None

    return shown


def _holds_pixels(figure: Any) -> bool:
    """Say whether an SVG of the figure would be heavy or blurred: pictures, or clouds of points."""
    artists = [artist for axes in figure.axes for artist in axes.get_children()]
    marks = sum(len(a.get_offsets()) for a in artists if hasattr(a, "get_offsets"))
    marks += sum(len(a.get_xdata()) for a in artists if hasattr(a, "get_xdata"))
    return any(axes.images for axes in figure.axes) or marks > MOST_MARKS


def holds(deviation: float, within: float, where: str = "") -> None:
    """Print the line of a check: the largest deviation seen is not above ``within``.

    The bound is printed and not the deviation, whose last digits differ from machine to machine.

    >>> holds(3e-16, 1e-12, "on 200 random matrices")
    ✓ holds within 1e-12 on 200 random matrices
    """
    if not deviation <= within:
        raise AssertionError(f"The deviation is {deviation:.2g}, above the bound {within:g}.")
    print(f"✓ holds within {within:g} {where}".rstrip())


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
