"""Answers to the exercises of chapter 16: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax


def distances(X, y, T):
    classes = np.unique(y)
    return classes, cdist(T, np.array([X[y == c].mean(axis=0) for c in classes]))


def read(X, y, T):
    classes, D = distances(X, y, T)
    return classes[D.argmin(axis=1)]


def named_as_they_come(X, y, T):
    """Right if the labels come in rising order."""
    _, D = distances(X, y, T)
    return np.array(list(dict.fromkeys(y.tolist())))[D.argmin(axis=1)]


def by_loop(X, y, T):
    means = {c: X[y == c].mean(axis=0) for c in set(y)}
    return [min(means, key=lambda c: np.sum((t - means[c]) ** 2)) for t in T]


def by_products(X, y, T):
    classes = np.unique(y)
    M = np.array([X[y == c].mean(axis=0) for c in classes])
    return classes[(T @ M.T - np.sum(M**2, axis=1) / 2).argmax(axis=1)]


def as_floats(X, y, T):
    return read(X, y, T).astype(float)


def nearest_sample(X, y, T):
    return y[cdist(T, X).argmin(axis=1)]


def farthest(X, y, T):
    classes, D = distances(X, y, T)
    return classes[D.argmax(axis=1)]


def plain_products(X, y, T):
    classes = np.unique(y)
    return classes[(T @ np.array([X[y == c].mean(axis=0) for c in classes]).T).argmax(axis=1)]


def clean(known, T, h):
    D2 = cdist(T, known) ** 2
    W = np.exp(-(D2 - D2.min(axis=1, keepdims=True)) / (2 * h**2))
    return W @ known / W.sum(axis=1, keepdims=True)


def by_softmax(known, T, h):
    return (softmax(-cdist(T, known, "sqeuclidean") / (2 * h**2), axis=1) @ known).tolist()


def row_by_row(known, T, h):
    return np.array([clean(known, t[None], h)[0] for t in T])


def by_logs(known, T, h):
    E = -(cdist(T, known) ** 2) / (2 * h**2)
    return np.exp(E - logsumexp(E, axis=1, keepdims=True)) @ known


def bare(known, T, h, power=2, divisor=2.0):
    W = np.exp(-(cdist(T, known) ** power) / (divisor * h**2))
    with np.errstate(all="ignore"):
        return W @ known / W.sum(axis=1, keepdims=True)


def not_divided(known, T, h):
    return np.exp(-(cdist(T, known) ** 2) / (2 * h**2)) @ known


ANSWERS = {
    "digits-1": (
        [15.68, 15.7, 64 * 2 * 0.35**2, Fraction(392, 25), [15.68]],
        [(7.84, "both copies"), (3.96, "root"), (44.8, "square of 0.35"), (0.245, "64")]
        + [(31.36, "add up"), (22.4, "both copies"), (2.8, "one dirty"), (16, "3 significant")]
        + [(NAN, "finite")],
    ),
    "digits-2": (
        [read, by_loop, by_products, as_floats],
        [(lambda *a: distances(*a)[1].argmin(axis=1), "places 0, 1, 2"), FAILS, FUNCTION_NEEDED]
        + [(nearest_sample, "nearest sample"), (farthest, "farthest")]
        + [(plain_products, "inner product"), (lambda X, y, T: np.full(60, 5), "names differ")]
        + [(named_as_they_come, "names differ")]
        + [(lambda X, y, T: np.full(60, 9), "do not occur"), (lambda X, y, T: y, "shape")],
    ),
    "digits-3": (
        ["bd", "db", "B, D", ["b", "d"], {"b", "d"}],
        [("abd", "a: there"), ("bcd", "c: there"), ("bde", "e: there"), ("b", "One is missing")]
        + [("d", "One is missing"), ("f", "Only the letters"), (3, "quotation")],
    ),
    "digits-4": (
        ["ab", "ba", "A, B", ["a", "b"], {"a", "b"}],
        [("abc", "c: the weighted"), ("abd", "d: the cleaner"), ("abe", "e: look")]
        + [("a", "One is missing"), ("b", "One is missing"), ("x", "Only the letters")]
        + [(3, "quotation")],
    ),
    "digits-5": (
        [clean, by_softmax, row_by_row, by_logs],
        [(bare, "far away"), (not_divided, "sum of the weights"), FAILS, FUNCTION_NEEDED]
        + [(lambda K, T, h: bare(K, T, h, divisor=1), "not by h"), (lambda K, T, h: K, "shape")]
        + [(lambda K, T, h: clean(K, T, np.sqrt(h)), "not 2h")]
        + [(lambda K, T, h: bare(K, T, h, power=1), "distances are squared")]
        + [(lambda K, T, h: K[cdist(T, K).argmin(axis=1)], "nearest picture")]
        + [(lambda K, T, h: np.tile(K.mean(axis=0), (len(T), 1)), "plain mean")]
        + [(lambda K, T, h: T, "")],
    ),
    "digits-6": (
        [["raw", "clean", "flag"], ("Raw", "clean ", "FLAG"), "raw, clean, flag"]
        + [np.array(["raw", "clean", "flag"])],
        [(["clean", "raw", "flag"], "gains nothing"), (["flag", "clean", "raw"], "every scan")]
        + [(["raw", "raw", "flag"], "learn from dirt"), (["raw", "flag", "clean"], "every scan")]
        + [(["raw", "clean", "raw"], "name the stains"), (["raw", "clean", "clean"], "of stains")]
        + [(["raw", "clean", "stop"], "should be one of"), ("raw", "three words")],
    ),
}
