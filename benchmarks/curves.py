"""Cost curves: time and peak memory of one method as n grows, for log–log plots with slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler

import kpca_edu
from kpca_edu.kernels import rbf

from .harness import peak_mb, seconds

__all__ = ["CURVES", "measure"]

SIGMA, M, K, D = 5.0, 300, 10, 20
GAMMA = 1 / (2 * SIGMA**2)


@dataclass(frozen=True)
class Curve:
    """One method, and up to how many samples it is tried."""

    name: str
    solve: Callable[[NDArray], object]
    most: int  # samples


CURVES = [
    Curve("kernel PCA", lambda X: kpca_edu.fit_kernel_pca(X, K, rbf(SIGMA)), 8_000),
    Curve(
        "kernel PCA, scikit-learn (arpack)",
        lambda X: KernelPCA(K, kernel="rbf", gamma=GAMMA, eigen_solver="arpack").fit(X),
        8_000,
    ),
    Curve(
        f"Nyström, m = {M}",
        lambda X: kpca_edu.fit_kernel_pca_features(X, K, kpca_edu.nystrom(X, M, rbf(SIGMA))),
        128_000,
    ),
    Curve(
        f"Nyström, m = {M}, scikit-learn",
        lambda X: PCA(K, svd_solver="covariance_eigh").fit(
            Nystroem(gamma=GAMMA, n_components=M, random_state=0).fit_transform(X)
        ),
        128_000,
    ),
    Curve(
        f"Fourier features, m = {M}",
        lambda X: kpca_edu.fit_kernel_pca_features(X, K, kpca_edu.fourier_features(D, M, SIGMA)),
        128_000,
    ),
    Curve(
        f"Fourier features, m = {M}, scikit-learn",
        lambda X: PCA(K, svd_solver="covariance_eigh").fit(
            RBFSampler(gamma=GAMMA, n_components=M, random_state=0).fit_transform(X)
        ),
        128_000,
    ),
    Curve("linear PCA", lambda X: kpca_edu.fit_pca(X, K), 128_000),
]


def measure(repeats: int, quick: bool, show: Callable[[str], None]) -> list[dict]:
    """Return for each method the n, the median seconds and the peak in MB, at default threads."""
    found = []
    for curve in CURVES:
        sizes = [n for n in (1000 * 2**i for i in range(8)) if n <= curve.most]
        points = []
        for n in sizes[:2] if quick else sizes:
            show(f"cost of {curve.name}, n = {n:,}")
            X = np.random.default_rng(n).standard_normal((n, D))
            curve.solve(X[:1000])  # warm-up
            times = [seconds(curve.solve, X) for _ in range(repeats)]
            points.append({"n": n, "seconds": median(times), "mb": peak_mb(curve.solve, X)})
        found.append({"method": curve.name, "points": points, "slopes": slopes(points)})
    return found


def slopes(points: list[dict]) -> dict[str, float]:
    """Return the exponents of n in time and memory, fitted to the larger half of the sizes."""
    large = points[len(points) // 2 :] if len(points) > 3 else points
    n = np.log([p["n"] for p in large])
    return {
        key: float(np.polyfit(n, np.log([max(p[key], 1e-9) for p in large]), 1)[0])
        for key in ("seconds", "mb")
    }
