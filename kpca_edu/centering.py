"""Centring in feature space, by the Gram matrix alone (chapter 8).

Two functions write to an array that they are given, and say so by their names:
:func:`center_gram_in_place` and :func:`center_gram_by_blocks`. All others leave theirs alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.centering import (
    blocks_of_rows,
    center_in_place,
    check_equal_sums,
    check_room,
    check_writable,
    gram,
    normalized_weights,
    rounding_of,
    row_means,
    size_of,
    sliced_rows,
    squared_mean_feature,
    subtract_sums,
    training_means,
)
from ._engine.checks import (
    check_columns,
    column_names,
    component_count,
    data_matrix,
    number,
    whole_number,
)
from ._engine.distances import (
    distances,
    finite_distances,
    new_squares,
    positive_part,
    squares,
)
from ._engine.eigen import top_eigenpairs
from ._engine.memory import room_for
from ._engine.model import Frozen
from .compare import fix_signs

__all__ = [
    "centering_matrix",
    "center_gram_by_matrix",
    "center_gram",
    "center_gram_in_place",
    "gram_means",
    "center_cross_gram",
    "center_cross_gram_by_means",
    "cosine_with_mean",
    "squared_distances_of_gram",
    "double_center",
    "ClassicalMDS",
    "classical_mds",
    "additive_constant",
    "is_conditionally_psd",
    "center_gram_weighted",
    "gram_means_by_blocks",
    "center_gram_by_blocks",
]


# The centred Gram matrix, in three forms


def centering_matrix(n: int) -> NDArray:
    """Return J = I − 11ᵀ/n : (n, n) :eq:`eq-center-j`.

    From the left it takes the mean from every column, from the right
    from every row.

    >>> centering_matrix(2)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    n = whole_number(n, "n", least=1)
    room_for(n, n, "The matrix J", "center_gram(K) centres without it.")
    return np.eye(n) - 1 / n


def center_gram_by_matrix(K: ArrayLike) -> NDArray:
    """Return K̃ = JKJ by two matrix products :eq:`eq-kpca-centered`.

    K : (n, n), symmetric. This is the definition; it takes n³ steps.
    """
    K = gram(K)
    J = centering_matrix(len(K)).astype(K.dtype)
    return J @ K @ J


