"""Answers to the exercises of chapter 2: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from scipy.linalg import eigh, null_space, schur
from scipy.sparse.linalg import eigs, eigsh

from kpca_edu.power_method import (
    deflate,
    power_eigen,
    power_iteration,
    power_step,
    spectral_norm_bounds,
    subspace_iteration,
)

# --- power-method-3 ------------------------------------------------------------------------------


def careful(X, v, t):
    for _ in range(t):
        u = X @ v
        u = u / np.abs(u).max()
        v = X.T @ (u / np.linalg.norm(u))
        v = v / np.abs(v).max()
        v = v / np.linalg.norm(v)
    return v


def scaled_first(X, v, t):
    X = X / np.abs(X).max()
    for _ in range(t):
        v = X.T @ (X @ v)
        v = v / np.linalg.norm(v)
    return v


def by_steps(X, v, t):
    for _ in range(t):
        v = power_step(X, v).v
    return v.reshape(-1, 1)


def bare(X, v, t):
    for _ in range(t):
        v = X.T @ (X @ v)
    return v / np.linalg.norm(v)


def once_a_step(X, v, t):
    for _ in range(t):
        v = X.T @ (X @ v)
        v = v / np.linalg.norm(v)
    return v


def by_gram_matrix(X, v, t):
    M = X.T @ X
    for _ in range(t):
        v = M @ v
        v = v / np.sqrt(v @ v)
    return v


def never_scaled(X, v, t):
    for _ in range(t):
        v = X.T @ (X @ v)
    return v


# --- power-method-4 ------------------------------------------------------------------------------


def residual_by_matrix(g, relative=False):
    M, y = np.diag([1.0, 1.0 - g]), np.ones(2) / np.sqrt(2)
    rho = y @ M @ y
    return np.linalg.norm(M @ y - rho * y) / (rho if relative else 1.0)


# --- power-method-6 ------------------------------------------------------------------------------


def by_deflation(K, k, fresh=True, factor=1.0):
    values = []
    for seed in range(k):
        pair = power_eigen(K, rng=seed if fresh else 0)
        values.append(pair.lam)
        K = K - factor * pair.lam * np.outer(pair.a, pair.a)
    return values


def by_projection(K, k):
    rng, values = np.random.default_rng(3), np.empty(k)
    for i in range(k):
        pair = power_eigen(K, rng=rng, tol=1e-10)
        values[i] = pair.lam
        P = np.eye(len(K)) - np.outer(pair.a, pair.a)
        K = P @ K @ P
    return values


def by_recursion(K, k):
    if k == 0:
        return ()
    pair = power_eigen(K, start=np.random.default_rng(k).standard_normal(len(K)))
    return (pair.lam, *by_recursion(K - pair.lam * np.outer(pair.a, pair.a), k - 1))


def by_qr(K, k):
    for _ in range(300):
        Q, R = np.linalg.qr(K)
        K = R @ Q
    return np.diag(K)[:k]


def only_two(K, k):
    return np.resize(by_deflation(K, 2), k)


# --- power-method-7 ------------------------------------------------------------------------------


def last_ratio(run):
    return run.history.residual[-1] / run.history.residual[-2]


def by_slope(run):
    half = run.history.residual[len(run.history.residual) // 2 :]
    return np.exp(np.polyfit(np.arange(len(half)), np.log(half), 1)[0])


def by_values(run):
    changes = np.diff(run.history.s[-6:-2])
    return [np.sqrt(changes[1] / changes[0])]


# --- power-method-11 -----------------------------------------------------------------------------


def by_certificate(X, f):
    low, _ = spectral_norm_bounds(deflate(X, f), n_iter=100)
    return low > f.s[-1] * (1 + 1e-6)


def by_power_iteration(X, f):
    return power_iteration(deflate(X, f), tol=0, max_iter=200, rng=9).s > f.s.min() + 1e-6


def by_own_loop(X, f):
    rest = X - (f.U * f.s) @ f.V.T
    v = np.random.default_rng(2).standard_normal(X.shape[1])
    for _ in range(200):
        v = rest.T @ (rest @ v)
        v = v / (np.linalg.norm(v) or 1.0)
    return np.bool_(np.linalg.norm(rest @ v) > f.s[-1] * 1.0001)


def by_both_bounds(X, f):
    rest = deflate(X, f)
    low, high = spectral_norm_bounds(rest, n_iter=150)
    return bool(low > 1.001 * f.s[-1]) if high > f.s[-1] else False


def by_lapack(X, f):
    return np.linalg.norm(X - f.matrix(), 2) > f.s[-1] + 1e-8


def counts_a_tie(X, f):
    return spectral_norm_bounds(deflate(X, f), n_iter=300)[0] >= f.s[-1] * (1 - 1e-9)


def by_upper_bound(X, f):
    return spectral_norm_bounds(deflate(X, f), n_iter=20)[1] > f.s[-1]


# --- power-method-12 -----------------------------------------------------------------------------


def surfer(links, follow=0.85, steps=300):
    n = len(links)
    out = links.sum(axis=1)
    r = np.full(n, 1 / n)
    for _ in range(steps):
        dangling = r[out == 0].sum() / n
        r = follow * (r @ (links / np.maximum(out, 1)[:, None]) + dangling) + (1 - follow) / n
    return r


def for_four_pages(links):
    return surfer(links) * len(links) / 4


def link_matrix(links):
    n, out = len(links), links.sum(axis=1, keepdims=True)
    return np.where(out > 0, links / np.maximum(out, 1), 1 / n)


def by_null_space(links):
    n = len(links)
    r = null_space((0.85 * link_matrix(links) + 0.15 / n).T - np.eye(n))[:, 0]
    return r / r.sum()


def by_solving(links):
    n = len(links)
    return np.linalg.solve(np.eye(n) - 0.85 * link_matrix(links).T, np.full((n, 1), 0.15 / n))


def dead_ends_lost(links, rescaled=False):
    n, r = len(links), np.full(len(links), 0.25)
    for _ in range(300):
        r = 0.85 * (r @ (links / np.maximum(links.sum(axis=1), 1)[:, None])) + 0.15 / n
    return r / r.sum() if rescaled else r


TANGENT = np.sqrt(1028) / 81
PLANE = 2 / np.sqrt(1280)
# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "power-method-1": (
        [TANGENT, 0.3958, 0.396, np.float64(TANGENT), [0.396], Decimal("0.3958")],
        [(np.sqrt(68) / 9, "squares"), (np.sqrt(257) / 81, "equal coordinates"), (0.4, "digits")]
        + [(1 / TANGENT, "cotangent"), (np.sin(np.arctan(TANGENT)), "sine"), (NAN, "finite")]
        + [(0.9298, "cosine"), (0.157, "square of"), (0.377, "angle"), (21.6, "degrees")]
        + [(34 / 81, "root of the sum"), (0.176, "three steps"), (-TANGENT, "sign")],
    ),
    "power-method-2": (
        [(66, 33), [66, 33], np.array([66.0, 33.0]), (Fraction(66), 33.0)],
        [((33, 66), "other order"), ((33, 17), "already"), ((65, 32), "up"), ((66, 66), "square")]
        + [(66, "shape"), ((NAN, 33), "NaN"), ((65.6, 32.8), "whole"), ((70, 35), "0.1054")]
        + [((66, 17), "second"), ((10, 5), "first"), ((66, 32), "up")],
    ),
    "power-method-3": (
        [careful, lambda X, v, t: -careful(X, v, t), scaled_first, by_steps]
        + [lambda X, v, t: power_iteration(X, start=v, tol=0, max_iter=t).v.tolist()],
        [(bare, "range of doubles"), (lambda X, v, t: v, "5 steps"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, v, t: 2 * careful(X, v, t), "length is 2"), (never_scaled, "length is")]
        + [(lambda X, v, t: careful(X, v, t + 1), "5 steps"), (lambda X, v, t: X @ v, "shape")]
        + [(lambda X, v, t: careful(X, v, 5), "1 step."), (by_gram_matrix, "two products")]
        + [
            (once_a_step, "after each of the two"),
            (lambda X, v, t: careful(X, v, t - 1), "5 st"),
            (lambda X, v, t: np.abs(careful(X, v, t)), "5 steps"),
            (lambda X, v, t: 0 * v, "length is 0"),
            (lambda X, v, t: careful(X, v, t).round(4), "Close, but"),
        ],
    ),
    "power-method-4": (
        [lambda g: g / 2, lambda g: np.array(g) * 0.5, residual_by_matrix]
        + [lambda g: [Fraction(g) / 2], lambda g: np.hypot(g, g) / np.sqrt(8)],
        [(lambda g: g, "gap itself"), (lambda g: g / np.sqrt(2), "ρ is not 1"), FAILS]
        + [(lambda g: g / (2 - g), "divided by ρ"), (lambda g: g**2, ""), (0.5, "function")]
        + [(lambda g: residual_by_matrix(g, True), "divided by ρ"), (lambda g: 1 - g / 2, "is ρ")]
        + [(lambda g: g**2 / 4, "root"), (lambda g: g / np.sqrt(8), "length √2")]
        + [
            (lambda g: -g / 2, "sign"),
            (lambda g: 0.25, ""),
            (lambda g: np.sqrt(g) / 2, "it gives"),
        ],
    ),
    "power-method-5": (
        [PLANE, 0.0559, np.array(1 / np.sqrt(320)), [0.0559], Decimal("0.05590")],
        [(np.sqrt(1028) / 16, "v₁ alone"), (1 / 16, "factor"), (0.05, ""), ("x", "number")]
        + [(1.0, ""), (0.894, "tan θ₀"), (0.2236, "one step"), (17.9, "cotangent")]
        + [(0.0035, ""), (2 / np.hypot(256, 512), "don't square"), (0.0558, "sine")]
        + [(1 / 24, "their squares"), (0.056, "digits")],
    ),
    "power-method-6": (
        [by_deflation, by_projection, by_recursion]
        + [lambda K, k: np.array(by_deflation(K, k)).reshape(1, k)],
        [(lambda K, k: [power_eigen(K).lam] * k, "again and again"), FAILS, FUNCTION_NEEDED]
        + [(lambda K, k: by_deflation(K, k, fresh=False), "second copy is missed")]
        + [(lambda K, k: np.sqrt(by_deflation(K, k)), "square roots"), (only_two, "it gives")]
        + [(lambda K, k: np.linalg.eigvalsh(K)[:k], "it gives"), (lambda K, k: 5.0, "shape")]
        + [(lambda K, k: [NAN] * k, "NaN"), (lambda K, k: by_deflation(K, k)[::-1], "order")]
        + [(lambda K, k: np.linalg.eigvalsh(K)[: -k - 1 : -1], "calls eigvalsh: use power_eigen")]
        + [(lambda K, k: np.linalg.eigvalsh(K)[-k:], "order")]
        + [(lambda K, k: eigh(K)[0][::-1][:k], "calls eigh")]
        + [(lambda K, k: np.sort(eigsh(K, k)[0])[::-1], "calls eigsh")]
        + [(lambda K, k: np.sort(eigs(K, k)[0].real)[::-1], "calls eigs"), (by_qr, "calls qr")]
        + [(lambda K, k: subspace_iteration(K, k).s, "calls svd")]
        + [
            (lambda K, k: by_deflation(K, k, factor=0.5), "it gives"),
            (lambda K, k: np.sort(np.diag(schur(K)[0]))[::-1][:k], "calls schur"),
        ],
    ),
    "power-method-7": (
        [last_ratio, lambda run: np.exp(np.diff(np.log(run.history.step))[-1]), by_slope, by_values]
        + [lambda run: round(last_ratio(run), 2)],
        [(lambda run: np.sqrt(last_ratio(run)), "s₂/s₁"), (lambda run: run.s, "it gives"), FAILS]
        + [(lambda run: last_ratio(run) ** 2, "square of the ratio"), (0.81, "function")]
        + [(lambda run: run.history.residual, "number"), (lambda run: 1 / last_ratio(run), "λ₁/λ₂")]
        + [(lambda run: 1 - last_ratio(run), "gap"), (lambda run: 100 * last_ratio(run), "percent")]
        + [(lambda run: 0.64, "For λ₂/λ₁ = 0.81"), (lambda run: run.residual, "it gives")],
    ),
    "power-method-8": (
        [(0.9, "C"), [0.9, "c"], (10 ** (-1 / 22), "C"), (np.float64(0.91), " C ")]
        + [(Fraction(9, 10), "(C)"), (0.885, "C")],
        [((0.5, "C"), "run A"), ((0.6, "C"), "run C"), ((0.81, "C"), "square"), (0.9, "pair")]
        + [((0.95, "C"), "s₂/s₁"), ((22, "C"), "power of ten"), ((1.11, "C"), "below 1")]
        + [(("C", 0.9), "order is that of"), ((0.9, "A"), "sees v₁"), ((0.9, "B"), "sees v₁")]
        + [((0.9, "D"), "letters A, B, C"), ((0.7, "C"), "within 0.02"), ((0.1, "C"), "gap")]
        + [((NAN, "C"), "finite"), ((0.87, "C"), "within 0.02"), ((0.93, "C"), "within 0.02")],
    ),
    "power-method-9": (
        ["LKSB", "lksb", ["L", "K", "S", "B"], ("L", "K", "S", "B"), "L, K, S, B", "L K S B"],
        [("KKSB", "all values"), ("LLSB", "fills the memory"), ("LBSB", "several times")]
        + [
            ("LSSB", "no inverse"),
            ("LKLB", "all eigenpairs"),
            ("LKKB", "inside"),
            ("LKBB", "inside"),
        ]
        + [("LKSL", "disk"), ("LKSK", "each single product"), ("LKSS", "no inverse")]
        + [("LKS", "Four letters"), ("LKSX", "Only the"), (7, ""), ("", "Only the")],
    ),
    "power-method-10": (
        [(0.01, "b"), [1e-2, "B"], (np.float64(0.01), "(b)"), (Fraction(1, 100), " b ")]
        + [(Decimal("0.01"), "b"), (np.hypot(0.01, 1e-12), "b")],
        [((1e-4, "b"), "square"), ((1e-6, "b"), "r₁ itself"), ((1e-10, "b"), "upside down")]
        + [((0.006, "b"), "what she found"), ((0.01, "a"), "1e-12 already"), (0.01, "pair")]
        + [((0.01, "c"), "orthogonal already"), ((0.01, "d"), "letters a, b, c")]
        + [((1e-12, "b"), "no harm"), ((100, "b"), "root"), (("b", 0.01), "order is that of")]
        + [((1e-8, "b"), "errors grow"), ((3.0, "b"), "r₁(s₁/s₂)²"), ((-0.01, "b"), "sign")],
    ),
    "power-method-11": (
        [by_certificate, by_power_iteration, by_own_loop, by_both_bounds]
        + [lambda X, f: np.array([by_certificate(X, f)])],
        [(lambda X, f: False, "has been missed"), (lambda X, f: True, "has not been missed")]
        + [(lambda X, f: 1, "True or False"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, f: not by_lapack(X, f), "missed"), (counts_a_tie, "no larger one")]
        + [(by_lapack, "calls svd: only products"), (by_upper_bound, "has not been missed")]
        + [(lambda X, f: spectral_norm_bounds(X)[0] > f.s[-1] + 1e-6, "has not been missed")],
    ),
    "power-method-12": (
        [surfer, by_null_space, by_solving, lambda links: surfer(links).tolist()]
        + [lambda links: dead_ends_lost(links, rescaled=True)]  # as good as jumping from there
        + [lambda links: surfer(links, steps=60).round(4)],
        [(lambda links: surfer(links.T), "backwards"), FAILS, FUNCTION_NEEDED]
        + [(lambda links: 4 * surfer(links), "add up to 1"), (lambda links: links, "shape")]
        + [(lambda links: np.ones(4) / 4, "All pages alike")]
        + [(lambda links: surfer(links, follow=1.0), "jumps"), (for_four_pages, "add up to 1")]
        + [(lambda links: surfer(links, follow=0.15), "not 0.15"), (dead_ends_lost, "loses what")]
        + [(lambda links: surfer(links, steps=5), "iterate on")],
    ),
    "power-method-13": (
        [(0.5, 0.8), [0.5, 0.8], np.array([0.5, 0.8]), (Fraction(1, 2), Fraction(4, 5))],
        [((0.8, 0.5), "other order"), ((0.9, 8.0), "other end"), ((0.1, 8 / 9), "other end")]
        + [((0.5, 0.5), "factor is not"), (0.5, "shape"), ((-0.5, 0.8), "positive")]
        + [((0.5, 0.4), "divide it"), ((0.5, 0.9), "without a shift"), ((0.5, 1.25), "upside")]
        + [((0.45, 0.82), "not the best"), ((0.5, 80), "percentage")],
    ),
}
