"""Sparse PCA: directions with few non-zero loadings, and what they explain (chapter 8).

C is a covariance, correlation or other Gram matrix, d×d and positive semidefinite; directions are
columns. ``fit_sparse_pca`` measures its penalties in units of the mean variance of a feature, so
that they mean the same for X and 10 X, for n and 10 n samples. The steps take C as it comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.alternation import Alternation
from ._engine.checks import (
    check_columns,
    check_scores,
    choice,
    column_names,
    component_count,
    data_matrix,
    flag,
    number,
    real_array,
    tolerance,
    whole_number,
)
from ._engine.covariance import (
    Covariance,
    covariance,
    covariance_of,
    falling_order,
    feature_vector,
    largest,
    power_of_two,
    principal_directions,
    scaled_samples,
    semidefinite,
    unit_columns,
)
from ._engine.elastic_net import FixedNets, Nets, Quadratic, path, solve
from ._engine.model import Frozen
from ._engine.progress import with_progress
from ._engine.sparsity import (
    Each,
    Rounds,
    check_loadings,
    counts_of,
    listed,
    penalties_of,
    penalty_below_one,
    ridge_of,
)
from ._engine.subsets import Nodes, feature_count, row_bound, split
from ._engine.supports import Steps, filled_up, sparse_start
from .compare import fix_signs

__all__ = [
    "Subset",
    "best_subset",
    "simple_threshold",
    "ridge_direction",
    "soft_threshold",
    "coordinate_descent",
    "sparse_direction",
    "elastic_net_path",
    "SparsePCA",
    "fit_sparse_pca",
    "sparse_pca_objective",
    "procrustes",
    "sparse_rotation",
    "effective_nonzeros",
    "refit_loadings",
    "adjusted_variances",
    "SparseRun",
    "truncated_power",
    "generalized_power",
    "deflate_covariance",
]


# The problem itself


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


# One direction by regression


def ridge_direction(C: ArrayLike, a: ArrayLike, ridge: float) -> NDArray:
    """Regress the score Xa on X with a ridge penalty :eq:`eq-spca-regression`.

    C : (d, d), a : (d,). For an eigenvector v the result is λ/(λ + ridge) v
    :eq:`eq-spca-ridge`: shorter, in the same direction, and not sparse.

    >>> ridge_direction(np.diag([3.0, 1.0]), [1.0, 0.0], 1.0)
    array([0.75, 0.  ])
    """
    Q, c = _regression(C, a, number(ridge, "ridge", 0.0))
    return solve(Q, c)  # (C + ridge I) b = Ca


def soft_threshold(c: ArrayLike, t: float) -> NDArray:
    """Move every entry towards zero by t, and stop there :eq:`eq-spca-soft`.

    >>> soft_threshold([3.0, -0.5, -2.0], 1.0)
    array([ 2., -0., -1.])
    """
    c, t = real_array(c, "c"), number(t, "t", 0.0)
    return np.sign(c) * np.maximum(np.abs(c) - t, 0)


def coordinate_descent(
    C: ArrayLike, a: ArrayLike, l1: float, *, ridge: float = 0.0, tol: float = 1e-10,
    max_iter: int = 10_000, progress: bool = False,
) -> NDArray:  # fmt: skip
    """Solve the elastic net one coordinate at a time :eq:`eq-spca-cd`.

    The same problem as ``sparse_direction``, by the simplest method.
    """
    Q, c = _regression(C, a, number(ridge, "ridge", 0.0))
    b, t = np.zeros_like(c), number(l1, "l1", 0.0) / 2
    rounds = Rounds("loadings", tol, max_iter, progress)
    for _ in rounds:
        before = b.copy()
        for j in np.flatnonzero(Q.diagonal() > 0):
            rest = c[j] - Q[j] @ b + Q[j, j] * b[j]
            b[j] = soft_threshold(rest, t) / Q[j, j]
        rounds.settled(np.abs(b - before).max() / (np.abs(b).max() or 1.0))
    return b


def sparse_direction(C: ArrayLike, a: ArrayLike, l1: float, *, ridge: float = 0.0) -> NDArray:
    """Regress the score Xa on X with the elastic net :eq:`eq-spca-enet`, exactly.

    Solve for known signs :eq:`eq-spca-path`, and mend them until the conditions hold
    :eq:`eq-spca-kkt`. C : (d, d), a : (d,). It is zero for l1 ≥ 2 max|Ca|.
    """
    Q, c = _regression(C, a, ridge)  # Q = C + ridge I and c = Ca
    t = number(l1, "l1", 0.0) / 2
    b, signs = np.zeros_like(c), np.zeros_like(c)
    while True:
        T = np.flatnonzero(signs)
        new = solve(Q[np.ix_(T, T)], c[T] - t * signs[T])
        share = np.where(new * signs[T] > 0, 1.0, b[T] / np.where(b[T] == new, 1.0, b[T] - new))
        b[T] += share.min(initial=1.0) * (new - b[T])  # as far as no loading changes its sign
        if T.size and share.min() < 1:
            leaves = T[np.argmin(share)]
            b[leaves] = signs[leaves] = 0.0  # where the first one vanishes, it leaves
            continue
        slope = np.where(signs == 0, c - Q @ b, 0.0)
        enters = np.argmax(np.abs(slope))
        if np.abs(slope[enters]) <= t + 1e-12 * np.abs(c).max():
            return b
        signs[enters] = np.sign(slope[enters])  # the worst one enters


def elastic_net_path(
    C: ArrayLike, a: ArrayLike, *, ridge: float = 0.0, progress: bool = False
) -> tuple[NDArray, NDArray]:
    """Return all knots of the path of the elastic net, l1 falling to 0 :eq:`eq-spca-path`.

    C : (d, d), a : (d,). Gives the penalties (m,) and the loadings at them
    (m, d); between two knots the loadings are linear in l1.
    """
    matrix = covariance(C)
    c = matrix @ feature_vector(a, len(matrix), "a")
    knots, loadings = [2 * np.abs(c).max()], [np.zeros_like(c)]
    pieces = path(Quadratic(matrix, number(ridge, "ridge", 0.0)), c)
    for piece in with_progress(pieces, progress, "path"):
        knots.append(piece.low)
        loadings.append(np.zeros_like(c))
        loadings[-1][piece.support] = piece.loadings(piece.low)
    return np.array(knots), np.array(loadings)


# Several components


@dataclass(frozen=True, eq=False, repr=False)
class SparsePCA(Frozen):
    """k sparse directions, how they were found and what they explain :eq:`eq-spca-criterion`."""

    mean: NDArray  # (d,) the mean x̄ that was subtracted; zeros for a Gram matrix
    B: NDArray  # (d, k) sparse directions, the columns, each of length one
    A: NDArray  # (d, k) their orthonormal partners
    D: NDArray  # (k, d) the decoder with the least error for the scores of B
    lengths: NDArray  # (k,) of the columns of B before they were scaled to one
    l1: NDArray  # (k,) the penalties, given or found, in units of the mean variance
    ridge: float  # the ridge penalty, in the same units
    variances: NDArray  # (k,) adjusted variances, in the units of the data
    explained: float  # the variance that the decoder D recovers, in the same units
    total_variance: float  # tr C
    objective: NDArray  # the criterion after each iteration; it never rises
    converged: bool  # whether A and B are each other's best partners, up to tol
    refitted: bool = False  # whether the loadings were refitted on the supports found
    columns: tuple[str, ...] | None = None  # names of the features, if X had them

    @property
    def k(self) -> int:
        """The number of directions."""
        return self.B.shape[1]

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return self.objective.size - 1

    @property
    def nonzeros(self) -> NDArray:
        """The number of non-zero loadings in each direction."""
        return np.count_nonzero(self.B, axis=0)

    @property
    def explained_ratio(self) -> NDArray:
        """The adjusted share of each direction in the total variance :eq:`eq-spca-adjusted`."""
        return self.variances / self.total_variance

    @property
    def recovered_ratio(self) -> float:
        """The share that the decoder recovers from all scores together :eq:`eq-spca-decoder`."""
        return self.explained / self.total_variance

    def encode(self, X: ArrayLike) -> NDArray:
        """Return the scores (X − 1x̄ᵀ) B of any samples; X : (m, d), result (m, k)."""
        samples = data_matrix(X)
        check_columns(X, self.mean.size, self.columns)
        return (samples - self.mean) @ self.B

    def decode(self, Z: ArrayLike) -> NDArray:
        """Return 1x̄ᵀ + Z D, the samples that the scores Z predict :eq:`eq-spca-decoder`."""
        return self.mean + check_scores(Z, self.k) @ self.D

    def reconstruct(self, X: ArrayLike) -> NDArray:
        """Encode, then decode."""
        return self.decode(self.encode(X))

    def __repr__(self) -> str:
        share = 100 * self.explained_ratio.sum()
        return (
            f"SparsePCA(k={self.k} of d={self.mean.size}, {listed(self.nonzeros)} loadings, "
            f"{share:.1f} % of the variance)"
        )


def fit_sparse_pca(
    X: ArrayLike, k: int, *, nonzeros: Each = None, l1: Each = None, ridge: float = 0.01,
    gram: bool = False, refit: bool = False, tol: float = 1e-6, max_iter: int = 5000,
    progress: bool = False,
) -> SparsePCA:  # fmt: skip
    """Alternate two easy problems: B by elastic nets, A by Procrustes :eq:`eq-spca-criterion`.

    X : (n, d) data, or with ``gram=True`` a covariance matrix (d, d). Say how sparse by
    ``nonzeros``, the counts, or by ``l1``, the penalties: a number, or one for each. With neither,
    the counts are effective numbers of loadings :eq:`eq-spca-effective`. Penalties are in units
    of the mean variance :eq:`eq-spca-scale`, and ``ridge=np.inf`` gives :eq:`eq-spca-limit`.
    ``refit=True`` takes the shrinkage out of the loadings :eq:`eq-spca-refit`.
    """
    ridge, tol, max_iter = ridge_of(ridge), tolerance(tol), whole_number(max_iter, "max_iter", 1)
    C, mean, starts, counts, l1 = _problem(X, k, gram, nonzeros, l1)  # PCA, and PCA rotated
    A, nets = sparse_start(C, starts, counts, l1, ridge, STEPS, progress)
    rounds = Alternation(A, nets, procrustes, tol=tol, max_iter=max_iter, progress=progress)
    for A in rounds:
        B = nets(A)  # an elastic net for each column
        value = sparse_pca_objective(C, A, B, l1=nets.l1, ridge=ridge)
        rounds.record(A, B, value, procrustes(C @ B))  # CB = USWᵀ gives A = UWᵀ
    return _described(C, mean, rounds, nets, ridge, refit, column_names(X))


def sparse_pca_objective(
    C: ArrayLike | Covariance,
    A: ArrayLike,
    B: ArrayLike,
    *,
    l1: ArrayLike = 0.0,
    ridge: float = 0.0,
) -> float:
    """Return the criterion of sparse PCA in Gram form :eq:`eq-spca-gram`.

    C : (d, d), A : (d, k) with orthonormal columns, B : (d, k). For ridge = ∞ it is
    :eq:`eq-spca-limit`.
    """
    C, A, B = covariance(C), data_matrix(A, "A"), data_matrix(B, "B")
    if A.shape != B.shape or A.shape[0] != len(C):
        raise ValueError(f"A {A.shape} and B {B.shape} must both have shape ({len(C)}, k).")
    CB, sparse = C @ B, np.sum(penalties_of(l1, A.shape[1]) * np.abs(B))
    if ridge_of(ridge) == np.inf:
        return float(np.sum(B**2) - 2 * np.sum(A * CB) + sparse)
    return float(C.trace - 2 * np.sum(A * CB) + np.sum(B * CB) + ridge * np.sum(B**2) + sparse)


def procrustes(M: ArrayLike) -> NDArray:
    """Return the A with orthonormal columns and the largest tr AᵀM :eq:`eq-spca-procrustes`.

    M : (d, k), k ≤ d. If its rank is below k, there are several such A, and one is returned.
    """
    M = data_matrix(M, "M")
    if M.shape[0] < M.shape[1]:
        raise ValueError(
            f"M is {M.shape[0]}×{M.shape[1]}: at most {M.shape[0]} columns of that length can be "
            f"orthonormal. Was the transpose meant?"
        )
    U, _, Wt = np.linalg.svd(M / (np.abs(M).max() or 1.0), full_matrices=False)
    return U @ Wt


def sparse_rotation(V: ArrayLike) -> NDArray:
    """Turn columns within their span until they are as sparse as can be :eq:`eq-spca-rotate`.

    V : (d, k), usually orthonormal, as PCA's. Σ v⁴ grows with every turn of a pair of columns
    by its best angle ("quartimax").
    """
    V = data_matrix(V, "V").astype(float)
    for _ in range(100):
        turned = False
        for i, j in combinations(range(V.shape[1]), 2):
            x, y = V[:, i], V[:, j]
            u, w = x**2 - y**2, 2 * x * y
            sine, cosine = 2 * u @ w, u @ u - w @ w  # of four times the angle, not normalised
            if np.hypot(sine, cosine) - cosine > 1e-10 * (u @ u + w @ w):
                angle = np.arctan2(sine, cosine) / 4
                turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
                V[:, [i, j]] = V[:, [i, j]] @ turn
                turned = True
        if not turned:
            break
    return V


def effective_nonzeros(V: ArrayLike) -> NDArray:
    """Return the effective number of loadings of each column, rounded :eq:`eq-spca-effective`.

    >>> effective_nonzeros(np.array([[0.6, 1.0], [0.8, 0.0]]))
    array([2, 1])
    """
    V = data_matrix(V, "V")
    empty = np.flatnonzero(~V.any(axis=0))
    if empty.size:
        raise ValueError(f"Column {empty[0]} of V is zero: it has no loadings to count.")
    return np.rint(1 / np.sum(unit_columns(V.astype(float)) ** 4, axis=0)).astype(int)


def refit_loadings(C: ArrayLike | Covariance, B: ArrayLike) -> NDArray:
    """Do PCA on the support of each column, on what those before have left :eq:`eq-spca-refit`.

    C : (d, d), B : (d, k). Each direction has the largest adjusted variance that its support
    allows. One whose support has nothing left to explain stays as it is.
    """
    rest, B = covariance(C), unit_columns(data_matrix(B, "B").astype(float))
    check_loadings(B, len(rest))
    for j in range(B.shape[1]):
        T = np.flatnonzero(B[:, j])
        value, direction = rest.leading(T)
        if value > 1e-12 * rest.trace:
            B[T, j] = direction
            rest = rest.without(B[:, j])  # as by deflate_covariance(…, "schur")
    return fix_signs(B)[0]


def adjusted_variances(X: ArrayLike, B: ArrayLike, *, gram: bool = False) -> NDArray:
    """Return what each direction adds to those before :eq:`eq-spca-adjusted`.

    X : (n, d) data, or with ``gram=True`` a covariance matrix (d, d);
    B : (d, k), scaled to columns of length one first. The order matters.
    """
    C, _ = covariance_of(X, gram)
    B = unit_columns(data_matrix(B, "B").astype(float))
    check_loadings(B, len(C))
    return C.unit * _adjusted(B.T @ (C @ B))  # R with RᵀR/n = BᵀCB


def _adjusted(M: NDArray) -> NDArray:
    """Return diag(R)² with M = RᵀR, for any positive semidefinite M."""
    lam, W = np.linalg.eigh(M)
    R = np.linalg.qr(np.sqrt(np.maximum(lam, 0))[:, None] * W.T, mode="r")
    return np.diag(R) ** 2


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
    return C - np.outer(Cb, Cb) / (b @ Cb or 1.0)


# The helpers

STEPS = Steps(procrustes, sparse_pca_objective, refit_loadings, _adjusted)


class _Problem(NamedTuple):
    """What is to be solved, in units of the mean variance."""

    C: Covariance
    mean: NDArray  # (d,)
    starts: list[NDArray]  # (d, k) directions of PCA, and the same rotated to be sparse
    counts: NDArray | None  # (k,)
    l1: NDArray | None  # (k,)


def _problem(X: ArrayLike, k: int, gram: bool, nonzeros: Each, l1: Each) -> _Problem:
    """Check what the user said; without counts and penalties choose counts."""
    C, mean = covariance_of(X, gram)
    n, d = np.shape(X)
    k = component_count(k, min(n, d), f"a {n}×{d} matrix", least=1)
    if nonzeros is not None and l1 is not None:
        raise ValueError("nonzeros and l1 were both given: they say the same thing, so give one.")
    counts = None if nonzeros is None else counts_of(nonzeros, d, k)
    penalties = None if l1 is None else penalties_of(l1, k)
    V = fix_signs(principal_directions(C, k, gram))[0]
    A = fix_signs(sparse_rotation(V))[0]
    A = A[:, falling_order(np.sum(A * (C @ A), axis=0), np.abs(A).argmax(axis=0))]
    if counts is None and penalties is None:
        counts = effective_nonzeros(A)
    return _Problem(C, mean, [V, A], counts, penalties)


def _described(
    C: Covariance,
    mean: NDArray,
    rounds: Alternation,
    nets: Nets,
    ridge: float,
    refit: bool,
    columns: tuple[str, ...] | None,
) -> SparsePCA:
    """Make the model: unit directions with their signs fixed, and what they explain."""
    A, B, lengths = rounds.A, unit_columns(rounds.B), np.linalg.norm(rounds.B, axis=0)
    if flag(refit, "refit"):
        counts, lengths = np.count_nonzero(B, axis=0), np.ones(B.shape[1])
        B = filled_up(C, refit_loadings(C, B), counts, ridge, STEPS)
        A = procrustes(C @ B)
    B, A = fix_signs(B, A)
    CB = C @ B
    D = np.linalg.pinv(B.T @ CB, hermitian=True) @ CB.T
    mean, B, A, D = (array.astype(mean.dtype) for array in (mean, B, A, D))
    variances, explained = C.unit * _adjusted(B.T @ CB), C.unit * float(np.sum(D * CB.T))
    refitted, history = refit or isinstance(nets, FixedNets), np.array(rounds.history)
    return SparsePCA(
        mean, B, A, D, lengths, nets.l1, ridge, variances, explained, C.unit * C.trace,
        history, rounds.converged, refitted, columns,
    )  # fmt: skip


def _regression(C: ArrayLike, a: ArrayLike, ridge: float) -> tuple[NDArray, NDArray]:
    """Return Q = C + ridge I (the identity for ridge = ∞) and c = Ca."""
    C, ridge = semidefinite(C), ridge_of(ridge)
    c = C @ feature_vector(a, len(C), "a")
    return (np.eye(len(C)) if ridge == np.inf else C + ridge * np.eye(len(C))), c


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
