"""The singular value decomposition and the best approximation of low rank (chapter 1).

Matrices are n×d. Singular values come in falling order, singular vectors as *columns*: V is d×r
and A = U diag(s) Vᵀ, so ``V`` is what NumPy and SciPy return transposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize

from ._engine.checks import (
    component_count,
    data_matrix,
    fraction,
    orthonormal_columns,
    real_array,
    singular_values,
    tolerance,
)
from .compare import fix_signs

__all__ = [
    "SVD",
    "thin_svd",
    "full_svd",
    "svd_via_gram",
    "svd_by_maximization",
    "is_svd",
    "frobenius_norm",
    "low_rank",
    "low_rank_error",
    "relative_error",
    "choose_rank",
    "projector",
]


@dataclass(frozen=True, eq=False)
class SVD:
    """A = U diag(s) Vᵀ with orthonormal columns in U and V :eq:`eq-svd`."""

    U: NDArray  # (n, r) left singular vectors, the columns
    s: NDArray  # (r,) singular values, s₁ ≥ … ≥ s_r > 0
    V: NDArray  # (d, r) right singular vectors, the columns (not Vᵀ)

    @property
    def rank(self) -> int:
        """The number r of singular values that were kept."""
        return self.s.size

    def matrix(self) -> NDArray:
        """Multiply the factors: the sum of the rank-one terms sᵢuᵢvᵢᵀ :eq:`eq-svd-sum`."""
        return (self.U * self.s) @ self.V.T

    def truncate(self, k: int) -> SVD:
        """Keep the k leading terms :eq:`eq-truncation`; all of them if k exceeds the rank."""
        n, d = self.U.shape[0], self.V.shape[0]
        k = component_count(k, min(n, d), f"a {n}×{d} matrix")
        return SVD(self.U[:, :k], self.s[:k], self.V[:, :k])


def thin_svd(A: ArrayLike, rtol: float | None = None) -> SVD:
    """Factor A = U diag(s) Vᵀ, keeping the positive singular values :eq:`eq-svd`.

    A : (n, d). In floating point a zero comes out as rounding noise, so values
    up to rtol · s₁ count as zero. Unless given, rtol is max(n, d) times the
    machine precision.

    >>> thin_svd([[3.0, 0.0], [0.0, 0.0]]).s
    array([3.])
    """
    A = data_matrix(A, "A")
    U, s, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
    rtol = _rounding(A) if rtol is None else tolerance(rtol, "rtol")
    r = _numerical_rank(s, rtol)
    V, U = fix_signs(Vt[:r].T, U[:, :r])
    return SVD(U, s[:r], V)


def full_svd(A: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Return square orthogonal U, V and n×d diagonal S: A = U S Vᵀ :eq:`eq-svd-full`.

    U : (n, n), S : (n, d), V : (d, d). The first r columns are those of
    :func:`thin_svd`; the others complete them to orthonormal bases.

    >>> U, S, V = full_svd([[3.0, 4.0]])
    >>> S
    array([[5., 0.]])
    """
    thin = thin_svd(A)
    n, d, r = thin.U.shape[0], thin.V.shape[0], thin.rank
    S = np.zeros((n, d), thin.s.dtype)
    S[range(r), range(r)] = thin.s
    return _complete(thin.U), S, _complete(thin.V)


def svd_via_gram(A: ArrayLike) -> SVD:
    """Factor A by eigenvectors of AᵀA, or of AAᵀ if smaller :eq:`eq-svd-gram`.

    Squaring A squares its singular values. Those below about √ε · s₁, with ε the
    machine precision, drown in rounding: :func:`thin_svd` would still have them.
    """
    A = data_matrix(A, "A")
    if A.shape[0] < A.shape[1]:  # the smaller Gram matrix is that of Aᵀ
        mirrored = svd_via_gram(A.T)
        V, U = fix_signs(mirrored.U, mirrored.V)
        return SVD(U, mirrored.s, V)
    scale = np.abs(A).max() or 1.0  # so that no square over- or underflows
    A = A / scale
    lam, V = linalg.eigh(A.T @ A)
    lam, V = lam[::-1], V[:, ::-1]  # largest first
    r = _numerical_rank(lam, 10 * _rounding(A))  # AᵀA has its own rounding too
    s = np.sqrt(lam[:r])
    (V,) = fix_signs(V[:, :r])
    return SVD(A @ V / s, scale * s, V)  # uᵢ = Avᵢ/sᵢ


