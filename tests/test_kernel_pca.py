"""Kernel PCA against explicit features, dense eigenvectors, scikit-learn and published numbers."""

import copy
import pickle
import sys
import tracemalloc
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matrices import EPS, orthonormal, seeds, sparing, thorough
from scipy import linalg, sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, make_circles, make_swiss_roll
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from kpca_edu import fit_pca
from kpca_edu import kernel_pca as module
from kpca_edu._engine import eigen, gram_spectrum
from kpca_edu._engine.gram_spectrum import CenteredGram, checked_gram, positive_eigenpairs
from kpca_edu._engine.inner_products import neighbor_spacing
from kpca_edu._engine.panels import SymmetricPanels, lower_panels
from kpca_edu.kernel_pca import (
    KernelPCA,
    choose_sigma,
    denoising_error,
    fit_kernel_pca,
    fit_kernel_pca_gram,
    held_out_loss,
    kernel_model,
)
from kpca_edu.kernels import (
    cosine,
    laplacian,
    linear,
    median_sigma,
    polynomial,
    polynomial_features,
    rbf,
    sigmoid,
)
from kpca_edu.preimages import denoise, preimage

KERNELS = {
    "linear": linear(),
    "polynomial": polynomial(2, 1.0),
    "rbf": rbf(1.5),
    "laplacian": laplacian(2.0),
    "cosine": cosine(),
    "mixed": 0.5 * linear() + rbf(1.0) * polynomial(2),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def made(n, d, seed=0):
    """Samples with different spreads and a mean."""
    return np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(2, 0.5, d) + 0.7


def centred(F):
    return F - F.mean(axis=0)


def J(n):
    return np.eye(n) - np.ones((n, n)) / n


def rings(*spec):
    """Points evenly spread on circles, given as (radius, number)."""
    angles = [np.arange(m) * 2 * np.pi / m for _, m in spec]
    return np.vstack(
        [
            r * np.column_stack([np.cos(t), np.sin(t)])
            for (r, _), t in zip(spec, angles, strict=True)
        ]
    )


def up_to_sign(A, B):
    """Columns of A turned to point the way of those of B."""
    return A * np.where(np.sum(A * B, axis=0) < 0, -1, 1)


@st.composite
def problems(draw):
    """Draw n×d samples and a number of components that surely exist."""
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 4))
    k = draw(st.integers(1, min(n - 1, d, 3)))
    return made(n, d, draw(seeds)), k


# --- explicit features ---------------------------------------------------------------------------


@thorough
@given(problems(), st.integers(1, 3), st.sampled_from([0.0, 1.0, 2.0]))
def test_polynomial_kernel_is_pca_of_the_features(problem, degree, offset):
    """Scores, variances and new points are those of PCA on φ, to 1e-10: eq-kpca-covariance.

    Also eq-kpca-scores and eq-kpca-new.
    """
    X, k = problem
    F = polynomial_features(X, degree, offset)
    U, s, Vt = np.linalg.svd(centred(F), full_matrices=False)
    assume(np.all(s[:k] - np.append(s, 0)[1 : k + 1] > 1e-3 * s[0]))
    model = fit_kernel_pca(X, k, polynomial(degree, offset))
    np.testing.assert_allclose(model.lam, s[:k] ** 2, rtol=1e-10, atol=1e-12 * s[0] ** 2)
    Z = (U * s)[:, :k]
    size = np.abs(Z).max()
    np.testing.assert_allclose(up_to_sign(model.scores, Z), Z, atol=1e-10 * size)
    T = made(5, X.shape[1], 99)
    new = (polynomial_features(T, degree, offset) - F.mean(axis=0)) @ Vt[:k].T
    signs = np.sign(np.sum(model.scores * Z, axis=0))
    bound = 1e-9 * max(size, np.abs(new).max())
    np.testing.assert_allclose(model.encode(T) * signs, new, atol=bound)


@thorough
@given(problems())
def test_linear_kernel_is_pca(problem):
    """The linear kernel's scores are those of PCA, also with n < d: eq-kpca-linear."""
    X, k = problem
    U, s, Vt = np.linalg.svd(centred(X), full_matrices=False)
    assume(np.all(s[:k] - np.append(s, 0)[1 : k + 1] > 1e-3 * s[0]))
    model = fit_kernel_pca(X, k, linear())
    Z = (U * s)[:, :k]
    np.testing.assert_allclose(up_to_sign(model.scores, Z), Z, atol=1e-10 * s[0])
    V = centred(X).T @ model.alpha  # u_j = Xᵀa_j/s_j, of length one
    np.testing.assert_allclose(up_to_sign(V, Vt[:k].T), Vt[:k].T, atol=1e-9)


def test_rank_and_the_correspondence_of_eigenvectors():
    """Only r eigenvectors correspond: Xᵀa = 0 for the others: eq-kpca-linear."""
    X = np.outer(np.arange(6.0), [1, 2, -1, 0.5])
    with pytest.warns(UserWarning, match="only 1 have a variance"):
        model = fit_kernel_pca(X, 3, linear())
    assert model.alpha.shape == (6, 1)
    lam, A = np.linalg.eigh(centred(X) @ centred(X).T)
    np.testing.assert_allclose(centred(X).T @ A[:, :-1], 0, atol=1e-6)
    wide = made(4, 7)
    assert fit_kernel_pca(wide, 3, linear()).lam.size == 3  # n − 1 of 7


@thorough
@given(problems(), st.integers(1, 3))
def test_directions_in_feature_space(problem, degree):
    """v = Φ̃ᵀα has length one and Cv = λv, λ = λ̃/n: eq-kpca-span, eq-kpca-alpha, eq-kpca-covariance.

    The variance along v is λ: eq-kpca-decorrelated.
    """
    X, k = problem
    n = len(X)
    F = centred(polynomial_features(X, degree, 1.0))
    model = fit_kernel_pca(X, k, polynomial(degree, 1.0))
    V = F.T @ model.alpha
    scale = model.lam[0]
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-10 * scale / model.lam[-1])
    C = F.T @ F / n
    np.testing.assert_allclose(C @ V, V * model.variances, atol=1e-10 * scale)
    expected = 1 / np.sqrt(n * model.variances)
    np.testing.assert_allclose(np.linalg.norm(model.alpha, axis=0), expected, rtol=1e-8)


def test_zero_eigenvectors_are_orthogonal_to_the_span():
    """Eigenvectors of C lie in the span if λ ≠ 0 and are orthogonal to it if not: eq-kpca-span."""
    F = centred(polynomial_features(made(4, 2), 2))  # 4 samples, 6 features, rank 3
    lam, V = np.linalg.eigh(F.T @ F / 4)
    onto = np.linalg.pinv(F) @ F
    distance = np.linalg.norm(V - onto @ V, axis=0)[::-1]
    np.testing.assert_allclose(distance, [0, 0, 0, 1, 1, 1], atol=1e-7)


def test_coefficients_and_inner_products_differ_by_n_lambda():
    """φ̃(xᵢ)ᵀv = nλ αᵢ, so the two vectors differ by the factor nλ: eq-kpca-span."""
    X = made(20, 2)
    F = centred(polynomial_features(X))
    model = fit_kernel_pca(X, 3, polynomial(2))
    np.testing.assert_allclose(F @ (F.T @ model.alpha), model.alpha * model.lam, atol=1e-10)


def test_the_singular_equation_has_more_solutions():
    """K̃²α = nλK̃α has a solution space of dimension 1 + dim N(K̃): eq-kpca-squared, eq-kpca-dual."""
    F = centred(np.random.default_rng(0).standard_normal((10, 5)))
    K = F @ F.T  # n = 10, rank 5
    lam = np.linalg.eigvalsh(K)[-1]

    def dimension(A):
        return int(np.sum(np.linalg.svd(A, compute_uv=False) < 1e-9 * lam**2))

    assert dimension(K @ K - lam * K) == 6
    assert dimension((K - lam * np.eye(10)) * lam) == 1
    a = np.linalg.eigh(K)[1][:, -1]
    other = a + 0.7
    np.testing.assert_allclose(K @ K @ other, lam * K @ other, atol=1e-9)
    assert np.linalg.norm(K @ other - lam * other) > 1
    np.testing.assert_allclose(F.T @ other, F.T @ a, atol=1e-12)  # the same direction
    b = other - K @ other / lam
    np.testing.assert_allclose(K @ b, 0, atol=1e-10)
    assert abs((other - b) @ b) < 1e-10  # the eigenvector is the shortest


# --- the dual problem ----------------------------------------------------------------------------


@each_kernel
@sparing
@given(problem=problems())
def test_dual_eigenproblem(kernel, problem):
    """K̃a = λ̃a with K̃ = JKJ, falling λ̃, 1ᵀα = 0 and αᵀK̃α = I: eq-kpca-centered, eq-kpca-dual.

    The scores are K̃α = λ̃α: eq-kpca-scores, eq-kpca-alpha.
    """
    X, k = problem
    assume(np.linalg.norm(X, axis=1).min() > 0.1)
    K_c = J(len(X)) @ kernel(X) @ J(len(X))
    np.testing.assert_allclose(K_c @ np.ones(len(X)), 0, atol=1e-10 * np.abs(K_c).max() * len(X))
    lam = np.linalg.eigvalsh(K_c)[::-1][:k]
    assume(lam[-1] > 1e-6 * lam[0])
    model = fit_kernel_pca(X, k, kernel)
    assert np.all(np.diff(model.lam) <= 0)
    np.testing.assert_allclose(model.lam, lam, rtol=1e-10, atol=1e-12 * lam[0])
    np.testing.assert_allclose(K_c @ model.alpha, model.scores, atol=1e-9 * np.sqrt(lam[0]))
    gram = model.alpha.T @ K_c @ model.alpha
    np.testing.assert_allclose(gram, np.eye(k), atol=1e-12 * lam[0] / lam[-1] * 100)
    np.testing.assert_allclose(model.alpha.sum(axis=0), 0, atol=1e-10 / np.sqrt(lam[-1]))


