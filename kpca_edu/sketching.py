"""Sketching: a random sample stands for a matrix, or for a feature space (chapter 11).

``randomized_svd`` samples the range of a matrix. ``nystrom``, ``fourier_features`` and
``orthogonal_features`` give maps φ̂ with φ̂(x)ᵀφ̂(y) ≈ κ(x, y): called on X (n, d) they return
(n, m) features, and what needed an n×n Gram matrix needs n×m numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import (
    check_columns,
    choice,
    component_count,
    flag,
    generator,
    number,
    singular_values,
    whole_number,
)
from ._engine.inner_products import Samples, SamplesLike, row_samples
from ._engine.landmarks import LANDMARKS, choose_landmarks, landmark_count, positive_spectrum
from ._engine.memory import room_for
from ._engine.model import Frozen
from ._engine.new_samples import kernel_values
from ._engine.panels import map_rows
from ._engine.products import MatrixLike, Rng, as_map, gaussian, noise, orth, triplet_count
from ._engine.progress import with_progress
from ._engine.waves import cosines, cosines_and_sines, refuse_overflowing_angles
from .compare import fix_signs
from .kernels import Kernel, KernelLike, check_kernel
from .svd import SVD

__all__ = [
    "randomized_svd",
    "range_finder",
    "range_error_bound",
    "NystromMap",
    "nystrom",
    "FourierMap",
    "fourier_features",
    "orthogonal_features",
    "fourier_error_bound",
]


def randomized_svd(
    X: MatrixLike,
    k: int,
    oversample: int = 10,
    n_iter: int = 4,
    *,
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
    scale = s[k:].max(initial=0.0) or 1.0  # so that no power over- or underflows
    tail = s[k:].astype(float) / scale
    if norm == "frobenius" and q == 0:
        return float(scale * np.sqrt(1 + k / (p - 1)) * np.linalg.norm(tail))
    if norm != "spectral":
        raise ValueError(
            f'norm={norm!r}, n_iter={q}: choose "spectral", or "frobenius" with n_iter=0.'
        )
    tail = tail ** (2 * q + 1)
    largest = (1 + np.sqrt(k / (p - 1))) * tail.max(initial=0.0)
    rest = np.e * np.sqrt(k + p) / p * np.linalg.norm(tail)
    return float(scale * (largest + rest) ** (1 / (2 * q + 1)))


# Landmarks: the features of a few samples stand for all


@dataclass(frozen=True, eq=False, repr=False)
class NystromMap(Frozen):
    """φ̂(x) = K_mm^(−1/2) κ(L, x), the part of φ(x) in the span of the landmarks' features."""

    landmarks: Any  # (m, d) the samples L, or what a callable kernel takes
    kernel: KernelLike  # κ
    root: NDArray  # (m, m) K_mm^(−1/2); directions without length are left out

    def __call__(self, X: Any) -> NDArray:
        """Return the features of any samples, (n, m), a block of rows at a time."""
        return map_rows(self.project, X, len(self.root))

    def project(self, X: Any) -> NDArray:
        """Return κ(X, L) K_mm^(−1/2) :eq:`eq-nystrom-features`."""
        return kernel_values(self.kernel, X, self.landmarks) @ self.root

    def __repr__(self) -> str:
        kernel = self.kernel if isinstance(self.kernel, Kernel) else "a callable"
        return f"NystromMap(m={len(self.root)}, {kernel})"


def nystrom(
    X: Any, m: int, kernel: KernelLike, rng: Rng = 0, *, landmarks: str = "uniform",
    progress: bool = False,
) -> NystromMap:  # fmt: skip
    """Choose m landmarks among the samples and project on their span :eq:`eq-nystrom`.

    X : (n, d), or a sequence of whatever the kernel compares. ``landmarks`` is
    "uniform", "kmeans" (centres of clusters), "leverage" or "pivoted" (samples that
    others explain badly). Exact for m = n. Costs O(m³), and O(nm²) for the features.
    """
    kernel, m = check_kernel(kernel), landmark_count(m, X)
    how = choice(landmarks, "landmarks", LANDMARKS)
    L = choose_landmarks(X, m, kernel, how, generator(rng), flag(progress, "progress"))
    lam, U = positive_spectrum(kernel_values(kernel, L, L))  # K_mm = U diag(λ) Uᵀ
    root = (U / np.sqrt(lam)) @ U.T
    return NystromMap(L, kernel, root)


# Waves: a shift-invariant kernel is a mean of cosines


