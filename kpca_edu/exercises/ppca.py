"""Checkers for the exercises of chapter 4: probabilistic PCA."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import tobamovirus
from ..ppca import PPCA, expect, fit_ppca, fit_ppca_em, maximize, move_prior
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_number,
    as_pair,
    exercise,
    expect_close,
    expect_not,
    expect_number,
    expect_numbers,
    expect_whole,
    half_unit,
)

LAM = np.array([7.0, 4.0, 1.5, 0.9, 0.6])  # the variances of ppca-2 and ppca-3


@exercise(
    "ppca-1",
    "The mean takes d numbers, the noise one. How many does W take, if WR counts as the same?",
    "A d×k matrix has dk entries; the rotations of k dimensions take away k(k − 1)/2.",
)
def count_parameters(answer: Any) -> None:
    mistakes: dict[float, str] = {
        37: "Rotating W changes nothing: take k(k − 1)/2 away.",
        25: "That is the covariance alone: the mean counts too.",
        54: "That is a Gaussian with a full covariance.",
        33: "One is missing: σ² counts too.",
        31: "A rotation of k dimensions has k(k − 1)/2 free numbers, not k(k + 1)/2.",
        28: "W has d·k entries, and rotations take away k(k − 1)/2 of them, not k².",
        24: "That is W alone: the mean and σ² count too.",
    }
    expect_whole(answer, 34, mistakes)


@exercise(
    "ppca-2",
    "σ² is the mean of the variances that are *not* kept: three of them here.",
    "Column j of W has the squared length λⱼ − σ².",
)
def closed_form_by_hand(answer: Any) -> None:
    _recognise(answer, [1, 7, 4], "The lengths are those of √λⱼvⱼ: the noise has to be taken off.")
    _recognise(
        answer, [1, 36, 9], "The factor of vⱼ is √(λⱼ − σ²), not λⱼ − σ²: root, then square."
    )
    _recognise(answer, [0.6, 6.4, 3.4], "Divide the discarded variance by d − k, not by d.")
    _recognise(answer, [3, 4, 1], "σ² is the mean of the discarded variances, not their sum.")
    _recognise(answer, [1, 6**0.5, 3**0.5], "Those are the lengths; their squares are wanted.")
    _recognise(answer, [1, 3, 6], "The order: first the column of the largest variance.")
    _recognise(answer, [6, 3, 1], "The order: σ² first, then the two squared lengths.")
    expect_numbers(answer, [1, 6, 3], 3)


@exercise(
    "ppca-3",
    "At the maximum M is diagonal, with the entries λⱼ.",
    "Wᵀ multiplies a score by √(λⱼ − σ²), M⁻¹ by 1/λⱼ, W by √(λⱼ − σ²) again.",
)
def shrinkage_by_hand(answer: Any) -> None:
    factor = 1 - 1 / LAM[:2]
    root = np.sqrt(factor)
    _recognise(answer, root, "That is what the codes shrink by; decoding does it again.")
    _recognise(answer, 1 / LAM[:2], "That is the share that is lost; how much stays?")
    _recognise(answer, 100 * factor, "Those are percentages: give the factors.")
    _recognise(answer, factor[::-1], "The order: the first axis, then the second.")
    _recognise(answer, [1, 1], "PCA doesn't shorten it; the posterior mean does.")
    _recognise(answer, 1 / factor, "Encoding and decoding make it shorter, not longer.")
    expect_numbers(answer, factor, 3)


@exercise(
    "ppca-4",
    "At a stationary point the kept variance must exceed σ², the mean of the others.",
    "Keep 5: σ² = 2.3. Keep 4: σ² = 2.8, still below 4. Keep 0.6: σ² = 4.5, impossible.",
    "Per sample ℓ is −½(log λ + 2 log σ²) and constants: take the difference of the two.",
)
def second_stationary_point(answer: Any) -> None:
    right = 0.5 * (np.log(4) + 2 * np.log(2.8)) - 0.5 * (np.log(5) + 2 * np.log(2.3))
    third = 0.5 * (np.log(0.6) + 2 * np.log(4.5)) - 0.5 * (np.log(5) + 2 * np.log(2.3))
    mistakes = {
        2 * right: "That is the difference of −2ℓ: halve it.",
        -right: "The sign: the best one is higher.",
        third: "Keeping 0.6 is no stationary point: λ − σ² would be negative.",
        right / np.log(10): "Those are logarithms to base 10: natural ones are needed.",
        0.5 * np.log(5 / 4): "σ² differs between the two points as well: log σ² counts twice.",
        0.5 * np.log(4 * 2.8 / (5 * 2.3)): "σ² is the variance of two directions: count it twice.",
    }
    expect_number(answer, right, 3, mistakes)


@exercise(
    "ppca-5",
    "Only x₁ is observed, so M has a single term: M = w₁² + σ² = 10.",
    "E[z | x₁] = w₁(x₁ − μ₁)/M = 1.2; the filled-in value is w₂ times that.",
    "The variance of x₂ given x₁ is σ²(1 + w₂²/M).",
)
def impute_by_hand(answer: Any) -> None:
    std = 1.4**0.5
    _recognise(answer, [2.4, 1.4], "That is the variance: the standard deviation is its root.")
    _recognise(
        answer, [2.4, 0.4**0.5], "Wz is uncertain by that much; x₂ has noise of its own, too."
    )
    _recognise(answer, [2.4, 1.0], "That is the noise alone; z is uncertain as well.")
    _recognise(answer, [8 / 3, std], "You used z = (x₁ − μ₁)/w₁: the posterior mean is shorter.")
    _recognise(answer, [1.2, std], "That is z. The value is w₂z.")
    _recognise(answer, [std, 2.4], "The order: the mean first.")
    _recognise(
        answer, [2.4, 5**0.5], "That is x₂'s own standard deviation: x₁ tells something about it."
    )
    expect_numbers(answer, [2.4, std], 3)


@exercise(
    "ppca-6",
    "Eigenvectors of the covariance with divisor n: np.cov(X.T, bias=True), np.linalg.eigh.",
    "eigh sorts from small to large. σ² is the mean of the first d − k eigenvalues.",
    "W = V[:, ::-1][:, :k] * np.sqrt(lam[::-1][:k] - sigma2)",
)
def closed_form(answer: Any) -> None:
    fit = as_function(answer)
    for seed, (n, d, k) in enumerate([(12, 4, 2), (30, 5, 1), (9, 6, 3)]):
        X = _random_data(n, d, seed)
        right = fit_ppca(X, k)
        mean, W, sigma2 = _three(fit(X.copy(), k))
        expect_close(mean, right.mean, "The mean should be that of the rows.")
        if np.shape(W) == (k, d):
            raise WrongAnswer(f"W should be {d}×{k}, a column a direction: yours is transposed.")
        given = as_array(W, (d, k))
        expect_not(sigma2, right.sigma2 * n / (n - 1), "You divide by n − 1: likelihood wants n.")
        expect_not(sigma2, right.sigma2 * (d - k) / d, "σ² is a mean over d − k values, not d.")
        expect_not(sigma2, right.sigma2 * (d - k), "σ² is the mean of the discarded variances.")
        expect_not(sigma2, right.sigma2**0.5, "That is σ: return its square.")
        lam = np.linalg.eigvalsh(np.cov(X.T, bias=True))
        smallest = "eigh sorts from small to large: you kept the smallest variances."
        expect_not(sigma2, lam[k:].mean(), smallest)
        expect_close(sigma2, right.sigma2, "σ² should be the mean of the discarded variances.")
        lengths, wanted = np.linalg.norm(given), np.linalg.norm(right.W)
        expect_not(lengths, np.sqrt(wanted**2 + k * right.sigma2), "W: subtract σ² under the root.")
        expect_close(
            given @ given.T,
            right.W @ right.W.T,
            "WWᵀ is not right: is it V_k(Λ_k − σ²I) with a square root, largest first?",
            digits=5,
        )


@exercise(
    "ppca-7",
    "Use Woodbury: with M = WᵀW + σ²I (k×k) solve for m = M⁻¹Wᵀr, for all rows at once.",
    "rᵀΣ⁻¹r = ‖r − Wm‖²/σ² + ‖m‖², and log|Σ| = log|M| + (d − k) log σ².",
    "Put together: −(d log 2π + log|Σ| + rᵀΣ⁻¹r)/2, one number a row.",
)
def log_density_without_big_matrices(answer: Any) -> None:
    density = as_function(answer)
    for seed, (d, k) in enumerate([(3, 1), (6, 2), (5, 4)]):
        model, X = _random_model(d, k, seed), _random_data(4, d, seed)
        given = density(X.copy(), model.mean.copy(), model.W.copy(), model.sigma2)
        right = model.log_density(X)
        expect_not(given, right.sum(), "That is the sum over the rows: one number a row is wanted.")
        given = as_array(given, (4,))
        expect_not(given, np.exp(right), "That is the density: its logarithm is wanted.")
        expect_not(given, -2 * right, "That is −2 log p: halve it and turn the sign.")
        constant = 0.5 * d * np.log(2 * np.pi)
        expect_not(given, right + constant, "The constant d log 2π is missing.")
        expect_not(given, right + d * constant, "Some constant is counted d times.")
        shift = 0.5 * (d - k) * np.log(model.sigma2)
        expect_not(given, right + shift, "log|Σ| has the term (d − k) log σ² besides log|M|.")
        expect_close(given, right)
    d = 300
    model, X = _random_model(d, 2, 9), _random_data(3, d, 9)
    tracemalloc.start()
    try:
        given = density(X.copy(), model.mean.copy(), model.W.copy(), model.sigma2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    expect_close(given, model.log_density(X), f"Right for small d, and not for d = {d}.")
    if peak > d * d * 4:  # half of a d×d matrix; a few arrays like X take a tenth of that
        raise WrongAnswer(f"The numbers are right, but for d = {d} you made a d×d matrix.")


@exercise(
    "ppca-8",
    "Without missing values every column has the same Aⱼ, and Σᵢmᵢ = 0: the mean stays.",
    "Σᵢ mᵢmᵢᵀ = n M⁻¹WᵀCWM⁻¹ and Σᵢ rᵢmᵢᵀ = n CWM⁻¹.",
    "W' = CWM⁻¹(σ²M⁻¹ + M⁻¹WᵀCWM⁻¹)⁻¹ = CW(σ²I + M⁻¹WᵀCW)⁻¹; σ²' = tr(C − CWM⁻¹W'ᵀ)/d.",
)
def em_step_on_the_covariance(answer: Any) -> None:
    step = as_function(answer)
    for seed, (d, k) in enumerate([(4, 2), (6, 1), (5, 3)]):
        X, model = _random_data(20, d, seed), _random_model(d, k, seed)
        model = PPCA(X.mean(axis=0), model.W, model.sigma2)
        C = np.cov(X.T, bias=True)
        codes = expect(model, X)
        right = maximize(X, codes)
        given = step(C.copy(), model.W.copy(), model.sigma2)
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise WrongAnswer("Return the pair W, sigma2.")
        W, sigma2 = given
        expect_not(W, move_prior(right, codes).W, "You moved the prior: hold it at N(0, I).")
        expect_not(W, _without_spread(C, model), "The codes are uncertain: Sᵢ is missing in Aⱼ.")
        expect_close(W, right.W, "W is not what the M-step gives.")
        old = maximize(X, expect(PPCA(model.mean, right.W, model.sigma2), X)).sigma2
        expect_not(sigma2, old, "σ² is right for a new E-step: use the old M and W beside W'.")
        expect_not(sigma2, right.sigma2 * d, "Divide by d: σ² is a mean over the columns.")
        expect_not(
            sigma2, right.sigma2 * d / (d - k), "Divide by d, not d − k: here it is a mean of eᵢⱼ."
        )
        expect_close(sigma2, right.sigma2, "W is right, and σ² isn't.")


@exercise(
    "ppca-9",
    "A loop of 200 rounds: filled = fit_ppca(filled, 2).impute(holes).",
    "Start from the column means: np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes).",
)
def filling_in_without_uncertainty(answer: Any) -> None:
    first, right, by_em = _shortcut()
    mistakes = {
        first: "That is the first round: go on filling in.",
        by_em: "That is EM's own σ²: the loop gives another one.",
        fit_ppca(tobamovirus(), 2).sigma2: "That is σ² of the whole table.",
        right**0.5: "That is σ: its square is wanted.",
        right * 38 / 37: "You divide by n − 1 somewhere: maximum likelihood wants n.",
    }
    expect_number(answer, right, 3, mistakes)


@cache
def _shortcut() -> tuple[float, float, float]:
    """Return σ² of the shortcut after the first and the last round, and EM's."""
    holes = virus_holes()
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    fits = []
    for _ in range(201):
        fits.append(fit_ppca(filled, 2))
        filled = fits[-1].impute(holes)
    return fits[0].sigma2, fits[-1].sigma2, fit_ppca_em(holes, 2).sigma2


