"""The singular value decomposition and the best approximation of low rank (chapter 1).

Matrices are n×d. Singular values come in falling order, singular vectors as *columns*: V is d×r
and A = U diag(s) Vᵀ, so ``V`` is what NumPy and SciPy return transposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import (
    ConvergenceWarning,
    choice,
    component_count,
    data_matrix,
    flag,
    fraction,
    generator,
    orthonormal_columns,
    real_array,
    singular_values,
    tell,
    tolerance,
    whole_number,
)
from ._engine.factors import (
    across,
    check_factors,
    complement,
    numerical_rank,
    numpy_svd,
    rescaled,
    rounding,
    tail_norms,
    unit,
    unit_scale,
)
from ._engine.memory import room_for
from ._engine.model import Frozen
from ._engine.progress import with_progress
from .compare import fix_signs

__all__ = [
    "SVD",
    "thin_svd",
    "is_svd",
    "full_svd",
    "svd_by_maximization",
    "longest_direction",
    "svd_via_gram",
    "frobenius_norm",
    "low_rank",
    "low_rank_error",
    "projector",
    "relative_error",
    "choose_rank",
]

MOST_TURNS = 1000  # of longest_direction; a few dozen are usual
TIE = 1e-12  # errors that differ by less, relatively, count as equal
FLAT = 1e-9  # a slope that counts as none, beside ‖Av‖²


@dataclass(frozen=True, eq=False, repr=False)
class SVD(Frozen):
    """A = U diag(s) Vᵀ with orthonormal columns in U and V :eq:`eq-svd`.

    >>> thin_svd([[3.0, 0.0], [4.0, 5.0], [0.0, 0.0]])
    SVD(rank 2 of 3×2, s from 6.708 to 2.236)
    """

    U: NDArray  # (n, r) left singular vectors, the columns
    s: NDArray  # (r,) singular values, s₁ ≥ … ≥ s_r > 0
    V: NDArray  # (d, r) right singular vectors, the columns (not Vᵀ)

    @property
    def rank(self) -> int:
        """The number r of singular values that were kept."""
        return self.s.size

    def matrix(self) -> NDArray:
        """Multiply the factors: the sum of the rank-one terms sᵢuᵢvᵢᵀ :eq:`eq-svd-sum`."""
        room_for(*self._shape, "The matrix", "(U[:9] * s) @ V.T are its first nine rows.")
        return (self.U * self.s) @ self.V.T

    def truncate(self, k: int) -> SVD:
        """Keep the k leading terms :eq:`eq-truncation`; all of them if k exceeds the rank."""
        n, d = self._shape
        k = component_count(k, min(n, d), f"a {n}×{d} matrix")
        return SVD(self.U[:, :k], self.s[:k], self.V[:, :k])

    @property
    def _shape(self) -> tuple[int, int]:
        return self.U.shape[0], self.V.shape[0]

    def __repr__(self) -> str:
        n, d = self._shape
        values = f", s from {self.s[0]:.4g} to {self.s[-1]:.4g}" if self.rank else ""
        return f"SVD(rank {self.rank} of {n}×{d}{values})"


def thin_svd(A: ArrayLike, *, rtol: float | None = None) -> SVD:
    """Factor A = U diag(s) Vᵀ, keeping the positive singular values :eq:`eq-svd`.

    A : (n, d). In floating point a zero comes out as rounding noise, so values
    up to rtol · s₁ count as zero. Unless given, rtol is max(n, d) times the
    machine precision.

    >>> thin_svd([[3.0, 0.0], [0.0, 0.0]]).s
    array([3.])
    """
    A = data_matrix(A, "A")
    U, s, V = numpy_svd(A)  # V is not transposed here
    rtol = rounding(A) if rtol is None else tolerance(rtol, "rtol")
    r = numerical_rank(s, rtol)
    V, U = fix_signs(V[:, :r], U[:, :r])
    return SVD(U, s[:r], V)


def is_svd(
    A: ArrayLike, U: ArrayLike, s: ArrayLike, V: ArrayLike, *, tol: float | None = None
) -> bool:
    """Tell whether Avᵢ = sᵢuᵢ *and* Aᵀuᵢ = sᵢvᵢ, orthonormal, with nothing of A left out.

    These are the equations :eq:`eq-svd-vectors`; the first set alone is not enough. No entry of a
    residual may exceed tol, or tol · s₁ where A is in it. Unless given, tol asks for two thirds of
    the digits that the coarsest argument has: 4e-11 for doubles, 2e-5 for single precision.

    >>> is_svd([[1.0, 1.0]], [[1.0]], [1.0], [[1.0], [0.0]])
    False
    """
    arrays = data_matrix(A, "A"), real_array(U, "U"), singular_values(s), real_array(V, "V")
    check_factors(*arrays)
    precision = max(float(np.finfo(array.dtype).eps) for array in arrays)
    tol = precision ** (2 / 3) if tol is None else tolerance(tol)
    A, U, s, V = (array.astype(float, copy=False) for array in arrays)
    scale = max(A.max(), -A.min(), s.max(initial=0.0)) or 1.0
    with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity in U or V: no SVD
        residuals = _residuals(A / scale, U, s / scale, V)
        return all(np.abs(residual).max(initial=0.0) <= tol for residual in residuals)


def _residuals(A: NDArray, U: NDArray, s: NDArray, V: NDArray) -> Iterator[NDArray]:
    """Yield what is left of both lengths, of both sets of equations, and of A itself."""
    yield from (W.T @ W - np.eye(s.size) for W in (U, V))
    yield A @ V - U * s
    yield A.T @ U - V * s
    yield A - (U * s) @ V.T


def full_svd(A: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Return square orthogonal U, V and n×d diagonal S: A = U S Vᵀ :eq:`eq-svd-full`.

    U : (n, n), S : (n, d), V : (d, d). The first r columns are those of
    :func:`thin_svd`; the others complete them to orthonormal bases.

    >>> U, S, V = full_svd([[3.0, 4.0]])
    >>> S
    array([[5., 0.]])
    """
    thin = thin_svd(A)
    n, d, r = len(thin.U), len(thin.V), thin.rank
    room_for(max(n, d), max(n, d), "A full basis", "thin_svd(A) has all that is not zero.")
    S = np.zeros((n, d), thin.s.dtype)
    S[range(r), range(r)] = thin.s
    U = np.column_stack([thin.U, complement(thin.U)])
    V = np.column_stack([thin.V, complement(thin.V)])
    return U, S, V


