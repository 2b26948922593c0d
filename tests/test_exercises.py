"""Each checker takes the right answers, in every form that is right, and tells wrong ones apart."""

import sys
import warnings
from datetime import date

import numpy as np
import pytest
from matrices import LAUCHLI, orthonormal
from scipy import linalg, sparse

from kpca_edu.exercises import check, exercise_ids
from kpca_edu.exercises.checking import REGISTRY, exercise

NAN, ROOT = float("nan"), np.sqrt(2)


# --- answers to the exercises, made with NumPy and SciPy -----------------------------------------


def thin(A, r=2):
    """Return the r leading singular triples of A, as columns."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return U[:, :r], s[:r], Vt[:r].T


def terms(A):
    U, s, V = thin(A, np.linalg.matrix_rank(A))
    return np.einsum("ni,i,di->ind", U, s, V)


def terms_one_by_one(A):
    U, s, V = thin(A, np.linalg.matrix_rank(A))
    return [np.outer(-s[i] * U[:, i], -V[:, i]) for i in range(len(s))]


def without_smallest(A):
    U, s, V = thin(A, len(A))
    return (U[:, :-1] * s[:-1]) @ V[:, :-1].T


def without_largest(A):
    U, s, V = thin(A, len(A))
    return (U[:, 1:] * s[1:]) @ V[:, 1:].T


def longer_solution(A, b, rtol):
    inverse = np.linalg.pinv(A, rcond=rtol)
    return inverse @ b + (np.eye(A.shape[1]) - inverse @ A) @ np.ones(A.shape[1])


def ridge_solution(A, b, rtol):
    return np.linalg.solve(A.T @ A + 0.1 * np.eye(A.shape[1]), A.T @ b)


def polar_of(A):
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt


def not_transposed(A):
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt.T


def between(angle):
    """The best approximation of diag(2, 1, 1) that keeps one direction of the tied plane."""
    w = np.array([0.0, np.cos(angle), np.sin(angle)])
    return np.diag([2.0, 0.0, 0.0]) + np.outer(w, w)


def fails(*_):
    raise KeyError("oops")


V = np.array([[1.0, 1.0], [1.0, -1.0]]) / ROOT  # the right singular vectors of svd-3
FUNCTION_NEEDED = (np.eye(3), "function is needed")
FAILS = (fails, "raised KeyError: 'oops'")

# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "svd-1": (
        [5, 5.0, np.float64(5), np.array(5.0), 5 + 1e-9, np.linalg.norm([4, 3])],
        [(9, "sum"), (25, "square"), (4, "spectral"), (-5, ""), (5.001, ""), (NAN, "finite")]
        + [("five", "number is needed, not str"), ([5.0, 1.0], "number is needed"), (5j, "number")],
    ),
    "svd-2": (
        [255, 255.0, np.int64(255)],
        [(256, "more numbers"), (254, ""), (255.88, ""), (427, ""), (np.inf, "finite")],
    ),
    "svd-3": (
        [V, -V, V * [1, -1], V * [-1, 1], V.tolist(), V.round(8), V.round(3)],
        [(V[:, ::-1], "order"), (V * ROOT, "lengths"), (np.eye(2), "left"), (-np.eye(2), "left")]
        + [(V[0], "shape should be (2, 2)"), (V * NAN, "NaN"), (np.zeros((2, 2)), "lengths")]
        + [(orthonormal(2, 2), ""), (thin([[2, 2], [-1, 1]])[0], "left")],
    ),
    "svd-4": (
        [[[2, 2], [0, 0]], np.array([[2.0, 2.0], [0.0, 0.0]])],
        [([[0, 0], [-1, 1]], "leaves"), ([[1 / ROOT, 1 / ROOT], [0, 0]], "s₁ is missing")]
        + [
            ([[2, 2], [-1, 1]], ""),
            ([[2, 0], [2, 0]], ""),
            ([2, 2], "shape"),
            (np.zeros((2, 2)), ""),
        ],
    ),
    "svd-5": (
        [(3, 2), [3, 2], np.array([3, 2]), (3.0, 2.0)],
        [((2, 3), "other order"), ((3, 3), ""), ((2, 2), ""), (3, "shape"), ((3, 2, 1), "shape")]
        + [((NAN, 2), "NaN")],
    ),
    "svd-6": (
        [terms, terms_one_by_one, lambda A: terms(A).tolist()],
        [(lambda A: terms(A)[::-1], "first is not the leading"), FAILS, FUNCTION_NEEDED]
        + [(lambda A: np.array([A / len(terms(A))] * len(terms(A))), "first is not the leading")]
        + [(lambda A: terms(A)[:1].repeat(len(terms(A)), axis=0), "add up to A")]
        + [(lambda A: terms(A)[:2], "shape")]
        + [(lambda A: terms(A) / np.linalg.norm(terms(A), axis=(1, 2))[:, None, None], "s₁u₁v₁ᵀ")]
        + [(lambda A: np.zeros((min(A.shape), *A.shape)), "shape"), (lambda A: None, "shape")]
        + [(lambda A: terms(A) * NAN, "NaN"), (lambda A, B: A, "raised TypeError")]
        + [(terms(np.eye(3)), "function is needed")],
    ),
    "svd-7": (
        [between(0.3), between(np.pi / 4), between(-1.0), between(2.0)],
        [(between(0.0), "names"), (between(np.pi / 2), "names"), (np.diag([2, 1, 1]), "rank is 3")]
        + [(np.diag([2, 0.5, 0.5]), "rank is 3"), (np.diag([0, 1, 1]), "error is 2")]
        + [(np.diag([2, 0, 0]), "error is 1.4142"), (np.eye(2), "shape"), (between(NAN), "NaN")],
    ),
    "svd-8": (
        [np.linalg.svd(LAUCHLI * [[1], [1], [2]])[1][1], 1.5811e-9, 1.58114e-9],
        [(0, "small, not zero"), (0.0, "small"), (ROOT, "larger"), (2.5e-18, ""), (-1.5811e-9, "")]
        + [(1e-9, ""), (2e-9, ""), (1.6e-9, ""), (NAN, "finite"), ([1.4, 1.5811e-9], "number")],
    ),
    "svd-9": (
        [without_smallest, lambda A: without_smallest(A).tolist()],
        [(lambda A: A, "not singular"), (np.zeros_like, "nearer"), (without_largest, "nearer")]
        + [(lambda A: A[:-1], "shape"), (lambda A: A * NAN, "NaN"), FAILS, FUNCTION_NEEDED]
        + [(lambda A: A - A.min() * np.eye(len(A)), "not singular")],
    ),
    "svd-10": (
        [
            lambda A, b, rtol: np.linalg.pinv(A, rcond=rtol) @ b,
            lambda A, b, rtol: linalg.lstsq(A, b, cond=rtol, lapack_driver="gelsd")[0],
        ],
        [(longer_solution, "shorter"), (ridge_solution, "not orthogonal"), FAILS, FUNCTION_NEEDED]
        + [(lambda A, b, rtol: A.T @ b, "not orthogonal"), (lambda A, b, rtol: b, "")]
        + [(lambda A, b, rtol: np.linalg.pinv(A) @ b, "huge")]
        + [(lambda A, b, rtol: np.linalg.pinv(A, rtol) @ b[:, None], "shape")]
        + [(lambda A: A, "raised TypeError"), (lambda A, b, _: np.full(A.shape[1], NAN), "NaN")],
    ),
    "svd-11": (
        [np.diag([b, 0, 0]) for b in (1, 2.5, 4, 5)],
        [(np.diag([3, 0, 0]), "itself"), (np.zeros((3, 3)), "error is 3"), (np.eye(3), "rank is 3")]
        + [(np.diag([0.9, 0, 0]), "error is 2.1"), (np.diag([0, 2, 0]), "error is 3")]
        + [(np.diag([3, 1, 0]), "rank is 2"), ([3, 0, 0], "shape"), (np.full((3, 3), NAN), "NaN")],
    ),
    "svd-12": (
        [
            polar_of,
            lambda A: linalg.polar(A)[0],
            lambda A: linalg.orthogonal_procrustes(np.eye(len(A)), A)[0],
        ],
        [(lambda A: A, "not orthogonal"), (lambda A: np.eye(len(A)), "nearer"), FAILS]
        + [(lambda A: -polar_of(A), "nearer"), (not_transposed, "nearer"), FUNCTION_NEEDED]
        + [(lambda A: np.linalg.qr(A)[0], "nearer"), (lambda A: A[0], "shape")],
    ),
}
RIGHT = [(id, answer) for id, (right, _) in ANSWERS.items() for answer in right]
WRONG = [(id, answer, words) for id, (_, wrong) in ANSWERS.items() for answer, words in wrong]


class Hostile:
    """Raises at whatever is done with it."""

    def fail(self, *_, **__):
        raise RuntimeError("hostile")

    __float__ = __array__ = __len__ = __iter__ = __call__ = __eq__ = __bool__ = __repr__ = fail


STRANGE = {
    "None": None,
    "text": "no idea",
    "no text": "",
    "bytes": b"no idea",
    "NaN": NAN,
    "complex": 1j,
    "huge": 10**400,
    "boolean": True,
    "date": date(2020, 1, 1),
    "empty list": [],
    "ragged": [[1.0], [1.0, 2.0]],
    "dict": {"s": 5},
    "set": {5.0},
    "object": object(),
    "hostile": Hostile(),
    "generator": (i for i in range(3)),
    "object array": np.array([[None, "a"]], object),
    "4-D": np.ones((2, 2, 2, 2)),
    "NaN array": np.full((3, 3), NAN),
    "sparse": sparse.eye_array(3),
    "class": int,
    "takes nothing": lambda: 5,
    "gives nothing": lambda *_: None,
    "gives text": lambda *_: "text",
    "gives itself": lambda A, *_: A * NAN,
    "fails": fails,
    "calls itself": lambda *a: STRANGE["calls itself"](*a),
}


def said(verdict):
    """Return the message on one line."""
    return " ".join(verdict.message.split())


# --- tests ---------------------------------------------------------------------------------------


def test_every_exercise_is_in_the_table():
    """No checker goes untested, and each has right and wrong answers."""
    assert list(ANSWERS) == exercise_ids()
    assert all(len(right) >= 2 and len(wrong) >= 5 for right, wrong in ANSWERS.values())


@pytest.mark.parametrize(("id", "answer"), RIGHT, ids=[id for id, _ in RIGHT])
def test_right_answers(id, answer):
    """Every form of the right answer is accepted, without a hint."""
    verdict = check(id, answer)
    assert verdict.status == "right", verdict
    assert bool(verdict) is True
    assert repr(verdict) == f"✓ {id}: right."


@pytest.mark.parametrize(("id", "answer", "words"), WRONG, ids=[id for id, *_ in WRONG])
def test_wrong_answers(id, answer, words):
    """Typical mistakes are recognised and named; the first hint comes with them."""
    verdict = check(id, answer)
    assert verdict.status == "wrong", verdict
    assert bool(verdict) is False
    assert said(verdict).startswith(f"✗ {id}: ")
    finding = said(verdict).split("Hint 1")[0]
    assert words in finding


@pytest.mark.parametrize("answer", STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("id", ANSWERS)
def test_strange_answers_never_raise(id, answer):
    """Whatever comes as an answer, check returns a verdict, and it is "wrong"."""
    verdict = check(id, answer)
    assert verdict.status == "wrong"
    assert "Hint 1" in said(verdict)


@pytest.mark.parametrize("id", ANSWERS)
def test_no_answer_yet(id):
    """An answer left as ... or left out is "not yet": false, friendly, with a hint."""
    for verdict in (check(id, ...), check(id)):
        assert (verdict.status, bool(verdict)) == ("not yet", False)
        assert said(verdict).startswith(f"○ {id}: not yet")
        assert "Hint 1" in said(verdict)


@pytest.mark.parametrize("id", ANSWERS)
@pytest.mark.parametrize("asked", [-1, 0, 1, 2, 99])
def test_hints_come_as_many_as_asked_for(id, asked):
    """hints=0 gives none, hints=99 gives all; how to get one more is said while there is one."""
    hints = REGISTRY[id].hints
    shown, message = min(max(asked, 0), len(hints)), said(check(id, ..., hints=asked))
    assert len(hints) >= 2
    assert [hint in message for hint in hints] == [i < shown for i in range(len(hints))]
    assert message.count("Hint ") == shown
    assert (f'check("{id}", answer, hints={shown + 1})' in message) is (shown < len(hints))


def test_messages_fit_the_page():
    """No line is longer than 88 characters."""
    for id in ANSWERS:
        assert max(map(len, check(id, None, hints=99).message.splitlines())) <= 88


@pytest.mark.parametrize("id", ["svd-0", "svd", "", "SVD-1", 1, None])
def test_unknown_exercises(id):
    """An unknown name gets a ValueError that lists the known ones."""
    with pytest.raises(ValueError, match="There is no exercise") as caught:
        check(id, 1)
    assert repr(id) in str(caught.value)
    assert all(known in str(caught.value) for known in exercise_ids())


def test_exercises_can_not_be_registered_badly():
    """A name is given once, and there are two hints at least; a failed try leaves no trace."""
    before = exercise_ids()
    with pytest.raises(ValueError, match="Two exercises are called 'svd-1'"):
        exercise("svd-1", "a", "b")(print)
    with pytest.raises(ValueError, match="'new' needs at least two hints"):
        exercise("new", "a")(print)
    assert exercise_ids() == before


def test_the_list_of_exercises_is_a_copy():
    """Changing it doesn't change the registry."""
    exercise_ids().clear()
    assert exercise_ids() == list(ANSWERS)


