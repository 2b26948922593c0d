"""The theorems of chapter 3 on random data, with scikit-learn, mpmath and optimisers beside."""

import math
import tracemalloc
import warnings
from types import SimpleNamespace

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matrices import EPS, assert_orthonormal, assert_tiny, orthonormal, seeds, sparing, thorough
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.preprocessing import StandardScaler

from kpca_edu import pca as module
from kpca_edu._engine import pca_solvers, sums
from kpca_edu._engine.eigen import lanczos_pays
from kpca_edu.compare import subspace_angles
from kpca_edu.pca import (
    PCA,
    SOLVERS,
    center_data,
    centered_operator,
    covariance_matrix,
    dual_coefficients,
    encoder_decoder_loss,
    fit_pca,
    standardize,
)

DENSE = list(SOLVERS)
IMPLICIT = [solver for solver in DENSE if solver != "svd"]
KINDS = {"dense": np.array, "sparse": sparse.csr_array, "operator": aslinearoperator}
EACH = [(kind, solver) for kind in KINDS for solver in (DENSE if kind == "dense" else IMPLICIT)]
each_solver = pytest.mark.parametrize("solver", DENSE)
each_kind_and_solver = pytest.mark.parametrize(("kind", "solver"), EACH)
WINE = load_wine().data


@st.composite
def data(draw, max_side=12):
    """Draw n×d data with spread-out variances and a mean of any size."""
    n, d = draw(st.integers(2, max_side)), draw(st.integers(1, max_side))
    rng = np.random.default_rng(draw(seeds))
    mean = draw(st.sampled_from([0.0, 1.0, 30.0])) * rng.standard_normal(d)
    return rng.standard_normal((n, d)) * 2.0 ** -rng.integers(0, 4, d) + mean


def centred(X):
    return X - X.mean(axis=0)


def svdvals(X):
    return np.linalg.svd(centred(X), compute_uv=False)


def planted(s, n, d, seed=0, noise=1.0):
    """Low rank plus noise: len(s) components that stand out."""
    rng = np.random.default_rng(seed)
    low = orthonormal(n, len(s), rng) * s @ orthonormal(d, len(s), rng).T
    return low + noise * rng.standard_normal((n, d)) + 2


def with_exact_spectrum(s, n, d, seed=0, mean=3.0):
    """Centred data have exactly the singular values s; a mean is added on top."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, len(s)))]))[0][:, 1:]
    return (U * s) @ orthonormal(d, len(s), rng).T + mean


# --- optimality ----------------------------------------------------------------------------------


@thorough
@given(data(), st.data())
def test_the_loss_is_the_tail(X, draw):
    """Reconstruction by V_k loses exactly the discarded squares: eq-pca-optimum eq-pca-solution."""
    k = draw.draw(st.integers(0, min(X.shape)))
    model, s = fit_pca(X, k), svdvals(X)
    loss = np.sum((X - model.reconstruct(X)) ** 2)
    assert loss == pytest.approx(np.sum(s[k:] ** 2), abs=1e-9 * (1 + np.sum(s**2)))


@thorough
@given(data(), st.data())
def test_no_pair_loses_less(X, draw):
    """Random, fitted and nudged encoders and decoders never win: eq-pca-loss eq-pca-reduction."""
    k = draw.draw(st.integers(1, min(X.shape)))
    rng = np.random.default_rng(0)
    Xc, V = centred(X), fit_pca(X, k).V
    best = encoder_decoder_loss(Xc, V, V.T)
    E = rng.standard_normal((X.shape[1], k))
    fitted = np.linalg.lstsq(Xc @ E, Xc, rcond=None)[0]
    nudged = V + 0.01 * rng.standard_normal(V.shape)
    for E_, D_ in ((E, E.T), (E, fitted), (nudged, np.linalg.pinv(nudged)), (V, nudged.T)):
        assert encoder_decoder_loss(Xc, E_, D_) >= best - 1e-9 * np.sum(Xc**2)


@pytest.mark.parametrize("seed", range(5))
def test_an_optimiser_over_all_pairs_ends_at_pca(seed):
    """Minimising over every entry of E and D reaches V_k's loss and no less: eq-pca-reduction."""
    X = centred(planted([9.0, 5.0], 12, 5, seed))
    V = fit_pca(X, 2).V

    def loss(entries):
        E, D = entries[:10].reshape(5, 2), entries[10:].reshape(2, 5)
        gap = X @ E @ D - X
        slope = np.concatenate([(2 * X.T @ gap @ D.T).ravel(), (2 * (X @ E).T @ gap).ravel()])
        return np.sum(gap**2), slope

    start = np.random.default_rng(seed).standard_normal(20)
    end = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000}).fun
    assert end == pytest.approx(encoder_decoder_loss(X, V, V.T), rel=1e-4)
    assert end >= encoder_decoder_loss(X, V, V.T) * (1 - 1e-12)


@thorough
@given(data(), seeds)
def test_pairs_with_the_same_product_lose_the_same(X, seed):
    """V_k M and M⁻¹V_kᵀ are as good as V_k and V_kᵀ: eq-pca-loss."""
    V, M = fit_pca(X, 1).V, 1 + np.random.default_rng(seed).random((1, 1))
    losses = [encoder_decoder_loss(X, *pair) for pair in ((V, V.T), (V @ M, V.T / M))]
    assert losses[0] == pytest.approx(losses[1], abs=1e-9 * np.sum(X**2))


@thorough
@given(data(), seeds)
def test_pythagoras(X, seed):
    """Kept and lost squares add up to all, for any orthonormal Q: eq-pca-pythagoras."""
    Q = orthonormal(X.shape[1], min(2, X.shape[1]), seed)
    kept = np.sum((X @ Q) ** 2)
    assert kept + encoder_decoder_loss(X, Q, Q.T) == pytest.approx(np.sum(X**2), rel=1e-12)


@thorough
@given(data())
def test_sums_about_any_point(X):
    """The sum of squares grows by n‖x̄ − b‖²: eq-pca-steiner eq-pca-center."""
    Xc, mean = center_data(X)
    b = np.linspace(-3, 4, X.shape[1])
    moved = np.sum((X - b) ** 2)
    assert moved == pytest.approx(np.sum(Xc**2) + len(X) * np.sum((mean - b) ** 2), rel=1e-12)


def test_the_best_affine_line_goes_through_the_mean():
    """A free search over offset and angle ends at centred PCA, not at the origin: eq-pca-affine."""
    X = planted([8.0], 30, 2, 1) + [5, -3]

    def off_line(p):
        q = np.array([np.cos(p[2]), np.sin(p[2])])
        return np.sum(((X - p[:2]) @ (np.eye(2) - np.outer(q, q))) ** 2)

    free = min(minimize(off_line, [0, 0, angle]).fun for angle in (0.0, 1.0, 2.0))
    assert free == pytest.approx(np.sum((X - fit_pca(X, 1).reconstruct(X)) ** 2), rel=1e-6)
    through_origin = fit_pca(X, 1, center=False)
    assert np.sum((X - through_origin.reconstruct(X)) ** 2) > 1.2 * free


# --- variance and decorrelation ------------------------------------------------------------------


@thorough
@given(data())
def test_scores_are_uncorrelated_with_the_stated_variances(X):
    """ZᵀZ/n = Λ with means zero, and shares add up to 1: eq-pca-decorrelated eq-pca-share."""
    model = fit_pca(X, min(X.shape))
    Z = model.encode(X)
    size = 1 + np.sum(X**2)
    assert_tiny(Z.T @ Z / len(X) - np.diag(model.variances), 100 * len(X), size)
    assert_tiny(Z.mean(axis=0), 100 * len(X), np.sqrt(size))
    if model.total_variance > 0:
        assert model.explained_ratio.sum() == pytest.approx(1)