def svd_by_maximization(A: ArrayLike, rng: int | np.random.Generator = 0) -> SVD:
    """Build the SVD as the existence proof does, greedily :eq:`eq-svd-greedy`.

    Each vᵢ maximises ‖Av‖ among the unit vectors orthogonal to those before, found
    by an optimiser from a random start. Slow, and right to about 6 digits: it is
    here to be read. Use :func:`thin_svd` for work.
    """
    A = data_matrix(A, "A")
    rng = np.random.default_rng(rng)
    scale = np.abs(A).max() or 1.0
    A, d = A / scale, A.shape[1]
    V = np.empty((d, 0))
    while V.shape[1] < d:
        complement = _complete(V)[:, V.shape[1] :]  # orthogonal to v₁ … vᵢ₋₁
        stretched = A @ complement
        if linalg.norm(stretched) <= 1e-6:
            break  # A is zero there, up to the optimiser's digits
        V = np.column_stack([V, complement @ _longest_direction(stretched, rng)])
    s = linalg.norm(A @ V, axis=0)
    order = np.argsort(-s, kind="stable")  # tied values may differ by a rounding
    s, (V,) = s[order], fix_signs(V[:, order])
    return SVD(A @ V / s, scale * s, V)


def is_svd(A: ArrayLike, U: ArrayLike, s: ArrayLike, V: ArrayLike, tol: float = 1e-10) -> bool:
    """Tell whether Avᵢ = sᵢuᵢ *and* Aᵀuᵢ = sᵢvᵢ, orthonormal, with nothing of A left out.

    These are the equations :eq:`eq-svd-vectors`; the first set alone is not enough. Residuals
    are measured against the largest singular value.

    >>> is_svd([[1.0, 1.0]], [[1.0]], [1.0], [[1.0], [0.0]])
    False
    """
    A, s = data_matrix(A, "A"), singular_values(s)
    U, V = real_array(U, "U"), real_array(V, "V")
    if U.shape != (A.shape[0], s.size) or V.shape != (A.shape[1], s.size):
        raise ValueError(
            f"U {U.shape} and V {V.shape} don't fit A {A.shape} with {s.size} singular values: "
            f"U needs shape {(A.shape[0], s.size)} and V {(A.shape[1], s.size)}, not transposed."
        )
    identity = np.eye(s.size)
    scale = max(np.abs(A).max(), s.max(initial=0.0)) or 1.0
    residuals = [
        U.T @ U - identity,
        V.T @ V - identity,
        (A @ V - U * s) / scale,
        (A.T @ U - V * s) / scale,
        (A - (U * s) @ V.T) / scale,
    ]
    return all(np.abs(residual).max(initial=0.0) <= tol for residual in residuals)


def frobenius_norm(A: ArrayLike) -> float:
    """Return √(Σ Aᵢⱼ²) :eq:`eq-frobenius`, without overflow when the squares would have any.

    >>> frobenius_norm([[3.0, 0.0], [0.0, 4.0]])
    5.0
    """
    A = data_matrix(A, "A")
    scale = np.abs(A).max() or 1.0
    return float(scale * np.sqrt(np.sum((A / scale) ** 2)))


def low_rank(A: ArrayLike, k: int) -> NDArray:
    """Return A_k, the sum of the k leading terms sᵢuᵢvᵢᵀ :eq:`eq-truncation`.

    No matrix of rank k is nearer to A :eq:`eq-eckart-young`, and in the Frobenius
    norm no other is as near if s_k > s_{k+1}. Equals A if k is the rank or more. All
    singular values are computed: who finds only k can't know that none was missed.

    >>> low_rank([[2.0, 0.0], [0.0, 1.0]], 1)
    array([[2., 0.],
           [0., 0.]])
    """
    return thin_svd(A).truncate(k).matrix()


def low_rank_error(s: ArrayLike, k: int, norm: str = "frobenius") -> float:
    """Return ‖A − A_k‖ from the singular values s of A alone.

    ``norm="frobenius"`` gives √(s²_{k+1} + … + s²_r) :eq:`eq-error-frobenius`,
    ``norm="spectral"`` gives s_{k+1} :eq:`eq-error-spectral`; both are 0 once k reaches the rank.

    >>> low_rank_error([5.0, 4.0, 3.0], 1)
    5.0
    >>> low_rank_error([5.0, 4.0, 3.0], 1, norm="spectral")
    4.0
    """
    s = singular_values(s)
    k = min(_rank(k), s.size)
    if norm == "frobenius":
        return float(_tail_norms(s)[k])
    if norm == "spectral":
        return float(s[k:].max(initial=0.0))
    raise ValueError(f'norm={norm!r}: choose "frobenius" or "spectral".')


