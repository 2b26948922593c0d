"""Exercises that are checked on the page: what each checker accepts and diagnoses, as bounds.

The build asks the Python checkers themselves. It runs each with an answer that is wrong on purpose
while the comparisons note what they compare with; what they noted is an ordered list of bounds,
each with its verdict. A checker whose verdicts on a hundred answers differ from those of its bounds
gets no field. The page's script ``exercises.js`` reads the bounds.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from unittest import mock

import kpca_edu.exercises as exercises
import numpy as np
from kpca_edu.exercises.checking import (
    REGISTRY,
    ROUNDING,
    WrongAnswer,
    half_unit,
    slack,
    tolerance,
)

PROBES = [
    0.1234567,
    *([0.1234567 * (i + 1) for i in range(m)] for m in range(2, 7)),
]


@dataclass(frozen=True)
class Bound:
    """Answers whose entries are within ``within`` of ``at``, and what is said of them."""

    at: list[float]
    within: float
    right: bool
    words: str


@dataclass(frozen=True)
class Field:
    """One exercise with a field: how many numbers it takes, its bounds, and else."""

    size: int  # 0 for a number, else the length of a list
    bounds: list[Bound]
    otherwise: str


class Noted(BaseException):
    """Ends a checker once its last comparison has been noted; no checker may catch it."""


def fields() -> dict[str, Field]:
    """Return the exercises that can be checked on the page."""
    found = {}
    for id in list(REGISTRY):
        field = note(id)
        if field and all(
            verdict(field, a) == said(id, a) for a in answers(id, field)
        ):
            found[id] = field
    return found


def note(id: str) -> Field | None:
    """Run a checker on probes of several sizes, and return what it compares them with."""
    for probe in PROBES:
        bounds: list[Bound] = []
        try:
            with ExitStack() as stack:
                for module in _modules():
                    for name, noting in _comparisons(bounds).items():
                        if hasattr(module, name):
                            stack.enter_context(
                                mock.patch.object(module, name, noting)
                            )
                REGISTRY[id].verify(probe)
        except Noted as last:
            size = 0 if isinstance(probe, float) else len(probe)
            if all(len(b.at) == max(size, 1) for b in bounds):
                return Field(size, bounds, str(last))
        except (
            Exception
        ):  # a probe of the wrong size, or a checker of another kind
            continue
    return None


def _modules() -> list:
    names = [
        m.name for m in iter_modules(exercises.__path__) if m.name != "checking"
    ]
    return [import_module(f"kpca_edu.exercises.{name}") for name in names]


def _comparisons(bounds: list[Bound]) -> dict:
    """Return stand-ins for the comparisons of the checkers, which note and do not judge."""

    def add(at, within: float, right: bool, words: str) -> None:
        bounds.append(
            Bound(
                np.ravel(np.asarray(at, float)).tolist(), within, right, words
            )
        )

    def number(answer, right, digits, mistakes=None, why="", percent=False):
        add(right, half_unit(right, digits), True, "")
        for value, words in (mistakes or {}).items():
            add(value, half_unit(value, digits), False, words)
        if percent:
            words = "That is the percentage: give the share."
            add(100 * right, half_unit(100 * right, digits), False, words)
        words = "The size is right, the sign is not."
        add(-right, half_unit(right, digits), False, words)
        if digits > 1:
            words = f"Close, but not right to {digits} significant digits."
            add(right, half_unit(right, digits - 1), False, words)
        raise Noted(why)

    def whole(answer, right, mistakes=None, why=""):
        add(right, ROUNDING, True, "")
        for value, words in (mistakes or {}).items():
            add(value, slack(value), False, words)
        add(-right, ROUNDING, False, "The size is right, the sign is not.")
        add(right, 0.5, False, "A whole number is asked for.")
        raise Noted(why)

    def numbers(answer, right, digits, why=""):
        add(right, tolerance(np.asarray(right, float), digits), True, "")
        if digits > 1:
            words = f"Close, but not right to {digits} significant digits."
            add(
                right,
                tolerance(np.asarray(right, float), digits - 1),
                False,
                words,
            )
        raise Noted(why)

    def close(answer, right, why="", digits=6):
        add(right, tolerance(np.asarray(right, float), digits), True, "")
        if digits > 3:
            words = f"Close, but not right to {digits} significant digits."
            add(
                right,
                tolerance(np.asarray(right, float), 3),
                False,
                words,
            )
        raise Noted(why)

    def unlike(answer, wrong, why, digits=6):
        add(wrong, tolerance(np.asarray(wrong, float), digits), False, why)

    return {
        "expect_number": number,
        "expect_whole": whole,
        "expect_numbers": numbers,
        "expect_close": close,
        "expect_not": unlike,
    }


def verdict(field: Field, answer: float | list[float]) -> tuple[bool, str]:
    """Return what the bounds say of an answer, as the page's script does."""
    given = np.atleast_1d(np.asarray(answer, float))
    for bound in field.bounds:
        if np.abs(given - bound.at).max() <= bound.within:
            return bound.right, bound.words
    return False, field.otherwise


def said(id: str, answer: float | list[float]) -> tuple[bool, str]:
    """Return what the Python checker says of an answer."""
    try:
        REGISTRY[id].verify(answer)
    except WrongAnswer as finding:
        return False, str(finding)
    return True, ""


def answers(id: str, field: Field) -> Iterator[float | list[float]]:
    """Yield some hundred answers: at, just inside and just outside of each bound, and others."""
    draw = random.Random(id)
    sizes = [max(map(abs, bound.at)) or 1.0 for bound in field.bounds]
    found = [
        [v + share * bound.within * draw.choice((-1, 1)) for v in bound.at]
        for bound in field.bounds
        for share in (0, 0.5, 0.9, 1.1, 3)
    ]
    while len(found) < 100:
        at = draw.choice(field.bounds).at
        found.append([v + draw.gauss(0, 1) * draw.choice(sizes) for v in at])
    for answer in found:
        yield answer if field.size else answer[0]


def export(app, exception) -> None:
    if exception or app.builder.name != "html":
        return
    table = {
        id: [
            f.size,
            [[b.at, b.within, b.right, b.words] for b in f.bounds],
            f.otherwise,
        ]
        for id, f in fields().items()
    }
    packed = base64.b64encode(
        json.dumps(table).encode()
    ).decode()  # no crib at a glance
    content = {"fields": packed, "chapters": _exercises_of_chapters(app)}
    # A script, since a page that is opened from a disk may not fetch data.
    Path(app.outdir, "_static/exercises-table.js").write_text(
        f"window.exerciseTable = {json.dumps(content)};\n", "utf8"
    )


def _exercises_of_chapters(app) -> dict[str, list[str]]:
    """Return the exercises of each page that has some."""
    found: dict[str, list[str]] = {}
    for path in sorted(Path(app.outdir, "book").glob("[0-9]*.html")):
        page = path.read_text("utf8")
        found[path.stem] = [
            id for id in REGISTRY if f'data-exercise="{id}"' in page
        ]
    return found


def setup(app):
    app.connect("build-finished", export, priority=800)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
