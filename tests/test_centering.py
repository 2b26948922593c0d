"""The theorems of chapter 8 on random data, with explicit features, scikit-learn and mpmath."""

import copy
import pickle
import re
import sys
import tracemalloc
import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import EPS, orthonormal, seeds, sparing, thorough
from scipy import integrate, linalg, sparse, special
from scipy.sparse.linalg import aslinearoperator
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.preprocessing import KernelCenterer

from kpca_edu import centering as module
from kpca_edu import fit_kernel_pca, fit_kernel_pca_gram, fit_pca, polynomial_features
from kpca_edu._engine.centering import (
    center_in_place,
    check_equal_sums,
    row_means,
    size_of,
    subtract_sums,
)
from kpca_edu._engine.distances import squares
from kpca_edu.centering import (
    ClassicalMDS,
    additive_constant,
    center_cross_gram,
    center_cross_gram_by_means,
    center_gram,
    center_gram_by_blocks,
    center_gram_by_matrix,
    center_gram_in_place,
    center_gram_weighted,
    centering_matrix,
    classical_mds,
    cosine_with_mean,
    double_center,
    gram_means,
    gram_means_by_blocks,
    is_conditionally_psd,
    squared_distances_of_gram,
)
from kpca_edu.kernels import cosine, laplacian, linear, polynomial, rbf

IRIS = load_iris().data
KERNELS = [linear(), polynomial(2), polynomial(3, 0.5), rbf(1.5), laplacian(2.0), cosine()]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel)[1:12])


@st.composite
def features(draw, max_side=10, least=1):
    """Draw n×p features with a mean of any size."""
    n, p = draw(st.integers(least, max_side)), draw(st.integers(1, max_side))
    rng = np.random.default_rng(draw(seeds))
    mean = draw(st.sampled_from([0.0, 1.0, 30.0])) * rng.standard_normal(p)
    return rng.standard_normal((n, p)) * 2.0 ** -rng.integers(0, 4, p) + mean


@st.composite
def symmetric(draw, max_side=10):
    """Draw a symmetric matrix, most often indefinite."""
    n = draw(st.integers(1, max_side))
    A = np.random.default_rng(draw(seeds)).standard_normal((n, n)) + draw(st.integers(-2, 2))
    return A + A.T


def subtract_mean(F):
    """Centre features by a loop over columns, the most boring way."""
    return np.column_stack([column - sum(column) / len(column) for column in F.T])


def near(given, wanted, scale=1.0):
    """Compare to within rounding of numbers of the given size."""
    np.testing.assert_allclose(given, wanted, rtol=0, atol=1e-12 * max(scale, 1e-300))


def samples(n=25, d=2, seed=0, shift=1.0):
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


# --- the centring matrix -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_centring_matrix_is_the_projection_off_the_ones(n):
    """J has the entries that it should, is symmetric and idempotent, kills 1 and nothing else:
    eq-center-j, eq-center-algebra.
    """
    J, ones = centering_matrix(n), np.ones(n)
    assert J[0, 0] == pytest.approx(1 - 1 / n)
    assert n == 1 or J[0, 1] == pytest.approx(-1 / n)
    near(J, J.T)
    near(J @ J, J)
    near(J @ ones, 0)
    near(linalg.eigvalsh(J), [0] + [1] * (n - 1))
    assert np.trace(J) == pytest.approx(n - 1)


@thorough
@given(features())
def test_centring_matrix_centres_features(F):
    """JΦ is what is left when each column loses its mean: eq-center-mean, eq-center-features."""
    near(centering_matrix(len(F)) @ F, subtract_mean(F), 100)
    near(F - np.outer(np.ones(len(F)), F.T @ np.ones(len(F)) / len(F)), subtract_mean(F), 100)


# --- three forms ---------------------------------------------------------------------------------


@thorough
@given(symmetric())
def test_three_forms_agree(K):
    """Matrices, four terms, sums, and in place: eq-kpca-centered, eq-center-means,
    eq-center-sums, eq-center-shift.
    """
    n = len(K)
    E = np.full((n, n), 1 / n)
    J = np.eye(n) - E
    expanded = K - E @ K - K @ E + E @ K @ E
    entries = [
        [K[i, j] - K[i].mean() - K[:, j].mean() + K.mean() for j in range(n)] for i in range(n)
    ]
    scale = n * np.abs(K).max()
    for form in (center_gram_by_matrix(K), center_gram(K), center_gram_in_place(K.copy())):
        for wanted in (J @ K @ J, expanded, np.array(entries)):
            near(form, wanted, scale)


@thorough
@given(features())
def test_centred_gram_is_gram_of_centred_features(F):
    """JΦΦᵀJ holds the inner products of centred features, with zero row sums:
    eq-kpca-centered, eq-center-null.
    """
    centred = subtract_mean(F)
    K, scale = F @ F.T, len(F) * np.abs(F @ F.T).max()
    near(center_gram(K), centred @ centred.T, scale)
    near(center_gram(K) @ np.ones(len(F)), 0, scale)


@thorough
@given(symmetric())
def test_centring_twice_changes_nothing(K):
    """J² = J carries over, and the result is symmetric to the last digit: eq-center-algebra."""
    once = center_gram(K)
    near(center_gram(once), once, np.abs(K).max())
    assert np.array_equal(once, once.T)


@thorough
@given(symmetric(), seeds)
def test_centring_is_blind_to_sums_of_functions_of_one_sample(K, seed):
    """K + f1ᵀ + 1fᵀ and K have the same centred matrix: eq-center-blind."""
    f = 10 * np.random.default_rng(seed).standard_normal(len(K))
    changed = K + f[:, None] + f[None, :]
    near(center_gram(changed), center_gram(K), 10 * np.abs(changed).max())


