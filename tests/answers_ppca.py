"""Answers to the exercises of chapter 4: right ones in every form, and wrong ones."""

import numpy as np
from answers import FAILS, FUNCTION_NEEDED
from scipy.stats import multivariate_normal

from kpca_edu.datasets import tobamovirus
from kpca_edu.exercises.ppca import virus_holes


def closed_form(X, k, ddof=0, divide_by_d=False, root=True, subtract=True):
    lam, V = np.linalg.eigh(np.cov(X.T, ddof=ddof))
    lam, V = lam[::-1], V[:, ::-1]
    sigma2 = lam[k:].sum() / (len(lam) if divide_by_d else len(lam) - k)
    excess = lam[:k] - (sigma2 if subtract else 0)
    return X.mean(axis=0), V[:, :k] * (np.sqrt(excess) if root else excess), sigma2


def rotated(X, k):
    mean, W, sigma2 = closed_form(X, k)
    return mean, W @ np.linalg.qr(np.random.default_rng(0).standard_normal((k, k)))[0], sigma2


def density(X, mean, W, sigma2, constant=True, noise=True):
    d, k = W.shape
    M = W.T @ W + sigma2 * np.eye(k)
    R = X - mean
    m = np.linalg.solve(M, W.T @ R.T).T
    log_det = np.linalg.slogdet(M)[1] + (d - k) * np.log(sigma2) * noise
    square = ((R - m @ W.T) ** 2).sum(axis=1) / sigma2 + (m**2).sum(axis=1)
    return -0.5 * (d * np.log(2 * np.pi) * constant + log_det + square)


def dense(X, mean, W, sigma2):
    return multivariate_normal(mean, W @ W.T + sigma2 * np.eye(len(W))).logpdf(X)


def em_step(C, W, sigma2):
    k = W.shape[1]
    M_inv = np.linalg.inv(W.T @ W + sigma2 * np.eye(k))
    new = C @ W @ np.linalg.inv(sigma2 * np.eye(k) + M_inv @ W.T @ C @ W)
    return new, np.trace(C - C @ W @ M_inv @ new.T) / len(C)


def em_step_mixed(C, W, sigma2):
    new, _ = em_step(C, W, sigma2)
    return new, em_step(C, new, sigma2)[1]


def gain(lam, k, n, factor=1.0):
    def log_det(k):
        return np.log(lam[:k]).sum() + (len(lam) - k) * np.log(np.mean(lam[k:]))

    return factor * n / 2 * (log_det(k) - log_det(k + 1))


def filled_in(rounds):
    holes = virus_holes()
    lost = np.isnan(holes)
    filled = np.where(lost, np.nanmean(holes, axis=0), holes)
    for _ in range(rounds):
        mean, W, sigma2 = closed_form(filled, 2)
        for i in range(38):  # one row at a time, from its observed values
            seen = ~lost[i]
            z = np.linalg.solve(
                W[seen].T @ W[seen] + sigma2 * np.eye(2), W[seen].T @ (holes[i] - mean)[seen]
            )
            filled[i, lost[i]] = (mean + W @ z)[lost[i]]
    return closed_form(filled, 2)[2]


TOP = 0.5 * np.log(4 / 5) + np.log(2.8 / 2.3)
LOOP = filled_in(200)

# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "ppca-1": (
        [34, 34.0, np.int64(34)],
        [(37, "Rotating"), (25, "mean counts"), (54, "full covariance"), (33, "σ² counts")]
        + [(31, ""), ("many", "number is needed")],
    ),
    "ppca-2": (
        [(1, 6, 3), [1.0, 6.0, 3.0], np.array([1, 6, 3])],
        [((1, 7, 4), "noise"), ((1, 36, 9), "root"), ((0.6, 6.4, 3.4), "d − k")]
        + [((1, 6**0.5, 3**0.5), "squares"), ((1, 3, 6), ""), (1, "shape")],
    ),
    "ppca-3": (
        [(6 / 7, 3 / 4), [0.857142857, 0.75]],
        [((6 / 7) ** 0.5, "shape"), (((6 / 7) ** 0.5, 0.75**0.5), "codes"), ((1, 1), "")]
        + [((1 / 7, 1 / 4), "lost"), ((0.75, 6 / 7), ""), ((6, 3), "")],
    ),
    "ppca-4": (
        [TOP, round(TOP, 5)],
        [(2 * TOP, "halve"), (-TOP, "sign"), (0, ""), (1.0, ""), (5, "")]
        + [(0.5 * np.log(0.6 / 5) + np.log(4.5 / 2.3), "no stationary point")],
    ),
    "ppca-5": (
        [(2.4, 1.4**0.5), [2.4, 1.1832]],
        [((2.4, 1.4), "variance"), ((2.4, 0.4**0.5), "noise of its own"), (2.4, "shape")]
        + [((8 / 3, 1.4**0.5), "shorter"), ((1.2, 1.4**0.5), "w₂z"), ((0, 1), "")],
    ),
    "ppca-6": (
        [closed_form, rotated, lambda X, k: list(closed_form(X, k))],
        [(lambda X, k: closed_form(X, k, ddof=1), "n − 1"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, k: closed_form(X, k, divide_by_d=True), "not d")]
        + [(lambda X, k: closed_form(X, k, root=False), "square root")]
        + [(lambda X, k: closed_form(X, k, subtract=False), "subtract")]
        + [(lambda X, k: closed_form(X, k)[:2], "three")],
    ),
    "ppca-7": (
        [density, lambda *a: density(*a).tolist()],
        [(lambda *a: density(*a, constant=False), "constant"), FAILS, FUNCTION_NEEDED]
        + [(lambda *a: density(*a, noise=False), "(d − k)"), (dense, "d×d")]
        + [(lambda *a: density(*a).sum(), "shape")],
    ),
    "ppca-8": (
        [em_step, lambda C, W, s: list(em_step(C, W, s))],
        [(em_step_mixed, "old M"), (lambda C, W, s: em_step(C, W, s)[0], "pair"), FAILS]
        + [(lambda C, W, s: (C @ W, s), "M-step"), FUNCTION_NEEDED]
        + [(lambda C, W, s: (em_step(C, W, s)[0], s), "σ² isn't")],
    ),
    "ppca-9": (
        [LOOP, round(LOOP, 4)],
        [(filled_in(0), "first round"), (1.5430, "EM's own"), (0.0, ""), (5.0, "")]
        + [(np.linalg.eigvalsh(np.cov(tobamovirus().T, bias=True))[:16].mean(), "whole table")],
    ),
    "ppca-10": (
        [gain, lambda lam, k, n: np.float64(gain(lam, k, n))],
        [(lambda *a: gain(*a, 2.0), "Twice"), (lambda *a: gain(*a, -1.0), "sign"), FAILS]
        + [(lambda lam, k, n: gain(lam, k, 1), "per sample"), FUNCTION_NEEDED]
        + [(lambda lam, k, n: 0.0, "should be")],
    ),
}