@thorough
@given(data())
def test_directions_are_eigenvectors(X):
    """C v = λ v, and C is what NumPy's covariance with 1/n is: eq-pca-eigen eq-pca-covariance."""
    C, model = covariance_matrix(X), fit_pca(X, min(X.shape))
    assert_tiny(C - np.atleast_2d(np.cov(X.T, ddof=0)), 100 * len(X), 1 + np.sum(X**2))
    assert_tiny(C @ model.V - model.V * model.variances, 100 * len(X), 1 + np.sum(X**2))


@thorough
@given(data(), seeds)
def test_each_direction_beats_those_orthogonal_to_the_earlier(X, seed):
    """The variance wᵀCw along no w ⊥ v₁ … v_{j−1} exceeds λⱼ: eq-pca-greedy eq-pca-variance."""
    model = fit_pca(X, min(X.shape))
    w = np.random.default_rng(seed).standard_normal((X.shape[1], 50))
    for j, variance in enumerate(model.variances):
        earlier = model.V[:, :j]
        free = w - earlier @ (earlier.T @ w)
        free /= np.maximum(np.linalg.norm(free, axis=0), 1e-6)
        assert np.var(X @ free, axis=0).max() <= variance + 1e-9 * (1 + np.sum(X**2))


def test_turning_inside_the_plane_keeps_the_sum_only():
    """A rotation of V_k leaves the sum of variances and makes scores correlated: eq-pca-greedy."""
    model = fit_pca(WINE / WINE.std(axis=0), 2)
    R = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = model.encode(WINE / WINE.std(axis=0)) @ R
    assert np.var(turned, axis=0).sum() == pytest.approx(model.variances.sum())
    assert np.var(turned, axis=0)[0] < 0.9 * model.variances[0]
    assert abs(np.corrcoef(turned.T)[0, 1]) > 0.1


@thorough
@given(data())
def test_translation_moves_only_the_mean(X):
    """Shifted data have the same directions and variances: eq-pca-center."""
    shift = np.linspace(1, 5, X.shape[1])
    one, two = fit_pca(X, 1), fit_pca(X + shift, 1)
    assert_tiny(two.mean - one.mean - shift, 100 * len(X), 1 + np.abs(X).max())
    assert_tiny(one.variances - two.variances, 1000 * len(X), 1 + np.sum(X**2))


# --- encoding, loadings, whitening ---------------------------------------------------------------


def test_new_samples_agree_with_scikit_learn():
    """Unseen rows are encoded and decoded as the peer does: eq-pca-encode eq-pca-decode."""
    seen, unseen = WINE[::2], WINE[1::2]
    ours, theirs = fit_pca(seen, 4), SklearnPCA(4).fit(seen)
    signs = np.sign(np.sum(ours.V * theirs.components_.T, axis=0))
    np.testing.assert_allclose(ours.encode(unseen), theirs.transform(unseen) * signs, atol=1e-9)
    hat = theirs.inverse_transform(theirs.transform(unseen))
    np.testing.assert_allclose(ours.reconstruct(unseen), hat, rtol=1e-9)
    np.testing.assert_allclose(ours.explained_ratio, theirs.explained_variance_ratio_, rtol=1e-10)
    n = len(seen)
    np.testing.assert_allclose(ours.variances * n / (n - 1), theirs.explained_variance_, rtol=1e-10)
    sparse_codes = ours.encode(sparse.csr_array(unseen))
    np.testing.assert_allclose(sparse_codes, ours.encode(unseen), atol=1e-8)


def test_loadings_are_correlations_of_standardised_columns():
    """Column i and score j have correlation Vᵢⱼ√λⱼ/σᵢ: eq-pca-loadings eq-pca-correlation."""
    W, mean, scale = standardize(WINE)
    np.testing.assert_allclose(W, StandardScaler().fit_transform(WINE), atol=1e-10)
    np.testing.assert_allclose(covariance_matrix(W), np.corrcoef(WINE.T), atol=1e-12)
    np.testing.assert_allclose(W * scale + mean, WINE)
    for X in (W, WINE):
        model = fit_pca(X, 3)
        wanted = np.corrcoef(X.T, model.encode(X).T)[:13, 13:]
        got = model.loadings / X.std(axis=0)[:, None]
        np.testing.assert_allclose(got, wanted, atol=1e-7)


@thorough
@given(data())
def test_points_times_arrows_are_the_rebuilt_table(X):
    """Gabriel's two pairs rebuild X_c; Z keeps distances, loadings covariances: eq-pca-biplot."""
    assume(np.ptp(X, axis=0).max() > 1e-3)
    full = fit_pca(X)
    Z, size = full.encode(X), 1 + np.sum(X**2)
    gaps, wanted = (np.sum((A[:, None] - A) ** 2, axis=2) for A in (Z, X))
    assert_tiny(gaps - wanted, 100 * len(X), size)
    assert_tiny(full.loadings @ full.loadings.T - covariance_matrix(X), 100 * len(X), size)
    plane = fit_pca(X, min(2, full.k))
    rebuilt = plane.reconstruct(X) - plane.mean
    np.testing.assert_allclose(plane.encode(X) @ plane.V.T, rebuilt, atol=1e-12 * size)
    np.testing.assert_allclose(plane.whiten(X) @ plane.loadings.T, rebuilt, atol=1e-11 * size)


def test_scores_with_loadings_are_no_biplot():
    """Z with V√λ misses the rebuilt wines by 14 %, whatever the factor: eq-pca-biplot."""
    W = standardize(WINE)[0]
    plane = fit_pca(W, 2)
    mixture, rebuilt = plane.encode(W) @ plane.loadings.T, plane.reconstruct(W)
    factor = np.sum(mixture * rebuilt) / np.sum(mixture**2)
    off = np.linalg.norm(factor * mixture - rebuilt) / np.linalg.norm(rebuilt)
    assert off == pytest.approx(0.141, abs=1e-3)


def test_decorrelation_alone_selects_nothing():
    """Any direction has an uncorrelated partner: eq-pca-decorrelated thm-pca-decorrelation."""
    C, q = covariance_matrix(standardize(WINE)[0]), np.eye(13)
    taken = np.linalg.qr(np.column_stack([q[:, 0], C @ q[:, 0]]))[0]
    partner = q[:, 1] - taken @ taken[1]
    assert abs(q[:, 0] @ partner) < 1e-12 < np.linalg.norm(partner)
    assert abs(q[:, 0] @ C @ partner) < 1e-12
    assert np.linalg.norm(C @ q[:, 0] - C[0, 0] * q[:, 0]) > 0.1  # no eigenvector


def test_uncentred_second_moments():
    """XᵀX/n is C plus the outer product of the mean: eq-pca-center eq-pca-covariance."""
    outer = np.outer(WINE.mean(axis=0), WINE.mean(axis=0))
    moments = WINE.T @ WINE / len(WINE)
    np.testing.assert_allclose(moments, covariance_matrix(WINE) + outer, rtol=1e-10)
    uncentred = fit_pca(WINE, 1, center=False)
    assert uncentred.variances[0] == pytest.approx(np.linalg.eigvalsh(moments)[-1], rel=1e-10)


def test_whitened_scores_have_covariance_one():
    """Whitening divides each score by its standard deviation: eq-pca-whiten."""
    model = fit_pca(WINE, 5)
    white = model.whiten(WINE)
    np.testing.assert_allclose(white.T @ white / len(WINE), np.eye(5), atol=1e-8)
    np.testing.assert_allclose(white * np.sqrt(model.variances), model.encode(WINE), atol=1e-8)


def test_whitening_a_direction_without_variance_is_refused():
    """Zero variance can't become one: eq-pca-whiten."""
    with pytest.raises(ValueError, match="Component 2 has zero variance.*k=1"):
        fit_pca(np.outer(np.arange(5.0), [1.0, 2.0]), 2).whiten(np.ones((1, 2)))


