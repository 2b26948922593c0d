"""Checkers for the exercises of chapter 6: kernels, Gram matrices, features, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import is_psd
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_real,
    exercise,
    expect_close,
    expect_not,
    expect_number,
    expect_whole,
    shape_of,
)


@exercise(
    "kernels-1",
    "First the inner product of x and y, then the constant, then the square.",
    "xᵀy = 1·2 + 2·1 = 4.",
)
def kernel_value(answer: Any) -> None:
    mistakes: dict[float, str] = {
        16: "The constant 1 is missing.",
        5: "The square is missing.",
        10: "The square is missing: 5 is multiplied by itself, not by 2.",
        17: "The constant is added before the square is taken.",
        4: "That is the inner product alone.",
        9: "The inner product is 1·2 + 2·1.",
        36: "The constant is added once, not to each product.",
        26: "The constant is added before the square, and not again after it.",
    }
    expect_whole(answer, 25, mistakes)


@exercise(
    "kernels-2",
    "Count the monomials of degree at most 3 in 10 variables.",
    "Stars and bars: C(d + p, p) with d = 10 and p = 3.",
)
def feature_count(answer: Any) -> None:
    mistakes: dict[float, str] = {
        220: "Those have degree exactly 3: the constant gives lower degrees too.",
        120: "That counts products of three different variables only.",
        1000: "That counts x₁x₂ and x₂x₁ as two.",
        1331: "That counts the order of the factors: x₁x₂ and x₂x₁ are one feature.",
        285: "The constant feature counts too.",
        66: "That is degree 2.",
        1001: "That is degree 4.",
        364: "That is C(14, 3), and d + p is 13.",
    }
    expect_whole(answer, 286, mistakes)


@exercise(
    "kernels-3",
    "Write the squared distance by kernel values: κ(x, x) − 2κ(x, y) + κ(y, y).",
    "It is 2 − 2κ(x, y), and κ is positive.",
)
def largest_distance(answer: Any) -> None:
    if isinstance(answer, float | int) and answer == np.inf:
        raise WrongAnswer("Features have length one: two of them can't be far apart.")
    mistakes: dict[float, str] = {
        2: "That is the bound of the squared distance: take the root.",
        4: "That would be the square for opposite features, and κ is never negative.",
        1: "That is the length of one feature.",
        0: "They are equal only for x = y.",
        1 / np.sqrt(2): "That is half of it: the distance from the point half-way.",
    }
    expect_number(answer, np.sqrt(2), 3, mistakes)


@exercise(
    "kernels-4",
    "Multiply out ‖φ(x₃) − ½(φ(x₁) + φ(x₂))‖² and look the inner products up in K.",
    "It is K₃₃ − (K₃₁ + K₃₂) + ¼(K₁₁ + 2K₁₂ + K₂₂).",
)
def distance_from_the_mean(answer: Any) -> None:
    mistakes: dict[float, str] = {
        np.sqrt(4.75): "That is the distance: its square is asked for.",
        4.25: "K₁₂ is missing in the last sum.",
        4.5: "K₁₂ counts twice: it is the inner product of 1 with 2 and of 2 with 1.",
        5.75: "The middle term is missing: the third sample has inner products with the others.",
        3: "The last term is missing: the mean has a length of its own.",
        6.5: "The last sum has to be divided by 4, not by 2.",
        10: "The last sum has to be divided by 4.",
        3.75: "The middle term is (2/2)(0 + 1), not twice that.",
        5.25: "The middle term is (2/2)(0 + 1), not half of it.",
        19 / 9: "That is measured from the mean of all three.",
    }
    expect_number(answer, 4.75, 3, mistakes)


@exercise(
    "kernels-5",
    "X[:, None, :] − Y[None, :, :] holds the differences of all pairs of rows.",
    "Square, sum over the last axis, divide by 2σ², change the sign, take the exponential.",
)
def gaussian_from_scratch(answer: Any) -> None:
    kernel = as_function(answer)
    rng = np.random.default_rng(5)
    for m, n, d, sigma in ((4, 6, 3, 0.8), (5, 2, 1, 1.7), (3, 3, 2, 0.5)):
        X, Y = rng.standard_normal((m, d)), rng.standard_normal((n, d))
        gap = np.sum((X[:, None] - Y[None]) ** 2, axis=2)
        given = as_array(kernel(X.copy(), Y.copy(), sigma), (m, n))
        for wrong, why in (
            (np.exp(gap / (2 * sigma**2)), "The minus sign is missing."),
            (np.exp(-gap / sigma**2), "The exponent is divided by 2σ², not by σ²."),
            (np.exp(-gap / sigma), "The exponent is divided by 2σ²."),
            (np.exp(-gap / (2 * sigma)), "σ has to be squared."),
            (np.exp(-sigma * gap), "The exponent is divided by 2σ²: σ is a width, not a rate."),
            (np.exp(-np.sqrt(gap) / (2 * sigma**2)), "The distance has to be squared."),
            (gap, "Those are the squared distances: the exponential is missing."),
            (np.exp(-gap / 2), "That is the kernel with σ = 1: the width is not used."),
        ):
            if not np.allclose(wrong, np.exp(-gap / (2 * sigma**2))):
                expect_not(given, wrong, why)
        expect_close(given, np.exp(-gap / (2 * sigma**2)))


@exercise(
    "kernels-6",
    "Try the quick tests first: κ(x, x) ≥ 0, and κ(x, y)² ≤ κ(x, x) κ(y, y).",
    "Three of them pass. Find a feature map or a series of kernels for each.",
    "cos(x − y) = cos x cos y + sin x sin y.",
)
def which_are_kernels(answer: Any) -> None:
    given = as_letters(answer, "abcdef")
    if len(set(given)) < len(given):
        raise WrongAnswer("A letter stands there twice.")
    reasons = {
        "b": "b is none: at x = y = 0 it is −1.",
        "d": "d is none: try the samples 1 and 2.",
        "f": "f is none: κ(x, x) = 0 for all x.",
    }
    for letter, why in reasons.items():
        if letter in given:
            raise WrongAnswer(why)
    if set(given) != set("ace"):
        raise WrongAnswer("All that you name are kernels, but you have not found all of them.")


@exercise(
    "kernels-7",
    "min(x, y) counts something: how many of the numbers 1, …, 20 are at most x and at most y?",
    "Give each j from 1 to 20 a feature that is 1 or 0.",
    "φ(x)_j = 1 if j ≤ x, else 0.",
)
def features_of_the_minimum(answer: Any) -> None:
    features = as_function(answer)
    x, y = np.arange(21), np.array([3, 17, 0, 7, 7, 12])  # another largest one, and one twice
    of_x, of_y, again = (_rows_of(features, numbers) for numbers in (x, y, x[y]))
    _expect_minima(of_x @ of_x.T, x, x)
    _expect_minima(of_y @ of_y.T, y, y)
    if of_x.shape[1] != of_y.shape[1]:
        raise WrongAnswer(
            f"With {len(x)} numbers there are {of_x.shape[1]} features and with {len(y)} there are "
            f"{of_y.shape[1]}: a feature map gives every number the same features."
        )
    whole = "φ(x) may depend on x alone, not on the other numbers that come with it"
    if not np.allclose(of_y, again) or not np.allclose(of_x[y], of_y):
        raise WrongAnswer(f"{whole}: the same number has got two different rows.")
    expect_close(of_x @ of_y.T, np.minimum.outer(x, y), f"{whole}.")


def _rows_of(features: Callable, x: NDArray) -> NDArray:
    """Return the reader's features of some numbers, if there is a row for each."""
    given = as_real(features(x.copy()))
    if given.ndim != 2 or len(given) != len(x):
        raise WrongAnswer(
            f"A row for each of the {len(x)} numbers is needed, and yours has the shape "
            f"{given.shape}."
        )
    if not np.isfinite(given).all():
        raise WrongAnswer("There are NaN or infinite entries in it.")
    return given


