"""Random sampling: the leading singular triplets from a few products with a random matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import component_count, linear_map, singular_values, whole_number
from ._engine.products import Map, gaussian, noise, orthonormal, product, triplet_count
from .compare import fix_signs
from .power_method import MatrixLike, Rng
from .svd import SVD

__all__ = ["randomized_svd", "range_finder", "range_error_bound"]


def randomized_svd(
    X: MatrixLike,
    k: int,
    oversample: int = 10,
    n_iter: int = 4,
    rng: Rng = 0,
) -> SVD:
    """Find k triplets from a random sample of the range of X.

    X : (n, d). The small matrix QᵀX, with Q from :func:`range_finder`, has an
    SVD whose leading part is that of X nearly :eq:`eq-randomized`. The error
    is random: :func:`range_error_bound` has its expectation. Fewer than k
    triplets come back if the rank is smaller.
    """
    A = linear_map(X)
    k = triplet_count(A, k)
    size = k + whole_number(oversample, "oversample")
    Q = _range_basis(A, size, whole_number(n_iter, "n_iter"), rng)
    B = product(A.T, Q).T  # QᵀX, a few long rows
    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    r = int(np.sum(s[:k] > noise(A, s)))
    V, U = fix_signs(Vt[:r].T, Q @ U[:, :r])
    return SVD(U, s[:r], V)


def range_finder(X: MatrixLike, size: int, n_iter: int = 0, rng: Rng = 0) -> NDArray:
    """Return Q, an orthonormal basis of the columns of (XXᵀ)^q X Ω, q = n_iter.

    X : (n, d), Ω a d×size Gaussian matrix :eq:`eq-range`, Q : (n, size) or fewer
    columns if X has fewer rows or columns. A QR after every product keeps the
    small directions, which bare powers would lose.
    """
    return _range_basis(linear_map(X), size, whole_number(n_iter, "n_iter"), rng)


def range_error_bound(
    s: ArrayLike, k: int, oversample: int = 10, norm: str = "frobenius", n_iter: int = 0
) -> float:
    """Bound the expected norm of X − QQᵀX for a Gaussian sample of k + oversample columns.

    s holds *all* singular values of X. ``norm="frobenius"`` is :eq:`eq-hmt-frobenius`
    (n_iter = 0 only), ``norm="spectral"`` is :eq:`eq-hmt-spectral`, with n_iter power
    steps. Needs k ≥ 2 and oversample ≥ 2.
    """
    s, p = singular_values(s), whole_number(oversample, "oversample", least=2)
    k = component_count(k, s.size, f"{s.size} singular values", least=2)
    q = whole_number(n_iter, "n_iter")
    if norm == "frobenius" and q == 0:
        return float(np.sqrt(1 + k / (p - 1)) * np.linalg.norm(s[k:]))
    if norm != "spectral":
        raise ValueError(
            f'norm={norm!r}, n_iter={q}: choose "spectral", or "frobenius" with n_iter=0.'
        )
    scale = s[0] or 1.0
    tail = (s[k:] / scale) ** (2 * q + 1)
    largest = (1 + np.sqrt(k / (p - 1))) * tail.max(initial=0.0)
    rest = np.e * np.sqrt(k + p) / p * np.linalg.norm(tail)
    return float(scale * (largest + rest) ** (1 / (2 * q + 1)))


def _range_basis(A: Map, size: int, n_iter: int, rng: Rng) -> NDArray:
    """Multiply a Gaussian matrix by X, then by XXᵀ n_iter times, with QR."""
    Q = orthonormal(product(A, gaussian(A, size, rng)))
    for _ in range(n_iter):
        Q = orthonormal(product(A.T, Q))
        Q = orthonormal(product(A, Q))
    return Q
