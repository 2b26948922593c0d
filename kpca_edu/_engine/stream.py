"""Blocks of rows, one after the other: checks that name the block, checkpoints, Dask's graph."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import component_count, data_matrix, flag, real_array, symmetric_map, whole_number
from .eigen import top_eigenpairs
from .inner_products import sample_count
from .memory import room_for
from .pca_checks import squares_fit

__all__ = [
    "Checkpoint",
    "as_block",
    "check_moments",
    "checked_blocks",
    "computed",
    "dask_blocks",
    "delayed",
    "encode_block",
    "encoder",
    "feature_map",
    "features_of",
    "in_block",
    "leading_pairs",
    "mapped",
    "named",
    "oja_steps",
    "one_by_one",
    "rows_less_running_mean",
    "same_columns",
    "shared",
    "shifted_sums",
    "some",
    "some_rows",
    "tree_sum",
    "whole_rows",
]


def as_block(block: ArrayLike) -> NDArray:
    """Return a block of rows in doubles, (b, d); b may be 0."""
    array = real_array(block, "block")
    if array.ndim == 2 and array.shape[0] == 0 and array.shape[1] > 0:
        return array.astype(float)
    rows = data_matrix(array, "block", check_finite=False)
    return squares_fit(rows.astype(float, copy=False), "block")


def checked_blocks(blocks: Iterable[ArrayLike]) -> Iterator[NDArray]:
    """Yield the blocks in doubles; refuse a bad one, or one with other columns, by its number."""
    first: int | None = None
    for number, block in enumerate(one_by_one(blocks)):
        with in_block(number):
            rows = as_block(block)
            first = rows.shape[1] if first is None else first
            same_columns(first, rows.shape[1])
        yield rows


def one_by_one(blocks: Any) -> Iterable:
    """Return the blocks, if they can be had one after the other."""
    try:
        return iter(blocks)
    except TypeError:
        raise ValueError(
            f"blocks is {type(blocks).__name__}: an iterable of (b, d) arrays is needed, such as "
            f"a list or a generator."
        ) from None


def feature_map(features: Any) -> Callable:
    """Return a feature map, if it can be one."""
    if not callable(features):
        raise ValueError(
            f"features is {type(features).__name__}: a map of samples to features is needed, such "
            f"as fourier_features(d, m, sigma) or nystrom(X, m, kernel)."
        )
    return features


def shifted_sums(X: NDArray, point: NDArray) -> tuple[NDArray, NDArray]:
    """Return YᵀY and the mean of the rows of Y = X − 1·point, in one pass over X.

    Y is made some rows at a time, which stay in the cache. That saves a quarter of the time
    and the memory of a second block.
    """
    n, d = X.shape
    room_for(d, d, "The scatter matrix", "frequent_directions and oja_directions work without it.")
    squares, rest, step = np.zeros((d, d)), np.zeros(d), max(1024, 2**16 // d)
    ones = np.ones(min(n, step))
    for start in range(0, n, step):
        rows = X[start : start + step] - point
        squares += rows.T @ rows
        rest += ones[: len(rows)] @ rows
    return squares, rest / n


VANISHING = float(np.finfo(float).tiny / np.finfo(float).eps ** 0.5)  # a sum below loses digits
PIECE = 64  # rows that oja_steps takes at a time, at most
STRETCH = float(np.log(100))  # between two calls of orth the columns stretch by no more than this


def rows_less_running_mean(blocks: Iterable[ArrayLike]) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield rows x_t − x̄_t, some at a time, and Σ_(i≤t) ‖x_i − x̄_t‖² for each of them.

    x̄_t is the mean of the first t rows of all. A sum so small that its terms may have vanished is
    given as 0, and is refused if it still is so at the end. Memory: a few pieces of 64 rows.
    """
    t, total, mean, largest = 0, 0.0, np.zeros(()), 0.0
    for block in checked_blocks(blocks):
        for start in range(0, len(block), PIECE):
            X = block[start : start + PIECE]
            count = np.arange(t + 1, t + len(X) + 1)
            means = mean + np.cumsum(X - mean, axis=0) / count[:, None]
            left = X - means  # (t − 1)/t of what x_t is away from the rows before it
            new = np.sum(left**2, axis=1) * (count / np.maximum(count - 1, 1))
            squares = total + np.cumsum(new)
            yield left, np.where(squares >= VANISHING, squares, 0.0)
            t, total, mean = int(count[-1]), float(squares[-1]), means[-1]
            largest = max(largest, float(np.abs(left).max()))
    refuse_vanishing(total, largest)


