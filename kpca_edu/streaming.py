"""PCA of data that come in blocks: one pass, a mean and a scatter matrix in memory (chapter 12).

``summarize`` a block, ``merge`` two summaries, finish with ``pca_of_moments``: the same three
steps serve a generator, files that are read one after the other, and a Dask cluster. Feature maps
of chapter 11 put in front of them make it kernel PCA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import component_count, generator, number, whole_number
from ._engine.memory import room_for
from ._engine.model import Frozen
from ._engine.progress import with_progress
from ._engine.stream import (
    Checkpoint,
    as_block,
    check_moments,
    checked_blocks,
    computed,
    dask_blocks,
    delayed,
    encode_block,
    encoder,
    feature_map,
    in_block,
    leading_pairs,
    mapped,
    named,
    oja_steps,
    rows_less_running_mean,
    shared,
    shifted_sums,
    some,
    some_rows,
    tree_sum,
    whole_rows,
)
from ._engine.sums import column_means
from .compare import fix_signs
from .feature_pca import FeaturePCA
from .pca import PCA, Rng

__all__ = [
    "Moments",
    "summarize",
    "merge",
    "pca_of_moments",
    "accumulate",
    "fit_pca_blocks",
    "fit_kernel_pca_blocks",
    "fit_pca_dask",
    "fit_kernel_pca_dask",
    "encode_dask",
    "oja_step",
    "oja_directions",
    "frequent_directions",
    "shrink",
    "centered_blocks",
]


# The summary


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Frozen):
    """What rows tell about their mean and spread; nothing else of them is kept :eq:`eq-moments`."""

    n: int  # the number of rows
    mean: NDArray  # (d,) their mean x̄
    scatter: NDArray  # (d, d) the sum of (x − x̄)(x − x̄)ᵀ; the covariance is scatter/n

    @property
    def covariance(self) -> NDArray:
        """The covariance matrix, with 1/n :eq:`eq-pca-covariance`."""
        return self.scatter / some_rows(self.n)

    def __repr__(self) -> str:
        return f"Moments(n={self.n}, d={self.mean.size})"


def summarize(block: ArrayLike) -> Moments:
    """Return n, mean and scatter of a block of rows, (b, d) :eq:`eq-moments`.

    >>> summarize([[1.0, 0.0], [3.0, 4.0]]).scatter
    array([[2., 4.],
           [4., 8.]])
    """
    X = as_block(block)
    if len(X) == 0:
        return Moments(0, np.zeros(X.shape[1]), np.zeros((X.shape[1], X.shape[1])))
    near = column_means(X[:100])  # not far from the mean, at no cost
    squares, left = shifted_sums(X, near)  # Σ(x − near)(x − near)ᵀ, and the mean of x − near
    return Moments(len(X), near + left, squares - len(X) * np.outer(left, left))


def merge(a: Moments, b: Moments) -> Moments:
    """Return the moments of the rows of both :eq:`eq-merge`.

    The scatters add, and the two means pull apart by what lies between them.
    Nothing large is ever subtracted from something large.
    """
    check_moments(a, b)
    if a.n == 0 or b.n == 0:
        return b if a.n == 0 else a
    n, gap = a.n + b.n, b.mean - a.mean
    mean = a.mean + gap * (b.n / n)
    scatter = a.scatter + b.scatter + np.outer(gap, gap) * (a.n * (b.n / n))
    return Moments(n, mean, scatter)


def pca_of_moments(moments: Moments, k: int) -> PCA:
    """Return the PCA of the rows that were summarised: eigenvectors of the scatter.

    V and s² are the k leading eigenpairs of X_cᵀX_c :eq:`eq-pca-covariance`, so half
    of the digits of the smallest s are lost, as with ``solver="covariance"``.
    """
    lam, V = leading_pairs(moments, k)
    total = float(np.trace(moments.scatter)) / moments.n
    return PCA(moments.mean, fix_signs(V)[0], np.sqrt(lam), moments.n, total)


# One pass over blocks


def accumulate(
    blocks: Iterable[ArrayLike],
    *,
    features: Callable[[Any], NDArray] | None = None,
    checkpoint: str | Path | None = None,
    every: int = 100,
    progress: bool = False,
) -> Moments:
    """Summarise the blocks, or their features, one by one and merge, O(d² + block) in memory.

    With ``checkpoint`` the sum so far is written to that file after every so many blocks.
    If the file is there already, the blocks that it holds are skipped, and the result has
    the same bits as without the break.
    """
    saved = Checkpoint(checkpoint, every)
    moments, number = saved.moments(Moments), saved.seen - 1
    for number, block in saved.remaining(with_progress(blocks, progress, "blocks")):
        with in_block(number):  # what is wrong with a block names it
            new = summarize(mapped(features, block))
            moments = new if moments is None else merge(moments, new)
        saved.keep(number, moments)
    saved.keep(number, some(moments), last=True)
    return some(moments)


def fit_pca_blocks(
    blocks: Iterable[ArrayLike],
    k: int,
    *,
    checkpoint: str | Path | None = None,
    every: int = 100,
    progress: bool = False,
) -> PCA:
    """Find k directions of largest variance of all rows of the blocks, in one pass.

    blocks : any iterable of (b, d) arrays: a generator, parts of a memmap, files.
    See :func:`accumulate` for the checkpoint.
    """
    moments = accumulate(blocks, checkpoint=checkpoint, every=every, progress=progress)
    return pca_of_moments(moments, k)


def fit_kernel_pca_blocks(
    blocks: Iterable[ArrayLike],
    k: int,
    features: Callable[[Any], NDArray],
    *,
    checkpoint: str | Path | None = None,
    every: int = 100,
    progress: bool = False,
) -> FeaturePCA:
    """Approximate kernel PCA in one pass: PCA of the features of every block.

    features : a map of chapter 11, such as ``fourier_features(d, m, sigma)``.
    """
    moments = accumulate(
        blocks,
        features=feature_map(features),
        checkpoint=checkpoint,
        every=every,
        progress=progress,
    )
    return FeaturePCA(features, pca_of_moments(moments, k))


# The same on a cluster


def fit_pca_dask(array: Any, k: int, *, progress: bool = False) -> PCA:
    """Find k directions of largest variance of a Dask array: summarize, merge, finish.

    array : (n, d), chunked in any way; a chunk of rows is in memory at a time, on
    whichever worker has room. The summaries are merged in a tree :eq:`eq-merge`.
    """
    blocks = enumerate(dask_blocks(array))
    summaries = [delayed(named(summarize, i))(block) for i, block in blocks]
    total = tree_sum(summaries, delayed(merge))
    return pca_of_moments(computed(total, progress), k)


def fit_kernel_pca_dask(
    array: Any, k: int, features: Callable[[Any], NDArray], *, progress: bool = False
) -> FeaturePCA:
    """Approximate kernel PCA of a Dask array, by features of every chunk.

    features : a map of chapter 11, such as ``fourier_features(d, m, sigma)``.
    """
    lazy_map = shared(feature_map(features))
    blocks = enumerate(dask_blocks(array))
    seen = [delayed(named(mapped, i))(lazy_map, block) for i, block in blocks]
    summaries = [delayed(named(summarize, i))(block) for i, block in enumerate(seen)]
    total = tree_sum(summaries, delayed(merge))
    return FeaturePCA(features, pca_of_moments(computed(total, progress), k))


def encode_dask(model: PCA | FeaturePCA, array: Any) -> Any:
    """Return the scores of a Dask array as a Dask array, (n, k), computed when asked for."""
    rows, encode = whole_rows(array), partial(encode_block, encoder(model))
    return rows.map_blocks(encode, dtype=float, chunks=(rows.chunks[0], (model.k,)))


# Without a d×d matrix


def oja_step(V: NDArray, x: NDArray, rate: float) -> NDArray:
    """Turn the directions V : (d, k) a little towards the row x, and keep them orthonormal.

    V ← orth(V + η x (xᵀV)) :eq:`eq-oja`, for a row x whose mean has been taken off.
    """
    Q, R = np.linalg.qr(V + rate * np.outer(x, x @ V))
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)  # no direction turns over


def oja_directions(
    blocks: Iterable[ArrayLike], k: int, *, rate: float = 10.0, rng: Rng = 0, progress: bool = False
) -> NDArray:
    """Return k directions by Oja's rule, a row at a time, with O(dk) memory :eq:`eq-oja`.

    The t-th row has the weight η = rate·k/(t·variance), with the variance of all rows so
    far, so that the answer knows no unit; the running mean is taken off. The error falls
    like 1/√t only if rate·k is above the total variance over twice the gap λ_k − λ_(k+1)
    :eq:`eq-oja-rate`. The steps are those of :func:`oja_step`, some rows at a time.
    """
    rate, rng = number(rate, "rate", 0.0, 1e6, open_low=True), generator(rng)
    V: NDArray | None = None
    for rows, squares in rows_less_running_mean(with_progress(blocks, progress, "blocks")):
        if V is None:
            d = rows.shape[1]
            k = component_count(k, d, f"rows of {d} features", least=1)
            room_for(d, k, "A matrix of directions", "ask for fewer of them.")
            V = np.linalg.qr(rng.standard_normal((d, k)))[0]
        spread = squares > 0  # equal rows have no direction
        V = oja_steps(V, rows[spread], rate * k / squares[spread])  # rate·k/(t·variance)
    return fix_signs(some(V))[0]


def frequent_directions(
    blocks: Iterable[ArrayLike], size: int, *, progress: bool = False
) -> NDArray:
    """Return a sketch B : (size, d) of all rows X with 0 ≼ XᵀX − BᵀB ≼ ‖X − X_k‖²/(size + 1 − k).

    Rows are put below the sketch, and :func:`shrink` makes it small again
    :eq:`eq-frequent`. The bound holds for every k ≤ size :eq:`eq-frequent-bound`.
    Rows are taken as they are: for PCA, :func:`centered_blocks` centres them.
    """
    size = whole_number(size, "size", least=1)
    B = None
    for block in checked_blocks(with_progress(blocks, progress, "blocks")):
        room_for(size, block.shape[1], "The sketch", "take a smaller size.")
        for start in range(0, len(block), size):
            rows = block[start : start + size]
            B = shrink(rows if B is None else np.vstack([B, rows]), size)
    B = some(B)
    return np.vstack([B, np.zeros((size - len(B), B.shape[1]))])


def shrink(B: NDArray, size: int) -> NDArray:
    """Return at most ``size`` rows: all squares of singular values lose the (size + 1)-th.

    The row j is √(s_j² − s²_(size+1)) v_jᵀ :eq:`eq-frequent`.
    """
    _, s, Vt = np.linalg.svd(B, full_matrices=False)
    lost = s[size] if s.size > size else 0.0
    s = s[:size]
    return (np.sqrt(s - lost) * np.sqrt(s + lost))[:, None] * Vt[:size]


def centered_blocks(blocks: Iterable[ArrayLike]) -> Iterator[NDArray]:
    """Yield rows Y with YᵀY = X_cᵀX_c, though the mean is known only at the end :eq:`eq-rows`.

    Each block loses its own mean, and the gap between its mean and that of the
    blocks before becomes one row more, with the weight of :eq:`eq-merge`.
    """
    before: tuple[int, Any] = (0, 0.0)
    for block in checked_blocks(blocks):
        if len(block):
            (n, old), b, new = before, len(block), block.mean(axis=0)
            weight = np.sqrt(n * (b / (n + b)))
            yield np.vstack([block - new, weight * (new - old)])
            before = n + b, old + (new - old) * (b / (n + b))