@each_kernel
def test_new_points(kernel):
    """Training points get their scores again, new ones the double-centred sum: eq-kpca-new."""
    X, T = made(40, 3), made(7, 3, 1)
    model = fit_kernel_pca(X, 3, kernel)
    np.testing.assert_allclose(model.encode(X), model.scores, atol=1e-9)
    K, cross = kernel(X), kernel(T, X)
    full = cross - cross.mean(axis=1, keepdims=True) - K.mean(axis=1) + K.mean()
    np.testing.assert_allclose(model.encode(T), full @ model.alpha, atol=1e-10)
    short = model.alpha.T @ (cross.T - K.mean(axis=1)[:, None])  # αᵀ(k_t − K1/n)
    np.testing.assert_allclose(model.encode(T), short.T, atol=1e-10)


def test_raw_kernel_rows_are_off_by_a_constant():
    """Without centring k_t all scores move by the same vector: eq-kpca-new."""
    X, T = made(30, 2), made(6, 2, 1)
    model = fit_kernel_pca(X, 2, rbf(1.0))
    shift = rbf(1.0)(T, X) @ model.alpha - model.encode(T)
    assert np.abs(shift[0]).max() > 0.01
    np.testing.assert_allclose(shift, np.tile(shift[0], (6, 1)), atol=1e-12)


def test_encoding_in_blocks(monkeypatch):
    """New points in many blocks get the scores that they get at once."""
    X, T = made(30, 2), made(25, 2, 1)
    model = fit_kernel_pca(X, 3, rbf(1.0))
    at_once = model.encode(T)
    monkeypatch.setattr("kpca_edu._engine.panels.BLOCK_ENTRIES", 60)
    np.testing.assert_allclose(model.encode(T), at_once, atol=1e-13)


def test_without_centring():
    """center=False takes eigenvectors of K itself; encode and errors follow."""
    X = made(25, 2)
    K = rbf(1.0)(X)
    model = fit_kernel_pca(X, 3, rbf(1.0), center=False)
    np.testing.assert_allclose(model.lam, np.linalg.eigvalsh(K)[::-1][:3], rtol=1e-12)
    np.testing.assert_allclose(model.encode(X), model.scores, atol=1e-12)
    np.testing.assert_allclose(model.reconstruction_error(X).sum(), 25 - model.lam.sum())
    assert model.weights(model.scores).sum() != pytest.approx(25)


@pytest.mark.parametrize("kernel", [linear(), polynomial(2, 0.0), linear() * linear()])
def test_nothing_is_lost_of_a_feature_that_is_zero(kernel):
    """Without centring the origin is the feature of x = 0: its error is zero: eq-kpca-error."""
    model = fit_kernel_pca(made(20, 3), 2, kernel, center=False)
    assert model.reconstruction_error(np.zeros((1, 3))) == [0]


# --- properties carried over ---------------------------------------------------------------------


@each_kernel
def test_scores_are_uncorrelated_with_variance_lambda(kernel):
    """ZᵀZ/n = diag(λ̃)/n, and the scores have mean zero: eq-kpca-decorrelated."""
    model = fit_kernel_pca(made(50, 3), 5, kernel) if kernel not in (linear(), cosine()) else (
        fit_kernel_pca(made(50, 3), 3, kernel)
    )  # fmt: skip
    Z = model.scores
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.T @ Z / 50, np.diag(model.variances), atol=1e-10)


@thorough
@given(problems(), seeds)
def test_no_other_directions_keep_more(problem, seed):
    """Random orthonormal combinations of the features keep at most Σλ̃: eq-kpca-optimal.

    What k directions lose is the tail of the spectrum: eq-kpca-error.
    """
    X, k = problem
    K_c = J(len(X)) @ rbf(1.0)(X) @ J(len(X))
    lam, A = np.linalg.eigh(K_c)
    root = A * np.sqrt(np.maximum(lam, 0))  # rows are the centred features, in n coordinates
    model = fit_kernel_pca(X, k, rbf(1.0))
    Q = orthonormal(len(X), k, seed)
    assert np.sum((root @ Q) ** 2) <= model.lam.sum() * (1 + 1e-10)
    lost = model.reconstruction_error(X)
    np.testing.assert_allclose(lost.sum(), lam[:-k].sum(), atol=1e-9)
    np.testing.assert_allclose(lost, K_c.diagonal() - np.sum(model.scores**2, axis=1), atol=1e-9)


@each_kernel
def test_weights_of_the_reconstruction(kernel):
    """φ̂ = Σγᵢφ(xᵢ) with Σγᵢ = 1 is at the stated distance: eq-kpca-weights, eq-kpca-error."""
    X, T = made(30, 2), made(5, 2, 3)
    model = fit_kernel_pca(X, 2, kernel)
    gamma = model.weights(model.encode(T))
    np.testing.assert_allclose(gamma.sum(axis=1), 1)
    K, cross, own = kernel(X), kernel(T, X), kernel.diagonal(T)
    quadratic = own - 2 * np.sum(gamma * cross, axis=1) + np.sum((gamma @ K) * gamma, axis=1)
    np.testing.assert_allclose(model.reconstruction_error(T), quadratic, atol=1e-10 * K.max())


def test_weights_decode_explicit_features():
    """γᵀΦ is the mean feature plus the scores times the directions: eq-kpca-weights."""
    X, T = made(20, 2), made(4, 2, 5)
    F = polynomial_features(X)
    model = fit_kernel_pca(X, 3, polynomial(2))
    Z = model.encode(T)
    decoded = F.mean(axis=0) + Z @ (centred(F).T @ model.alpha).T
    np.testing.assert_allclose(model.weights(Z) @ F, decoded, atol=1e-10)


