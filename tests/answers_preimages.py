"""Answers to the exercises of chapter 7: right ones in every form, and wrong ones."""

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN

ROOT = 3.18252
TRANSLATED = np.sqrt(-4.5 * np.log(0.6))


def weights_of(x, X, gamma, sigma):
    return gamma * np.exp(-np.sum((x - X) ** 2, axis=1) / (2 * sigma**2))


def gradient(x, X, gamma, sigma, factor=2.0):
    return factor / sigma**2 * weights_of(x, X, gamma, sigma) @ (x - X)


def gradient_by_loop(x, X, gamma, sigma):
    total = np.zeros(2)
    for g, row in zip(gamma, X, strict=True):
        total += 2 * g * np.exp(-((x - row) @ (x - row)) / 2 / sigma**2) * (x - row) / sigma**2
    return total.tolist()


def step(x, X, gamma, sigma):
    w = weights_of(x, X, gamma, sigma)
    return w @ X / w.sum()


def step_by_gradient(x, X, gamma, sigma):
    h = weights_of(x, X, gamma, sigma).sum()
    return x - sigma**2 * gradient(x, X, gamma, sigma) / (2 * h)


def step_of_sizes(x, X, gamma, sigma):
    return step(x, X, np.abs(gamma), sigma)


def place(P, d2, factor=2.0):
    m = P.mean(axis=0)
    b = np.sum((P - m) ** 2, axis=1) - d2
    return m + np.linalg.lstsq(factor * (P - m), b - b.mean(), rcond=None)[0]


def place_by_svd(P, d2):
    m = P.mean(axis=0)
    b = np.sum((P - m) ** 2, axis=1) - d2
    return m + np.linalg.pinv(P - m) @ (b - b.mean()) / 2


def loo(L, Y, ridge):
    H = L @ np.linalg.inv(L + ridge * np.eye(len(L)))
    return (Y - H @ Y) / (1 - np.diag(H))[:, None]


def loo_by_loop(L, Y, ridge):
    errors = []
    for i in range(len(L)):
        rest = np.arange(len(L)) != i
        b = np.linalg.solve(L[np.ix_(rest, rest)] + ridge * np.eye(len(L) - 1), Y[rest])
        errors.append(Y[i] - L[i, rest] @ b)
    return errors


def residuals(L, Y, ridge):
    return Y - L @ np.linalg.solve(L + ridge * np.eye(len(L)), Y)


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "preimages-1": (
        [[0.55, 0.55, -0.05, -0.05], np.array([11, 11, -1, -1]) / 20],
        [([0.3, 0.3, -0.3, -0.3], "add to 0"), ([1.3, 1.3, 0.7, 0.7], "1/n, not 1")]
        + [([0.75, 0.75, -0.25, -0.25], "score z is missing"), ([0.25] * 4, "mean feature alone")]
        + [([0.55, -0.05], "shape"), ([0.5, 0.5, 0, 0], ""), ([NAN] * 4, "NaN")],
    ),
    "preimages-2": (
        [0.75, 3 / 4, np.float64(0.75)],
        [(0.65, "mixed term is missing"), (0.7, "comes twice"), (0.35, "mean feature is missing")]
        + [(0.25, "zv alone"), (0.866025, "square is asked"), (1, ""), (NAN, "finite")],
    ),
    "preimages-3": (
        [ROOT, 3.1825, np.array(3.18252)],
        [(np.sqrt(10), "first coordinate"), (4, "second coordinate"), (2, "mean of the two")]
        + [(-2.971, "not the lower one"), (-0.2115, "maximum"), (3.3, ""), (NAN, "finite")],
    ),
    "preimages-4": (
        [TRANSLATED, 1.5161, 1.516],
        [(TRANSLATED**2, "the square"), (2.6912, "not 1 − D²"), (1.0721, "2σ²")]
        + [(0.8944, "in feature space"), (1.3173, "square already"), (2, ""), (NAN, "finite")],
    ),
    "preimages-5": (
        [0.5, 1 / 2, np.array(0.5)],
        [(0.25, "squared distance"), (0.36056, "lost of x is missing"), (0.3464, "mismatch")]
        + [(0.38, "as a square already"), (0.7, ""), (NAN, "finite")],
    ),
    "preimages-6": (
        [gradient, gradient_by_loop],
        [(lambda *a: -gradient(*a), "downhill"), (lambda *a: gradient(*a, 1.0), "factor 2")]
        + [(lambda *a: gradient(*a, -1.0), "−2 before it"), FAILS, FUNCTION_NEEDED]
        + [(lambda x, X, g, s: gradient(x, X, g, s) * s**2, "1/σ²")]
        + [(lambda x, X, g, s: gradient(x, X, np.ones(6), s), "γ are missing")]
        + [(lambda x, X, g, s: x, ""), (lambda x, X, g, s: X, "shape")],
    ),
    "preimages-7": (
        [step, step_by_gradient],
        [(step_of_sizes, "absolute values"), FAILS, FUNCTION_NEEDED]
        + [(lambda x, X, g, s: weights_of(x, X, g, s) @ X, "division")]
        + [(lambda x, X, g, s: step(x, X, np.ones(6), s), "mean shift")]
        + [(lambda x, X, g, s: step(x, X, g, s / np.sqrt(2)), "with the 2")]
        + [(lambda x, X, g, s: x, ""), (lambda x, X, g, s: X, "shape")],
    ),
    "preimages-8": (
        [0.06 / 0.145, 0.4138, 12 / 29],
        [(6 / 7, "weighs with g"), (1.5, "plain mean"), (0.5473, "Gaussian")]
        + [(0.06, "sum of the weights"), (3 / 13, "squared distance"), (1, ""), (NAN, "finite")],
    ),
    "preimages-9": (
        [0.5 - np.log(0.9), 0.60536],
        [(0.5, "Halfway"), (0.39464, "sign of the logarithm"), (0.55268, "mind the 2")]
        + [(10, "weighted mean"), (0.7, ""), (NAN, "finite")],
    ),
    "preimages-10": (
        [place, place_by_svd],
        [(lambda P, d2: place(P, d2) - P.mean(axis=0), "Add the mean"), FAILS, FUNCTION_NEEDED]
        + [(lambda P, d2: place(P, d2, 1.0), "1/2 is missing")]
        + [(lambda P, d2: place(P, d2, -2.0), "mirror"), (lambda P, d2: P.mean(axis=0), "mean of")]
        + [(lambda P, d2: P[0], "not those given"), (lambda P, d2: P, "shape")],
    ),
    "preimages-11": (
        [loo, loo_by_loop],
        [(residuals, "with all samples"), (lambda L, Y, r: Y - loo(L, Y, r), "predictions")]
        + [(lambda L, Y, r: -loo(L, Y, r), "sign"), (lambda L, Y, r: loo(L, Y, r) / r, "cancels")]
        + [(lambda L, Y, r: loo(L, Y, r) * r, "cancels"), FAILS, FUNCTION_NEEDED]
        + [(lambda L, Y, r: Y, ""), (lambda L, Y, r: L, "shape")],
    ),
}
