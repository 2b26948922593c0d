"""One sparse direction by search: exact, by cutting, by power methods; and how to take it out.

Part of chapter 10. C is a covariance, correlation or other Gram matrix, d×d and positive
semidefinite. Everything here can be imported from ``kpca_edu.sparse_pca``, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import choice, data_matrix, finite_array, number
from ._engine.covariance import (
    Covariance,
    covariance,
    feature_vector,
    largest,
    power_of_two,
    scaled_samples,
    semidefinite,
    unit_columns,
)
from ._engine.model import Frozen
from ._engine.sparsity import Rounds, counts_of, listed, penalty_below_one
from ._engine.subsets import Nodes, feature_count, row_bound, split
from .compare import fix_signs

__all__ = [
    "Subset",
    "best_subset",
    "simple_threshold",
    "soft_threshold",
    "SparseRun",
    "truncated_power",
    "generalized_power",
    "deflate_covariance",
]


# The best features, exactly


@dataclass(frozen=True, eq=False, repr=False)
class Subset(Frozen):
    """The best direction with k non-zero loadings, and the proof of work :eq:`eq-spca-subset`."""

    value: float  # its variance, the largest that k features allow
    support: NDArray  # (k,) indices of the features, rising
    direction: NDArray  # (d,) of length one, zero off the support
    n_nodes: int  # how many nodes the search opened

    def __repr__(self) -> str:
        return (
            f"Subset(variance {self.value:.4g} with {self.support.size} of "
            f"{self.direction.size} features: {listed(self.support)})"
        )


def best_subset(C: ArrayLike, k: int, *, progress: bool = False) -> Subset:
    """Find the k features of the best direction :eq:`eq-spca-subset`, by branch and bound.

    C : (d, d). A node holds the features still allowed, of which the first ``sure`` are in.
    :eq:`eq-spca-bound` and :eq:`eq-spca-rows` bound what it can reach. The time can grow like
    the number of subsets: keep d small.
    """
    matrix = covariance(C)
    C, d, k = matrix.M, len(matrix), feature_count(k, len(matrix))
    support = largest(truncated_power(matrix, k, tol=0, max_iter=100).direction, k)
    best, nodes = matrix.leading(support)[0], Nodes((np.arange(d), 0), progress)
    for allowed, sure in nodes:
        value, v = matrix.leading(allowed)
        if min(value, row_bound(C, allowed, sure, k)) <= best * (1 + 1e-10):
            continue  # nothing in it can beat the best so far
        if allowed.size == k:
            best, support = value, allowed
            continue
        j = sure + int(np.argmax(np.abs(v[sure:])))
        nodes.extend(split(allowed, sure, j, k))  # two nodes: without feature j, and with it
    support, direction = np.sort(support), np.zeros(d)
    direction[support] = matrix.leading(support)[1]
    return Subset(best, support, _fix_sign(direction), nodes.opened)


def simple_threshold(V: ArrayLike, nonzeros: int | ArrayLike) -> NDArray:
    """Keep the largest loadings of each column, and give it length one :eq:`eq-spca-threshold`.

    >>> simple_threshold([[0.6], [-0.64], [0.48]], 1)
    array([[ 0.],
           [-1.],
           [ 0.]])
    """
    V = data_matrix(V, "V")
    cut = np.zeros_like(V)
    for j, count in enumerate(counts_of(nonzeros, *V.shape)):
        T = largest(V[:, j], count)
        cut[T, j] = V[T, j]
    return unit_columns(cut)


def soft_threshold(c: ArrayLike, t: float) -> NDArray:
    """Move every entry towards zero by t, and stop there :eq:`eq-spca-soft`.

    >>> soft_threshold([3.0, -0.5, -2.0], 1.0)
    array([ 2., -0., -1.])
    """
    c, t = finite_array(c, "c"), number(t, "t", 0.0)
    return np.sign(c) * np.maximum(np.abs(c) - t, 0)


# Power methods


@dataclass(frozen=True, eq=False, repr=False)
class SparseRun(Frozen):
    """A sparse direction found by iteration."""

    direction: NDArray  # (d,) of length one
    value: float  # its variance
    history: NDArray  # what is maximised, after each step; it never falls
    converged: bool  # whether the direction stood still, up to tol

    @property
    def n_iter(self) -> int:
        """The number of steps."""
        return self.history.size - 1

    def __repr__(self) -> str:
        return (
            f"SparseRun(variance {self.value:.4g} with {np.count_nonzero(self.direction)} of "
            f"{self.direction.size} loadings, n_iter={self.n_iter}, converged={self.converged})"
        )


def truncated_power(
    C: ArrayLike | Covariance, nonzeros: int, *, start: ArrayLike | None = None,
    tol: float = 1e-10, max_iter: int = 1000, progress: bool = False,
) -> SparseRun:  # fmt: skip
    """Multiply by C, keep the largest entries, repeat :eq:`eq-spca-truncate`.

    C : (d, d). The variance never falls. The start is the leading eigenvector
    unless one is given.
    """
    C, rounds = covariance(C), Rounds("direction", tol, max_iter, progress)
    x = _power_start(C, start, nonzeros)
    history = [x @ (C @ x)]
    for _ in rounds:
        old, x = x, simple_threshold((C @ x)[:, None], nonzeros)[:, 0]
        history.append(max(x @ (C @ x), history[-1]))  # less by rounding only
        rounds.settled(np.abs(x - old).max())
    return SparseRun(_fix_sign(x), float(history[-1]), np.array(history), rounds.converged)


def generalized_power(
    X: ArrayLike, penalty: float, *, tol: float = 1e-10, max_iter: int = 1000,
    progress: bool = False,
) -> SparseRun:  # fmt: skip
    """Alternate a score z and a soft-thresholded direction :eq:`eq-spca-gpower`.

    X : (n, d). penalty : from 0 to below 1, relative to the longest column of X_c: at 1
    everything would be zero. It starts at the first score of PCA, or at the longest column if
    the penalty is too large for that.
    """
    Xc, exponent, _ = scaled_samples(X)  # X_c · 2^−e: its squares neither over- nor underflow
    t = penalty_below_one(penalty) * np.linalg.norm(Xc, axis=0).max()
    b, rounds = _first_soft(Xc, t), Rounds("direction", tol, max_iter, progress)
    history = [b @ b]
    for _ in rounds:
        z = unit_columns(Xc @ b)
        old, b = b, soft_threshold(Xc.T @ z, t)
        history.append(max(b @ b, history[-1]))  # less by rounding only
        rounds.settled(np.abs(unit_columns(b) - unit_columns(old)).max())
    x = _fix_sign(unit_columns(b))
    value, *gains = (power_of_two(h, 2 * exponent) for h in (np.mean((Xc @ x) ** 2), *history))
    return SparseRun(x, value, np.array(gains), rounds.converged)


def deflate_covariance(C: ArrayLike, b: ArrayLike, method: str = "schur") -> NDArray:
    """Take the direction b out of C, so that the next one differs.

    "schur" :eq:`eq-spca-schur` and "projection" :eq:`eq-spca-deflate` keep C positive
    semidefinite and leave no variance along b. After several directions that are not
    orthogonal, only "schur" leaves none along all of them. "hotelling"
    :eq:`eq-spca-hotelling` is right only if b is an eigenvector.
    """
    C = semidefinite(C)
    b = unit_columns(feature_vector(b, len(C), "b"))
    Cb = C @ b
    method = choice(method, "method", ["schur", "projection", "hotelling"])
    if method == "projection":
        P = np.eye(len(C)) - np.outer(b, b)
        return P @ C @ P
    if method == "hotelling":
        return C - (b @ Cb) * np.outer(b, b)
    return C - np.outer(Cb / (b @ Cb or 1.0), Cb)


# The helpers


def _power_start(C: Covariance, start: ArrayLike | None, nonzeros: int) -> NDArray:
    """Return the start that was given, or the leading eigenvector, truncated."""
    x = feature_vector(C.leading(np.arange(len(C)))[1] if start is None else start, len(C), "start")
    x = simple_threshold(x[:, None], nonzeros)[:, 0]
    if x @ (C @ x) <= 0:
        raise ValueError(
            f"The {nonzeros} largest entries of start have no variance together, and there is "
            f"nowhere to climb from: give another start."
        )
    return x


def _first_soft(Xc: NDArray, t: float) -> NDArray:
    """Return the direction of the first score of PCA, or of the longest column if that has none."""
    C = Covariance(Xc, root=True)
    b = soft_threshold(Xc.T @ unit_columns(Xc @ C.leading(np.arange(len(C)))[1]), t)
    longest = Xc[:, largest(C.diagonal(), 1)[0]]
    return b if b.any() else soft_threshold(Xc.T @ unit_columns(longest), t)


def _fix_sign(x: NDArray) -> NDArray:
    return fix_signs(x[:, None])[0][:, 0]