# --- solvers -------------------------------------------------------------------------------------


@each_solver
def test_solvers_agree(solver):
    """All solvers find the same model to ten digits: eq-pca-solution eq-pca-eigen eq-pca-span."""
    for shape in ((60, 9), (9, 60), (20, 20)):
        for center in (True, False):
            X = with_exact_spectrum(np.linspace(4, 1, 7), *shape)
            model, k = fit_pca(X, 4, center=center, solver=solver), 4
            A = centred(X) if center else X
            _, s, Vt = np.linalg.svd(A, full_matrices=False)
            np.testing.assert_allclose(model.s, s[:k], rtol=1e-10)
            np.testing.assert_allclose(np.abs(np.sum(model.V * Vt[:k].T, axis=0)), 1, atol=1e-10)
            assert model.total_variance == pytest.approx(np.sum(s**2) / len(X), rel=1e-10)
            np.testing.assert_allclose(model.mean, X.mean(axis=0) if center else 0, atol=1e-12)
            assert (model.n, model.k) == (len(X), k)


@pytest.mark.parametrize("solver", IMPLICIT)
def test_sparse_and_operator_input(solver):
    """Sparse matrices and operators give the model of the dense array: eq-pca-implicit."""
    kinds = (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, aslinearoperator)
    kinds = (*kinds, lambda X: sparse.csr_array(X.astype(int)))
    for shape in ((70, 12), (12, 70), (150, 140), (140, 150)):  # iterated where it is large
        rng = np.random.default_rng(0)
        dense = np.where(rng.random(shape) < 0.3, rng.integers(1, 9, shape), 0).astype(float)
        dense += np.outer(rng.random(shape[0]) > 0.5, 20 * (rng.random(shape[1]) > 0.8))
        wanted = fit_pca(dense, 1, solver="svd")
        for kind in kinds:
            model = fit_pca(kind(dense), 1, solver=solver)
            np.testing.assert_allclose(model.s, wanted.s, rtol=1e-8)
            np.testing.assert_allclose(model.V, wanted.V, atol=1e-7)
            np.testing.assert_allclose(model.explained_ratio, wanted.explained_ratio, rtol=1e-8)


@each_kind_and_solver
def test_all_copies_of_a_singular_value_are_found(kind, solver):
    """Ties of any size, cut anywhere: the s are right, and V is orthonormal: eq-pca-optimum."""
    rng = np.random.default_rng(0)
    for n, d, k, copies in (
        (340, 330, 15, (60, 60)),
        (330, 340, 15, (60, 60)),
        (250, 240, 9, (1, 5, 17, 2, 30)),
        (240, 250, 9, (1,) * 40),
    ):
        values = np.linspace(3, 2, len(copies))
        exact = np.append(np.repeat(values, copies), np.linspace(0.01, 0, min(n, d) - sum(copies)))
        X = (orthonormal(n, exact.size, rng) * exact) @ orthonormal(d, exact.size, rng).T
        model = fit_pca(KINDS[kind](X), k, center=False, solver=solver)
        tol = 0.1 if solver == "randomized" else 1e-9
        np.testing.assert_allclose(model.s, exact[:k], rtol=tol)
        assert_orthonormal(model.V, 100)
        kept = np.linalg.norm(X @ model.V, axis=0)
        np.testing.assert_allclose(kept, model.s, rtol=1e-2 if tol > 0.01 else 1e-7)


@each_solver
def test_directions_are_orthonormal_whatever_the_spectrum(solver):
    """Tiny components stand at right angles to large ones, to rounding: eq-pca-solution."""
    rng = np.random.default_rng(0)
    for fall in (1e-1, 1e-4, 3e-7, 1e-9):
        for shape in ((30, 4), (4, 30), (12, 12)):
            size = np.geomspace(1, fall, shape[1])
            X = rng.standard_normal(shape) * size
            for k in (2, min(shape)):
                assert_orthonormal(fit_pca(X, k, solver=solver).V, 30)


@pytest.mark.parametrize("shape", [(80, 12), (12, 80)])
@pytest.mark.parametrize("smallest", [1 / 3, 1 / 30, 1 / 300])
def test_auto_guards_directions(shape, smallest):
    """Close singular values at the cut, or above it, send "auto" to the SVD: eq-pca-digits."""
    for gap in (1e-3, 1e-5, 1e-7, 1e-9):
        for k in (2, 3):
            s = np.array([1, smallest, smallest * (1 - gap), smallest / 2, smallest / 3])
            U = orthonormal(shape[0], 5, 1)
            V = orthonormal(shape[1], 5, 2)
            found = fit_pca((U * s) @ V.T, k, center=False).V
            by_svd = fit_pca((U * s) @ V.T, k, center=False, solver="svd").V
            for columns in range(1, k + 1):
                angle, best = (
                    subspace_angles(W[:, :columns], V[:, :columns]).max() for W in (found, by_svd)
                )
                assert angle <= max(4 * best, 1e-6), (gap, columns, angle, best)


@each_solver
def test_shifts_and_scales(solver):
    """A shift moves the mean, a unit the variances; nothing else changes: eq-pca-center."""
    for shape in ((40, 6), (6, 40)):
        X = planted([9.0, 5.0], *shape)
        one = fit_pca(X, 2, solver=solver)
        shift = np.linspace(-30, 50, shape[1])
        moved = fit_pca(X + shift, 2, solver=solver)
        np.testing.assert_allclose(moved.mean - one.mean, shift, atol=1e-12)
        np.testing.assert_allclose(moved.s, one.s, rtol=1e-11)
        np.testing.assert_allclose(moved.V, one.V, atol=1e-10)
        for unit in (1e-140, 1e-60, 3.0, 1e60, 1e140):
            scaled = fit_pca(unit * X, 2, solver=solver)
            np.testing.assert_allclose(scaled.s / unit, one.s, rtol=1e-11)
            np.testing.assert_allclose(scaled.explained_ratio, one.explained_ratio, rtol=1e-11)
            np.testing.assert_allclose(scaled.V, one.V, atol=1e-10)


@each_kind_and_solver
def test_single_precision_of_any_size(kind, solver):
    """float32 in, float32 out, right to its digits, though squares leave its range: eq-pca-share"""
    X = with_exact_spectrum([9.0, 5.0, 3.0], 40, 6, mean=1.0)
    for unit in (1e-30, 1e-19, 1.0, 1e19, 1e30):
        if kind == "operator" and unit != 1:
            continue
        data = KINDS[kind]((unit * X).astype(np.float32))
        model = fit_pca(data, 3, solver=solver)
        assert {a.dtype for a in (model.mean, model.V, model.s)} == {np.dtype(np.float32)}
        np.testing.assert_allclose(model.s / unit, [9, 5, 3], rtol=2e-5)
        np.testing.assert_allclose(model.explained_ratio, np.array([81, 25, 9]) / 115, rtol=1e-4)
        if kind == "dense":
            assert model.encode(data).dtype == np.float32


@pytest.mark.parametrize("shape", [(300, 160), (160, 300)])
@pytest.mark.parametrize("kind", KINDS)
def test_iterating_knows_no_unit(kind, shape):
    """Singular values far below one are found as others are: eq-pca-dual."""
    s = np.array([9.0, 5.0, 3.0, 1.0])
    X = 1e-4 * with_exact_spectrum(s, *shape, mean=1.0)
    assert lanczos_pays(min(shape), 2)
    model = fit_pca(KINDS[kind](X), 2, solver="lanczos")
    np.testing.assert_allclose(model.s, 1e-4 * s[:2], rtol=1e-6)


