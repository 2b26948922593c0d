"""Sparse PCA: directions with few non-zero loadings, and what they explain (chapter 10).

C is a covariance, correlation or other Gram matrix, d×d and positive semidefinite; directions are
columns. ``fit_sparse_pca`` measures penalties in units of the mean variance of a feature, so that
they mean the same for X and 10 X, for n and 10 n samples; the steps take C as it comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.alternation import Alternation
from ._engine.checks import (
    check_columns,
    check_scores,
    column_names,
    component_count,
    data_matrix,
    flag,
    number,
    tolerance,
    whole_number,
)
from ._engine.covariance import (
    Covariance,
    adjusted_squares,
    covariance,
    covariance_of,
    falling_order,
    feature_vector,
    principal_directions,
    unit_columns,
)
from ._engine.elastic_net import FixedNets, Nets, Quadratic, normal_equations, path, solve
from ._engine.factors import unit_scale
from ._engine.model import Frozen
from ._engine.progress import with_progress
from ._engine.sparsity import (
    Each,
    Rounds,
    check_loadings,
    counts_of,
    listed,
    penalties_of,
    ridge_of,
)
from ._engine.supports import Steps, filled_up, sparse_start
from .compare import fix_signs
from .sparse_search import SparseRun as SparseRun
from .sparse_search import Subset as Subset
from .sparse_search import best_subset as best_subset
from .sparse_search import deflate_covariance as deflate_covariance
from .sparse_search import generalized_power as generalized_power
from .sparse_search import simple_threshold as simple_threshold
from .sparse_search import soft_threshold as soft_threshold
from .sparse_search import truncated_power as truncated_power

__all__ = [
    "ridge_direction",
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
]


# One direction by regression


def ridge_direction(C: ArrayLike, a: ArrayLike, ridge: float) -> NDArray:
    """Regress the score Xa on X with a ridge penalty :eq:`eq-spca-regression`.

    C : (d, d), a : (d,). For an eigenvector v the result is λ/(λ + ridge) v
    :eq:`eq-spca-ridge`: shorter, in the same direction, and not sparse.

    >>> ridge_direction(np.diag([3.0, 1.0]), [1.0, 0.0], 1.0)
    array([0.75, 0.  ])
    """
    Q, c = normal_equations(C, a, number(ridge, "ridge", 0.0))
    return solve(Q, c)  # (C + ridge I) b = Ca


def coordinate_descent(
    C: ArrayLike, a: ArrayLike, l1: float, *, ridge: float = 0.0, tol: float = 1e-10,
    max_iter: int = 10_000, progress: bool = False,
) -> NDArray:  # fmt: skip
    """Solve the elastic net one coordinate at a time :eq:`eq-spca-cd`.

    The same problem as ``sparse_direction``, by the simplest method.
    """
    Q, c = normal_equations(C, a, number(ridge, "ridge", 0.0))
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
    :eq:`eq-spca-kkt`. C : (d, d), a : (d,). It is zero for l1 ≥ 2 max|Ca|. One feature enters
    at a time: m loadings cost m systems, up to m⁴/12 steps, some seconds for 800.
    """
    Q, c = normal_equations(C, a, ridge)  # Q = C + ridge I and c = Ca
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
        return self.mean + check_scores(Z, self.k, width=self.mean.size) @ self.D

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
    ``nonzeros``, the counts, or by ``l1``, the penalties: a number, or one for each. With
    neither, the counts are the ``effective_nonzeros`` of a sparse rotation of PCA. Penalties are
    in units of the mean variance, tr C / d; ``ridge=np.inf`` gives :eq:`eq-spca-limit`.
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
    C: ArrayLike | Covariance, A: ArrayLike, B: ArrayLike, *, l1: ArrayLike = 0.0,
    ridge: float = 0.0,
) -> float:  # fmt: skip
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
    """Turn columns in their span until no turn of a pair makes them sparser :eq:`eq-spca-rotate`.

    V : (d, k), usually orthonormal, as PCA's. Σ v⁴ grows with every turn of a pair of columns
    by its best angle ("quartimax").
    """
    V, scale = unit_scale(data_matrix(V, "V").astype(float, order="F"))  # columns in one piece
    for _ in range(100):
        turned = False
        for i, j in combinations(range(V.shape[1]), 2):
            x, y = V[:, i], V[:, j]
            u, w = x**2 - y**2, 2 * x * y
            sine, cosine = 2 * u @ w, u @ u - w @ w  # of four times the angle, not normalised
            if np.hypot(sine, cosine) - cosine > 1e-10 * (u @ u + w @ w):
                angle = np.arctan2(sine, cosine) / 4
                c, s = np.cos(angle), np.sin(angle)
                V[:, i], V[:, j] = c * x + s * y, c * y - s * x
                turned = True
        if not turned:
            break
    return scale * V


def effective_nonzeros(V: ArrayLike) -> NDArray:
    """Return the effective number of loadings of each column, 1/Σv⁴ at length one, rounded.

    A column with m equal entries has m of them; small entries hardly count.

    >>> effective_nonzeros(np.array([[0.6, 1.0], [0.8, 0.0]]))
    array([2, 1])
    """
    V = data_matrix(V, "V")
    empty = np.flatnonzero(~V.any(axis=0))
    if empty.size:
        raise ValueError(f"Column {empty[0]} of V is zero: it has no loadings to count.")
    return np.rint(1 / np.sum(unit_columns(V.astype(float)) ** 4, axis=0)).astype(int)


def refit_loadings(C: ArrayLike | Covariance, B: ArrayLike, *, progress: bool = False) -> NDArray:
    """Do PCA on the support of each column, on what those before have left :eq:`eq-spca-refit`.

    C : (d, d), B : (d, k). Each direction has the largest adjusted variance that its support
    allows. One whose support has nothing left to explain stays as it is.
    """
    rest, B = covariance(C), unit_columns(data_matrix(B, "B").astype(float))
    check_loadings(B, len(rest))
    for j in with_progress(range(B.shape[1]), progress, "refits"):
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
    return C.unit * adjusted_squares(B.T @ (C @ B))  # R with RᵀR/n = BᵀCB


# The helpers

STEPS = Steps(procrustes, sparse_pca_objective, refit_loadings, adjusted_squares)


def _problem(
    X: ArrayLike, k: int, gram: bool, nonzeros: Each, l1: Each
) -> tuple[Covariance, NDArray, list[NDArray], NDArray | None, NDArray | None]:
    """Return C and the mean, starts (d, k), counts, penalties, in units of the mean variance.

    What the user said is checked. Without counts and penalties, counts are chosen.
    """
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
    return C, mean, [V, A], counts, penalties  # PCA, and the same rotated to be sparse


def _described(
    C: Covariance, mean: NDArray, rounds: Alternation, nets: Nets, ridge: float, refit: bool,
    columns: tuple[str, ...] | None,
) -> SparsePCA:  # fmt: skip
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
    variances, explained = C.unit * adjusted_squares(B.T @ CB), C.unit * float(np.sum(D * CB.T))
    refitted, history = refit or isinstance(nets, FixedNets), np.array(rounds.history)
    return SparsePCA(
        mean, B, A, D, lengths, nets.l1, ridge, variances, explained, C.unit * C.trace,
        history, rounds.converged, refitted, columns,
    )  # fmt: skip