@exercise(
    "ppca-10",
    "EM never lowers the likelihood. Near a saddle the slope is small, and so are the gains.",
    "A collapse gains about the same in every step, for ever. A top is level after a rise.",
)
def read_four_runs(answer: Any) -> None:
    letters = as_letters(answer, "abcd", 4)
    expect_close(sorted(map(ord, letters)), [97, 98, 99, 100], "Each run has one letter: use all.")
    for place, right, why in (
        (3, "c", "EM never falls: which curve does?"),
        (2, "a", "A collapse never becomes level: the likelihood grows without bound."),
        (1, "d", "Near a saddle nearly nothing is gained for a while, and then much."),
    ):
        if letters[place] != right:
            raise WrongAnswer(why)


@exercise(
    "ppca-11",
    "Ask of each: once the observed values are known, does it depend on a lost value what is lost?",
    "Chance alone is harmless, and so is a rule that looks at observed values only.",
    "In (f) the lost readings would have told about the pressure, which decides what is lost.",
)
def missing_at_random(answer: Any) -> None:
    letters = set(as_letters(answer, "abcdef"))
    reasons = {
        "b": "(b): what the scale would have shown decides that it shows nothing.",
        "d": "(d): also among people of one age and job the lost income itself decides.",
        "f": "(f): the lost readings tell about the pressure, which isn't in the table.",
        "c": "(c) is missing: the rule looks at the first test, which was observed.",
        "a": "(a) is missing: chance alone decides.",
        "e": "(e) is missing: chance alone decides.",
    }
    for letter, why in reasons.items():
        if (letter in letters) != (letter in "ace"):
            raise WrongAnswer(why)


