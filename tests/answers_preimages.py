"""Answers to the exercises of chapter 9: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from scipy import linalg

ROOT = 3.18252
TRANSLATED = np.sqrt(-4.5 * np.log(0.6))
CHOSEN = ["nearest", "gradient", "fixed-point", "ridge", "mds"]


def weights_of(x, X, gamma, sigma):
    return gamma * np.exp(-np.sum((x - X) ** 2, axis=1) / (2 * sigma**2))


def gradient(x, X, gamma, sigma, factor=2.0):
    return factor / sigma**2 * weights_of(x, X, gamma, sigma) @ (x - X)


def gradient_by_loop(x, X, gamma, sigma):
    total = np.zeros(2)
    for g, row in zip(gamma, X, strict=True):
        total += 2 * g * np.exp(-((x - row) @ (x - row)) / 2 / sigma**2) * (x - row) / sigma**2
    return total.tolist()


def gradient_by_sums(x, X, gamma, sigma):
    w = weights_of(x, X, gamma, sigma)
    return (w.sum() * x - w @ X)[None] * 2 / sigma**2


def gradient_by_differences(x, X, gamma, sigma):
    def objective(x):
        return 1 - 2 * weights_of(x, X, gamma, sigma).sum()

    h = 1e-6
    return tuple((objective(x + h * e) - objective(x - h * e)) / (2 * h) for e in np.eye(2))


def step(x, X, gamma, sigma):
    w = weights_of(x, X, gamma, sigma)
    return w @ X / w.sum()


def step_by_gradient(x, X, gamma, sigma):
    h = weights_of(x, X, gamma, sigma).sum()
    return x - sigma**2 * gradient(x, X, gamma, sigma) / (2 * h)


def step_by_average(x, X, gamma, sigma):
    return np.average(X, axis=0, weights=weights_of(x, X, gamma, sigma)).tolist()


def step_with_slopes(x, X, gamma, sigma):
    slopes = -weights_of(x, X, gamma, sigma) / (2 * sigma**2)  # γᵢg′: the factor cancels
    return (slopes[None] @ X) / slopes.sum()


def step_of_sizes(x, X, gamma, sigma):
    return step(x, X, np.abs(gamma), sigma)


def step_by_size_of_the_sum(x, X, gamma, sigma):
    w = weights_of(x, X, gamma, sigma)
    return w @ X / abs(w.sum())


def step_guarded(x, X, gamma, sigma):
    w = weights_of(x, X, gamma, sigma)
    return x + w @ (X - x) / max(abs(w.sum()), np.abs(w).sum() / 100)


def place(P, d2, factor=2.0):
    m = P.mean(axis=0)
    b = np.sum((P - m) ** 2, axis=1) - d2
    return m + np.linalg.lstsq(factor * (P - m), b - b.mean(), rcond=None)[0]


def place_by_svd(P, d2):
    m = P.mean(axis=0)
    b = np.sum((P - m) ** 2, axis=1) - d2
    return m + np.linalg.pinv(P - m) @ (b - b.mean()) / 2


def place_by_the_first(P, d2):
    A = P[1:] - P[0]
    y = np.linalg.lstsq(2 * A, np.sum(A**2, axis=1) - d2[1:] + d2[0], rcond=None)[0]
    return (P[0] + y).tolist()


def place_with_an_unknown(P, d2):
    m = P.mean(axis=0)
    A = np.column_stack([2 * (P - m), -np.ones(len(P))])  # ‖y‖² is an unknown of its own
    y = np.linalg.lstsq(A, np.sum((P - m) ** 2, axis=1) - d2, rcond=None)[0]
    return (m + y[:-1])[None]


def loo(L, Y, ridge):
    H = L @ np.linalg.inv(L + ridge * np.eye(len(L)))
    return (Y - H @ Y) / (1 - np.diag(H))[:, None]


def loo_by_inverse(L, Y, ridge):
    R = np.linalg.inv(L + ridge * np.eye(len(L)))
    return ((R @ Y) / np.diag(R)[:, None]).tolist()


def loo_by_eigenvalues(L, Y, ridge):
    lam, Q = np.linalg.eigh(L)
    kept = ridge / (lam + ridge)
    return Q @ (kept[:, None] * (Q.T @ Y)) / (Q**2 @ kept)[:, None]


def loo_by_scipy(L, Y, ridge):
    R = linalg.solve(L + ridge * np.eye(len(L)), np.eye(len(L)), assume_a="pos")
    return (R @ Y) / R.diagonal()[:, None]


def loo_by_loop(L, Y, ridge):
    errors = []
    for i in range(len(L)):
        rest = np.arange(len(L)) != i
        b = np.linalg.solve(L[np.ix_(rest, rest)] + ridge * np.eye(len(L) - 1), Y[rest])
        errors.append(Y[i] - L[i, rest] @ b)
    return errors


def residuals(L, Y, ridge):
    return Y - L @ np.linalg.solve(L + ridge * np.eye(len(L)), Y)


def loo_in_one_stack(L, Y, ridge):
    """Solve n systems in one call: no loop that one could see, and n regressions all the same."""
    n = len(L)
    others = np.array([np.delete(np.arange(n), i) for i in range(n)])
    A = L[others[:, :, None], others[:, None, :]] + ridge * np.eye(n - 1)
    weights = np.linalg.solve(A, Y[others])
    return Y - np.einsum("ij,ijk->ik", np.take_along_axis(L, others, axis=1), weights)


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "preimages-1": (
        [[0.55, 0.55, -0.05, -0.05], np.array([11, 11, -1, -1]) / 20, (0.55, 0.55, -0.05, -0.05)]
        + [[Fraction(11, 20)] * 2 + [Fraction(-1, 20)] * 2, np.array([[0.55, 0.55, -0.05, -0.05]])]
        + [np.array([[0.55], [0.55], [-0.05], [-0.05]])],
        [([0.3, 0.3, -0.3, -0.3], "add to 0"), ([1.3, 1.3, 0.7, 0.7], "1/n, not 1")]
        + [([0.75, 0.75, -0.25, -0.25], "score z is missing"), ([0.25] * 4, "mean feature alone")]
        + [((-0.05, -0.05, 0.55, 0.55), "order"), ([0.55, 0.55, 0.05, 0.05], "add up to 1")]
        + [([0.55, -0.05], "shape"), ([0.5, 0.5, 0, 0], ""), ([NAN] * 4, "NaN")],
    ),
    "preimages-2": (
        [0.75, 3 / 4, np.float64(0.75), Fraction(3, 4), [0.75]],
        [(0.65, "mixed term is missing"), (0.7, "comes twice"), (0.35, "mean feature is missing")]
        + [(0.25, "zv alone"), (0.866025, "square is asked"), (0.51, "square already")]
        + [(0.4, "mean feature alone"), (1, ""), (NAN, "finite")],
    ),
    "preimages-3": (
        [ROOT, 3.18, 3.183, 3.1825, np.array(3.18252), (3.18252,)],
        [(np.sqrt(10), "first coordinate"), (4, "second coordinate"), (2, "mean of the two")]
        + [(-2.971, "not the lower one"), (-0.2115, "maximum"), (3.3, ""), (NAN, "finite")]
        + [(3.2, "3 significant digits"), (-3.18, "sign")],
    ),
    "preimages-4": (
        [TRANSLATED, 1.52, 1.5161, 1.516, np.array([1.52])],
        [(TRANSLATED**2, "the square"), (2.6912, "not 1 − D²"), (1.07, "2σ²"), (1.24, "squared in")]
        + [(0.894, "in feature space"), (1.3173, "square already"), (0.999, "natural logarithm")]
        + [(2, ""), (1.5, "3 significant digits"), (NAN, "finite")],
    ),
    "preimages-5": (
        [0.5, 1 / 2, np.array(0.5), Fraction(1, 2), np.sqrt(0.25)],
        [(0.25, "squared distance"), (0.36056, "lost of x is missing"), (0.35, "mismatch")]
        + [(0.38, "as a square already"), (0.47, "difference first"), (0.71, "squares add up")]
        + [(0.9, ""), (NAN, "finite")],
    ),
    "preimages-6": (
        [gradient, gradient_by_loop, gradient_by_sums, gradient_by_differences],
        [(lambda *a: -gradient(*a), "downhill"), (lambda *a: gradient(*a, 1.0), "factor 2")]
        + [(lambda *a: gradient(*a, -1.0), "−2 before it"), FAILS, FUNCTION_NEEDED]
        + [(lambda x, X, g, s: gradient(x, X, g, s) * s**2, "factor 1/σ² is missing")]
        + [(lambda x, X, g, s: gradient(x, X, g, s) * s, "not 1/σ")]
        + [(lambda x, X, g, s: gradient(x, X, np.ones(6), s), "γ are missing")]
        + [(lambda x, X, g, s: gradient(x, X, g, s / np.sqrt(2)) / 2, "with the 2")]
        + [(lambda x, X, g, s: x, ""), (lambda x, X, g, s: X, "shape")],
    ),
    "preimages-7": (
        [step, step_by_gradient, step_by_average, step_with_slopes],
        [(step_of_sizes, "absolute values"), FAILS, FUNCTION_NEEDED]
        + [(step_by_size_of_the_sum, "with its sign"), (step_guarded, "guarded step")]
        + [(lambda *a: step(*a) - a[0], "That is the step")]
        + [(lambda x, X, g, s: weights_of(x, X, g, s) @ X, "division")]
        + [(lambda x, X, g, s: step(x, X, np.ones(6), s), "mean shift")]
        + [(lambda x, X, g, s: step(x, X, g, s / np.sqrt(2)), "with the 2")]
        + [(lambda x, X, g, s: x, ""), (lambda x, X, g, s: X, "shape")],
    ),
    "preimages-8": (
        [0.06 / 0.145, 0.4138, 12 / 29, 0.414, Fraction(12, 29)],
        [(6 / 7, "weighs with g"), (1.5, "plain mean"), (0.5473, "Gaussian")]
        + [(0.06, "sum of the weights"), (12 / 13, "squared distance"), (-0.586, "is the step")]
        + [(1, ""), (0.41, "3 significant digits"), (NAN, "finite")],
    ),
    "preimages-9": (
        [0.5 - np.log(0.9), 0.60536, 0.605, (0.6054,), np.float64(0.605)],
        [(0.5, "Halfway"), (0.39464, "sign of the logarithm"), (0.55268, "mind the 2")]
        + [(10, "kernel values"), (0.546, "natural logarithm"), (0.61, "3 significant digits")]
        + [(0.7, ""), (NAN, "finite")],
    ),
    "preimages-10": (
        [place, place_by_svd, place_by_the_first, place_with_an_unknown],
        [(lambda P, d2: place(P, d2) - P.mean(axis=0), "Add the mean"), FAILS, FUNCTION_NEEDED]
        + [(lambda P, d2: place(P, d2, 1.0), "1/2 is missing")]
        + [(lambda P, d2: place(P, d2, -2.0), "mirror"), (lambda P, d2: P.mean(axis=0), "mean of")]
        + [(lambda P, d2: place(P, np.sqrt(d2)), "squared already")]
        + [
            (lambda P, d2: P[0], "not those given"),
            (lambda P, d2: P, "shape"),
            (lambda P, d2: np.abs(place(P, d2)), "not those given"),
        ],
    ),
    "preimages-11": (
        [loo, loo_by_inverse, loo_by_eigenvalues, loo_by_scipy],
        [(residuals, "fit with all"), (lambda *a: a[1] - loo(*a), "predictions"), FAILS]
        + [(lambda *a: -loo(*a), "sign"), (lambda *a: loo(*a) / a[2], "cancels"), FUNCTION_NEEDED]
        + [(lambda *a: a[2] * loo(*a), "cancels"), (lambda *a: loo(*a) ** 2, "squares")]
        + [
            (loo_by_loop, "regression for each sample"),
            (lambda L, Y, r: L, "shape"),
            (loo_in_one_stack, "regression for each sample"),
        ],
    ),
    "preimages-12": (
        [CHOSEN, tuple(CHOSEN), np.array(CHOSEN), ", ".join(CHOSEN)]
        + [["Nearest", "gradient", "fixed point", "ridge", "MDS"], " ".join(CHOSEN)]
        + [dict(zip("abcde", CHOSEN, strict=True)), "nearest, gradient, fixed point, ridge, mds"],
        [(["ridge", "gradient", "fixed-point", "nearest", "mds"], "(a): only nearest")]
        + [(["nearest", "fixed-point", "gradient", "ridge", "mds"], "(b): a polynomial")]
        + [(["nearest", "gradient", "ridge", "mds", "fixed-point"], "(c): one method starts")]
        + [(["nearest", "gradient", "fixed-point", "mds", "ridge"], "(d): who can make")]
        + [(["nearest", "gradient", "fixed-point", "ridge", "nearest"], "(e): no copies")]
        + [(CHOSEN[:4], "five words"), (["newton"] * 5, "should be one of"), ([1] * 5, "quotation")]
        + [(5, "five words")],
    ),
    "preimages-13": (
        [["penalty", "mean", "narrow"], ("penalty", "mean", "narrow"), "penalty, mean, narrow"]
        + [np.array(["Penalty", "mean", "narrow"]), "penalty mean narrow"]
        + [{"A": "penalty", "B": "mean", "C": "narrow"}],
        [(["narrow", "mean", "penalty"], "at A"), (["penalty", "start", "narrow"], "at B")]
        + [(["penalty", "mean", "start"], "at C"), (["start", "mean", "narrow"], "at A")]
        + [(["penalty", "mean"], "three words"), (["mean", "mode", "median"], "should be one of")]
        + [(3, "three words"), ([1, 2, 3], "quotation")],
    ),
    "preimages-14": (
        ["be", "eb", "b, e", ["b", "e"], {"b", "e"}, ("B", "E"), "b and e", "b & e"],
        [("acd", "uphill step"), ("bd", "falls"), ("ace", "rises"), ("b", "One is missing")]
        + [
            ("e", "One is missing"),
            ("abcde", "turned round"),
            ("a", "negative?"),
            ("f", "Only the"),
        ]
        + [(5, "quotation marks"), ("", "Only the letters")],
    ),
}
