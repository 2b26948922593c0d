"""A Gram matrix piece by piece: blocks of rows, and panels that hold half of a symmetric matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .memory import room_for
from .progress import with_progress

__all__ = ["BLOCK_ENTRIES", "SymmetricPanels", "lower_panels", "map_rows", "mirrored", "row_blocks"]

BLOCK_ENTRIES = 2**20  # a block of Gram entries that stays near the processor
PANEL_ROWS = 128  # at least so many, or matrix products with a panel are slow


class _Kernel(Protocol):
    """What a panel needs of a kernel."""

    def _finite_matrix(self, X: Any, Y: Any) -> NDArray: ...

    def diagonal(self, X: Any) -> NDArray: ...


def row_blocks(n: int, width: int, least: int = 1) -> Iterator[tuple[int, int]]:
    """Cut n rows of the given width into blocks of about a million entries."""
    step = max(least, BLOCK_ENTRIES // max(width, 1))
    return ((start, min(start + step, n)) for start in range(0, n, step))


def map_rows(
    function: Callable[[Any], NDArray], X: Any, width: int, progress: bool = False
) -> NDArray:
    """Return function(X), (n, width), from blocks of rows: little beyond the result is in memory.

    What has no rows that can be cut, such as a list of texts, is mapped whole.
    """
    if not getattr(X, "shape", ()) or not hasattr(X, "__getitem__") or hasattr(X, "iloc"):
        return function(X)
    n = X.shape[0]
    blocks = list(row_blocks(n, width))
    if len(blocks) <= 1:
        return function(X)
    first = function(X[slice(*blocks[0])])
    room_for(n, first.shape[1], "The result", "take some rows at a time.", first.dtype)
    out = np.empty((n, first.shape[1]), first.dtype)
    out[slice(*blocks[0])] = first
    for start, stop in with_progress(blocks[1:], progress, "rows"):
        out[start:stop] = function(X[start:stop])
    return out


def lower_panels(
    kernel: _Kernel, X: NDArray | sparse.csr_array, progress: bool = False
) -> Iterator[NDArray]:
    """Yield the rows of the Gram matrix from the top, in panels, each up to its diagonal.

    A panel has as many columns as there are rows so far, and ends in a symmetric square.
    """
    n = X.shape[0]  # a sparse X has no len
    blocks = list(row_blocks(n, n, least=PANEL_ROWS))
    for start, stop in with_progress(blocks, progress, "Gram matrix"):
        panel = kernel._finite_matrix(X[start:stop], X[:stop])
        below = np.tril(panel[:, start:], -1)  # the square has both halves, up to rounding
        panel[:, start:] = below + below.T
        np.fill_diagonal(panel[:, start:], kernel.diagonal(X[start:stop]))
        yield panel


class SymmetricPanels:
    """The lower triangle of a symmetric matrix in panels of rows: half the memory of all of it.

    A panel holds its rows up to the diagonal and ends in a symmetric square.
    """

    __array_ufunc__ = None  # so that NumPy leaves V @ K to __rmatmul__

    def __init__(self, panels: Iterable[NDArray]):
        self.panels = list(panels)
        self.dtype = self.panels[0].dtype

    def __len__(self) -> int:
        return self.panels[-1].shape[1]

    def __rmatmul__(self, V: NDArray) -> NDArray:
        """Return V @ K, V : (m, n), every entry read once."""
        VK = np.zeros_like(V)
        for panel in self.panels:
            start, stop = _rows(panel)
            VK[:, start:stop] += V[:, :stop] @ panel.T
            VK[:, :start] += V[:, start:stop] @ panel[:, :start]
        return VK

    def diagonal(self) -> NDArray:
        return np.concatenate([panel.diagonal(_rows(panel)[0]) for panel in self.panels])

    def row_means(self) -> NDArray:
        """Return the mean of each row, summed in doubles."""
        sums = np.zeros(len(self))
        for panel in self.panels:
            start, stop = _rows(panel)
            sums[start:stop] += panel.sum(axis=1, dtype=float)
            sums[:start] += panel[:, :start].sum(axis=0, dtype=float)
        return sums / len(self)

    def max(self) -> float:
        return max(float(panel.max()) for panel in self.panels)

    def min(self) -> float:
        return min(float(panel.min()) for panel in self.panels)

    def whole(self) -> NDArray:
        """Return the whole matrix as an array."""
        return mirrored(self.panels, np.empty((len(self), len(self)), self.dtype))


def mirrored(panels: Iterable[NDArray], K: NDArray) -> NDArray:
    """Write the panels of a symmetric matrix and their mirror images into K, and return it."""
    for panel in panels:
        start, stop = _rows(panel)
        K[start:stop, :stop] = panel
        K[:start, start:stop] = panel[:, :start].T
    return K


def _rows(panel: NDArray) -> tuple[int, int]:
    """Return the first row of a panel and the one after its last."""
    return panel.shape[1] - panel.shape[0], panel.shape[1]
