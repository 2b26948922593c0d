"""Bad input gets a ValueError that names what came and what to do; unusual good input is taken."""

from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kpca_edu._engine.checks import (
    check_columns,
    check_scores,
    choice,
    column_names,
    component_count,
    data_matrix,
    flag,
    fraction,
    generator,
    linear_map,
    number,
    row_folds,
    singular_values,
    tell,
    tolerance,
    whole_number,
)
from kpca_edu._engine.products import finite, length
from kpca_edu.compare import align_signs, same_subspace, subspace_angles
from kpca_edu.pca import centered_operator, fit_pca
from kpca_edu.power_method import (
    power_iteration,
    subspace_iteration,
    svd_by_deflation,
    svd_by_projection,
)
from kpca_edu.sketching import randomized_svd
from kpca_edu.svd import (
    choose_rank,
    frobenius_norm,
    full_svd,
    is_svd,
    low_rank,
    low_rank_error,
    projector,
    relative_error,
    svd_by_maximization,
    svd_via_gram,
    thin_svd,
)

GOOD, ONE = np.eye(2), np.ones((2, 1))
S = [2.0, 1.0]

# function of a matrix, with the name that its messages give to the argument
MATRIX_ARGUMENTS = {
    "data_matrix": ("X", data_matrix),
    "thin_svd": ("A", thin_svd),
    "full_svd": ("A", full_svd),
    "svd_via_gram": ("A", svd_via_gram),
    "svd_by_maximization": ("A", svd_by_maximization),
    "is_svd": ("A", lambda A: is_svd(A, GOOD, [1.0, 1.0], GOOD)),
    "frobenius_norm": ("A", frobenius_norm),
    "low_rank": ("A", lambda A: low_rank(A, 1)),
    "projector": ("U", projector),
    "align_signs U": ("U", lambda U: align_signs(U, GOOD)),
    "align_signs V": ("V", lambda V: align_signs(GOOD, V)),
    "subspace_angles U": ("U", lambda U: subspace_angles(U, GOOD)),
    "subspace_angles V": ("V", lambda V: subspace_angles(GOOD, V)),
    "same_subspace U": ("U", lambda U: same_subspace(U, GOOD)),
    "same_subspace V": ("V", lambda V: same_subspace(GOOD, V)),
}
# what came, what the message must say about it; {name} is the argument's name
BAD_MATRICES = {
    "NaN": (
        [[1.0, np.nan], [0.0, np.nan]],
        ["{name}", "NaN", "2 in all", "[0, 1]", "Drop", "fill"],
    ),
    "infinity": (
        [[1.0, 0.0], [-np.inf, 0.0]],
        ["{name}", "infinity", "1 in all", "[1, 0]", "Drop"],
    ),
    "None inside": ([[1.0, None]], ["{name}", "NaN", "[0, 1]", "Drop"]),
    "complex": ([[1.0, 1j]], ["{name} is complex", "real", "{name}.real"]),
    "text": ([["a", "b"]], ["{name}", "not numbers", "text", "Encode or drop"]),
    "numbers as text": ([["1", "2"]], ["{name}", "not numbers", "text", "Encode or drop"]),
    "bytes": (np.array([[b"1"]]), ["{name}", "not numbers", "Encode or drop"]),
    "dates": (np.array([["2020-01-01"]], "M8[D]"), ["{name}", "not numbers", "dates"]),
    "objects": (np.array([[1.0, object()]], object), ["{name}", "not numbers", "Encode or drop"]),
    "mixed text": (np.array([[1.0, "red"]], object), ["{name}", "not numbers", "Encode or drop"]),
    "a dict": ({"x": 1}, ["{name}", "not numbers"]),
    "no rows": (np.empty((0, 3)), ["{name} is empty", "(0, 3)", "at least one row"]),
    "a number": (3.0, ["{name} is 0-D", "()", "matrix"]),
    "nothing": (None, ["{name} is 0-D", "()", "matrix"]),
    "empty list": ([], ["{name} is 1-D", "(0,)"]),
    "1-D": ([1.0, 2.0, 3.0], ["{name} is 1-D", "(3,)", "{name}.reshape(-1, 1)", "reshape(1, -1)"]),
    "3-D": (np.ones((2, 1, 2)), ["{name} is 3-D", "(2, 1, 2)", "2-D", "Reshape"]),
    "ragged": ([[1.0, 2.0], [3.0]], ["{name}", "different lengths", "Fill the gaps"]),
    "sparse matrix": (sparse.csr_matrix(GOOD), ["{name} is a sparse", "{name}.toarray()"]),
    "sparse array": (sparse.coo_array(GOOD), ["{name} is a sparse", "{name}.toarray()"]),
}