def oja_steps(V: NDArray, X: NDArray, rates: NDArray) -> NDArray:
    """Return V after a step of Oja's rule with each row of X : (m, d), one after the other.

    orth changes the basis and not the plane, so the steps may go on without it for a while:
    W_t = (I + η_t x_t x_tᵀ) W_(t−1) until the columns might be stretched a hundredfold. With
    W_t = V + Σ_(i≤t) x_i c_iᵀ that is c_t = η_t(Vᵀx_t + Σ_(i<t) (x_iᵀx_t) c_i), which is a
    triangular system for all c at once. Costs m²d operations for m ≤ 64 rows.
    """
    stretch = np.cumsum(np.log1p(rates * np.sum(X**2, axis=1)))
    start, so_far = 0, 0.0
    while start < len(X):
        stop = max(start + 1, int(np.searchsorted(stretch, so_far + STRETCH)))
        x = X[start:stop]
        weighted = rates[start:stop, None] * x
        C = np.linalg.solve(np.eye(len(x)) - np.tril(weighted @ x.T, -1), weighted @ V)
        Q, R = np.linalg.qr(V + x.T @ C)
        V = Q * np.where(np.diag(R) < 0, -1.0, 1.0)
        start, so_far = stop, stretch[stop - 1]
    return V


def mapped(features: Callable | None, block: ArrayLike) -> ArrayLike:
    """Return the features of a block, which may have no rows; the block itself without a map."""
    if features is None:
        return block
    rows = as_block(block)
    if len(rows):
        return features_of(rows, features)
    return features_of(np.zeros((1, rows.shape[1])), features)[:0]


def features_of(X: Any, features: Callable) -> NDArray:
    """Return the features of samples, if the map gives a row for each of them."""
    F, n = data_matrix(feature_map(features)(X), "features(X)"), sample_count(X)
    if len(F) != n:
        raise ValueError(
            f"features(X) has {len(F)} rows for {n} samples: a row of features for each is needed."
        )
    return F


def some(result: Any) -> Any:
    """Return what came of the blocks, or say that there were none."""
    if result is None:
        raise ValueError("There are no blocks, or all are empty: at least one row is needed.")
    return result


def some_rows(n: int) -> int:
    """Return the number of rows, or say that there are none."""
    if n == 0:
        raise ValueError("There are no rows: at least one block that is not empty is needed.")
    return n


def refuse_vanishing(total: float, largest: float) -> None:
    """Say so if a sum of squares of numbers up to ``largest`` has lost digits, or all of it."""
    if total < VANISHING and 0 < largest < VANISHING**0.5:
        raise ValueError(
            "The rows differ by so little that their squares vanish: multiply all blocks by one "
            "large number first."
        )


def same_columns(first: int, second: int) -> None:
    """Refuse to merge what has different features."""
    if first != second:
        raise ValueError(
            f"{second} columns after {first}: every block needs the same features in the same "
            f"order."
        )


def check_moments(a: Any, b: Any) -> None:
    """Refuse what is no summary of rows, and summaries of rows with different features."""
    for name, moments in (("a", a), ("b", b)):
        if not all(hasattr(moments, part) for part in ("n", "mean", "scatter")):
            raise ValueError(
                f"{name} is {type(moments).__name__}: Moments are needed, as summarize(block) "
                f"returns them."
            )
    same_columns(a.mean.size, b.mean.size)


def encoder(model: Any) -> Any:
    """Return the model, if it can encode blocks of rows."""
    if not hasattr(model, "encode") or not hasattr(model, "k"):
        raise ValueError(
            f"model is {type(model).__name__}: a fitted model is needed, as fit_pca_dask or "
            f"fit_kernel_pca_dask return it."
        )
    return model


