"""Comparisons up to sign and rotation, on subspaces whose angles are known by construction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import EPS, known_svds, not_zero, orthonormal, seeds, thorough
from scipy import sparse

from kpca_edu import compare as module
from kpca_edu.compare import align_signs, fix_signs, same_subspace, subspace_angles

angles = st.one_of(st.sampled_from([0.0, 1e-12, 1e-10, 1e-8, np.pi / 2]), st.floats(0, np.pi / 2))


def planes_at(angles, rng):
    """Return bases U, V, in general position, of two subspaces with the given principal angles."""
    k = len(angles)
    turn = orthonormal(2 * k, 2 * k, rng)
    U, V = np.eye(2 * k)[:, :k], np.vstack([np.diag(np.cos(angles)), np.diag(np.sin(angles))])
    return turn @ U @ orthonormal(k, k, rng) * 3.0, turn @ V @ orthonormal(k, k, rng) / 7.0


# --- subspace_angles and same_subspace ---------------------------------------------------------


@thorough
@given(st.lists(angles, min_size=1, max_size=5), seeds)
def test_angles_are_those_the_planes_were_made_with(angles, seed):
    """Principal angles come out largest first, in any basis, with an error of order eps."""
    U, V = planes_at(angles, np.random.default_rng(seed))
    error = np.abs(subspace_angles(U, V) - np.sort(angles)[::-1])
    assert error.max() <= 200 * EPS


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("largest", [1e-10, 1e-4, 0.7])
def test_small_angles_are_right_to_machine_precision(k, largest):
    """As long as all angles are below 45°, each has an error of order eps."""
    angles = largest * 0.5 ** np.arange(k)
    found = subspace_angles(*planes_at(angles, np.random.default_rng(k)))
    assert found == pytest.approx(angles, rel=0, abs=100 * EPS)


@thorough
@given(st.lists(angles, min_size=1, max_size=5), seeds)
def test_mixed_angles_are_right_to_half_of_the_digits(angles, seed):
    """Principal angles, small and large together, come out largest first in any basis."""
    U, V = planes_at(angles, np.random.default_rng(seed))
    assert subspace_angles(U, V) == pytest.approx(np.sort(angles)[::-1], rel=0, abs=1e-6)


@pytest.mark.parametrize("angle", [1e-14, 1e-10, 1e-5, 1.0, np.pi / 2 - 1e-10, np.pi / 2])
def test_an_angle_in_the_plane(angle):
    """Small angles are not lost as arccos(1 − θ²/2) would lose them."""
    found = subspace_angles([[1.0], [0.0]], [[np.cos(angle)], [np.sin(angle)]])
    assert found == pytest.approx([angle], abs=4 * EPS)


def test_the_smaller_dimension_counts_the_angles():
    """A line in a plane has the one angle 0 with it; a line across it has π/2."""
    plane = np.eye(3)[:, :2]
    assert subspace_angles(plane, [[1.0], [1.0], [0.0]]) == pytest.approx([0.0], abs=4 * EPS)
    assert subspace_angles([[0.0], [0.0], [2.0]], plane) == pytest.approx([np.pi / 2])


@thorough
@given(not_zero, seeds)
def test_a_change_of_basis_keeps_the_subspace(known, seed):
    """Rotated, scaled, repeated or dependent columns span what they spanned."""
    rng = np.random.default_rng(seed)
    k = known.s.size
    rotated = 5.0 * known.U @ orthonormal(k, k, rng)
    assert same_subspace(known.U, rotated) is True
    assert same_subspace(known.U, np.hstack([rotated, known.U])) is True


@pytest.mark.parametrize(("angle", "same"), [(0, True), (1e-9, True), (1e-7, False), (1, False)])
def test_the_tolerance_is_an_angle(angle, same):
    """Angles up to tol = 1e-8 count as none, and tol can be chosen."""
    U, V = planes_at([0.0, angle], np.random.default_rng(0))
    assert same_subspace(U, V) is same
    assert same_subspace(U, V, tol=1.1 * angle + 1e-14)
    assert angle == 0 or not same_subspace(U, V, tol=0.9 * angle)


@pytest.mark.parametrize(
    ("U", "V", "same"),
    [
        (np.eye(3)[:, :1], np.eye(3)[:, :2], False),  # a line in a plane
        (np.ones((3, 2)), np.ones((3, 1)), True),  # dependent columns: both are the same line
        (np.ones((3, 2)), np.eye(3)[:, :2], False),  # the first has dimension one only
        (np.eye(2), [[1.0, 2.0], [3.0, 4.0]], True),  # all of the plane
        (np.zeros((2, 1)), np.zeros((2, 3)), True),  # nothing but the origin
        (np.zeros((2, 1)), np.eye(2), False),
        (1e-200 * np.ones((2, 1)), 1e200 * np.ones((2, 1)), True),
        ([[1, 0], [0, 1], [0, 0]], [[1, 1], [1, -1], [0, 0]], True),
    ],
)
def test_dimension_counts_not_the_number_of_columns(U, V, same):
    """Subspaces are the same if they have equal dimension and no angle, however they are given."""
    assert same_subspace(U, V) is same
    assert same_subspace(V, U) is same


# --- align_signs -------------------------------------------------------------------------------


def test_one_column_is_looked_at_too():
    with pytest.raises(ValueError, match="NaN"):
        align_signs([[np.nan], [1.0]], [[0.0], [1.0]])
    with pytest.raises(ValueError, match="NaN"):
        fix_signs([[np.nan], [1.0]])


@thorough
@given(not_zero, seeds)
def test_flipped_columns_are_flipped_back(known, seed):
    """Columns that differ in sign only become equal, to the last bit."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], known.s.size)
    assert np.array_equal(align_signs(known.U, known.U * signs), known.U)


