"""Benchmarks of chapter 10: sparse PCA beside scikit-learn's, at the same number of loadings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import SparsePCA

import kpca_edu

from .harness import Task

__all__ = ["TASKS"]


@dataclass(frozen=True)
class SparseProblem:
    """Data, how many loadings each component may have, and what there is to find."""

    X: NDArray  # (n, d), read-only
    counts: NDArray  # (k,) loadings of each component
    alpha: float  # scikit-learn's penalty
    supports: NDArray | None = None  # (d, k) where the planted loadings are


# The problems


def digits(rng: np.random.Generator, quick: bool) -> SparseProblem:
    """Take the digits and the counts that scikit-learn finds at alpha = 5."""
    X, k = (load_digits().data[:200], 3) if quick else (load_digits().data, 10)
    X.flags.writeable = False
    theirs = SparsePCA(k, alpha=5, random_state=0).fit(X)
    return SparseProblem(X, np.count_nonzero(theirs.components_, axis=1), 5.0)


def factors_in_noise(rng: np.random.Generator, quick: bool) -> SparseProblem:
    """Make n samples of noise in which three factors move 20 features each."""
    n, d = (50, 100) if quick else (500, 1000)
    supports = np.zeros((d, 3), bool)
    for j in range(3):
        supports[20 * j : 20 * j + 20, j] = True
    X = rng.standard_normal((n, 3)) * [1.5, 1.25, 1.0] @ supports.T + rng.standard_normal((n, d))
    X.flags.writeable = False
    return SparseProblem(X, np.full(3, 20), 10.0, supports)


# The contenders: each returns B, (d, k)


def ours(**options: float) -> Callable[[SparseProblem], NDArray]:
    def solve(problem: SparseProblem) -> NDArray:
        k = problem.counts.size
        return kpca_edu.fit_sparse_pca(problem.X, k, nonzeros=problem.counts, **options).B

    return solve


def peer(problem: SparseProblem) -> NDArray:
    model = SparsePCA(problem.counts.size, alpha=problem.alpha, random_state=0)
    return model.fit(problem.X).components_.T


# The errors


def variance_missed(B: NDArray, problem: SparseProblem) -> float:
    """Return the share of the variance that the components don't explain, adjusted."""
    explained = kpca_edu.adjusted_variances(problem.X, B).sum()
    return float(1 - explained / np.var(problem.X, axis=0).sum())


def loadings_misplaced(B: NDArray, problem: SparseProblem) -> float:
    """Return how many loadings are on or off where they should not be, in the best order."""
    wrong = np.sum((B != 0)[:, :, None] != problem.supports[:, None, :], axis=0)
    return float(wrong.min(axis=1).sum())


TASKS = [
    Task(
        name="sparse-pca-digits",
        description="10 sparse components of the digits, as many loadings as SparsePCA(alpha=5)",
        error_means="share of the variance not explained (adjusted)",
        make_problem=digits,
        contenders={
            "kpca_edu": ours(),
            "kpca_edu ridge=1": ours(ridge=1.0),
            "sklearn SparsePCA": peer,
        },
        error=variance_missed,
        most_rounds=1,
        slow=("sklearn SparsePCA",),  # more than a minute a run
    ),
    Task(
        name="sparse-pca-wide",
        description="500×1000, noise and three factors with 20 features each",
        error_means="number of misplaced loadings",
        make_problem=factors_in_noise,
        contenders={
            "kpca_edu": ours(),
            "kpca_edu ridge=inf": ours(ridge=np.inf),
            "sklearn SparsePCA": peer,
        },
        error=loadings_misplaced,
    ),
]