@each_solver
def test_other_precisions(solver):
    """Half and extended precision, whole numbers and Booleans are taken as doubles."""
    X = np.arange(24).reshape(6, 4) ** 2 % 17
    wanted = fit_pca(X.astype(float), 2, solver=solver)
    for dtype in (np.float16, np.longdouble, np.int8, np.uint64, object):
        model = fit_pca(X.astype(dtype), 2, solver=solver)
        assert model.V.dtype == np.float64
        np.testing.assert_allclose(model.s, wanted.s, rtol=1e-12)
    assert fit_pca(np.eye(3, dtype=bool), 1, solver=solver).k == 1
    assert fit_pca(X.tolist(), 2, solver=solver).s[0] == pytest.approx(wanted.s[0])


def test_operators_of_other_precisions():
    """An operator may have no precision, or one that LAPACK doesn't know."""
    X = planted([5.0, 3.0], 15, 6)
    wanted = fit_pca(X, 2)
    for dtype in (np.longdouble, np.float64, None):
        A = LinearOperator(
            X.shape, lambda v: X @ v, lambda u: X.T @ u, dtype=dtype, matmat=lambda B: X @ B
        )
        for solver in IMPLICIT:
            np.testing.assert_allclose(fit_pca(A, 2, solver=solver).s, wanted.s, rtol=1e-9)


def test_sparse_data_are_never_made_dense(monkeypatch):
    """No solver for sparse data calls toarray or todense: eq-pca-implicit."""

    def refuse(*_, **__):
        raise AssertionError("made dense")

    X = sparse.random_array((300, 50), density=0.05, format="csr", rng=1)
    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, name, refuse)
        monkeypatch.setattr(sparse.csc_array, name, refuse)
    for solver in IMPLICIT:
        fit_pca(X, 3, solver=solver)


def test_all_directions_of_sparse_data_take_the_smaller_side(monkeypatch):
    """k=None forms n×n or d×d, whichever is smaller; what doesn't fit is refused: eq-pca-dual."""
    monkeypatch.setattr(pca_solvers, "available_memory", lambda: 16e9)
    wide = sparse.random_array((30, 200_000), density=1e-3, rng=0, format="csr")
    model = fit_pca(wide)
    assert model.k == 29
    assert model.explained_ratio.sum() == pytest.approx(1)
    assert fit_pca(wide.T.tocsr()).k == 30
    large = sparse.eye_array(40_000, 50_000, format="csr")
    for attempt, words in (
        (lambda: fit_pca(large), "40000×40000 matrix X_cX_cᵀ is needed, and takes 12.8 GB"),
        (lambda: fit_pca(large), "ask for at most k=2"),
        (lambda: fit_pca(large, 30_000), "12.8 GB"),
        (lambda: fit_pca(wide, 2, solver="covariance"), 'choose solver="gram"'),
        (lambda: fit_pca(wide.T, 2, solver="gram"), 'choose solver="covariance"'),
    ):
        with pytest.raises(ValueError, match="GB") as caught:
            attempt()
        assert words in str(caught.value)


