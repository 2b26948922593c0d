"""The eigensolver beside LAPACK: ties, clusters, centring, operators, half a matrix."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import assert_orthonormal, orthonormal, seeds, sparing
from scipy import sparse

from kpca_edu._engine import eigen
from kpca_edu._engine.eigen import GramOperator, block_lanczos, lanczos_pays, top_eigenpairs
from kpca_edu._engine.panels import SymmetricPanels, lower_panels
from kpca_edu.kernels import rbf

SPECTRA = {
    "fast decay": 0.5 ** np.arange(399.0),
    "slow decay": 1 / np.arange(1.0, 400),
    "flat": np.ones(399),
    "many copies": np.repeat([3.0, 2.0, 1.0], 133),
    "more copies than a block holds": np.concatenate(
        [np.full(60, 3.0), np.full(60, 2.0), np.linspace(0.01, 0, 279)]
    ),
    "copies far down": np.concatenate(
        [[9.0, 8.0, 7.0], np.full(30, 1.0), np.linspace(0.9, 0, 366)]
    ),
    "rank 3": np.append([5.0, 2.0, 2.0], np.zeros(396)),
    "indefinite": np.append(np.linspace(1, 5, 20), np.linspace(-4, 0, 379)),
    "huge": 1e150 / np.arange(1.0, 400),
    "tiny": 1e-150 / np.arange(1.0, 400),
    "tight cluster": np.append(1 + 1e-9 * np.arange(20), np.linspace(0, 0.5, 379)),
}
each_spectrum = pytest.mark.parametrize("name", SPECTRA)


def J(n):
    return np.eye(n) - np.ones((n, n)) / n


def spectrum_matrix(lam, seed=0, center=False):
    """A symmetric matrix with the eigenvalues lam; if centred, also 1 in its null space."""
    n = len(lam) + center
    columns = np.random.default_rng(seed).standard_normal((n, n))
    columns[:, 0] = 1 if center else columns[:, 0]
    Q = np.linalg.qr(columns)[0][:, int(center) :]
    K = (Q * lam) @ Q.T
    return (K + K.T) / 2


def assert_leading(pairs, K, lam, k, tol=1e-11):
    """The values are the k largest of lam, the vectors orthonormal, the residuals rounding."""
    lam = np.sort(lam)[::-1]
    top = np.abs(lam).max()
    np.testing.assert_allclose(pairs.lam / top, lam[:k] / top, atol=tol)
    assert_orthonormal(pairs.A, 100)
    residual = np.linalg.norm((K / top) @ pairs.A - pairs.A * (pairs.lam / top), axis=0)
    assert residual.max() <= tol
    assert pairs.lowest >= lam[-1] - 1e-10 * top


@each_spectrum
def test_leading_eigenpairs(name):
    """All copies of every leading eigenvalue are found, whether or not the matrix is centred."""
    for center in (False, True):
        lam = SPECTRA[name]
        K = spectrum_matrix(lam, center=center)
        if center:  # what centring must take out again
            slope = np.arange(len(K)) / len(K)
            K = K + np.abs(lam).max() * np.add.outer(slope, slope)
        for k in (1, 5, 15):
            pairs = top_eigenpairs(K, k, center=center)
            all_of_it = np.append(lam, 0) if center else lam
            assert_leading(pairs, J(len(K)) @ K @ J(len(K)) if center else K, all_of_it, k)


@each_spectrum
def test_operators_and_panels_are_matrices(name):
    """AᵀA that is never formed, and half a matrix in panels, have the eigenpairs of the whole."""
    lam = np.abs(SPECTRA[name])
    A = np.sqrt(np.sort(lam)[::-1])[:, None] * orthonormal(399, 399).T
    for form in (A, sparse.csr_array(A)):
        assert_leading(top_eigenpairs(GramOperator(form), 7), A.T @ A, lam, 7)
    K = A.T @ A
    K = np.tril(K) + np.tril(K, -1).T
    half = SymmetricPanels([K[:128, :128], K[128:256, :256], K[256:, :]])
    assert_leading(top_eigenpairs(half, 7), K, lam, 7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("center", [False, True])
def test_no_square_over_or_underflows(dtype, center):
    """Eigenvalues scale with the matrix as far as the floats reach, without a warning."""
    A = np.random.default_rng(0).standard_normal((300, 250)) * np.linspace(2, 1, 250)
    K = (A.T @ A).astype(dtype)
    centred = np.asarray(J(250) @ K @ J(250), dtype)  # whose product with 1 is nothing
    small = np.finfo(dtype).tiny / np.finfo(dtype).eps ** (0.5 if dtype == np.float32 else 1.0)
    huge = np.finfo(dtype).max / 1e6
    for M in (K, centred):
        plain = top_eigenpairs(M, 3, center=center)
        for scale in (small, 1 / np.sqrt(huge), np.sqrt(huge), huge):
            unit = 2.0 ** np.round(np.log2(float(scale)))
            for form in (M * dtype(unit), SymmetricPanels([M * dtype(unit)])):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    pairs = top_eigenpairs(form, 3, center=center)
                tol = 1e3 * float(np.finfo(dtype).eps)
                np.testing.assert_allclose(pairs.lam / unit, plain.lam, rtol=tol)
                assert pairs.lowest / unit <= plain.lam[-1]


@sparing
@given(seeds, st.integers(1, 12), st.lists(st.integers(1, 40), min_size=3, max_size=6))
def test_any_multiplicities(seed, k, copies):
    """Random values with random numbers of copies above a tail: each copy counts."""
    rng = np.random.default_rng(seed)
    head = np.repeat(rng.uniform(1, 2, len(copies)), copies)
    lam = np.concatenate([head, rng.uniform(0, 0.9, max(14 * (k + 8) - head.size, 1))])
    assert lanczos_pays(len(lam), k)
    K = spectrum_matrix(lam, seed)
    assert_leading(top_eigenpairs(K, k), K, lam, k)


@pytest.mark.parametrize("gap", [1e-1, 1e-2])
def test_a_crowd_just_below_many_copies(gap):
    """Thirty copies of 1, and a dense crowd that begins just below: none of the crowd comes in."""
    lam = np.concatenate([np.ones(30), (1 - gap) * np.linspace(1, 0, 630)])
    K = spectrum_matrix(lam)
    pairs = block_lanczos(K, 20, max_steps=1000)
    assert pairs is not None
    assert_leading(pairs, K, lam, 20)


@pytest.mark.parametrize("seed", [4, 7, 11])
def test_one_copy_more_than_a_block_above_a_tight_crowd(seed):
    """The last of nine copies is told from two hundred copies of a value a thousandth below."""
    lam = np.concatenate([np.ones(9), np.full(200, 0.999), np.linspace(0.9, 0, 430)])
    K = spectrum_matrix(lam, seed)
    assert_leading(top_eigenpairs(K, 9), K, lam, 9)
    root = np.sqrt(lam)[:, None] * orthonormal(len(lam), len(lam), seed).T
    assert_leading(top_eigenpairs(GramOperator(root), 9), root.T @ root, lam, 9)


@pytest.mark.parametrize("n", [60, 440, 700])
@pytest.mark.parametrize("center", [False, True])
def test_dense_and_lanczos_agree(n, center):
    """Few by Lanczos, many by LAPACK: the same values, and the smallest is bounded from above."""
    X = np.random.default_rng(0).standard_normal((n, 3)) + 0.7
    K = rbf(1.0)(X)
    before = K.copy()
    few = top_eigenpairs(K, 4, center=center)
    many = top_eigenpairs(K, n // 5, center=center)
    exact = np.linalg.eigvalsh(J(n) @ K @ J(n) if center else K)
    for pairs in (few, many):
        assert_leading(pairs, J(n) @ K @ J(n) if center else K, exact, len(pairs.lam))
        assert pairs.lowest < 0.001 * pairs.lam[0]
    assert np.array_equal(K, before), "the caller's matrix was changed"


def test_slow_lanczos_gives_up_and_lapack_takes_over(monkeypatch):
    """Where the iteration is too slow the whole matrix is formed, also that of an operator."""
    lam = np.linspace(1, 1.0001, 399)
    K = spectrum_matrix(lam)
    assert block_lanczos(K, 5, max_steps=3) is None
    monkeypatch.setattr(eigen, "block_lanczos", lambda *_, **__: None)
    assert_leading(top_eigenpairs(K, 5), K, lam, 5)
    root = np.linalg.cholesky(K).T
    assert_leading(top_eigenpairs(GramOperator(root), 5), K, lam, 5)


def test_what_can_not_be_formed_is_not(monkeypatch):
    """An operator too large for memory says so when the iteration gives up."""
    monkeypatch.setattr(eigen, "block_lanczos", lambda *_, **__: None)
    operator = GramOperator(sparse.random_array((50, 20_000), density=1e-4, rng=0))
    with pytest.raises(ValueError, match="5 largest of 20000 .* ask for fewer"):
        top_eigenpairs(operator, 5)


def test_a_loose_goal_is_met_sooner():
    """tol bounds the residuals relative to the largest eigenvalue; fewer products are made."""
    lam = 1 / np.arange(1.0, 1001) ** 0.5
    K = spectrum_matrix(lam)
    products = {}
    for tol in (0.0, 1e-6):
        counted = GramOperator(np.linalg.cholesky(K + 1e-14 * np.eye(1000)).T)
        products[tol], multiply = 0, type(counted).__rmatmul__

        class Counted(GramOperator):
            def __rmatmul__(self, V, tol=tol, multiply=multiply):
                products[tol] += 1
                return multiply(self, V)

        pairs = top_eigenpairs(Counted(counted.A), 10, tol=tol)
        assert_leading(pairs, K, lam, 10, tol=max(tol, 1e-11))
    assert products[1e-6] < products[0.0]


@pytest.mark.parametrize("n", [1, 127, 128, 300, 1500])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_half_a_gram_matrix(n, dtype):
    """The panels of the lower triangle do all that the whole matrix does."""
    rng = np.random.default_rng(n)
    X, V = rng.standard_normal((n, 3)).astype(dtype), rng.standard_normal((4, n)).astype(dtype)
    tol = 50 * np.sqrt(n) * np.finfo(dtype).eps
    half, K = SymmetricPanels(lower_panels(rbf(1.0), X)), rbf(1.0)(X, X)
    assert len(half) == n
    assert half.dtype == K.dtype == dtype
    assert np.array_equal(half.whole(), half.whole().T)
    np.testing.assert_allclose(half.whole(), K, atol=tol)
    np.testing.assert_allclose(half.diagonal(), K.diagonal(), atol=tol)
    np.testing.assert_allclose([half.max(), half.min()], [K.max(), K.min()], atol=tol)
    assert np.allclose(half.row_means(), K.mean(axis=1, dtype=float), rtol=0, atol=tol)
    assert (V @ half).dtype == dtype
    assert np.allclose(V @ half, V @ K, rtol=0, atol=tol * np.abs(V @ K).max())


def test_an_operator_is_formed_as_long_as_there_is_room(monkeypatch):
    """Where iterating fails, 200² entries are formed if there is room; else one iterates longer."""
    steps = []
    monkeypatch.setattr(eigen, "ROOM", 200**2)
    monkeypatch.setattr(
        eigen, "block_lanczos", lambda K, k, max_steps, **_: steps.append(max_steps)
    )
    assert top_eigenpairs(GramOperator(np.eye(200)), 1).lam == pytest.approx(1)
    assert top_eigenpairs(np.eye(201), 1).lam == pytest.approx(1)
    with pytest.raises(ValueError, match="too large to be formed"):
        top_eigenpairs(GramOperator(np.eye(201)), 1)
    assert steps[0] == steps[1] < steps[2] == eigen.PATIENCE


def test_one_negative_eigenvalue_is_seen(monkeypatch):
    """Iterating or not, a single eigenvalue of −3 shows in the bound of the smallest one."""
    lam = np.concatenate([[-3.0], np.linspace(0, 1, 156), [4.0, 5.0, 6.0]])
    K = spectrum_matrix(lam)
    monkeypatch.setattr(eigen, "SMALL", 100)
    for k in (2, 20):  # by Lanczos, and by LAPACK beside a look at a small Krylov space
        assert top_eigenpairs(K, k).lowest == pytest.approx(-3, rel=1e-3)
    for k in (39, 40, 41):  # from a quarter on LAPACK computes all
        pairs = top_eigenpairs(K, k)
        assert_leading(pairs, K, lam, k)
        assert pairs.lowest == pytest.approx(-3, rel=1e-3 if k < 40 else 1e-12)


def test_a_fresh_block_has_its_steps_before_it_is_judged(monkeypatch):
    """Nine copies fill a block of 8: a fresh one makes PROBES steps, and its word is the last."""
    looks, ritz = [], eigen._KrylovSpace.ritz
    monkeypatch.setattr(
        eigen._KrylovSpace, "ritz", lambda space: looks.append(space.used) or ritz(space)
    )
    pairs = block_lanczos(np.eye(300), 9)
    assert pairs is not None
    assert looks == [eigen.BLOCK, 2 * eigen.BLOCK, 9 + eigen.PROBES * eigen.BLOCK]


def test_what_the_first_block_is_blind_to_a_fresh_one_finds(monkeypatch):
    """A matrix of two parts, and a start that is zero on one: products never get there."""
    lam = np.concatenate([np.ones(9), np.linspace(0.8, 0, 191), np.linspace(2, 0, 200)])
    draw, drawn = eigen._KrylovSpace._random_block, []

    def blind_at_first(space):
        W = draw(space)
        if not drawn:
            W[200:] = 0
        drawn.append(W)
        return W

    monkeypatch.setattr(eigen._KrylovSpace, "_random_block", blind_at_first)
    pairs = block_lanczos(np.diag(lam), 9)
    assert pairs is not None
    assert_leading(pairs, np.diag(lam), lam, 9)


def test_what_is_not_crowded_is_not_looked_for_again(monkeypatch):
    """One random block finds values that are all different."""
    draw, drawn = eigen._KrylovSpace._random_block, []
    monkeypatch.setattr(
        eigen._KrylovSpace, "_random_block", lambda space: drawn.append(1) or draw(space)
    )
    lam = 1 / np.arange(1.0, 400)
    assert_leading(block_lanczos(np.diag(lam), 3), np.diag(lam), lam, 3)
    assert len(drawn) == 1


@pytest.mark.parametrize("block", [4, 8])
def test_residuals_are_told_without_a_product(block):
    """R and the last rows of S give ‖Kv − θv‖ for each Ritz vector."""
    K = spectrum_matrix(1 / np.arange(1.0, 100))
    space = eigen._KrylovSpace(K, 40, False, block)
    for _ in range(3):
        space.step()
    theta, S = space.ritz()
    V = space.vectors(S)
    plain = np.linalg.norm(K @ V - V * theta, axis=0)
    np.testing.assert_allclose(space.residuals(S), plain, atol=1e-12)


def test_the_gap_tells_what_is_left_out():
    """The best one left out has settled up to the gap, a millionth of λ₁, or the goal."""
    theta = np.array([5.0, 4.0, 3.5, 1.0])
    assert [eigen._settled(theta, k, 0.0) for k in (1, 2, 3)] == [1.0, 0.5, 2.5]
    tie = np.array([8.0, 2.0, 2.0])
    assert eigen._settled(tie, 2, 0.0) == pytest.approx(8e-6)
    assert eigen._settled(tie, 2, 0.1) == 0.1


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_copies_are_counted_relative_to_the_largest(unit):
    """Four copies crowd a block of 4 and three don't; a restart keeps all copies or none."""
    space = eigen._KrylovSpace(np.eye(100), 40, False, 4)
    near = unit * np.r_[9.0, 5.0 + 1e-8 * np.arange(3, -1, -1), np.linspace(2, 0, 35)]
    apart = unit * np.r_[9.0, 5.0 + 1e-4 * np.arange(3, -1, -1), np.linspace(2, 0, 35)]
    assert space.crowded(near[:5])
    assert not space.crowded(near[:4])
    assert not space.crowded(apart)
    assert [space.cut(near, kept) for kept in (1, 2, 4, 5, 6)] == [1, 5, 5, 5, 6]
    assert [space.cut(apart, kept) for kept in (2, 4)] == [2, 4]
    assert space.cut(np.full(40, unit), 6) == 40 - 2 * 4  # room for two blocks remains
    lone = unit * np.r_[1e9, np.linspace(4, 0, 39)]  # beside the first they are one value
    assert space.crowded(lone)
    assert (space.cut(lone, 1), space.cut(lone, 2)) == (1, 32)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_residuals_keep_tol_in_every_unit(unit):
    """What is asked for is a share of the largest eigenvalue."""
    K = spectrum_matrix(unit / np.arange(1.0, 400) ** 0.5)
    lam, V, _ = top_eigenpairs(K, 3, tol=1e-6)
    assert np.linalg.norm(K @ V - V * lam, axis=0).max() <= 1e-6 * lam[0]
