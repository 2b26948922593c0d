"""Checkers for the exercises of chapter 7: kernel PCA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..centering import center_gram
from ..kernels import rbf
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_number,
    exercise,
    expect_directions,
    expect_number,
    expect_whole,
)


def _quadratic_gram(n: int, seed: int) -> NDArray:
    X = np.random.default_rng(seed).standard_normal((n, 3)) * [2.0, 1.3, 0.6] + 0.5
    return (X @ X.T + 1) ** 2


def _eigenpairs(K: NDArray, k: int) -> tuple[NDArray, NDArray]:
    lam, a = np.linalg.eigh(K)
    return lam[::-1][:k], a[:, ::-1][:, :k]


def _moons(n: int, seed: int) -> tuple[NDArray, NDArray]:
    """Return n samples on two moons that reach into each other, and which moon each is on."""
    turn = np.linspace(0, np.pi, n // 2)
    upper = np.column_stack([np.cos(turn), np.sin(turn)])
    moons = np.vstack([upper, [1, 0.5] - upper])
    noise = 0.06 * np.random.default_rng(seed).standard_normal(moons.shape)
    return moons + noise, np.repeat([0, 1], n // 2)


@exercise(
    "kernel-pca-1",
    "Write K_c = JKJ for the centred K. For two samples it is a multiple of [[1, −1], [−1, 1]].",
    "The squared distance of the two features is 5 − 2·1 + 3 = 6; the mean is half-way.",
    "K_c = 6/4 · [[1, −1], [−1, 1]], and that matrix has the eigenvalue 2.",
)
def eigenvalue_of_two_samples(answer: Any) -> None:
    mistakes: dict[float, str] = {
        4 + np.sqrt(2): "That is an eigenvalue of K: centre it first.",
        4 - np.sqrt(2): "That is an eigenvalue of K: centre it first.",
        1.5: "That is an entry of K_c, and the variance: its eigenvalue is n times that.",
        6: "That is the squared distance of the two features.",
        0: "That is the other eigenvalue: the non-zero one is asked for.",
        8: "That is the trace of K, without centring.",
        np.sqrt(3): "That is √lam: the eigenvalue itself is asked for.",
        3.5: "The mixed entry counts twice: 5 − 2·1 + 3.",
    }
    expect_whole(answer, 3, mistakes)


@exercise(
    "kernel-pca-2",
    "With a unit eigenvector a the scores are √lam a, where lam is its eigenvalue.",
    "a = (1, −1)/√2 and lam = 3.",
)
def score_of_two_samples(answer: Any) -> None:
    root = np.sqrt(2)
    mistakes: dict[float, str] = {
        1 / root: "That is the entry of the unit eigenvector.",
        3 / root: "That is the product of K_c with a unit a: divide by √lam.",
        1 / np.sqrt(6): "That is α: multiply by lam.",
        np.sqrt(3): "That is √lam: multiply by the entry of a.",
        1.5: "That is the square of it.",
        np.sqrt(6): "That is the distance of the two scores: each is half of it from the mean.",
        np.sqrt(3) / 2: "a has length one, so its entries are ±1/√2, not ±1/2.",
    }
    expect_number(abs(as_number(answer)), np.sqrt(1.5), 3, mistakes)


@exercise(
    "kernel-pca-3",
    "Divide by the trace of the centred matrix K_c = JKJ, not of K.",
    "tr K_c = tr K − (sum of all entries)/n.",
)
def share_from_three_numbers(answer: Any) -> None:
    mistakes: dict[float, str] = {
        12 / 40: "That divides by the trace of K: centring takes something off.",
        0.04: "That divides by n once too often: the n's cancel.",
        4: "That divides the trace by n and not the eigenvalue: the n's cancel.",
        -0.2: "The sum of all entries has to be divided by n.",
        12 / 39: "Divide the sum of entries by n, not by n².",
        12 / 100: "The trace of K_c is 40 less something: 100 is the sum of all entries of K.",
        30: "That is the trace of K_c: which share of it is 12?",
    }
    expect_number(answer, 0.4, 6, mistakes, percent=True)


@exercise(
    "kernel-pca-4",
    "The solutions are sums a + b: an eigenvector, and anything that K_c = JKJ maps to zero.",
    "(xᵀy + 1)² has six features in the plane. One of them is constant: what is the rank of K_c?",
    "The null space has the dimension 30 − 5.",
)
def solutions_of_the_squared_equation(answer: Any) -> None:
    mistakes: dict[float, str] = {
        25: "The null space has that dimension: the eigenvector itself comes on top.",
        24: "The constant feature drops out by centring, so the rank of K_c is 5.",
        1: "That is the plain equation: the squared one has more solutions.",
        5: "That is the rank of K_c.",
        6: "Those are the features. How large is the null space of the 30×30 matrix K_c?",
        30: "Not every α solves it: other eigenvectors with lam ≠ 0 don't.",
        29: "There are five eigenvalues that are not zero, not two.",
        28: "In the plane there are six features, not two.",
        2: "Only b = 1 is counted: the whole null space of K_c counts.",
    }
    expect_whole(answer, 26, mistakes)


@exercise(
    "kernel-pca-5",
    "Pythagoras: the squared distance from the mean, less the squared scores.",
    "The squared distance from the mean is κ(t, t) − 2·(mean of κ(t, xᵢ)) + mean of K.",
)
def what_is_lost_of_one_sample(answer: Any) -> None:
    mistakes: dict[float, str] = {
        0.6: "That is the squared distance from the mean: subtract what the scores hold.",
        0.74: "The mean feature is missing: that is κ(t, t) less the squared scores.",
        0: "The scores are squared before they are subtracted.",
        0.64: "The mean of κ(t, xᵢ) comes twice.",
        0.14: "The mean of K is added.",
        -0.06: "The mean of K is added, and not subtracted.",
        np.sqrt(0.34): "That is the distance: its square is asked for.",
        0.35: "Both scores count.",
        0.86: "The squared scores are subtracted, not added.",
        0.26: "Those are the squared scores: what is the whole squared distance from the mean?",
    }
    expect_number(answer, 0.34, 2, mistakes)


@exercise(
    "kernel-pca-6",
    "Clipping sets the negative eigenvalue to zero. What is the trace then?",
    "6/(6 + 3 + 1).",
)
def share_after_clipping(answer: Any) -> None:
    mistakes: dict[float, str] = {
        0.75: "That divides by the trace before clipping, 8: the shares would add up to 1.25.",
        0.5: "That divides by the sum of the moduli: clipping drops −2, it does not turn it.",
        6: "That is the eigenvalue: divide by the trace of the clipped matrix.",
        2 / 3: "That divides by 9: all positive eigenvalues count.",
        10: "That is the trace of the clipped matrix: which share of it is 6?",
        0.8: "Clipping takes nothing off the largest eigenvalue.",
        1.2: "That divides by n: the trace is the sum of the eigenvalues.",
    }
    expect_number(answer, 0.6, 2, mistakes, percent=True)


@exercise(
    "kernel-pca-7",
    "Centre: K_c = JKJ with J = I − 11ᵀ/n. Then eigenvectors, largest eigenvalue first.",
    "A unit eigenvector a gives a direction whose squared length is its eigenvalue lam.",
    "Divide each column by √lam.",
)
def weights_of_the_right_length(answer: Any) -> None:
    weights = as_function(answer)
    for n, k in ((12, 2), (20, 4)):
        K = _quadratic_gram(n, seed=n)
        given = as_array(weights(K.copy(), k), (n, k))
        lam, a = _eigenpairs(center_gram(K), k)
        raw_lam, raw = _eigenpairs(K, k)
        size = np.linalg.norm(given)
        if size and np.linalg.norm(center_gram(K) @ given) <= 1e-3 * lam[k - 1] * size:
            raise WrongAnswer("Those have the smallest eigenvalues: turn the order.")
        for wrong, why in (
            (raw / np.sqrt(raw_lam), "K has not been centred."),
            (raw, "K has not been centred, and a has to be divided by √lam."),
            (a, "Those are the unit eigenvectors: their directions have the length √lam."),
            (a / lam, "Divide by √lam, not by lam."),
            (a * np.sqrt(lam), "Those are the scores: divide by √lam, don't multiply."),
            (a / np.sqrt(lam / n), "That divides by √λ with λ = lam/n: directions of length √n."),
            (a / np.sqrt(lam * n), "lam is the eigenvalue of K_c itself: there is no n in it."),
            ((a / np.sqrt(lam))[:, ::-1], "Right, in the wrong order: largest eigenvalue first."),
        ):
            if _same_up_to_signs(given, wrong):
                raise WrongAnswer(why)
        right = a / np.sqrt(lam)
        expect_directions(given, right, tol=1e-6 * np.abs(right).max())


def _same_up_to_signs(given: NDArray, wrong: NDArray) -> bool:
    size = np.linalg.norm(given, axis=0)
    if not np.allclose(size, np.linalg.norm(wrong, axis=0), rtol=1e-6):
        return False
    return np.allclose(np.abs(np.sum(given * wrong, axis=0)), size**2, rtol=1e-6)


@exercise(
    "kernel-pca-8",
    "For wide kernels σ²JKJ is nearly X_cX_cᵀ: what happens to its eigenvalues over n?",
    "lam₁/n is nearly the first variance of PCA, divided by σ².",
)
def variance_of_a_wide_kernel(answer: Any) -> None:
    mistakes: dict[float, str] = {
        4: "That is the variance of linear PCA: σ²JKJ tends to X_cX_cᵀ, not JKJ itself.",
        0.2: "σ is squared.",
        0.1: "That is a ratio of deviations: divide the variance by σ².",
        0.005: "σ²JKJ tends to X_cX_cᵀ, without a factor 2.",
        1600: "Divide by σ², don't multiply.",
        0.8: "That is the share of the variance: the variance itself is asked for.",
        0.0025: "The first variance is 4, not 1.",
    }
    expect_number(answer, 0.01, 2, mistakes)


@exercise(
    "kernel-pca-9",
    "Try widths in steps of √2 and look at the first score of each moon.",
    "The gap between the moons is about 0.4 wide: the kernel must not reach across it.",
    "Below 0.1 each moon falls into pieces. Try 0.2.",
)
def width_for_the_moons(answer: Any) -> None:
    sigma = as_number(answer)
    if sigma <= 0:
        raise WrongAnswer("A width is positive.")
    if sigma < 0.01:
        raise WrongAnswer("So narrow a kernel calls all samples strangers.")
    right = min(_right_by_first_score(sigma, seed) for seed in (0, 1))
    if right < 0.95:
        shown = f"With this width the best cut of the first score gets {right:.0%} of new samples"
        width = "narrow: each moon falls into pieces" if sigma < 0.2 else "wide: it sees a slope"
        raise WrongAnswer(f"{shown} right, and 95 % are asked for. It is too {width}.")


def _right_by_first_score(sigma: float, seed: int) -> float:
    """Fit on some moons, and return the share of others that the best cut gets right."""
    X, (T, group) = _moons(300, seed)[0], _moons(300, seed + 50)
    kernel = rbf(min(sigma, 1e6))
    K = kernel(X)
    _, a = _eigenpairs(center_gram(K), 1)
    score = (kernel(T, X) - K.mean(axis=1)) @ a[:, 0]
    cuts = np.mean((score[:, None] > score) == (group == 1)[:, None], axis=0)
    return float(max(cuts.max(), 1 - cuts.min()))


@exercise(
    "kernel-pca-10",
    "Where are the contour lines straight? And which pictures are symmetric about the origin?",
    "A kernel that knows only (xᵀy)² can't tell t from −t.",
    "The third component of a wide kernel is a quadratic function of the samples: a bowl.",
)
def read_the_contours(answer: Any) -> None:
    given = as_letters(answer, "ABCD", 4)
    if len(set(given)) < 4:
        raise WrongAnswer("Four different letters are needed, for the components 1, 2, 3 and 4.")
    if given[0] != "c":
        raise WrongAnswer("The contours of linear PCA are straight and parallel.")
    if given[2] != "b":
        raise WrongAnswer("A narrow kernel makes bumps on single places, and is flat elsewhere.")
    if given != "cdba":
        raise WrongAnswer("The bowl has one sign in the middle; products x₁x₂ make a saddle.")


@exercise(
    "kernel-pca-11",
    "How many features does (xy + 1)² have for samples on a line, and which of them vary?",
    "The features are 1, √2 x and x². Centring takes the first away.",
)
def columns_that_mean_something(answer: Any) -> None:
    mistakes: dict[float, str] = {
        3: "There are three features, and the constant one has no variance.",
        6: "K_c has not so many positive eigenvalues: the others are zero up to rounding.",
        1: "x is one feature that varies. There is another.",
        5: "That would be so in the plane: on a line there are fewer features.",
        4: "Zero up to rounding is zero, whatever its sign.",
        29: "K_c has 30 rows, but its rank is the number of features that vary.",
        30: "K_c has 30 rows, but its rank is the number of features that vary.",
        0: "The leading columns are right.",
    }
    expect_whole(answer, 2, mistakes)


@exercise(
    "kernel-pca-12",
    "Ask each time: are there vectors? Is the structure straight? Which matrix is small?",
    "50,000 samples make a Gram matrix of 20 GB, and 8 entries only 45 features of degree 2.",
    "The Swiss roll stays rolled: distances have to be measured along the sheet.",
)
def which_method(answer: Any) -> None:
    given = as_letters(answer, "PFKI", 5)
    reasons = (
        ("f", "Task 1: with so many samples and few features of degree 2, write them out."),
        ("k", "Task 2: there are no vectors, only kernel values, and new sequences will come."),
        ("p", "Task 3: mixtures are straight, and linear PCA is made for them."),
        ("k", "Task 4: the samples are curved, and the noise has to go."),
        ("i", "Task 5: to unroll the sheet, distances along it are needed."),
    )
    for letter, (right, why) in zip(given, reasons, strict=True):
        if letter != right:
            raise WrongAnswer(why)


@exercise(
    "kernel-pca-13",
    "There are two conditions. With q = R² each becomes a quadratic inequality.",
    "E[r²] = (3 + q)/4, E[r⁴] = (3 + q²)/4, Var(r²) = 3(q − 1)²/16.",
    "The first is q² − 6q − 3 > 0, the second 3q² − 14q − 21 > 0: both must hold.",
)
def how_far_out(answer: Any) -> None:
    q = 3 + 2 * np.sqrt(3)
    second = (7 + 4 * np.sqrt(7)) / 3
    mistakes: dict[float, str] = {
        q: "That is R²: take the root.",
        np.sqrt(second): "That is the second condition alone.",
        second: "That is R², and of the second condition alone.",
        q**2: "That squares instead of taking the root.",
        1: "At R = 1 the radius does not vary at all.",
    }
    expect_number(answer, np.sqrt(q), 4, mistakes)
