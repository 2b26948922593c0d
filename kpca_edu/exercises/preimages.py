"""Checkers for the exercises of chapter 9: pre-images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import linear, rbf
from ..preimages import locate_by_distances
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_numbers,
    as_words,
    exercise,
    expect_close,
    expect_not,
    expect_number,
    expect_numbers,
    linear_algebra,
    most_systems,
)


@exercise(
    "preimages-1",
    "The reconstruction is the mean feature plus z times the direction: each of the two is a "
    "combination of the φ(xᵢ).",
    "γᵢ = αᵢz + 1/n, with n = 4.",
)
def weights_by_hand(answer: Any) -> None:
    weights = as_numbers(answer, 4)
    mistakes = {
        (0.3, 0.3, -0.3, -0.3): "The mean feature is missing: the weights add to 0.",
        (1.3, 1.3, 0.7, 0.7): "The mean feature has the weights 1/n, not 1.",
        (0.75, 0.75, -0.25, -0.25): "The score z is missing.",
        (0.25,) * 4: "That is the mean feature alone.",
        (-0.05, -0.05, 0.55, 0.55): "The order is wrong: the first two α are positive.",
    }
    for wrong, diagnosis in mistakes.items():
        expect_not(weights, wrong, diagnosis, digits=2)
    if abs(weights.sum() - 1) > 0.02:
        raise WrongAnswer("The weights of a reconstruction with its mean add up to 1.")
    expect_numbers(weights, [0.55, 0.55, -0.05, -0.05], 2)


@exercise(
    "preimages-2",
    "Let m be the mean feature. Square m + zv: three terms.",
    "‖m‖² + 2z mᵀv + z².",
)
def norm_of_a_reconstruction(answer: Any) -> None:
    mistakes = {
        0.65: "The mixed term is missing: the mean feature and v need not be orthogonal.",
        0.7: "The mixed term comes twice.",
        0.35: "The norm of the mean feature is missing.",
        0.25: "That is the norm of zv alone: add the mean feature.",
        0.4: "That is the norm of the mean feature alone: add zv.",
        0.51: "0.4 is the square already.",
        0.866: "That is the norm: its square is asked for.",
    }
    expect_number(answer, 0.75, 2, mistakes)


@exercise(
    "preimages-3",
    "The combination is (10, 4). Differentiate (x² − 10)² + (x − 4)².",
    "The cubic is 4x³ − 38x − 8 = 0; of its three roots take the one with the least distance.",
)
def another_parabola(answer: Any) -> None:
    roots = np.sort(np.roots([4.0, 0.0, -38.0, -8.0]).real)
    mistakes = {
        roots[0]: "That root is a local minimum, and not the lower one.",
        roots[1]: "That root is a local maximum of the distance.",
        np.sqrt(10): "That matches the first coordinate alone.",
        4.0: "That matches the second coordinate alone.",
        2.0: "That is the mean of the two samples, not the nearest point.",
    }
    expect_number(answer, roots[2], 3, mistakes)


@exercise(
    "preimages-4",
    "If the reconstruction were a feature φ(x): ‖φ(x) − φ(xⱼ)‖² = 2 − 2κ(x, xⱼ).",
    "κ = 1 − 0.8/2 = 0.6, and ‖x − xⱼ‖² = −2σ² log κ.",
)
def distance_translated(answer: Any) -> None:
    squared = -2 * 1.5**2 * np.log(0.6)
    mistakes = {
        squared: "That is the square of the distance.",
        np.sqrt(-4.5 * np.log(0.2)): "κ is 1 − D²/2, not 1 − D².",
        np.sqrt(squared / 2): "The kernel has 2σ² in its exponent.",
        np.sqrt(-3.0 * np.log(0.6)): "σ is squared in the exponent.",
        np.sqrt(-4.5 * np.log(1 - 0.8**2 / 2)): "0.8 is the square already.",
        np.sqrt(-4.5 * np.log10(0.6)): "The natural logarithm belongs to the exponential.",
        np.sqrt(0.8): "That is the distance in feature space.",
    }
    expect_number(answer, np.sqrt(squared), 3, mistakes)


@exercise(
    "preimages-5",
    "What the components keep and what they lose of φ(x) are at right angles.",
    "The squared distance is ‖z(x) − z‖² + lost; take the root.",
)
def distance_by_pythagoras(answer: Any) -> None:
    mistakes = {
        0.25: "That is the squared distance.",
        np.sqrt(0.13): "What is lost of x is missing.",
        np.sqrt(0.12): "The mismatch of the scores is missing.",
        np.sqrt(0.13 + 0.12**2): "What is lost was given as a square already.",
        np.sqrt(0.1 + 0.12): "The scores of x are compared with z: take the difference first.",
        np.sqrt(0.13) + np.sqrt(0.12): "At right angles squares add up, not lengths.",
    }
    expect_number(answer, 0.5, 2, mistakes)


@exercise(
    "preimages-6",
    "κ(x, x) = 1 has no slope; differentiate −2Σγᵢκ(x, xᵢ).",
    "The gradient of κ(x, xᵢ) in x is −κ(x, xᵢ)(x − xᵢ)/σ².",
    "2/σ² · Σ γᵢκᵢ(x − xᵢ), with κᵢ = exp(−‖x − xᵢ‖²/2σ²).",
)
def gaussian_gradient(answer: Any) -> None:
    gradient = as_function(answer)
    for seed, sigma in [(0, 0.8), (1, 1.7)]:
        x, X, gamma = _problem(seed)
        kappa = np.exp(-np.sum((x - X) ** 2, axis=1) / (2 * sigma**2))
        right = 2 / sigma**2 * (gamma * kappa) @ (x - X)
        given = as_numbers(gradient(x.copy(), X.copy(), gamma.copy(), sigma), 2)
        expect_not(given, -right, "The sign is wrong: yours points downhill.")
        expect_not(given, right / 2, "The factor 2 of −2Σγᵢκ is missing.")
        expect_not(given, -right / 2, "That is the slope of Σγᵢκ: the objective has −2 before it.")
        expect_not(given, right * sigma**2, "The factor 1/σ² is missing.")
        expect_not(given, right * sigma, "The factor is 1/σ², not 1/σ.")
        expect_not(given, 2 / sigma**2 * kappa @ (x - X), "The weights γ are missing.")
        narrow = 2 / sigma**2 * (gamma * kappa**2) @ (x - X)
        expect_not(given, narrow, "The exponent is −‖x − xᵢ‖²/2σ², with the 2.")
        expect_close(given, right)


@exercise(
    "preimages-7",
    "The weights are γᵢκ(x, xᵢ), and they are normalised by their sum.",
    "w = gamma * np.exp(...); return w @ X / w.sum().",
)
def gaussian_step(answer: Any) -> None:
    step = as_function(answer)
    for seed, sigma in [(0, 0.8), (1, 1.7), (2, 0.8), (21, 1.7)]:  # Σw < 0 in the last two
        x, X, gamma = _problem(seed)
        w = gamma * np.exp(-np.sum((x - X) ** 2, axis=1) / (2 * sigma**2))
        right = w @ X / w.sum()
        given = as_numbers(step(x.copy(), X.copy(), gamma.copy(), sigma), 2)
        size, plain = np.abs(w), w / gamma
        narrow = gamma * (plain**2)
        expect_not(given, w @ X, "The division by the sum of the weights is missing.")
        expect_not(given, size @ X / size.sum(), "γᵢ keeps its sign: don't take absolute values.")
        expect_not(given, size @ X / w.sum(), "γᵢ keeps its sign: don't take absolute values.")
        expect_not(given, w @ X / size.sum(), "Divide by Σwᵢ, not by the sum of their sizes.")
        expect_not(given, plain @ X / plain.sum(), "The weights γ are missing: that is mean shift.")
        expect_not(given, narrow @ X / narrow.sum(), "The exponent is −‖x − xᵢ‖²/2σ², with the 2.")
        expect_not(given, right - x, "That is the step: the point that it leads to is asked for.")
        if w.sum() < 0:
            expect_not(given, -right, "Divide by Σwᵢ with its sign, not by its absolute value.")
            expect_not(
                given, 2 * x - right, "That is the guarded step: the plain one is asked for."
            )
        expect_close(given, right)


@exercise(
    "preimages-8",
    "Set the gradient of Σγᵢg(‖x − xᵢ‖²) to zero; it is g′ that weighs, not g.",
    "g′(u) = −1/(1 + u)², so the weights are as 0.5/4 to 0.5/25.",
)
def cauchy_step(answer: Any) -> None:
    both = np.exp([-0.5, -2.0])
    mistakes = {
        6 / 7: "That weighs with g: the derivative g′ belongs there.",
        1.5: "That is the plain mean: the weights depend on the distances.",
        3 * both[1] / both.sum(): "That is the step of the Gaussian.",
        3 * 0.5 / 25: "Divide by the sum of the weights.",
        3 * (1 / 9) / (1 / 9 + 1 / 4): "u is the squared distance: 4, not 2.",
        12 / 29 - 1: "That is the step: the point that it leads to is asked for.",
    }
    expect_number(answer, 12 / 29, 3, mistakes)


@exercise(
    "preimages-9",
    "For the Gaussian kernel the denominator is −h/2σ²: it vanishes with h.",
    "exp(−x²/2) = 0.9 exp(−(x − 1)²/2): take logarithms; the squares cancel.",
)
def where_the_denominator_vanishes(answer: Any) -> None:
    mistakes = {
        0.5: "Halfway the weights are 1 and −0.9, which is not zero.",
        0.5 + np.log(0.9): "The sign of the logarithm is wrong.",
        0.5 - np.log(0.9) / 2: "(1 − 2x)/2 = log 0.9: mind the 2.",
        0.5 - np.log10(0.9): "The natural logarithm belongs to the exponential.",
        10.0: "That is where the kernel values are left out: weigh with γᵢκ(x, xᵢ).",
    }
    expect_number(answer, 0.5 - np.log(0.9), 3, mistakes)


@exercise(
    "preimages-10",
    "Subtract the mean m of the rows of P. For y = x − m and p the centred rows, "
    "‖y − p‖² = ‖y‖² − 2pᵀy + ‖p‖².",
    "‖y‖² is the same in each equation: it goes when the mean over the equations is subtracted.",
    "Solve 2 Pc y = (‖p‖² − d2) − mean, with np.linalg.lstsq; return m + y.",
)
def locate(answer: Any) -> None:
    place = as_function(answer)
    for seed, (q, d) in enumerate([(6, 2), (5, 3), (4, 6)]):
        rng = np.random.default_rng(seed)
        P = rng.standard_normal((q, d)) + 3 * (-1.0) ** np.arange(d)
        x = rng.dirichlet(np.ones(q)) @ P + 0.1 * (P[0] - P[1])
        d2 = np.sum((P - x) ** 2, axis=1)
        given = as_numbers(place(P.copy(), d2.copy()), d)
        right, mean = locate_by_distances(P[None], d2[None])[0], P.mean(axis=0)
        expect_not(given, right - mean, "Add the mean again at the end.")
        expect_not(given, mean + 2 * (right - mean), "A factor 1/2 is missing.")
        expect_not(given, 2 * mean - right, "A sign is wrong: yours is the mirror image.")
        expect_not(given, mean, "That is the mean of the neighbours.")
        rough = locate_by_distances(P[None], np.sqrt(d2)[None])[0]
        expect_not(given, rough, "The distances are squared already.")
        expect_close(given, right, "The distances from your point are not those given.")


@exercise(
    "preimages-11",
    "With H = L(L + ρI)⁻¹ the residuals of the fit are (I − H)Y, and I − H = ρ(L + ρI)⁻¹.",
    "Divide row i of the residuals by 1 − Hᵢᵢ.",
    "R = np.linalg.inv(L + ridge * np.eye(n)); return (R @ Y) / np.diag(R)[:, None].",
)
def leave_one_out(answer: Any) -> None:
    errors = as_function(answer)
    for seed, kernel in enumerate([rbf(1.0), linear()]):
        rng = np.random.default_rng(seed)
        Z, Y, ridge = rng.standard_normal((60, 2)), rng.standard_normal((60, 3)), 0.3
        L = kernel(Z, Z)
        R = np.linalg.inv(L + ridge * np.eye(60))
        right = (R @ Y) / np.diag(R)[:, None]
        with linear_algebra() as calls:
            given = errors(L.copy(), Y.copy(), 0.3)
        given = as_array(given, (60, 3))
        expect_not(given, ridge * R @ Y, "Those are the residuals of the fit with all samples.")
        expect_not(given, Y - right, "Those are the predictions: their errors are asked for.")
        expect_not(given, -right, "Right up to the sign: truth minus prediction.")
        expect_not(given, right / ridge, "ρ cancels: it is in the residuals and in 1 − Hᵢᵢ.")
        expect_not(given, ridge * right, "ρ cancels: it is in the residuals and in 1 − Hᵢᵢ.")
        expect_not(given, right**2, "Those are the squares: the errors themselves are asked for.")
        expect_close(given, right)
        if most_systems(calls) >= 60:
            raise WrongAnswer(
                "The errors are right, but there is a regression for each sample in it: "
                "one for all of them is enough."
            )


@exercise(
    "preimages-12",
    "Ask of each method which kernels and objects it takes, and what it needs to know of the dirt.",
    "Texts: only a sample can be the answer. A polynomial kernel isn't radial. Who can make dirty "
    "copies should learn from them.",
)
def which_method(answer: Any) -> None:
    right = ["nearest", "gradient", "fixed-point", "ridge", "mds"]
    given = as_words(answer, 5, right)
    reasons = [
        "only nearest answers with a sample, and only nearest works on texts.",
        "a polynomial kernel isn't radial, and the least distance is asked for.",
        "one method starts at the point and climbs without an optimiser.",
        "who can make dirty copies of clean pictures should learn from them.",
        "no copies to learn from, many dimensions, a radial kernel.",
    ]
    for job, word, wanted, reason in zip("abcde", given, right, reasons, strict=True):
        if word != wanted:
            raise WrongAnswer(f"Look again at ({job}): {reason}")


@exercise(
    "preimages-13",
    "What do the weights of a reconstruction add up to? And what does a high floor say?",
    "A sum of 0: the mean is gone. A floor near 1: the reconstruction is nearly "
    "zero, and so are all kernel values.",
)
def three_broken_runs(answer: Any) -> None:
    given = as_words(answer, 3, ("mean", "narrow", "penalty", "start"))
    reasons = {
        "A": "the weights add up to 1 and the floor is low, so the reconstruction is "
        "fine, and yet all results "
        "are the same.",
        "B": "look at the sum of the weights.",
        "C": "distance and floor are both near 1, so the reconstruction is nearly zero.",
    }
    for (run, reason), word, wanted in zip(
        reasons.items(), given, ["penalty", "mean", "narrow"], strict=True
    ):
        if word != wanted:
            raise WrongAnswer(f"Look again at {run}: {reason}")


@exercise(
    "preimages-14",
    "For the Gaussian kernel the plain step is σ²∇h/h.",
    "It is the sign of h at the start that decides, not its slope.",
)
def step_off_the_curve(answer: Any) -> None:
    given = set(as_letters(answer, "abcde"))
    mistakes = {
        "acd": "Those are the starts with an uphill step: h > 0 there.",
        "bd": "Those are the starts where the curve falls: it is the sign of h that decides.",
        "ace": "Those are the starts where the curve rises: it is the sign of h that decides.",
        "b": "One is missing: h is negative at another start, too, though only a little.",
        "e": "One is missing: h is negative at another start, too.",
        "abcde": "A step along the gradient points downhill only where it is turned round.",
    }
    if diagnosis := mistakes.get("".join(sorted(given))):
        raise WrongAnswer(diagnosis)
    if given != set("be"):
        raise WrongAnswer("Where is h negative?")


def _problem(seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return a point, samples and weights of both signs that add up to one."""
    rng = np.random.default_rng(seed)
    gamma = rng.standard_normal(6)
    return rng.standard_normal(2), rng.standard_normal((6, 2)), gamma - gamma.mean() + 1 / 6
