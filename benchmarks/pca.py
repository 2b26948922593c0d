"""Benchmarks of chapter 3: PCA by shape, side by side with scikit-learn's solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA

import kpca_edu
from kpca_edu.datasets import matrix_with_singular_values

from .harness import Task

__all__ = ["TASKS"]


@dataclass(frozen=True)
class PCAProblem:
    """Data with a mean that is not zero, and the leading variances to compare with."""

    X: NDArray | sparse.csr_array  # (n, d), read-only
    variances: NDArray  # (k,) the leading variances s²/n, to all digits

    @property
    def k(self) -> int:
        return self.variances.size


# The problems


def decaying(n: int, d: int, k: int) -> Callable[..., PCAProblem]:
    """Make n×d data with singular values 1, 1/2, 1/3, … before a mean is added."""

    def make(rng: np.random.Generator, quick: bool) -> PCAProblem:
        rows, columns = (n // 10, d // 10) if quick else (n, d)
        s = 1 / np.arange(1, min(rows, columns) + 1)
        X = 100 * matrix_with_singular_values(s, rows, columns, rng)
        X += rng.standard_normal(columns)
        X.flags.writeable = False
        exact = scipy.linalg.svdvals(_short_side(X - X.mean(axis=0)))
        return PCAProblem(X, exact[: k // 10 if quick else k] ** 2 / rows)

    return make


def word_counts(n: int, d: int, per_row: int, k: int) -> Callable[..., PCAProblem]:
    """Make n documents of per_row words from d, drawn from twelve topics: 0.5 % of X is filled."""

    def make(rng: np.random.Generator, quick: bool) -> PCAProblem:
        rows, columns = (n // 10, d // 10) if quick else (n, d)
        topics = rng.dirichlet(np.full(columns, 0.05), size=12)
        topic = np.sort(rng.integers(12, size=rows))
        words = [
            rng.choice(columns, (np.sum(topic == t), per_row), p=0.7 * topics[t] + 0.3 / columns)
            for t in range(12)
        ]
        place = np.repeat(np.arange(rows), per_row), np.concatenate(words).ravel()
        X = sparse.csr_array((np.ones(rows * per_row), place), shape=(rows, columns))
        X.sum_duplicates()
        return PCAProblem(X, _exact_variances(X, k))

    return make


def _short_side(X: NDArray) -> NDArray:
    """Return a matrix with the same singular values, square of the shorter side."""
    return np.linalg.qr(X if X.shape[0] >= X.shape[1] else X.T, mode="r")


def _exact_variances(X: sparse.csr_array, k: int) -> NDArray:
    n, d = X.shape
    mean = X.sum(axis=0) / n
    C = (X.T @ X).toarray() / n - np.outer(mean, mean)  # counts: no digit is lost that matters
    return scipy.linalg.eigh(C, eigvals_only=True, subset_by_index=[d - k, d - 1])[::-1]


# The contenders: each returns the variances and the directions, as columns


def ours(solver: str = "auto") -> Callable[[PCAProblem], tuple[NDArray, NDArray, NDArray]]:
    def solve(problem: PCAProblem):
        model = kpca_edu.fit_pca(problem.X, problem.k, solver=solver)
        return model.variances, model.V, model.mean

    return solve


def peer(solver: str) -> Callable[[PCAProblem], tuple[NDArray, NDArray, NDArray]]:
    def solve(problem: PCAProblem):
        model = PCA(problem.k, svd_solver=solver, random_state=0).fit(problem.X)
        n = problem.X.shape[0]
        return model.explained_variance_ * (n - 1) / n, model.components_.T, model.mean_

    return solve


def worst_variance(result: tuple[NDArray, NDArray, NDArray], problem: PCAProblem) -> float:
    """Return the largest relative error of what the directions keep, and of what is reported.

    What direction v keeps is ‖X_c v‖²/n: wrong directions can't hide behind right numbers.
    """
    reported, V, mean = result
    kept = np.sum((problem.X @ V - mean @ V) ** 2, axis=0) / problem.X.shape[0]
    errors = [np.abs(found / problem.variances - 1).max() for found in (reported, kept)]
    return float(np.max(errors))


def _task(name: str, what: str, make: Callable, contenders: dict[str, Callable]) -> Task:
    return Task(
        name=name,
        description=f"PCA, {what}",
        error_means="largest relative error of a variance, as reported and as kept by V",
        make_problem=make,
        contenders=contenders,
        error=worst_variance,
    )


TASKS = [
    _task(
        "pca-tall",
        "20000×200, k = 20",
        decaying(20_000, 200, 20),
        {
            "kpca_edu auto": ours(),
            "sklearn covariance_eigh": peer("covariance_eigh"),
            "sklearn full": peer("full"),
            "sklearn randomized": peer("randomized"),
            "kpca_edu svd": ours("svd"),
        },
    ),
    _task(
        "pca-wide",
        "500×20000, k = 20",
        decaying(500, 20_000, 20),
        {
            "kpca_edu auto": ours(),
            "sklearn randomized": peer("randomized"),
            "sklearn arpack": peer("arpack"),
            "sklearn full": peer("full"),
            "kpca_edu svd": ours("svd"),
        },
    ),
    _task(
        "pca-randomized",
        "10000×2000, k = 20, singular values 1/i",
        decaying(10_000, 2_000, 20),
        {
            "kpca_edu randomized": ours("randomized"),
            "sklearn randomized": peer("randomized"),
            "sklearn arpack": peer("arpack"),
            "sklearn covariance_eigh": peer("covariance_eigh"),
            "kpca_edu auto": ours(),
            "kpca_edu lanczos": ours("lanczos"),
        },
    ),
    _task(
        "pca-sparse",
        "50000×5000 CSR, 0.5 % filled, k = 10",
        word_counts(50_000, 5_000, 25, 10),
        {
            "kpca_edu auto": ours(),
            "sklearn arpack": peer("arpack"),
        },
    ),
]