def svd_by_maximization(
    A: ArrayLike, *, rng: int | np.random.Generator = 0, progress: bool = False
) -> SVD:
    """Build the SVD as the existence proof does, greedily :eq:`eq-svd-greedy`.

    Each vᵢ maximises ‖Av‖ among the unit vectors orthogonal to those before.
    Slow, and right to about 6 digits: it is here to be read. Singular values
    below 1e-6 s₁ count as zero. Use :func:`thin_svd` for work.
    """
    A, scale = unit_scale(data_matrix(A, "A").astype(float))
    rng, d = generator(rng), A.shape[1]
    V = np.empty((d, 0))
    for _ in with_progress(range(d), progress, "directions"):
        N = complement(V)  # its columns span what is orthogonal to v₁ … vᵢ₋₁
        v = N @ longest_direction(A @ N, rng=rng)
        if np.linalg.norm(A @ v) <= 1e-6 * np.linalg.norm(A @ V[:, :1]):
            break  # A is zero there
        V = np.column_stack([V, v])
    s = np.linalg.norm(A @ V, axis=0)
    order = np.argsort(-s, kind="stable")  # tied values may differ by a rounding
    s, (V,) = s[order], fix_signs(V[:, order])
    return SVD(A @ V / s, rescaled(s, scale), V)  # uᵢ = Avᵢ/sᵢ


def longest_direction(A: ArrayLike, *, rng: int | np.random.Generator = 0) -> NDArray:
    """Return a unit vector v that maximises ‖Av‖: turn a random one until no turn helps.

    If v turns towards w, ‖Av‖² rises with the slope 2(Av)ᵀ(Aw) :eq:`eq-svd-turn`.
    The steepest w is the part of AᵀAv across v. Adding a share of the turn before
    saves turns; the share is that of conjugate gradients.
    """
    A, _ = unit_scale(data_matrix(A, "A").astype(float))
    v = unit(generator(rng).standard_normal(A.shape[1:]))
    turn = before = np.zeros_like(v)
    for _ in range(MOST_TURNS):
        Av = A @ v
        slope = across(A.T @ Av, v)
        if np.linalg.norm(slope) <= FLAT * (Av @ Av):
            return v
        share = slope @ (slope - before) / (before @ before or np.inf)
        turn, before = across(slope + max(share, 0.0) * turn, v), slope
        w = unit(turn)
        Aw = A @ w
        angle = np.arctan2(2 * Av @ Aw, Av @ Av - Aw @ Aw) / 2  # the longest in that plane
        v = unit(np.cos(angle) * v + np.sin(angle) * w)
    tell(f"‖Av‖ still grows after {MOST_TURNS} turns: use thin_svd here.", ConvergenceWarning)
    return v