@exercise(
    "ppca-12",
    "Fit with k = 1, and compare the columns of gappy − model.reconstruct(gappy) by np.nanvar.",
    "The bar of a column is about 1.96σ, whatever its own noise. Which column has far more?",
)
def whose_bars_lie(answer: Any) -> None:
    number, letter = as_pair(answer, "abcd", (0, "a"))
    column = as_number(number)
    if column == 1:
        raise WrongAnswer("Column 1 varies most, but its cause explains it: look at the rest.")
    if column != 4:
        raise WrongAnswer("Another column is left over most. The first one has the number 0.")
    reasons = {
        "a": "The column is right. 300 rows are plenty for 13 parameters.",
        "c": "The column is right. Its values were lost by chance.",
        "d": "The column is right, but column 1 has the largest variance, and good bars.",
    }
    if letter != "b":
        raise WrongAnswer(reasons[letter])


def uneven_table() -> tuple[NDArray, NDArray]:
    """Return 300 rows of six columns with a fifth lost by chance, and the same rows complete."""
    rng = np.random.default_rng(11)
    W, noise = np.array([2.0, 5.0, 1.0, -2.0, 1.5, 3.0]), np.array([1.0, 1.1, 0.9, 1.0, 3.0, 1.0])
    truth = np.outer(rng.standard_normal(300), W) + rng.standard_normal((300, 6)) * noise + 10
    return np.where(rng.random(truth.shape) < 0.2, np.nan, truth), truth