@contextmanager
def in_block(number: int) -> Iterator[None]:
    """Say which block, counted from 0, was wrong."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Block {number}: {error}") from None


def leading_pairs(moments: Any, k: int) -> tuple[NDArray, NDArray]:
    """Return the k leading eigenpairs of a scatter matrix; rounding below zero counts as zero."""
    if not all(hasattr(moments, name) for name in ("n", "mean", "scatter")):
        given = type(moments).__name__
        raise ValueError(f"moments is {given}: what summarize or accumulate return is needed.")
    n, d = some_rows(whole_number(moments.n, "moments.n")), np.size(moments.mean)
    k = component_count(k, min(n, d), f"{n} rows of {d} features", least=1)
    scatter = data_matrix(moments.scatter, "moments.scatter")
    symmetric_map(scatter, "moments.scatter")
    if not isinstance(moments.mean, np.ndarray) or scatter.shape != 2 * moments.mean.shape:
        raise ValueError(
            f"moments.mean has shape {np.shape(moments.mean)} and moments.scatter {scatter.shape}: "
            f"arrays of shape (d,) and (d, d) are needed, as summarize makes them."
        )
    total = float(np.trace(scatter))
    size = float(np.abs(moments.mean).max())
    refuse_vanishing(total, np.sqrt(total) if total > 0 else size)
    lam, V, _ = top_eigenpairs(scatter, k)
    noise = max(n, d) * float(np.finfo(float).eps) * max(float(lam[0]), 0.0)
    return np.where(lam > noise, lam, 0.0), V


class Checkpoint:
    """The sum so far in a file, written so that an interruption never leaves half of one.

    The file is a NumPy archive of plain arrays: n, mean, scatter, and how many blocks they hold.
    """

    def __init__(self, path: str | Path | None, every: int):
        if not (path is None or isinstance(path, str | os.PathLike)):
            raise TypeError(f"checkpoint={path!r:.60}: the name of a file, or a path, is needed.")
        self.path = None if path is None else Path(path)
        if self.path is not None and (self.path.is_dir() or not self.path.parent.is_dir()):
            raise ValueError(
                f"checkpoint={str(path)!r}: the name of a file in a folder that exists is needed."
            )
        self.every = whole_number(every, "every", least=1)
        self.seen = 0
        self.content: dict[str, Any] = {}
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def moments(self, kind: Callable) -> Any:
        """Return what the file holds as moments, or None if there is no file."""
        if not self.content:
            return None
        return kind(int(self.content["n"]), self.content["mean"], self.content["scatter"])

    def remaining(self, blocks: Iterable) -> Iterator[tuple[int, Any]]:
        """Yield the blocks that the file does not hold yet, with their numbers from 0."""
        skipped = self.seen
        count = -1
        for count, block in enumerate(one_by_one(blocks)):
            if count >= skipped:
                yield count, block
        if count + 1 < skipped:
            raise ValueError(
                f"The checkpoint {self.path} holds {skipped} blocks, and {count + 1} were given: "
                f"it belongs to other data. Delete it to begin anew."
            )

    def keep(self, number: int, moments: Any, last: bool = False) -> None:
        """Write the sum after every so many blocks."""
        self.seen = number + 1
        if self.path is None or (self.seen % self.every and not last):
            return
        beside = self.path.with_name(self.path.name + ".new.npz")
        np.savez(beside, n=moments.n, mean=moments.mean, scatter=moments.scatter, blocks=self.seen)
        os.replace(beside, self.path)  # one step: the old file or the new one, never half

    def _read(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as archive:
                self.content = {name: archive[name] for name in ("n", "mean", "scatter", "blocks")}
            self.seen, shape = int(self.content["blocks"]), self.content["scatter"].shape
            if self.content["n"].shape or shape != 2 * self.content["mean"].shape:
                raise ValueError
        except (KeyError, TypeError, ValueError, OSError, zipfile.BadZipFile):
            raise ValueError(
                f"{path} is no checkpoint of moments: delete it, or name another file."
            ) from None


# Dask


def delayed(function: Callable) -> Callable:
    """Return Dask's lazy form of a function, or say how to get Dask."""
    try:
        from dask import delayed as lazy
    except ImportError:
        raise ImportError("This needs Dask: pip install 'kpca_edu[dask]' brings it.") from None
    return lazy(function)


def shared(thing: Any) -> Any:
    """Return a lazy value for something that all tasks need, so that it is sent once."""
    return delayed(thing)


def named(function: Callable, number: int) -> Callable:
    """Return the function, but saying which block was wrong, also from another process."""
    return partial(_call_named, function, number)


def _call_named(function: Callable, number: int, *given: Any) -> Any:
    with in_block(number):
        return function(*given)


def computed(lazy: Any, progress: bool = False) -> Any:
    """Return the value of a lazy result, with Dask's own bar in the terminal if asked for."""
    if not flag(progress, "progress"):
        return lazy.compute()
    try:
        from distributed import get_client
        from distributed import progress as show

        get_client()
    except (ImportError, ValueError):  # no cluster: the threads of this process
        from dask.diagnostics import ProgressBar

        with ProgressBar():
            return lazy.compute()
    lazy = lazy.persist()  # begins to work
    show(lazy, notebook=False)  # returns when it is done
    return lazy.compute()


def dask_blocks(array: Any) -> list:
    """Return the chunks of rows of a Dask array, each with all columns, as lazy values."""
    return list(whole_rows(array).to_delayed().ravel())


def whole_rows(array: Any) -> Any:
    """Return a Dask array whose chunks have all columns."""
    if not hasattr(array, "to_delayed") or not hasattr(array, "rechunk"):
        raise ValueError(
            f"array is {type(array).__name__}: a Dask array is needed, as dask.array.from_array, "
            f"from_zarr or from_delayed make it."
        )
    if array.ndim != 2:
        raise ValueError(f"The array is {array.ndim}-D: rows of samples are needed, (n, d).")
    return array.rechunk({1: -1})


def encode_block(model: Any, block: NDArray) -> NDArray:
    """Return the scores of a chunk, which may have no rows."""
    return model.encode(block) if len(block) else np.empty((0, model.k))


def tree_sum(parts: Sequence, add: Callable) -> Any:
    """Add parts in pairs, then the sums in pairs, and so on: a tree with log₂ levels."""
    parts = list(parts)
    while len(parts) > 1:
        pairs = [add(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(parts) - len(parts) % 2 :]
    return parts[0]
