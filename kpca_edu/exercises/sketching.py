"""Checkers for the exercises of chapter 11: sketches of matrices and of feature spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import rbf
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    as_real,
    as_words,
    exercise,
    expect_choices,
    expect_number,
    expect_pair,
)


@exercise(
    "sketching-1",
    "The Gram matrix has n² numbers, the features n·m.",
    "8 · 50,000² and 8 · 50,000 · 400 bytes; divide by 10⁹.",
)
def two_memories(answer: Any) -> None:
    expect_pair(
        answer,
        (20.0, 0.16),
        2,
        {
            (0, 10): "The first is half of the matrix, which is what the library keeps: the full "
            "one is asked for.",
            (0, 2.5): "The first counts numbers and not bytes: 8 bytes a number.",
            (0, 20e9): "Those are bytes: divide by 10⁹.",
            (0, 18.6): "The first is in units of 2³⁰ bytes: here a GB has 10⁹.",
            (1, 0.02): "The second counts numbers and not bytes: 8 bytes a number.",
            (1, 160): "The second is in MB.",
            (1, 1.6e8): "The second is in bytes: divide by 10⁹.",
            (1, 0.00128): "The second is the m×m matrix: every sample has m features.",
        },
    )


@exercise(
    "sketching-2",
    "Solve √(1 + 20/(p − 1)) ≤ 1.1 for p.",
    "20/(p − 1) ≤ 1.1² − 1 = 0.21. Round up.",
)
def oversampling(answer: Any) -> None:
    given = as_number(answer)
    if given == 97:
        return
    mistakes = {
        96: "Just too small: round up, and mind p − 1.",
        95: "Just too small: p − 1 is what has to be above 95.2.",
        201: "That asks for 10 % in the square: the bound on the error has a root.",
        21: "That makes the factor √2. It should be 1.1.",
        117: "That is k + p, the number of columns: p alone is asked for.",
        20: "That makes the factor larger than √2. It should be 1.1.",
    }
    for value, diagnosis in mistakes.items():
        if given == value:
            raise WrongAnswer(diagnosis)
    if given != round(given):
        raise WrongAnswer("A whole number is asked for: the smallest that keeps the promise.")
    raise WrongAnswer("More than needed." if given > 97 else "The promise is not kept by this p.")


@exercise(
    "sketching-3",
    "One pass for XΩ, two for each power step, one for QᵀX.",
    "Each pass multiplies k + p = 40 columns.",
)
def products_and_passes(answer: Any) -> None:
    expect_pair(
        answer,
        (320.0, 8.0),
        6,
        {
            (0, 240): "In the first the oversampling is missing: there are k + p columns.",
            (0, 280): "The first forgets the last product, QᵀX.",
            (0, 160): "The first counts one product a power step: there are X and Xᵀ.",
            (0, 200): "The first counts one product a power step: there are X and Xᵀ.",
            (0, 40): "The first is for one pass: multiply by the passes.",
            (1, 7): "The second forgets the last pass, QᵀX.",
            (1, 6): "The second counts the power steps alone: XΩ and QᵀX are passes, too.",
            (1, 5): "A power step reads the matrix twice, for X and for Xᵀ.",
            (1, 3): "The second are the power steps: each reads the matrix twice, and two "
            "passes come on top.",
        },
    )


@exercise(
    "sketching-4",
    "With one landmark the approximation is k kᵀ/κ(l, l), where k is the landmark's column of K.",
    "Its diagonal is 16/4, 4/4 and 0.",
)
def one_landmark(answer: Any) -> None:
    K = np.array([[4.0, 2.0, 0.0], [2.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    largest = float(np.linalg.eigvalsh(K)[-1])
    mistakes = {
        5.0: "That is what is kept, the trace of the approximation: what is lost is asked for.",
        9.0: "That is the trace of K: take that of the approximation off.",
        -11.0: "The column has to be divided by κ(l, l) = 4 in k kᵀ/4.",
        7.75: "That divides by 16: it is k kᵀ/4.",
        9 - largest: "That is the least possible with one dimension: no sample reaches it.",
        10**0.5: "That is the Frobenius norm: the trace is asked for.",
    }
    expect_number(answer, 4.0, 6, mistakes)


@exercise(
    "sketching-5",
    "κ = exp(−‖x − y‖²/2σ²) = exp(−1/2).",
    "The standard deviation of pairs is (1 − κ²)/√m, with κ² = exp(−1).",
)
def deviation_of_a_wave(answer: Any) -> None:
    kappa2 = np.exp(-1.0)
    mistakes = {
        (1 - kappa2) ** 2 / 200: "That is the variance: take the root.",
        (1 - kappa2) / 10: "m counts the features, cosines and sines: divide by √200, not √100.",
        np.sqrt((1 + (1 - kappa2) ** 2) / 400): "That is for phases; these are pairs.",
        (1 - np.exp(-0.5)) / np.sqrt(200): "κ has to be squared.",
        (1 - np.exp(-2)) / np.sqrt(200): "κ is exp(−‖x − y‖²/2σ²), with the 2.",
        (1 - np.exp(-4)) / np.sqrt(200): "Divide the squared distance by σ².",
        1 / np.sqrt(200): "That is for samples far apart, with κ = 0.",
    }
    expect_number(answer, (1 - kappa2) / np.sqrt(200), 3, mistakes)


@exercise(
    "sketching-6",
    "Take the eigenvectors U and eigenvalues λ of K_mm.",
    "F = K_nm U diag(1/√λ), but only where λ is more than rounding; elsewhere put 0.",
)
def nystrom_features(answer: Any) -> None:
    features = as_function(answer)
    rng = np.random.default_rng(0)
    for twice in (False, True):
        X = rng.standard_normal((30, 3))
        L = X[[0, 1, 2, 3, 3]] if twice else X[:5]
        K_nm, K_mm, K = rbf(1.0)(X, L), rbf(1.0)(L), rbf(1.0)(X)
        with np.errstate(all="ignore"):
            F = as_real(features(K_nm.copy(), K_mm.copy()))
        if F.shape not in ((30, 5), (30, 4)):
            raise WrongAnswer(f"F should be 30×5 for 30 samples and 5 landmarks, not {F.shape}.")
        if not np.isfinite(F).all():
            raise WrongAnswer(
                "With two equal landmarks there are infinite entries: leave out eigenvalues that "
                "are rounding."
                if twice
                else "There are NaN or infinite entries in it."
            )
        _judge_product(F, K_nm, K_mm, K, twice)


def _judge_product(F: NDArray, K_nm: NDArray, K_mm: NDArray, K: NDArray, twice: bool) -> None:
    inverse = np.linalg.pinv(K_mm, rcond=1e-12, hermitian=True)
    if np.abs(F @ F.T - K_nm @ inverse @ K_nm.T).max() <= 1e-6:
        return
    if np.allclose(F @ F.T, K_nm @ K_nm.T):
        raise WrongAnswer("K_nm alone: the root of the inverse of K_mm is missing.")
    if np.allclose(F @ F.T, K_nm @ inverse @ inverse @ K_nm.T, rtol=1e-4):
        raise WrongAnswer("That has the inverse of K_mm: its root is needed, or its square comes.")
    if np.allclose(F @ F.T, K_nm @ K_mm @ K_nm.T, rtol=1e-4):
        raise WrongAnswer("That multiplies by the root of K_mm: divide by it.")
    if twice:
        raise WrongAnswer(
            "With two equal landmarks the product is not right: leave out eigenvalues that are "
            "rounding, also those a little above zero."
        )
    raise WrongAnswer("FFᵀ is not K_nm K_mm⁺ K_mn.")


@exercise(
    "sketching-7",
    "The angles are X @ W; take their cosines and their sines.",
    "m = 2q, so the factor is √(2/m) = 1/√q.",
)
def waves(answer: Any) -> None:
    function = as_function(answer)
    for n, d, q in ((6, 3, 5), (5, 2, 7)):
        rng = np.random.default_rng(q)
        X, W = rng.standard_normal((n, d)), rng.standard_normal((d, q))
        F = as_real(function(X.copy(), W.copy()))
        if F.shape == (n, q):
            raise WrongAnswer("There are q columns: each frequency has a cosine and a sine.")
        _judge_waves(as_array(F, (n, 2 * q)), np.cos((X[:, None] - X[None]) @ W).mean(axis=2), q)


def _judge_waves(F: NDArray, right: NDArray, q: int) -> None:
    G = F @ F.T
    if np.allclose(G, right, rtol=0, atol=1e-5):
        return
    for factor, diagnosis in (
        (q, "The factor √(2/m) is missing."),
        (0.5, "The factor is √(2/m) with m = 2q: 1/√q, and not 1/√m."),
        (2.0, "The factor is √(2/m) with m = 2q: 1/√q, and not √(2/q)."),
        (1 / q, "Too small: divide by √q, and not by q."),
    ):
        if np.allclose(G, factor * right, rtol=0, atol=1e-5):
            raise WrongAnswer(diagnosis)
    if np.abs(np.diag(G) - 1).max() > 1e-5:
        raise WrongAnswer("A sample's product with itself should be 1: cosine² + sine².")
    raise WrongAnswer("The products of the features are not the means of cos ωᵀ(x − y).")


@exercise(
    "sketching-8",
    "Which one can no approximation of rank m beat?",
    "Which one falls by a factor of four while m grows by sixteen?",
    "On the digits centres of clusters are better landmarks than samples.",
)
def which_curve(answer: Any) -> None:
    words = as_words(answer, 4, ("kmeans", "uniform", "waves", "best"))
    if len(set(words)) < 4:
        raise WrongAnswer("Each of the four words belongs to one curve.")
    if words[2] != "best":
        raise WrongAnswer("One curve lies below all others, because nothing of rank m can beat it.")
    if words[1] != "waves":
        raise WrongAnswer("One curve is straight, with the slope −1/2.")
    if words[0] != "kmeans":
        raise WrongAnswer("The two kinds of landmarks are exchanged.")


@exercise(
    "sketching-9",
    "Ask first: is the kernel linear? does the Gram matrix fit? are there samples to draw from?",
    "Random waves need a kernel of x − y, landmarks need samples.",
)
def which_method(answer: Any) -> None:
    known = ("exact", "pivoted", "waves", "randomized")
    words = as_words(answer, 4, known, {"randomised": "randomized"})
    reasons = {
        (0, "exact"): "In 1 the Gram matrix has 8,000 GB.",
        (0, "waves"): "In 1 words have no difference x − y, so there are no frequencies.",
        (0, "randomized"): "In 1 there is no table of numbers, and the Gram matrix has 8,000 GB.",
        (1, "exact"): "In 2 nothing needs a Gram matrix of 10⁷ rows: it is plain PCA.",
        (1, "pivoted"): "In 2 the kernel is linear: there are 5,000 features already.",
        (1, "waves"): "In 2 the kernel is linear, and waves are for kernels of x − y.",
        (2, "exact"): "In 3 there are no samples yet.",
        (2, "pivoted"): "In 3 there are no samples yet that could be landmarks.",
        (2, "randomized"): "In 3 there are no samples yet, and the kernel is not linear.",
        (3, "pivoted"): "In 4 the Gram matrix has 72 MB: no approximation is needed.",
        (3, "waves"): "In 4 the Gram matrix has 72 MB: no approximation is needed.",
        (3, "randomized"): "In 4 the kernel is Gaussian, and the Gram matrix has 72 MB.",
    }
    expect_choices(words, reasons)


@exercise(
    "sketching-10",
    "A sample is a landmark with probability 200/10,000.",
    "None of the 20: 0.98²⁰.",
)
def vanished(answer: Any) -> None:
    right = 0.98**20
    mistakes = {
        1 - right: "That is the probability that at least one is a landmark.",
        0.98: "That is for one of the 20.",
        0.6: "Probabilities of 20 events don't add: multiply those of missing each.",
        0.4: "That is the mean number of landmarks among the 20.",
        0.02: "That is the probability that one given sample is a landmark.",
        0.998**20: "200 of 10,000 are 2 %.",
        67: "Give the probability, a number between 0 and 1.",
    }
    expect_number(answer, right, 2, mistakes)


@exercise(
    "sketching-11",
    "Keep what is left of K as a matrix R. Its diagonal says what is left of each sample.",
    "After choosing j, subtract R[:, j] R[j, :] / R[j, j] from R.",
)
def greedy_landmarks(answer: Any) -> None:
    greedy = as_function(answer)
    rng = np.random.default_rng(2)
    for m, scale in ((1, 1.0), (4, 1.0), (7, 0.5), (3, 0.0)):
        F = rng.standard_normal((12, 9)) * rng.uniform(0.3, 2, (12, 1)) * scale
        K = F @ F.T
        if not scale:  # all κ(x, x) are equal
            K = rbf(1.0)(rng.standard_normal((12, 3)))
            np.fill_diagonal(K, 1.0)
        chosen = greedy(K.copy(), m)
        if np.shape(chosen) != (m,):
            raise WrongAnswer(f"A list of {m} row numbers is needed.")
        given = as_array(chosen, (m,)).tolist()
        right = _greedy(K, m)
        if given == right:
            continue
        if len(set(given)) < m:
            raise WrongAnswer("A sample is chosen twice: after its choice nothing of it is left.")
        if sorted(given) == sorted(right):
            raise WrongAnswer("The set is right: give the landmarks in the order of the choice.")
        if given == [j + 1 for j in right]:
            raise WrongAnswer("Python counts rows from 0.")
        if given == np.argsort(-np.diag(K), kind="stable")[:m].tolist():
            raise WrongAnswer("Those are the largest κ(x, x): update the rest after each choice.")
        if not scale and given[0] != 0:
            raise WrongAnswer("For a Gaussian kernel all κ(x, x) are equal: take the first then.")
        raise WrongAnswer(f"For m = {m} other samples have more left over.")


def _greedy(K: NDArray, m: int) -> list[float]:
    rest, chosen = K.copy(), []
    for _ in range(m):
        j = int(np.argmax(np.diag(rest)))
        rest = rest - np.outer(rest[:, j], rest[j]) / rest[j, j]
        chosen.append(float(j))
    return chosen