@exercise(
    "ppca-13",
    "Write ℓ at the maximum for k and for k + 1; most terms cancel.",
    "Compare (d−k) log σ²_k with log λ_{k+1} + (d−k−1) log σ²_{k+1}; σ²_k is the mean of the rest.",
    "The gain is n/2 times the difference. It is ≥ 0, because log is concave.",
)
def gain_of_one_more_direction(answer: Any) -> None:
    gain = as_function(answer)
    for lam, n in (([5.0, 3.0, 2.0, 0.5], 10), ([4.0, 1.0, 1.0], 25), ([9.0, 8.0, 7.0, 1, 0.2], 7)):
        for k in range(len(lam) - 1):
            right = n / 2 * (_half(lam, k) - _half(lam, k + 1))
            given = as_number(gain(np.array(lam), k, n))
            if right > 1e-6:
                expect_not(given, 2 * right, "Twice too much: ℓ has the factor n/2.")
                expect_not(given, right / n, "That is the gain per sample: there are n of them.")
                expect_not(given, -right, "The sign: a gain is positive.")
            if k:
                before = n / 2 * (_half(lam, k - 1) - _half(lam, k))
                expect_not(given, before, "That is the step from k − 1 to k: one too early.")
            if abs(given - right) > max(half_unit(right, 6), 1e-6):
                raise WrongAnswer(f"For λ = {lam}, k = {k}, n = {n} it should be {right:.4f}.")