VALUES = {
    "singular_values": singular_values,
    "low_rank_error": lambda s: low_rank_error(s, 1),
    "relative_error": lambda s: relative_error(s, 1),
    "choose_rank": lambda s: choose_rank(s, 0.1),
    "is_svd": lambda s: is_svd(GOOD, GOOD, s, GOOD),
}
BAD_VALUES = {
    "rising": ([1.0, 2.0], ["s", "falling order", "np.sort(s)[::-1]"]),
    "negative": ([1.0, -1.0], ["s", "non-negative", "thin_svd(A).s"]),
    "NaN": ([1.0, np.nan], ["s", "NaN", "[1]"]),
    "infinite": ([np.inf, 1.0], ["s", "infinity", "[0]"]),
    "complex": ([1j], ["s is complex", "s.real"]),
    "text": (["a"], ["s", "not numbers"]),
    "diagonal matrix": (np.diag(S), ["s", "(2, 2)", "1-D", "np.diag(s)"]),
    "a number": (3.0, ["s", "()", "1-D", "thin_svd(A).s"]),
    "ragged": ([[1.0], [1.0, 2.0]], ["s", "different lengths"]),
    "sparse": (sparse.csr_matrix(GOOD), ["s is a sparse", "s.toarray()"]),
}

COUNTS = {  # function of k for a 3×2 matrix, and what it says that is needed
    "component_count": (lambda k: component_count(k, 2, "a 3×2 matrix"), "from 0 to 2"),
    "low_rank": (lambda k: low_rank(np.eye(3, 2), k), "from 0 to 2"),
    "truncate": (lambda k: thin_svd(np.eye(3, 2)).truncate(k), "from 0 to 2"),
    "low_rank_error": (lambda k: low_rank_error(S, k), "from 0 up"),
    "relative_error": (lambda k: relative_error(S, k), "from 0 up"),
}
BAD_COUNTS = [1.0, 1.5, True, False, np.True_, "1", None, [1], np.nan, 1j, np.float64(1)]

BOUNDS = {
    "fraction": lambda bound: fraction(bound, "max_relative_error"),
    "choose_rank": lambda bound: choose_rank(S, bound),
}
BAD_BOUNDS = [-0.01, 1.01, 5, np.nan, np.inf, "0.05", None, [0.05], 0.5j]

NEEDED = "U needs shape (2, 1)"
OTHERS = {
    "k too large": (lambda: low_rank(np.eye(3, 2), 3), ["k=3", "a 3×2 matrix", "at most 2 exist"]),
    "k negative": (lambda: low_rank(np.eye(3, 2), -1), ["k=-1", "a 3×2 matrix", "at least 0"]),
    "truncate far": (lambda: thin_svd(np.eye(3, 2)).truncate(9), ["k=9", "3×2", "at most 2 exist"]),
    "k below least": (lambda: component_count(0, 5, "it", least=1), ["k=0", "it", "at least 1"]),
    "rank negative": (lambda: low_rank_error(S, -1), ["k=-1", "whole number from 0 up"]),
    "rank negative ": (lambda: relative_error(S, -2), ["k=-2", "whole number from 0 up"]),
    "unknown norm": (
        lambda: low_rank_error(S, 1, norm="max"),
        ["'max'", '"frobenius"', '"spectral"'],
    ),
    "norm None": (lambda: low_rank_error(S, 1, norm=None), ["None", '"frobenius"', '"spectral"']),
    "norm a list": (
        lambda: low_rank_error(S, 1, norm=["spectral"]),
        ["['spectral']", '"frobenius"'],
    ),
    "not unit": (
        lambda: projector(2 * GOOD),
        ["U", "not orthonormal", "by 3", "np.linalg.qr(U)[0]"],
    ),
    "not orthogonal": (lambda: projector([[1.0, 0.6], [0.0, 0.8]]), ["by 0.6", "np.linalg.qr"]),
    "too many": (lambda: projector(np.eye(1, 2)), ["not orthonormal", "by 1"]),
    "zero column": (lambda: projector([[0.0], [0.0]]), ["not orthonormal", "by 1"]),
    "signs of a transpose": (lambda: align_signs(ONE, ONE.T), ["U is 2×1", "V is 1×2", "shapes"]),
    "signs of fewer": (lambda: align_signs(GOOD, ONE), ["U is 2×2", "V is 2×1", "shapes agree"]),
    "angles, height": (
        lambda: subspace_angles(GOOD, np.eye(3)),
        ["U is 2×2", "V is 3×3", "different spaces", "same number of rows"],
    ),
    "subspaces, height": (
        lambda: same_subspace(np.ones((4, 1)), ONE),
        ["U is 4×1", "V is 2×1", "different spaces", "same number of rows"],
    ),
    "V transposed": (lambda: is_svd(GOOD, ONE, [1.0], ONE.T), ["V (1, 2)", NEEDED, "transpose"]),
    "U too short": (lambda: is_svd(GOOD, [[1.0]], [1.0], ONE), ["U (1, 1)", NEEDED]),
    "too many values": (lambda: is_svd(GOOD, ONE, S, ONE), ["2 singular values", "shape (2, 2)"]),
    "U flat": (lambda: is_svd(GOOD, [1.0, 0.0], [1.0], ONE), ["U (2,)", NEEDED]),
}


