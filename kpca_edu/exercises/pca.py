"""Checkers for the exercises of chapter 3: principal component analysis."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..pca import encoder_decoder_loss, fit_pca
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_number,
    as_numbers,
    exercise,
    expect_close,
    expect_directions,
    expect_not,
    expect_number,
    expect_numbers,
    expect_whole,
    in_order,
    linear_algebra,
    tolerance,
    without_labels,
)

FOUR_SAMPLES = np.array([[6.0, 5.0], [2.0, -3.0], [6.0, 0.0], [2.0, 2.0]])
FIRST = np.array([1.0, 2.0]) / np.sqrt(5)  # their first direction; the mean is (4, 1)


@exercise(
    "pca-1",
    "The scores are the columns of US: what is the squared length of the second one?",
    "The variance is s₂²/n.",
)
def variance_from_singular_value(answer: Any) -> None:
    mistakes = {
        100 / 24: "That divides by n − 1; this book divides by n.",
        100: "That is the squared length of the scores: divide by n.",
        10 / 25: "Square the singular value before you divide by n.",
        2: "That is the standard deviation.",
        225 / 25: "That is the first one.",
        25 / 25: "That is the third one.",
    }
    expect_number(answer, 4.0, 3, mistakes)


@exercise(
    "pca-2",
    "Variances are proportional to squared singular values.",
    "(s₁² + s₂²)/(s₁² + s₂² + s₃²).",
)
def share_of_two(answer: Any) -> None:
    mistakes = {
        25 / 30: "That adds singular values: square them first.",
        25 / 350: "That is the share that is lost.",
        np.sqrt(325 / 350): "That is the root of the share.",
        225 / 350: "That is the share of the first one alone.",
        100 / 350: "That is the share of the second one alone.",
    }
    expect_number(answer, 325 / 350, 3, mistakes, percent=True)


@exercise(
    "pca-3",
    "Subtract the mean (4, 1) first: what remains is ±(2, 4) and ±(2, −1).",
    "XᵀX of the centred samples is [[16, 12], [12, 34]]; its eigenvalue 40 has which eigenvector?",
    "It points along (1, 2): give it length one.",
)
def first_direction_by_hand(answer: Any) -> None:
    given = as_numbers(answer, 2)
    length = np.linalg.norm(given)
    if not np.isclose(length, 1, rtol=1e-2):
        raise WrongAnswer(f"A direction has length one, and yours has {length:.4g}.")
    for wrong, why in (
        (np.array([2.0, -1.0]) / np.sqrt(5), "That is the second direction."),
        (FIRST * [1, -1], "The two entries must have the same sign."),
        (
            fit_pca(FOUR_SAMPLES, 1, center=False).V[:, 0],
            "That is the first direction of the samples that were not centred.",
        ),
    ):
        if abs(given @ wrong) > length * (1 - 1e-5):
            raise WrongAnswer(why)
    if abs(given @ FIRST) > length * (1 - 1e-3):
        expect_directions(
            given[:, None], FIRST[:, None], "Close: three significant digits are asked for.", 6e-4
        )
        return
    raise WrongAnswer("")


@exercise(
    "pca-4",
    "Subtract the mean, take the inner product with the direction, multiply by it, add the mean.",
    "t − mean = (3, 1), and its score is √5.",
)
def reconstruct_a_new_sample(answer: Any) -> None:
    given = as_numbers(answer, 2)
    expect_not(given, [1, 2], "The mean is missing at the end.", digits=3)
    expect_not(given, [2.2, 4.4], "The mean is missing, when encoding and when decoding.", digits=3)
    expect_not(given, [6.2, 5.4], "The mean is missing when encoding.", digits=3)
    expect_not(given, [7, 2], "That is the sample itself: it is not on the line.", digits=3)
    expect_not(given, [6, 0], "That is the projection on the second direction.", digits=3)
    expect_numbers(given, [5, 3], 3)


@exercise(
    "pca-5",
    "Only the product ED enters the loss.",
    "Multiply the encoder by a number and divide the decoder by it.",
)
def another_optimal_pair(answer: Any) -> None:
    answer = list(answer.values()) if isinstance(answer, Mapping) else answer
    pair = isinstance(answer, tuple | list) or (isinstance(answer, np.ndarray) and answer.size == 4)
    if not pair or len(answer) != 2:
        raise WrongAnswer("A pair (E, D) is needed.")
    E = as_numbers(answer[0], 2)[:, None]
    D = as_numbers(answer[1], 2)[None]
    if np.isclose(np.linalg.norm(E), 1, rtol=1e-3):
        raise WrongAnswer("Your encoder has length one: the exercise asks for another.")
    X_c = FOUR_SAMPLES - FOUR_SAMPLES.mean(axis=0)
    loss = encoder_decoder_loss(X_c, E, D)
    if loss <= 10 * (1 + 1e-3):
        return
    why = f"Its loss is {loss:.4f}, and 10 can be had."
    if _along_first(E.ravel()):
        why += " The encoder is right" + (
            ": what must the decoder be multiplied by?"
            if _along_first(D.ravel())
            else ", the decoder is not."
        )
    raise WrongAnswer(why)


def _along_first(v: NDArray) -> bool:
    """Tell whether a vector lies along the first direction, to three digits."""
    return bool(abs(v @ FIRST) > (1 - 1e-6) * np.linalg.norm(v) > 0)


@exercise(
    "pca-6",
    "They lie in the span of the centred samples. What is its largest dimension?",
    "The centred samples add up to zero, so one of them is a combination of the others.",
)
def how_many_directions(answer: Any) -> None:
    mistakes: dict[float, str] = {
        30: "The 30 centred samples are not independent: they add up to zero.",
        31: "Centring takes one away, and doesn't add one.",
        999: "Count samples, not features.",
        1000: "Most of the 1,000 eigenvalues are zero.",
        970: "That counts the eigenvalues that are zero.",
        971: "That counts the eigenvalues that are zero.",
    }
    expect_whole(answer, 29, mistakes)


IRIS = ("sepal length", "sepal width", "petal length", "petal width")


def _texts(answer: Any) -> list[str]:
    """Return a list of texts in small letters, without signs and doubled spaces."""
    if isinstance(answer, Mapping):
        answer = in_order(answer)
    if isinstance(answer, str):
        answer = re.split("[,;\n]", answer)
    if isinstance(answer, np.ndarray):
        answer = answer.ravel()
    if not isinstance(answer, list | tuple | np.ndarray):
        raise WrongAnswer("A list of texts is needed.")
    items = list(answer)
    if not all(isinstance(item, str) for item in items):
        raise WrongAnswer("Each entry of the list is a text, in quotation marks.")
    items = without_labels(items)
    for sign in "_-()[].\"'":
        items = [item.replace(sign, " ") for item in items]
    return [" ".join(item.lower().split()) for item in items]


@exercise(
    "pca-7",
    "(a) and (b) are about angles between arrows, (c) is about perpendiculars.",
    "Nearly the same means: nearly along each other. Nearly uncorrelated: a right angle.",
    "(c) Prolong each arrow backwards too. On which line is the star's foot furthest back?",
)
def read_a_biplot(answer: Any) -> None:
    given = [name.removesuffix(" cm") for name in _texts(answer)]
    if len(given) != 3:
        raise WrongAnswer(f"Three names are needed, and you gave {len(given)}.")
    unknown = [name for name in given if name not in IRIS]
    if unknown:
        raise WrongAnswer(f"No column is called {unknown[0]!r}; they are {', '.join(IRIS)}.")
    if given[0] == "petal length":
        raise WrongAnswer("(a) asks for another column that says the same.")
    if given[0] != "petal width":
        raise WrongAnswer("(a) Another arrow lies closer to that of petal length.")
    if given[1] == "sepal width":
        raise WrongAnswer("(b) A column is never uncorrelated with itself.")
    if given[1] != "sepal length":
        raise WrongAnswer("(b) That angle is well above 90°: the correlation is negative.")
    if given[2] == "sepal length":
        raise WrongAnswer("(c) It is below the mean there, but further below in another column.")
    if given[2] != "sepal width":
        raise WrongAnswer("(c) The star is nearly at right angles to that arrow: about average.")


@exercise(
    "pca-8",
    "Ask of each table: do the columns have one unit? And should a column that varies more count "
    "for more?",
    "Three of the five are to be standardised.",
)
def scale_or_not(answer: Any) -> None:
    if isinstance(answer, list | tuple | set | np.ndarray) and not np.size(list(answer)):
        raise WrongAnswer("Some of the tables should be standardised.")
    letters = set(as_letters(answer, "abcde"))
    if letters == set("abcde"):
        raise WrongAnswer("Not all: where columns share a unit, their spread can be the message.")
    for letter, why in (
        ("a", "(a) Pixels share a unit. Scaled, those at the rim that hardly vary count as much."),
        ("c", "(c) All are in °C, and where temperature varies most is what was asked."),
    ):
        if letter in letters:
            raise WrongAnswer(why)
    for letter, why in (
        ("b", "(b) Euros, centimetres and years: what rules is the column of small units."),
        ("d", "(d) These units can't even be compared, and choosing others changes the result."),
        ("e", "(e) One unit, but each column is meant to count alike. What would rule otherwise?"),
    ):
        if letter not in letters:
            raise WrongAnswer(why)


@exercise(
    "pca-9",
    "Write X = X_c + 1mᵀ with the mean m, and multiply out XᵀX; what is X_cᵀ1?",
    "v₁ and v₂ stay eigenvectors. Only the eigenvalue that belongs to v₂ grows, by ‖mean‖².",
    "The eigenvalues are 2 and 1 + 3².",
)
def a_share_that_is_too_good(answer: Any) -> None:
    mistakes = {
        2 / 3: "That is the share after centring; or the length of the mean was not squared.",
        82 / 84: "That is for the mean 9 v₂: now it is 3 v₂.",
        9 / 12: "That is the mean alone: the variance along v₂ is still there.",
        2 / 12: "That is the share of v₁: another direction comes first now.",
        11 / 12: "The mean lies along v₂, and you added it to the variance along v₁.",
        10 / 11: "The variance along v₁ is missing in the total, or counted once only.",
        9 / 11: "The variance along v₂ grows by ‖mean‖², it is not replaced.",
        1 / 3: "That is the share of v₂ after centring.",
    }
    expect_number(answer, 10 / 12, 3, mistakes, percent=True)


def _refuse_large(calls: list[tuple[str, tuple[int, ...]]], n: int) -> None:
    """Refuse SVDs, and eigenproblems larger than n×n."""
    for name, shape in calls:
        if name in ("svd", "svdvals", "svds"):
            raise WrongAnswer("That takes an SVD: use eigenvectors of an n×n matrix.")
        if name.startswith("eig") and len(shape) == 2 and shape[0] > n:
            size = f"{shape[0]}×{shape[0]}"
            raise WrongAnswer(f"That takes eigenvectors of a {size} matrix; n×n is {n}×{n}.")


@contextmanager
def _memory_below(limit: float, why: str) -> Iterator[None]:
    """Refuse, afterwards, what has held more than so many bytes at any time."""
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()
    if peak > limit:
        raise WrongAnswer(why)


@exercise(
    "pca-10",
    "Centre X, form K = XcXcᵀ, take its leading eigenvectors a, and combine the samples: Xcᵀa.",
    "‖Xcᵀa‖² is the eigenvalue, for a unit eigenvector a: divide by the root.",
    "lam, a = np.linalg.eigh(Xc @ Xc.T), turned round; return Xc.T @ (a / np.sqrt(lam)).",
)
def directions_of_wide_data(answer: Any) -> None:
    directions = as_function(answer)
    for seed, (n, d, k) in enumerate([(6, 40, 2), (10, 1000, 3)]):
        X = np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(1, 3, n)[:, None] + 1
        limit = 0.9 * 8 * d**2 if d >= 1000 else np.inf  # a small d×d matrix can't be told
        why = f"That forms a d×d matrix, here {d}×{d}: K = XcXcᵀ is only n×n."
        with linear_algebra() as calls, _memory_below(limit, why):
            given = directions(X.copy(), k)
        _refuse_large(calls, n)
        given = as_array(given, (d, k))
        lengths = np.linalg.norm(given, axis=0)
        if not np.allclose(lengths, 1, rtol=1e-3):
            raise WrongAnswer(f"The columns have lengths {lengths.round(3)}: they should be 1.")
        for wrong, why in (
            (fit_pca(X, k, center=False).V, "The data have not been centred."),
            (
                fit_pca(X, n - 1).V[:, ::-1][:, :k],
                "Those have the smallest variances: turn the order.",
            ),
            (fit_pca(X, k).V[:, ::-1], "Right, in the wrong order: largest variance first."),
        ):
            if np.allclose(np.abs(np.sum(wrong * given, axis=0)), 1, rtol=1e-6):
                raise WrongAnswer(why)
        expect_directions(given, fit_pca(X, k, solver="svd").V)


LARGE = 300  # entries from which an array counts as "X made dense": a row or a column has fewer


def _refuse(*_: Any, **__: Any) -> None:
    raise WrongAnswer("Your function makes the sparse matrix dense: multiply with it instead.")


class _StaysSparse:
    """Mixed into a sparse matrix: it and its transpose and copies refuse to be made dense.

    A row or a column may be; and products may be as large as that.
    """

    shape: tuple[int, int]
    _looks = 0

    def __getitem__(self, key: Any) -> Any:
        self._looks += 1
        if self._looks > 5 * LARGE:  # entry by entry; there may be a few for each row or column
            _refuse()
        return _watched(super().__getitem__(key))  # type: ignore[misc]

    def __array__(self, *_: Any, **__: Any) -> None:
        _refuse()

    def __matmul__(self, other: Any) -> Any:
        columns = np.shape(other)[1] if np.ndim(other) == 2 else 1
        if not sparse.issparse(other) and self.shape[0] * columns > LARGE:
            _refuse()
        return _watched(super().__matmul__(other))  # type: ignore[misc]

    def __rmatmul__(self, other: Any) -> Any:
        rows = np.shape(other)[0] if np.ndim(other) == 2 else 1
        if not sparse.issparse(other) and self.shape[1] * rows > LARGE:
            _refuse()
        return _watched(super().__rmatmul__(other))  # type: ignore[misc]

    dot = __matmul__


def _same(name: str) -> Callable[..., Any]:
    """Return a method that does what the sparse matrix does, and watches what comes out."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return _watched(getattr(super(_StaysSparse, self), name)(*args, **options))

    return method