@each_kernel
def test_shares_of_variance(kernel):
    """λ̃/tr K̃, which add up to one over all components: eq-kpca-share."""
    X = made(12, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit_kernel_pca(X, 11, kernel)
    assert model.explained_ratio.sum() == pytest.approx(1, abs=1e-9)
    K_c = J(12) @ kernel(X) @ J(12)
    np.testing.assert_allclose(fit_kernel_pca(X, 1, kernel).explained_ratio[0],
                               np.linalg.eigvalsh(K_c)[-1] / np.trace(K_c))  # fmt: skip


@pytest.mark.parametrize("n", [30, 420])
def test_as_many_components_as_a_share_needs(n):
    """k = 0.9 takes the least number of components with 90 % of the variance: eq-kpca-share."""
    X = made(n, 3)
    for kernel in (rbf(0.7), polynomial(2)):
        K = kernel(X)
        lam = np.maximum(np.linalg.eigvalsh(J(n) @ K @ J(n))[::-1], 0)
        shares = np.cumsum(lam) / lam.sum()
        for share in (1e-9, 0.5, 0.9, np.float32(0.99)):
            right = int(np.argmax(shares >= share)) + 1
            model = fit_kernel_pca(X, share, kernel)
            assert model.k == right
            assert model.explained_ratio.sum() >= share
            assert fit_kernel_pca_gram(K, share).k == right
            assert n > 100 or fit_kernel_pca(X, share, kernel, clip=True).k == right
    full = fit_kernel_pca(X[:30], 1 - 1e-16, rbf(0.7))
    assert full.explained_ratio.sum() == pytest.approx(1, abs=1e-12)


def test_more_components_than_features():
    """Two features, up to n − 1 components; the n-th is refused."""
    X = made(9, 2)
    assert fit_kernel_pca(X, 8, rbf(0.5)).lam.size == 8
    with pytest.raises(ValueError, match="9 centred samples: at most 8 exist"):
        fit_kernel_pca(X, 9, rbf(0.5))
    assert fit_kernel_pca(X, 9, rbf(0.5), center=False).lam.size == 9
    with pytest.raises(ValueError, match="at most 2 exist"):
        fit_kernel_pca(X[:3], 5, rbf(0.5))  # n < k


# --- scikit-learn --------------------------------------------------------------------------------

DIGITS = load_digits().data[:300] / 16
PEERS = {
    "digits, rbf": (DIGITS, 10, rbf(2.0), {"kernel": "rbf", "gamma": 1 / 8}),
    "digits, poly": (
        DIGITS,
        6,
        polynomial(3, 1.0),
        {"kernel": "poly", "degree": 3, "gamma": 1, "coef0": 1},
    ),
    "iris, rbf": (load_iris().data, 5, rbf(1.0), {"kernel": "rbf", "gamma": 0.5}),
    "iris, linear": (load_iris().data, 4, linear(), {"kernel": "linear"}),
    "iris, cosine": (load_iris().data, 3, cosine(), {"kernel": "cosine"}),
    "circles, rbf": (
        make_circles(200, factor=0.3, noise=0.05, random_state=0)[0],
        4,
        rbf(0.4),
        {"kernel": "rbf", "gamma": 1 / 0.32},
    ),
    "circles, poly": (
        make_circles(200, factor=0.3, noise=0.05, random_state=0)[0],
        5,
        polynomial(2, 1.0),
        {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 1},
    ),
}


@pytest.mark.parametrize(("X", "k", "kernel", "settings"), PEERS.values(), ids=PEERS.keys())
def test_scikit_learn(X, k, kernel, settings):
    """Its scores equal ours up to sign, λ̃ is equal: eq-kpca-scores, eq-kpca-dual, eq-kpca-new."""
    theirs = SklearnKernelPCA(k, eigen_solver="dense", **settings).fit(X)
    model = fit_kernel_pca(X, k, kernel)
    np.testing.assert_allclose(model.lam, theirs.eigenvalues_, rtol=1e-8)
    scores = theirs.transform(X)
    size = np.abs(scores).max()
    np.testing.assert_allclose(up_to_sign(model.scores, scores), scores, atol=1e-7 * size)
    T = X[:20] + 0.05
    signs = np.sign(np.sum(model.scores * scores, axis=0))
    np.testing.assert_allclose(model.encode(T) * signs, theirs.transform(T), atol=1e-7 * size)
    unit = model.alpha * np.sqrt(model.lam)  # theirs are a, of length one
    np.testing.assert_allclose(np.abs(unit), np.abs(theirs.eigenvectors_), atol=1e-6)


def test_precomputed():
    """A Gram matrix gives the model that its samples give; new points come as rows of κ."""
    X, T = made(30, 2), made(4, 2, 1)
    model = fit_kernel_pca(X, 3, rbf(1.0))
    by_gram = fit_kernel_pca_gram(rbf(1.0)(X), 3)
    np.testing.assert_allclose(by_gram.alpha, model.alpha, atol=1e-10)
    cross = rbf(1.0)(T, X)
    np.testing.assert_allclose(by_gram.encode(cross), model.encode(T), atol=1e-10)
    errors = by_gram.reconstruction_error(cross, diagonal=np.ones(4))
    np.testing.assert_allclose(errors, model.reconstruction_error(T), atol=1e-10)
    theirs = SklearnKernelPCA(3, kernel="precomputed").fit_transform(rbf(1.0)(X))
    np.testing.assert_allclose(up_to_sign(by_gram.scores, theirs), theirs, atol=1e-8)
    assert by_gram.X is None
    assert by_gram.kernel is None


# --- symmetries of the data ----------------------------------------------------------------------


@each_kernel
def test_permutation(kernel):
    """Samples in another order get the same scores."""
    X = made(25, 3)
    order = np.random.default_rng(0).permutation(25)
    first, second = fit_kernel_pca(X, 2, kernel), fit_kernel_pca(X[order], 2, kernel)
    np.testing.assert_allclose(
        up_to_sign(second.scores, first.scores[order]), first.scores[order], atol=1e-9
    )


def test_translation():
    """Radial kernels don't see where the samples are; neither does the linear one when centred."""
    X = made(25, 3)
    for kernel in (rbf(1.0), laplacian(1.0), linear()):
        there = fit_kernel_pca(X + 1000.0, 3, kernel)
        np.testing.assert_allclose(there.scores, fit_kernel_pca(X, 3, kernel).scores, atol=1e-7)
    moved = fit_kernel_pca(X + 1.0, 3, polynomial(2))
    assert np.abs(moved.lam - fit_kernel_pca(X, 3, polynomial(2)).lam).max() > 1


def test_rotation():
    """All these kernels see angles and distances alone."""
    X, Q = made(25, 3), orthonormal(3, 3)
    for kernel in KERNELS.values():
        turned = fit_kernel_pca(X @ Q, 3, kernel)
        np.testing.assert_allclose(turned.scores, fit_kernel_pca(X, 3, kernel).scores, atol=1e-8)


def test_duplicates():
    """Every sample twice: λ̃ doubles, the variances and the scores stay."""
    X = made(20, 2)
    once, twice = fit_kernel_pca(X, 3, rbf(1.0)), fit_kernel_pca(np.vstack([X, X]), 3, rbf(1.0))
    np.testing.assert_allclose(twice.lam, 2 * once.lam, rtol=1e-12)
    np.testing.assert_allclose(twice.scores[:20], twice.scores[20:], atol=1e-12)
    np.testing.assert_allclose(up_to_sign(twice.scores[:20], once.scores), once.scores, atol=1e-10)
    np.testing.assert_allclose(twice.explained_ratio, once.explained_ratio)
    with pytest.warns(UserWarning, match="only 19 have"):
        assert fit_kernel_pca(np.vstack([X, X]), 30, laplacian(1.0)).lam.size == 19


def test_subsample():
    """A model of a tenth of the samples comes near the variances and scores of all."""
    X = np.random.default_rng(0).standard_normal((1500, 2)) * [2, 0.7]
    whole, part = fit_kernel_pca(X, 2, rbf(2.0)), fit_kernel_pca(X[::10], 2, rbf(2.0))
    np.testing.assert_allclose(part.variances, whole.variances, rtol=0.25)
    for j in range(2):
        assert abs(np.corrcoef(part.encode(X)[:, j], whole.scores[:, j])[0, 1]) > 0.95


# --- zero, tiny and negative eigenvalues ---------------------------------------------------------


def indefinite(seed=0):
    """An 8×8 matrix with the named eigenvalues, one of the zeros for the constant vector."""
    lam = np.array([52.7, 7.65, 7.65, 5.0, 0.0, 0.0, -6.1, -15.1])
    rng = np.random.default_rng(seed)
    columns = np.column_stack([np.ones(8), rng.standard_normal((8, 7))])
    Q = np.linalg.qr(columns)[0]
    Q = np.roll(Q, 4, axis=1)  # 1/√8 goes to the first zero
    return (Q * lam) @ Q.T


def test_an_indefinite_gram_matrix():
    """Two components work, with a word; seven are refused with an explanation: eq-kpca-psd."""
    K = indefinite()
    with pytest.warns(UserWarning, match="indefinite"):
        model = fit_kernel_pca_gram(K, 2)
    np.testing.assert_allclose(model.lam, [52.7, 7.65])
    with pytest.raises(ValueError, match="indefinite.*4 eigenvalues at most.*clip=True"):
        fit_kernel_pca_gram(K, 7)
    with pytest.raises(ValueError, match="-15.1"):
        fit_kernel_pca_gram(K, 5)


def test_clipping():
    """clip=True is PCA of the nearest PSD matrix: eq-kpca-clip."""
    K = indefinite()
    lam, A = np.linalg.eigh(K)
    clipped = (A * np.maximum(lam, 0)) @ A.T
    with pytest.warns(UserWarning, match="only 4 have a variance"):
        model = fit_kernel_pca_gram(K, 7, clip=True)
    np.testing.assert_allclose(model.lam, [52.7, 7.65, 7.65, 5.0])
    assert model.total_variance == pytest.approx(np.trace(clipped) / 8)
    assert model.explained_ratio.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.scores @ model.scores.T, clipped, atol=1e-10)
    rng = np.random.default_rng(1)
    for _ in range(200):  # no PSD matrix is nearer
        F = rng.standard_normal((8, 8)) * 2.0 ** rng.integers(-6, 3)
        other = clipped + 0.1 * F @ F.T if rng.random() < 0.5 else F @ F.T
        assert np.linalg.norm(K - other) >= np.linalg.norm(K - clipped)


def test_clipped_sigmoid():
    """The sigmoid works when told to clip, as a kernel object too: eq-kpca-clip."""
    X = made(40, 2)
    with pytest.raises(ValueError, match="indefinite"):
        fit_kernel_pca(X, 39, sigmoid(1.0, -1.0))
    model = fit_kernel_pca(X, 2, sigmoid(1.0, -1.0), clip=True)
    lam = np.linalg.eigvalsh(J(40) @ sigmoid(1.0, -1.0)(X) @ J(40))
    np.testing.assert_allclose(model.explained_ratio, lam[:-3:-1] / lam[lam > 0].sum())


@st.composite
def indefinite_matrices(draw):
    """Draw a symmetric matrix with clearly positive and clearly negative eigenvalues."""
    n, seed = draw(st.integers(4, 20)), draw(seeds)
    rng = np.random.default_rng(seed)
    q = draw(st.integers(1, n - 3))
    lam = np.append(rng.uniform(0.5, 9, n - q - 1), -rng.uniform(0.5, 9, q))
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, n - 1))]))[0][:, 1:]
    shift = rng.standard_normal(n)  # gone when centred
    return (Q * lam) @ Q.T + shift + shift[:, None], np.sort(lam)[::-1]


@thorough
@given(indefinite_matrices(), st.data())
def test_no_shares_and_errors_of_indefinite_matrices(problem, data):
    """What no feature map has, has no shares and errors; what clipping mends, has the right ones.

    Errors of training samples are those of the clipped matrix: eq-kpca-clip, eq-kpca-error.
    """
    K, lam = problem
    n, positive = len(K), int(np.sum(lam > 0))
    k = data.draw(st.integers(1, positive))
    with pytest.warns(UserWarning, match="indefinite.*no shares"):
        raw = fit_kernel_pca_gram(K, k)
    np.testing.assert_allclose(raw.lam, lam[:k], rtol=1e-9)
    assert np.isnan(raw.explained_ratio).all()
    assert "indefinite" in repr(raw)
    with pytest.raises(ValueError, match="no distance in feature space.*clip=True"):
        raw.reconstruction_error(K, K.diagonal())
    with pytest.raises(ValueError, match="there are no shares"):
        fit_kernel_pca_gram(K, 0.5)
    model = fit_kernel_pca_gram(K, k, clip=True)
    assert model.explained_ratio.sum() <= 1 + 1e-12
    np.testing.assert_allclose(model.explained_ratio, lam[:k] / lam[lam > 0].sum(), rtol=1e-9)
    values, A = np.linalg.eigh(J(n) @ K @ J(n))
    rest = np.argsort(values)[::-1][k:positive]
    right = np.sum(values[rest] * A[:, rest] ** 2, axis=1)
    got = model.reconstruction_error(K, K.diagonal())
    np.testing.assert_allclose(got, right, atol=1e-7 * lam[0])


def test_an_indefinite_matrix_that_lanczos_did_not_see():
    """Found eigenvalues that exceed the trace prove that others are negative."""
    K = CenteredGram(np.diag([3.0, 2.0, 1.0, 0.0, -0.5]), center=False)
    K.eigenpairs = lambda k: eigen.Eigenpairs(np.array([3.0, 2.0, 1.0][:k]), np.eye(5)[:, :k], 0.0)
    with pytest.warns(UserWarning, match="indefinite"):
        assert np.isnan(positive_eigenpairs(K, 3, False).variance)


def test_the_sigmoid_has_no_errors():
    """tanh on 50 samples, 20 components: once all errors were 0 and the shares added to 1.4."""
    X = np.random.default_rng(0).standard_normal((50, 3))
    kernel = sigmoid(1.0, -1.0)
    with pytest.warns(UserWarning, match="indefinite"):
        model = fit_kernel_pca(X, 20, kernel)
    assert np.isnan(model.explained_ratio.sum())
    with pytest.raises(ValueError, match="indefinite"):
        model.reconstruction_error(X)
    clipped = fit_kernel_pca(X, 20, kernel, clip=True)
    K_c = J(50) @ kernel(X) @ J(50)
    lam, A = np.linalg.eigh(K_c)
    rest = np.argsort(lam)[::-1][20 : np.sum(lam > 0)]
    right = np.sum(lam[rest] * A[:, rest] ** 2, axis=1)
    np.testing.assert_allclose(clipped.reconstruction_error(X), right, atol=1e-9)
    new = clipped.reconstruction_error(made(200, 3, 5))
    assert np.all(np.isnan(new) | (new >= 0))
    assert np.isnan(new).any()  # clipping mends the training matrix only