@thorough
@given(features(least=2))
def test_what_centring_takes_from_spectrum_and_trace(F):
    """The trace falls by n‖φ̄‖², and eigenvalues interlace: eq-kpca-share, eq-center-interlace."""
    K = F @ F.T
    lam, lam_c = linalg.eigvalsh(K)[::-1], linalg.eigvalsh(center_gram(K))[::-1]
    slack = 1e-12 * lam[0] * len(K)
    squared_mean = sum(np.mean(column) ** 2 for column in F.T)
    assert lam_c.sum() == pytest.approx(lam.sum() - len(F) * squared_mean, abs=slack)
    assert np.all(lam_c <= lam + slack)
    assert np.all(lam[1:] <= lam_c[:-1] + slack)


@each_kernel
def test_scikit_learn_centres_alike(kernel):
    """KernelCenterer gives the same for old and new samples: eq-center-sums, eq-center-cross."""
    K, K_new = kernel(IRIS[::2], IRIS[::2]), kernel(IRIS[1::2], IRIS[::2])
    peer = KernelCenterer().fit(K)
    near(center_gram(K), peer.transform(K), np.abs(K).max())
    near(center_cross_gram(K_new, K), peer.transform(K_new), np.abs(K).max())


def test_in_place_means_in_place():
    """The array that went in comes out, and hardly more memory is needed: eq-center-shift."""
    K = rbf(1.0)(samples(1500), samples(1500))
    wanted = KernelCenterer().fit_transform(K)
    tracemalloc.start()
    result = center_gram_in_place(K)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result is K
    assert peak < 0.05 * K.nbytes
    near(K, wanted)


def test_any_layout_of_memory():
    """Columns first or with gaps, K is centred all the same."""
    for view in (np.asfortranarray, lambda K: np.repeat(np.repeat(K, 2, 0), 2, 1)[::2, ::2]):
        K = view(polynomial(2)(samples(), samples()))
        wanted = center_gram_by_matrix(K)
        near(center_gram(K), wanted, 100)
        near(center_gram_in_place(K), wanted, 100)


def test_the_blocked_routines_are_the_plain_formulas():
    """Across many blocks of rows, K − (q1ᵀ + 1qᵀ) and JKJ come out, and nothing is lost."""
    K = rbf(1.0)(samples(700), samples(700))  # blocks of 46 rows
    q = np.random.default_rng(0).standard_normal(700)
    near(subtract_sums(K.copy(), q), K - (q[:, None] + q))
    near(center_in_place(K.copy()), centering_matrix(700) @ K @ centering_matrix(700))
    near(row_means(K), K.sum(axis=1) / 700)


# --- single precision, digits --------------------------------------------------------------------


def test_single_precision_stays_single():
    """float32 in, float32 out, with sums in doubles."""
    X = samples(60).astype(np.float32)
    K = rbf(1.0)(X, X)
    K = (K + K.T) / 2
    new = K[:7]
    results = [center_gram(K), center_gram_by_matrix(K), center_cross_gram(new, K)]
    results += [center_gram_weighted(K, np.arange(60)), double_center(squared_distances_of_gram(K))]
    results += [gram_means(K)[0], classical_mds(cdist(K, K).astype(np.float32), 2).Z]
    assert {result.dtype for result in results} == {np.dtype(np.float32)}
    np.testing.assert_allclose(results[0], center_gram(K.astype(float)), atol=1e-6)


def test_sums_do_not_lose_single_precision():
    """20,000 equal numbers in float32 have exactly that mean, since the sum is taken in doubles."""
    K = np.full((1, 20_000), 0.1, np.float32)
    assert center_cross_gram_by_means(K, np.zeros(20_000), 0.0)[0, 0] == 0


def exact_centred_rbf(X, sigma):
    """Centre a Gaussian Gram matrix in 60 digits."""
    with mpmath.workdps(60):
        n = len(X)
        K = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                d2 = sum(
                    (mpmath.mpf(float(a)) - float(b)) ** 2 for a, b in zip(X[i], X[j], strict=True)
                )
                K[i, j] = mpmath.exp(-d2 / (2 * mpmath.mpf(sigma) ** 2))
        r = [sum(K[i, j] for j in range(n)) / n for i in range(n)]
        mean = sum(r) / n
        exact = [[float(K[i, j] - r[i] - r[j] + mean) for j in range(n)] for i in range(n)]
    return np.array(exact)


def test_digits_lost_by_wide_gaussians_and_kept_without_the_one():
    """With σ = 10⁵ the entries of K̃ are 10⁻¹⁰ of those of K, and ten digits go; of K − 1, which
    eq-center-blind puts in its place, none do.
    """
    X, sigma = samples(8), 1e5
    exact = exact_centred_rbf(X, sigma)
    size = np.abs(exact).max()
    lost = np.abs(center_gram(rbf(sigma)(X, X)) - exact).max() / size
    kept = np.abs(center_gram(np.expm1(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))) - exact)
    assert 1e-8 < lost < 1e-4
    assert kept.max() / size < 20 * EPS


def test_error_of_centring_is_a_few_units_of_the_entries():
    """Rounding is at most a few eps times the largest entry of K."""
    X = samples(8)
    error = np.abs(center_gram(rbf(3.0)(X, X)) - exact_centred_rbf(X, 3.0)).max()
    assert error < 20 * EPS


# --- new samples ---------------------------------------------------------------------------------


@thorough
@given(features(), seeds, st.integers(1, 6))
def test_cross_gram_is_that_of_centred_features(F, seed, m):
    """New features less the *old* mean, times old ones less the same: eq-center-cross,
    eq-center-cross-matrix.
    """
    n = len(F)
    new = np.random.default_rng(seed).standard_normal((m, F.shape[1])) - 2
    K, K_new = F @ F.T, new @ F.T
    wanted = (new - F.mean(axis=0)) @ subtract_mean(F).T
    scale = n * max(np.abs(K).max(), np.abs(K_new).max())
    near(center_cross_gram(K_new, K), wanted, scale)
    near(center_cross_gram_by_means(K_new, *gram_means(K)), wanted, scale)
    matrix_form = (K_new - np.ones((m, n)) @ K / n) @ (np.eye(n) - np.ones((n, n)) / n)
    near(matrix_form, wanted, scale)


@each_kernel
def test_old_samples_as_new_ones(kernel):
    """Training samples treated as new give K̃ itself: eq-center-cross."""
    K = kernel(IRIS, IRIS)
    near(center_cross_gram(K, K), center_gram(K), np.abs(K).max())