def center_gram(K: ArrayLike) -> NDArray:
    """Return JKJ by sums, in n² steps :eq:`eq-center-sums` :eq:`eq-center-shift`.

    K : (n, n), symmetric. The result is the Gram matrix of the centred
    features, and symmetric to the last digit if K is.

    >>> center_gram([[4.0, 2.0], [2.0, 2.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    K = gram(K)
    r = row_means(K)
    q = r - r.mean() / 2
    return subtract_sums(K.copy(), q)  # K_ij − (q_i + q_j)


def center_gram_in_place(K: NDArray) -> NDArray:
    """Turn the array K itself into K̃ = JKJ :eq:`eq-center-shift`.

    K : (n, n) floats, symmetric (this is not checked). No second n×n
    array is made, and K̃ is symmetric to the last digit if K is.
    """
    check_writable(K)
    return center_in_place(K)


def gram_means(K: ArrayLike) -> tuple[NDArray, float]:
    """Return rᵢ, the mean of row i of K, and the mean of all entries.

    K : (n, n), symmetric. Sums are taken in double precision :eq:`eq-center-means`.

    >>> gram_means(np.array([[4.0, 2.0], [2.0, 2.0]]))
    (array([3., 2.]), 2.5)
    """
    K = gram(K)
    r = row_means(K)
    return r.astype(K.dtype, copy=False), float(r.mean())


# New samples


def center_cross_gram(K_test: ArrayLike, K_train: ArrayLike) -> NDArray:
    """Return the inner products of centred new and old features.

    K_test : (m, n), new samples in rows, training samples in columns;
    K_train : (n, n), not centred. Both sides are centred by the mean of
    the *training* features :eq:`eq-center-cross`.
    """
    return center_cross_gram_by_means(K_test, *gram_means(gram(K_train, "K_train")))


def center_cross_gram_by_means(
    K_test: ArrayLike,
    row_means: ArrayLike,
    mean: float,
) -> NDArray:
    """Do what center_cross_gram does, from the means of K_train alone.

    K_test : (m, n); row_means : (n,) and mean are those of
    :func:`gram_means` :eq:`eq-center-cross`.
    """
    K_test = data_matrix(K_test, "K_test")
    r, r_mean = training_means(row_means, K_test), number(mean, "mean")
    r_new = K_test.mean(axis=1, dtype=float)
    K_centered = K_test - r - r_new[:, None] + r_mean
    return K_centered.astype(K_test.dtype, copy=False)


# Without centring


def cosine_with_mean(K: ArrayLike) -> float:
    """Return the cosine between φ̄ and the first uncentred direction, ≥ 0.

    K : (n, n), positive semidefinite, not zero and with a mean feature
    φ̄ that is not zero :eq:`eq-center-cosine`.

    >>> round(cosine_with_mean([[1.0, 0.9], [0.9, 1.0]]), 3)
    1.0
    """
    K = gram(K)
    mean = squared_mean_feature(K)  # ‖φ̄‖², the mean of all entries
    (mu,), a, _ = top_eigenpairs(K, 1)  # Ka = μa, unit a
    return float(min(1.0, np.sqrt(mu / mean) * abs(a.sum()) / len(K)))


# Distances


def squared_distances_of_gram(K: ArrayLike) -> NDArray:
    """Return ‖φ(xᵢ) − φ(xⱼ)‖² : (n, n) :eq:`eq-center-distances`.

    K : (n, n), a Gram matrix, centred or not: the distances are the same.
    """
    K = gram(K)
    diagonal = K.diagonal()
    with np.errstate(over="ignore", invalid="ignore"):  # infinite distances are refused
        return finite_distances((diagonal[:, None] + diagonal) - 2 * K)


def double_center(D2: ArrayLike) -> NDArray:
    """Return −½JD²J, the centred Gram matrix of points with these distances.

    D2 : (n, n), *squared* distances :eq:`eq-center-double`.

    >>> double_center([[0.0, 4.0], [4.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return center_in_place(distances(D2, "D2") / -2)


@dataclass(frozen=True, eq=False, repr=False)
class ClassicalMDS(Frozen):
    """Points whose distances are those given, or the first coordinates of such points."""

    Z: NDArray  # (n, k) the points: centred, the columns orthogonal
    lam: NDArray  # (k,) leading eigenvalues of −½JD²J, falling: squared lengths of the columns
    row_means: NDArray  # (n,) of −½D²
    lowest: float  # the smallest eigenvalue is at most this; below 0: no points fit
    total: float  # the sum of all eigenvalues, Σᵢⱼ Dᵢⱼ²/2n
    positive: float  # the sum of the positive ones; NaN if some are negative and n > 3000
    columns: tuple[str, ...] | None = None  # names of the points, if D came with some

    @property
    def k(self) -> int:
        """The number of coordinates."""
        return len(self.lam)

    @property
    def variances(self) -> NDArray:
        """The variance λ̃/n of each coordinate."""
        return self.lam / len(self.Z)

    @property
    def explained_ratio(self) -> NDArray:
        """The share of each coordinate in the sum of the positive eigenvalues.

        Points can have no other part of the squared distances; what they can't have is told by
        negative_mass.
        """
        return self.lam / self.positive

    @property
    def negative_mass(self) -> float:
        """The part of negative eigenvalues in the sum of moduli; 0 if D is Euclidean."""
        negative = self.positive - self.total
        return negative / (self.positive + negative)

    def encode(self, D_new: ArrayLike) -> NDArray:
        """Place new points by their distances to the old ones, D_new : (m, n), as (m, k).

        Their kernel values −½D² are centred as those of any new sample :eq:`eq-center-drop`.
        """
        K_new = new_squares(D_new, "D_new") / -2
        check_columns(D_new, len(self.Z), self.columns, "D_new")
        return (K_new - self.row_means) @ (self.Z / self.lam)

    def __repr__(self) -> str:
        share = f"{100 * self.explained_ratio.sum():.3g} % of the squared distances"
        if self.lowest < 0 < self.negative_mass:
            share = f"{share}, negative mass {100 * self.negative_mass:.2g} %"
        if np.isnan(self.positive):
            share = "not Euclidean, shares not known"
        return f"ClassicalMDS(k={self.k} of n={len(self.Z)}, {share})"


def classical_mds(D: ArrayLike, k: int) -> ClassicalMDS:
    """Find n points in k dimensions from their distances D : (n, n).

    They are the scores of kernel PCA with −½D² (each entry squared) as
    Gram matrix :eq:`eq-center-mds`.
    """
    K = squares(D, "D") / -2
    n, r = len(K), row_means(K).astype(K.dtype)
    k = component_count(k, n - 1, f"distances between {n} points", least=1)
    pairs = top_eigenpairs(K, k, center=True)  # JKJ a = lam a, unit a
    part = positive_part(K, pairs)  # those with lam > 0
    (Z,) = fix_signs(part.A * np.sqrt(part.lam))
    return ClassicalMDS(Z, part.lam, r, *part[2:], column_names(D))


def additive_constant(D: ArrayLike) -> float:
    """Return the least h ≥ 0 for which D² + 2h belongs to points.

    D : (n, n), distances. 2h is added to each *squared* distance between
    different points :eq:`eq-center-additive`. Distances that points have,
    up to rounding, give 0.

    >>> round(additive_constant([[0, 1, 2.2], [1, 0, 1], [2.2, 1, 0]]), 3)
    0.14
    """
    B = center_in_place(squares(D, "D") / -2)  # −½JD²J
    lowest = float(np.linalg.eigvalsh(B)[0])
    return 0.0 if lowest >= -rounding_of(B) else -lowest


# Kernels that only centring makes positive


def is_conditionally_psd(K: ArrayLike) -> bool:
    """Tell whether cᵀKc ≥ 0 for all c with sum 0, up to rounding.

    K : (n, n), symmetric. By :eq:`eq-center-cpd` the eigenvalues of K̃
    tell.

    >>> is_conditionally_psd([[0.0, -1.0], [-1.0, 0.0]])
    True
    """
    K = gram(K)
    lowest = np.linalg.eigvalsh(center_gram(K))[0]
    return bool(lowest >= -rounding_of(K))


# Weights


def center_gram_weighted(K: ArrayLike, weights: ArrayLike) -> NDArray:
    """Return the Gram matrix of φ(xᵢ) − Σⱼ wⱼ φ(xⱼ).

    K : (n, n), symmetric; weights : (n,), none negative, scaled here to
    the sum 1 :eq:`eq-center-weighted`. Equal weights give center_gram(K).

    >>> center_gram_weighted([[4.0, 2.0], [2.0, 2.0]], [0, 1])
    array([[2., 0.],
           [0., 0.]])
    """
    K = gram(K)
    w = normalized_weights(weights, len(K))
    r = K @ w  # weighted means of the rows, in doubles
    q = r - (w @ r) / 2
    return subtract_sums(K.copy(), q)


# Gram matrices larger than memory


def gram_means_by_blocks(
    K: NDArray, *, block_rows: int | None = None, progress: bool = False
) -> tuple[NDArray, float]:
    """Return what gram_means does, reading K a block of rows at a time.

    K : (n, n), symmetric, anything whose rows can be sliced, such as
    ``np.memmap`` :eq:`eq-center-means`.
    """
    n = size_of(K)
    row_sums, column_sums, size = np.empty(n), np.zeros(n), 0.0
    for start, stop in blocks_of_rows(n, block_rows, progress, "means"):
        block = sliced_rows(K, start, stop)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            row_sums[start:stop] = block.sum(axis=1, dtype=float)
            column_sums += block.sum(axis=0, dtype=float)
        size = max(size, float(np.abs(block).max()))
    check_equal_sums(row_sums, column_sums, size, block.dtype)
    return row_sums / n, float(row_sums.sum()) / n**2


def center_gram_by_blocks(
    K: NDArray, out: NDArray, *, block_rows: int | None = None, progress: bool = False
) -> NDArray:
    """Write K̃ = JKJ to out, a block of rows at a time :eq:`eq-center-shift`.

    K and out : (n, n), each anything whose rows can be sliced, such as
    ``np.memmap``, out of floats; out may be K itself. Two passes are made over K.
    """
    n = size_of(K)
    check_room(out, n)
    r, mean = gram_means_by_blocks(K, block_rows=block_rows, progress=progress)
    q = r - mean / 2
    for start, stop in blocks_of_rows(n, block_rows, progress, "centring"):
        out[start:stop] = sliced_rows(K, start, stop) - (q[start:stop, None] + q)
    return out