def test_no_positive_eigenvalue():
    with pytest.raises(ValueError, match="No eigenvalue of the Gram matrix is positive"):
        fit_kernel_pca_gram(-np.eye(4), 2)
    with pytest.raises(ValueError, match="No eigenvalue"):
        fit_kernel_pca_gram(-np.eye(4), 2, clip=True)


def test_tiny_eigenvalues_are_dropped():
    """The quadratic kernel on a line has two components; rounding gives no third."""
    x = np.linspace(-1, 1, 30)[:, None]
    with pytest.warns(UserWarning, match="k=6 components asked, and only 2"):
        model = fit_kernel_pca(x, 6, polynomial(2))
    assert model.alpha.shape == (30, 2)
    with pytest.warns(UserWarning, match="only 2"):
        single = fit_kernel_pca(x.astype(np.float32), 6, polynomial(2))
    assert single.alpha.shape == (30, 2)


def test_warnings_point_at_the_caller():
    x = np.linspace(-1, 1, 30)[:, None]
    with pytest.warns(UserWarning, match="only 2") as caught:
        fit_kernel_pca(x, 6, polynomial(2))
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="indefinite") as caught:
        fit_kernel_pca_gram(indefinite(), 2)
    assert caught[0].filename == __file__


def test_zero_variance():
    for kernel in (rbf(1.0), linear(), polynomial(3)):
        with pytest.raises(ValueError, match="zero variance"):
            fit_kernel_pca(np.full((6, 2), 0.3), 1, kernel)


# --- components as functions ---------------------------------------------------------------------


@thorough
@given(problems(), seeds, st.floats(0.4, 3))
def test_a_component_is_the_function_with_the_most_variance(problem, seed, sigma):
    """f_j = Σ αᵢⱼκ(xᵢ, ·) has norm one, scores are f_j less its mean, and no function of norm one
    that is orthogonal to the earlier components varies more: eq-kpca-function."""
    (X, k), kernel = problem, rbf(sigma)
    model, K, n = fit_kernel_pca(X, k, kernel), kernel(X), len(X)
    F = K @ model.alpha  # values of the functions at the samples
    np.testing.assert_allclose(np.sum(model.alpha * F, axis=0), 1, rtol=1e-8)
    np.testing.assert_allclose(F - F.mean(axis=0), model.scores, atol=1e-9)
    T = made(4, X.shape[1], seed)
    np.testing.assert_allclose(
        kernel(T, X) @ model.alpha - F.mean(axis=0), model.encode(T), atol=1e-9
    )
    c = np.random.default_rng(seed).standard_normal((n, 50))
    for j in range(k):
        c_j = c - model.alpha[:, :j] @ (F[:, :j].T @ c)  # orthogonal to the first j
        squares = np.sum(c_j * (K @ c_j), axis=0)
        variances = np.var(K @ c_j, axis=0)
        assert np.all(variances <= model.lam[j] / n * squares * (1 + 1e-8) + 1e-10)


def test_the_centred_features_can_span_one_dimension_less():
    """Ten samples, Gaussian kernel: K has rank 10, K̃ rank 9, so 9 directions: eq-kpca-span."""
    K = rbf(1.0)(np.linspace(0, 9, 10)[:, None])
    assert np.linalg.matrix_rank(K) == 10
    assert np.linalg.matrix_rank(J(10) @ K @ J(10)) == 9
    assert fit_kernel_pca_gram(K, 9).k == 9


# --- widths --------------------------------------------------------------------------------------


def test_narrow_kernels():
    """K → I as σ → 0: all n − 1 variances are 1/n, every share 1/(n − 1): eq-kpca-narrow."""
    X = made(10, 2)
    model = fit_kernel_pca(X, 9, rbf(1e-3))
    np.testing.assert_allclose(model.lam, 1, atol=1e-12)
    np.testing.assert_allclose(model.explained_ratio, 1 / 9)
    np.testing.assert_allclose(model.encode(X + 0.5), model.encode(X[:1] - 100).repeat(10, 0))


def test_wide_kernels():
    """σ²K̃ → X_cX_cᵀ as σ → ∞, with an error of order 1/σ²: eq-kpca-wide."""
    X = made(30, 3)
    right = centred(X) @ centred(X).T
    errors = []
    for sigma in (10.0, 100.0, 1000.0):
        K_c = J(30) @ rbf(sigma)(X) @ J(30)
        errors.append(np.linalg.norm(sigma**2 * K_c - right) / np.linalg.norm(right))
    assert errors[0] < 0.2
    np.testing.assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 100, rtol=0.1)
    wide, plain = fit_kernel_pca(X, 2, rbf(1000.0)), fit_kernel_pca(X, 2, linear())
    np.testing.assert_allclose(wide.scores * 1000, plain.scores, atol=1e-3)


def test_wide_kernels_have_quadratic_components_after_the_linear_ones():
    """σ = 100, samples of the plane: the third to fifth score are quadratic functions of x, and
    the rings' third one tells them apart, for five sets: eq-kpca-wide holds for two only."""
    for seed in range(5):
        X, group = make_circles(200, factor=0.35, noise=0.06, random_state=seed)
        Z = fit_kernel_pca(X, 5, rbf(100.0)).scores
        F = np.column_stack([np.ones(200), X, X**2, X[:, 0] * X[:, 1]])
        left = Z - F @ np.linalg.lstsq(F, Z, rcond=None)[0]
        assert np.all(np.var(left, axis=0) < 1e-3 * np.var(Z, axis=0))
        third = Z[:, 2] * np.sign(Z[:, 2] @ (group - 0.5))
        assert third[group == 1].min() > third[group == 0].max()


@sparing
@given(seeds, st.sampled_from([0.0, 0.3]))
def test_held_out_loss(seed, noise):
    """The loss is ‖φ(t) − φ̂(t + e)‖² over ‖φ(t) − φ̄‖², with explicit φ: eq-kpca-held-out."""
    X = made(20, 2, seed)
    got = held_out_loss(X, 2, polynomial(2), noise=noise, folds=4, rng=7)
    rng = np.random.default_rng(7)
    lost = total = 0.0
    for part in np.array_split(rng.permutation(20), 4):
        rest, T = np.delete(X, part, axis=0), X[part]
        noisy = T + noise * rng.standard_normal(T.shape)
        F, mean = polynomial_features(rest), polynomial_features(rest).mean(axis=0)
        V = np.linalg.svd(F - mean)[2][:2].T
        back = mean + (polynomial_features(noisy) - mean) @ V @ V.T
        lost += np.sum((polynomial_features(T) - back) ** 2)
        total += np.sum((polynomial_features(T) - mean) ** 2)
    assert got == pytest.approx(lost / total, rel=1e-8)


def test_the_loss_of_one_example():
    """Forty components of digits: the plain loss falls with σ, that with noise has a minimum."""
    X, m = DIGITS[:150], median_sigma(DIGITS[:150])
    widths = [m / 2, m, 2 * m, 8 * m]
    plain = [held_out_loss(X, 16, rbf(s)) for s in widths]
    assert np.all(np.diff(plain) < 0)
    noisy = [held_out_loss(X, 40, rbf(s), noise=0.3) for s in widths]
    assert np.argmin(noisy) == 1
    gentle = [held_out_loss(X, 40, rbf(s), noise=0.1) for s in widths]
    assert np.argmin(gentle) == 3  # and so it is no rule


@pytest.mark.parametrize("seed", range(5))
def test_the_loss_in_feature_space_can_mislead(seed):
    """Digits, k = 40, noise 0.1: L prefers the widest of five, input space twice the median."""
    some = DIGITS[np.random.default_rng(seed).choice(len(DIGITS), 200, replace=False)]
    kernels = [rbf(f * median_sigma(some)) for f in (1.0, 2.0, 4.0, 8.0, 16.0)]
    losses = [held_out_loss(some, 40, kernel, noise=0.1, rng=seed) for kernel in kernels]
    left = [denoising_error(some, 40, kernel, noise=0.1, rng=seed) for kernel in kernels]
    assert np.argmin(losses) == 4
    assert np.argmin(left) == 1
    assert left[4] > 1.1 * left[1]


@sparing
@given(seeds, st.floats(0.05, 0.5))
def test_denoising_error_of_the_linear_kernel(seed, noise):
    """With the linear kernel it is the error of PCA on held-out samples."""
    X = made(20, 3, seed)
    got = denoising_error(X, 2, linear(), noise=noise, folds=4, rng=7)
    rng = np.random.default_rng(7)
    left = added = 0.0
    for part in np.array_split(rng.permutation(20), 4):
        rest, T = np.delete(X, part, axis=0), X[part]
        dirt = noise * rng.standard_normal(T.shape)
        left += np.sum((fit_pca(rest, 2).reconstruct(T + dirt) - T) ** 2)
        added += np.sum(dirt**2)
    assert got == pytest.approx(left / added, rel=1e-4)


def test_the_width_that_denoises_best():
    """On an arc the chosen width beats far narrower and wider ones by half of the noise."""
    t = np.random.default_rng(0).uniform(0, np.pi, 80)
    arc = np.column_stack([np.cos(t), np.sin(t)])
    widths = median_sigma(arc) * 2.0 ** np.arange(-3, 4)
    sigma = choose_sigma(arc, 4, noise=0.1, sigmas=widths)
    assert 0.2 < sigma / median_sigma(arc) < 4
    assert sigma == choose_sigma(arc, 4, noise=0.1, sigmas=widths)
    best, *others = (denoising_error(arc, 4, rbf(f * sigma), noise=0.1) for f in (1, 1 / 8, 8))
    assert best < 0.7
    assert min(others) > best + 0.2
    with pytest.warns(UserWarning, match="widest kernel tried.*more components"):
        choose_sigma(arc, 2, noise=0.01, sigmas=[0.1, 1.0])
    with pytest.warns(UserWarning, match="narrowest kernel tried"):
        choose_sigma(arc, 4, noise=0.1, sigmas=[sigma, 8 * sigma])