def _expect_minima(gram: NDArray, x: NDArray, y: NDArray) -> None:
    right = np.minimum.outer(x, y)
    expect_not(gram, right + 1, "All are too large by one: is j = 0 there?")
    expect_not(gram, np.maximum.outer(x, y), "Those are the larger numbers.")
    expect_not(gram, np.outer(x, y), "Those are the products xᵢxⱼ.")
    same = np.allclose(gram.diagonal(), x)
    wrong = "The inner products are not the smaller numbers"
    expect_close(gram, right, wrong + (", but φ(x)ᵀφ(x) = x is right." if same else "."))


@exercise(
    "kernels-8",
    "A kernel has κ(x, x) = ‖φ(x)‖² ≥ 0.",
    "Find an x with tanh(xᵀx − 1) < 0.",
)
def samples_without_features(answer: Any) -> None:
    if len(shape_of(answer)) != 2 or not np.size(answer):
        raise WrongAnswer("An n×d array of samples is needed, such as [[1.0, 2.0]] for one.")
    if np.shape(answer)[0] > 500:
        raise WrongAnswer("One sample may be enough, and a few are: these are more than 500.")
    X = as_array(answer, shape_of(answer))
    if np.linalg.eigvalsh(np.tanh(X @ X.T - 1))[0] > -1e-9:
        raise WrongAnswer("Their Gram matrix has no negative eigenvalue.")