def _dense(name: str) -> Callable[..., Any]:
    """Return a method that makes a small part of the matrix dense, and refuses a large one."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        if self.shape[0] * self.shape[-1] > LARGE:
            _refuse()
        return getattr(super(_StaysSparse, self), name)(*args, **options)

    return method


FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
for _name in (*(f"to{format}" for format in FORMATS), "asformat", "astype", "copy", "transpose"):
    setattr(_StaysSparse, _name, _same(_name))
for _name in ("toarray", "todense"):
    setattr(_StaysSparse, _name, _dense(_name))
_CLASSES = {
    kind: type(f"_Watched{kind.__name__}", (_StaysSparse, kind), {})
    for kind in (getattr(sparse, f"{format}_array") for format in FORMATS)
}


def _watched(A: Any) -> Any:
    """Return a sparse matrix that watches itself; anything else as it is."""
    if isinstance(A, _StaysSparse) or type(A) not in _CLASSES:
        return A
    twin: Any = object.__new__(_CLASSES[type(A)])
    twin.__dict__.update(A.__dict__)
    return twin


@exercise(
    "pca-11",
    "The mean m of the rows is Xᵀ1/n, and Xc v = Xv − (mᵀv)1.",
    "With y = Xc v, the product Xcᵀy is Xᵀy − m (the sum of y).",
)
def multiply_with_centred_sparse(answer: Any) -> None:
    product = as_function(answer)
    for seed, (n, d) in enumerate([(60, 8), (8, 60)]):
        rng = np.random.default_rng(seed)
        dense = np.where(rng.random((n, d)) < 0.3, rng.standard_normal((n, d)) + 2, 0)
        v = rng.standard_normal(d)
        given = as_array(np.ravel(product(_watched(sparse.csr_array(dense)), v.copy())), (d,))
        Xc = dense - dense.mean(axis=0)
        expect_not(given, dense.T @ dense @ v, "That is XᵀXv: X has not been centred.")
        expect_not(given, Xc.T @ Xc @ v / n, "That is Cv: don't divide by n.")
        y = dense @ v - dense.mean(axis=0) @ v
        expect_not(
            given,
            dense.T @ y - dense.mean(axis=0) * np.sum(dense @ v),
            "The sum is that of the centred Xc v, not of Xv.",
        )
        expect_close(given, Xc.T @ y)
    n, d = 200, 210
    rng = np.random.default_rng(2)
    X = sparse.random_array((n, d), density=0.01, format="csr", rng=rng)
    with _memory_below(0.6 * 8 * n * d, "Right, but it holds all n×d centred entries at once."):
        product(_watched(X), np.ones(d))


@exercise(
    "pca-12",
    "Fix j and use the lemma on sums of squares about any point, with b = zⱼ.",
    "Σᵢ‖zᵢ − zⱼ‖² = ‖Z‖²_F + n‖zⱼ‖²; now add over j.",
    "The sum is 2n‖Z‖²_F, and ‖X_cV_k‖²_F is the sum of the first k squares of s.",
)
def distances_that_are_kept(answer: Any) -> None:
    kept = as_function(answer)
    for n, s, k in (
        (50, [4.0, 2.0, 1.0, 0.5], 2),
        (7, [3.0, 2.5, 1.0, 0.5], 3),
        (12, [5.0, 1.0], 1),
    ):
        squares = sum(value**2 for value in s[:k])
        given = as_number(kept(np.array(s), n, k))
        for wrong, why in (
            (n * squares, "That counts each pair once: ordered pairs count twice."),
            (
                2 * (n - 1) * squares,
                "Pairs with i = j contribute nothing, but the factor is not 2(n − 1).",
            ),
            (n**2 * squares, "That has n²: the sum over j of ‖Z‖²_F gives only one factor n."),
            (2 * n * sum(s[:k]), "Squares of the singular values are needed."),
            (2 * n * sum(value**2 for value in s), "That is the sum before the projection."),
            (2 * n * sum(value**2 for value in s[k:]), "That is what the projection loses."),
            (2 * squares, "The factor n is missing."),
        ):
            expect_not(given, wrong, why)
        expect_close(given, 2 * n * squares)


@exercise(
    "pca-13",
    "Whiten the scores, then turn them back by Vᵀ.",
    "X_c V Λ^(−1/2) Vᵀ, with all d directions.",
)
def whitening_that_changes_least(answer: Any) -> None:
    whiten = as_function(answer)
    for seed, (n, d) in enumerate([(30, 3), (50, 5)]):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 3
        given = as_array(whiten(X.copy()), (n, d))
        mean = given.mean(axis=0)
        if np.abs(mean).max() > 0.01 and np.allclose(np.cov(given.T, bias=True), np.eye(d)):
            raise WrongAnswer("It is white, but its mean is not 0: subtract that of X.")
        covariance = given.T @ given / n
        if np.allclose(covariance * n / (n - 1), np.eye(d), rtol=1e-6):
            raise WrongAnswer("Its covariance is the identity with 1/(n − 1); take 1/n.")
        U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        expect_not(given, U @ Vt, "Its scatter matrix is the identity; the covariance has 1/n.")
        expect_not(given, U * s, "Those are the scores: divide by the standard deviations.")
        right = np.sqrt(n) * U @ Vt
        if np.abs(given - right).max() > tolerance(right, 3):
            expect_close(covariance, np.eye(d), "What your function returns is not white.")
        expect_close(given, right, "It is white, but another turn of it is nearer to the data.")