def test_noise_by_default():
    """Without a word on noise it is the way to the nearest neighbour; duplicates don't count."""
    rng = np.random.default_rng(0)
    grid = np.array([[i, j] for i in range(9) for j in range(9)], float) * 3
    for X in (grid, np.repeat(grid, 2, axis=0), grid + 1e4):
        assert neighbor_spacing(X) == pytest.approx(3 / np.sqrt(2))
    high = rng.standard_normal((200, 30))
    twice = neighbor_spacing(np.repeat(high, 2, axis=0))
    assert twice == pytest.approx(neighbor_spacing(high), rel=1e-6)
    for n, d in ((50, 3), (200, 30)):
        cloud = rng.standard_normal((n, d))
        D = np.sqrt(np.min(cdist(cloud, cloud, "sqeuclidean") + np.diag([np.inf] * n), axis=1))
        assert neighbor_spacing(cloud) == pytest.approx(np.median(D) / np.sqrt(d), rel=0.01)
    cloud = rng.standard_normal((5000, 2))
    D = np.sqrt(np.min(np.sum((cloud[:300, None] - cloud) ** 2, axis=2) + 9 * np.eye(300, 5000), 1))
    assert neighbor_spacing(cloud) == pytest.approx(np.median(D) / np.sqrt(2), rel=0.3)
    given_noise = denoising_error(grid, 3, rbf(6.0), noise=3 / np.sqrt(2))
    assert denoising_error(grid, 3, rbf(6.0)) == pytest.approx(given_noise)


# --- examples of the chapter ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        (((0.5, 300), (4, 100)), 0),
        (((0.5, 100), (2, 100), (5, 100)), 0),
        (((1, 100), (2, 100)), 4),
        (((1, 100), (4, 100)), 2),
        (((1, 100), (2, 100), (3, 100)), None),
    ],
)
def test_spectrum_of_rings(spec, place):
    """½Var(r²), E[r²] twice, ¼E[r⁴] twice, and when the radius is first: eq-kpca-radius."""
    X = rings(*spec)
    r2 = np.sum(X**2, axis=1)
    radius, line, angle = np.var(r2) / 2, np.mean(r2), np.mean(r2**2) / 4
    model = fit_kernel_pca(X, 5, polynomial(2))
    expected = np.sort([radius, line, line, angle, angle])[::-1]
    np.testing.assert_allclose(model.variances, expected, rtol=1e-9)
    first = np.mean(r2**2) > 2 * np.mean(r2) ** 2 and np.var(r2) > 2 * np.mean(r2)
    assert first == (radius > max(line, angle))
    if place is not None:
        assert np.argmin(np.abs(model.variances - radius)) == place
        assert abs(np.corrcoef(model.scores[:, place], r2)[0, 1]) == pytest.approx(1)
        assert first == (place == 0)


@thorough
@given(st.floats(0.01, 10), st.floats(0.01, 10))
def test_two_equal_rings_never_have_the_radius_first(a, b):
    """½Var(r²) ≤ ¼E[r⁴] for two rings with equally many points: eq-kpca-radius."""
    r2 = np.array([a**2, b**2])
    assert np.var(r2) / 2 <= np.mean(r2**2) / 4 * (1 + 1e-12)


def test_radius_by_the_gaussian_kernel():
    """On rings 1 and 3 the radius is first for σ = 1, 1.5 and third for σ = 0.5, 2, 3."""
    X = rings((1, 100), (3, 100))
    r2 = np.sum(X**2, axis=1)
    for sigma, place in ((1.0, 0), (1.5, 0), (0.5, 2), (2.0, 2), (3.0, 2)):
        Z = fit_kernel_pca(X, 4, rbf(sigma)).scores
        assert np.argmax([abs(np.corrcoef(z, r2)[0, 1]) for z in Z.T]) == place


LARGE_SAMPLES = {
    1: [0.72, 0.28],
    2: [0.62, 0.34, 0.04],
    3: [0.56, 0.39, 0.03],
    4: [0.54, 0.42, 0.02],
}


@pytest.mark.parametrize("degree", LARGE_SAMPLES)
def test_parabola_of_schoelkopf_smola_mueller(degree):
    """Shares λ̃/tr K̃ of the kernel (xᵀy)^p for many samples: eq-kpca-share, eq-kpca-poly."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 2500)
    X = np.column_stack([x, x**2 + 0.2 * rng.standard_normal(2500)])
    model = fit_kernel_pca(X, min(degree + 1, 3), polynomial(degree, 0.0))
    np.testing.assert_allclose(model.explained_ratio, LARGE_SAMPLES[degree], atol=0.02)
    x = rng.uniform(-1, 1, 400_000)  # the same from the covariance of φ, with many more
    F = polynomial_features(
        np.column_stack([x, x**2 + 0.2 * rng.standard_normal(400_000)]), degree, 0.0
    )
    lam = np.linalg.eigvalsh(np.cov(F.T))[::-1]
    shares = (lam / lam.sum())[: len(LARGE_SAMPLES[degree])]
    np.testing.assert_allclose(shares, LARGE_SAMPLES[degree], atol=0.006)


def three_clusters():
    rng = np.random.default_rng(0)
    middles = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
    X = np.repeat(middles, 30, axis=0) + 0.1 * rng.standard_normal((90, 2))
    return X, np.repeat(np.arange(3), 30)


def test_three_clusters():
    """The first two components separate three clusters; the next split each: eq-kpca-scores."""
    X, label = three_clusters()
    model = fit_kernel_pca(X, 8, rbf(np.sqrt(0.05)))
    middles = np.array([model.scores[label == c, :2].mean(axis=0) for c in range(3)])
    nearest = np.argmin(np.linalg.norm(model.scores[:, None, :2] - middles, axis=2), axis=1)
    assert np.array_equal(nearest, label)
    assert model.lam[1] > 3 * model.lam[2]
    for z in model.scores[:, 2:5].T:  # these vary within clusters, not between them
        assert np.var([z[label == c].mean() for c in range(3)]) < 0.1 * np.var(z)


def test_swiss_roll_is_not_unrolled():
    """No width tried lets two components predict the roll's parameter: R² stays low."""
    X, t = make_swiss_roll(800, random_state=0)
    for sigma in (1.0, 2.0, 2.5, 3.0, 10.0, 100.0):
        Z = np.column_stack([np.ones(800), fit_kernel_pca(X, 2, rbf(sigma)).scores])
        left = t - Z @ np.linalg.lstsq(Z, t, rcond=None)[0]
        assert 1 - np.var(left) / np.var(t) < 0.3


def ngram_kernel(length):
    """The number of common substrings, with multiplicity: counts are the features."""

    def counts(words):
        pieces = [[w[i : i + length] for i in range(len(w) - length + 1)] for w in words]
        return [{p: ps.count(p) for p in set(ps)} for ps in pieces]

    def kernel(first, second):
        A, B = counts(first), counts(second)
        return np.array([[sum(a[p] * b.get(p, 0) for p in a) for b in B] for a in A], float)

    return kernel


def test_strings():
    """Words are data: counts of substrings are features, and PCA of them agrees: eq-kpca-string."""
    words = ["banana", "bandana", "cabana", "kernel", "colonel", "kennel"]
    pairs = sorted({w[i : i + 2] for w in words for i in range(len(w) - 1)})
    spots = [[w[i : i + 2] for i in range(len(w) - 1)] for w in words]
    F = np.array([[spot.count(p) for p in pairs] for spot in spots])
    model = fit_kernel_pca(words, 2, ngram_kernel(2))
    U, s, _ = np.linalg.svd(centred(F.astype(float)), full_matrices=False)
    np.testing.assert_allclose(model.lam, s[:2] ** 2)
    assert words == model.X
    assert model.X is not words
    assert (model.scores[:3, 0] * model.scores[3:, 0] < 0).all()
    new = model.encode(["ananas", "kernels"])
    assert new[0, 0] * model.scores[0, 0] > 0 > new[1, 0] * model.scores[0, 0]
    error = model.reconstruction_error(words, diagonal=np.sum(F**2, axis=1))
    assert error.sum() == pytest.approx(np.sum(s[2:] ** 2))
    with pytest.raises(ValueError, match="diagonal=…"):
        model.reconstruction_error(words)


def test_graphs():
    """Graphs are data: numbers of walks in common are inner products of counts: eq-kpca-kernel."""
    path, ring = np.eye(4, k=1) + np.eye(4, k=-1), np.roll(np.eye(4), 1, axis=0)
    graphs = [path, ring + ring.T, np.ones((3, 3)) - np.eye(3), np.ones((4, 4)) - np.eye(4)]

    def walks(graphs):
        return np.array([[np.linalg.matrix_power(A, m).sum() for m in range(4)] for A in graphs])

    def kernel(first, second):
        return np.array([[walks([A])[0] @ walks([B])[0] for B in second] for A in first])

    model = fit_kernel_pca(graphs, 2, kernel)
    s = np.linalg.svd(centred(walks(graphs)), compute_uv=False)
    np.testing.assert_allclose(model.lam, s[:2] ** 2)
    np.testing.assert_allclose(model.encode(graphs[1:2]), model.scores[1:2], atol=1e-9 * s[0])


def test_network_of_kernel_nodes():
    """Node i computes κ(x, xᵢ), the output is αᵀ(nodes) + bias: eq-kpca-network."""
    X, t = made(15, 2), made(1, 2, 9)[0]
    model = fit_kernel_pca(X, 2, rbf(1.0))
    nodes = np.array([np.exp(-np.sum((t - x) ** 2) / 2) for x in X])
    bias = -model.alpha.T @ rbf(1.0)(X).mean(axis=1)
    np.testing.assert_allclose(model.alpha.T @ nodes + bias, model.encode(t[None])[0])


