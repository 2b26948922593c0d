"""Sparse PCA: directions with few non-zero loadings, and what they explain (chapter 8).

C is a covariance, correlation or other Gram matrix, d×d and positive semidefinite; directions are
columns. ``fit_sparse_pca`` measures its penalties in units of the mean variance of a feature, so
that they mean the same for X and 10 X, for n and 10 n samples. The steps take C as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.linalg import lapack

from ._engine.checks import (
    component_count,
    data_matrix,
    real_array,
    symmetric_map,
    tolerance,
    whole_number,
)
from ._engine.progress import with_progress
from .compare import fix_signs
from .pca import center_data, fit_pca

__all__ = [
    "SparsePCA",
    "fit_sparse_pca",
    "sparse_pca_objective",
    "ridge_direction",
    "soft_threshold",
    "sparse_direction",
    "coordinate_descent",
    "elastic_net_path",
    "procrustes",
    "effective_nonzeros",
    "simple_threshold",
    "Subset",
    "best_subset",
    "SparseRun",
    "truncated_power",
    "generalized_power",
    "deflate_covariance",
    "adjusted_variances",
]


# The model


@dataclass(frozen=True, eq=False)
class SparsePCA:
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
    converged: bool  # whether the loadings stood still, up to tol

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
        X = data_matrix(X)
        if X.shape[1] != self.mean.size:
            raise ValueError(
                f"X has {X.shape[1]} columns and the model was fitted on {self.mean.size}: "
                f"new samples need the same features in the same order."
            )
        return (X - self.mean) @ self.B

    def decode(self, Z: ArrayLike) -> NDArray:
        """Return 1x̄ᵀ + Z D, the samples that the scores Z predict :eq:`eq-spca-decoder`."""
        Z = data_matrix(Z, "Z")
        if Z.shape[1] != self.D.shape[0]:
            raise ValueError(
                f"Z has {Z.shape[1]} columns and the model {self.D.shape[0]} "
                f"components: a column of scores for each is needed."
            )
        return self.mean + Z @ self.D

    def reconstruct(self, X: ArrayLike) -> NDArray:
        """Encode, then decode."""
        return self.decode(self.encode(X))


# The fit


class _Run(NamedTuple):
    """What the alternation hands over."""

    A: NDArray  # (d, k)
    B: NDArray  # (d, k), not yet of length one
    l1: NDArray  # (k,)
    history: list[float]
    converged: bool


def fit_sparse_pca(
    X: ArrayLike,
    k: int,
    nonzeros: int | ArrayLike | None = None,
    l1: float | ArrayLike | None = None,
    ridge: float = 0.01,
    gram: bool = False,
    tol: float = 1e-6,
    max_iter: int = 5000,
    progress: bool = False,
) -> SparsePCA:
    """Find k sparse directions of the rows of X :eq:`eq-spca-criterion`.

    X : (n, d) data, or with ``gram=True`` a covariance, correlation or Gram
    matrix, (d, d). Say how sparse by ``nonzeros``, the counts, or by ``l1``,
    the penalties: a number for all or one for each. With neither, each count
    is the effective number of loadings of PCA :eq:`eq-spca-effective`.
    (A feature exactly uncorrelated with a score can't be made to count.)

    Penalties are in units of the mean variance of a feature
    :eq:`eq-spca-scale`. ``ridge=np.inf`` gives the soft-threshold form
    :eq:`eq-spca-limit`. The alternation stops when no entry of a unit
    direction has moved by more than tol; progress=True shows a bar.
    """
    mean, C, A = _prepare(X, k, gram)
    Q = _Quadratic(C, _penalty(ridge, "ridge", finite=False))
    if nonzeros is not None and l1 is not None:
        raise ValueError("nonzeros and l1 were both given: they say the same thing, so give one.")
    tol, max_iter = tolerance(tol), whole_number(max_iter, "max_iter", least=1)
    if l1 is None:
        counts = effective_nonzeros(A) if nonzeros is None else _counts(nonzeros, *A.shape)
        run = _fit_counts(Q, A, counts, tol, max_iter, progress)
    else:
        run = _fit_penalties(Q, A, _penalties(l1, k), tol, max_iter, progress)
    A, B, l1, history, converged = run
    lengths = linalg.norm(B, axis=0)
    B, A = fix_signs(B / lengths, A)
    CB = C @ B
    M = B.T @ CB
    D = linalg.pinvh(M) @ CB.T
    unit, dtype = C.unit, mean.dtype
    return SparsePCA(
        mean,
        B.astype(dtype),
        A.astype(dtype),
        D.astype(dtype),
        lengths,
        l1,
        float(ridge),
        unit * _adjusted(M),
        unit * float(np.sum(D * CB.T)),
        unit * C.trace,
        np.array(history),
        converged,
    )


def _prepare(X: ArrayLike, k: int, gram: bool) -> tuple[NDArray, _Scaled, NDArray]:
    """Return the mean, C in units of the mean variance, and the directions of PCA."""
    if gram:
        C = _covariance_like(X)
        n, d, mean = len(C), len(C), np.zeros(len(C), C.dtype)
        lam, V = linalg.eigh(C.astype(float))
        V, variances = V[:, ::-1], lam[::-1]
    else:
        Xc, mean = center_data(X)
        noise = 8 * np.finfo(Xc.dtype).eps * linalg.norm(mean)
        Xc, (n, d) = Xc.astype(float, copy=False), Xc.shape
        few = min(k, n, d) if isinstance(k, Integral) else 1
        solver = "arpack" if 200 + 50 * few < min(n, d) else "auto"
        pca = fit_pca(Xc, few, center=False, solver=solver)
        V, variances = pca.V, np.where(np.sqrt(pca.variances) > noise, pca.variances, 0)
    k = component_count(k, min(n, d), f"a {n}×{d} matrix", least=1)
    useful = int(np.sum(variances[:k] > 1e-12 * max(variances[0], 0)))
    if useful < k:
        raise ValueError(
            f"k={k} components asked, and only {useful} directions have positive variance: "
            f"ask for at most {useful}."
        )
    scaled = _Scaled(C.astype(float) if gram else Xc / np.sqrt(n), gram)
    return mean, scaled, fix_signs(V[:, :k])[0]


def _fit_penalties(
    Q: _Quadratic, A: NDArray, l1: NDArray, tol: float, max_iter: int, progress: bool
) -> _Run:
    """Minimise with these penalties; without any, PCA's directions are the answer."""
    if l1.any():
        return _descend(Q, A, _penalised(Q, l1), l1, tol, max_iter, progress)
    lam = np.sum(A * (Q.C @ A), axis=0)
    B = A * (lam if Q.soft else lam / (lam + Q.ridge))
    return _Run(A, B, l1, [Q.objective(A, B, l1)[0]], True)


def _fit_counts(
    Q: _Quadratic, A: NDArray, counts: NDArray, tol: float, max_iter: int, progress: bool
) -> _Run:
    """Let the paths choose supports with these counts, then minimise with them."""
    d, k = A.shape
    if np.all(counts == d):
        return _fit_penalties(Q, A, np.zeros(k), tol, max_iter, progress)
    A, B, l1, supports, settled = _choose_supports(Q, A, counts, tol)
    if settled and _has(counts, B := _penalised(Q, l1)(A, B)):
        run = _descend(Q, A, _penalised(Q, l1), l1, tol, max_iter, progress, B)
        if _has(counts, run.B):
            return run
    return _descend(Q, A, _held(Q, supports), np.zeros(k), tol, max_iter, progress)


def _choose_supports(Q: _Quadratic, A: NDArray, counts: NDArray, tol: float) -> tuple:
    """Alternate with the penalties that give these counts, until all stand still.

    A support that is no longer on its path is sought from the beginning of the
    path. After four such searches for each column it ends as it is.
    """
    d, k = A.shape
    B, l1, searches, settled = np.zeros((d, k)), np.zeros(k), 0, False
    pieces: list[_Stretch | None] = [None] * k
    for _ in range(200):
        B_old, B, CA = B, np.zeros((d, k)), Q.C @ A
        for j, c in enumerate(CA.T):
            s = pieces[j] and _stretch(Q, c, pieces[j].support, pieces[j].signs)
            if s is None or not s.low < s.high:
                s, searches = _stretch_with(Q, c, counts[j]), searches + 1
            pieces[j], l1[j] = s, s.inside()
            B[s.support, j] = s.loadings(l1[j])
        A_old, A = A, procrustes(Q.C @ B)
        moved = np.abs(A - A_old).max(), np.abs(_unit(B) - _unit(B_old)).max()
        settled = max(moved) <= 100 * tol  # the descent does the rest
        if settled or searches > 4 * k:
            break
    return A, B, l1, [s.support for s in pieces], settled


def _descend(
    Q: _Quadratic,
    A: NDArray,
    best_B: Callable[[NDArray, NDArray], NDArray],
    l1: NDArray,
    tol: float,
    max_iter: int,
    progress: bool,
    B: NDArray | None = None,
) -> _Run:
    """Alternate between B and A; no step may raise the criterion.

    Steps of A are lengthened while that pays.
    """
    B = best_B(A, np.zeros_like(A) if B is None else B)
    value, CB = Q.objective(A, B, l1)
    history, A_old, longer, converged = [value], A, 0.0, False
    for _ in with_progress(range(max_iter), progress, "sparse PCA"):
        _refuse_zeros(Q, A, B, l1)
        plain = procrustes(CB)
        for step in (longer, 0.0):
            A_new = procrustes(plain + step * (plain - A_old))
            B_new = best_B(A_new, B)
            value, CB = Q.objective(A_new, B_new, l1)
            if value <= history[-1]:
                break
        longer = 1.2 * step + 0.1 if step == longer else 0.0
        converged = bool(np.abs(_unit(B_new) - _unit(B)).max() <= tol)
        history.append(min(value, history[-1]))  # a plain step: rounding only
        A, B, A_old = A_new, B_new, plain
        if converged:
            break
    _refuse_zeros(Q, A, B, l1)
    return _Run(A, B, l1, history, converged)


def _penalised(Q: _Quadratic, l1: NDArray) -> Callable[[NDArray, NDArray], NDArray]:
    """Return the step from A to B by elastic nets, warm-started."""

    def best_B(A: NDArray, start: NDArray) -> NDArray:
        nets = zip((Q.C @ A).T, l1, start.T, strict=True)
        return np.column_stack([_elastic_net(Q, *net) for net in nets])

    return best_B


def _held(Q: _Quadratic, supports: list[NDArray]) -> Callable[[NDArray, NDArray], NDArray]:
    """Return the step from A to B on given supports, without ℓ₁."""
    inverses = [_solve(Q.block(T), np.eye(T.size)) for T in supports]

    def best_B(A: NDArray, start: NDArray) -> NDArray:
        B, CA = np.zeros_like(A), Q.C @ A
        for j, (T, inverse) in enumerate(zip(supports, inverses, strict=True)):
            B[T, j] = inverse @ CA[T, j]
        return B

    return best_B


def _has(counts: NDArray, B: NDArray) -> bool:
    return np.array_equal(np.count_nonzero(B, axis=0), counts)


def _refuse_zeros(Q: _Quadratic, A: NDArray, B: NDArray, l1: NDArray) -> None:
    empty = np.flatnonzero(~B.any(axis=0))
    if empty.size:
        j = int(empty[0])
        largest = 2 * np.abs((Q.C @ A)[:, j]).max()
        raise ValueError(
            f"l1={l1[j]:.4g} makes component {j + 1} all zeros: the largest useful penalty for it "
            f"is just below {largest:.4g}. Give less, or say nonzeros=… instead."
        )


# The steps


def sparse_pca_objective(
    C: ArrayLike, A: ArrayLike, B: ArrayLike, l1: float | ArrayLike = 0.0, ridge: float = 0.0
) -> float:
    """Return the criterion of sparse PCA in Gram form :eq:`eq-spca-gram`.

    C : (d, d), A : (d, k) with orthonormal columns, B : (d, k).
    """
    C, A, B = _covariance_like(C), data_matrix(A, "A"), data_matrix(B, "B")
    if A.shape != B.shape or A.shape[0] != len(C):
        raise ValueError(f"A {A.shape} and B {B.shape} must both have shape ({len(C)}, k).")
    Q = _Quadratic(_Scaled(C, gram=True, unit=1.0), _penalty(ridge, "ridge"))
    return Q.objective(A, B, _penalties(l1, A.shape[1]))[0]


def ridge_direction(C: ArrayLike, a: ArrayLike, ridge: float) -> NDArray:
    """Regress the score Xa on X with a ridge penalty :eq:`eq-spca-regression`.

    C : (d, d), a : (d,). For an eigenvector v the result is λ/(λ + ridge) v
    :eq:`eq-spca-ridge`: shorter, in the same direction, and not sparse.

    >>> ridge_direction(np.diag([3.0, 1.0]), [1.0, 0.0], 1.0)
    array([0.75, 0.  ])
    """
    C, a = _covariance_and_vector(C, a)
    ridge = _penalty(ridge, "ridge")
    return _solve(C + ridge * np.eye(len(C)), C @ a)


def soft_threshold(c: ArrayLike, t: float) -> NDArray:
    """Move every entry towards zero by t, and stop there :eq:`eq-spca-soft`.

    >>> soft_threshold([3.0, -0.5, -2.0], 1.0)
    array([ 2., -0., -1.])
    """
    c = real_array(c, "c")
    return np.sign(c) * np.maximum(np.abs(c) - _penalty(t, "t"), 0)


def sparse_direction(C: ArrayLike, a: ArrayLike, l1: float, ridge: float = 0.0) -> NDArray:
    """Regress the score Xa on X with the elastic net :eq:`eq-spca-enet`, exactly.

    C : (d, d), a : (d,); penalties in the units of C. The optimality conditions
    :eq:`eq-spca-kkt` hold to rounding. It is zero for l1 ≥ 2 max|Ca|.
    """
    C, a = _covariance_and_vector(C, a)
    Q = _Quadratic(_Scaled(C, gram=True, unit=1.0), _penalty(ridge, "ridge", finite=False))
    return _elastic_net(Q, C @ a, _penalty(l1, "l1"), np.zeros(len(C)))


def coordinate_descent(
    C: ArrayLike,
    a: ArrayLike,
    l1: float,
    ridge: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 10_000,
) -> NDArray:
    """Solve the elastic net one coordinate at a time :eq:`eq-spca-cd`.

    The same problem as ``sparse_direction``, by the simplest method.
    """
    C, a = _covariance_and_vector(C, a)
    l1, ridge = _penalty(l1, "l1"), _penalty(ridge, "ridge")
    c, b = C @ a, np.zeros(len(C))
    curvature = np.diag(C) + ridge
    for _ in range(max_iter):
        before = b.copy()
        for j in np.flatnonzero(curvature > 0):
            rest = c[j] - C[j] @ b + C[j, j] * b[j]
            b[j] = soft_threshold(rest, l1 / 2) / curvature[j]
        if np.abs(b - before).max() <= tol * np.abs(b).max():
            break
    return b


def elastic_net_path(C: ArrayLike, a: ArrayLike, ridge: float = 0.0) -> tuple[NDArray, NDArray]:
    """Return all knots of the path of the elastic net, l1 falling to 0 :eq:`eq-spca-path`.

    C : (d, d), a : (d,). Gives the penalties (m,) and the loadings at them
    (m, d); between two knots the loadings are linear in l1.
    """
    C, a = _covariance_and_vector(C, a)
    Q = _Quadratic(_Scaled(C, gram=True, unit=1.0), _penalty(ridge, "ridge"))
    c = C @ a
    knots, loadings = [2 * np.abs(c).max()], [np.zeros(len(C))]
    for stretch in _path(Q, c):
        knots.append(stretch.low)
        loadings.append(np.zeros(len(C)))
        loadings[-1][stretch.support] = stretch.loadings(stretch.low)
    return np.array(knots), np.array(loadings)


def procrustes(M: ArrayLike) -> NDArray:
    """Return the A with orthonormal columns and the largest tr AᵀM :eq:`eq-spca-procrustes`."""
    U, _, Vt = np.linalg.svd(M, full_matrices=False)
    return U @ Vt


def effective_nonzeros(V: ArrayLike) -> NDArray:
    """Return the effective number of loadings of unit columns, rounded :eq:`eq-spca-effective`.

    >>> effective_nonzeros(np.array([[0.6, 1.0], [0.8, 0.0]]))
    array([2, 1])
    """
    V = data_matrix(V, "V")
    return np.rint(1 / np.sum((V / linalg.norm(V, axis=0)) ** 4, axis=0)).astype(int)


def simple_threshold(V: ArrayLike, nonzeros: int | ArrayLike) -> NDArray:
    """Keep the largest loadings of each column, and give it length one :eq:`eq-spca-threshold`.

    >>> simple_threshold([[0.6], [-0.64], [0.48]], 1)
    array([[ 0.],
           [-1.],
           [ 0.]])
    """
    V = data_matrix(V, "V")
    counts = _counts(nonzeros, *V.shape)
    order = np.argsort(-np.abs(V), axis=0, kind="stable")
    rank = np.argsort(order, axis=0)
    return _unit(np.where(rank < counts, V, 0))


# Cardinality: the problem itself


@dataclass(frozen=True, eq=False)
class Subset:
    """The best direction with k non-zero loadings, and the proof of work :eq:`eq-spca-subset`."""

    value: float  # its variance, the largest that k features allow
    support: NDArray  # (k,) indices of the features, rising
    direction: NDArray  # (d,) of length one, zero off the support
    n_nodes: int  # how many nodes the search opened


def best_subset(C: ArrayLike, k: int) -> Subset:
    """Find the k features of the best direction :eq:`eq-spca-subset`.

    C : (d, d). Exact, by branch and bound: a node holds the features that are
    still allowed, and how many of them, the first ones, are in for sure.
    :eq:`eq-spca-bound` and :eq:`eq-spca-rows` bound what it can reach. The time
    can grow like the number of subsets: keep d small.
    """
    C = _covariance_like(C).astype(float)
    d = len(C)
    k = component_count(k, d, f"a {d}×{d} matrix", least=1)
    start = truncated_power(C, k).direction
    support = np.argsort(-np.abs(start), kind="stable")[:k]
    best, n_nodes = _top(C, support)[0], 0
    nodes = [(np.arange(d), 0)]
    while nodes:
        allowed, sure = nodes.pop()
        n_nodes += 1
        value, v = _top(C, allowed)
        if min(value, _row_bound(C, allowed, sure, k)) <= best * (1 + 1e-12):
            continue
        if allowed.size == k:
            best, support = value, allowed
            continue
        j = sure + int(np.argmax(np.abs(v[sure:])))
        without = np.delete(allowed, j)
        with_it = np.insert(without, sure, allowed[j])
        nodes.append((without, sure))
        nodes.append((with_it if sure + 1 < k else with_it[:k], sure + 1))
    support = np.sort(support)
    direction = np.zeros(d)
    direction[support] = _top(C, support)[1]
    return Subset(best, support, _fix_sign(direction), n_nodes)


@dataclass(frozen=True, eq=False)
class SparseRun:
    """A sparse direction found by iteration."""

    direction: NDArray  # (d,) of length one
    value: float  # its variance
    history: NDArray  # what is maximised, after each step; it never falls
    converged: bool  # whether the direction stood still, up to tol


def truncated_power(
    C: ArrayLike,
    nonzeros: int,
    start: ArrayLike | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> SparseRun:
    """Multiply by C, keep the largest entries, repeat :eq:`eq-spca-truncate`.

    C : (d, d). The variance never falls. The start is the leading eigenvector
    unless one is given.
    """
    C = _covariance_like(C).astype(float)
    d, V = len(C), linalg.eigh(C)[1]
    x = V[:, -1] if start is None else _vector(start, d, "start")
    x = simple_threshold(x[:, None], nonzeros)[:, 0]
    history, converged = [x @ C @ x], False
    for _ in range(max_iter):
        if not (C @ x).any():
            break
        x_new = simple_threshold((C @ x)[:, None], nonzeros)[:, 0]
        history.append(max(x_new @ C @ x_new, history[-1]))  # up to rounding
        converged = bool(np.abs(x_new - x).max() <= tol)
        x = x_new
        if converged:
            break
    value = float(x @ C @ x)
    return SparseRun(_fix_sign(x), value, np.array(history), converged)


def generalized_power(
    X: ArrayLike, penalty: float, tol: float = 1e-10, max_iter: int = 1000
) -> SparseRun:
    """Alternate a score z and a soft-thresholded direction :eq:`eq-spca-gpower`.

    X : (n, d). penalty : from 0 to below 1, relative to the longest column of
    X_c: at 1 everything would be zero. It starts at the first score of PCA, or
    at the longest column if the penalty is too large for that.
    """
    Xc, _ = center_data(X)
    lengths = linalg.norm(Xc, axis=0)
    longest = int(np.argmax(lengths))
    t = _penalty(penalty, "penalty") * lengths[longest]
    if penalty >= 1 or lengths[longest] == 0:
        raise ValueError(
            f"penalty={penalty!r}: at 1 or above, or for constant columns, every loading is zero. "
            f"Give a number from 0 to below 1."
        )
    b = soft_threshold(Xc.T @ _unit(Xc @ fit_pca(Xc, 1).V[:, 0]), t)
    if not b.any():
        b = soft_threshold(Xc.T @ _unit(Xc[:, longest]), t)
    history, converged = [b @ b], False
    for _ in range(max_iter):
        z = _unit(Xc @ b)
        b_old, b = b, soft_threshold(Xc.T @ z, t)
        history.append(max(b @ b, history[-1]))  # equal up to rounding at the end
        converged = bool(np.abs(_unit(b) - _unit(b_old)).max() <= tol)
        if converged:
            break
    x = _fix_sign(_unit(b))
    return SparseRun(x, float(np.mean((Xc @ x) ** 2)), np.array(history), converged)


# Several components


def deflate_covariance(C: ArrayLike, b: ArrayLike, method: str = "projection") -> NDArray:
    """Take the direction b out of C, so that the next one differs.

    "projection" :eq:`eq-spca-deflate` and "schur" :eq:`eq-spca-schur` keep C
    positive semidefinite and leave no variance along b. "hotelling"
    :eq:`eq-spca-hotelling` does so only if b is an eigenvector.
    """
    C, b = _covariance_and_vector(C, b)
    b = _unit(b)
    Cb = C @ b
    if method == "projection":
        P = np.eye(len(C)) - np.outer(b, b)
        return P @ C @ P
    if method == "schur":
        return C - np.outer(Cb, Cb) / (b @ Cb or 1.0)
    if method == "hotelling":
        return C - (b @ Cb) * np.outer(b, b)
    raise ValueError(f'method={method!r}: choose one of "projection", "schur", "hotelling".')


def adjusted_variances(
    X: ArrayLike,
    B: ArrayLike,
    gram: bool = False,
) -> NDArray:
    """Return what each direction adds to those before :eq:`eq-spca-adjusted`.

    X : (n, d) data, or with ``gram=True`` a covariance matrix (d, d);
    B : (d, k), scaled to columns of length one first. The order matters.
    """
    B = _unit(data_matrix(B, "B"))
    X = _covariance_like(X) if gram else center_data(X)[0]
    if X.shape[1] != B.shape[0]:
        raise ValueError(
            f"X has {X.shape[1]} columns and B {B.shape[0]} rows: "
            f"a loading for each feature is needed."
        )
    if gram:
        return _adjusted(B.T @ X @ B)
    R = np.linalg.qr(X @ B, mode="r")
    return np.pad(np.diag(R) ** 2 / X.shape[0], (0, B.shape[1] - min(R.shape)))


def _adjusted(M: NDArray) -> NDArray:
    """Return diag(R)² with M = RᵀR, for any positive semidefinite M."""
    lam, W = linalg.eigh(M)
    R = np.linalg.qr(np.sqrt(np.maximum(lam, 0))[:, None] * W.T, mode="r")
    return np.diag(R) ** 2


# The quadratic form of the criterion, and C in units of the mean variance


class _Scaled:
    """C over its mean variance, kept as a matrix, or for wide data as a root R with C = RᵀR."""

    def __init__(self, M: NDArray, gram: bool, unit: float | None = None):
        """M is C itself, or a root R."""
        total = np.trace(M) if gram else np.vdot(M, M)
        self.d = M.shape[1]
        self.unit = float(total / self.d) if unit is None else unit
        self.trace = float(total / self.unit)
        M = M / (self.unit if gram else np.sqrt(self.unit))
        self.wide = not gram and 2 * len(M) <= self.d
        self.M = M if gram or self.wide else M.T @ M
        self.known: dict[int, NDArray] = {}  # for wide data: rows of C, each made once

    def __matmul__(self, B: NDArray) -> NDArray:
        T = np.flatnonzero(B.any(axis=1))
        if T.size < self.d:
            return self.columns_times(T, B[T])
        return self.M.T @ (self.M @ B) if self.wide else self.M @ B

    def block(self, T: NDArray) -> NDArray:
        """Return the rows and columns T."""
        if self.wide and self.d <= 2000 and 4 * len(self.known) > self.d:
            self.M, self.wide = self.M.T @ self.M, False  # all at once is cheaper by now
        if not self.wide:
            return self.M[np.ix_(T, T)]
        if T.size > len(self.M):  # so many rows of C would take more room than R
            return self.M[:, T].T @ self.M[:, T]
        return np.array([row[T] for row in self._rows(T)]).reshape(T.size, T.size)

    def columns_times(self, T: NDArray, b: NDArray) -> NDArray:
        """Return the columns T times b."""
        if not self.wide:
            return self.M[T].T @ b
        if T.size > len(self.M):
            return self.M.T @ (self.M[:, T] @ b)
        return np.array(self._rows(T)).reshape(T.size, self.d).T @ b

    def _rows(self, T: NDArray) -> list[NDArray]:
        new = [j for j in T.tolist() if j not in self.known]
        if new:
            self.known.update(zip(new, self.M[:, new].T @ self.M, strict=True))
        return [self.known[j] for j in T.tolist()]


class _Quadratic:
    """Q = C + ridge I, or the identity for ridge = ∞: bᵀQb − 2bᵀCa is the smooth part."""

    def __init__(self, C: _Scaled, ridge: float):
        self.C, self.ridge, self.soft = C, ridge, ridge == np.inf

    def block(self, T: NDArray) -> NDArray:
        if self.soft:
            return np.eye(T.size)
        G = self.C.block(T)
        G.flat[:: T.size + 1] += self.ridge
        return G

    def columns_times(self, T: NDArray, b: NDArray) -> NDArray:
        out = np.zeros((self.C.d, *b.shape[1:])) if self.soft else self.C.columns_times(T, b)
        out[T] += b if self.soft else self.ridge * b
        return out

    def objective(self, A: NDArray, B: NDArray, l1: NDArray) -> tuple[float, NDArray]:
        """Return the criterion (for ridge = ∞ without the terms that it dwarfs) and CB."""
        CB = self.C @ B
        smooth = -2 * np.sum(A * CB)
        if self.soft:
            smooth += np.sum(B**2)
        else:
            smooth += self.C.trace + np.sum(B * CB) + self.ridge * np.sum(B**2)
        return float(smooth + np.abs(B).sum(axis=0) @ l1), CB


# The elastic net: one penalty, and the whole path


def _elastic_net(
    Q: _Quadratic,
    c: NDArray,
    l1: float,
    start: NDArray,
) -> NDArray:
    """Minimise bᵀQb − 2bᵀc + l1‖b‖₁: solve for known signs, and mend them."""
    b, signs = start.copy(), np.sign(start)
    for _ in range(10 * c.size + 100):
        T = np.flatnonzero(signs)
        if T.size:
            new = _solve(Q.block(T), c[T] - l1 / 2 * signs[T])
            wrong = new * signs[T] <= 0
            if wrong.any():  # go until the first one vanishes: it leaves
                share = b[T][wrong] / (b[T] - new)[wrong]
                first = np.argmin(share)
                b[T] += share[first] * (new - b[T])
                leaves = T[wrong][first]
                b[leaves] = signs[leaves] = 0
                continue
            b[T] = new
        excess = np.abs(slope := c - Q.columns_times(T, b[T])) - l1 / 2
        excess[T] = 0
        enters = int(np.argmax(excess))
        if excess[enters] <= 1e-12 * np.abs(c).max():
            break
        signs[enters] = np.sign(slope[enters])
    return b


@dataclass(frozen=True, eq=False)
class _Stretch:
    """A piece of the path with one support: b = u − l1 w for l1 from high to low."""

    high: float
    low: float
    support: NDArray
    signs: NDArray
    u: NDArray
    w: NDArray
    event: int  # the feature that enters at low, or ~feature if it leaves; d at the end
    sign: float  # with which sign it enters

    def loadings(self, l1: float) -> NDArray:
        return self.u - l1 * self.w

    def tied(self) -> bool:
        """Whether features enter together, so that the path has no such count."""
        return self.high <= self.low * (1 + 1e-9)

    def inside(self) -> float:
        """A penalty a tenth of the way up, where the support is safe."""
        if self.low <= 1e-12 * self.high:
            return 0.0
        return self.high / 2 if self.tied() else self.low + 0.1 * (self.high - self.low)


def _stretch(Q: _Quadratic, c: NDArray, T: NDArray, signs: NDArray) -> _Stretch:
    """Return the loadings on T as functions of l1, and where they are optimal."""
    u, w = _solve(Q.block(T), np.column_stack([c[T], signs / 2])).T
    Qu, b = Q.columns_times(T, np.column_stack([u, w])).T
    r = c - Qu  # the slope c − Qb off T is r + l1 b
    # Off T we need ±(r + l1 b) ≤ l1/2, on T signs (u − l1 w) ≥ 0: all are rest ≤ l1 rate.
    rest = np.concatenate([r, -r, -signs * u])
    rate = np.concatenate([0.5 - b, 0.5 + b, -signs * w])
    rest[T] = rest[T + c.size] = -1.0
    rate[T] = rate[T + c.size] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        knot = rest / rate
    lows = np.where(rate > 1e-14, knot, -np.inf)
    highs = np.where(rate < -1e-14, knot, np.inf)
    at = int(np.argmax(lows))
    low, d = max(0.0, lows[at]), c.size
    event = d if low == 0 else at % d if at < 2 * d else ~int(T[at - 2 * d])
    return _Stretch(highs.min(), low, T, signs, u, w, event, 1.0 if at < d else -1.0)


def _path(Q: _Quadratic, c: NDArray) -> Iterator[_Stretch]:
    """Follow the elastic net from the largest useful penalty down to zero."""
    first = int(np.argmax(np.abs(c)))
    T, signs, high = np.array([first]), np.sign(c[[first]]), 2 * np.abs(c[first])
    for _ in range(50 * c.size):
        s = _stretch(Q, c, T, signs)
        s = replace(s, high=high, low=min(s.low, high))
        yield s
        if s.event == c.size:
            return
        if s.event >= 0:
            T, signs = np.append(T, s.event), np.append(signs, s.sign)
        else:
            stays = ~s.event != T
            T, signs = T[stays], signs[stays]
        high = s.low


def _stretch_with(Q: _Quadratic, c: NDArray, count: int) -> _Stretch:
    """Return a stretch of the path with so many features: a good guess, or follow the path."""
    T = np.argsort(-np.abs(c), kind="stable")[:count]
    guess = _stretch(Q, c, T, np.sign(c[T]))
    if guess.low < guess.high:  # it is on the path
        return guess
    for s in _path(Q, c):
        if s.support.size == count and s.event >= 0:
            return s
    return replace(guess, low=0.0, high=0.0, w=0 * guess.w)  # the path skips this count


# The helpers


def _solve(G: NDArray, c: NDArray) -> NDArray:
    """Solve Gx = c for a positive definite G."""
    _, x, failed = lapack.dposv(G, c)
    if failed:
        raise ValueError(
            "Some features are collinear, and with ridge=0 the minimum is not unique: "
            "give ridge > 0, such as 1e-6."
        )
    return x


def _top(C: NDArray, T: NDArray) -> tuple[float, NDArray]:
    """Return the largest eigenvalue of the rows and columns T, and its eigenvector."""
    lam, W = np.linalg.eigh(C[np.ix_(T, T)])
    return float(lam[-1]), W[:, -1]


def _row_bound(C: NDArray, allowed: NDArray, sure: int, k: int) -> float:
    """Bound the eigenvalue by the k largest moduli of a row, the sure ones among them."""
    rows = np.abs(C[np.ix_(allowed, allowed)])
    others = np.sort(rows[:, sure:])[:, ::-1][:, : k - sure]
    return float(np.max(rows[:, :sure].sum(axis=1) + others.sum(axis=1)))


def _unit(B: NDArray) -> NDArray:
    """Scale columns to length one; zero columns stay."""
    lengths = linalg.norm(B, axis=0)
    return B / np.where(lengths > 0, lengths, 1)


def _fix_sign(x: NDArray) -> NDArray:
    return fix_signs(x[:, None])[0][:, 0]


def _covariance_like(C: ArrayLike) -> NDArray:
    """Return C as a positive semidefinite matrix, or say why it is none."""
    C = data_matrix(C, "C")
    symmetric_map(C, "C")
    lam = linalg.eigvalsh(C)
    if lam[-1] <= 0:
        raise ValueError("C has no positive variance: there is nothing to find.")
    if lam[0] < -np.sqrt(np.finfo(C.dtype).eps) * lam[-1]:
        raise ValueError(
            f"C has the negative eigenvalue {lam[0]:.3g}: it is no covariance or Gram matrix. "
            f"Was it estimated with missing values, or deflated by Hotelling's formula?"
        )
    return C


def _covariance_and_vector(C: ArrayLike, a: ArrayLike) -> tuple[NDArray, NDArray]:
    C = _covariance_like(C).astype(float)
    return C, _vector(a, len(C), "a")


def _vector(a: ArrayLike, d: int, name: str) -> NDArray:
    a = real_array(a, name)
    if a.shape != (d,) or not np.isfinite(a).all() or not a.any():
        raise ValueError(
            f"{name} with shape {a.shape} must be a vector of {d} finite numbers, not all zero."
        )
    return a.astype(float)


def _penalty(value: float, name: str, finite: bool = True) -> float:
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not number or not value >= 0 or (finite and value == np.inf):
        raise ValueError(f"{name}={value!r}: a number from 0 up is needed.")
    return float(value)


def _penalties(l1: float | ArrayLike, k: int) -> NDArray:
    values = real_array(l1, "l1")
    if values.shape not in ((), (k,)):
        raise ValueError(f"l1 has shape {values.shape}: a number, or one for each of {k}.")
    return np.array([_penalty(float(x), "l1") for x in np.broadcast_to(values, k)])


def _counts(nonzeros: int | ArrayLike, d: int, k: int) -> NDArray:
    values = real_array(nonzeros, "nonzeros")
    if values.shape not in ((), (k,)):
        raise ValueError(f"nonzeros has shape {values.shape}: a count, or one for each of {k}.")
    values = np.broadcast_to(values, k)
    bad = ~((values >= 1) & (values <= d) & (values == np.rint(values)))
    if bad.any():
        raise ValueError(
            f"nonzeros={values[bad][0]:g}: a whole number from 1 to {d}, the number of features, "
            f"is needed."
        )
    return values.astype(int)