def assert_teaches(call, words):
    """Assert that the call raises a ValueError whose message is a sentence with all the words."""
    with pytest.raises(ValueError, match=".") as caught:
        call()
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert message.endswith(".")
    assert caught.value.__cause__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize(("name", "function"), MATRIX_ARGUMENTS.values(), ids=MATRIX_ARGUMENTS)
def test_bad_matrices(name, function):
    """Every function refuses what is no finite real matrix, in words about that argument."""
    for bad, words in BAD_MATRICES.values():
        assert_teaches(partial(function, bad), [word.format(name=name) for word in words])


@pytest.mark.parametrize("function", MATRIX_ARGUMENTS)
def test_matrices_without_columns(function):
    """No columns are refused, except by projector: nothing spans the origin, and P = 0."""
    name, call = MATRIX_ARGUMENTS[function]
    if function == "projector":
        assert np.array_equal(call(np.empty((3, 0))), np.zeros((3, 3)))
    else:
        assert_teaches(lambda: call(np.empty((3, 0))), [f"{name} is empty", "(3, 0)", "one column"])


@pytest.mark.parametrize("function", VALUES.values(), ids=VALUES)
def test_bad_singular_values(function):
    """Every function of s refuses what can be no singular values."""
    for bad, words in BAD_VALUES.values():
        assert_teaches(partial(function, bad), words)


@pytest.mark.parametrize(("function", "needed"), COUNTS.values(), ids=COUNTS)
def test_bad_counts(function, needed):
    """k must be a whole number: floats, booleans, text and the like are named in the message."""
    for bad in BAD_COUNTS:
        assert_teaches(partial(function, bad), [f"k={bad!r}", "a whole number", needed])


@pytest.mark.parametrize("function", BOUNDS.values(), ids=BOUNDS)
def test_bad_bounds(function):
    """A relative error lies between 0 and 1."""
    for bad in BAD_BOUNDS:
        words = [f"max_relative_error={bad!r}", "from 0 to 1", "0.05 for 5 %"]
        assert_teaches(partial(function, bad), words)


@pytest.mark.parametrize(("call", "words"), OTHERS.values(), ids=OTHERS)
def test_other_bad_arguments(call, words):
    """Numbers out of range, unknown names and shapes that don't fit are named in the message."""
    assert_teaches(call, words)


# --- what looks like numbers and is not ----------------------------------------------------------

