"""Branch and bound: nodes to visit, and what a node can reach at most."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from .checks import flag, is_number
from .progress import tqdm_class

__all__ = ["Nodes", "feature_count", "row_bound", "split"]

Node = tuple[NDArray, int]  # the features that are still allowed; so many, the first, are in


class Nodes:
    """A stack of nodes, to be run through while it grows: ``for node in nodes``."""

    def __init__(self, first: Node, progress: bool = False):
        self.waiting, self.opened = [first], 0
        self.bar = tqdm_class()(desc="nodes", leave=False) if flag(progress, "progress") else None

    def __iter__(self) -> Iterator[Node]:
        try:
            while self.waiting:
                self.opened += 1
                if self.bar is not None:
                    self.bar.update()
                    self.bar.set_postfix(waiting=len(self.waiting), refresh=False)
                yield self.waiting.pop()
        finally:
            if self.bar is not None:
                self.bar.close()

    def extend(self, nodes: tuple[Node, ...]) -> None:
        """Put nodes on the stack: the last one is visited next."""
        self.waiting.extend(nodes)


def split(allowed: NDArray, sure: int, j: int, k: int) -> tuple[Node, Node]:
    """Return the two nodes without the feature in place j, and with it for sure."""
    without = np.delete(allowed, j)
    with_it = np.insert(without, sure, allowed[j])
    return (without, sure), (with_it if sure + 1 < k else with_it[:k], sure + 1)


def row_bound(C: NDArray, allowed: NDArray, sure: int, k: int) -> float:
    """Bound the eigenvalue by the k largest moduli of a row, the sure ones among them."""
    rows = np.abs(C[np.ix_(allowed, allowed)])
    others = np.sort(rows[:, sure:])[:, ::-1][:, : k - sure]
    return float(np.max(rows[:, :sure].sum(axis=1) + others.sum(axis=1)))


def feature_count(k: int, d: int) -> int:
    """Return k as a number of features from 1 to d."""
    if not is_number(k, Integral) or not 1 <= int(k) <= d:
        raise ValueError(
            f"k={k!r} features asked of {d}: a whole number from 1 to {d} is needed. "
            f"Here k counts features, not components."
        )
    return int(k)