# --- answers that look right to a careless checker -----------------------------------------------


def zeroes_its_argument(A):
    A *= 0
    return np.zeros((2, *A.shape))


SNEAKY = {
    "in place": ("svd-6", zeroes_its_argument),  # the checker compares with the changed A
    "nearly named": ("svd-7", np.diag([2.0005, 1.0, 0.0])),  # the error grows with the square only
    "nearly best": ("svd-7", np.diag([2.0, 0.99, 0.0])),
    "a rotation": (
        "svd-12",
        lambda A: polar_of(A) * [*[1] * (len(A) - 1), np.linalg.det(polar_of(A))],
    ),
    "complex": ("svd-5", np.array([3 + 1j, 2])),  # the imaginary part is dropped
    "text": ("svd-1", "5"),  # float("5") works, and so does float(b"5")
}


@pytest.mark.parametrize(("id", "answer"), SNEAKY.values(), ids=SNEAKY)
def test_sneaky_answers(id, answer):
    """These are wrong, though a careless comparison would pass them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as a reader's notebook would
        assert check(id, answer).status == "wrong"


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def raises_unspeakable(*_):
    raise Unspeakable


@pytest.mark.parametrize(
    "answer", [lambda *_: sys.exit(1), raises_unspeakable], ids=["exit", "mute"]
)
def test_leaving_never_raises(answer):
    """A function that exits, or fails without words, is a wrong answer like others."""
    try:
        status = check("svd-6", answer).status
    except BaseException as error:
        pytest.fail(f"check raised {type(error).__name__}")
    assert status == "wrong"