def test_pca_of_the_raw_gram_matrix_is_something_else():
    """Eigenvectors of K² and of KJK are not those of K̃; those of K̃² are: eq-kpca-network."""
    X = made(30, 2)
    K = rbf(1.0)(X)
    K_c = J(30) @ K @ J(30)

    def top(A):
        return np.linalg.eigh(A)[1][:, -2:]

    def angle(A):
        return np.degrees(np.arccos(np.clip(np.linalg.svd(top(K_c).T @ top(A))[1][-1], 0, 1)))

    assert angle(K_c @ K_c) < 1e-5
    assert angle(K @ K) > 5
    assert angle(K @ J(30) @ K) > 5


# --- the eigensolver -----------------------------------------------------------------------------


def plainly(K, k, center):
    """The k leading pairs with positive eigenvalue in three lines, and the mean of the trace."""
    K = J(len(K)) @ K @ J(len(K)) if center else K
    lam, A = np.linalg.eigh(K)
    return lam[::-1][:k], A[:, ::-1][:, :k], lam.sum() / len(K)


def test_the_engine_beside_three_plain_lines():
    """Panels and arrays, centred or not, few pairs and many, give what eigh gives."""
    for n, k in ((30, 5), (30, 25), (450, 4)):
        X = made(n, 3)
        whole = rbf(0.7)(X)
        forms = (whole.copy(), SymmetricPanels(lower_panels(rbf(0.7), X)), checked_gram(whole))
        for K, center in ((K, center) for K in forms for center in (True, False)):
            if isinstance(K, np.ndarray) and K.flags.writeable:
                K = K.copy()  # the solver may use it up
            lam, A, variance, clipped = positive_eigenpairs(CenteredGram(K, center), k, False)
            right, vectors, mean = plainly(whole, k, center)
            np.testing.assert_allclose(lam, right, rtol=1e-9)
            np.testing.assert_allclose(up_to_sign(A, vectors), vectors, atol=1e-6)
            assert variance == pytest.approx(mean)
            assert clipped is None
        np.testing.assert_array_equal(whole, rbf(0.7)(X))


def test_gram_matrices_are_left_alone():
    """A Gram matrix that the caller owns is never overwritten, in either solver."""
    for n, k in ((500, 3), (60, 20)):
        K = rbf(1.0)(made(n, 2))
        before = K.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_kernel_pca_gram(K, k)
            fit_kernel_pca_gram(K, k, clip=True)
        np.testing.assert_array_equal(K, before)


def test_half_and_whole_gram_matrices_give_one_model():
    """A kernel with few components keeps half of K; a given Gram matrix is whole: eq-kpca-gram."""
    X = np.random.default_rng(2).standard_normal((500, 4))
    half, whole = fit_kernel_pca(X, 6, rbf(2.0)), fit_kernel_pca_gram(rbf(2.0)(X, X), 6)
    assert eigen.lanczos_pays(500, 6)
    assert np.allclose(half.lam, whole.lam, rtol=1e-12)
    assert np.allclose(half.alpha, whole.alpha, rtol=0, atol=1e-10)
    assert np.allclose(half.row_means, whole.row_means, rtol=1e-13)
    assert half.total_variance == pytest.approx(whole.total_variance, rel=1e-13)


def test_an_array_that_a_callable_keeps_is_left_alone():
    """A callable may hand out its own stored matrix: fitting must not write into it."""
    K = rbf(1.0)(np.random.default_rng(3).standard_normal((30, 2)))
    before = K.copy()
    fit_kernel_pca(range(30), 20, lambda T, X: K)
    assert np.array_equal(K, before)


def test_rounding_is_judged_by_all_entries():
    """−D²/2 has a zero diagonal, and yet rounding: points in the plane have two components."""
    X = 10 * np.random.default_rng(4).standard_normal((600, 2))
    D2 = np.sum((X[:, None] - X) ** 2, axis=2)
    with pytest.warns(UserWarning, match="only 2 have a variance"):
        assert fit_kernel_pca_gram(-D2 / 2, 5).lam.size == 2


def test_overflow_of_a_kernel():
    """A kernel that overflows is refused in a sentence, dense or by Lanczos."""
    X = 1e120 * np.random.default_rng(5).standard_normal((400, 2))
    for k in (2, 300):
        with pytest.raises(ValueError, match="overflows"), np.errstate(over="ignore"):
            fit_kernel_pca(X, k, polynomial(3))