@each_kernel
@pytest.mark.parametrize("wrong", [1.0, -7.0])
def test_a_constant_drops_out_of_scores(kernel, wrong):
    """Two of the four terms, and any constant in their place, meet 1ᵀα = 0: eq-center-drop,
    eq-center-null.
    """
    X, T = samples(), samples(6, seed=1)
    model = fit_kernel_pca(X, 2, kernel)
    K, K_new = kernel(X, X), kernel(T, X)
    alpha, r = model.alpha, K.mean(axis=1)
    full = center_cross_gram(K_new, K) @ alpha
    near(alpha.sum(axis=0), 0, np.abs(alpha).max())
    near(K_new @ alpha - r @ alpha, full, 100)
    near((center_cross_gram(K_new, K) + wrong) @ alpha, full, 100)
    near(model.encode(T), full, 100)
    np.testing.assert_allclose(np.ptp(K_new @ alpha - full, axis=0), 0, atol=1e-10)


def test_a_single_new_sample_centred_by_itself_vanishes():
    """Centred by the mean of the new samples, one of them has no scores at all."""
    K_new = rbf(1.0)(samples(1, seed=2), samples())
    by_itself = K_new - K_new.mean(axis=0)
    assert np.all(by_itself == 0)
    assert np.abs(center_cross_gram(K_new, rbf(1.0)(samples(), samples()))).max() > 0.01


# --- without centring ----------------------------------------------------------------------------


@thorough
@given(features(least=2))
def test_first_uncentred_direction_and_the_mean(F):
    """|cos| from K is that of explicit features and keeps its bound: eq-center-moment,
    eq-center-cosine, eq-center-lean.
    """
    mean, centred = F.mean(axis=0), subtract_mean(F)
    near(F.T @ F / len(F), centred.T @ centred / len(F) + np.outer(mean, mean), 1e4)
    s = np.linalg.svd(F, compute_uv=False)
    if len(s) > 1 and s[1] > 0.999 * s[0] or np.linalg.norm(mean) < 1e-3 * s[0]:
        return  # a tie has no first direction, and a zero mean has none either
    v = np.linalg.svd(F)[2][0]
    cos = abs(v @ mean) / np.linalg.norm(mean)
    assert cosine_with_mean(F @ F.T) == pytest.approx(cos, abs=1e-7)
    largest = np.linalg.svd(centred, compute_uv=False)[0] ** 2 / len(F)
    assert 1 - cos**2 <= largest / (mean @ mean) + 1e-10


@pytest.mark.parametrize("kernel", [rbf(0.5), rbf(5.0), laplacian(1.0), polynomial(2)], ids=str)
def test_positive_kernels_have_uncentred_scores_of_one_sign(kernel):
    """Entries of K above zero make the first uncentred scores all positive (Perron)."""
    scores = fit_kernel_pca(samples(40), 1, kernel, center=False).scores
    assert scores.min() > 0
    assert fit_kernel_pca(samples(40), 1, kernel).scores.min() < 0


def test_centring_the_samples_does_not_centre_the_features():
    """The RBF kernel does not see a shift of the samples, and its mean feature is never zero."""
    X = samples(shift=5.0)
    K = rbf(1.0)(X - X.mean(axis=0), X - X.mean(axis=0))
    near(K, rbf(1.0)(X, X))
    assert gram_means(K)[1] > 1 / len(X)


# --- weights -------------------------------------------------------------------------------------


@thorough
@given(features(), seeds)
def test_weights_count_samples(F, seed):
    """Whole weights do what repeating samples does: eq-center-weighted."""
    repeats = np.random.default_rng(seed).integers(0, 4, len(F))
    repeats[0] += 1
    index = np.repeat(np.arange(len(F)), repeats)
    repeated = center_gram(F[index] @ F[index].T)
    weighted = center_gram_weighted(F @ F.T, repeats)
    near(weighted[np.ix_(index, index)], repeated, 100 * np.abs(F @ F.T).max())
    mean = repeats @ F / repeats.sum()
    near(weighted, (F - mean) @ (F - mean).T, 100 * np.abs(F @ F.T).max())


@sparing
@given(features(least=3), seeds)
def test_weighted_kernel_pca_is_that_of_repeated_samples(F, seed):
    """√w K̃ √w has the variances of the repeated samples: eq-center-weighted-pca."""
    repeats = np.random.default_rng(seed).integers(1, 4, len(F))
    index = np.repeat(np.arange(len(F)), repeats)
    root = np.sqrt(repeats / repeats.sum())
    lam = linalg.eigvalsh(root[:, None] * center_gram_weighted(F @ F.T, repeats) * root)
    cov = np.atleast_2d(np.cov(F[index].T, ddof=0))
    p = min(len(F), len(cov))
    near(lam[::-1][:p], linalg.eigvalsh(cov)[::-1][:p], 10 * np.abs(F @ F.T).max())


@given(symmetric())
@thorough
def test_equal_weights_are_no_weights(K):
    """Equal weights give K̃, a single one puts the origin on its sample: eq-center-weighted."""
    n = len(K)
    near(center_gram_weighted(K, np.full(n, 3.0)), center_gram(K), n * np.abs(K).max())
    at_first = center_gram_weighted(K, np.eye(n)[0])
    near(at_first[0], 0, n * np.abs(K).max())
    near(at_first, K - K[:1] - K[:, :1] + K[0, 0], n * np.abs(K).max())


def test_weights_of_any_size():
    """Only ratios of weights count, also where their sum would overflow."""
    K = center_gram(IRIS @ IRIS.T)[:5, :5]
    w = np.array([1.0, 2, 0, 4, 1])
    for scale in (1e-300, 4e307):
        near(center_gram_weighted(K, scale * w), center_gram_weighted(K, w), 10)


# --- distances -----------------------------------------------------------------------------------