@dataclass(frozen=True, eq=False, repr=False)
class FourierMap(Frozen):
    """Waves of random frequency whose products average to a kernel :eq:`eq-fourier`."""

    frequencies: NDArray  # (d, q) a column ω for each wave
    phases: NDArray | None = None  # (q,) shifts b; None if each ω has its cosine and its sine

    @property
    def m(self) -> int:
        """The number of features."""
        return self.frequencies.shape[1] * (2 if self.phases is None else 1)

    def __call__(self, X: SamplesLike) -> NDArray:
        """Return the features of any samples, (n, m), a block of rows at a time."""
        X = row_samples(X)
        check_columns(X, len(self.frequencies))
        refuse_overflowing_angles(X, self.frequencies)
        return map_rows(self.waves, X, self.m)

    def waves(self, X: Samples) -> NDArray:
        """Return √(2/m) (cos ωᵀx, sin ωᵀx), or √(2/m) cos(ωᵀx + b) :eq:`eq-fourier`."""
        scale, angles = np.sqrt(2 / self.m), X @ self.frequencies
        if self.phases is None:
            return scale * cosines_and_sines(angles)
        return scale * cosines(angles + self.phases)

    def __repr__(self) -> str:
        kind = "pairs" if self.phases is None else "phases"
        return f"FourierMap(d={len(self.frequencies)}, m={self.m}, {kind})"


def fourier_features(
    d: int,
    m: int,
    sigma: float,
    rng: Rng = 0,
    *,
    kernel: str = "rbf",
    phases: bool = False,
) -> FourierMap:
    """Draw m random features of a kernel of width σ on d-dimensional samples :eq:`eq-fourier`.

    Frequencies are N(0, I/σ²) for "rbf", and Cauchy of scale 1/σ for "laplacian"
    :eq:`eq-fourier-frequencies`. Each has a cosine and a sine, so m is even; with
    ``phases=True`` each has one cosine with a random shift instead.
    """
    d, m, rng = whole_number(d, "d", 1), whole_number(m, "m", 1), generator(rng)
    q = m if flag(phases, "phases") else _half(m)
    room_for(d, q, "The frequencies", "take fewer features m.")
    W = rng.standard_normal((d, q))
    if choice(kernel, "kernel", ["rbf", "laplacian"]) == "laplacian":
        W /= np.abs(rng.standard_normal(q))  # a normal over a normal is a Cauchy variable
    b = rng.uniform(0, 2 * np.pi, q) if phases else None
    return FourierMap(W / _width(sigma), b)


def orthogonal_features(d: int, m: int, sigma: float, rng: Rng = 0) -> FourierMap:
    """Draw Gaussian frequencies that are orthogonal in groups of d :eq:`eq-orthogonal`.

    Each frequency is N(0, I/σ²) as in :func:`fourier_features`, so the mean is the
    same; the directions of a group repel each other, and the variance is smaller for
    samples nearer than some 2σ.
    """
    d, q, rng = whole_number(d, "d", 1), _half(m), generator(rng)
    room_for(d, d, "An orthogonal group", "fourier_features(d, m, sigma) needs none.")
    room_for(d, q, "The frequencies", "take fewer features m.")
    groups = []
    for _ in range(0, q, d):
        Q, R = np.linalg.qr(rng.standard_normal((d, d)))
        lengths = np.linalg.norm(rng.standard_normal((d, d)), axis=0)  # as Gaussian columns have
        groups.append(Q * np.where(np.diag(R) < 0, -1.0, 1.0) * lengths)
    return FourierMap(np.hstack(groups)[:, :q] / _width(sigma))


def fourier_error_bound(n: int, m: int, delta: float = 0.05) -> float:
    """Bound all errors ``|φ̂(xᵢ)ᵀφ̂(xⱼ) − κ(xᵢ, xⱼ)|`` of n samples, with probability 1 − δ.

    Hoeffding's inequality for the m/2 cosines, over all pairs :eq:`eq-fourier-bound`.
    """
    n, q = whole_number(n, "n", least=2), _half(m)
    delta = number(delta, "delta", 0.0, 1.0, open_low=True)
    return float(np.sqrt(2 * np.log(n * (n - 1) / delta) / q))


def _half(m: int) -> int:
    m = whole_number(m, "m", least=1)
    if m % 2:
        raise ValueError(
            f"m={m}: each frequency has a cosine and a sine, so m is even. Take m={m + 1}."
        )
    return m // 2


def _width(sigma: float) -> float:
    return number(sigma, "sigma", 1e-150, 1e150, hint=": a width is positive")
