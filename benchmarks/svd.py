"""Benchmarks of chapter 1: the thin SVD and the best approximation of low rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.utils.extmath import randomized_svd

import kpca_edu
from kpca_edu.datasets import matrix_with_singular_values

from .harness import Task

__all__ = ["TASKS"]

Factors = tuple[NDArray, NDArray, NDArray]  # U, s, V with V not transposed


@dataclass(frozen=True)
class MatrixProblem:
    """A matrix whose singular values are known."""

    A: NDArray  # (n, d), read-only: no contender can spoil it for the next
    s: NDArray  # (min(n, d),) its singular values, falling
    k: int = 0  # the rank asked for, where one is


# The problems


def gaussian(n: int, d: int, k: int = 0) -> Callable[..., MatrixProblem]:
    """Make n×d matrices of independent normal entries: the singular values are nearly flat."""

    def make(rng: np.random.Generator, quick: bool) -> MatrixProblem:
        A = rng.standard_normal(_sizes(quick, n, d))
        return _problem(A, scipy.linalg.svdvals(A), *_sizes(quick, k))

    return make


def with_spectrum(
    n: int, d: int, spectrum: Callable[[int], NDArray], k: int = 0
) -> Callable[..., MatrixProblem]:
    """Make n×d matrices with d ≤ n given singular values and random singular vectors."""

    def make(rng: np.random.Generator, quick: bool) -> MatrixProblem:
        rows, columns, rank = _sizes(quick, n, d, k)
        s = spectrum(columns)
        return _problem(matrix_with_singular_values(s, rows, columns, rng), s, rank)

    return make


def one_over_i(r: int) -> NDArray:
    """Return 1, 1/2, 1/3, …, 1/r."""
    return 1 / np.arange(1, r + 1)


def twelve_decades(r: int) -> NDArray:
    """Return r values from 1 down to 1e-12, evenly spaced in the logarithm."""
    return np.logspace(0, -12, r)


def _sizes(quick: bool, *full: int) -> list[int]:
    return [size // 10 if quick else size for size in full]


def _problem(matrix: NDArray, s: NDArray, k: int) -> MatrixProblem:
    matrix.flags.writeable = False
    return MatrixProblem(matrix, s, k)


# The contenders: thin SVD


def our_thin_svd(problem: MatrixProblem) -> Factors:
    svd = kpca_edu.thin_svd(problem.A)
    return svd.U, svd.s, svd.V


def our_svd_via_gram(problem: MatrixProblem) -> Factors:
    svd = kpca_edu.svd_via_gram(problem.A)
    return svd.U, svd.s, svd.V


def numpy_svd(problem: MatrixProblem) -> Factors:
    U, s, Vt = np.linalg.svd(problem.A, full_matrices=False)
    return U, s, Vt.T


def scipy_svd(problem: MatrixProblem) -> Factors:
    U, s, Vt = scipy.linalg.svd(problem.A, full_matrices=False)
    return U, s, Vt.T


# The contenders: low rank. Each returns the approximation itself, an n×d matrix.


def our_low_rank(problem: MatrixProblem) -> NDArray:
    return kpca_edu.low_rank(problem.A, problem.k)


def numpy_low_rank(problem: MatrixProblem) -> NDArray:
    k = problem.k
    U, s, Vt = np.linalg.svd(problem.A, full_matrices=False)
    return (U[:, :k] * s[:k]) @ Vt[:k]


def scipy_svds(problem: MatrixProblem) -> NDArray:
    U, s, Vt = scipy.sparse.linalg.svds(problem.A, problem.k, rng=np.random.default_rng(0))
    return (U * s) @ Vt


def sklearn_randomized(problem: MatrixProblem) -> NDArray:
    U, s, Vt = randomized_svd(problem.A, problem.k, random_state=0)
    return (U * s) @ Vt


def sklearn_arpack(problem: MatrixProblem) -> NDArray:
    model = TruncatedSVD(problem.k, algorithm="arpack", random_state=0)
    return model.inverse_transform(model.fit_transform(problem.A))


# The errors


def svd_error(factors: Factors, problem: MatrixProblem) -> float:
    """Return the largest of: lost orthogonality, relative residual, error of s relative to s₁."""
    U, s, V = factors
    A = problem.A
    defects = [
        np.abs(U.T @ U - np.eye(U.shape[1])).max(),
        np.abs(V.T @ V - np.eye(V.shape[1])).max(),
        np.linalg.norm(A - (U * s) @ V.T) / np.linalg.norm(A),
        np.abs(_with_zeros(s, problem.s.size) - problem.s).max() / problem.s[0],
    ]
    return float(np.max(defects))  # not Python's max, which can drop a NaN


def loss_over_optimum(approximation: NDArray, problem: MatrixProblem) -> float:
    """Return ‖A−Â‖_F / ‖A−A_k‖_F − 1; below zero by more than rounding, Â has a rank above k.

    At the optimum the norm is flat: singular vectors wrong by 1e-8 cost 1e-16 only, so that this
    error sees what an approximation is for, and not the last digits of its factors.
    """
    optimum = np.linalg.norm(problem.s[problem.k :])
    return float(np.linalg.norm(problem.A - approximation) / optimum - 1)


def worst_relative_error(factors: Factors, problem: MatrixProblem) -> float:
    """Return the largest relative error of a singular value; a missing one counts as zero."""
    _, s, _ = factors
    found = _with_zeros(s, problem.s.size)
    return float(np.max(np.abs(found - problem.s) / problem.s))


def _with_zeros(s: NDArray, size: int) -> NDArray:
    """Append zeros up to the size: a thin SVD may have dropped what it took for zero."""
    return np.pad(s, (0, size - s.size))


# The tasks


def _thin_svd_task(name: str, n: int, d: int) -> Task:
    return Task(
        name=name,
        description=f"thin SVD of a {n}×{d} Gaussian matrix",
        error_means="largest of lost orthogonality, residual, error of s relative to s₁",
        make_problem=gaussian(n, d),
        contenders={"kpca_edu": our_thin_svd, "numpy": numpy_svd, "scipy": scipy_svd},
        error=svd_error,
        memory_partly_seen=("numpy",),
    )


def _low_rank_task(name: str, spectrum: str, make_problem: Callable[..., MatrixProblem]) -> Task:
    return Task(
        name=name,
        description=f"approximation of rank 20 of a 1000×800 matrix, {spectrum}",
        error_means="‖A−Â‖_F over the least possible one, minus 1",
        make_problem=make_problem,
        contenders={
            "kpca_edu": our_low_rank,
            "numpy svd, cut": numpy_low_rank,
            "scipy svds": scipy_svds,
            "sklearn randomized_svd": sklearn_randomized,
            "sklearn TruncatedSVD arpack": sklearn_arpack,
        },
        error=loss_over_optimum,
        memory_partly_seen=("numpy svd, cut",),
    )


TASKS = [
    _thin_svd_task("svd-tall", 4000, 300),
    _thin_svd_task("svd-square", 1000, 1000),
    _thin_svd_task("svd-wide", 300, 4000),
    _low_rank_task("low-rank-decaying", "sᵢ = 1/i", with_spectrum(1000, 800, one_over_i, k=20)),
    _low_rank_task("low-rank-flat", "Gaussian noise", gaussian(1000, 800, k=20)),
    Task(
        name="svd-graded",
        description="singular values from 1 to 1e-12 of a 1000×400 matrix: digits against speed",
        # Rounding the entries of A alone moves s by up to about 1e-16, a 1e-4th of the smallest.
        error_means="largest relative error of a singular value; 1 is: not found",
        make_problem=with_spectrum(1000, 400, twelve_decades),
        contenders={
            "kpca_edu thin_svd": our_thin_svd,
            "kpca_edu svd_via_gram": our_svd_via_gram,
        },
        error=worst_relative_error,
    ),
]
