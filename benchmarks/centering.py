"""Benchmarks of chapter 6: centring a Gram matrix, beside scikit-learn's KernelCenterer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import KernelCenterer

from kpca_edu import center_gram
from kpca_edu.centering import center_gram_in_place
from kpca_edu.kernels import median_sigma, rbf

from .harness import Task

__all__ = ["TASKS"]


@dataclass(frozen=True)
class GramProblem:
    """A Gram matrix to keep, one to write to, and the centred matrix to compare with."""

    K: NDArray  # (n, n), read-only
    work: NDArray  # (n, n), where contenders that work in place put their copy of K
    centred: NDArray  # (n, n) in extended precision, rounded


def gaussian(n: int, d: int) -> Callable[..., GramProblem]:
    """Make the Gram matrix of n samples with d features, Gaussian kernel."""

    def make(rng: np.random.Generator, quick: bool) -> GramProblem:
        X = rng.standard_normal((n // 10 if quick else n, d))
        K = rbf(median_sigma(X))(X, X)
        K = (K + K.T) / 2
        K.flags.writeable = False
        r = K.mean(axis=1, dtype=np.longdouble)
        centred = (K - r[:, None] - r + r.mean()).astype(float)
        return GramProblem(K, np.empty_like(K), centred)

    return make


# The contenders. Those in place copy K to the work array first: the same for both.


def ours_in_place(problem: GramProblem) -> NDArray:
    np.copyto(problem.work, problem.K)
    return center_gram_in_place(problem.work)


def theirs_in_place(problem: GramProblem) -> NDArray:
    np.copyto(problem.work, problem.K)
    return KernelCenterer().fit(problem.work).transform(problem.work, copy=False)


def ours(problem: GramProblem) -> NDArray:
    return center_gram(problem.K)


def theirs(problem: GramProblem) -> NDArray:
    return KernelCenterer().fit_transform(problem.K)


def largest_error(result: NDArray, problem: GramProblem) -> float:
    """Return the largest error of an entry; those of K are at most 1."""
    return float(np.abs(result - problem.centred).max())


TASKS = [
    Task(
        name="centering",
        description="centring a 4000×4000 Gram matrix",
        error_means="largest error of an entry",
        make_problem=gaussian(4_000, 20),
        contenders={
            "kpca_edu in place": ours_in_place,
            "sklearn in place": theirs_in_place,
            "kpca_edu center_gram": ours,
            "sklearn fit_transform": theirs,
        },
        error=largest_error,
    ),
]