@exercise(
    "kernels-9",
    "Each list of exponents m₁, …, m_d has one feature: what is it divided by?",
    "Divide by σ^m √(m₁! ⋯ m_d!) with m₁ = 2, m₂ = 1, m = 3.",
)
def one_gaussian_feature(answer: Any) -> None:
    mistakes: dict[float, str] = {
        1 / (8 * np.sqrt(6)): "That divides by √m!: x₁²x₂ comes three times in (x₁y₁ + x₂y₂)³.",
        1 / 8: "That is σ^−m alone: the factorials are missing.",
        1 / 16: "Divide by the root of 2!·1!, not by 2!·1! itself.",
        1 / 48: "Divide by the root of the factorials, and m! cancels.",
        1 / (4 * np.sqrt(2)): "The degree m is 3: divide by σ³.",
        1 / (64 * np.sqrt(2)): "σ^2m is in the kernel: each feature gets its root, σ^m.",
        8 * np.sqrt(2): "Divide by that, don't multiply.",
        1 / np.sqrt(2): "The factor σ^−m is missing.",
        np.sqrt(3) / 8: "That is the factor for (xᵀy)³/σ⁶: the series also divides by m!.",
    }
    expect_number(answer, 1 / (8 * np.sqrt(2)), 3, mistakes)


@exercise(
    "kernels-10",
    "‖f‖² = cᵀKc with c = (2, −1) and the Gram matrix of the samples 0 and 1.",
    "K has 1 on the diagonal and e^(−1/2) beside it; the mixed term comes twice.",
)
def norm_of_a_function(answer: Any) -> None:
    off = np.exp(-0.5)
    mistakes: dict[float, str] = {
        np.sqrt(5 - 4 * off): "That is ‖f‖: its square is asked for.",
        5: "The two bumps overlap: the mixed term is missing.",
        5 - 2 * off: "The mixed term comes twice.",
        5 + 4 * off: "The weights have different signs, so the mixed term is negative.",
        5 - 4 * np.exp(-1): "κ(0, 1) is e^(−1/2): the exponent is divided by 2σ².",
        1: "That is (2 − 1)², as if both bumps stood at one place.",
        3 - 2 * off: "The weights are squared: 2² + 1².",
    }
    expect_number(answer, 5 - 4 * off, 3, mistakes)


