"""Answers to the exercises of chapter 2: right ones in every form, and wrong ones."""

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from scipy.linalg import null_space

from kpca_edu.power_method import deflate, power_eigen, spectral_norm_bounds


def careful(X, v, t):
    for _ in range(t):
        u = X @ v
        u = u / np.abs(u).max()
        v = X.T @ (u / np.linalg.norm(u))
        v = v / np.abs(v).max()
        v = v / np.linalg.norm(v)
    return v


def bare(X, v, t):
    for _ in range(t):
        v = X.T @ (X @ v)
    return v / np.linalg.norm(v)


def by_deflation(K, k, fresh=True):
    values = []
    for seed in range(k):
        pair = power_eigen(K, rng=seed if fresh else 0)
        values.append(pair.lam)
        K = K - pair.lam * np.outer(pair.a, pair.a)
    return values


def only_two(K, k):
    return np.resize(by_deflation(K, 2), k)


def by_certificate(X, f):
    low, _ = spectral_norm_bounds(deflate(X, f), n_iter=100)
    return low > f.s[-1] * (1 + 1e-6)


def by_lapack(X, f):
    return np.linalg.norm(X - f.matrix(), 2) > f.s[-1] + 1e-8


def surfer(links, follow=0.85, steps=300):
    n = len(links)
    out = links.sum(axis=1)
    r = np.full(n, 1 / n)
    for _ in range(steps):
        dangling = r[out == 0].sum() / n
        r = follow * (r @ (links / np.maximum(out, 1)[:, None]) + dangling) + (1 - follow) / n
    return r


def by_null_space(links):
    n, out = len(links), links.sum(axis=1, keepdims=True)
    P = np.where(out > 0, links / np.maximum(out, 1), 1 / n)
    r = null_space((0.85 * P + 0.15 / n).T - np.eye(n))[:, 0]
    return r / r.sum()


def last_ratio(run):
    return run.history.residual[-1] / run.history.residual[-2]


TANGENT = np.sqrt(1028) / 81
# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "power-method-1": (
        [TANGENT, 0.3958, np.float64(TANGENT)],
        [(np.sqrt(68) / 9, "squares"), (np.sqrt(257) / 81, "equal coordinates"), (0.4, "")]
        + [(1 / TANGENT, "cotangent"), (np.sin(np.arctan(TANGENT)), "sine"), (NAN, "finite")],
    ),
    "power-method-2": (
        [(66, 33), [66, 33], np.array([66.0, 33.0])],
        [((33, 66), "other order"), ((33, 17), "already"), ((65, 32), "up"), ((66, 66), "")]
        + [(66, "shape"), ((NAN, 33), "NaN")],
    ),
    "power-method-3": (
        [careful, lambda X, v, t: -careful(X, v, t)],
        [(bare, "normalise every step"), (lambda X, v, t: v, "5 steps"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, v, t: 2 * careful(X, v, t), "length is 2")]
        + [(lambda X, v, t: careful(X, v, t + 1), "5 steps"), (lambda X, v, t: X @ v, "shape")],
    ),
    "power-method-4": (
        [lambda g: g / 2, lambda g: np.array(g) * 0.5],
        [(lambda g: g, "gap itself"), (lambda g: g / np.sqrt(2), "ρ is not 1"), FAILS]
        + [(lambda g: g / (2 - g), "divided by ρ"), (lambda g: g**2, ""), (0.5, "function")],
    ),
    "power-method-5": (
        [2 / np.sqrt(1280), 0.0559, np.array(1 / np.sqrt(320))],
        [(np.sqrt(1028) / 16, "v₁ alone"), (1 / 16, "factor"), (0.05, ""), ("x", "number")]
        + [(1.0, "")],
    ),
    "power-method-6": (
        [by_deflation, lambda K, k: np.linalg.eigvalsh(K)[-k:]]
        + [lambda K, k: tuple(by_deflation(K, k)[::-1])],
        [(lambda K, k: [power_eigen(K).lam] * k, "again and again"), FAILS, FUNCTION_NEEDED]
        + [(lambda K, k: by_deflation(K, k, fresh=False), "second copy is missed")]
        + [(lambda K, k: np.sqrt(by_deflation(K, k)), "square roots"), (only_two, "it gives")]
        + [(lambda K, k: np.linalg.eigvalsh(K)[:k], "it gives"), (lambda K, k: 5.0, "shape")]
        + [(lambda K, k: [NAN] * k, "NaN")],
    ),
    "power-method-7": (
        [last_ratio, lambda run: np.exp(np.diff(np.log(run.history.step))[-1])],
        [(lambda run: np.sqrt(last_ratio(run)), "s₂/s₁"), (lambda run: run.s, "it gives"), FAILS]
        + [(lambda run: last_ratio(run) ** 2, "square of the ratio"), (0.81, "function")]
        + [(lambda run: run.history.residual, "number")],
    ),
    "power-method-8": (
        [8, 8.0, np.int64(8)],
        [(3, "two passes"), (6, "read X too"), (7, "missing"), (9, ""), ("8 passes", "number")],
    ),
    "power-method-9": (
        [97, 97.0],
        [(201, "square root"), (96, "95.24"), (117, "k + p"), (20, ""), (NAN, "finite")],
    ),
    "power-method-10": (
        [by_certificate, by_lapack],
        [(lambda X, f: False, "has been missed"), (lambda X, f: True, "has not been missed")]
        + [(lambda X, f: 1, "True or False"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, f: not by_lapack(X, f), "missed")],
    ),
    "power-method-11": (
        [surfer, by_null_space, lambda links: surfer(links).tolist()],
        [(lambda links: surfer(links.T), "backwards"), FAILS, FUNCTION_NEEDED]
        + [(lambda links: 4 * surfer(links), "add up to 1"), (lambda links: links, "shape")]
        + [(lambda links: surfer(links, follow=1.0), "jumps"), (lambda links: np.ones(4) / 4, "")],
    ),
    "power-method-12": (
        [(0.5, 0.8), [0.5, 0.8], np.array([0.5, 0.8])],
        [((0.8, 0.5), "other order"), ((0.9, 8.0), "other end"), ((0.1, 8 / 9), "other end")]
        + [((0.5, 0.5), ""), (0.5, "shape")],
    ),
}
