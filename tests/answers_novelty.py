"""Answers to the exercises of chapter 17: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED
from scipy.stats import mannwhitneyu, rankdata
from sklearn.metrics import roc_auc_score


def by_pairs(normal, novel):
    gap = novel[:, None] - normal
    return np.mean(gap > 0) + np.mean(gap == 0) / 2


def by_signs(normal, novel):
    return (1 + np.sign(np.subtract.outer(novel, normal)).mean()) / 2


def by_ranks(normal, novel):
    ranks = rankdata(np.concatenate([normal, novel]))[len(normal) :]
    m = len(novel)
    return (ranks.sum() - m * (m + 1) / 2) / (m * len(normal))


def by_sklearn(normal, novel):
    labels = np.repeat([0, 1], [len(normal), len(novel)])
    return roc_auc_score(labels, np.concatenate([normal, novel]))


def by_scipy(normal, novel):
    return mannwhitneyu(novel, normal).statistic / (len(novel) * len(normal))


def strictly(normal, novel):
    return np.mean(novel[:, None] > normal)


def ties_too(normal, novel):
    return np.mean(novel[:, None] >= normal)


ANSWERS = {
    "novelty-1": (
        [199, 199.0, Fraction(199), np.int64(199), [199], Decimal(199)],
        [
            (200, "m + 1 ranks"),
            (201, "more than m"),
            (198, "One too few"),
            (399, "j = 2"),
            (0.005, "the rate"),
            (39, "2 in 40"),
            (199.5, "whole number"),
            ("199", "quotation marks"),
        ],
    ),
    "novelty-2": (
        [1.15, Fraction(23, 20), 1 + 0.25 - 0.3**2 - 0.1**2, [1.15], Decimal("1.150")],
        [
            (1.25, "squared scores"),
            (0.9, "Gram matrix is missing"),
            (1, "origin"),
            (0.85, "squared"),
            (1.35, "not added"),
            (0.65, "middle term"),
            (0.15, "also far away"),
            (1.09, "each score"),
        ],
    ),
    "novelty-3": (
        [by_pairs, by_signs, by_ranks, by_sklearn, by_scipy],
        [
            FUNCTION_NEEDED,
            FAILS,
            (lambda a, b: by_pairs(b, a), "turned round"),
            (strictly, "counts nothing"),
            (ties_too, "counts one."),
            (lambda a, b: by_pairs(a, b) * len(a) * len(b), "divide by all pairs"),
            (lambda a, b: b.mean() - a.mean(), "mean difference"),
            (lambda a, b: 0.5, "it gives"),
        ],
    ),
    "novelty-4": (
        ["CBAD", "cbad", "C B A D", ["C", "B", "A", "D"], np.array(list("CBAD"))],
        [
            ("DBAC", "exchanged"),
            ("CBDA", "straight"),
            ("BCAD", "narrow kernel"),
            ("CCAD", "one line"),
            ("CBA", "letters are needed"),
            ("CBAE", "Only the letters"),
            (3, "Letters are needed"),
        ],
    ),
    "novelty-5": (
        ["c", "C", " c ", "(c)", ["c"]],
        [
            ("a", "rebuild the strangers better"),
            ("b", "protects its surroundings"),
            ("d", "the curve stays"),
            ("cd", "letter is needed"),
            ("e", "Only the letters"),
            (3, "Letters are needed"),
        ],
    ),
    "novelty-6": (
        ["PKN", "pkn", "P, K, N", ("P", "K", "N")],
        [
            ("KKN", "fill a plane"),
            ("PPN", "bent"),
            ("PNN", "bent"),
            ("PKK", "ten million"),
            ("PK", "letters are needed"),
            ("PKX", "Only the letters"),
            (None, "Letters are needed"),
        ],
    ),
}