def test_duplicate_entries_are_summed():
    """A CSR matrix with the same place twice means the sum of both: eq-pca-implicit."""
    X = sparse.csr_array((np.ones(4), [0, 0, 1, 2], [0, 2, 3, 4]), shape=(3, 3))
    dense = np.array([[2.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    before = X.nnz
    assert fit_pca(X, 1).total_variance == pytest.approx(fit_pca(dense, 1).total_variance)
    assert X.nnz == before


def test_the_operator_is_the_centred_matrix():
    """Products with X_c and its transpose need only X and the mean: eq-pca-implicit."""
    X = planted([5.0], 15, 6)
    for given_ in (X, X.tolist(), sparse.csr_array(X), aslinearoperator(X)):
        A = centered_operator(given_)
        assert isinstance(A, LinearOperator)
        np.testing.assert_allclose(A @ np.eye(6), centred(X), atol=1e-13)
        np.testing.assert_allclose(A.T @ np.eye(15), centred(X).T, atol=1e-13)
        np.testing.assert_allclose(A.H @ np.eye(15), centred(X).T, atol=1e-13)
        np.testing.assert_allclose(A.T.T @ np.eye(6), centred(X), atol=1e-13)
        np.testing.assert_allclose(A @ np.ones(6), centred(X).sum(axis=1), atol=1e-13)
        np.testing.assert_allclose(A.T @ np.arange(15), centred(X).T @ np.arange(15), atol=1e-12)
        np.testing.assert_allclose(A.rmatvec(np.arange(15)), centred(X).T @ np.arange(15))
    np.testing.assert_allclose(centered_operator(X, np.zeros(6)) @ np.eye(6), X)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_what_squaring_loses(shape):
    """Squared solvers err like ε(s₁/sⱼ)², "svd" and "auto" keep the digits: eq-pca-digits."""
    s = 10.0 ** -np.arange(10)
    X = with_exact_spectrum(s, *shape, mean=0.0)
    for solver in ("covariance", "gram", "lanczos"):
        error = np.abs(fit_pca(X, 7, solver=solver).s / s[:7] - 1)
        assert np.all(error <= 100 * EPS / s[:7] ** 2)
        assert fit_pca(X, 10, solver=solver).s[-1] == 0  # 1e-9 is below √ε
    for solver in ("svd", "auto"):
        found = fit_pca(X, 10, solver=solver).s
        assert np.all(np.abs(found / s - 1) <= 100 * EPS / s)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_auto_keeps_two_thirds_of_the_digits(shape):
    """Whatever the spectrum, no requested variance is off by more than ε^(2/3): eq-pca-digits."""
    for smallest in (1e-1, 5e-3, 1e-3, 2e-4, 1.3e-4, 1e-5, 1e-8):
        s = np.geomspace(1, smallest, 8)
        found = fit_pca(with_exact_spectrum(s, *shape, mean=0.0), 8).s
        assert np.abs(found / s - 1).max() <= 30 * max(EPS ** (2 / 3), EPS / smallest)


@pytest.mark.parametrize("shape", [(300, 200), (200, 300)])
def test_auto_keeps_them_also_where_few_directions_are_wanted(shape):
    """Iterating would be quick here, and would keep half of the digits of s₁: eq-pca-digits."""
    s = np.array([1.0, 1e-5, 8e-6, 5e-6])
    assert lanczos_pays(min(shape), 3)
    found = fit_pca(with_exact_spectrum(s, *shape, mean=0.0), 3)
    np.testing.assert_allclose(found.s, s[:3], rtol=1e-8)


def test_a_large_mean_costs_no_more_digits_than_it_must():
    """Variances survive a mean that is 1e6 times the spread: eq-pca-center eq-pca-covariance."""
    s = np.linspace(2, 1, 5)
    X = with_exact_spectrum(s, 2000, 8, mean=1e6)
    for solver in DENSE:
        np.testing.assert_allclose(fit_pca(X, 5, solver=solver).s, s, rtol=1e-7)


def test_large_matrices_with_few_components_are_iterated(monkeypatch):
    """Above a size "auto" iterates, to the same digits: eq-pca-solution."""
    monkeypatch.setattr(pca_solvers, "LARGE", 200)
    for shape in ((260, 280), (280, 260)):
        X = planted([90.0, 60.0], *shape)
        wanted = fit_pca(X, 2, solver="svd")
        with monkeypatch.context() as watch:
            for name in ("scatter", "gram", "array"):
                watch.delattr(pca_solvers.Centered, name)  # X_c and its squares aren't formed
            model = fit_pca(X, 2)
        np.testing.assert_allclose(model.s, wanted.s, rtol=1e-12)
        np.testing.assert_allclose(model.V, wanted.V, atol=1e-7)


def test_agrees_with_fifty_digits():
    """Variances and directions are those of mpmath's eigenvalues of C: eq-pca-eigen."""
    X = planted([6.0, 3.0], 7, 4, 3)
    with mpmath.workdps(50):
        M = mpmath.matrix(X.tolist())
        ones = mpmath.ones(7, 1)
        Mc = M - ones * (ones.T * M) / 7
        lam, V = mpmath.eigsy(Mc.T * Mc / 7)
    lam = np.array([float(value) for value in lam])[::-1]
    V = np.array(V.tolist(), float)[:, ::-1]
    model = fit_pca(X, 4)
    np.testing.assert_allclose(model.variances, lam, rtol=1e-13)
    np.testing.assert_allclose(np.abs(np.sum(model.V * V, axis=0)), 1, atol=1e-13)


@each_kind_and_solver
def test_all_components_reconstruct_and_none_gives_the_mean(kind, solver):
    """k = min(n, d) loses nothing, k = 0 leaves the mean: eq-pca-decode eq-pca-optimum."""
    for shape in ((9, 4), (4, 9), (5, 5)):
        X = planted([4.0, 3.0], *shape)
        full, empty = (fit_pca(KINDS[kind](X), k, solver=solver) for k in (min(shape), 0))
        np.testing.assert_allclose(full.reconstruct(X), X, atol=1e-6)
        assert_orthonormal(full.V, 100)
        means = np.tile(X.mean(axis=0), (shape[0], 1))
        for rebuilt in (empty.reconstruct(X), empty.decode(empty.encode(X))):
            np.testing.assert_allclose(rebuilt, means)
        assert (empty.V.shape, empty.explained_ratio.size) == ((shape[1], 0), 0)
        assert empty.total_variance == pytest.approx(full.variances.sum())


@each_kind_and_solver
def test_constant_data_have_no_variance(kind, solver):
    """Rounding of the mean is not taken for variance; directions stay orthonormal: eq-pca-share."""
    for n, value in ((30, 0.0), (300, 0.1), (7, -1e10 / 7), (301, np.pi), (30, 1e-200)):
        X = KINDS[kind](np.full((n, 4), value))
        model = fit_pca(X, 2, solver=solver)
        assert np.array_equal(model.s, [0, 0])
        assert np.array_equal(model.explained_ratio, [0, 0])
        assert_orthonormal(model.V, 4)
        assert fit_pca(X, solver=solver).k == fit_pca(X, 0.9, solver=solver).k == 0


@pytest.mark.parametrize("make", [sparse.csr_array, aslinearoperator])
def test_where_nothing_varies_nothing_is_iterated(monkeypatch, make):
    """The rounding of products would never settle: eq-pca-share."""
    monkeypatch.setattr(pca_solvers, "top_eigenpairs", None)
    assert lanczos_pays(180, 2)
    model = fit_pca(make(np.full((200, 180), 0.5)), 2)
    assert np.array_equal(model.s, [0, 0])
    assert_orthonormal(model.V, 180)


def test_a_very_long_constant_column_has_no_variance():
    """A million equal numbers have their value as mean, to a few units of rounding."""
    for value in (0.1, 1 / 3, 123.456):
        X = np.full((1_000_000, 2), value)
        assert fit_pca(X, 1).s[0] == 0
        assert abs(sums.column_means(X)[0] / value - 1) <= 16 * EPS
        for kind in (sparse.csr_array, aslinearoperator):
            assert fit_pca(kind(X[:30_000]), 1).s[0] == 0


@each_solver
def test_directions_beyond_the_rank(solver):
    """They have s = 0 exactly, are orthonormal and orthogonal to the data: eq-pca-span."""
    for shape in ((30, 6), (6, 30)):
        X = with_exact_spectrum([3.0, 2.0], *shape)
        model = fit_pca(X, 5, solver=solver)
        np.testing.assert_allclose(model.s[:2], [3, 2])
        assert np.array_equal(model.s[2:], [0, 0, 0])
        assert_orthonormal(model.V, 100)
        assert_tiny(centred(X) @ model.V[:, 2:], 1e4)


@each_solver
def test_none_keeps_all_directions_with_variance(solver):
    """k=None counts the rank of X_c: at most n − 1 of wide data: eq-pca-span."""
    rng = np.random.default_rng(0)
    assert fit_pca(rng.standard_normal((5, 9)), solver=solver).k == 4
    assert fit_pca(rng.standard_normal((9, 5)), solver=solver).k == 5
    assert fit_pca(rng.standard_normal((5, 9)), center=False, solver=solver).k == 5
    assert fit_pca([[1.0, 2.0]], solver=solver).k == 0
    if solver in IMPLICIT:
        assert fit_pca(sparse.eye_array(6, format="csr"), solver=solver).k == 5


@each_kind_and_solver
def test_a_share_of_the_variance_keeps_as_few_as_have_it(kind, solver):
    """k = 0.9 keeps the smallest number whose shares add up to 0.9: eq-pca-share."""
    for shape, count in (((30, 12), 12), ((12, 30), 11), ((250, 240), 40)):
        X = with_exact_spectrum(np.geomspace(8, 1, count), *shape)
        shares = np.cumsum(fit_pca(X, solver="svd").explained_ratio)
        for share in (1e-9, 0.62, np.float32(0.9), 0.999):
            model = fit_pca(KINDS[kind](X), share, solver=solver)
            assert model.k == int(np.argmax(shares >= share)) + 1
            assert model.explained_ratio.sum() >= share - 1e-6
            assert_orthonormal(model.V, 100)


def test_a_share_that_is_met_exactly_is_met():
    """Rounding doesn't add a component: of variances 4, 4, 1, 1 two have 80 %: eq-pca-share."""
    X = np.kron(np.diag([2.0, 2.0, 1.0, 1.0]), np.array([[1.0], [-1.0]])) * np.sqrt(0.1)
    for solver in DENSE:
        for unit in (1.0, 3.7, 1e-7):
            counts = [fit_pca(unit * X, share, solver=solver).k for share in (0.4, 0.8, 0.9)]
            assert counts == [1, 2, 3]


@sparing
@given(data())
def test_signs_are_deterministic(X):
    """The largest entry of each direction is positive, whichever solver: eq-pca-solution."""
    for solver in DENSE:
        V = fit_pca(X, 1, solver=solver).V
        assert V.max() >= (1 - 2e-6) * np.abs(V).max()


def test_inputs_are_never_changed():
    """Dense and sparse data stay as they were, read-only data are welcome: eq-pca-center."""
    X = planted([5.0], 12, 5)
    X.flags.writeable = False
    S = sparse.csr_array(X)
    before = S.copy()
    for solver in IMPLICIT:
        fit_pca(X, 2, solver=solver), fit_pca(S, 2, solver=solver)
    standardize(X), covariance_matrix(X), fit_pca(X, 2).whiten(X), dual_coefficients(X @ X.T, 2)
    assert (before != S).nnz == 0


def test_fewer_triplets_than_asked_for_are_completed():
    """A randomised SVD stops at the rank; s and V are completed: eq-pca-solution."""
    model = fit_pca(with_exact_spectrum([3.0, 2.0], 30, 6), 4, solver="randomized")
    np.testing.assert_allclose(model.s, [3, 2, 0, 0], atol=1e-12)
    assert_orthonormal(model.V, 10)


@sparing
@given(data(), seeds)
def test_randomized_is_reproducible_and_never_above_the_truth(X, seed):
    """The same seed gives the same model, and no s exceeds the true one: eq-pca-solution."""
    k = min(2, *X.shape)
    one, two = (fit_pca(X, k, solver="randomized", rng=seed) for _ in range(2))
    assert np.array_equal(one.V, two.V)
    assert np.all(one.s <= svdvals(X)[:k] * (1 + 1e-9) + 1e-9)


# --- the model -----------------------------------------------------------------------------------


def test_a_model_can_be_made_by_hand():
    """Without a total the kept components are all there is: eq-pca-share."""
    model = PCA(np.zeros(2), np.eye(2), np.array([2.0, 1.0]), 4)
    np.testing.assert_allclose(model.explained_ratio, [0.8, 0.2])
    assert repr(model) == "PCA(k=2 of d=2, n=4)"
    with pytest.raises(AttributeError):
        model.n = 5


def test_a_model_says_what_it_is():
    """A short text names k, d, n and the share."""
    W = standardize(WINE)[0]
    assert repr(fit_pca(W, 2)) == "PCA(k=2 of d=13, n=178, 55.4 % of the variance)"
    assert repr(fit_pca(W)) == "PCA(k=13 of d=13, n=178, 100 % of the variance)"


def test_features_with_names():
    """A model fitted on a table knows its columns, and refuses them in another order."""
    table = pd.DataFrame(WINE[:, :3], columns=["alcohol", "malic_acid", "ash"])
    model = fit_pca(table, 2)
    assert model.columns == ("alcohol", "malic_acid", "ash")
    np.testing.assert_allclose(model.encode(table), model.encode(WINE[:, :3]))
    for use in (model.encode, model.reconstruct, model.whiten):
        with pytest.raises(ValueError, match="Column 0 of X is called 'ash'"):
            use(table[["ash", "malic_acid", "alcohol"]])
    with pytest.raises(ValueError, match=r"Column 1 \('malic_acid'\) is constant"):
        standardize(table.assign(malic_acid=2.0))
    assert fit_pca(WINE, 2).columns is None


# --- the dual ------------------------------------------------------------------------------------


@thorough
@given(data())
def test_dual_coefficients(X):
    """Kα = λ̃α, ‖α‖ = 1/√λ̃, X_cᵀα has length one: eq-pca-dual eq-pca-alpha eq-pca-span."""
    Xc = centred(X)
    K = Xc @ Xc.T
    alpha, lam = dual_coefficients(K, 1)
    if lam[0] > 1e-6:
        assert_tiny(K @ alpha - alpha * lam, 1000 * len(X), np.trace(K))
        assert np.linalg.norm(alpha) == pytest.approx(1 / np.sqrt(lam[0]))
        assert np.linalg.norm(Xc.T @ alpha) == pytest.approx(1)
        assert lam[0] / len(X) == pytest.approx(fit_pca(X, 1).variances[0])


@pytest.mark.parametrize("shape", [(5, 30), (30, 5)])
def test_a_new_sample_by_inner_products(shape):
    """Σαᵢ(xᵢ − x̄)ᵀ(t − x̄) is the score of t, for wide and tall data: eq-pca-new."""
    X = planted([9.0, 6.0], *shape)
    t = np.linspace(0, 1, shape[1])
    alpha, _ = dual_coefficients(centred(X) @ centred(X).T, 2)
    dual = alpha.T @ (centred(X) @ (t - X.mean(axis=0)))
    np.testing.assert_allclose(np.abs(dual), np.abs(fit_pca(X, 2).encode(t[None])[0]))


def test_eigenvectors_of_zero_are_orthogonal_to_the_data():
    """Of 8 eigenvectors of C of 4 samples, 3 lie in the span, 5 are orthogonal: eq-pca-span."""
    X = np.random.default_rng(0).standard_normal((4, 8))
    _, vectors = np.linalg.eigh(covariance_matrix(X))
    P = np.linalg.pinv(centred(X)) @ centred(X)
    distances = np.linalg.norm(vectors - P @ vectors, axis=0)
    np.testing.assert_allclose(distances, [1] * 5 + [0] * 3, atol=1e-7)


def test_coefficients_of_zero_eigenvalues_are_zero():
    """Where λ̃ = 0 there is nothing to divide by: eq-pca-alpha."""
    alpha, lam = dual_coefficients(np.diag([2.0, 0.0, 0.0]), 3)
    np.testing.assert_allclose(lam, [2, 0, 0])
    np.testing.assert_allclose(np.abs(alpha), [[np.sqrt(0.5), 0, 0], [0, 0, 0], [0, 0, 0]])
    assert [a.shape for a in dual_coefficients(np.eye(3), 0)] == [(3, 0), (0,)]
    assert not dual_coefficients(np.zeros((3, 3)), 2)[0].any()


# --- sums ----------------------------------------------------------------------------------------


def test_sums_against_the_plain_version():
    """Blocks, pieces and sparse data give the sums that one line gives, in all layouts."""
    rng = np.random.default_rng(0)
    for n, d in ((1, 1), (63, 3), (64, 2), (65, 2), (4097, 3), (20_000, 5), (7, 4100)):
        X = rng.standard_normal((n, d)) * 3 + 1e3
        exact = np.array([math.fsum(column) for column in X.T]) / n
        for form in (X, np.asfortranarray(X), X[::-1], np.repeat(X, 2, axis=1)[:, ::2]):
            np.testing.assert_allclose(sums.column_means(form), exact, rtol=16 * EPS)
        np.testing.assert_allclose(sums.column_means(sparse.csr_array(X)), exact, rtol=n * EPS)
        np.testing.assert_allclose(sums.column_means(aslinearoperator(X)), exact, rtol=1e-12)
        X_c = X - exact
        total = math.fsum((X_c**2).ravel())
        assert sums.sum_of_squares(X, exact) == pytest.approx(total, rel=1e-13)
        assert sums.sum_of_squares(sparse.csr_array(X), exact) == pytest.approx(total, rel=1e-12)
        np.testing.assert_allclose(sums.column_scales(X_c), np.sqrt(np.mean(X_c**2, axis=0)))
        if d < 10:
            wanted = X_c.T @ X_c
            np.testing.assert_allclose(sums.scatter_matrix(X, exact), wanted, atol=1e-12 * total)
        if n < 100:
            wanted = X_c @ X_c.T
            np.testing.assert_allclose(sums.gram_matrix(X, exact), wanted, atol=1e-12 * total)


def test_the_sum_of_squares_needs_no_second_copy():
    """The difference X − 1x̄ᵀ is formed some rows at a time."""
    X = np.random.default_rng(0).standard_normal((400_000, 3))
    mean = sums.column_means(X)
    tracemalloc.start()
    sums.sum_of_squares(X, mean)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2


def test_a_long_column_of_single_precision_keeps_its_mean():
    """Means are added up in double: right to the rounding of the result: eq-pca-center."""
    for value in (0.1, 1 / 3, 7e5):
        X = np.full((50_000, 2), value, np.float32)
        for form in (X, np.asfortranarray(X)):
            assert center_data(form)[1][0] == pytest.approx(value, rel=2.0**-23)
        long = np.repeat(np.float32([1.0, 3.0]) * np.float32(value), 30_000)[:, None]
        assert center_data(long)[1][0] == pytest.approx(2 * value, rel=2.0**-23)
        scatter = sums.scatter_matrix(long, sums.column_means(long))
        assert scatter[0, 0] == pytest.approx(60_000 * value**2, rel=1e-5)


def test_scales_of_columns_of_any_size():
    """Columns from 1e-200 to 1e200 are brought to variance one: eq-pca-correlation."""
    X = planted([3.0], 20, 4)
    units = np.array([1e-200, 1.0, 1e100, 1e200])
    Z, mean, scale = standardize(X * units)
    np.testing.assert_allclose(Z, standardize(X)[0], rtol=1e-12)
    np.testing.assert_allclose(scale / units, X.std(axis=0))
    np.testing.assert_allclose(mean / units, X.mean(axis=0))


# --- bad input -----------------------------------------------------------------------------------

X = planted([3.0], 6, 4)
S = sparse.csr_array(X)
GAPS = np.where(X[2, 1] == X, np.nan, X)
MODEL = fit_pca(X, 2)
TABLE = pd.DataFrame({"size": [1.0, 2.0, 4.0], "colour": ["red", "blue", "red"]})
BAD = {
    "k too large": (lambda: fit_pca(X, 5), "at most 4 exist"),
    "k negative": (lambda: fit_pca(X, -1), "at least 0"),
    "k one": (lambda: fit_pca(X, 1.0), "k=1 is one"),
    "k no int": (lambda: fit_pca(X, 2.0), "share of the variance between 0 and 1"),
    "k zero share": (lambda: fit_pca(X, 0.0), "whole number"),
    "k negative share": (lambda: fit_pca(X, -0.5), "whole number"),
    "k NaN": (lambda: fit_pca(X, np.nan), "whole number"),
    "k boolean": (lambda: fit_pca(X, True), "whole number"),
    "k text": (lambda: fit_pca(X, "two"), "whole number"),
    "center": (lambda: fit_pca(X, 2, center="no"), "True or False"),
    "center zero": (lambda: fit_pca(X, 2, center=0), "True or False"),
    "solver": (lambda: fit_pca(X, 2, solver="magic"), '"covariance"'),
    "solver no text": (lambda: fit_pca(X, 2, solver=None), '"lanczos"'),
    "rng": (lambda: fit_pca(X, 2, solver="randomized", rng="seed"), "seed"),
    "svd of sparse": (lambda: fit_pca(S, 2, solver="svd"), "never make it dense"),
    "1-D": (lambda: fit_pca([1.0, 2.0], 1), "reshape"),
    "empty": (lambda: fit_pca(np.ones((0, 3)), 1), "empty"),
    "text": (lambda: fit_pca([["a", "b"]], 1), "not numbers"),
    "text in a table": (lambda: fit_pca(TABLE, 1), "column 'colour'"),
    "complex": (lambda: fit_pca(X * 1j, 1), "complex"),
    "complex sparse": (lambda: fit_pca(S * 1j, 1), "complex"),
    "complex operator": (lambda: fit_pca(aslinearoperator(X * 1j), 1), "complex"),
    "NaN": (lambda: fit_pca(GAPS, 1), "[2, 1]"),
    "NaN, what to do": (lambda: fit_pca(GAPS, 1), "fit_ppca_em(X, k)"),
    "NaN standardised": (lambda: standardize(GAPS), "fit_ppca_em(X, k)"),
    "NaN centred": (lambda: center_data(GAPS), "fit_ppca_em(X, k)"),
    "NaN encoded": (lambda: MODEL.encode(GAPS), "fit_ppca_em(X, k)"),
    "infinity": (lambda: fit_pca(np.where(X[0, 3] == X, -np.inf, X), 1), "[0, 3]"),
    "both infinities": (lambda: fit_pca([[np.inf, 1.0], [-np.inf, 1.0]], 1), "infinity"),
    "NaN uncentred": (lambda: fit_pca([[np.nan, 1.0]], 1, center=False), "NaN"),
    "NaN in sparse": (lambda: fit_pca(sparse.csr_array([[np.nan, 1.0]]), 1), "X.data"),
    "empty sparse": (lambda: fit_pca(sparse.csr_array((0, 3)), 1), "at least one row"),
    "huge mean": (lambda: fit_pca(np.full((3, 2), 1e308), 1), "overflow"),
    "new columns": (lambda: MODEL.encode(X[:, :3]), "3 columns and the model was fitted on 4"),
    "1-D encoded": (lambda: MODEL.encode(X[0]), "reshape"),
    "scores": (lambda: MODEL.decode(np.ones((2, 3))), "3 columns and the model 2"),
    "constant column": (lambda: standardize(X * [1, 0, 1, 1] + 0.1), "Column 1 is constant"),
    "sparse standardised": (lambda: standardize(S), "sparse"),
    "pair": (lambda: encoder_decoder_loss(X, np.ones((4, 2)), np.ones((4, 2))), "(k, d)"),
    "gram shape": (lambda: dual_coefficients(X, 1), "square"),
    "gram symmetry": (lambda: dual_coefficients(np.triu(np.ones((3, 3))), 1), "not symmetric"),
    "gram indefinite": (lambda: dual_coefficients(np.diag([1.0, -1.0]), 1), "below zero"),
    "gram k": (lambda: dual_coefficients(np.eye(3), 4), "at most 3"),
    "gram share": (lambda: dual_coefficients(np.eye(3), 0.9), "whole number"),
    "operator mean": (lambda: centered_operator(X, [1.0, 2.0]), "4 numbers are needed"),
}


@pytest.mark.parametrize(("attempt", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_explained(attempt, words):
    """Each kind of bad input has its sentence."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        attempt()
    assert words in str(caught.value)


@each_kind_and_solver
def test_squares_out_of_range_are_explained(kind, solver):
    """Data whose variances no float can hold get a sentence, whichever solver."""
    spread = planted([3.0], 30, 5)
    for unit, words in ((1e200, "so large that their squares overflow"), (1e-200, "vanish")):
        if kind == "operator" and unit < 1:
            continue
        with pytest.raises(ValueError, match=words):
            fit_pca(KINDS[kind](unit * spread), 2, solver=solver)


def test_options_are_named():
    """What comes after k is given by name; flags may be NumPy's."""
    with pytest.raises(TypeError, match="positional"):
        fit_pca(X, 2, False)
    assert fit_pca(X, 2, center=np.True_).mean.any()
    assert not fit_pca(X, 2, center=np.False_).mean.any()
    assert fit_pca(X, np.int8(2)).k == fit_pca(X, np.uint64(2)).k == 2


@sparing
@given(data(), st.floats(0.01, 0.99))
def test_a_share_is_enough_and_one_less_is_not(X, share):
    """The kept shares reach what was asked for, and without the last they don't: eq-pca-share."""
    assume(np.ptp(X, axis=0).max() > 1e-3)
    ratio = fit_pca(X, share).explained_ratio
    assert ratio.sum() >= share - 1e-8 > ratio[:-1].sum() - 2e-8


def test_every_public_name_is_tested_here():
    """All that the module offers is imported by this file."""
    assert set(module.__all__) <= set(globals())


def test_a_square_matrix_may_fill_the_room(monkeypatch):
    """The covariance of five features is 5² doubles, which may be as many bytes as there are."""
    X = planted([3.0, 2.0], 4, 5)
    monkeypatch.setattr(pca_solvers, "ROOM", 5**2 * 8)
    assert fit_pca(X, 2, solver="covariance").k == 2
    monkeypatch.setattr(pca_solvers, "ROOM", 5**2 * 8 - 1)
    with pytest.raises(ValueError, match='solver="gram"'):
        fit_pca(X, 2, solver="covariance")


def test_sampling_asks_for_more_until_the_share_is_there():
    """For half of the variance 8 directions are tried, 16, then all: and then it ends."""
    asked = []

    def nothing_found(X_c, m, **options):
        asked.append(m)
        return SimpleNamespace(s=np.full(m, 0.1), V=np.zeros((30, m)))

    data = SimpleNamespace(shape=(40, 30), sum_of_squares=lambda: 1.0)
    assert pca_solvers.by_sampling(nothing_found)(data, 0.5, 0).s.size == 30
    assert asked == [8, 16, 30]
    asked.clear()
    assert pca_solvers.by_sampling(nothing_found)(data, 0.15, 0).s.size == 16
    assert pca_solvers.by_sampling(nothing_found)(data, 3, 0).s.size == 3
    assert pca_solvers.by_sampling(nothing_found)(data, None, 0).s.size == 30
    assert asked == [8, 16, 3, 30]


def test_sampling_ends_where_the_share_is_met_or_all_are_there():
    """A share that is met exactly is met, and once all have been tried there is no more."""
    asked = []

    def halves(X_c, m, **options):
        asked.append(m)
        return SimpleNamespace(s=np.full(m, 0.25), V=np.zeros((32, m)))  # m/16 of the squares

    data = SimpleNamespace(shape=(40, 32), sum_of_squares=lambda: 1.0)
    assert pca_solvers.by_sampling(halves)(data, 0.5, 0).s.size == 8
    data.sum_of_squares = lambda: 100.0
    assert pca_solvers.by_sampling(halves)(data, 0.5, 0).s.size == 32
    assert asked == [8, 8, 16, 32]


def test_two_gigabytes_are_the_room_of_a_square_matrix(monkeypatch):
    """A side of 16,384 doubles has room and one more has not; the way out is the largest k."""
    monkeypatch.setattr(pca_solvers, "available_memory", lambda: 16e9)
    X_c = centered_operator(sparse.csr_array((20_006, 20_006)), np.zeros(20_006))
    X_c._check_room(16_384, "a matrix")
    with pytest.raises(ValueError, match='2.1 GB: choose solver="'):
        centered_operator(np.eye(3))._check_room(16_385, "a matrix")
    with pytest.raises(ValueError, match="at most k=1421,"):  # 14 · (1421 + 8) ≤ 20,006
        X_c.gram()
    for shape, form, way_out in (
        ((300_000, 3), "gram", "covariance"),
        ((3, 300_000), "scatter", "gram"),
    ):
        with pytest.raises(ValueError, match=f'choose solver="{way_out}"'):
            getattr(centered_operator(sparse.csr_array(shape)), form)()
    assert lanczos_pays(20_006, 1421)
    assert not lanczos_pays(20_006, 1422)


def test_when_squaring_keeps_enough_digits():
    """s_k² ≥ ε^(1/3) s₁², and all gaps of squares ≥ √ε s₁², that below s_k too: eq-pca-digits."""
    for scale in (1e-3, 1.0, 1e3):
        for s, k, kept in (
            ([1, 0.5], 0, False),
            ([1, 0.5, 0], 1, True),
            ([1, 0.5, 0], 2, True),
            ([1, 0.5, 0], 3, False),
            ([1, 0.5, 0.2, 0.2], 2, True),  # a tie among those that nobody asked for
            ([1, 0.5, 0.2, 0.2], 3, False),
            ([1, 0.5, 0.2, 0.2], 4, False),
            ([1, 3e-3, 0], 2, True),  # 9e-6 > ε^(1/3) = 6.1e-6
            ([1, 2e-3, 0], 2, False),
            ([1, 1 - 2e-8, 0], 2, True),  # 4e-8 > √ε = 1.5e-8
            ([1, 1 - 2e-9, 0], 2, False),
            ([1], 1, True),
        ):
            assert pca_solvers._keeps_digits(scale * np.array(s), k) is kept
        assert not pca_solvers._keeps_digits(np.float32([scale, 0.05 * scale]), 2)


def test_auto_squares_where_it_may(monkeypatch):
    """A few directions that stand apart are found without an SVD; for all of them it is taken."""
    ways = []
    for name in ("by_covariance", "by_gram", "by_svd"):
        plain = getattr(pca_solvers, name)
        monkeypatch.setattr(
            pca_solvers, name, lambda *a, plain=plain, name=name: ways.append(name) or plain(*a)
        )
    for shape, way in (((30, 9), "by_covariance"), ((9, 30), "by_gram")):
        X = planted([9.0, 6.0, 3.0], *shape)
        for k, wanted in ((2, [way]), (0.5, [way]), (None, ["by_svd"])):
            ways.clear()
            fit_pca(X, k)
            assert ways == wanted
        ways.clear()
        fit_pca(with_exact_spectrum([1.0, 1e-5], *shape, mean=0.0), 2)
        assert ways == [way, "by_svd"]


def test_directions_of_zero_are_made_anew():
    """What stands beside a singular value of zero is replaced, whatever it is."""
    s, V = pca_solvers.complete(np.array([2.0, 0.0]), np.eye(4)[:, [0, 0]], 2)
    assert s.tolist() == [2, 0]
    assert_orthonormal(V, 10)
    assert V[:, 0].tolist() == [1, 0, 0, 0]


def test_a_long_column_keeps_its_mean():
    """A tenth, a hundred thousand times: each number is added to few others: eq-pca-center."""
    X = np.full((100_000, 2), 0.1)
    np.testing.assert_allclose(sums.column_means(X), 0.1, rtol=1e-14)


def test_the_zeros_of_sparse_data_count():
    """An entry that is not stored lies −x̄ⱼ from the mean, whatever that is: eq-pca-center."""
    X = np.array([[0.0, 3.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 4.0, 0.0]])
    for mean in (X.mean(axis=0), np.array([0.5, -3.0, 7.0])):
        total = np.sum((X - mean) ** 2)
        assert sums.sum_of_squares(sparse.csr_array(X), mean) == pytest.approx(total)
        assert sums.sum_of_squares(X, mean) == pytest.approx(total)


@pytest.mark.parametrize("shape", [(2, 200), (200, 2), (70, 130), (130, 66), (64, 64)])
def test_the_squares_of_an_operator_take_the_smaller_side(shape):
    """‖X_c‖² of an operator comes from products with min(n, d) vectors, and no more."""
    X, columns = planted([3.0, 2.0], *shape), []

    def counted(A):
        return lambda B: columns.append(B.shape[1]) or A @ B

    n, d = shape
    operator = LinearOperator(
        shape, X.dot, X.T.dot, matmat=counted(X), rmatmat=counted(X.T), dtype=float
    )
    found = centered_operator(operator, X.mean(axis=0))
    assert found.sum_of_squares() == pytest.approx(np.sum(centred(X) ** 2))
    assert sum(columns) == min(n, d)


def test_single_precision_is_kept_where_its_squares_are():
    """Entries between 1e-12 and 1e12, and zeros, are squared as they are; others in doubles."""
    X = np.float32([[1.0, -1e-6], [0.5, 0.0]])
    for scale in (0, 1e-13, -1e-13, 1e-11, 1, 1e11, 1e13, -1e13):
        double = abs(scale) in (1e-13, 1e13)
        for form in (np.array, sparse.csr_array):
            X_c = centered_operator(form(np.float32(scale) * X))
            assert (X_c.in_range() is X_c) is not double
            assert (X_c.in_range().dtype == np.float64) is double


@pytest.mark.parametrize("solver", ["auto", "covariance", "lanczos", "randomized"])
def test_many_sparse_rows_in_single_precision_keep_their_variance(solver):
    """Far from the origin, and with many rows, the errors of the mean are no bound of the data:
    eq-pca-implicit."""
    rng = np.random.default_rng(0)
    X = (100 + 0.1 * rng.standard_normal((40_000, 4)) * [4, 3, 2, 1]).astype(np.float32)
    wanted = np.linalg.eigvalsh(np.cov(X.astype(float).T, ddof=0))[::-1]
    fit = fit_pca(sparse.csr_array(X), 4, solver=solver)
    np.testing.assert_allclose(fit.variances, wanted, rtol=1e-3)
    assert np.sum(fit.explained_ratio) == pytest.approx(1, rel=1e-3)
    constant = np.tile(X[:1], (40_000, 1))
    assert not fit_pca(sparse.csr_array(constant), 2, solver=solver).s.any()


@pytest.mark.parametrize("solver", ["auto", "lanczos", "randomized"])
def test_variance_below_the_rounding_of_an_operator_is_told(solver):
    """An operator adds up its mean in its own precision: what that hides is not zero in silence:
    eq-pca-implicit."""
    rng = np.random.default_rng(0)
    X = (100 + 0.1 * rng.standard_normal((40_000, 3))).astype(np.float32)
    with pytest.warns(UserWarning, match="rounding of single precision.*double precision"):
        assert not fit_pca(aslinearoperator(X), 2, solver=solver).s.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        in_doubles = fit_pca(aslinearoperator(X.astype(float)), 2, solver=solver)
        np.testing.assert_allclose(in_doubles.variances, 0.01, rtol=0.05)
        fit_pca(X, 2)
