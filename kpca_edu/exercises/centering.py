"""Checkers for the exercises of chapter 8: centring in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import aslinearoperator
from scipy.spatial.distance import cdist

from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_numbers,
    exercise,
    expect_close,
    expect_not,
    expect_number,
    expect_numbers,
    expect_whole,
)

K3 = np.array([[9.0, 3.0, 0.0], [3.0, 5.0, 1.0], [0.0, 1.0, 5.0]])
K3_CENTRED = np.array([[4.0, -1.0, -3.0], [-1.0, 2.0, -1.0], [-3.0, -1.0, 4.0]])
K3_MEANS = np.array([4.0, 3.0, 2.0])  # of the rows; their mean is 3
SIDES = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])


def centred(A: NDArray) -> NDArray:
    J = np.eye(len(A)) - 1 / len(A)
    return J @ A @ J


@exercise(
    "centering-1",
    "The means of the rows are 4, 3 and 2. What is the mean of all entries?",
    "Take from each entry the mean of its row and of its column, and add the mean of all, 3.",
)
def center_by_hand(answer: Any) -> None:
    r = K3_MEANS[:, None]
    expect_not(answer, K3, "That is K itself.")
    expect_not(answer, K3 - r - r.T, "The mean of all entries has to be added once.")
    expect_not(answer, K3 - r, "Those are rows with mean 0: the columns still have theirs.")
    expect_not(answer, K3 - r.T, "Those are columns with mean 0: the rows still have theirs.")
    expect_not(answer, K3 - 3, "That takes the mean of all entries from each of them.")
    expect_not(answer, K3 - r - r.T - 3, "The mean of all entries is added, not taken away.")
    expect_not(answer, -K3_CENTRED, "The sign is wrong.")
    expect_close(answer, K3_CENTRED)


@exercise(
    "centering-2",
    "Four terms: the entry, less the mean of the training row, less the mean of the new row, …",
    "The mean of the new row is 4; the training rows have the means 4, 3, 2, and all entries 3.",
)
def center_a_new_row(answer: Any) -> None:
    given = as_numbers(answer, 3)
    expect_not(given, [0, 0, 0], "Centre it by the training samples, not by itself.")
    expect_not(given, [3, 1, -1], "That is enough for scores, but its sum is not 0 yet.")
    expect_not(given, [3, 0, -3], "That takes the mean of the new row alone.")
    expect_not(given, [-1, -3, -5], "The mean of all entries of K has to be added.")
    expect_not(given, [6, 4, 2], "The mean of the new row is still in it.")
    expect_not(given, [7, 4, 1], "That is the row as it came.")
    expect_close(given, [2, 0, -2])


@exercise(
    "centering-3",
    "The Gaussian Gram matrix of distinct samples has full rank.",
    "K̃c = 0 gives (Jc)ᵀK(Jc) = 0. Which c are these, if K is positive definite?",
)
def rank_after_centring(answer: Any) -> None:
    mistakes: dict[float, str] = {
        12: "K̃1 = 0, so the rank is smaller than that.",
        2: "The rank in feature space is not limited by the number of columns.",
        1: "That is what is lost.",
        10: "Only one dimension is lost, though J stands on both sides.",
        0: "Different samples have different features: something is left.",
    }
    expect_whole(answer, 11, mistakes)


@exercise(
    "centering-4",
    "Which of the four are symmetric? Which have only one sign?",
    "A Gaussian kernel is positive, and −½D² is zero on the diagonal and negative elsewhere.",
    "Of JKJ rows and columns sum to zero, of KJ only the rows.",
)
def read_the_matrices(answer: Any) -> None:
    given = as_letters(answer, "ABCD", 4)
    if len(set(given)) < 4:
        raise WrongAnswer("Four different letters are needed, for the matrices 1, 2, 3 and 4.")
    if given[0] != "b":
        raise WrongAnswer("A Gaussian kernel has positive values only, and ones on the diagonal.")
    if given[3] != "a":
        raise WrongAnswer("−½D² is zero on the diagonal, and nowhere positive.")
    if given != "bcda":
        raise WrongAnswer("JKJ is symmetric. One of the two that are left is not.")


@exercise(
    "centering-5",
    "With one new sample, K_new has one row. What is its mean over axis 0?",
    "The mean belongs to the model: it is taken over the training samples.",
)
def all_zeros(answer: Any) -> None:
    given = as_letters(answer, "ABCD", 1)
    reasons = {
        "a": "K may stay as it is: its means are what is missing further down.",
        "b": "The kernel values are those of the new sample with the old ones, as they should be.",
        "d": "Scores are K_new times alpha, once K_new is right.",
    }
    if given in reasons:
        raise WrongAnswer(reasons[given])


@exercise(
    "centering-6",
    "The squared distances are 9, 16 and 25: these are centred, not the distances.",
    "Their rows have the means 25/3, 34/3 and 41/3; the mean of all is 100/9. Don't forget −½.",
    "The first entry is −½(0 − 25/3 − 25/3 + 100/9).",
)
def centre_a_triangle(answer: Any) -> None:
    D2 = SIDES**2
    B = centred(D2) / -2
    expect_not(answer, B, "The first row alone is needed.", digits=3)
    given = as_numbers(answer, 3)
    mistakes = {
        "The factor −½ is missing.": -2 * B[0],
        "The sign is wrong.": -B[0],
        "The factor ½ is missing.": 2 * B[0],
        "Square the distances first.": centred(SIDES)[0] / -2,
        "D² means each entry squared, not the product DD.": centred(SIDES @ SIDES)[0] / -2,
        "That is −½D², not centred.": D2[0] / -2,
        "That is the second row.": B[1],
        "That is the third row.": B[2],
        "J is missing on the right: the row still has a mean.": (D2 - D2.mean(axis=0))[0] / -2,
        "J is missing on the left: the columns still have a mean.": (D2[0] - D2[0].mean()) / -2,
        "The mean of all entries has to be added: the row should sum to 0.": (
            (D2 - D2.mean(axis=0))[0] - D2[0].mean()
        )
        / -2,
    }
    for diagnosis, wrong in mistakes.items():
        expect_not(given, wrong, diagnosis, digits=3)
    expect_numbers(given, B[0], 3)


@exercise(
    "centering-7",
    "Ask each time: is it a Gram matrix, a row of kernel values, or distances? Who centres?",
    "scikit-learn's KernelPCA centres what it is given. np.linalg.eigh does nothing of the kind.",
    "JJ = J: what is centred stays as it is.",
)
def what_to_centre(answer: Any) -> None:
    given = as_letters(answer, "NGTD", 5)
    reasons = (
        ("n", "Task 1: KernelPCA centres by itself; centred before, new samples would be off."),
        ("g", "Task 2: eigh does not centre, and this is a Gram matrix."),
        ("t", "Task 3: new samples are centred by the means of the training samples."),
        ("d", "Task 4: road lengths are distances."),
        ("n", "Task 5: it is centred already, and JJ = J."),
    )
    for letter, (right, why) in zip(given, reasons, strict=True):
        if letter != right:
            raise WrongAnswer(why)


@exercise(
    "centering-8",
    "K̃x = J(K(Jx)), from right to left.",
    "Jx is x less its mean: no matrix J is needed.",
)
def multiply_with_centred_gram(answer: Any) -> None:
    times = as_function(answer)
    for n in (5, 9):
        rng = np.random.default_rng(n)
        F = rng.standard_normal((n, 3)) + 2
        K, x = F @ F.T, rng.standard_normal(n) + 1
        J = np.eye(n) - 1 / n
        given = as_array(times(aslinearoperator(K), x.copy()), (n,))
        expect_not(given, K @ x, "That is Kx, not centred.")
        expect_not(given, J @ K @ x, "J is missing on the right of K.")
        expect_not(given, K @ J @ x, "J is missing on the left of K.")
        expect_not(given, J @ x, "K is missing: that is Jx.")
        expect_close(given, J @ K @ J @ x)


@exercise(
    "centering-9",
    "Each column of α sums to zero. Which of the four terms of the centred K_test survive?",
    "K_test @ alpha, less the means of the rows of K_train, times alpha.",
)
def scores_of_new_samples(answer: Any) -> None:
    scores = as_function(answer)
    for m, n in ((4, 7), (1, 5), (6, 4)):
        rng = np.random.default_rng(n)
        F, G = rng.standard_normal((n, 4)) + 1, rng.standard_normal((m, 4))
        K, K_test = F @ F.T, G @ F.T
        alpha = rng.standard_normal((n, 2))
        alpha -= alpha.mean(axis=0)
        r = K.mean(axis=0)
        given = as_array(scores(K_test.copy(), K.copy(), alpha.copy()), (m, 2))
        expect_not(
            given,
            K_test @ alpha,
            "The training means are missing: all scores are off by one constant.",
        )
        expect_not(
            given,
            (K_test - K_test.mean(axis=0)) @ alpha,
            "That centres new samples by their own mean: take that of the training samples.",
        )
        expect_not(
            given,
            K_test @ alpha - K.sum(axis=0) @ alpha / m,
            "Divide by the number of old samples.",
        )
        expect_not(
            given, K_test @ alpha - n * r @ alpha, "Those are sums of the rows: take their means."
        )
        expect_not(given, K_test @ alpha + r @ alpha, "The sign is wrong.")
        expect_close(given, (K_test - r) @ alpha)


@exercise(
    "centering-10",
    "Centre −½D², take the k leading eigenpairs, scale each eigenvector.",
    "np.linalg.eigh gives rising eigenvalues: turn the order.",
    "Unit eigenvectors times the roots of their eigenvalues are the points.",
)
def points_from_distances(answer: Any) -> None:
    mds = as_function(answer)
    for seed, (n, k) in enumerate([(6, 2), (12, 3)]):
        X = np.random.default_rng(seed).standard_normal((n, k)) * np.arange(1, k + 1)
        D = cdist(X, X)
        Z = mds(D.copy(), k)
        if _is_lost(Z, (n, k)):
            raise WrongAnswer(_no_positive_eigenvalue(mds, D))
        Z = as_array(Z, (n, k))
        found = cdist(Z, Z)
        if not np.allclose(found, D, atol=1e-6):
            raise WrongAnswer(_wrong_points(Z, found, D))


def _is_lost(Z: Any, shape: tuple[int, int]) -> bool:
    """Tell whether points of the right shape all coincide, or are NaN as roots of negatives are."""
    if not isinstance(Z, np.ndarray) or Z.shape != shape or Z.dtype.kind != "f":
        return False
    return bool(np.isnan(Z).any() or np.abs(Z).max() < 1e-5)


def _no_positive_eigenvalue(mds: Any, D: NDArray) -> str:
    """Say why all points coincide or are NaN: with all n columns a wrong order does no harm."""
    every = np.nan_to_num(np.asarray(mds(D.copy(), len(D)), float))
    if every.shape == D.shape and np.allclose(cdist(every, every), D, atol=1e-6):
        return "Those belong to the smallest eigenvalues, which are zero: turn the order."
    return (
        "No eigenvalue that you take is positive. Is each entry squared (D**2; D @ D is another "
        "matrix), is the factor −½, and do the largest eigenvalues come first?"
    )


def _wrong_points(Z: NDArray, found: NDArray, D: NDArray) -> str:
    """Say what points that have other distances may have come from."""
    pairs = D > 0
    ratio = found[pairs] / D[pairs]
    if np.allclose(ratio, ratio[0], rtol=1e-6) and ratio[0] > 0:
        if np.isclose(ratio[0] ** 2 * len(D), 1) or np.isclose(ratio[0] ** 2 * (len(D) - 1), 1):
            return "All distances are too small by one factor: nothing is divided by n here."
        halves = 2 * np.log2(ratio[0])
        half = ": mind the ½" if abs(halves - round(halves)) < 1e-6 else ""
        return f"All distances are {ratio[0]:.4f} times what they should be{half}."
    if np.allclose(np.sum(Z**2, axis=0), 1):
        return "The columns have length one: scale them by roots of eigenvalues."
    lam, A = np.linalg.eigh(centred(D**2) / -2)
    k = Z.shape[1]
    lam, A = lam[::-1][:k], A[:, ::-1][:, :k]
    roots = np.linalg.eigh(centred(D) / -2)
    unsquared = roots[1][:, ::-1][:, :k] * np.sqrt(roots[0][::-1][:k])
    causes = {
        "The columns are scaled by eigenvalues: take their roots.": A * lam,
        "The columns are divided by the roots: multiply by them.": A / np.sqrt(lam),
        "Square the distances first: these are points for D in place of D².": unsquared,
    }
    for diagnosis, wrong in causes.items():
        if np.allclose(found, cdist(wrong, wrong), rtol=1e-6):
            return diagnosis
    i, j = np.unravel_index(np.abs(found - D).argmax(), D.shape)
    return f"The distance of points {i} and {j} should be {D[i, j]:.3f} and is {found[i, j]:.3f}."


@exercise(
    "centering-11",
    "K and Φ have the same column space. When does J lose a dimension of it?",
    "J loses exactly the direction of 1. Is 1 in the column space?",
)
def does_the_rank_fall(answer: Any) -> None:
    mistakes = {
        (4, 3): "The other way round: J takes 1 away, where it is in the column space.",
        (3, 3): "J takes 1 away. In the second case 1 is not in the column space.",
        (4, 4): "In the first case 1 is in the column space, and J takes it away.",
        (9, 9): "n − 1 is the largest possible rank. These have rank 4 to begin with.",
        (2, 4): "Only one dimension is lost, though J stands on both sides.",
        (6, 6): "Those are dimensions of null spaces: give ranks.",
        (7, 6): "Those are dimensions of null spaces: give ranks.",
    }
    given = as_numbers(answer, 2)
    for wrong, diagnosis in mistakes.items():
        expect_not(given, wrong, diagnosis)
    expect_close(given, (3, 4))


@exercise(
    "centering-12",
    "The four towns alone have an exact map in space: a regular tetrahedron with the side 2.",
    "By symmetry the hub lands in its middle. How far is that from a corner?",
    "The corners (1, 1, 1), (1, −1, −1), (−1, 1, −1), (−1, −1, 1) have the side √8: scale them.",
)
def hub_with_four_towns(answer: Any) -> None:
    mistakes: dict[float, str] = {
        1: "That is what the table says, and no point in space is so near to all four.",
        2 / np.sqrt(3): "That is the middle of a triangle: there are four towns.",
        np.sqrt(1.8): "That adds a constant instead of clipping.",
        1.5: "That is the squared distance: take the root.",
        np.sqrt(1.5) / 2: "The side is 2, not 1.",
        np.sqrt(3): "That is a tetrahedron with the side √8: scale it to 2.",
        -0.4: "That is the negative eigenvalue. What is left when it is clipped?",
        0.4: "That is the negative eigenvalue. What is left when it is clipped?",
        2: "That is the distance between towns.",
        np.sqrt(2): "That flips the negative eigenvalue: clip it.",
    }
    expect_number(answer, np.sqrt(1.5), 3, mistakes)


@exercise(
    "centering-13",
    "Let c have the sum zero. Compare cᵀKc with cᵀMc, where M has the entries given.",
    "Three of the four terms of cᵀMc have a factor Σc.",
    "For the number: −|2 − 5| + |2 − 0| + |0 − 5| − 0.",
)
def origin_on_a_sample(answer: Any) -> None:
    mistakes: dict[float, str] = {
        -3: "That is κ itself.",
        -4: "The sign is wrong.",
        -10: "The two terms are taken away, and each is negative itself.",
        10: "The first term is κ(2, 5) = −3.",
        2: "Near: the value is twice the smaller of the two numbers.",
        -1: "Both κ(2, 0) and κ(0, 5) are taken away.",
    }
    expect_whole(answer, 4, mistakes)


@exercise(
    "centering-14",
    "Multiply out (x − y)⁴: five terms, each a power of x times a power of y.",
    "A term with x⁰ or y⁰ has a factor Σc, one with x¹ or y¹ a factor Σcx. Which is left?",
)
def fourth_powers_of_distances(answer: Any) -> None:
    mistakes: dict[float, str] = {
        96: "The kernel has a minus sign.",
        -48: "Each pair counts twice: K₁₂ and K₂₁.",
        -16: "That is −s²: the binomial coefficient is missing.",
        -24: "That is −6s: square s.",
        4: "That is s = Σcx².",
        0: "That is the value for (x − y)².",
    }
    expect_whole(answer, -96, mistakes)


@exercise(
    "centering-15",
    "Keep sums, not means: the sum of row i grows by κ(t, xᵢ).",
    "The last row is new: its mean is (Σᵢ κ(t, xᵢ) + κ(t, t))/(n + 1).",
    "The mean of all entries is the mean of the new row means.",
)
def means_after_one_more_sample(answer: Any) -> None:
    update = as_function(answer)
    for n in (3, 8):
        F = np.random.default_rng(n).standard_normal((n + 1, 3)) + 1
        K = F @ F.T
        old = K[:n, :n]
        given = update(old.mean(axis=1), float(old.mean()), K[n, :n].copy(), float(K[n, n]))
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise WrongAnswer("A pair is needed: the n + 1 means of rows, and the mean of all.")
        rows = as_array(given[0], (n + 1,))
        expect_not(
            rows,
            np.append((n * old.mean(axis=1) + K[n, :n]) / n, K[n].sum() / n),
            "Divide by n + 1: there is one sample more.",
        )
        expect_not(rows, K.sum(axis=1), "Those are sums: divide by n + 1.")
        if not np.allclose(rows[:n], K[:n].mean(axis=1)):
            raise WrongAnswer("The means of the old rows are not right.")
        if not np.isclose(rows[n], K[n].mean()):
            raise WrongAnswer("The mean of the new row is not right: κ(t, t) belongs to it.")
        expect_not(given[1], old.mean(), "The mean of all entries is still the old one.")
        once = (n * n * old.mean() + K[n].sum()) / (n + 1) ** 2
        expect_not(given[1], once, "The new values stand in K twice: in a row and in a column.")
        expect_close(given[1], K.mean(), "The mean of all entries is not right.")
