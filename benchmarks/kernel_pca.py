"""Benchmarks of chapter 5: kernel PCA beside each of scikit-learn's solvers, and encoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import KernelPCA

import kpca_edu
from kpca_edu import center_gram
from kpca_edu.kernels import median_sigma, rbf

from .harness import Task

__all__ = ["TASKS"]


@dataclass(frozen=True)
class KernelProblem:
    """Samples from a mixture of Gaussians, and an RBF kernel of the median width."""

    X: NDArray  # (n, d), read-only
    k: int
    sigma: float


@dataclass(frozen=True)
class EncodingProblem:
    """Fitted models, ours and scikit-learn's, and new samples."""

    T: NDArray  # (m, d) new samples, read-only
    ours: kpca_edu.KernelPCA
    theirs: KernelPCA
    scores: NDArray  # (m, k) the right scores, from the definition


# The problems


def mixture(n: int, d: int, k: int) -> Callable[..., KernelProblem]:
    """Make n×d samples in ten clouds, so that the spectrum has a head and a slow tail."""

    def make(rng: np.random.Generator, quick: bool) -> KernelProblem:
        X = _clouds(n // 10 if quick else n, d, rng)
        return KernelProblem(X, k // 5 if quick else k, median_sigma(X))

    return make


def new_samples(n: int, d: int, k: int) -> Callable[..., EncodingProblem]:
    """Make as many new samples as there are training samples, and fit both models."""

    def make(rng: np.random.Generator, quick: bool) -> EncodingProblem:
        X = _clouds(2 * (n // 10 if quick else n), d, rng)
        T, X = X[::2].copy(), X[1::2].copy()
        T.flags.writeable = False
        sigma = median_sigma(X)
        ours = kpca_edu.fit_kernel_pca(X, k, rbf(sigma))
        theirs = KernelPCA(k, kernel="rbf", gamma=_gamma(sigma), eigen_solver="arpack").fit(X)
        K, cross = rbf(sigma)(X), rbf(sigma)(T, X)
        centred = cross - cross.mean(axis=1, keepdims=True) - K.mean(axis=1) + K.mean()
        return EncodingProblem(T, ours, theirs, centred @ ours.alpha)

    return make


def _clouds(n: int, d: int, rng: np.random.Generator) -> NDArray:
    X = 2 * rng.standard_normal((10, d))[rng.integers(10, size=n)] + rng.standard_normal((n, d))
    X.flags.writeable = False
    return X


def _gamma(sigma: float) -> float:
    return 1 / (2 * sigma**2)


# The contenders: each returns eigenvalues and unit eigenvectors, as columns


def ours(problem: KernelProblem) -> tuple[NDArray, NDArray]:
    model = kpca_edu.fit_kernel_pca(problem.X, problem.k, rbf(problem.sigma))
    return model.lam, model.alpha * np.sqrt(model.lam)


def peer(solver: str, **settings) -> Callable[[KernelProblem], tuple[NDArray, NDArray]]:
    def solve(problem: KernelProblem) -> tuple[NDArray, NDArray]:
        model = KernelPCA(
            problem.k,
            kernel="rbf",
            gamma=_gamma(problem.sigma),
            eigen_solver=solver,
            random_state=0,
            copy_X=False,
            **settings,
        ).fit(problem.X)
        return model.eigenvalues_, model.eigenvectors_

    return solve


def default(problem: KernelProblem) -> tuple[NDArray, NDArray]:
    """Nothing but the kernel is set: all n − 1 components are computed."""
    model = KernelPCA(kernel="rbf", gamma=_gamma(problem.sigma)).fit(problem.X)
    return model.eigenvalues_[: problem.k], model.eigenvectors_[:, : problem.k]


def worst_residual(result: tuple[NDArray, NDArray], problem: KernelProblem) -> float:
    """Return the largest residual ‖K̃a − λ̃a‖ of a pair, relative to λ̃₁."""
    lam, A = result
    K = center_gram(rbf(problem.sigma)(problem.X))
    return float(np.linalg.norm(K @ A - A * lam, axis=0).max() / lam[0])


def encode_ours(problem: EncodingProblem) -> NDArray:
    return problem.ours.encode(problem.T)


def encode_theirs(problem: EncodingProblem) -> NDArray:
    return problem.theirs.transform(problem.T)


def worst_score(Z: NDArray, problem: EncodingProblem) -> float:
    """Return the largest error of a score relative to the largest score, signs matched."""
    gap = kpca_edu.align_signs(problem.scores, Z) - problem.scores
    return float(np.abs(gap).max() / np.abs(problem.scores).max())


def _task(k: int) -> Task:
    return Task(
        name=f"kernel-pca-{k}",
        description=f"kernel PCA, 4000×20, RBF kernel, k = {k}",
        error_means="largest residual ‖K̃a − λ̃a‖ relative to λ̃₁",
        make_problem=mixture(4000, 20, k),
        contenders={
            "kpca_edu": ours,
            "sklearn arpack": peer("arpack"),
            "sklearn randomized": peer("randomized"),
            "sklearn randomized, 40 rounds": peer("randomized", iterated_power=40),
            "sklearn auto": peer("auto"),
            "sklearn dense": peer("dense"),
            "sklearn default (all components)": default,
        },
        error=worst_residual,
        most_rounds=3,
        slow=(
            "sklearn randomized, 40 rounds",
            "sklearn auto",
            "sklearn dense",
            "sklearn default (all components)",
        ),
    )


TASKS = [
    _task(10),
    _task(50),
    Task(
        name="kernel-pca-encode",
        description="scores of 4000 new samples, 4000×20 training samples, RBF kernel, k = 10",
        error_means="largest error of a score relative to the largest score",
        make_problem=new_samples(4000, 20, 10),
        contenders={"kpca_edu": encode_ours, "sklearn": encode_theirs},
        error=worst_score,
    ),
]
