"""Answers to the exercises of chapter 15: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.linalg
from answers import FAILS, FUNCTION_NEEDED
from scipy.spatial import procrustes


def by_nuclear_norm(Z, P):
    Z, P = Z - Z.mean(axis=0), P - P.mean(axis=0)
    return np.linalg.norm(Z.T @ P, "nuc") / np.linalg.norm(Z) / np.linalg.norm(P)


def by_scipy(Z, P):
    return np.sqrt(1 - procrustes(P, Z)[2])


def by_rotation(Z, P):
    Z, P = Z - Z.mean(axis=0), P - P.mean(axis=0)
    R, _ = scipy.linalg.orthogonal_procrustes(Z, P)
    return np.corrcoef((Z @ R).ravel(), P.ravel())[0, 1]


def by_gram(Z, P):
    J = np.eye(len(Z)) - 1 / len(Z)
    M = Z.T @ J @ P
    two = np.sqrt(np.trace(M.T @ M) + 2 * abs(np.linalg.det(M)))
    return [two / np.sqrt(np.trace(Z.T @ J @ Z) * np.trace(P.T @ J @ P))]


def not_turned(Z, P):
    Z, P = Z - Z.mean(axis=0), P - P.mean(axis=0)
    return np.sum(Z * P) / np.linalg.norm(Z) / np.linalg.norm(P)


def not_mirrored(Z, P):
    Z, P = Z - Z.mean(axis=0), P - P.mean(axis=0)
    U, s, Vt = np.linalg.svd(Z.T @ P)
    sign = np.sign(np.linalg.det(U @ Vt))
    return (s[0] + sign * s[1]) / np.linalg.norm(Z) / np.linalg.norm(P)


def not_centred(Z, P):
    return np.linalg.norm(Z.T @ P, "nuc") / np.linalg.norm(Z) / np.linalg.norm(P)


def without_norms(Z, P):
    return np.linalg.norm((Z - Z.mean(axis=0)).T @ P, "nuc")


ANSWERS = {
    "genes-1": (
        [0.005, 1 / 200, Fraction(1, 200), Decimal("0.005"), [0.005]],
        [
            (1 / 201, "n − 1"),
            (0.5, "percentage"),
            (200, "share of each"),
            (0.01, "no double share"),
            (0, "variance, too"),
            (1 / 200**0.5, "No root"),
            ("0.005", "quotation marks"),
        ],
    ),
    "genes-2": (
        [22.33, 22.327, 0.998 / np.sqrt(0.001998), np.array([22.327]), Decimal("22.33")],
        [
            (0.996 / np.sqrt(2 * 0.002 * 0.998), "1,000 copies"),
            (22.37, "2f has to be taken off"),
            (31.58, "two coins"),
            (499.5, "standard deviation"),
            (44.7, "one copy"),
            (0.998, "centred only"),
            (1 / np.sqrt(0.001998), "2f has to be"),
            (22.3, "4 significant digits"),
        ],
    ),
    "genes-3": (
        [[4000, 2000], (4000.0, 2000.0), np.array([[4000], [2000]]), np.array([4000, 2000])],
        [
            ([2000, 4000], "order"),
            ([2000, 2000], "squared"),
            ([250, 2000], "divide by"),
            ([4, 2000], "number of people"),
            ([4000, 8000], "doubled, too"),
            ([4000, 1000], "2,000 people"),
            ([4000], "shape"),
            ([4000, 3000], "second"),
        ],
    ),
    "genes-4": (
        [by_nuclear_norm, by_scipy, by_rotation, by_gram],
        [
            FUNCTION_NEEDED,
            FAILS,
            (not_turned, "does not turn"),
            (not_mirrored, "does not mirror"),
            (lambda Z, P: not_mirrored(Z * [1, -1], P), "always mirrors"),
            (not_centred, "Centre both"),
            (without_norms, "no norms"),
            (lambda Z, P: by_scipy(Z, P) ** 2, "r squared"),
            (lambda Z, P: procrustes(P, Z)[2], "what is lost"),
            (lambda Z, P: 0.5, "and r is"),
        ],
    ),
    "genes-5": (
        ["DACB", "dacb", "D, A, C, B", ["D", "A", "C", "B"], np.array(list("DACB"))],
        [
            ("BDCA", "turn it round"),
            ("ADCB", "exchanged"),
            ("DABC", "no colour has a place"),
            ("CADB", "crowd of one colour"),
            ("DDCB", "one line"),
            ("DAC", "letters are needed"),
            (4, "Letters are needed"),
        ],
    ),
    "genes-6": (
        ["nynyn", "NYNYN", "n y n y n", ["n", "y", "n", "y", "n"], [False, True] * 2 + [False]],
        [
            ("yynyn", "makes waves"),
            ("nnnyn", "1/2999"),
            ("nyyyn", "get the room"),
            ("nynnn", "relatives"),
            ("nynyy", "arch"),
            ("nyny", "letters are needed"),
            (True, "Letters are needed"),
        ],
    ),
}
