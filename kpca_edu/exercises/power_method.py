"""Checkers for the exercises of chapter 2: the power method and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import matrix_with_singular_values
from ..power_method import power_iteration
from ..svd import SVD, thin_svd
from .checking import (
    WrongAnswer,
    agrees,
    as_array,
    as_function,
    as_letters,
    as_number,
    as_numbers,
    as_pair,
    as_real,
    exercise,
    expect_close,
    expect_directions,
    expect_not,
    expect_number,
    linear_algebra,
)

FACTORISATIONS = {
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "svd",
    "svdvals",
    "eigs",
    "eigsh",
    "svds",
    "lobpcg",
    "schur",
    "ldl",
}


@exercise(
    "power-method-1",
    "Coordinate i is multiplied by λᵢ = sᵢ² in each step.",
    "After two steps the coordinates are in the proportion 81·1, 16·2, 1·2.",
)
def tangent_by_hand(answer: Any) -> None:
    rest = np.hypot(32, 2)
    mistakes = {
        np.hypot(8, 2) / 9: "That is one step, or two with singular values instead of their "
        "squares: XᵀX has the squares.",
        np.hypot(16, 1) / 81: "The start does not have equal coordinates.",
        np.hypot(128, 2) / 729: "That is after three steps.",
        np.hypot(2, 2): "That is before the first step.",
        81 / rest: "That is the cotangent: turn it over.",
        rest / np.hypot(81, rest): "That is the sine.",
        81 / np.hypot(81, rest): "That is the cosine.",
        (rest / 81) ** 2: "That is the square of the tangent.",
        np.arctan(rest / 81): "That is the angle itself: its tangent is asked for.",
        np.degrees(np.arctan(rest / 81)): "That is the angle in degrees: give its tangent.",
        34 / 81: "Coordinates at right angles add up by their squares: take the root of the sum.",
    }
    expect_number(answer, rest / 81, 3, mistakes)


@exercise(
    "power-method-2",
    "The tangent falls by the factor λ₂/λ₁ a step, the error of the value by its square.",
    "Solve 0.9^t = 1/1000 for the vector, and 0.9^(2t) = 1/1000 for the value; round up.",
)
def steps_for_three_digits(answer: Any) -> None:
    first, second = as_numbers(answer, 2)
    if (first, second) == (33, 66):
        raise WrongAnswer("Both numbers are right, in the other order.")
    if first % 1 or second % 1:
        raise WrongAnswer("Numbers of steps are whole: round up.")
    if (first, second) in ((65, 32), (65, 33), (66, 32)):
        raise WrongAnswer("Round up: one step fewer is not enough.")
    if first == 33:
        raise WrongAnswer("0.9 is already the ratio of eigenvalues: don't square it once more.")
    if first == 70:
        raise WrongAnswer("You took 0.1 for −ln 0.9, which is 0.1054.")
    if first != 66:
        raise WrongAnswer("The first number, for the vector, is wrong.")
    if second == 66:
        raise WrongAnswer("The error of the value falls by the *square* of 0.9 a step.")
    if second != 33:
        raise WrongAnswer("The second number, for the value, is wrong.")


@exercise(
    "power-method-3",
    "One step is X.T @ (X @ v), divided by its length.",
    "Divide after each of the two products: then no number becomes larger than ‖X‖₂.",
    "Repeat t times: u = X @ v; u = u / norm(u); v = X.T @ u; v = v / norm(v).",
)
def powers_that_survive(answer: Any) -> None:
    steps_of = as_function(answer)
    X, v = matrix_with_singular_values([3.0, 2.5, 1.0], 6, 4, rng=2), np.full(4, 0.5)
    for scale, t in ((1.0, 5), (1.0, 1), (1.0, 0), (1e100, 5), (1e-100, 5)):
        right = np.linalg.matrix_power(X.T @ X, t) @ v
        with np.errstate(all="ignore"):
            given = as_real(steps_of(scale * X, v.copy(), t))
        given = given.ravel() if given.size == 4 else given
        lost = given.shape == (4,) and (not np.isfinite(given).all() or not given.any())
        if lost and scale != 1:
            raise WrongAnswer(
                f"It breaks for entries of size {scale:g}: squares of such numbers leave the "
                f"range of doubles. Divide by the length after each of the two products."
            )
        given = as_array(given, (4,))
        if not np.isclose(np.linalg.norm(given), 1, rtol=1e-3):
            raise WrongAnswer(f"Its length is {np.linalg.norm(given):.4g}: it should be 1.")
        why = f"For t = {t} that is not the vector after {t} step{'s' * (t != 1)}."
        expect_directions(given[:, None], right[:, None] / np.linalg.norm(right), why)


@exercise(
    "power-method-4",
    "Write My = (v₁ + (1 − g)v₂)/√2. What is ρ = yᵀMy?",
    "ρ = 1 − g/2, so My − ρy = (g/2)(v₁ − v₂)/√2.",
)
def residual_at_45_degrees(answer: Any) -> None:
    residual = as_function(answer)
    gaps = (0.3, 1e-2, 1e-4)
    given = [as_number(residual(g)) for g in gaps]
    mistakes: dict[str, Callable[[float], float]] = {
        "That is the gap itself. Compute ρ first: it is not 1.": lambda g: g,
        "That is ‖My − y‖: ρ is not 1.": lambda g: g / np.sqrt(2),
        "That is divided by ρ; the length itself is asked for.": lambda g: g / (2 - g),
        "That is ρ: now subtract ρy from My.": lambda g: 1 - g / 2,
        "That is the square of the length: take the root.": lambda g: g**2 / 4,
        "The vector v₁ − v₂ has the length √2.": lambda g: g / np.sqrt(8),
        "The size is right, the sign is not.": lambda g: -g / 2,
    }
    for why, wrong in mistakes.items():
        if all(agrees(value, wrong(g), 6) for value, g in zip(given, gaps, strict=True)):
            raise WrongAnswer(why)
    for value, g in zip(given, gaps, strict=True):
        if not agrees(value, g / 2, 6):
            raise WrongAnswer(f"For g = {g} it gives {value:.6g}.")


@exercise(
    "power-method-5",
    "Split y into its part p in the leading plane and the rest.",
    "Each step multiplies p by λ₁ exactly, and the rest by at most λ₃.",
    "The coordinates after two steps are in the proportion 16·1, 16·2, 1·2.",
)
def tangent_to_a_plane(answer: Any) -> None:
    plane = np.hypot(16, 32)
    mistakes = {
        np.hypot(32, 2) / 16: "That is the angle to v₁ alone: nothing singles it out in the plane.",
        1 / 16: "That is the factor by which the tangent fell: multiply it by tan θ₀.",
        2 / np.hypot(1, 2): "That is tan θ₀, before the first step.",
        2 / np.hypot(4, 8): "That is after one step.",
        2 / np.hypot(256, 512): "Eigenvalues are given, not singular values: don't square them.",
        plane / 2: "That is the cotangent: turn it over.",
        2 / np.hypot(plane, 2): "That is the sine.",
        2 / 48: "The two coordinates in the plane add up by their squares.",
    }
    expect_number(answer, 2 / plane, 3, mistakes)


@exercise(
    "power-method-6",
    "power_eigen(K) gives the first pair.",
    "Subtract the pair from K: the matrix K − λaaᵀ has the second eigenvalue on top.",
    "Give each run a start of its own, power_eigen(…, rng=i): think of a tie.",
)
def leading_eigenvalues_of_a_gram_matrix(answer: Any) -> None:
    largest_of = as_function(answer)
    for lam, k in (([5.0, 2.0, 1.0], 2), ([2.0, 2.0, 0.5], 2), ([6.0, 3.0, 3.0, 1.0], 3)):
        K = _with_eigenvalues(lam)
        with linear_algebra() as calls:
            given = largest_of(K.copy(), k)
        given = as_array(np.ravel(given) if np.size(given) == k else given, (k,))
        distinct = sorted(set(lam), reverse=True)
        if len(distinct) < len(lam) and np.allclose(given, distinct[:k]):
            raise WrongAnswer(f"In a tie, {lam}, the second copy is missed: start anew.")
        if lam[0] != lam[1]:
            expect_not(given, [lam[0]] * k, "The same pair again and again: subtract it from K.")
            expect_not(given, lam[:k][::-1], "The order is wrong: the largest comes first.", 5)
        expect_not(given, np.sqrt(lam[:k]), "Those are square roots: eigenvalues are asked for.")
        expect_close(given, lam[:k], f"For eigenvalues {lam} it gives {given.round(4)}.", 5)
        _refuse(calls, "use power_eigen alone")
        _refuse(calls, "use power_eigen alone", {"qr", "cholesky", "hessenberg"})


@exercise(
    "power-method-7",
    "In the long run the residual falls by the factor λ₂/λ₁ in each step.",
    "Divide the last entry of run.history.residual by the one before.",
)
def ratio_from_the_history(answer: Any) -> None:
    ratio_of = as_function(answer)
    for ratio in (0.64, 0.81, 0.25):
        X = matrix_with_singular_values([2.0, 2 * np.sqrt(ratio), 0.1], 8, 6, rng=2)
        given = as_number(ratio_of(power_iteration(X, tol=1e-6)))
        if abs(given - ratio) <= 0.005 + 1e-9:
            continue
        if agrees(given, 1 / ratio, 2):
            raise WrongAnswer("That is λ₁/λ₂: divide the last entry by the one before.")
        mistakes = {
            np.sqrt(ratio): "That is s₂/s₁: the ratio of its squares is asked.",
            ratio
            ** 2: "That is the square of the ratio: take residuals, not values, one step apart.",
            1 - ratio: "That is the gap 1 − λ₂/λ₁.",
        }
        expect_number(given, ratio, 2, mistakes, f"For λ₂/λ₁ = {ratio} it gives {given:.4f}.", True)


@exercise(
    "power-method-8",
    "On a logarithmic axis a factor a step is a straight line. In how many steps does B lose one "
    "power of ten?",
    "If one power of ten takes m steps, the ratio is 10^(−1/m). And what does a run do that hardly "
    "sees v₁? It converges to v₂ first.",
)
def ratio_and_run_from_a_picture(answer: Any) -> None:
    value, letter = as_pair(answer, "ABC", (0.35, "A"))
    ratio = as_number(value)
    for wrong, why in (
        (0.5, "That is the ratio of run A."),
        (0.6, "That is the ratio of run C."),
        (0.81, "That is the square: the residual falls like the tangent, once by λ₂/λ₁ a step."),
        (0.949, "That is s₂/s₁: the ratio of the eigenvalues, its square, is asked for."),
        (0.1, "That is 1 − λ₂/λ₁, the gap, or the fall in 22 steps; a step is asked for."),
        (22.0, "That is the number of steps for one power of ten: turn it into a factor a step."),
    ):
        if abs(ratio - wrong) <= (0.01 if wrong < 1 else 1.0):  # .93 is a poor reading of .9
            raise WrongAnswer(why)
    if 1 < ratio < 1.3:
        raise WrongAnswer("The residual falls: λ₂/λ₁ is below 1. Turn your quotient over.")
    if abs(ratio - 0.9) > 0.02 + 1e-9:
        raise WrongAnswer("The ratio of run B is wrong, or not yet right within 0.02.")
    if letter != "c":
        raise WrongAnswer(
            f"The ratio is right. Run {letter.upper()} falls along one line from the start: it "
            f"sees v₁."
        )


@exercise(
    "power-method-9",
    "What costs most in each job: the number of triplets, the digits, the place in the spectrum, "
    "or the reading?",
    "All values: factor. Many digits of a few leading ones: Krylov. Inside the spectrum: invert. "
    "Few passes: a block.",
)
def tools_for_four_jobs(answer: Any) -> None:
    letters = as_letters(answer, "LKBS", 4).upper()
    reasons = (
        {"*": "Job 1 asks for all values: an iteration for a few of them can't win."},
        {
            "L": "Job 2: a full factorisation of a sparse matrix of this size fills the memory.",
            "B": "Job 2: to ten digits a block needs several times as many products; see the "
            "figure on cost.",
            "S": "Job 2: the leading ones need no inverse, and the factors would be large.",
        },
        {
            "L": "Job 3: all eigenpairs of a matrix of size 10⁶, to get one of them?",
            "*": "Job 3: that method finds the ends of the spectrum, and 0.5 lies inside.",
        },
        {
            "L": "Job 4: the matrix lies on a disk, and two digits are enough.",
            "K": "Job 4: Lanczos reads the matrix once for each single product.",
            "S": "Job 4: the leading ones need no inverse, and a factorisation reads it all.",
        },
    )
    for given, right, why in zip(letters, "LKSB", reasons, strict=True):
        if given != right:
            raise WrongAnswer(why.get(given, why.get("*", "")))


@exercise(
    "power-method-10",
    "The second run works with a matrix that is blind to the first vector. Which part of the "
    "residual can it not see?",
    "By the equation that part is at most r₁(s₁/s₂)². The span of the two vectors is good: which "
    "cure uses it?",
)
def why_the_second_triplet_failed(answer: Any) -> None:
    bound, letter = as_pair(answer, "abc", (0.5, "a"))
    mistakes = {
        1e-4: "The factor is the *square* of s₁/s₂: eigenvalues, not singular values, count.",
        1e-6: "That is r₁ itself: it is multiplied by (s₁/s₂)².",
        1e-10: "The quotient is upside down: s₁ is the larger one.",
        1e-8: "That divides, or has s₂/s₁: errors grow towards the small values.",
        6e-3: "That is what she found. How large could it have been?",
        1e-12: "That is what the second run sees, the part that does no harm.",
        1e2: "The fourth power belongs to the squares of the residuals: take the root.",
    }
    expect_number(bound, 1e-2, 2, mistakes, "The bound is wrong: it is r₁(s₁/s₂)².")
    if letter == "a":
        raise WrongAnswer("The bound is right. A smaller tolerance improves what is 1e-12 already.")
    if letter == "c":
        raise WrongAnswer("The bound is right. The two right vectors are orthogonal already.")


@exercise(
    "power-method-11",
    "What do the found triplets leave over? Its largest singular value must not exceed s_k.",
    "deflate(X, svd) is the rest, and spectral_norm_bounds gives its norm from both sides.",
    "Compare the lower bound with svd.s[-1], with a little room for rounding: a tie is no miss.",
)
def was_one_missed(answer: Any) -> None:
    missed, called = as_function(answer), []
    for s, columns in (
        *(([5.0, 4.0, 4.0, 3.0, 1.0], c) for c in ([0, 1, 2], [0, 1, 3], [1, 2], [0, 1])),
        *(([5.0, 4.0, 4.0, 3.0, 1.0], c) for c in ([0, 1, 2, 3, 4], [0], [0, 2, 3], [3])),
        ([2.0, 2.0, 2.0, 1.0], [0]),
        ([2.0, 2.0, 2.0, 1.0], [0, 3]),
        ([9.0, 3.0, 2.0], [0, 2]),
    ):
        X = matrix_with_singular_values(s, 30, 20, rng=3)
        f = thin_svd(X)
        part = SVD(f.U[:, columns], f.s[columns], f.V[:, columns])
        with linear_algebra() as calls:
            given = missed(X.copy(), part)
        if isinstance(given, np.ndarray) and given.size == 1:
            given = given.ravel()[0]
        if not isinstance(given, bool | np.bool_):
            raise WrongAnswer(f"It should return True or False, and returns {given!r:.60}.")
        found, left = part.s.round(6), np.delete(s, columns)
        right = left.max(initial=0.0) > found.min()
        tie = " A value as large as the smallest found one is no larger one." if not right else ""
        if given != right:
            raise WrongAnswer(
                f"For s = {', '.join(f'{value:g}' for value in s)} and the found {found.tolist()} "
                f"a larger one has{'' if right else ' not'} been missed."
                + tie
                * (found.min() in left)
            )
        called += calls
    _refuse(called, "only products with X are allowed")


@exercise(
    "power-method-12",
    "A page gives its rank to those it links to, in equal parts.",
    "Each step is r ← 0.85·(r @ P) + 0.15/n, where row i of P is L[i] divided by its sum.",
    "A page without links: let its row of P be 1/n everywhere.",
)
def ranks_of_pages(answer: Any) -> None:
    ranks = as_function(answer)
    ring = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0]], float)
    dead_end = np.vstack([ring[:3], np.zeros(4)])
    larger = np.zeros((6, 6))
    larger[[0, 0, 0, 1, 2, 3, 3], [1, 2, 5, 2, 0, 4, 2]] = 1  # the last two have no links
    for links in (ring, dead_end, larger):
        n = len(links)
        with np.errstate(all="ignore"):
            given = ranks(links.copy())
        given = as_array(np.ravel(given) if np.size(given) == n else given, (n,))
        if not np.isclose(given.sum(), 1, atol=1e-3):
            lost = "" if links is ring else " A page without links loses what it has."
            raise WrongAnswer(
                f"The ranks should add up to 1, and yours add up to {given.sum():.4f}.{lost}"
            )
        for wrong, why in (
            (_page_rank(links.T), "You follow the links backwards."),
            (_page_rank(links, 1.0), "The random jumps are missing."),
            (_page_rank(links, 0.15), "She follows a link with probability 0.85, not 0.15."),
            (np.full(n, 1 / n), "All pages alike. P @ r leaves them so: r is a row, before P."),
        ):
            if not np.allclose(wrong, _page_rank(links), atol=1e-3):
                expect_not(given, wrong, why, 3)
        if np.abs(given - _page_rank(links)).max() > 6e-5:
            raise WrongAnswer("The ranks are wrong, or not yet right to four decimals: iterate on.")


@exercise(
    "power-method-13",
    "M − σI has the same eigenvectors; its eigenvalues are moved by σ, and |·| decides.",
    "The rate is max(|0.9 − σ|, |0.1 − σ|)/(1 − σ): choose σ in the middle of 0.1 and 0.9.",
)
def best_shift(answer: Any) -> None:
    given = as_numbers(answer, 2)
    for wrong, why in (
        ([0.8, 0.5], "Both numbers are right, in the other order."),
        ([-0.5, 0.8], "σ is subtracted: it is positive."),
        ([0.5, 0.4], "That is the largest |λᵢ − σ|: divide it by 1 − σ."),
        ([0.5, 0.9], "That is the factor without a shift."),
        ([0.5, 1.25], "The factor is upside down: the tangent falls."),
        ([0.5, 80.0], "That is the percentage: give the factor."),
    ):
        expect_not(given, wrong, why, 3)
    if np.isclose(given[0], 0.9) or np.isclose(given[0], 0.1):
        raise WrongAnswer("That removes one end of the interval, and the other end takes over.")
    if not agrees(given[0], 0.5, 2):
        raise WrongAnswer("The shift is not the best one.")
    if not agrees(given[1], 0.8, 2):
        raise WrongAnswer("The shift is right, the factor is not.")


def _refuse(
    calls: list[tuple[str, tuple[int, ...]]], instead: str, refused: set[str] = FACTORISATIONS
) -> None:
    """Refuse a function that has called a factorisation."""
    names = sorted({name for name, _ in calls} & refused)
    if names:
        raise WrongAnswer(f"The values are right, but your function calls {names[0]}: {instead}.")


def _with_eigenvalues(lam: list[float]) -> NDArray:
    Q = np.linalg.qr(np.random.default_rng(len(lam)).standard_normal((6, len(lam))))[0]
    return (Q * lam) @ Q.T


def _page_rank(links: NDArray, follow: float = 0.85) -> NDArray:
    """Solve r = follow · rP + (1 − follow)/n directly."""
    n = len(links)
    out = links.sum(axis=1, keepdims=True)
    P = np.where(out > 0, links / np.where(out > 0, out, 1), 1 / n)
    G = follow * P + (1 - follow) / n
    lam, vectors = np.linalg.eig(G.T)
    r = np.real(vectors[:, np.argmax(np.real(lam))])
    return r / r.sum()