def relative_error(s: ArrayLike, k: int, squared: bool = False) -> float:
    """Return ‖A − A_k‖_F / ‖A‖_F, or its square, from the singular values :eq:`eq-relative-error`.

    The square is the lost share of ‖A‖²_F: a loss of 0.05 means an error of √0.05 ≈ 22 %.
    For the zero matrix, which is approximated exactly, the error is 0.

    >>> relative_error([4.0, 3.0], 1)
    0.6
    """
    errors = _relative_errors(singular_values(s), squared)
    return float(errors[min(_rank(k), errors.size - 1)])


def choose_rank(s: ArrayLike, max_relative_error: float, squared: bool = False) -> int:
    """Return the smallest k whose relative error is at most the bound :eq:`eq-choose-rank`.

    >>> choose_rank([10.0, 3.0, 1.0, 0.5], 0.05)
    3
    >>> choose_rank([10.0, 3.0, 1.0, 0.5], 0.05, squared=True)
    2
    """
    bound = fraction(max_relative_error, "max_relative_error")
    errors = _relative_errors(singular_values(s), squared)  # falls from 1 at k = 0 to 0
    return int(np.argmax(errors <= bound))


def projector(U: ArrayLike) -> NDArray:
    """Return P = UUᵀ, the orthogonal projection on to the columns of U :eq:`eq-projector`.

    U : (n, k) with orthonormal columns; P : (n, n).

    >>> projector([[1.0], [0.0]])
    array([[1., 0.],
           [0., 0.]])
    """
    U = orthonormal_columns(U)
    return U @ U.T


def _rounding(A: NDArray) -> float:
    """Return the relative size of rounding noise in what LAPACK computes from A."""
    working = np.float32 if A.dtype.itemsize <= 4 else np.float64
    return max(A.shape) * float(np.finfo(working).eps)


def _numerical_rank(falling: NDArray, rtol: float) -> int:
    """Count the values above rtol times the first: the rest is noise."""
    return int(np.sum(falling > rtol * max(falling[0], 0.0)))


def _complete(U: NDArray) -> NDArray:
    """Append columns to the orthonormal ones of U until they are a basis of the whole space."""
    n, r = U.shape
    if r == 0:
        return np.eye(n)
    Q, _ = linalg.qr(U)  # the first r columns of Q span those of U
    return np.column_stack([U, Q[:, r:]])


def _longest_direction(A: NDArray, rng: np.random.Generator) -> NDArray:
    """Return a unit vector v that maximises ‖Av‖."""
    gram = A.T @ A

    def negative_stretch(v: NDArray) -> tuple[float, NDArray]:
        length2 = v @ v
        stretch = v @ gram @ v / length2
        return -stretch, 2 * (stretch * v - gram @ v) / length2

    # The other stationary points are no maxima: a random start leaves them.
    start = rng.standard_normal(A.shape[1])
    patient = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 1000}
    start /= linalg.norm(start)
    best = optimize.minimize(negative_stretch, start, jac=True, method="L-BFGS-B", options=patient)
    return best.x / linalg.norm(best.x)


def _tail_norms(s: NDArray) -> NDArray:
    """Return √(s²_{k+1} + … + s²_r) for k = 0 … r, summed from the smallest up."""
    scale = s.max(initial=0.0) or 1.0
    tails = np.sqrt(np.cumsum((s[::-1] / scale) ** 2))[::-1]
    return scale * np.append(tails, 0.0)


def _relative_errors(s: NDArray, squared: bool) -> NDArray:
    """Return the relative error, or its square, of A_k for k = 0 … r."""
    tails = _tail_norms(s / (s.max(initial=0.0) or 1.0))
    errors = tails / (tails[0] or 1.0)
    return errors**2 if squared else errors


def _rank(k: int) -> int:
    """Return k as a non-negative int."""
    if isinstance(k, bool | np.bool_) or not isinstance(k, Integral) or k < 0:
        raise ValueError(f"k={k!r} is no rank: a whole number from 0 up is needed.")
    return int(k)