SNEAKY = {
    "is_svd: complex U": (
        lambda: is_svd([[1.0]], np.array([[1 + 1j]]), [1.0], [[1.0]]),
        ["U is complex"],
    ),
    "is_svd: text U": (lambda: is_svd([[1.0]], [["a"]], [1.0], [[1.0]]), ["U", "not numbers"]),
    "is_svd: sparse V": (
        lambda: is_svd([[1.0]], [[1.0]], [1.0], sparse.csr_matrix([[1.0]])),
        ["V is a sparse", "V.toarray()"],
    ),
    "is_svd: ragged V": (lambda: is_svd([[1.0]], [[1.0]], [1.0], [[1], [1, 2]]), ["V", "lengths"]),
    "huge integers": (lambda: thin_svd([[10**400]]), ["A", "too large"]),
    "text in objects": (lambda: thin_svd(np.array([["1.5", 2.0]], object)), ["A", "not numbers"]),
    "structured": (lambda: thin_svd(np.zeros((2, 2), [("a", float)])), ["A", "not numbers"]),
    "masked": (lambda: thin_svd(np.ma.masked_equal([[1.0, 9.0]], 9.0)), ["A", "mask"]),
    "rtol NaN": (lambda: thin_svd(GOOD, rtol=np.nan), ["rtol=nan"]),
    "rtol negative": (lambda: thin_svd(GOOD, rtol=-1.0), ["rtol=-1.0"]),
    "rtol text": (lambda: thin_svd(GOOD, rtol="a"), ["rtol='a'"]),
    "bound True": (lambda: choose_rank(S, True), ["max_relative_error=True"]),
    "U huge": (lambda: projector([[1e200], [1e200]]), ["U", "not orthonormal"]),
    "U 0×0": (lambda: projector(np.empty((0, 0))), ["U is empty", "(0, 0)"]),
}


@pytest.mark.parametrize(("call", "words"), SNEAKY.values(), ids=SNEAKY)
def test_sneaky_input(call, words):
    """Input that looks like numbers and is not gets its sentence too."""
    assert_teaches(call, words)


# --- good, if unusual ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "A",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [[True, False]],
        np.array([[Fraction(1, 2), Decimal("0.25")]], object),
        np.ones((1, 1)),
        np.ones((2, 3), np.float32),
        np.ones((2, 3), np.uint8),
        np.asfortranarray(np.ones((2, 3))),
        np.broadcast_to(1.0, (2, 3)),
        [np.ones(3), np.zeros(3)],
        np.full((2, 2), 5e-324),
        np.full((2, 2), 1e300),
    ],
    ids=repr,
)
def test_good_matrices(A):
    """Lists, tuples, booleans, fractions, read-only views and extreme sizes are matrices."""
    matrix = data_matrix(A)
    assert matrix.ndim == 2
    assert matrix.dtype.kind == "f"
    assert np.array_equal(matrix, np.array(A, float))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_passed_on_without_a_copy(dtype):
    """Floats keep their precision and their memory."""
    A = np.ones((2, 2), dtype)
    assert data_matrix(A) is A


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, object, np.float16, np.longdouble])
def test_all_else_becomes_double(dtype):
    """Integers, booleans, half and extended precision become doubles."""
    assert data_matrix(np.ones((2, 2), dtype)).dtype == np.float64


@pytest.mark.parametrize("k", [0, 2, np.int64(1), np.uint8(2), np.int8(2)], ids=repr)
def test_good_counts(k):
    """Both ends are allowed, and NumPy's integers become Python's."""
    assert type(component_count(k, 2, "it")) is int
    assert low_rank(np.eye(3, 2), k).shape == (3, 2)
    assert low_rank_error(S, k) >= 0


@pytest.mark.parametrize("bound", [0, 1, 0.0, 1.0, np.float32(0.5), Fraction(1, 2)], ids=repr)
def test_good_bounds(bound):
    """Both ends are allowed, and every kind of real number."""
    assert type(fraction(bound, "x")) is float
    assert choose_rank(S, bound) in (0, 1, 2)


@pytest.mark.parametrize("s", [[], [0.0], [1, 1], (2, 1, 0), np.array([2.0, 1.0], np.float32)])
def test_good_singular_values(s):
    """No values, zeros, ties, integers and single precision are singular values."""
    assert np.array_equal(singular_values(s), np.array(s, float))


def test_orthonormality_is_judged_at_the_precision_of_U():
    """Single-precision columns pass, and so do integer ones."""
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((9, 4)))[0]
    assert projector(U.astype(np.float32)).dtype == np.float32
    assert np.array_equal(projector([[0, 1], [1, 0]]), np.eye(2))