def test_memory():
    """Few components of a kernel need less than 0.7 n×n arrays: only half of K is kept."""
    X = np.random.default_rng(0).standard_normal((4000, 20))
    tracemalloc.start()
    fit_kernel_pca(X, 10, rbf(5.0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.7 * 8 * 4000**2


# --- models and input ----------------------------------------------------------------------------


def test_single_precision():
    """float32 in, float32 out, with float32 accuracy; by Lanczos and densely."""
    for n, k in ((700, 5), (60, 5)):
        X = made(n, 3)
        double, single = (fit_kernel_pca(x, k, rbf(2.0)) for x in (X, X.astype(np.float32)))
        arrays = (single.alpha, single.lam, single.scores, single.encode(X[:3].astype(np.float32)))
        assert all(array.dtype == np.float32 for array in arrays)
        np.testing.assert_allclose(single.lam, double.lam, rtol=1e-4)
        np.testing.assert_allclose(
            up_to_sign(single.scores, double.scores), double.scores, atol=3e-3
        )


def test_deterministic_with_fixed_signs():
    X = made(600, 3)
    first, second = fit_kernel_pca(X, 4, rbf(1.0)), fit_kernel_pca(X.copy(), 4, rbf(1.0))
    np.testing.assert_array_equal(first.alpha, second.alpha)
    largest = np.argmax(np.abs(first.alpha), axis=0)
    assert np.all(first.alpha[largest, np.arange(4)] > 0)


def test_inputs_and_models_do_not_change():
    X = made(20, 2)
    before = X.copy()
    model = fit_kernel_pca(X, 2, rbf(1.0))
    model.encode(X), model.reconstruction_error(X), held_out_loss(X, 2, rbf(1.0), noise=0.1)
    np.testing.assert_array_equal(X, before)
    with pytest.raises(AttributeError):
        model.lam = np.ones(2)
    assert isinstance(model, KernelPCA)
    assert model.n == 20


def dot(A, B):
    """The linear kernel, for whatever has numbers in it."""
    A, B = (np.asarray(M.todense() if sparse.issparse(M) else M, float) for M in (A, B))
    return A @ B.T


FORMS = {
    "array": lambda X: X.copy(),
    "single precision": lambda X: X.astype(np.float32),
    "table": lambda X: pd.DataFrame(X, columns=list("abc")),
    "sparse": sparse.csr_array,
    "sparse, old": sparse.csc_matrix,
    "lists": lambda X: X.tolist(),
    "integers": lambda X: (X * 8).astype(int),
}


@pytest.mark.parametrize("kernel", [linear(), dot], ids=["kernel", "callable"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_models_own_their_samples(form, kernel):
    """What happens to X after the fit changes no model; copies and pickles are like it."""
    plain = np.round(8 * made(20, 3)) / 8
    X = form(plain)
    model = fit_kernel_pca(X, 2, kernel)
    T = form(plain[:4])
    before = model.encode(T)
    factor = 8 if isinstance(X, np.ndarray) and X.dtype == int else 1
    right = fit_kernel_pca(factor * plain, 2, linear())
    np.testing.assert_allclose(model.scores, right.scores, atol=1e-3 * factor)
    assert (model.columns == tuple("abc")) == (type(X) is pd.DataFrame)
    twins = [model, copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    if sparse.issparse(X):
        X.data *= 2
    elif isinstance(X, list):
        X[0] = [9.0, 9.0, 9.0]
    else:
        X *= 2
    for twin in twins:
        np.testing.assert_array_equal(twin.encode(T), before)
        assert twin.columns == model.columns
        assert repr(twin) == repr(model)
        for name in ("alpha", "lam", "row_means"):
            assert not getattr(twin, name).flags.writeable


def test_sparse_samples():
    """Sparse X is stored sparse, and all verbs give what the dense X gives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 40)) * (rng.random((500, 40)) < 0.1)
    T = X[:9] + 0.1
    for kernel in (rbf(2.0), linear(), polynomial(2), rbf(2.0) + linear()):
        dense, model = fit_kernel_pca(X, 4, kernel), fit_kernel_pca(sparse.coo_array(X), 4, kernel)
        assert sparse.issparse(model.X)
        np.testing.assert_allclose(model.lam, dense.lam, rtol=1e-9)
        for new in (T, sparse.csc_array(T)):
            Z = model.encode(new)
            np.testing.assert_allclose(up_to_sign(Z, dense.encode(T)), dense.encode(T), atol=1e-8)
            error = model.reconstruction_error(new)
            np.testing.assert_allclose(error, dense.reconstruction_error(T), atol=1e-8)


def test_tables():
    """Column names are kept, and a table with others is refused; plain arrays have none."""
    table = pd.DataFrame(made(12, 3), columns=list("abc"))
    for kernel in (rbf(1.0), dot):
        model = fit_kernel_pca(table, 2, kernel)
        assert model.columns == ("a", "b", "c")
        np.testing.assert_allclose(model.encode(table), model.scores, atol=1e-12)
        np.testing.assert_allclose(model.encode(table.to_numpy()), model.scores, atol=1e-12)
        for verb in (model.encode, lambda T, m=model: m.reconstruction_error(T, np.ones(12))):
            with pytest.raises(ValueError, match="Column 0 of T is called 'c'"):
                verb(table[["c", "b", "a"]])


def test_going_back():
    """decode and reconstruct give points, by a method that suits the kernel."""
    X = made(40, 2)
    for kernel, method in ((rbf(2.0), "fixed-point"), (polynomial(2), "gradient")):
        model = fit_kernel_pca(X, 4, kernel)
        Z = model.encode(X[:5])
        np.testing.assert_array_equal(model.decode(Z), preimage(model, Z, method).X)
        np.testing.assert_array_equal(model.reconstruct(X[:5]), denoise(model, X[:5], method).X)
        assert np.abs(model.reconstruct(X[:5]) - X[:5]).max() < 0.5
        np.testing.assert_array_equal(
            model.decode(Z, "nearest"), preimage(model, Z, method="nearest").X
        )
    words = ["banana", "bandana", "cabana", "kernel", "colonel", "kennel"]
    by_letters = fit_kernel_pca(words, 4, ngram_kernel(2))
    assert list(by_letters.decode(by_letters.scores)) == words
    with pytest.raises(ValueError, match="Gram matrix"):
        BY_GRAM.decode(np.zeros((1, 2)))


def test_errors_in_blocks(monkeypatch):
    """Errors of many samples are computed some at a time, and are those of all at once."""
    X, T = made(2000, 2), made(3000, 2, 1)
    model = fit_kernel_pca(X, 3, rbf(1.0))
    tracemalloc.start()
    by_blocks = model.reconstruction_error(T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2000 * 3000  # half of what all kernel values and a copy would need
    monkeypatch.setattr("kpca_edu._engine.panels.BLOCK_ENTRIES", 2**30)
    np.testing.assert_allclose(by_blocks, model.reconstruction_error(T), atol=1e-12)


def test_a_model_tells_what_it_is():
    X = made(200, 2)
    assert repr(fit_kernel_pca(X, 8, rbf(0.8))).startswith("KernelPCA(k=8 of n=200, rbf(sigma=0.8)")
    line = "KernelPCA(k=1 of n=3, linear(), 100 % of the variance)"
    assert repr(fit_kernel_pca([[-1.0], [0.0], [1.0]], 1, linear())) == line
    assert "k=2 of n=10, Gram matrix given" in repr(BY_GRAM)
    assert "k=1 of n=200, dot, " in repr(fit_kernel_pca(X, 1, dot))
    assert fit_kernel_pca(X, 8, rbf(0.8)).k == 8


def test_scales_of_the_data():
    """X and σ times c give the same weights; the chosen width goes with the data."""
    X = made(60, 3)
    widths = np.array([0.1, 1.0, 30.0])
    model, error = fit_kernel_pca(X, 3, rbf(1.5)), denoising_error(X, 8, rbf(4.0), folds=3)
    sigma = choose_sigma(X, 30, sigmas=widths, noise=0.5, folds=3)
    assert sigma == 1
    for c in (1e-100, 1e-8, 1e8, 1e100):
        scaled = fit_kernel_pca(c * X, 3, rbf(1.5 * c))
        np.testing.assert_allclose(scaled.alpha, model.alpha, atol=1e-9)
        got = choose_sigma(c * X, 30, sigmas=c * widths, noise=0.5 * c, folds=3)
        assert got == pytest.approx(c * sigma, rel=1e-9)
        assert denoising_error(c * X, 8, rbf(4.0 * c), folds=3) == pytest.approx(error, rel=0.01)


def test_flags_of_numpy():
    """np.True_ is True, and np.int8(2) is 2."""
    X = made(9, 2)
    model = fit_kernel_pca(X, np.int8(2), rbf(1.0), center=np.True_, clip=np.False_)
    np.testing.assert_array_equal(model.alpha, fit_kernel_pca(X, 2, rbf(1.0)).alpha)


def test_half_and_extended_precision():
    """Both are computed with doubles."""
    X = made(30, 2)
    for dtype in (np.float16, np.longdouble):
        model = fit_kernel_pca(X.astype(dtype), 2, rbf(1.0))
        assert model.alpha.dtype == np.float64
        right = fit_kernel_pca(X, 2, rbf(1.0)).scores
        np.testing.assert_allclose(up_to_sign(model.scores, right), right, atol=0.01)


def test_progress(capsys):
    X = made(30, 2)
    model = fit_kernel_pca(X, 2, rbf(1.0), progress=True)
    assert "Gram matrix" in capsys.readouterr().err
    model.encode(X, progress=True)
    assert "Kernel values" in capsys.readouterr().err
    choose_sigma(X, 4, sigmas=[1.0], folds=2, progress=True)
    assert "Widths" in capsys.readouterr().err


def test_models_of_another_kind():
    """A function that needs kernel PCA says so."""
    assert kernel_model(MODEL) is MODEL
    for wrong in (None, "rbf", rbf(1.0), np.eye(2), fit_pca(X62, 1), KernelPCA):
        with pytest.raises(ValueError, match="a model of kernel PCA is needed"):
            kernel_model(wrong)


def test_no_scipy_in_the_way():
    """From the kernel values to the weights only NumPy's BLAS is called."""
    seen = set()
    folder = str(Path(linalg.__file__).parent)

    def watch(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            seen.add(frame.f_code.co_name)

    sys.setprofile(watch)
    try:
        for n, k in ((600, 5), (100, 50)):
            model = fit_kernel_pca(made(n, 3), k, rbf(1.0))
            fit_kernel_pca(made(n, 3), 0.9, rbf(1.0))
            fit_kernel_pca(made(100, 3), 5, rbf(1.0), clip=True)
            model.reconstruction_error(made(50, 3))
        held_out_loss(made(50, 3), 5, rbf(1.0))
    finally:
        sys.setprofile(None)
    assert seen == set()


def test_lists_and_integers():
    """Plain lists of whole numbers are data too."""
    model = fit_kernel_pca([[0, 0], [1, 0], [0, 2]], 1, linear())
    assert model.alpha.dtype == float


def test_by_hand():
    """Three points on a line at −1, 0, 1: λ̃ = 2, α = a/√2, scores −1, 0, 1: eq-kpca-alpha."""
    model = fit_kernel_pca([[-1.0], [0.0], [1.0]], 1, linear())
    np.testing.assert_allclose(model.lam, [2])
    np.testing.assert_allclose(np.abs(model.alpha[:, 0]), [0.5, 0, 0.5], atol=1e-15)
    np.testing.assert_allclose(np.abs(model.scores[:, 0]), [1, 0, 1], atol=1e-15)


MODEL = fit_kernel_pca(made(10, 2), 2, rbf(1.0))
BY_GRAM = fit_kernel_pca_gram(rbf(1.0)(made(10, 2)), 2)
X62 = made(6, 2)
BAD = {
    "k zero": (lambda: fit_kernel_pca(X62, 0, rbf(1.0)), "at least 1"),
    "k fraction": (lambda: fit_kernel_pca(X62, 1.5, rbf(1.0)), "from 1 to 5 is needed, or a share"),
    "k one point zero": (lambda: fit_kernel_pca(X62, 1.0, rbf(1.0)), "share of the variance"),
    "k NaN": (lambda: fit_kernel_pca(X62, np.nan, rbf(1.0)), "share of the variance"),
    "k text": (lambda: fit_kernel_pca(X62, "2", rbf(1.0)), "no number of components"),
    "k boolean": (lambda: fit_kernel_pca(X62, True, rbf(1.0)), "no number of components"),
    "kernel by name": (lambda: fit_kernel_pca(X62, 1, "rbf"), "kernel='rbf'.*not its name"),
    "kernel not called": (lambda: fit_kernel_pca(X62, 1, rbf), "kernel=rbf is a function that"),
    "kernel a number": (lambda: fit_kernel_pca(X62, 1, 2.0), "kernel is float"),
    "center": (lambda: fit_kernel_pca(X62, 1, rbf(1.0), center=1), "center=1: True or False"),
    "clip": (lambda: fit_kernel_pca(X62, 1, rbf(1.0), clip="yes"), "clip='yes': True or False"),
    "clip of K": (lambda: fit_kernel_pca_gram(np.eye(3), 1, clip=0), "clip=0: True or False"),
    "progress": (lambda: fit_kernel_pca(X62, 1, rbf(1.0), progress=1), "progress=1"),
    "one text": (lambda: fit_kernel_pca("banana", 1, ngram_kernel(1)), "list of texts"),
    "no samples": (lambda: fit_kernel_pca([], 1, dot), "0 sample"),
    "endless": (lambda: fit_kernel_pca((w for w in "ab"), 1, dot), "has no length"),
    "sparse laplacian": (lambda: fit_kernel_pca(sparse.eye_array(9), 1, laplacian(1.0)), "dense"),
    "table with text": (
        lambda: fit_kernel_pca(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), 1, rbf(1.0)),
        "column 'b'",
    ),
    "diagonal, a column": (
        lambda: BY_GRAM.reconstruction_error(np.ones((10, 10)), np.ones((10, 1))),
        r"shape \(10, 1\).*one for each sample",
    ),
    "diagonal, too short": (
        lambda: BY_GRAM.reconstruction_error(np.ones((10, 10)), np.ones(9)),
        "10 finite numbers",
    ),
    "diagonal, text": (
        lambda: BY_GRAM.reconstruction_error(np.ones((1, 10)), ["a"]),
        "diagonal holds entries that are not numbers",
    ),
    "loss of a callable": (lambda: held_out_loss(X62, 1, dot), "A kernel of kpca_edu.kernels is"),
    "error of a callable": (lambda: denoising_error(X62, 1, dot), "A kernel of kpca_edu.kernels"),
    "no noise": (lambda: denoising_error(X62, 1, rbf(1.0), noise=0), "noise=0.0: a number above 0"),
    "equal samples": (lambda: denoising_error(np.ones((5, 2)), 1, rbf(1.0)), "samples are equal"),
    "loss of a name": (lambda: held_out_loss(X62, 1, "rbf"), "not its name"),
    "loss of the sigmoid": (
        lambda: held_out_loss(made(40, 2), 3, sigmoid(1.0, -1.0)),
        r"sigmoid\(scale=1, offset=-1\) is indefinite.*Take another",
    ),
    "loss of the sigmoid, many": (
        lambda: held_out_loss(made(40, 2), 30, sigmoid(1.0, -1.0)),
        "there is no error",
    ),
    "folds": (lambda: held_out_loss(X62, 1, rbf(1.0), folds=2.5), "folds=2.5: a whole number"),
    "rng": (lambda: held_out_loss(X62, 1, rbf(1.0), rng="a"), "rng='a'"),
    "noise text": (lambda: choose_sigma(X62, 1, noise="a"), "noise='a'"),
    "no widths": (lambda: choose_sigma(X62, 1, sigmas=[]), "sigmas is empty"),
    "widths of text": (lambda: choose_sigma(X62, 1, sigmas=["a"]), "sigmas holds"),
    "k too large": (lambda: fit_kernel_pca(X62, 6, rbf(1.0)), "6 centred samples: at most 5"),
    "one sample": (lambda: fit_kernel_pca(X62[:1], 1, rbf(1.0)), "at least 2 are needed"),
    "1-D": (lambda: fit_kernel_pca(np.ones(5), 1, rbf(1.0)), "reshape"),
    "NaN": (lambda: fit_kernel_pca([[np.nan], [1.0]], 1, rbf(1.0)), "NaN"),
    "text": (lambda: fit_kernel_pca([["a"], ["b"]], 1, rbf(1.0)), "not numbers"),
    "complex": (lambda: fit_kernel_pca([[1j], [2.0]], 1, rbf(1.0)), "complex"),
    "empty": (lambda: fit_kernel_pca(np.empty((0, 2)), 1, rbf(1.0)), "empty"),
    "callable, wrong size": (
        lambda: fit_kernel_pca(X62, 1, lambda A, B: np.eye(3)),
        "3×3 for 6 samples",
    ),
    "callable, not symmetric": (
        lambda: fit_kernel_pca(X62, 1, lambda A, B: np.triu(np.ones((6, 6)))),
        r"kernel\(X, X\) is not symmetric",
    ),
    "callable, NaN": (
        lambda: fit_kernel_pca(X62, 1, lambda A, B: np.full((6, 6), np.nan)),
        "NaN",
    ),
    "K not square": (lambda: fit_kernel_pca_gram(np.ones((3, 4)), 1), "square"),
    "K not symmetric": (
        lambda: fit_kernel_pca_gram(np.triu(np.ones((4, 4))), 1),
        "not symmetric",
    ),
    "K infinite": (lambda: fit_kernel_pca_gram(np.full((4, 4), np.inf), 1), "infinity"),
    "new columns": (lambda: MODEL.encode(np.ones((2, 3))), "3 columns.*fitted on 2"),
    "new errors": (lambda: MODEL.reconstruction_error(np.ones((2, 3))), "fitted on 2"),
    "rows of K": (lambda: BY_GRAM.encode(np.ones((2, 3))), "10 training samples"),
    "no diagonal": (lambda: BY_GRAM.reconstruction_error(np.ones((2, 10))), "diagonal=…"),
    "scores": (lambda: MODEL.weights(np.ones((2, 3))), "3 columns and the model 2"),
    "noise negative": (lambda: held_out_loss(X62, 1, rbf(1.0), noise=-1.0), "number from 0 up"),
    "one fold": (lambda: held_out_loss(X62, 1, rbf(1.0), folds=1), "whole number from 2"),
    "many folds": (lambda: held_out_loss(X62, 1, rbf(1.0), folds=7), "at most 6 parts"),
    "width": (lambda: choose_sigma(X62, 1, noise=0.1, sigmas=[1.0, -1.0]), "a width is positive"),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_rounding_is_small_beside_machine_precision():
    """The largest relative residual of a fit is a few hundred ε: eq-kpca-dual."""
    X = made(800, 5)
    model = fit_kernel_pca(X, 10, rbf(2.0))
    K_c = J(800) @ rbf(2.0)(X) @ J(800)
    a = model.alpha * np.sqrt(model.lam)
    residual = np.linalg.norm(K_c @ a - a * model.lam, axis=0).max() / model.lam[0]
    assert residual < 1000 * EPS


def test_some_two_thousand_samples_are_asked_for_their_neighbours(monkeypatch):
    """Up to 1999 all are asked, of more every second or third, however many features they have."""
    asked = []

    def one_apart(some, X):
        asked.append(len(some))
        return np.ones((len(some), 1))

    monkeypatch.setattr("kpca_edu._engine.inner_products.squared_distances", one_apart)
    for n, d, count in ((1999, 1, 1999), (2000, 1, 1000), (4000, 1, 1334), (30, 5000, 30)):
        asked.clear()
        assert neighbor_spacing(np.zeros((n, d))) == pytest.approx(1 / np.sqrt(d))
        assert sum(asked) == count


@pytest.mark.parametrize("center", [True, False])
def test_the_fewest_samples(center):
    """Two centred samples have one component, and so has one that is not centred."""
    X = np.array([[1.0, 0.0], [3.0, 1.0]])[: 1 + center]
    assert fit_kernel_pca(X, 1, linear(), center=center).k == 1
    with pytest.raises(ValueError, match="sample given" if center else "X is empty"):
        fit_kernel_pca(X[1:], 1, linear(), center=center)


def test_a_share_is_more_than_nothing():
    """Exactly half is a share that two of four equal variances have; 0 and 1 are no shares."""
    assert gram_spectrum._count(0.5, np.ones(4), 4.0) == 2
    assert [gram_spectrum.is_share(k) for k in (0.0, 1e-9, 1 - 1e-9, 1.0, 1)] == [0, 1, 1, 0, 0]
    with pytest.raises(ValueError, match=r"k=0\.0: a whole number of components"):
        fit_kernel_pca_gram(np.eye(4), 0.0)


def test_half_of_a_gram_matrix_is_held_where_few_pairs_are_wanted():
    """All eigenvalues, and what clipping changes, need the whole."""
    X, n = np.random.default_rng(0).standard_normal((140, 2)), 140
    for k, clip, half in [(1, False, True), (1, True, False), (100, False, False)]:
        K = gram_spectrum.gram_in_memory(rbf(1.0), X, k, clip, False)
        assert isinstance(K, SymmetricPanels) == half
        assert len(K) == n


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_squared_lengths_know_no_unit(size):
    """Below zero by half of the digits is rounding, and by more no length."""
    values = size * np.array([2.0, 0.5, -1e-9, -1e-6])
    found = gram_spectrum.squared_length(values, np.full(4, size))
    np.testing.assert_array_equal(found, [*values[:2], 0, np.nan])


def test_a_gram_matrix_of_zeros_has_no_variance():
    for center in (True, False):
        with pytest.raises(ValueError, match="zero variance"):
            fit_kernel_pca_gram(np.zeros((4, 4)), 1, center=center)


def test_a_single_width_is_taken_without_a_word():
    """There is no wider or narrower one to speak of."""
    X = np.random.default_rng(0).standard_normal((20, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_sigma(X, 1, sigmas=[1.5]) == 1.5


def test_the_widths_that_are_tried(monkeypatch):
    """From an eighth of the median distance to eight of it, by roots of two; the best in between
    needs no warning, one at the end does."""
    X, tried = np.array([[0.0], [1.0], [3.0]]), []

    def error(best, X, k, kernel, **options):
        tried.append(kernel.sigma / 2)  # the median is 2
        return abs(tried[-1] - best)

    monkeypatch.setattr(module, "denoising_error", partial(error, 2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_sigma(X, 1) == pytest.approx(4)
    np.testing.assert_allclose(tried, 2.0 ** np.linspace(-3, 3, 13))
    for best, words in ((0, "narrowest"), (99, "widest")):
        monkeypatch.setattr(module, "denoising_error", partial(error, best))
        with pytest.warns(UserWarning, match=words):
            choose_sigma(X, 1)


def test_some_noise_is_needed_to_be_removed():
    with pytest.raises(ValueError, match="noise=0.0"):
        denoising_error(np.eye(6), 1, rbf(1.0), noise=0.0)


def test_as_many_components_as_there_are_need_no_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gram_spectrum._count(3, np.ones(3), 3.0) == 3
    with pytest.warns(UserWarning, match="only 3 have a variance"):
        assert gram_spectrum._count(4, np.ones(3), 3.0) == 3


@pytest.mark.parametrize("center", [True, False])
def test_the_whole_spectrum_tells_its_lowest(center):
    K = np.diag([3.0, -1.0, 5.0, 2.0])
    lam, A, lowest = CenteredGram(K, center).spectrum()
    J = np.eye(4) - center / 4
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(J @ K @ J)[::-1], atol=1e-12)
    assert lowest == lam[-1]
    np.testing.assert_allclose(J @ K @ J @ A, A * lam, atol=1e-12)


def test_rounding_is_judged_by_the_largest_modulus():
    K = np.array([[1.0, 9.0], [9.0, 1.0]])
    wanted = CenteredGram(K, False).rounding
    assert wanted > 0
    assert CenteredGram(-K, False).rounding == wanted
    assert CenteredGram(K * [[1, -1], [-1, 1]], False).rounding == wanted


@pytest.mark.parametrize("lowest", [0.0, 0.5])
def test_no_eigenvalue_is_named_that_was_not_seen(lowest):
    """The trace can prove a negative one; what was seen is not negative then."""
    with pytest.raises(gram_spectrum.IndefiniteGram) as caught:
        gram_spectrum._speak_of_indefinite(5, 3, lowest)
    assert "an eigenvalue of" not in str(caught.value)
    with pytest.raises(gram_spectrum.IndefiniteGram, match="an eigenvalue of at most -0.5"):
        gram_spectrum._speak_of_indefinite(5, 3, -0.5)


def test_rounding_of_the_trace_makes_nothing_indefinite():
    """n eigenvalues may be off by rounding each; beyond that the trace proves a negative one."""
    lam, K = np.array([1.0]), SimpleNamespace(rounding=1e-9, n=100, trace=1.0)
    assert not gram_spectrum._is_indefinite(K, lam, 0.0)
    K.trace = 1 - 9e-8
    assert not gram_spectrum._is_indefinite(K, lam, 0.0)
    K.trace = 1 - 2e-7
    assert gram_spectrum._is_indefinite(K, lam, 0.0)


def test_sparse_samples_of_a_model_can_not_be_written_to():
    X = sparse.csr_array(np.eye(5))
    model = fit_kernel_pca(X, 1, linear())
    for part in (model.X.data, model.X.indices, model.X.indptr):
        assert not part.flags.writeable
    assert X.data.flags.writeable


def test_a_share_of_a_small_matrix_takes_all_eigenvalues_at_once(monkeypatch):
    """Where a few cost as much as all, no search for the number is made."""
    monkeypatch.delattr(CenteredGram, "eigenpairs")
    K = CenteredGram(np.diag(np.arange(1.0, 21.0)), False)
    assert len(positive_eigenpairs(K, 0.55, False).lam) == 7  # 20 + … + 14 are 119 of 210
