"""Benchmarks of chapters 11 and 12: kernel PCA by features, and PCA of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler

import kpca_edu
from kpca_edu.kernels import rbf
from kpca_edu.streaming import fit_kernel_pca_blocks

from .harness import Task

__all__ = ["TASKS"]

DRAWS = 8  # random features are judged by the mean error of so many draws, one is only timed
ROWS_SEEN = 2000  # of the Gram matrix, to judge an approximation by


@dataclass(frozen=True)
class KernelProblem:
    """Samples on a curved sheet with noise, a width, and how many features may be used."""

    X: NDArray  # (n, d), read-only
    sigma: float
    m: int  # features
    k: int  # components


def curved_sheet(n: int, d: int, m: int, k: int) -> Callable[..., KernelProblem]:
    """Make n samples of d features: a few smooth functions of three numbers, and noise."""

    def make(rng: np.random.Generator, quick: bool) -> KernelProblem:
        rows, features = (n // 10, m // 5) if quick else (n, m)
        T = rng.uniform(-1, 1, (rows, 3))
        X = np.sin(T @ rng.standard_normal((3, d)) * 1.5 + rng.uniform(0, 6, d))
        X += 0.1 * rng.standard_normal(X.shape)
        X.flags.writeable = False
        return KernelProblem(X, kpca_edu.median_sigma(X), features, k)

    return make


# The contenders: each returns the function that makes features for a seed, and the scores


def our_nystrom(p: KernelProblem, seed: int = 0) -> tuple:
    features = kpca_edu.nystrom(p.X, p.m, rbf(p.sigma), rng=seed)
    return features, kpca_edu.fit_kernel_pca_features(p.X, p.k, features).scores


def sklearn_nystroem(p: KernelProblem, seed: int = 0) -> tuple:
    features = Nystroem(gamma=1 / (2 * p.sigma**2), n_components=p.m, random_state=seed)
    F = features.fit_transform(p.X)
    return features.transform, PCA(p.k, svd_solver="covariance_eigh").fit_transform(F)


def our_fourier(p: KernelProblem, seed: int = 0) -> tuple:
    features = kpca_edu.fourier_features(p.X.shape[1], p.m, p.sigma, seed)
    return features, kpca_edu.fit_kernel_pca_features(p.X, p.k, features).scores


def our_fourier_in_blocks(p: KernelProblem, seed: int = 0) -> tuple:
    """Make the features twice, for the fit and for the scores, and keep none of them."""
    features = kpca_edu.fourier_features(p.X.shape[1], p.m, p.sigma, seed)
    model = fit_kernel_pca_blocks(_blocks(p.X), p.k, features)
    return features, model.encode(p.X)


def sklearn_fourier(p: KernelProblem, seed: int = 0) -> tuple:
    features = RBFSampler(gamma=1 / (2 * p.sigma**2), n_components=p.m, random_state=seed)
    F = features.fit_transform(p.X)
    return features.transform, PCA(p.k, svd_solver="covariance_eigh").fit_transform(F)


def gram_error(solve: Callable) -> Callable[[tuple, KernelProblem], float]:
    """Judge a contender by ‖K̂ − K‖/‖K‖ on some samples, the mean over several draws."""

    def error(_: tuple, p: KernelProblem) -> float:
        some = p.X[:: max(1, len(p.X) // ROWS_SEEN)]
        K = rbf(p.sigma)(some, some)
        gaps = []
        for seed in range(DRAWS):
            F = solve(p, seed)
            gaps.append(np.linalg.norm(F(some) @ F(some).T - K) / np.linalg.norm(K))
        return float(np.mean(gaps))

    return error


def _feature_maps() -> dict[str, Callable]:
    return {
        "kpca_edu nystrom": lambda p, s: kpca_edu.nystrom(p.X, p.m, rbf(p.sigma), rng=s),
        "sklearn Nystroem": lambda p, s: (
            Nystroem(gamma=1 / (2 * p.sigma**2), n_components=p.m, random_state=s)
            .fit(p.X)
            .transform
        ),
        "kpca_edu fourier": lambda p, s: kpca_edu.fourier_features(p.X.shape[1], p.m, p.sigma, s),
        "sklearn RBFSampler": lambda p, s: (
            RBFSampler(gamma=1 / (2 * p.sigma**2), n_components=p.m, random_state=s)
            .fit(p.X[:10])
            .transform
        ),
    }


def _named_error(result: tuple, p: KernelProblem) -> float:
    """Judge by the kind of features that the result carries."""
    features = result[0]
    kinds = _feature_maps()
    name = {
        "NystromMap": "kpca_edu nystrom",
        "FourierMap": "kpca_edu fourier",
    }.get(type(features).__name__)
    if name is None:
        peer = type(getattr(features, "__self__", features)).__name__
        name = f"sklearn {peer}"
    return gram_error(kinds[name])(result, p)


def _blocks(X: NDArray, rows: int = 10_000) -> Iterator[NDArray]:
    return (X[start : start + rows] for start in range(0, len(X), rows))


# A stream


@dataclass(frozen=True)
class Stream:
    """A long table that is read in blocks, and its leading variances."""

    X: NDArray  # (n, d), read-only; contenders see blocks of it
    variances: NDArray  # (k,)


def long_table(n: int, d: int, k: int) -> Callable[..., Stream]:
    """Make n rows with d features whose standard deviations fall like 1/i, and a mean."""

    def make(rng: np.random.Generator, quick: bool) -> Stream:
        rows = n // 10 if quick else n
        X = rng.standard_normal((rows, d)) / np.arange(1, d + 1)
        X += rng.standard_normal(d)
        X.flags.writeable = False
        Xc = X - X.mean(axis=0)
        return Stream(X, np.linalg.eigvalsh(Xc.T @ Xc / rows)[::-1][:k])

    return make


def our_stream(p: Stream) -> NDArray:
    return kpca_edu.fit_pca_blocks(_blocks(p.X), p.variances.size).variances


def bare_products(p: Stream) -> NDArray:
    """Add up XᵀX over the blocks, which no exact method can do without."""
    total = np.zeros((p.X.shape[1], p.X.shape[1]))
    for block in _blocks(p.X):
        total += block.T @ block
    return p.variances


def sklearn_incremental(p: Stream) -> NDArray:
    model = IncrementalPCA(p.variances.size)
    for block in _blocks(p.X):
        model.partial_fit(block)
    n = len(p.X)
    return model.explained_variance_ * (n - 1) / n


def variance_error(variances: NDArray, p: Stream) -> float:
    return float(np.abs(variances / p.variances - 1).max())


APPROXIMATION = f"‖K̂ − K‖/‖K‖ on {ROWS_SEEN:,} samples, the mean of {DRAWS} draws"

TASKS = [
    Task(
        name="nystrom",
        description="kernel PCA by landmarks, n = 20,000, d = 20, m = 500, k = 10",
        error_means=APPROXIMATION,
        make_problem=curved_sheet(20_000, 20, 500, 10),
        contenders={"kpca_edu": our_nystrom, "sklearn Nystroem + PCA": sklearn_nystroem},
        error=_named_error,
    ),
    Task(
        name="fourier",
        description="kernel PCA by random features, n = 200,000, d = 20, m = 500, k = 10",
        error_means=APPROXIMATION,
        make_problem=curved_sheet(200_000, 20, 500, 10),
        contenders={
            "kpca_edu": our_fourier,
            "sklearn RBFSampler + PCA": sklearn_fourier,
            "kpca_edu, in blocks": our_fourier_in_blocks,
        },
        error=_named_error,
        most_rounds=3,
    ),
    Task(
        name="streaming",
        description="PCA of 1,000,000×64 in blocks of 10,000 rows, k = 10",
        error_means="largest relative error of a variance",
        make_problem=long_table(1_000_000, 64, 10),
        contenders={
            "kpca_edu": our_stream,
            "XᵀX over the blocks": bare_products,
            "sklearn IncrementalPCA": sklearn_incremental,
        },
        error=variance_error,
        most_rounds=3,
    ),
]