@exercise(
    "kernels-11",
    "Which kernels have negative values, and for which pairs?",
    "The cosine of two numbers is the sign of their product: it has no small values.",
    "Near zero xy and (xy)² are small: they have a white cross.",
)
def read_the_gram_matrices(answer: Any) -> None:
    given = as_letters(answer, "ABCD", 4)
    if len(set(given)) < 4:
        raise WrongAnswer("Four different letters are needed, for the kernels 1, 2, 3 and 4.")
    if given[1] != "b":
        raise WrongAnswer("The Gaussian kernel is near zero except for neighbours: a band.")
    if given[3] != "c":
        raise WrongAnswer("A square is never negative: no orange in picture 4.")
    if given != "dbac":
        raise WrongAnswer("xy is small where x or y is near zero; the cosine is 1 or −1.")


@exercise(
    "kernels-12",
    "How large is ‖x − y‖² when each of 500 features adds about 2?",
    "Solve exp(−1000/2σ²) = ½ for σ.",
)
def width_in_many_dimensions(answer: Any) -> None:
    right = np.sqrt(500 / np.log(2))
    mistakes: dict[float, str] = {
        500 / np.log(2): "That is σ²: take the root.",
        np.sqrt(1000 / np.log(2)): "The exponent is divided by 2σ², not by σ².",
        np.sqrt(250 / np.log(2)): "Each feature adds 2 to the squared distance, not 1.",
        np.sqrt(1000): "That is the typical distance. Which width gives κ = ½ there?",
        np.sqrt(500): "With that width κ = e^(−1), not ½.",
        np.sqrt(500 / np.log10(2)): "The natural logarithm is needed.",
    }
    expect_number(answer, right, 3, mistakes)


@exercise(
    "kernels-13",
    "Where on the unit circle does the direction a point? Kernels of points are at hand.",
    "With (cos a, sin a) the squared distance of two directions is 2 − 2 cos(a − b).",
    "exp(cos(a − b) − 1) will do.",
)
def kernel_for_the_wind(answer: Any) -> None:
    wind = as_function(answer)
    turn = np.arange(0.0, 360.0, 15.0)
    K = as_array(wind(turn.copy(), turn.copy()), (24, 24))
    if not np.allclose(K, K.T, atol=1e-6):
        raise WrongAnswer("It is not symmetric: κ(a, b) = κ(b, a) is needed.")
    if not np.allclose(K.diagonal(), 1, atol=1e-6):
        raise WrongAnswer("κ(a, a) should be 1.")
    a, b = np.array([359.0, 10.0, 200.0]), np.array([1.0, 350.0, 47.0, 130.0])
    part, turned, mirrored = (
        as_array(wind(*pair), (3, 4))
        for pair in ((a.copy(), b.copy()), ((a + 2) % 360, (b + 2) % 360), (-a % 360, -b % 360))
    )
    if not np.allclose(part, turned, atol=1e-6):
        raise WrongAnswer("359° and 1° are as near as 0° and 2°: yours does not know that.")
    if not np.allclose(part, mirrored, atol=1e-6):
        raise WrongAnswer("It should depend on the angle between the two directions only.")
    block = as_array(wind(turn[3:7].copy(), turn[1:].copy()), (4, 23))
    if not np.allclose(block, K[3:7, 1:], atol=1e-6):
        raise WrongAnswer("A value depends on its two angles alone, not on others that come along.")
    around = K[0, :13]  # the angles 0°, 15°, …, 180°
    if np.any(np.diff(around) > 1e-6) or around[-1] > around[0] - 1e-6:
        raise WrongAnswer("It should fall as the angle grows from 0° to 180°.")
    with np.errstate(all="ignore"):
        rate = -np.log(around[1:]) / turn[1:13] ** 2
    if np.allclose(rate, rate[0], rtol=1e-6):
        raise WrongAnswer("The Gaussian of the shorter arc is no kernel: try a wide one on is_psd.")
    if not is_psd(K, tol=1e-5):
        raise WrongAnswer("It has negative eigenvalues for 24 even directions: it is no kernel.")