def _recognise(answer: Any, mistake: Sequence[float] | NDArray, why: str) -> None:
    """Say what is wrong with an answer that agrees with a typical mistake to three digits."""
    try:
        expect_numbers(answer, mistake, 3)
    except WrongAnswer:
        return
    raise WrongAnswer(why)


def _without_spread(C: NDArray, model: PPCA) -> NDArray:
    """Return the W of an M-step that takes the posterior means for facts."""
    W = model.W
    WM = W @ np.linalg.inv(W.T @ W + model.sigma2 * np.eye(model.k))
    return C @ WM @ np.linalg.inv(WM.T @ C @ WM)


def virus_holes() -> NDArray:
    """Return the virus table with a fifth of its values removed, as in the chapter."""
    holes = tobamovirus()
    holes[np.random.default_rng(0).random(holes.shape) < 0.2] = np.nan
    return holes


def _half(lam: Sequence[float], k: int) -> float:
    """Return log|Σ̂| for the k-dimensional fit."""
    values = np.asarray(lam)
    return float(np.log(values[:k]).sum() + (values.size - k) * np.log(values[k:].mean()))


def _three(given: Any) -> tuple[Any, Any, Any]:
    if not isinstance(given, tuple | list) or len(given) != 3:
        raise WrongAnswer("Return three things: mean, W, sigma2.")
    return tuple(given)


def _random_data(n: int, d: int, seed: int) -> NDArray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.linspace(3, 1, d) + 2


def _random_model(d: int, k: int, seed: int) -> PPCA:
    rng = np.random.default_rng(seed + 100)
    return PPCA(rng.standard_normal(d), rng.standard_normal((d, k)), 0.6 + seed / 10)