# --- numbers, names and columns ------------------------------------------------------------------

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
CHECKS = {
    "flag 1": (lambda: flag(1, "center"), ["center=1", "True or False"]),
    "flag text": (lambda: flag("yes", "center"), ["center='yes'", "True or False"]),
    "flag None": (lambda: flag(None, "clip"), ["clip=None"]),
    "choice list": (lambda: choice(["a"], "side", ["a", "b"]), ["side=['a']", '"a", "b"']),
    "choice None": (lambda: choice(None, "side", ["a", "b"]), ["side=None", "choose one of"]),
    "rng text": (lambda: generator("seed"), ["rng='seed'", "seed", "NumPy generator"]),
    "rng negative": (lambda: generator(-1), ["rng=-1", "from 0 up"]),
    "rng float": (lambda: generator(0.5), ["rng=0.5"]),
    "rng True": (lambda: generator(True), ["rng=True"]),
    "rng legacy": (lambda: generator(np.random.RandomState(0)), ["NumPy generator"]),
    "folds float": (lambda: row_folds(5, 2.5, 0), ["folds=2.5", "whole number from 2"]),
    "folds one": (lambda: row_folds(5, 1, 0), ["folds=1", "from 2 up"]),
    "folds many": (lambda: row_folds(5, 6, 0), ["folds=6 of 5 rows", "at most 5"]),
    "tol NaN": (lambda: tolerance(np.nan), ["tol=nan", "from 0 up", "such as 1e-8"]),
    "steps": (lambda: whole_number(-3, "max_iter", 1), ["max_iter=-3", "from 1 up"]),
    "number low": (lambda: number(-1, "offset", 0.0), ["offset=-1", "from 0 up is needed"]),
    "number at low": (lambda: number(0, "sigma", 0, open_low=True), ["sigma=0", "above 0"]),
    "number high": (lambda: number(3, "beta", 0, 1, open_low=True), ["beta=3", "above 0", "to 1"]),
    "number infinite": (lambda: number(np.inf, "x"), ["x=inf", "a finite number"]),
    "number True": (lambda: number(True, "x"), ["x=True"]),
    "columns": (lambda: check_columns(np.eye(3), 2), ["X has 3 columns", "fitted on 2"]),
    "reordered": (
        lambda: check_columns(FRAME[["b", "a"]], 2, ("a", "b")),
        ["Column 0 of X", "'b'", "'a'", "same order"],
    ),
    "scores": (lambda: check_scores(np.eye(2), 3), ["Z has 2 columns", "3 components", "encode"]),
    "text column": (lambda: data_matrix(FRAME.assign(c=["x", "y"])), ["X", "not numbers", "'c'"]),
    "date column": (
        lambda: data_matrix(FRAME.assign(when=pd.to_datetime(["2020", "2021"]))),
        ["X", "not numbers", "'when'"],
    ),
    "pd.NA": (lambda: data_matrix(np.array([[1.0, pd.NA]], object)), ["NaN", "[0, 1]"]),
}


@pytest.mark.parametrize(("call", "words"), CHECKS.values(), ids=CHECKS)
def test_checks_that_all_modules_share(call, words):
    assert_teaches(call, words)


def test_what_the_shared_checks_let_through():
    assert flag(np.True_, "x") is True
    assert generator(g := np.random.default_rng(3)) is g
    assert generator(np.int8(3)).integers(99) == np.random.default_rng(3).integers(99)
    assert sorted(np.concatenate(row_folds(7, 3, 0))) == list(range(7))
    assert check_scores(np.empty((4, 0)), 0).shape == (4, 0)
    assert column_names(FRAME) == ("a", "b")
    assert column_names(np.eye(2)) is column_names(pd.DataFrame(np.eye(2))) is None
    check_columns(FRAME, 2, ("a", "b"))
    check_columns(FRAME.to_numpy(), 2, ("a", "b"))
    check_columns(FRAME, 2, None)
    assert np.isnan(data_matrix(np.array([[1.0, pd.NA]], object), missing=True)[0, 1])


def test_warnings_point_at_the_line_of_the_user():
    with pytest.warns(UserWarning, match="look here") as caught:
        tell("look here")
    assert caught[0].filename == __file__


def test_warnings_from_deep_inside_point_at_the_line_of_the_user():
    with pytest.warns(UserWarning, match="Not converged") as caught:
        svd_by_projection(np.diag([1.0, 0.99]), 1, max_iter=1)
    assert caught[0].filename == __file__