def test_each_column_is_matched_by_itself():
    """Acute pairs stay, obtuse pairs are flipped, right angles stay as they are."""
    U = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    V = np.array([[0.1, -0.1, 0.0, 0.0], [-5.0, -5.0, 2.0, -2.0]])
    assert np.array_equal(align_signs(U, V), V * [1, -1, 1, 1])


def test_aligning_changes_neither_argument():
    """A new array comes back, also where no column is flipped."""
    U, V = np.eye(2), -np.eye(2)
    align_signs(U, V)[:] = align_signs(U, U)[:] = 7
    assert np.array_equal(U, np.eye(2))
    assert np.array_equal(V, -np.eye(2))


def test_aligning_works_at_every_scale():
    """Only directions count, so the length of the columns must not, also beside longer ones."""
    U = np.array([[3.0, 3.0, 3.0], [-2.0, -2.0, -2.0]]) * [1e-200, 1.0, 1e200]
    assert np.array_equal(align_signs(U, -U), U)


# --- fix_signs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "sign"),
    [
        ([0.6, -0.8], -1),  # the largest entry decides
        ([-0.6, 0.8], 1),
        ([1.0, -1.0], 1),  # of tied entries the first one does
        ([-1.0, 1.0], -1),
        ([1.0, -1.0 - 1e-9], 1),  # tied up to rounding
        ([-1.0 + 1e-9, 1.0], -1),
        ([1.0, -1.001], -1),  # not tied
        ([0.0, -1e-300], -1),
        ([0.0, 0.0], 1),  # nothing to decide
        ([0.1, -0.5, 0.5], -1),
    ],
)
def test_the_largest_entry_becomes_positive(column, sign):
    """The entry of largest modulus decides; among those tied up to rounding, the first."""
    V = np.array(column)[:, None]
    (fixed,) = fix_signs(V)
    assert np.array_equal(fixed, sign * V)


