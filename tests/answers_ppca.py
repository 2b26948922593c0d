"""Answers to the exercises of chapter 4: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA

from kpca_edu.datasets import tobamovirus
from kpca_edu.exercises.ppca import virus_holes
from kpca_edu.ppca import PPCA, expect, maximize


def closed_form(X, k, ddof=0, share="d - k", root=True, subtract=True, top=True):
    lam, V = np.linalg.eigh(np.cov(X.T, ddof=ddof))
    lam, V = (lam[::-1], V[:, ::-1]) if top else (lam, V)
    sigma2 = lam[k:].sum() / {"d - k": len(lam) - k, "d": len(lam), "1": 1}[share]
    excess = np.abs(lam[:k] - (sigma2 if subtract else 0))
    return X.mean(axis=0), V[:, :k] * (np.sqrt(excess) if root else excess), sigma2


def rotated(X, k):
    mean, W, sigma2 = closed_form(X, k)
    return mean, W @ np.linalg.qr(np.random.default_rng(0).standard_normal((k, k)))[0], sigma2


def closed_form_by_svd(X, k):
    mean = X.mean(axis=0)
    _, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    lam = s**2 / len(X)
    sigma2 = (np.sum((X - mean) ** 2) / len(X) - lam[:k].sum()) / (X.shape[1] - k)
    return [mean.tolist(), (-Vt[:k].T * np.sqrt(lam[:k] - sigma2)).tolist(), float(sigma2)]


def closed_form_by_pca(X, k):
    pca = PCA(n_components=k).fit(X)  # divides by n − 1
    lam, sigma2 = pca.explained_variance_, pca.noise_variance_
    factor = (len(X) - 1) / len(X)
    return pca.mean_, pca.components_.T * np.sqrt((lam - sigma2) * factor), sigma2 * factor


def density(X, mean, W, sigma2, constant=True, noise=True):
    d, k = W.shape
    M = W.T @ W + sigma2 * np.eye(k)
    R = X - mean
    m = np.linalg.solve(M, W.T @ R.T).T
    log_det = np.linalg.slogdet(M)[1] + (d - k) * np.log(sigma2) * noise
    square = ((R - m @ W.T) ** 2).sum(axis=1) / sigma2 + (m**2).sum(axis=1)
    return -0.5 * (d * np.log(2 * np.pi) * constant + log_det + square)


def density_by_cholesky(X, mean, W, sigma2):
    (d, k), R = W.shape, X - mean
    factor = cho_factor(W.T @ W + sigma2 * np.eye(k), lower=True)
    RW = R @ W
    square = (np.sum(R**2, axis=1) - np.sum(RW * cho_solve(factor, RW.T).T, axis=1)) / sigma2
    log_det = 2 * np.log(np.diag(factor[0])).sum() + (d - k) * np.log(sigma2)
    return -0.5 * (d * np.log(2 * np.pi) + log_det + square)


def density_row_by_row(X, mean, W, sigma2):
    return [density(x[None], mean, W, sigma2)[0] for x in X]


def dense(X, mean, W, sigma2):
    return multivariate_normal(mean, W @ W.T + sigma2 * np.eye(len(W))).logpdf(X)


def dense_by_inverse(X, mean, W, sigma2):
    cov = W @ W.T + sigma2 * np.eye(len(W))
    square = np.sum((X - mean) @ np.linalg.inv(cov) * (X - mean), axis=1)
    return -0.5 * (len(W) * np.log(2 * np.pi) + np.linalg.slogdet(cov)[1] + square)


def em_step(C, W, sigma2):
    k = W.shape[1]
    M_inv = np.linalg.inv(W.T @ W + sigma2 * np.eye(k))
    new = C @ W @ np.linalg.inv(sigma2 * np.eye(k) + M_inv @ W.T @ C @ W)
    return new, np.trace(C - C @ W @ M_inv @ new.T) / len(C)


def em_step_by_moments(C, W, sigma2):
    eye = np.eye(W.shape[1])
    M = W.T @ W + sigma2 * eye
    B = np.linalg.solve(M, W.T)  # E[z | r] = Br
    G = sigma2 * np.linalg.inv(M) + B @ C @ B.T
    new = np.linalg.solve(G, B @ C).T
    return new, (np.trace(C) - 2 * np.trace(C @ B.T @ new.T) + np.trace(new @ G @ new.T)) / len(C)


def em_step_on_rows(C, W, sigma2):
    d = len(C)
    lam, V = np.linalg.eigh(C)
    X = np.vstack([np.eye(d), -np.eye(d)]) * np.sqrt(d) @ (V * np.sqrt(np.maximum(lam, 0))).T
    new = maximize(X, expect(PPCA(np.zeros(d), W, sigma2), X))
    return new.W, new.sigma2


def em_step_mixed(C, W, sigma2):
    new, _ = em_step(C, W, sigma2)
    return new, em_step(C, new, sigma2)[1]


def em_step_of_facts(C, W, sigma2):
    WM = W @ np.linalg.inv(W.T @ W + sigma2 * np.eye(W.shape[1]))
    return C @ WM @ np.linalg.inv(WM.T @ C @ WM), em_step(C, W, sigma2)[1]


def em_step_moving(C, W, sigma2):
    k = W.shape[1]
    M_inv = np.linalg.inv(W.T @ W + sigma2 * np.eye(k))
    B = sigma2 * M_inv + M_inv @ W.T @ C @ W @ M_inv
    new, noise = em_step(C, W, sigma2)
    return new @ np.linalg.cholesky(B), noise


def gain(lam, k, n, factor=1.0):
    def log_det(k):
        return np.log(lam[:k]).sum() + (len(lam) - k) * np.log(np.mean(lam[k:]))

    return factor * n / 2 * (log_det(k) - log_det(k + 1))


def gain_in_one_line(lam, k, n):
    d, rest = len(lam), lam[k + 1 :]
    ratio = (d - k) * np.log(lam[k:].mean()) - np.log(lam[k]) - len(rest) * np.log(rest.mean())
    return [n * ratio / 2]


def gain_from_likelihoods(lam, k, n):
    def top(k):
        d, sigma2 = len(lam), np.mean(lam[k:])
        inner = d * np.log(2 * np.pi) + d + np.log(lam[:k]).sum() + (d - k) * np.log(sigma2)
        return -n / 2 * inner

    return np.array(top(k + 1) - top(k))


def filled_in(rounds, ddof=0):
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
    return closed_form(filled, 2, ddof)[2]


TOP = 0.5 * np.log(4 / 5) + np.log(2.8 / 2.3)
LOOP = filled_in(200)
WHOLE = np.linalg.eigvalsh(np.cov(tobamovirus().T, bias=True))[:16].mean()

# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "ppca-1": (
        [34, 34.0, np.int64(34), Fraction(34), [34], np.array(34)],
        [(37, "Rotating"), (25, "mean counts"), (54, "full covariance"), (33, "σ² counts")]
        + [
            (31, "k(k + 1)/2"),
            (28, "k²"),
            (24, "W alone"),
            (34.4, ""),
            ("34", "quotation"),
            (34.0001, "whole"),
        ],
    ),
    "ppca-2": (
        [(1, 6, 3), [1.0, 6.0, 3.0], np.array([1, 6, 3]), (Fraction(1), Fraction(6), 3.0)],
        [((1, 7, 4), "noise"), ((1, 36, 9), "root"), ((0.6, 6.4, 3.4), "d − k")]
        + [((1, 6**0.5, 3**0.5), "squares"), ((1, 2.45, 1.73), "squares"), (1, "shape")]
        + [((1, 3, 6), "order"), ((6, 3, 1), "order"), ((3, 4, 1), "not their sum"), ((1, 6), "")],
    ),
    "ppca-3": (
        [(6 / 7, 3 / 4), [0.857142857, 0.75], (0.857, 0.75), [0.8571, 0.75], (0.85714, 0.75)]
        + [np.array([6 / 7, 0.75]), (Fraction(6, 7), Fraction(3, 4))],
        [((6 / 7) ** 0.5, "shape"), (((6 / 7) ** 0.5, 0.75**0.5), "codes"), ((1, 1), "PCA")]
        + [((0.926, 0.866), "codes"), ((1 / 7, 1 / 4), "lost"), ((0.143, 0.25), "lost")]
        + [((0.75, 6 / 7), "order"), ((85.7, 75), "percent"), ((7 / 6, 4 / 3), "shorter")]
        + [((6, 3), ""), ((0.86, 0.75), "Close"), ((0.85, 0.75), "")],
    ),
    "ppca-4": (
        [TOP, round(TOP, 5), 0.0851, [TOP], np.float64(TOP), 0.08514],
        [(2 * TOP, "halve"), (0.170, "halve"), (-TOP, "sign"), (-0.0851, "sign"), (0, "")]
        + [(0.5 * np.log(0.6 / 5) + np.log(4.5 / 2.3), "no stationary point"), (0.085, "Close")]
        + [(TOP / np.log(10), "base 10"), (0.5 * np.log(5 / 4), "differs"), (1.0, "")]
        + [(0.5 * np.log(4 * 2.8 / 5 / 2.3), "twice")],
    ),
    "ppca-5": (
        [
            (2.4, 1.4**0.5),
            [2.4, 1.1832],
            (2.4, 1.18),
            np.array([2.4, 1.183]),
            (Fraction(12, 5), 1.18),
        ],
        [((2.4, 1.4), "variance"), ((2.4, 0.4**0.5), "noise of its own"), (2.4, "shape")]
        + [((2.4, 0.632), "noise of its own"), ((8 / 3, 1.18), "shorter"), ((1.2, 1.18), "w₂z")]
        + [((1.18, 2.4), "order"), ((2.4, 1), "z is uncertain"), ((2.4, 2.236), "x₁ tells")]
        + [((0, 1), ""), ((2.4, 1.2), "Close")],
    ),
    "ppca-6": (
        [closed_form, rotated, closed_form_by_svd, closed_form_by_pca]
        + [lambda X, k: list(closed_form(X, k))],
        [(lambda X, k: closed_form(X, k, ddof=1), "n − 1"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, k: closed_form(X, k, share="d"), "not d")]
        + [(lambda X, k: closed_form(X, k, share="1"), "mean of the discarded")]
        + [(lambda X, k: closed_form(X, k, root=False), "square root")]
        + [(lambda X, k: closed_form(X, k, subtract=False), "subtract")]
        + [(lambda X, k: closed_form(X, k, top=False), "smallest")]
        + [(lambda X, k: (closed_form(X, k)[0], closed_form(X, k)[1].T, 1.0), "transposed")]
        + [(lambda X, k: (0 * X[0], *closed_form(X, k)[1:]), "mean should be")]
        + [(lambda X, k: (*closed_form(X, k)[:2], closed_form(X, k)[2] ** 0.5), "That is σ")]
        + [(lambda X, k: closed_form(X, k)[:2], "three")],
    ),
    "ppca-7": (
        [density, lambda *a: density(*a).tolist(), density_by_cholesky, density_row_by_row],
        [(lambda *a: density(*a, constant=False), "constant"), FAILS, FUNCTION_NEEDED]
        + [(lambda *a: density(*a, noise=False), "(d − k)"), (dense, "d×d")]
        + [(dense_by_inverse, "d×d"), (lambda *a: density(*a).sum(), "one number a row")]
        + [
            (lambda *a: np.exp(density(*a)), "its logarithm"),
            (lambda *a: -2 * density(*a), "halve"),
        ]
        + [(lambda *a: density(*a)[:, None], "shape")],
    ),
    "ppca-8": (
        [em_step, lambda C, W, s: list(em_step(C, W, s)), em_step_by_moments, em_step_on_rows],
        [(em_step_mixed, "old M"), (lambda C, W, s: em_step(C, W, s)[0], "pair"), FAILS]
        + [(lambda C, W, s: (C @ W, s), "M-step"), FUNCTION_NEEDED, (em_step_of_facts, "uncertain")]
        + [(lambda C, W, s: (em_step(C, W, s)[0], s), "σ² isn't"), (em_step_moving, "prior")]
        + [(lambda C, W, s: (em_step(C, W, s)[0], len(C) * em_step(C, W, s)[1]), "Divide by d")],
    ),
    "ppca-9": (
        [LOOP, round(LOOP, 4), 1.20, 1.204, [LOOP], np.float64(LOOP)],
        [(filled_in(0), "first round"), (1.66, "first round"), (1.5430, "EM's own"), (0.0, "")]
        + [(1.54, "EM's own"), (WHOLE, "whole table"), (1.63, "whole table"), (5.0, "")]
        + [(LOOP**0.5, "square"), (filled_in(200, ddof=1), "n − 1"), (1.25, "Close")],
    ),
    "ppca-10": (
        [["b", "d", "a", "c"], ("b", "d", "a", "c"), "bdac", "b, d, a, c", ["(b)", "D", "a", "c"]],
        [(["b", "d", "c", "a"], "never falls"), (["b", "a", "d", "c"], "never becomes level")]
        + [(["d", "b", "a", "c"], "Near a saddle"), (["b", "d", "a"], "Four"), (5, "Letters")]
        + [(["b", "b", "a", "c"], "use all"), (["b", "d", "a", "e"], "Only the letters")],
    ),
    "ppca-11": (
        [
            ["a", "c", "e"],
            ("e", "c", "a"),
            {"a", "c", "e"},
            "ace",
            "(a), (c), (e)",
            ["A", "C", "E"],
        ],
        [(["a", "e"], "(c) is missing"), (["a", "b", "c", "e"], "the scale"), (3, "Letters")]
        + [(["a", "c", "d", "e"], "income"), (["a", "c", "e", "f"], "pressure"), ([], "Only the")]
        + [(["c", "e"], "(a) is missing"), (["a", "c"], "(e) is missing"), (["g"], "Only the")],
    ),
    "ppca-12": (
        [(4, "b"), [4, "b"], (np.int64(4), "B"), (4.0, "(b)"), [4, "b "]],
        [((1, "d"), "cause explains"), ((5, "b"), "number 0"), ((4, "a"), "plenty"), (4, "pair")]
        + [((4, "c"), "by chance"), ((4, "d"), "largest variance"), (("b", 4), "order is that of")]
        + [((4, "x"), "should be one of")],
    ),
    "ppca-13": (
        [gain, lambda lam, k, n: np.float64(gain(lam, k, n)), gain_in_one_line]
        + [gain_from_likelihoods],
        [(lambda *a: gain(*a, 2.0), "Twice"), (lambda *a: gain(*a, -1.0), "sign"), FAILS]
        + [(lambda lam, k, n: gain(lam, k, 1), "per sample"), FUNCTION_NEEDED]
        + [(lambda lam, k, n: gain(lam, max(k - 1, 0), n), "one too early")]
        + [(lambda lam, k, n: 0.0, "should be"), (lambda lam, k, n: lam, "number is needed")],
    ),
}
