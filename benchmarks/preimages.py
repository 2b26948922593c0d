"""Benchmarks of chapter 7: cleaning digits, beside scikit-learn's inverse_transform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA

import kpca_edu
from kpca_edu.kernels import rbf

from .harness import Task

__all__ = ["TASKS"]

ALPHAS = (10.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)


@dataclass(frozen=True)
class NoisyDigits:
    """8×8 digits with noise, a model of clean ones, and what scikit-learn's penalty should be."""

    train: NDArray  # (n, 64) clean, to learn from
    noisy: NDArray  # (m, 64) to be cleaned
    clean: NDArray  # (m, 64) the truth
    model: kpca_edu.KernelPCA  # fitted on train
    sigma: float  # width of the kernel, for all contenders
    best_alpha: float  # scikit-learn's penalty with the least error on these very digits


def noisy_digits(sigma: float) -> Callable[..., NoisyDigits]:
    """Take 1,000 digits to learn from and 500 to clean, noise of standard deviation 0.35."""

    def make(rng: np.random.Generator, quick: bool) -> NoisyDigits:
        X = rng.permutation(load_digits().data / 16)
        n, m, k = (100, 50, 20) if quick else (1000, 500, 60)
        train, clean = X[:n], X[n : n + m]
        noisy = clean + 0.35 * rng.standard_normal(clean.shape)
        errors = [
            np.mean((_by_sklearn(train, noisy, k, sigma, alpha) - clean) ** 2) for alpha in ALPHAS
        ]
        model = kpca_edu.fit_kernel_pca(train, k, rbf(sigma))
        best = ALPHAS[int(np.argmin(errors))]
        return NoisyDigits(train, noisy, clean, model, sigma, best)

    return make


# The contenders: each returns the cleaned digits


def fixed_point(problem: NoisyDigits) -> NDArray:
    return kpca_edu.denoise(problem.model, problem.noisy).X


def fit_and_fixed_point(problem: NoisyDigits) -> NDArray:
    k = len(problem.model.lam)
    model = kpca_edu.fit_kernel_pca(problem.train, k, rbf(problem.sigma))
    return kpca_edu.denoise(model, problem.noisy).X


def ours(method: str) -> Callable[[NoisyDigits], NDArray]:
    return lambda problem: kpca_edu.denoise(problem.model, problem.noisy, method).X


def sklearn_default(problem: NoisyDigits) -> NDArray:
    k = len(problem.model.lam)
    return _by_sklearn(problem.train, problem.noisy, k, problem.sigma, 1.0)


def sklearn_best(problem: NoisyDigits) -> NDArray:
    k = len(problem.model.lam)
    return _by_sklearn(problem.train, problem.noisy, k, problem.sigma, problem.best_alpha)


def _by_sklearn(train: NDArray, noisy: NDArray, k: int, sigma: float, alpha: float) -> NDArray:
    model = KernelPCA(
        k, kernel="rbf", gamma=1 / (2 * sigma**2), fit_inverse_transform=True, alpha=alpha
    )
    model.fit(train)
    return model.inverse_transform(model.transform(noisy))


def mean_squared_error(cleaned: NDArray, problem: NoisyDigits) -> float:
    return float(np.mean((cleaned - problem.clean) ** 2))


TASKS = [
    Task(
        name="preimages-digits",
        description="500 noisy digits, 1000 training points, 60 components, σ = 2.5",
        error_means="mean squared error to the clean digits; the noise has 0.1225",
        make_problem=noisy_digits(2.5),
        contenders={
            "kpca_edu fit + fixed point": fit_and_fixed_point,
            "sklearn fit + inverse, best alpha": sklearn_best,
            "sklearn fit + inverse, default": sklearn_default,
            "kpca_edu fixed point": fixed_point,
            "kpca_edu mds": ours("mds"),
            "kpca_edu gradient": ours("gradient"),
            "kpca_edu ridge": ours("ridge"),
        },
        error=mean_squared_error,
    ),
]
