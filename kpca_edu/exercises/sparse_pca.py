"""Checkers for the exercises of chapter 10, sparse PCA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..datasets import pitprops
from ..sparse_pca import adjusted_variances, best_subset, simple_threshold, sparse_direction
from .checking import (
    WrongAnswer,
    as_function,
    as_number,
    as_numbers,
    as_pair,
    exercise,
    expect_advice,
    expect_number,
    expect_numbers,
)

THREE = np.array([[3.0, 0.0, 2.0], [0.0, 4.0, 1.0], [2.0, 1.0, 3.0]])


@exercise(
    "sparse-pca-1",
    "The ridge of the score of an eigenvector v is a multiple of v. Which one?",
    "The factor is λ/(λ + ridge).",
)
def length_of_a_ridge_direction(answer: Any) -> None:
    mistakes = {
        0.3: "That is ridge/(λ + ridge): what is lost, not what is left.",
        7 / 3: "That is λ/ridge.",
        10 / 7: "A ridge makes it shorter, not longer: turn the fraction over.",
        1.0: "It is parallel to v, but shorter.",
        49 / 52: "λ is already the square of a singular value: don't square again.",
        49 / 58: "λ and the ridge are not squared.",
        7 / 13: "The ridge counts once: the slopes of both squares have the factor 2.",
        7 / 8.5: "The ridge counts whole: the slopes of both squares have the factor 2.",
        np.sqrt(0.7): "No square root: the factor itself is asked for.",
        0.49: "Don't square it: the length itself is asked for.",
        1 - 3 / 14: "That is for the penalty ρ‖b‖; in the ridge the length is squared.",
        4.9: "That is for a v of length 7: eigenvectors have length one, and λ is 7.",
    }
    expect_number(answer, 0.7, 3, mistakes, percent=True)


@exercise(
    "sparse-pca-2",
    "Every entry moves towards zero by half the penalty, and stops there.",
    "Half the penalty is 1: 2.5 becomes 1.5, and −0.9 becomes 0.",
)
def soft_threshold_by_hand(answer: Any) -> None:
    given, right = as_numbers(answer, 4), np.array([1.5, 0, -3, 0])
    mistakes = {
        "That moves by l1: the criterion gives l1/2.": [0.5, 0, -2, 0],
        "That moves by l1/4: the criterion gives l1/2.": [2, -0.4, -3.5, 0.1],
        "That cuts, and leaves the others: they move as well.": [2.5, 0, -4, 0],
        "The signs stay as they are.": [1.5, 0, 3, 0],
        "All signs are turned round.": -right,
        "Move towards zero, and not down.": [1.5, -1.9, -5, -0.4],
        "Stop at zero: no entry changes its sign.": [1.5, 0.1, -3, -0.4],
        "Move towards zero, and not away from it.": [3.5, -1.9, -5, 1.6],
        "b̃ has no length one: don't scale it.": right / np.linalg.norm(right),
    }
    _expect_digits(given, right, 3, mistakes)


@exercise(
    "sparse-pca-3",
    "There are three pairs of features. Take the larger eigenvalue of each 2×2 block.",
    "For [[a, c], [c, b]] it is (a + b)/2 + √((a − b)²/4 + c²).",
)
def best_pair_by_hand(answer: Any) -> None:
    many = np.size(answer) if isinstance(answer, list | tuple | np.ndarray) else 1
    if many == 2:
        raise WrongAnswer("Two numbers? If they are the features: the variance is asked for.")
    if many == 3:
        raise WrongAnswer("Three numbers? If that is the direction: its variance is asked for.")
    mistakes = {
        4.0: "That is the pair without covariance: another one has more.",
        7.0: "That is a sum of two variances: take the largest eigenvalue.",
        6.0: "That is a sum of two variances: take the largest eigenvalue.",
        (7 + np.sqrt(5)) / 2: "That is the second-best pair.",
        float(np.linalg.eigvalsh(THREE)[-1]): "That uses all three features: two are allowed.",
        1.0: "That is the smallest eigenvalue of the best block: take the largest.",
        np.sqrt(5): "That is the standard deviation: the variance is its square.",
        10.0: "That is for loadings 1 and 1: the direction must have length one.",
        3.0: "That is one feature alone: two loadings are allowed.",
    }
    expect_number(answer, 5, 3, mistakes)


@exercise(
    "sparse-pca-4",
    "All loadings are zero if zero fulfils the conditions: |2Ca| ≤ l1 in every entry.",
    "Ca = (3.4, 0.8, 3.6).",
)
def largest_useful_penalty(answer: Any) -> None:
    if isinstance(answer, list | tuple | np.ndarray) and np.size(answer) == 3:
        raise WrongAnswer("One number is asked for: the penalty at which all three are zero.")
    mistakes = {
        3.6: "The slope of the square brings a factor 2.",
        1.8: "ℓ/2 is compared with the entries of Ca: multiply by 2, and don't divide.",
        6.8: "Another entry of Ca is larger.",
        2 * float(np.linalg.norm([3.4, 0.8, 3.6])): "Take the largest entry, not the length.",
        float(np.linalg.norm([3.4, 0.8, 3.6])): "Take the largest entry, not the length.",
        1.6: "That is enough for the second loading only; and it is Ca that counts, not a.",
        2 * 7.8: "Take the largest entry, not the sum.",
        7.8: "Take the largest entry, not the sum, and mind the factor 2.",
    }
    expect_number(answer, 7.2, 3, mistakes)


@exercise(
    "sparse-pca-5",
    "Go through the coordinates again and again. For one, all others are held.",
    "rest = c[j] − Σ_{i≠j} C[j, i] b[i] with c = Ca.",
    "b[j] is the soft threshold of rest at l1/2, divided by C[j, j] + ridge.",
)
def elastic_net_by_coordinates(answer: Any) -> None:
    solve = as_function(answer)
    for C, a, l1, ridge in _nets():
        given = as_numbers(solve(C.copy(), a.copy(), l1, ridge), len(C))
        right = sparse_direction(C, a, l1=l1, ridge=ridge)
        if _equal(given, right, 5):
            continue
        _recognise_hard_threshold(given, C, C @ a, ridge)
        mistakes = _wrong_nets(C, a, l1, ridge)
        _expect_digits(given, right, 5, mistakes, _broken_condition(given, C, a, l1, ridge))


@exercise(
    "sparse-pca-6",
    "Multiply by C first, then look for the m largest moduli.",
    "Set the others to zero and divide by the length.",
)
def one_truncated_step(answer: Any) -> None:
    step = as_function(answer)
    for d, m in ((8, 3), (5, 2), (6, 1)):
        C, x = _random_covariance(27, d), _alternating(d)
        given = as_numbers(step(C.copy(), x.copy(), m), d)
        count, length = np.count_nonzero(given), np.linalg.norm(given)
        why = ""
        if count != m:
            why = f"{count} entries are non-zero, and {m} are asked for."
        elif abs(length - 1) > 1e-3:
            why = f"It has the length {length:.4g}: normalise at the end."
        _expect_digits(given, _cut(C @ x, m), 6, _wrong_steps(C, x, m), why)


@exercise(
    "sparse-pca-7",
    "QR of the scores: the second column of Q is what is new in the second score.",
    "Centre X, scale the columns of B to length one, Z = X_c B, and square the diagonal of R.",
    "np.diag(np.linalg.qr(Z)[1])**2 / n",
)
def adjusted_by_qr(answer: Any) -> None:
    adjusted = as_function(answer)
    for seed, (n, d, k) in enumerate(((20, 4, 2), (30, 6, 3))):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 2
        B = simple_threshold(rng.standard_normal((d, k)), 3)
        given = as_numbers(adjusted(X.copy(), B.copy()), k)
        right, Xc = adjusted_variances(X, B), X - X.mean(axis=0)
        backwards = adjusted_variances(X, B[:, ::-1])
        total = np.mean(Xc**2) * d
        mistakes = {
            "Those are plain variances: shared parts count twice.": np.var(X @ B, axis=0),
            "That divides by n − 1; this book divides by n.": right * n / (n - 1),
            "Divide by n.": right * n,
            "Square the diagonal of R.": np.sqrt(right),
            "Square the diagonal of R before you divide by n.": np.sqrt(right / n),
            "Square the diagonal of R, and divide by n.": np.sqrt(right * n),
            "The data have not been centred.": _qr_squares(X @ B) / n,
            "Don't centre every row: subtract the means of the columns.": (
                _qr_squares((X - X.mean(axis=1, keepdims=True)) @ B) / n
            ),
            "The order: each direction is adjusted for those before it.": backwards[::-1],
            "The order of the results is reversed.": right[::-1],
            "Those are sums from the first on: give each by itself.": np.cumsum(right),
            "Those are shares of the total variance: give variances.": right / total,
            "Those are percentages of the total variance: give variances.": 100 * right / total,
        }
        _expect_digits(np.abs(given), right, 6, mistakes)  # R may have negative entries
        if np.any(given < 0):
            raise WrongAnswer("A variance is never negative.")


@exercise(
    "sparse-pca-8",
    "What remains of the second score after a regression on the first?",
    "The share 1 − r² of its variance, with the correlation r.",
)
def adjusted_from_correlation(answer: Any) -> None:
    if isinstance(answer, list | tuple | np.ndarray) and np.size(answer) == 2:
        raise WrongAnswer("One number is asked for: the second adjusted variance.")
    mistakes = {
        9.0: "That is the plain variance: a part of it was counted before.",
        5.4: "That is 9(1 − r): square the correlation.",
        1.44: "That is the part that the first score explains.",
        5.0: "Variances don't subtract like that.",
        4 * 0.84: "That is the first one, adjusted for the second.",
        0.84: "That is the share that is left: multiply by the variance of the second score.",
        84.0: "That is the percentage that is left: the variance is asked for.",
        3 * 0.84: "σ₂² is 9 already: don't take the root.",
        np.sqrt(7.56): "That is the standard deviation: the variance is asked for.",
        9 * np.sqrt(0.84): "No root: what is left is the share 1 − r².",
        11.56: "That is the sum of both: the second one is asked for.",
        4.0: "That is the first one, and nothing was before it.",
        9 * 1.16: "Subtract r²: what was counted before is taken off.",
    }
    expect_number(answer, 7.56, 3, mistakes)


@exercise(
    "sparse-pca-9",
    "Subtract (bᵀCb) bbᵀ with b = (1, 0): only the upper left entry changes.",
    "[[0, 2], [2, 3]] has the determinant −4 and the trace 3.",
)
def hotelling_by_hand(answer: Any) -> None:
    if isinstance(answer, list | tuple | np.ndarray) and np.size(answer) == 2:
        raise WrongAnswer("One number is asked for: the smaller eigenvalue.")
    mistakes = {
        0.0: "That is projection deflation (or the Schur complement): both leave 0.",
        4.0: "That is the largest one.",
        1.0: "That is the smallest one before the deflation.",
        5.0: "That is the largest one before the deflation.",
        5 / 3: "That is the Schur complement.",
        -4.0: "That is the determinant.",
        3.0: "That is the trace, or a variance: an eigenvalue is asked for.",
        (5 - np.sqrt(17)) / 2: "Subtract (bᵀCb) bbᵀ, not bbᵀ.",
        (1 - np.sqrt(41)) / 2: "b is no eigenvector: the factor is bᵀCb = 3, not an eigenvalue.",
    }
    expect_number(answer, -1, 3, mistakes)


@exercise(
    "sparse-pca-10",
    "For each m compare the supports: np.flatnonzero of both directions.",
    "best_subset(C, m).support, and simple_threshold(v, m) with v as a 13×1 matrix.",
)
def where_thresholding_fails(answer: Any) -> None:
    given, fails = _whole_numbers(answer), _misses("largest moduli")
    mistakes = {
        frozenset(): "It does keep other features for some m: compare with the exact optimum.",
        fails | {1}: "Start at m = 2: at m = 1 all features tie.",
        frozenset(range(2, 14)) - fails: "There it finds the best support: give the others.",
        frozenset(range(1, 14)) - fails: "There it finds the best support: give the others.",
        frozenset(range(2, 13)): "There the *values* differ: compare supports.",
        frozenset(range(1, 13)): "There the *values* differ: compare supports.",
        frozenset(m - 1 for m in fails): "Those are places in a list: give m itself.",
        frozenset(m - 2 for m in fails): "Those are places in a list: give m itself.",
        frozenset({6, 8}): "Those are the features that are exchanged: give m.",
        _misses("largest entries"): "Keep the largest *moduli*: loadings may be negative.",
        _misses("last eigenvector"): "eigh sorts from small to large: take the last column.",
    }
    if given == fails:
        return
    if given in mistakes:
        raise WrongAnswer(mistakes[given])
    if given > fails:
        raise WrongAnswer("There are too many: for some of them the supports agree.")
    if given < fails:
        raise WrongAnswer("Some are missing.")
    raise WrongAnswer("")


METHODS = ("exact", "power", "joint", "threshold")
WHY = (
    "The lawyer claims something about all supports: only a search that rules them out proves it.",
    "The geneticist wants one direction of many features, quickly: products with the data suffice.",
    "The psychologist wants two directions, and PCA mixes factors of equal strength.",
    "The engineer's direction is fixed: she wants to know its largest loadings.",
)


@exercise(
    "sparse-pca-11",
    "Who claims something about all supports? Who has no time? Who needs several directions?",
    "A direction that is fixed already can only be cut.",
)
def choose_a_method(answer: Any) -> None:
    expect_advice(answer, METHODS, WHY)


@exercise(
    "sparse-pca-12",
    "Look at np.count_nonzero(puzzle, axis=1): how many of the six use each feature?",
    "100 * adjusted_variances(C, puzzle, gram=True).sum() / 13",
)
def more_than_everything(answer: Any) -> None:
    innocent = {
        "a": "np.linalg.norm(puzzle, axis=0) is 1 in every column.",
        "b": "np.linalg.eigvalsh(C) has no negative value.",
        "d": "Rounding changes the sixteenth digit, not the first.",
    }
    letter, share = as_pair(answer, "abcd", ("a", 55.5))
    if letter in innocent:
        raise WrongAnswer(innocent[letter])
    C, _ = pitprops()
    B = simple_threshold(C[:, [0, 1, 6, 8, 9, 7]], 4)
    adjusted, M = adjusted_variances(C, B, gram=True), B.T @ C @ B
    right, plain = 100 * adjusted.sum() / 13, 100 * np.trace(M) / 13
    recovered = 100 / 13 * float(np.trace(np.linalg.solve(M, B.T @ C @ C @ B)))
    cause = "The cause is right. But "
    mistakes = {
        plain: cause + "that is the sum of the plain variances, with all that is shared.",
        right / 100: cause + "the share is asked for in per cent.",
        right * 13 / 100: cause + "that is a variance: divide by the total, 13.",
        100 * adjusted[0] / 13: cause + "that is the first direction alone.",
        recovered: cause + "that is what a decoder recovers: adjusted variances are asked for.",
        100 * float(np.linalg.eigvalsh(C)[-6:].sum()) / 13: cause + "that is PCA's share.",
        100 - right: cause + "that is what is left over.",
    }
    expect_number(share, right, 3, mistakes, cause + "the number is not: see the hints.")


@exercise(
    "sparse-pca-13",
    "Draw a vertical line at the penalty, and count the curves that it meets off zero.",
    "One curve is small between 3.5 and 5, and zero at 2: look at b₁ closely.",
)
def read_a_path(answer: Any) -> None:
    given, right = as_numbers(answer, 3), (3, 2, 10)
    mistakes = {
        (2, 3, 10): "The order: the number at ℓ = 4 comes first. It may fall with the penalty.",
        (2, 2, 10): "Look at ℓ = 4 again: b₁ is small there, but not zero.",
        (3, 3, 10): "Look at ℓ = 2 again: b₁ is back at zero, and b₄ has not entered.",
        (2, 4, 10): "Neither is right: count the curves that are off zero, however little.",
        (3, 4, 10): "At ℓ = 2 some curves lie on zero: they don't count.",
        (4, 4, 10): "Curves that lie on zero don't count.",
        (1, 2, 10): "That counts the loadings that are zero at ℓ = 4: count the others.",
        (3, 2, 11): "The axis ends at 11. The last curve reaches zero before.",
        (3, 2, 5): "There the second loading vanishes: one is left.",
        (3, 2, 0): "There all loadings are there: read the other end.",
    }
    pattern = (given[0], given[1], round(float(given[2])))
    if pattern == right and abs(given[2] - 10) <= 0.5:
        return
    raise WrongAnswer(mistakes.get(pattern, _first_wrong(pattern, right)))


# The helpers


def _first_wrong(given: tuple, right: tuple) -> str:
    names = ("number at ℓ = 4", "number at ℓ = 2", "penalty")
    wrong = [name for name, x, y in zip(names, given, right, strict=True) if x != y]
    return f"The {wrong[0]} is not right." if wrong else ""


def _equal(given: NDArray, value: ArrayLike, digits: int) -> bool:
    try:
        expect_numbers(given, np.asarray(value, float), digits)
    except WrongAnswer:
        return False
    return True


def _expect_digits(
    given: NDArray, right: NDArray, digits: int, mistakes: Mapping[str, ArrayLike], why: str = ""
) -> None:
    """Accept what agrees to so many digits of the largest entry; else name the mistake."""
    if _equal(given, right, digits):
        return
    for diagnosis, value in mistakes.items():
        if np.any(value) and _equal(given, value, min(digits, 4)):
            raise WrongAnswer(diagnosis)
    if _equal(given, right, digits - 1):
        raise WrongAnswer(f"Close: {digits} digits are asked for.")
    raise WrongAnswer(why)


def _random_covariance(seed: int, d: int) -> NDArray:
    X = np.random.default_rng(seed).standard_normal((5 * d, d)) * np.linspace(2, 1, d)
    X = X + 0.7 * np.roll(X, 1, axis=1)
    return X.T @ X / len(X)


def _nets() -> Iterator[tuple[NDArray, NDArray, float, float]]:
    """Give C, a, l1, ridge: two solutions with zeros and loadings, and one that is all zero."""
    for seed, d in ((1, 6), (0, 3)):
        signs = (-1.0) ** np.arange(d)  # loadings of both signs
        C = _random_covariance(seed, d) * np.outer(signs, signs)
        a = np.linalg.eigh(C)[1][:, -1]
        a = a * np.sign(a[0])
        if d == 3:  # the last loading is zero in one, the first in the other
            C, a = C[::-1, ::-1].copy(), a[::-1].copy()
        yield C, a, 0.6 * float(np.median(np.abs(C @ a))), 0.3
    yield C, a, 2.1 * float(np.abs(C @ a).max()), 0.3


def _descend(Q: NDArray, c: NDArray, t: ArrayLike, rounds: int = 300) -> NDArray:
    """Minimise bᵀQb − 2cᵀb + 2 Σ tⱼ|bⱼ| one coordinate at a time."""
    b, t = np.zeros_like(c), np.broadcast_to(t, c.shape)
    for _ in range(rounds):
        for j in range(len(c)):
            rest = c[j] - Q[j] @ b + Q[j, j] * b[j]
            b[j] = np.sign(rest) * max(abs(rest) - t[j], 0.0) / Q[j, j]
    return b


def _wrong_nets(C: NDArray, a: NDArray, l1: float, ridge: float) -> dict[str, NDArray]:
    """Return what typical mistakes lead to."""
    eye, diagonal, c, t = np.eye(len(C)), np.diag(C), C @ a, l1 / 2
    Q = C + ridge * eye
    whole = np.linalg.solve(Q, c)
    right = _descend(Q, c, t)
    alone = np.sign(c) * np.maximum(np.abs(c) - t, 0) / (diagonal + ridge)
    early = {
        f"That is where it stands after round {i}: go on until nothing moves.": _descend(Q, c, t, i)
        for i in range(1, 11)
    }
    return {
        "Your threshold is twice too large: it is l1/2.": _descend(Q, c, l1),
        "Your threshold is too small: it is l1/2, not l1/4.": _descend(Q, c, t / 2),
        "The ridge is missing in the denominator.": _descend(C, c, t),
        "There is no threshold.": whole,
        "The ridge counts once: divide by C[j, j] + ridge.": _descend(Q + ridge * eye, c, t),
        "The ridge counts whole: divide by C[j, j] + ridge.": _descend(Q - ridge / 2 * eye, c, t),
        "The right side is c = Ca, not a.": _descend(Q, a, t),
        "The sum leaves out i = j: add C[j, j] b[j] back.": _descend(Q + np.diag(diagonal), c, t),
        "Threshold first, then divide by C[j, j] + ridge.": _descend(Q, c, t * np.diag(Q)),
        "That treats each coordinate as if the others were zero.": alone,
        "That is the soft threshold of Ca alone, as for a huge ridge.": (
            np.sign(c) * np.maximum(np.abs(c) - t, 0)
        ),
        "That thresholds the ridge solution once: the others change, too.": (
            np.sign(whole) * np.maximum(np.abs(whole) - t, 0)
        ),
        "The minimum itself is asked for: don't scale it to length one.": (
            right / (np.linalg.norm(right) or 1.0)
        ),
        "The sign is wrong: b should predict the score of a, not of −a.": -right,
        **early,
    }


def _recognise_hard_threshold(given: NDArray, C: NDArray, c: NDArray, ridge: float) -> None:
    """Some are zero, and the others were not moved: for those the gradient of q is zero."""
    T = np.flatnonzero(given)
    Q = C + ridge * np.eye(len(C))
    if T.size in (0, len(c)):
        return
    if _equal(given[T], np.linalg.solve(Q[np.ix_(T, T)], c[T]), 4):
        raise WrongAnswer(
            "That is a hard threshold: it cuts, and leaves the others as they are. The soft one "
            "moves those towards zero by l1/2 as well."
        )
    if _equal(given[T], np.linalg.solve(Q, c)[T], 4):
        raise WrongAnswer("That is the ridge solution, cut: a hard threshold, and only at the end.")


def _broken_condition(b: NDArray, C: NDArray, a: NDArray, l1: float, ridge: float) -> str:
    """Say where the conditions of optimality fail most."""
    g = 2 * (C @ (a - b) - ridge * b)
    excess = np.where(b == 0, np.maximum(np.abs(g) - l1, 0), np.abs(g - l1 * np.sign(b)))
    j = int(np.argmax(excess))
    wanted = f"|g| ≤ {l1:.3g}" if b[j] == 0 else f"g = {l1 * np.sign(b[j]):.3g}"
    return (
        f"It is no minimum: for b[{j}] = {b[j]:.3g} the conditions want {wanted}, and g is "
        f"{g[j]:.3g}. Does it go on until nothing moves?"
    )


def _alternating(d: int) -> NDArray:
    """Return a unit vector with signs that alternate and moduli that rise."""
    x = np.arange(1.0, d + 1) + d
    x[::2] *= -1
    return x / np.linalg.norm(x)


def _cut(y: NDArray, m: int) -> NDArray:
    return simple_threshold(y[:, None], m)[:, 0]


def _keep(y: NDArray, T: NDArray) -> NDArray:
    """Return the unit vector of the entries in T."""
    kept = np.zeros_like(y)
    kept[T] = y[T]
    return kept / np.linalg.norm(kept)


def _wrong_steps(C: NDArray, x: NDArray, m: int) -> dict[str, NDArray]:
    """Return what typical mistakes lead to."""
    y = C @ x
    right = _cut(y, m)
    T, order = right != 0, np.argsort(y, kind="stable")
    lead = _cut(np.linalg.eigh(C)[1][:, -1], m)
    soft = np.sign(y) * np.maximum(np.abs(y) - np.sort(np.abs(y))[::-1][min(m, len(y) - 1)], 0)
    far = right
    for _ in range(200):
        far = _cut(C @ far, m)
    return {
        "The sign is turned round: the next iterate has the signs of Cx.": -right,
        "The signs are lost: keep the entries, choose them by their moduli.": np.abs(right),
        "It has the wrong length: normalise at the end.": np.where(T, y, 0),
        "It has the wrong length: normalise at the end, after the cut.": (
            np.where(T, y, 0) / np.linalg.norm(y)
        ),
        "It has the wrong length: divide by the length, not by its square.": right
        / np.linalg.norm(y[T]),
        "It has the wrong length: divide by ‖·‖, not by the sum of the moduli.": right
        / np.abs(right).sum(),
        "All entries are non-zero: keep the m largest moduli only.": y / np.linalg.norm(y),
        "That is no step with a cut: all entries are non-zero.": y,
        "That truncates x itself: multiply by C first.": _cut(x, m),
        "That truncates x and then multiplies: multiply by C first, then cut.": (
            C @ _cut(x, m) / np.linalg.norm(C @ _cut(x, m))
        ),
        "The support is that of x: look for the largest moduli of Cx.": _keep(
            y, np.flatnonzero(_cut(x, m))
        ),
        "That keeps the largest entries: take the largest moduli.": _keep(y, order[::-1][:m]),
        "That keeps the smallest entries: take the largest moduli.": _keep(y, order[:m]),
        "That keeps the smallest moduli: take the largest.": _keep(y, np.argsort(np.abs(y))[:m]),
        "That keeps the loadings of x: those of Cx are wanted.": _keep(x, np.flatnonzero(T)),
        "That keeps one entry too few.": _cut(y, max(m - 1, 1)),
        "That keeps one entry too many.": _cut(y, m + 1),
        "That cuts m entries: keep m, and cut the others.": _cut(y, len(y) - m),
        "That is a soft threshold: what is kept stays as it is.": soft / np.linalg.norm(soft),
        "That is two steps: one is asked for.": _cut(C @ right, m),
        "That has gone on to the end: one step is asked for.": far,
        "That cuts the eigenvector: one step from x is asked for.": lead,
    }


def _qr_squares(Z: NDArray) -> NDArray:
    return np.diag(np.linalg.qr(Z, mode="r")) ** 2


def _whole_numbers(answer: Any) -> frozenset[int]:
    """Return the whole numbers of a list, tuple, set or array, in any order."""
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise WrongAnswer("A list of whole numbers is needed.")
    if isinstance(answer, np.ndarray):
        answer = np.asarray(answer).ravel()
    numbers = [as_number(number) for number in islice(answer, 1000)]  # some never end
    if any(number != round(number) for number in numbers):
        raise WrongAnswer("A list of whole numbers is needed.")
    return frozenset(round(number) for number in numbers)


@cache
def _misses(kept: str) -> frozenset[int]:
    """Return the m from 2 on for which those loadings of the pit props are not the best ones."""
    C, _ = pitprops()
    V = np.linalg.eigh(C)[1]
    v = V[:, 0] if kept == "last eigenvector" else V[:, -1] * np.sign(V[0, -1])
    ranks = v if kept == "largest entries" else np.abs(v)
    order = np.argsort(-ranks, kind="stable")
    return frozenset(m for m in range(2, 14) if set(order[:m]) != set(_best_support(m)))


@cache
def _best_support(m: int) -> tuple[int, ...]:
    return tuple(best_subset(pitprops()[0], m).support.tolist())