@thorough
@given(features())
def test_distances_and_back(F):
    """D² from K, and K̃ from D²: eq-center-distances, eq-center-double."""
    K, scale = F @ F.T, 10 * len(F) * np.abs(F @ F.T).max()
    D2 = cdist(F, F, "sqeuclidean")
    near(squared_distances_of_gram(K), D2, scale)
    near(squared_distances_of_gram(center_gram(K)), D2, scale)
    near(double_center(D2), subtract_mean(F) @ subtract_mean(F).T, scale)


@thorough
@given(features(least=3))
def test_mds_of_euclidean_distances_is_pca(F):
    """The points found have the distances given, and are the scores of PCA: eq-center-mds."""
    k = np.linalg.matrix_rank(subtract_mean(F), tol=1e-6 * np.linalg.norm(F))
    if k == 0:
        return
    found = classical_mds(cdist(F, F), k)
    assert found.Z.shape == (len(F), found.k) == (len(F), k)
    assert found.negative_mass == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(cdist(found.Z, found.Z), cdist(F, F), atol=1e-5)
    np.testing.assert_allclose(found.Z.sum(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(found.lam, np.sum(found.Z**2, axis=0), rtol=1e-9)
    pca = fit_pca(F, k)
    np.testing.assert_allclose(found.explained_ratio, pca.explained_ratio, atol=1e-8)


@each_kernel
def test_mds_of_feature_distances_is_kernel_pca(kernel):
    """Classical MDS on √(Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ) gives the scores of kernel PCA: eq-center-mds."""
    X = IRIS[::3]
    D2 = squared_distances_of_gram(kernel(X, X))
    model = fit_kernel_pca(X, 2, kernel)
    found = classical_mds(np.sqrt(np.maximum(D2, 0)), 2)
    np.testing.assert_allclose(found.Z, model.scores, atol=1e-6 * np.abs(model.scores).max())
    np.testing.assert_allclose(found.lam, model.lam, rtol=1e-7)


def test_scikit_learn_scales_alike():
    """scikit-learn's ClassicalMDS finds the same points up to signs."""
    manifold = pytest.importorskip("sklearn.manifold")
    if not hasattr(manifold, "ClassicalMDS"):
        pytest.skip("This scikit-learn has no ClassicalMDS.")
    D = cdist(IRIS, IRIS, "cityblock")
    theirs = manifold.ClassicalMDS(n_components=2, metric="precomputed").fit(D)
    ours = classical_mds(D, 2)
    near(np.abs(theirs.embedding_), np.abs(ours.Z), 1000)
    near(theirs.eigenvalues_, ours.lam, 1e5)


@pytest.mark.parametrize("n", [30, 700])
def test_mds_says_when_there_are_fewer_dimensions(n):
    """Points in the plane have two coordinates, asked for five, by LAPACK and by Lanczos."""
    X = samples(n)
    with pytest.warns(UserWarning, match="lie in 2 dimensions"):
        found = classical_mds(cdist(X, X), 5)
    assert found.Z.shape == (n, 2)
    assert isinstance(found, ClassicalMDS)


def test_distances_that_no_points_have():
    """Four points, three at distance 2 from each other and one at 1.1 from all: not Euclidean, as
    the middle of the triangle is 2/√3 away.
    """
    D = np.full((4, 4), 2.0) - 2 * np.eye(4)
    D[3, :3] = D[:3, 3] = 1.1
    with pytest.warns(UserWarning, match="not Euclidean"):
        found = classical_mds(D, 3)
    assert found.Z.shape == (4, 2)
    assert found.lowest < -0.01
    D[3, :3] = D[:3, 3] = 2 / np.sqrt(3)
    with pytest.warns(UserWarning, match="lie in 2 dimensions"):
        assert abs(classical_mds(D, 3).lowest) < 1e-10


def cities(n, seed, norm="cityblock"):
    """Distances along streets: most often not Euclidean."""
    X = np.random.default_rng(seed).standard_normal((n, 4))
    return cdist(X, X, norm)


@sparing
@given(st.integers(5, 40), seeds)
def test_shares_are_those_of_the_positive_part(n, seed):
    """λ̃ over the sum of positive eigenvalues, never above one in all, whatever k: eq-center-mds."""
    D = cities(n, seed)
    J = np.eye(n) - 1 / n
    lam = linalg.eigvalsh(-J @ D**2 @ J / 2)[::-1]
    positive, negative = lam[lam > 1e-9].sum(), -lam[lam < -1e-9].sum()
    most = int(np.sum(lam > 1e-9))
    for k in sorted({1, 2, most}):
        found = classical_mds(D, k)
        np.testing.assert_allclose(found.explained_ratio, lam[:k] / positive, rtol=1e-8)
        assert found.explained_ratio.sum() <= 1 + 1e-12
        assert found.negative_mass == pytest.approx(negative / (negative + positive), abs=1e-9)
        assert found.total == pytest.approx(lam.sum())
        np.testing.assert_allclose(found.variances, np.mean(found.Z**2, axis=0), rtol=1e-8)
    assert found.explained_ratio.sum() == pytest.approx(1)


@sparing
@given(st.integers(4, 25), seeds)
def test_the_least_additive_constant(n, seed):
    """D² + 2c has no negative eigenvalue, with less it has one, and B gains cJ:
    eq-center-additive.
    """
    D, others = cities(n, seed), 1 - np.eye(n)
    c, scale = additive_constant(D), np.max(D**2)
    B = double_center(D**2)
    near(double_center(D**2 + 2 * c * others), B + c * centering_matrix(n), 10 * scale)
    assert linalg.eigvalsh(double_center(D**2 + 2 * c * others))[0] > -1e-12 * n * scale
    if c > 1e-6:
        assert linalg.eigvalsh(double_center(D**2 + 1.9 * c * others))[0] < 0
    assert additive_constant(cities(n, seed, "euclidean")) == 0


@sparing
@given(st.integers(4, 25), st.integers(1, 3), seeds)
def test_no_points_have_less_strain(n, k, seed):
    """‖B − YYᵀ‖ is least for the map, also if B is indefinite: eq-center-strain."""
    D, rng = cities(n, seed), np.random.default_rng(seed)
    B = double_center(D**2)
    lam = linalg.eigvalsh(B)[::-1]
    if lam[k - 1] < 1e-9 * lam[0]:
        return
    Z = classical_mds(D, k).Z
    least = np.sum((B - Z @ Z.T) ** 2)
    assert least == pytest.approx(np.sum(lam[k:] ** 2), abs=1e-9 * np.sum(lam**2))
    for size in (1e-3, 0.1, 1.0):
        Y = Z + size * rng.standard_normal(Z.shape)
        assert np.sum((B - Y @ Y.T) ** 2) >= least * (1 - 1e-12)
        C = rng.standard_normal((n, k)) * size
        assert np.sum((B - C @ C.T) ** 2) >= least * (1 - 1e-12)


def test_isomap_is_classical_scaling():
    """scikit-learn's Isomap gives the map of path lengths: eq-center-mds."""
    from scipy.sparse.csgraph import shortest_path
    from sklearn.manifold import Isomap
    from sklearn.neighbors import kneighbors_graph

    X = samples(60, 3)
    D = shortest_path(kneighbors_graph(X, 8, mode="distance"), directed=False)
    theirs = Isomap(n_neighbors=8, n_components=2).fit_transform(X)
    near(np.abs(classical_mds((D + D.T) / 2, 2).Z), np.abs(theirs), 1e5)


def test_interlacing_of_an_indefinite_matrix():
    """An eigenvalue below zero may rise: −11ᵀ becomes zero. On sums zero all interlace:
    eq-center-interlace.
    """
    near(center_gram(-np.ones((4, 4))), 0)
    for seed in range(5):
        A = np.random.default_rng(seed).standard_normal((9, 9)) - 1
        K, basis = A + A.T, linalg.null_space(np.ones((1, 9)))
        lam, mu = linalg.eigvalsh(K)[::-1], linalg.eigvalsh(basis.T @ K @ basis)[::-1]
        assert np.all(mu <= lam[:-1] + 1e-12)
        assert np.all(lam[1:] <= mu + 1e-12)


def test_shares_of_many_points(monkeypatch):
    """By Lanczos as by LAPACK; beyond the size where all eigenvalues are computed, they are NaN."""
    D = cities(700, 0)
    found = classical_mds(D, 3)
    lam = linalg.eigvalsh(double_center(D**2))[::-1]
    np.testing.assert_allclose(found.explained_ratio, lam[:3] / lam[lam > 0].sum(), rtol=1e-8)
    monkeypatch.setattr("kpca_edu._engine.distances.ALL_EIGENVALUES", 600)
    unknown = classical_mds(D, 3)
    assert np.isnan(unknown.explained_ratio).all()
    assert np.isnan(unknown.negative_mass)
    assert "not known" in repr(unknown)
    flat = classical_mds(cities(700, 0, "euclidean"), 3)
    assert 0.5 < flat.explained_ratio.sum() < 1


def test_maps_scale_with_the_distances():
    """cD has the points cZ and the same shares; beyond the floats there is a sentence."""
    D = cities(30, 1)
    found = classical_mds(D, 2)
    for c in (1e-140, 1e-9, 3.0, 1e140):
        scaled = classical_mds(c * D, 2)
        np.testing.assert_allclose(scaled.Z, c * found.Z, atol=1e-9 * c)
        np.testing.assert_allclose(scaled.explained_ratio, found.explained_ratio)
    for c in (1e-200, 1e155, 1e200):
        with pytest.raises(ValueError, match="square is beyond the range of float64: divide D"):
            classical_mds(c * D, 2)
    with pytest.raises(ValueError, match="float32"):
        classical_mds((1e20 * D).astype(np.float32), 2)


def test_new_points_among_old_ones_by_distances():
    """A new point's distances place it (Gower): eq-center-cross, eq-center-mds, eq-center-drop."""
    X, T = samples(20), samples(4, seed=3)
    model = fit_kernel_pca_gram(-cdist(X, X, "sqeuclidean") / 2, 2)
    placed = model.encode(-cdist(T, X, "sqeuclidean") / 2)
    np.testing.assert_allclose(cdist(placed, model.scores), cdist(T, X), atol=1e-10)
    found = classical_mds(cdist(X, X), 2)
    np.testing.assert_allclose(found.encode(cdist(X, X)), found.Z, atol=1e-9)
    np.testing.assert_allclose(cdist(found.encode(cdist(T, X)), found.Z), cdist(T, X), atol=1e-9)
    street = classical_mds(cities(12, 0), 3)
    np.testing.assert_allclose(street.encode(cities(12, 0)), street.Z, atol=1e-9)


def test_a_map_keeps_itself():
    """It owns read-only arrays, through pickle and copy, and says in a line what it is."""
    D = cities(12, 0)
    found = classical_mds(D, 2)
    new = D[:2].copy()
    before = found.encode(new)
    D *= 2
    for twin in (found, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert not any(A.flags.writeable for A in (twin.Z, twin.lam, twin.row_means))
        assert np.array_equal(twin.encode(new), before)
        assert repr(twin) == repr(found)
    assert re.fullmatch(
        r"ClassicalMDS\(k=2 of n=12, [\d.]+ % of the squared distances, negative mass \d+ %\)",
        repr(found),
    )
    assert "negative" not in repr(classical_mds(cities(12, 0, "euclidean"), 2))


def test_named_points_stay_in_order():
    """A table of distances with names refuses new distances in another order."""
    names = [f"town {i}" for i in range(6)]
    D = pd.DataFrame(cities(6, 0), names, names)
    found = classical_mds(D, 2)
    assert found.columns == tuple(names)
    np.testing.assert_allclose(found.encode(D.iloc[:2]), found.Z[:2], atol=1e-9)
    with pytest.raises(ValueError, match="town 5.*same order"):
        found.encode(D.iloc[:2, ::-1])


# --- conditionally positive definite -------------------------------------------------------------


@thorough
@given(symmetric())
def test_conditionally_positive_means_positive_when_centred(K):
    """cᵀKc over sums zero has the sign of the eigenvalues of K̃: eq-center-cpd-def,
    eq-center-cpd.
    """
    n = len(K)
    basis = linalg.null_space(np.ones((1, n)))  # all c with sum 0
    on_plane = linalg.eigvalsh(basis.T @ K @ basis) if n > 1 else np.zeros(1)
    if abs(on_plane[0]) > 1e-9:
        assert is_conditionally_psd(K) == (on_plane[0] > 0)
    assert is_conditionally_psd(K + (1e-9 - min(on_plane[0], 0)) * np.eye(n))
    assert n == 1 or not is_conditionally_psd(K - (on_plane[-1] + 1) * np.eye(n))


@pytest.mark.parametrize("beta", [0.3, 1.0, 1.5, 2.0])
def test_powers_of_the_distance(beta):
    """−‖x − y‖^β is indefinite and conditionally positive for β ≤ 2: eq-center-power."""
    for seed in range(5):
        X = samples(30, 3, seed)
        K = -(cdist(X, X) ** beta)
        assert linalg.eigvalsh(K)[0] < -0.1
        assert is_conditionally_psd(K)


@pytest.mark.parametrize("beta", [2.1, 3.0, 4.0])
def test_larger_powers_are_not(beta):
    """Three points on a line tell for every β > 2: cᵀKc = 2(4 − 2^β) for c = (1, −2, 1)."""
    K = -(np.abs(np.subtract.outer([-1.0, 0, 1], [-1.0, 0, 1])) ** beta)
    c = np.array([1.0, -2, 1])
    assert c @ K @ c == pytest.approx(2 * (4 - 2**beta))
    assert not is_conditionally_psd(K)


@pytest.mark.parametrize("s", [0.01, 0.3, 4.0])
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_exponentials_of_conditionally_positive_kernels(beta, s):
    """exp(sκ) is positive semidefinite, and for β = 2.5 and small s it is not."""
    X = samples(40, 3)
    assert linalg.eigvalsh(np.exp(-s * cdist(X, X) ** beta))[0] > -1e-12
    assert s > 0.3 or linalg.eigvalsh(np.exp(-s * cdist(X, X) ** 2.5))[0] < -1e-4


@pytest.mark.parametrize("beta", [0.4, 1.0, 1.7])
@pytest.mark.parametrize("t", [0.3, 1.0, 5.0])
def test_integral_of_gaussians(beta, t):
    """t^{β/2} is an integral of 1 − exp(−ut): eq-center-integral."""
    integral = sum(
        integrate.quad(lambda u: (1 - np.exp(-u * t)) * u ** (-1 - beta / 2), *limits, limit=200)[0]
        for limits in ((0, 1e-3), (1e-3, 1), (1, np.inf))
    )
    factor = (beta / 2) / special.gamma(1 - beta / 2)
    assert factor * integral == pytest.approx(t ** (beta / 2), rel=1e-4)


def test_kernel_pca_with_a_kernel_that_is_only_conditionally_positive():
    """With −½‖x − y‖² kernel PCA is PCA, with −‖x − y‖ it is MDS of √2·√distance: eq-center-cpd."""
    X, T = samples(30, 3), samples(5, 3, 1)
    model = fit_kernel_pca(X, 2, lambda A, B: -cdist(A, B, "sqeuclidean") / 2)
    pca = fit_pca(X, 2)
    signs = np.sign(np.sum(model.scores * pca.encode(X), axis=0))
    near(model.scores * signs, pca.encode(X), 100)
    near(model.encode(T) * signs, pca.encode(T), 100)
    rooted = fit_kernel_pca(X, 3, lambda A, B: -cdist(A, B))
    found = classical_mds(np.sqrt(2 * cdist(X, X)), 3)
    near(np.abs(rooted.scores), np.abs(found.Z), 100)


# --- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", [1, 7, 25, 1000, None])
def test_blocks_give_the_whole(block_rows, tmp_path):
    """Reading and writing a few rows at a time changes nothing: eq-center-means,
    eq-center-shift.
    """
    K = polynomial(2)(samples(), samples())
    stored = np.memmap(tmp_path / "K", float, "w+", shape=K.shape)
    stored[:] = K
    out = np.memmap(tmp_path / "out", float, "w+", shape=K.shape)
    r, mean = gram_means_by_blocks(stored, block_rows=block_rows)
    near(r, K.mean(axis=1), 100)
    assert mean == pytest.approx(K.mean())
    assert center_gram_by_blocks(stored, out, block_rows=block_rows) is out
    near(out, center_gram_by_matrix(K), 1000)
    assert np.array_equal(stored, K)
    center_gram_by_blocks(stored, stored, block_rows=block_rows)
    assert np.array_equal(stored, out)


def test_blocks_need_little_memory(tmp_path):
    """The peak is a few blocks, not a matrix."""
    n = 600
    stored = np.memmap(tmp_path / "K", float, "w+", shape=(n, n))
    stored[:] = rbf(1.0)(samples(n), samples(n))
    tracemalloc.start()
    center_gram_by_blocks(stored, stored, block_rows=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.12 * stored.nbytes


def test_blocks_of_single_precision(tmp_path):
    """float32 on disk stays float32, with sums in doubles."""
    K = rbf(1.0)(samples().astype(np.float32), samples().astype(np.float32))
    out = center_gram_by_blocks(K, np.empty_like(K), block_rows=4)
    np.testing.assert_allclose(out, center_gram(K), atol=1e-6)


def test_progress_bar(capsys, monkeypatch):
    """A bar is shown if asked, and its absence is explained."""
    K = np.eye(6)
    center_gram_by_blocks(K, K.copy(), block_rows=2, progress=True)
    assert "centring" in capsys.readouterr().err
    center_gram_by_blocks(K, K.copy(), block_rows=2)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="tqdm"):
        gram_means_by_blocks(K, progress=True)


# --- edges ---------------------------------------------------------------------------------------


def test_inputs_are_left_alone():
    """Only the function that says so writes to its argument."""
    K = polynomial(2)(samples(), samples())
    D = cdist(samples(), samples())
    before, distances = K.copy(), D.copy()
    K.flags.writeable = D.flags.writeable = False
    center_gram(K), center_gram_by_matrix(K), center_cross_gram(K[:3], K), gram_means(K)
    center_gram_weighted(K, np.ones(25)), squared_distances_of_gram(K), cosine_with_mean(K)
    double_center(D**2), classical_mds(D, 2), is_conditionally_psd(K), gram_means_by_blocks(K)
    assert np.array_equal(K, before)
    assert np.array_equal(D, distances)


def test_one_sample_and_equal_samples():
    """A single sample, or copies of one, have nothing left once centred."""
    assert center_gram([[5.0]]) == 0
    near(center_gram(np.full((4, 4), 3.0)), 0)
    assert double_center([[0.0]]) == 0
    assert is_conditionally_psd([[-5.0]])


def test_lists_and_integers():
    """Numbers of any kind are welcome where nothing is overwritten."""
    K = [[4, 2], [2, 2]]
    near(center_gram(K), [[0.5, -0.5], [-0.5, 0.5]])
    near(center_cross_gram([[6, 1]], K), [[2, -2]])
    near(center_gram_weighted(K, [3, 1]), center_gram_weighted(K, (0.75, 0.25)))


@sparing
@given(seeds)
def test_mds_has_deterministic_signs(seed):
    """The entry of largest modulus in each column is positive."""
    X = samples(12, 3, seed)
    Z = classical_mds(cdist(X, X), 3).Z
    turned = X @ orthonormal(3, 3, seed)
    assert np.all(Z[np.abs(Z).argmax(axis=0), range(3)] > 0)
    near(np.abs(classical_mds(cdist(turned, turned), 3).Z), np.abs(Z), 1e5)


EYE, NAN = np.eye(3), np.full((3, 3), np.nan)
MAP = classical_mds(1 - EYE, 2)
LOCKED = np.eye(3)
LOCKED.flags.writeable = False
BAD = [
    (centering_matrix, (0,), "n=0: a whole number from 1 up"),
    (centering_matrix, (2.5,), "whole number"),
    (center_gram, ([1.0, 2.0],), "1-D"),
    (center_gram, (np.ones((2, 3)),), "2×3: a symmetric matrix is square"),
    (center_gram, ([[1.0, 2.0], [0.0, 1.0]],), "not symmetric"),
    (center_gram, (NAN,), "NaN"),
    (center_gram, (np.zeros((0, 0)),), "empty"),
    (center_gram, (1j * EYE,), "complex"),
    (center_gram, ([["a", "b"], ["b", "a"]],), "not numbers"),
    (center_gram, ([[1.0], [1.0, 2.0]],), "different lengths"),
    (center_gram_by_matrix, (np.ones((2, 3)),), "square"),
    (center_gram_in_place, ([[1.0]],), "K is a list: to be overwritten"),
    (center_gram_in_place, (np.eye(3, dtype=int),), "an array of int64"),
    (center_gram_in_place, (LOCKED,), "read-only"),
    (center_gram_in_place, (np.ones((2, 3)),), "square"),
    (center_gram_in_place, (NAN.copy(),), "NaN"),
    (center_gram_in_place, (np.full((2, 2), 1.5e308),), "overflow"),
    (gram_means, ([1.0],), "1-D"),
    (gram_means, (np.ones((2, 3)),), "square"),
    (gram_means, ([[1.0, 2.0], [0.0, 1.0]],), "not symmetric"),
    (gram_means, (NAN,), "NaN"),
    (center_cross_gram, (np.ones((2, 4)), EYE), "a column for each training sample"),
    (center_cross_gram, (np.ones(3), EYE), "1-D"),
    (center_cross_gram, (EYE, NAN), "K_train holds NaN"),
    (center_cross_gram_by_means, (EYE, [1.0], 0.0), "1 training samples"),
    (center_cross_gram_by_means, (EYE, [1.0, np.nan, 1.0], 0.0), "row_means holds NaN"),
    (center_cross_gram_by_means, (EYE, [1.0, 1.0, 1.0], np.nan), "mean=nan"),
    (center_cross_gram_by_means, (EYE, [1.0, 1.0, 1.0], "0"), "mean='0'"),
    (cosine_with_mean, (centering_matrix(4),), "centred already"),
    (cosine_with_mean, (np.zeros((2, 2)),), "mean feature is zero"),
    (center_gram_weighted, (EYE, [1, 2]), "one for each of the 3 samples"),
    (center_gram_weighted, (EYE, [1, -1, 1]), "not negative"),
    (center_gram_weighted, (EYE, [0, 0, 0]), "at least one that is positive"),
    (center_gram_weighted, (EYE, [1, np.nan, 1]), "finite"),
    (squared_distances_of_gram, (NAN,), "NaN"),
    (squared_distances_of_gram, (1.5e308 * EYE,), "overflow"),
    (double_center, (EYE,), "similarities"),
    (double_center, (EYE - 1,), "negative entry, -1"),
    (classical_mds, (EYE, 1), "diagonal of D is not zero"),
    (classical_mds, (1 - EYE, 3), "at most 2 exist"),
    (classical_mds, (1 - EYE, 0), "at least 1"),
    (classical_mds, (0 * EYE, 1), "coincide"),
    (additive_constant, (EYE,), "diagonal of D is not zero"),
    (additive_constant, (EYE - 1,), "negative entry"),
    (MAP.encode, (-EYE,), "negative entry"),
    (MAP.encode, (np.ones((2, 2)),), "2 columns and the model was fitted on 3"),
    (MAP.encode, (np.ones(3),), "1-D"),
    (MAP.encode, (1e200 * EYE,), "beyond the range"),
    (is_conditionally_psd, (np.ones((2, 3)),), "square"),
    (gram_means_by_blocks, ([[1.0]],), "no array"),
    (gram_means_by_blocks, (np.ones((2, 3)),), r"of shape \(2, 3\)"),
    (gram_means_by_blocks, (NAN,), r"K\[0:3\] holds NaN"),
    (gram_means_by_blocks, (np.triu(np.ones((3, 3))),), "not symmetric"),
    (center_gram_by_blocks, (EYE, np.ones((2, 2))), "room for 3×3"),
    (center_gram_by_blocks, (EYE, [[1.0]]), "out is a list"),
    (center_gram_by_blocks, (EYE, np.eye(3, dtype=int)), "int64.*cut off"),
    (center_gram_by_blocks, (EYE, np.eye(3, dtype=bool)), "bool.*cut off"),
    (center_gram_by_blocks, (EYE, LOCKED), "out is read-only"),
]


@pytest.mark.parametrize(("function", "arguments", "words"), BAD)
def test_bad_input_gets_a_sentence(function, arguments, words):
    """What came, what was needed, what to do."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=words):
            function(*arguments)


def test_one_entry_that_is_not_symmetric_is_found_anywhere():
    """A single wrong entry of a large matrix is seen, wherever it stands."""
    for place in ((299, 0), (0, 299), (127, 128), (5, 6), (256, 299)):
        K = np.eye(300)
        K[place] = 0.1
        with pytest.raises(ValueError, match=r"differ by up to 0\.1"):
            center_gram(K)


def test_every_public_name_is_tested_here():
    """All that the module offers is imported by this file."""
    assert set(module.__all__) <= set(globals())


def test_no_function_of_this_module_calls_scipy_for_linear_algebra(monkeypatch):
    """NumPy's BLAS alone is used: two pools of threads would fight for the cores."""
    X = samples(40, 3)
    D, K = cdist(X, X, "cityblock"), polynomial(2)(X, X)

    def refuse(*_, **__):
        raise AssertionError("scipy.linalg was called")

    for name in ("eigh", "eigvalsh", "svd", "svdvals", "orth", "qr", "norm"):
        monkeypatch.setattr(linalg, name, refuse)
    center_gram(K), classical_mds(D, 2), cosine_with_mean(K), is_conditionally_psd(K)


def test_bad_blocks():
    """The size of a block is a whole number from one up."""
    with pytest.raises(ValueError, match="block_rows=0"):
        gram_means_by_blocks(EYE, block_rows=0)


# --- explicit features of the kernels ------------------------------------------------------------


@pytest.mark.parametrize(("degree", "offset"), [(1, 0.0), (2, 1.0), (3, 0.5)])
def test_polynomial_kernel_centred_is_kernel_of_centred_features(degree, offset):
    """The features of the polynomial kernel, written out and centred: eq-kpca-centered,
    eq-center-cross.
    """
    X, T = samples(20), samples(5, seed=1)
    kernel = polynomial(degree, offset)
    F, G = (polynomial_features(S, degree, offset) for S in (X, T))
    mean = F.mean(axis=0)
    K, K_new = kernel(X, X), kernel(T, X)
    near(center_gram(K), (F - mean) @ (F - mean).T, 100 * np.abs(K).max())
    near(center_cross_gram(K_new, K), (G - mean) @ (F - mean).T, 100 * np.abs(K_new).max())


def test_the_bottom_of_the_laplacian_is_kernel_pca_of_its_pseudo_inverse():
    """With W itself kernel PCA finds another plane, with L⁺ exactly that of L."""
    X = samples(40)
    W = rbf(1.0)(X, X)
    kpca = linalg.eigh(center_gram(W))[1][:, -2:]
    graph = linalg.eigh(np.diag(W.sum(axis=1)) - W)[1][:, 1:3]
    assert np.degrees(linalg.subspace_angles(kpca, graph)).max() > 45
    inverse = linalg.pinvh(np.diag(W.sum(axis=1)) - W)
    found = linalg.eigh(center_gram(inverse))[1][:, -2:]
    assert np.degrees(linalg.subspace_angles(found, graph)).max() < 1e-5


def test_as_many_coordinates_as_dimensions_need_no_warning(recwarn):
    X = np.random.default_rng(0).standard_normal((9, 2))
    assert classical_mds(cdist(X, X), 2).k == 2
    assert not recwarn.list


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_range_of_distances(dtype):
    """Squares and the sums of all of them stay floats; beyond that one sentence says what to do."""
    limits = np.finfo(dtype)
    low = np.sqrt(float(limits.tiny) / float(limits.eps))
    high = np.sqrt(float(limits.max)) / 5
    D = np.ones((5, 5), dtype) - np.eye(5, dtype=dtype)
    for size in (1.1 * low, 0.9 * high):
        D2 = squares(dtype(size) * D, "D")
        assert np.isfinite(D2.sum())
        assert D2[0, 1] > limits.tiny
    for size in (0.9 * low, 1.1 * high):
        with pytest.raises(ValueError, match="beyond the range"):
            squares(dtype(size) * D, "D")
    assert not squares(0 * D, "D").any()


def test_zeros_are_positive_up_to_rounding():
    """No margin for rounding is needed where nothing is rounded."""
    assert is_conditionally_psd(np.zeros((3, 3)))
    assert additive_constant(np.zeros((3, 3))) == 0
    out = np.ones((3, 3))
    center_gram_by_blocks(np.zeros((3, 3)), out, block_rows=1)
    assert not out.any()


def test_sums_of_rows_and_columns_may_differ_by_rounding():
    """It is the means that are compared, with half of the digits of an entry."""
    sums = np.zeros(100)
    check_equal_sums(sums, sums + 1e-7, 1.0, float)
    with pytest.raises(ValueError, match="not symmetric"):
        check_equal_sums(sums, sums + 1e-5, 1.0, float)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (0, 0), (3,), (2, 2, 2)])
def test_what_is_not_square_has_no_size(shape):
    with pytest.raises(ValueError, match="a square array is needed"):
        size_of(np.zeros(shape))
    assert size_of(np.zeros((1, 1))) == 1


@pytest.mark.parametrize("form", [sparse.dia_array, sparse.bsr_array, aslinearoperator])
def test_what_can_not_be_sliced_is_told(form):
    """A Gram matrix by blocks is anything whose rows can be sliced; else a sentence says so."""
    with pytest.raises(ValueError, match=r"K is \w+, whose rows can't be sliced"):
        gram_means_by_blocks(form(np.eye(4) + 1))
