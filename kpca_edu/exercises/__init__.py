"""Checkers for the book's exercises: ``check("svd-1", answer)`` says right or wrong, and helps.

An answer left as ``...`` gets a friendly "not yet". What the mathematics leaves open, such as the
sign of a singular vector, a checker leaves open too. One module a chapter holds the checkers.
"""

from __future__ import annotations

from typing import Any

from .checking import REGISTRY, Verdict, judge

# Importing a chapter registers its exercises: in the order of the book.
# isort: off
from . import svd  # noqa: F401
from . import power_method  # noqa: F401
from . import pca  # noqa: F401
from . import ppca  # noqa: F401
from . import choosing_k  # noqa: F401
from . import kernels  # noqa: F401
from . import kernel_pca  # noqa: F401
from . import centering  # noqa: F401
from . import preimages  # noqa: F401
from . import sparse_pca  # noqa: F401
from . import sketching  # noqa: F401
from . import streaming  # noqa: F401
from . import faces  # noqa: F401
from . import documents  # noqa: F401
from . import genes  # noqa: F401
from . import digits  # noqa: F401
from . import novelty  # noqa: F401
from . import relations  # noqa: F401
# isort: on

__all__ = ["check", "exercise_ids"]


def check(id: str, answer: Any = ..., hints: int = 1) -> Verdict:
    """Judge an answer to the exercise ``id``; ask for more help with ``hints=2`` and so on.

    >>> check("svd-1", 5.0)
    ✓ svd-1: right.
    >>> bool(check("svd-1", 7.0))
    False
    """
    if not isinstance(id, str) or id not in REGISTRY:
        known = ", ".join(exercise_ids())
        raise ValueError(f"There is no exercise {id!r:.60}. There are: {known}.")
    return judge(REGISTRY[id], answer, hints)


def exercise_ids() -> list[str]:
    """Return the names of all exercises that have a checker, in the order of the book."""
    return list(REGISTRY)
