"""Random sampling: the leading singular triplets from a few products with a random matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import choice, component_count, singular_values, whole_number
from ._engine.products import MatrixLike, Rng, as_map, gaussian, noise, orth, triplet_count
from ._engine.progress import with_progress
from .compare import fix_signs
from .svd import SVD

__all__ = ["randomized_svd", "range_finder", "range_error_bound"]


def randomized_svd(
    X: MatrixLike,
    k: int,
    *,
    oversample: int = 10,
    n_iter: int = 4,
    rng: Rng = 0,
    progress: bool = False,
) -> SVD:
    """Find k triplets from a random sample of the range of X :eq:`eq-randomized`.

    X : (n, d). The error is random: :func:`range_error_bound` has its mean. Fewer
    than k triplets come back if the rank is smaller.
    """
    X = as_map(X)
    k, extra = triplet_count(X, k), whole_number(oversample, "oversample")
    Q = range_finder(X, k + extra, n_iter=n_iter, rng=rng, progress=progress)
    B = (X.T @ Q).T  # QᵀX, a few long rows
    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    r = int(np.sum(s[:k] > noise(X, s)))
    V, U = fix_signs(Vt[:r].T, Q @ U[:, :r])
    return SVD(U, s[:r], V)


def range_finder(
    X: MatrixLike, size: int, *, n_iter: int = 0, rng: Rng = 0, progress: bool = False
) -> NDArray:
    """Return Q, an orthonormal basis of the columns of (XXᵀ)^q XΩ, q = n_iter :eq:`eq-range`.

    X : (n, d), Ω a d×size Gaussian matrix, Q : (n, size), or fewer columns if X
    has fewer rows or columns. An orthonormal basis after every product keeps the
    small directions, which bare powers would lose.
    """
    X, steps = as_map(X), range(whole_number(n_iter, "n_iter"))
    Y = X @ gaussian(X, size, rng)  # XΩ
    for _ in with_progress(steps, progress, "power steps"):
        Y = X @ orth(X.T @ orth(Y, rough=True))
    return orth(Y)


def range_error_bound(
    s: ArrayLike, k: int, *, oversample: int = 10, norm: str = "frobenius", n_iter: int = 0
) -> float:
    """Bound the expected norm of X − QQᵀX for a Gaussian sample of k + oversample columns.

    s holds *all* singular values of X. ``norm="frobenius"`` is :eq:`eq-hmt-frobenius`
    (n_iter = 0 only), ``norm="spectral"`` is :eq:`eq-hmt-spectral`, with n_iter power
    steps. Needs k ≥ 2 and oversample ≥ 2.
    """
    s, p = singular_values(s), whole_number(oversample, "oversample", least=2)
    k = component_count(k, s.size, f"{s.size} singular values", least=2)
    q = whole_number(n_iter, "n_iter")
    norm = choice(norm, "norm", ["frobenius", "spectral"])
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