def test_tall_columns_may_add_up_more_rounding():
    """What passes for orthonormal grows with the number of rows, not of columns."""
    U = np.full((1000, 1), 1 / np.sqrt(1000)) * (1 + 1e-6)
    assert projector(U).shape == (1000, 1000)
    with pytest.raises(ValueError, match="not orthonormal"):
        projector(np.eye(4, 1) * (1 + 1e-6))


def test_only_tables_have_names_of_columns():
    """What has columns and no rows to be picked is no table, nor is one with numbers as names."""
    assert column_names(pd.DataFrame({"a": [1.0]})) == ("a",)
    assert column_names(pd.DataFrame([[1.0]])) is None
    assert column_names(SimpleNamespace(columns=["a"])) is None
    assert column_names(SimpleNamespace(iloc=[])) is None


def test_the_first_bad_singular_value_is_named():
    """Small and equal values before it are not what is wrong."""
    with pytest.raises(ValueError, match=r"s\[3\] = -1 is negative"):
        singular_values([3.0, 0.5, 0.0, -1.0])
    with pytest.raises(ValueError, match=r"s\[3\] = 2.5 follows s\[2\] = 2"):
        singular_values([3.0, 3.0, 2.0, 2.5])


def test_scores_without_columns_are_those_of_no_component():
    """And of no other number of them."""
    with pytest.raises(ValueError, match="1 columns and the model 0"):
        check_scores(np.ones((3, 1)), 0)
    with pytest.raises(ValueError, match="empty"):
        check_scores(np.ones((3, 0)), 2)


def test_one_column_is_checked_for_nan():
    with pytest.raises(ValueError, match="NaN"):
        projector(np.array([[np.nan], [0.0]]))


def test_entries_of_a_sparse_matrix_that_are_given_twice_are_added():
    """In a copy: the matrix of the user stays as it is."""
    twice = sparse.csr_array(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(linear_map(twice).data, [3, 5])
    assert twice.nnz == 3


PRODUCTS = {
    "fit_pca": lambda X: fit_pca(X, 2).s,
    "share": lambda X: fit_pca(X, 0.6).s,
    "centered_operator": lambda X: centered_operator(X) @ np.eye(X.shape[1]),
    "power_iteration": lambda X: power_iteration(X).s,
    "subspace_iteration": lambda X: subspace_iteration(X, 2).s,
    "svd_by_deflation": lambda X: svd_by_deflation(X, 2).s,
    "randomized_svd": lambda X: randomized_svd(X, 2).s,
}
each_product = pytest.mark.parametrize("name", PRODUCTS)


@each_product
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.longdouble])
def test_sparse_numbers_of_any_type_are_numbers(name, dtype):
    """Every type that SciPy has gives what the dense doubles give, in every format."""
    D = np.random.default_rng(0).uniform(0, 9, (12, 6)) * (np.eye(12, 6) + np.eye(12, 6, -3))
    D = D.round()
    wanted = PRODUCTS[name](sparse.csr_array(D.astype(dtype).astype(float)))
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.dia_array):
        found = PRODUCTS[name](form(D.astype(dtype)))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@each_product
def test_an_operator_needs_its_transpose(name):
    """The most usual mistake with operators: matvec alone."""
    D = np.random.default_rng(0).standard_normal((12, 6))

    class Half(LinearOperator):
        def __init__(self):
            super().__init__(np.dtype(float), D.shape)

        def _matvec(self, x):
            return D @ x

    for half in (LinearOperator(D.shape, matvec=lambda x: D @ x, dtype=float), Half()):
        with pytest.raises(ValueError, match="can't multiply by its transpose.*rmatvec"):
            PRODUCTS[name](half)
        assert fit_pca(D, 2).encode(half) == pytest.approx(fit_pca(D, 2).encode(D))
    with pytest.raises(ValueError, match="X holds object"):
        PRODUCTS[name](aslinearoperator(D.astype(object)))


def test_a_norm_beyond_the_floats_is_told():
    """Entries fit, and the length of a column does not."""
    Y = np.full((40, 2), 1e308)
    for ask in (lambda: length(Y[:, 0]), lambda: finite(Y), lambda: subspace_iteration(Y, 2)):
        with pytest.raises(ValueError, match="entries are too large"):
            ask()
    assert length(Y[:3, 0]) == pytest.approx(3**0.5 * 1e308)
    assert finite(Y[:3]) is not None
