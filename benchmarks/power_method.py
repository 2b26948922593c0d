"""Benchmarks of chapter 2: the randomised SVD beside scikit-learn's, with the same sizes."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg
from sklearn.utils.extmath import randomized_svd

import kpca_edu

from .harness import Task
from .svd import Factors, MatrixProblem, one_over_i, with_spectrum

__all__ = ["TASKS"]

OVERSAMPLE, N_ITER = 10, 4


def ours(problem: MatrixProblem) -> Factors:
    svd = kpca_edu.randomized_svd(problem.A, problem.k, oversample=OVERSAMPLE, n_iter=N_ITER)
    return svd.U, svd.s, svd.V


def ours_by_blocks(problem: MatrixProblem) -> Factors:
    svd = kpca_edu.subspace_iteration(problem.A, problem.k, oversample=OVERSAMPLE, tol=1e-4)
    return svd.U, svd.s, svd.V


def sklearn_randomized(problem: MatrixProblem) -> Factors:
    U, s, Vt = randomized_svd(
        problem.A, problem.k, n_oversamples=OVERSAMPLE, n_iter=N_ITER, random_state=0
    )
    return U, s, Vt.T


def scipy_svds(problem: MatrixProblem) -> Factors:
    U, s, Vt = scipy.sparse.linalg.svds(problem.A, problem.k, rng=np.random.default_rng(0))
    order = np.argsort(-s)
    return U[:, order], s[order], Vt[order].T


def loss_over_optimum(factors: Factors, problem: MatrixProblem) -> float:
    """Return ‖A−Â‖_F / ‖A−A_k‖_F − 1, from the part of A that the right vectors keep."""
    _, _, V = factors
    kept = np.linalg.norm(problem.A @ V) ** 2
    optimum = np.sum(problem.s[problem.k :] ** 2)
    return float(np.sqrt((np.sum(problem.s**2) - kept) / optimum) - 1)


TASKS = [
    Task(
        name="randomized-svd",
        description="20 triplets of a 10000×2000 matrix, sᵢ = 1/i, 10 extra columns, 4 power steps",
        error_means="‖A−AVVᵀ‖_F over the least possible one, minus 1",
        make_problem=with_spectrum(10_000, 2_000, one_over_i, k=20),
        contenders={
            "kpca_edu": ours,
            "kpca_edu subspace_iteration": ours_by_blocks,
            "sklearn randomized_svd": sklearn_randomized,
            "scipy svds": scipy_svds,
        },
        error=loss_over_optimum,
    ),
    Task(
        name="randomized-svd-tall",
        description="10 triplets of a 20000×200 matrix, sᵢ = 1/i, 10 extra columns, 4 power steps",
        error_means="‖A−AVVᵀ‖_F over the least possible one, minus 1",
        make_problem=with_spectrum(20_000, 200, one_over_i, k=10),
        contenders={"kpca_edu": ours, "sklearn randomized_svd": sklearn_randomized},
        error=loss_over_optimum,
    ),
]