@thorough
@given(known_svds(), seeds)
def test_fixing_undoes_any_choice_of_signs(known, seed):
    """Whatever the signs were, the result is the same, and partners keep UVᵀ unchanged."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], known.s.size)
    fixed = fix_signs(known.V, known.U)
    again = fix_signs(known.V * signs, known.U * signs)
    assert all(np.array_equal(*pair) for pair in zip(fixed, again, strict=True))
    V, U = fixed
    np.testing.assert_allclose(U @ V.T, known.U @ known.V.T, atol=0, rtol=1e-15)
    assert np.array_equal(fix_signs(V)[0], V)


def test_several_partners_follow():
    """Each partner's columns are flipped with those of V, whatever its height."""
    V = np.array([[1.0, -1.0]])
    _, tall, wide = fix_signs(V, np.ones((3, 2)), np.ones((1, 2)))
    assert np.array_equal(tall, np.ones((3, 1)) * [1, -1])
    assert np.array_equal(wide, [[1, -1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
def test_fixing_keeps_the_precision_and_the_argument(dtype):
    """float32 stays float32, integers become doubles, V is left alone, no columns are allowed."""
    V = np.array([[1, 2], [-3, 1]], dtype)
    (fixed,) = fix_signs(V)
    assert fixed.dtype == (float if dtype is int else dtype)
    assert np.array_equal(fixed, [[-1, 2], [3, 1]])
    assert np.array_equal(V, [[1, 2], [-3, 1]])
    assert fix_signs(V[:, :0])[0].shape == (2, 0)
    mixed = fix_signs(np.array([[-1.0]]), np.ones((3, 1), np.float32))
    assert [A.dtype for A in mixed] == [float, np.float32]


# --- bad input -----------------------------------------------------------------------------------

BAD_MATRICES = {
    "a number": (3.0, "0-D"),
    "nothing": (None, "0-D"),
    "a vector": ([1.0, 2.0], "1-D"),
    "3-D": (np.ones((2, 2, 2)), "3-D"),
    "NaN": ([[np.nan, 1.0], [0.0, 1.0]], "NaN"),
    "infinity": ([[np.inf, 1.0], [0.0, 1.0]], "infinity"),
    "text": ([["a", "b"], ["c", "d"]], "not numbers"),
    "complex": ([[1j, 1.0], [0.0, 1.0]], "complex"),
    "ragged": ([[1.0], [1.0, 2.0]], "different lengths"),
    "sparse": (sparse.eye_array(2), "sparse"),
    "no rows": (np.empty((0, 2)), "empty"),
}
CALLS = {
    "align_signs": lambda A: align_signs(np.eye(2), A),
    "align_signs, first": lambda A: align_signs(A, np.eye(2)),
    "subspace_angles": lambda A: subspace_angles(np.eye(2), A),
    "same_subspace": lambda A: same_subspace(A, np.eye(2)),
    "fix_signs": fix_signs,
    "fix_signs, partner": lambda A: fix_signs(np.eye(2), np.eye(2), A),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_matrix_gets_a_sentence(call):
    """Whatever the place of a bad argument, the message says what is wrong with it."""
    for name, (A, words) in BAD_MATRICES.items():
        with pytest.raises(ValueError, match=words):
            raise AssertionError(f"{name}: {call(A)}")


def test_shapes_that_do_not_fit_and_tolerances_that_are_none():
    """Columns need partners, spaces the same height, and tol is a number from 0 up."""
    with pytest.raises(ValueError, match=r"U is 2×2 and V is 2×1.*shapes agree"):
        align_signs(np.eye(2), np.ones((2, 1)))
    with pytest.raises(ValueError, match="different spaces"):
        subspace_angles(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match=r"V has 2 columns and partners\[1\] has 3"):
        fix_signs(np.eye(2), np.eye(2), np.eye(3))
    for tol in (-1e-8, np.nan, np.inf, "small", None):
        with pytest.raises(ValueError, match="tol="):
            same_subspace(np.eye(2), np.eye(2), tol)


def test_every_public_name_is_tested_here():
    """All that the module offers is imported by this file."""
    assert set(module.__all__) <= set(globals())


def test_no_angle_is_not_above_no_tolerance():
    """Equal spans pass with tol=0: an angle of zero is not above it."""
    axis = np.eye(3)[:, :1]
    assert same_subspace(axis, -axis, tol=0)
    assert not same_subspace(axis, np.eye(3)[:, 1:2], tol=1.5)
    assert same_subspace(axis, np.eye(3)[:, 1:2], tol=1.6)