def svd_via_gram(A: ArrayLike) -> SVD:
    """Factor A by eigenvectors of AᵀA, or of AAᵀ if smaller :eq:`eq-svd-gram`.

    Squaring A squares its singular values. Those up to √(10 max(n, d) ε) · s₁,
    with ε the machine precision, may be rounding noise and are dropped:
    :func:`thin_svd` would still have them.
    """
    A = data_matrix(A, "A")
    if A.shape[0] < A.shape[1]:  # the smaller Gram matrix is that of Aᵀ
        mirrored = svd_via_gram(A.T)
        V, U = fix_signs(mirrored.U, mirrored.V)
        return SVD(U, mirrored.s, V)
    A, scale = unit_scale(A)  # so that no square over- or underflows
    lam, V = np.linalg.eigh(A.T @ A)
    lam, V = lam[::-1], V[:, ::-1]  # largest first
    r = numerical_rank(lam, 10 * rounding(A))  # AᵀA has its own rounding, too
    s = np.sqrt(lam[:r])
    (V,) = fix_signs(V[:, :r])
    return SVD(A @ V / s, rescaled(s, scale), V)  # uᵢ = Avᵢ/sᵢ


def frobenius_norm(A: ArrayLike) -> float:
    """Return √(Σ Aᵢⱼ²) :eq:`eq-frobenius`, without overflow when the squares would have any.

    >>> frobenius_norm([[3.0, 0.0], [0.0, 4.0]])
    5.0
    """
    A, scale = unit_scale(data_matrix(A, "A"))
    return float(rescaled(np.sqrt(np.sum(A**2, dtype=float)), scale))


def low_rank(A: ArrayLike, k: int) -> NDArray:
    """Return A_k, the sum of the k leading terms sᵢuᵢvᵢᵀ :eq:`eq-truncation`.

    No matrix of rank k is nearer to A :eq:`eq-eckart-young`, and in the Frobenius
    norm no other is as near if s_k > s_{k+1}. Equals A if k is the rank or more.
    All singular values are computed, so that none can be missed.

    >>> low_rank([[2.0, 0.0], [0.0, 1.0]], 1)
    array([[2., 0.],
           [0., 0.]])
    """
    return thin_svd(A).truncate(k).matrix()


def low_rank_error(s: ArrayLike, k: int, *, norm: str = "frobenius") -> float:
    """Return ‖A − A_k‖ from the singular values s of A alone.

    ``norm="frobenius"`` gives √(s²_{k+1} + … + s²_r) :eq:`eq-error-frobenius`,
    ``norm="spectral"`` gives s_{k+1} :eq:`eq-error-spectral`; both are 0 once k reaches the rank.

    >>> low_rank_error([5.0, 4.0, 3.0], 1)
    5.0
    >>> low_rank_error([5.0, 4.0, 3.0], 1, norm="spectral")
    4.0
    """
    s, k = singular_values(s), whole_number(k, "k")
    if choice(norm, "norm", ["frobenius", "spectral"]) == "spectral":
        return float(s[k:].max(initial=0.0))
    return float(tail_norms(s[k:])[0])


def projector(U: ArrayLike) -> NDArray:
    """Return P = UUᵀ, the orthogonal projection on to the columns of U :eq:`eq-projector`.

    U : (n, k) with orthonormal columns; P : (n, n).

    >>> projector([[1.0], [0.0]])
    array([[1., 0.],
           [0., 0.]])
    """
    U = orthonormal_columns(U)
    room_for(len(U), len(U), "The projector", "U @ (U.T @ x) projects x without it.")
    return U @ U.T


def relative_error(s: ArrayLike, k: int, *, squared: bool = False) -> float:
    """Return ‖A − A_k‖_F / ‖A‖_F, or its square, from the singular values :eq:`eq-relative-error`.

    The square is the lost share of ‖A‖²_F: a loss of 0.05 means an error of √0.05 ≈ 22 %.
    For the zero matrix, which is approximated exactly, the error is 0.

    >>> relative_error([4.0, 3.0], 1)
    0.6
    """
    errors = _relative_errors(s, squared)
    return float(errors[min(whole_number(k, "k"), errors.size - 1)])


def choose_rank(s: ArrayLike, max_relative_error: float, *, squared: bool = False) -> int:
    """Return the smallest k whose relative error is at most the bound :eq:`eq-choose-rank`.

    An error that equals the bound up to rounding meets it.

    >>> choose_rank([10.0, 3.0, 1.0, 0.5], 0.05)
    3
    >>> choose_rank([10.0, 3.0, 1.0, 0.5], 0.05, squared=True)
    2
    """
    bound = fraction(max_relative_error, "max_relative_error")
    return int(np.argmax(_relative_errors(s, squared) <= bound * (1 + TIE)))


def _relative_errors(s: ArrayLike, squared: bool) -> NDArray:
    """Return the relative error, or its square, of A_k for k = 0 … r: it falls from 1 to 0."""
    s = singular_values(s).astype(float)
    tails = tail_norms(s / (s.max(initial=0.0) or 1.0))
    errors = tails / (tails[0] or 1.0)
    return errors**2 if flag(squared, "squared") else errors
