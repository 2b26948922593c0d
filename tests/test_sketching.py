"""Random samples of a range, landmarks and waves: what they are exactly, and their bounds."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import EPS, assert_orthonormal, seeds, sparing, thorough
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.utils.extmath import randomized_svd as sklearn_randomized_svd

from kpca_edu import align_signs, fit_kernel_pca, fit_kernel_pca_gram
from kpca_edu._engine import gram_spectrum, memory
from kpca_edu._engine.landmarks import LANDMARKS, leverage_scores, random_pivots, spread_rows
from kpca_edu.datasets import matrix_with_singular_values as made
from kpca_edu.feature_pca import fit_kernel_pca_features
from kpca_edu.kernels import laplacian, linear, polynomial, rbf, sigmoid
from kpca_edu.sketching import (
    FourierMap,
    fourier_error_bound,
    fourier_features,
    nystrom,
    orthogonal_features,
    randomized_svd,
    range_error_bound,
    range_finder,
)

DIGITS = load_digits().data[:200] / 16


def split(X, k, omega):
    """Return S₂ as a diagonal, and S₂Ω₂Ω₁⁺: what is lost anyway, and the price of chance."""
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    omega_1, omega_2 = Vt[:k] @ omega, Vt[k:] @ omega
    return np.diag(s[k:]), s[k:, None] * (omega_2 @ np.linalg.pinv(omega_1))


def test_bare_powers_lose_the_small_singular_values():
    """On the breast-cancer data bare powers give values several times too small: eq-bare-powers."""
    X = load_breast_cancer().data
    X = X - X.mean(axis=0)
    s = np.linalg.svd(X, compute_uv=False)
    q, Y = 4, X @ np.random.default_rng(0).standard_normal((30, 20))
    for _ in range(q):
        Y = X @ (X.T @ Y)
    bare = np.linalg.svd(np.linalg.qr(Y)[0].T @ X, compute_uv=False)[:10]
    kept = s[:10] > 3 * s[0] * EPS ** (1 / (2 * q + 1))
    np.testing.assert_allclose(bare[kept], s[:10][kept], rtol=1e-4)
    assert np.all(bare[5:] < s[5:10] / 2.5)
    np.testing.assert_allclose(randomized_svd(X, 10, n_iter=q).s, s[:10], rtol=1e-8)


@thorough
@given(st.integers(1, 6), st.integers(0, 2), seeds)
def test_the_range_finder_spans_the_powers(size, q, seed):
    """Q is an orthonormal basis of (XXᵀ)^q XΩ: eq-range."""
    X = np.random.default_rng(seed).standard_normal((9, 7))
    Q = range_finder(X, size, n_iter=q, rng=3)
    omega = np.random.default_rng(3).standard_normal((7, size))
    Y = np.linalg.matrix_power(X @ X.T, q) @ X @ omega
    assert Q.shape == (9, size)
    assert_orthonormal(Q, 100)
    np.testing.assert_allclose(Q @ (Q.T @ Y), Y, atol=1e-9 * np.abs(Y).max())


def test_randomized_svd_is_the_svd_of_the_projection():
    """Before truncation the factors multiply to QQᵀX: eq-randomized."""
    X = np.random.default_rng(0).standard_normal((20, 12))
    Q = range_finder(X, 6, n_iter=1, rng=5)
    f = randomized_svd(X, 6, oversample=0, n_iter=1, rng=5)
    np.testing.assert_allclose(f.matrix(), Q @ (Q.T @ X), atol=1e-12)
    assert_orthonormal(f.U, 100)
    assert_orthonormal(f.V, 100)


@sparing
@given(st.integers(1, 5), st.integers(0, 5), seeds)
def test_the_structural_bound(k, p, seed):
    """‖(I − QQᵀ)X‖² ≤ ‖S₂‖² + ‖S₂Ω₂Ω₁⁺‖² in both norms, for every Ω: eq-structural."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 10)) * rng.uniform(0.1, 2, 10)
    omega = rng.standard_normal((10, k + p))
    rest, price = split(X, k, omega)
    Q = np.linalg.qr(X @ omega)[0]
    missed = X - Q @ (Q.T @ X)
    for norm in ("fro", 2):
        bound = np.linalg.norm(rest, norm) ** 2 + np.linalg.norm(price, norm) ** 2
        assert np.linalg.norm(missed, norm) ** 2 <= bound * (1 + 1e-9)


@thorough
@given(st.integers(1, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 2.0]), seeds)
def test_truncating_costs_nothing_in_the_bound(k, p, decay, seed):
    """k terms keep ‖X − X̂‖² ≤ ‖S₂‖² + ‖S₂Ω₂Ω₁⁺‖² too, for every Ω: eq-truncated."""
    X = made(1 / np.arange(1.0, 11.0) ** decay, 12, 10, rng=seed)
    omega = np.random.default_rng(seed).standard_normal((10, k + p))
    rest, price = split(X, k, omega)
    fit = randomized_svd(X, k, oversample=p, n_iter=0, rng=seed)  # draws the same Ω
    bound = np.linalg.norm(rest) ** 2 + np.linalg.norm(price) ** 2
    assert np.linalg.norm(X - fit.matrix()) ** 2 <= bound * (1 + 1e-9)


def test_the_mean_square_of_a_gaussian_pseudo_inverse():
    """E‖G⁺‖²_F = k/(p − 1) for a k×(k + p) Gaussian matrix: eq-pinv-mean."""
    k, p = 4, 8
    G = np.random.default_rng(0).standard_normal((20_000, k, k + p))
    squares = np.sum(1 / np.linalg.svd(G, compute_uv=False) ** 2, axis=1)
    assert squares.mean() == pytest.approx(k / (p - 1), rel=0.02)


@pytest.mark.parametrize("decay", [0.5, 1.0, 2.0])
def test_the_expected_errors_keep_to_their_bounds(decay):
    """Mean errors are below the bounds: eq-hmt-frobenius eq-hmt-spectral."""
    s = 1 / np.arange(1.0, 41.0) ** decay
    X = made(s, 60, 40)
    for k, p, q in ((2, 2, 0), (5, 5, 0), (5, 3, 1), (10, 10, 2)):
        rests = []
        for seed in range(60):
            Q = range_finder(X, k + p, n_iter=q, rng=seed)
            rests.append(X - Q @ (Q.T @ X))
        spectral = np.mean([np.linalg.norm(rest, 2) for rest in rests])
        assert (
            s[k + p] <= spectral <= range_error_bound(s, k, oversample=p, norm="spectral", n_iter=q)
        )
        if q == 0:
            bound = range_error_bound(s, k, oversample=p)
            assert np.mean([np.linalg.norm(rest) for rest in rests]) <= bound


def test_the_bounds_by_hand():
    """k = 2, p = 3 and s = (9, 9, 4, 3): √2·5, and (1 + 1)·4 + e√5/3·5: eq-hmt-frobenius."""
    s = [9.0, 9.0, 4.0, 3.0]
    assert range_error_bound(s, 2, oversample=3) == pytest.approx(np.sqrt(2) * 5)
    by_hand = 2 * 4 + np.e * np.sqrt(5) / 3 * 5
    spectral = {"oversample": 3, "norm": "spectral"}
    assert range_error_bound(s, 2, **spectral) == pytest.approx(by_hand)
    powers = 2 * 4**3 + np.e * np.sqrt(5) / 3 * np.hypot(4**3, 3**3)
    cubed = range_error_bound(s, 2, n_iter=1, **spectral) ** 3
    assert cubed == pytest.approx(powers)  # eq-hmt-spectral
    assert range_error_bound([1e-200] * 4, 2, n_iter=3, **spectral) < 1e-198


def test_bounds_know_no_unit_and_never_vanish():
    """The bound for cX is c times the bound, and nothing that it bounds is below s_(k+1):
    eq-hmt-spectral eq-hmt-frobenius."""
    s = np.array([9.0, 5.0, 3.0, 1.0])
    for options in ({}, {"norm": "spectral"}, {"norm": "spectral", "n_iter": 3}):
        wanted = range_error_bound(s, 2, oversample=2, **options)
        for c in (1e-300, 1e-160, 1e160, 1e300):
            assert range_error_bound(c * s, 2, oversample=2, **options) / c == pytest.approx(wanted)
    for n_iter in (100, 10**6):
        bound = range_error_bound(s, 2, oversample=2, norm="spectral", n_iter=n_iter)
        assert s[2] <= bound <= s[2] * 1.1


@pytest.mark.parametrize("decay", [0.5, 1.0, 2.0])
def test_the_mean_error_of_k_terms(decay):
    """The mean squared error is at most 1 + k/(p−1) tails: eq-truncation-cost."""
    s, k, p = 1 / np.arange(1.0, 41.0) ** decay, 5, 4
    X = made(s, 60, 40)
    fits = [randomized_svd(X, k, oversample=p, n_iter=0, rng=seed) for seed in range(80)]
    squares = [np.linalg.norm(X - fit.matrix()) ** 2 for fit in fits]
    tail = np.sum(s[k:] ** 2)
    assert tail <= np.mean(squares) <= (1 + k / (p - 1)) * tail


def test_more_power_steps_and_columns_help():
    """Each power step and each extra column brings the sample nearer: eq-hmt-spectral."""
    X = made(1 / np.arange(1.0, 61.0), 80, 60)

    def mean_error(p, q):
        seeds = range(20)
        fits = [randomized_svd(X, 5, oversample=p, n_iter=q, rng=s).matrix() for s in seeds]
        return np.mean([np.linalg.norm(X - fit) for fit in fits])

    by_steps = [mean_error(3, q) for q in (0, 1, 3)]
    by_columns = [mean_error(p, 0) for p in (0, 5, 30)]
    assert by_steps == sorted(by_steps, reverse=True)
    assert by_columns == sorted(by_columns, reverse=True)
    assert by_steps[-1] == pytest.approx(np.sqrt(np.sum(1 / np.arange(6.0, 61.0) ** 2)), rel=1e-3)


def test_agrees_with_scikit_learn():
    """With the same sizes scikit-learn's randomised SVD is as near: eq-randomized."""
    X = made(0.8 ** np.arange(40), 120, 40)
    ours = randomized_svd(X, 6, oversample=10, n_iter=3)
    U, s, Vt = sklearn_randomized_svd(X, 6, n_oversamples=10, n_iter=3, random_state=0)
    np.testing.assert_allclose(ours.s, s, rtol=1e-6)
    np.testing.assert_allclose(np.abs(ours.V), np.abs(Vt.T), atol=1e-4)


@sparing
@given(st.integers(1, 4), st.integers(1, 4), seeds)
def test_every_copy_of_a_repeated_value_is_found(copies, others, seed):
    """With power steps all copies among the k leading values come out, at any scale."""
    s = np.r_[np.full(copies, 3.0), np.full(others, 1.0), 0.1, 0.05]
    X = made(s, 14, 12, rng=seed)
    for scale in (1e-150, 1.0, 1e150):
        f = randomized_svd(scale * X, copies + others, n_iter=10, rng=seed)
        np.testing.assert_allclose(f.s / scale, s[: copies + others], rtol=1e-8)


def test_long_blocks_are_as_exact_as_short_ones():
    """Where Gram matrices replace QR, small directions and orthonormality are kept: eq-range."""
    X = made(10.0 ** -np.arange(0.0, 13.0), 3000, 40)
    f = randomized_svd(X, 10, oversample=3, n_iter=2)
    np.testing.assert_allclose(f.s, 10.0 ** -np.arange(0.0, 10.0), rtol=1e-4)
    assert_orthonormal(f.U, 100)
    assert_orthonormal(f.V, 100)
    assert_orthonormal(range_finder(X, 5, n_iter=1), 100)


def test_progress_is_shown_when_asked_for(capsys):
    randomized_svd(np.eye(3), 1)
    assert capsys.readouterr() == ("", "")
    range_finder(np.eye(3), 2, n_iter=2, progress=True)
    assert "power steps" in capsys.readouterr().err


@pytest.mark.parametrize(("p", "q"), [(12, 0), (2, 1), (5, 3)])
def test_passes_and_products(p, q):
    """2q + 2 passes and (2q + 2)(k + p) column products: eq-passes."""
    X, widths = made(1 / np.arange(1.0, 41.0), 60, 40), []

    def counting(A):
        def product(B):
            widths.append(B.shape[1])
            return A @ B

        return product

    counted = LinearOperator(
        X.shape, matvec=X.__matmul__, matmat=counting(X), rmatmat=counting(X.T)
    )
    randomized_svd(counted, 10, oversample=p, n_iter=q)
    assert len(widths) == 2 * q + 2
    assert sum(widths) == (2 * q + 2) * (10 + p)


# --- landmarks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", LANDMARKS)
@pytest.mark.parametrize("kernel", [rbf(2.0), laplacian(3.0), polynomial(2), linear()])
def test_all_samples_as_landmarks_give_the_kernel(kernel, landmarks):
    """m = n is exact, for old samples and for new ones that lie in the span: eq-nystrom."""
    phi = nystrom(DIGITS[:60], 60, kernel, landmarks=landmarks)
    F, K = phi(DIGITS[:60]), kernel(DIGITS[:60])
    np.testing.assert_allclose(F @ F.T, K, atol=1e-7 * np.abs(K).max())
    cross = phi(DIGITS[60:]) @ F.T  # one of each pair is a landmark
    np.testing.assert_allclose(cross, kernel(DIGITS[60:], DIGITS[:60]), atol=1e-6 * cross.max())


@thorough
@given(st.integers(1, 12), st.sampled_from(LANDMARKS), st.floats(0.3, 3.0), seeds)
def test_nystrom_is_a_projection(m, landmarks, sigma, seed):
    """K̂ is the formula, K − K̂ is PSD, and no landmarks beat the eigenvalues beyond m:
    eq-nystrom eq-nystrom-features eq-nystrom-error eq-nystrom-best.
    """
    X = np.random.default_rng(seed).standard_normal((25, 3))
    kernel = rbf(sigma)
    phi = nystrom(X, m, kernel, landmarks=landmarks, rng=seed)
    K, K_nm, K_mm = kernel(X), kernel(X, phi.landmarks), kernel(phi.landmarks)
    F = phi(X)
    beta = np.linalg.lstsq(K_mm, K_nm.T, rcond=1e-13)[0]  # weights of the projections
    np.testing.assert_allclose(F @ F.T, K_nm @ beta, atol=1e-5)
    lost = np.trace(K) - 2 * np.sum(K_nm.T * beta) + np.sum(beta * (K_mm @ beta))
    assert np.trace(K - F @ F.T) == pytest.approx(lost, abs=1e-5)  # Σ‖φ − Pφ‖²
    assert np.linalg.eigvalsh(K - F @ F.T)[0] > -1e-7
    lam = np.linalg.eigvalsh(K)[::-1]
    assert np.trace(K - F @ F.T) >= lam[m:].sum() - 1e-7
    assert np.linalg.norm(K - F @ F.T) >= np.linalg.norm(lam[m:]) - 1e-7
    np.testing.assert_allclose(F @ phi(phi.landmarks).T, K_nm, atol=1e-5)


def test_equal_landmarks_do_no_harm():
    """Directions without length are left out: eq-nystrom-features."""
    X = np.repeat(DIGITS[:10], 4, axis=0)
    F = nystrom(X, 40, rbf(2.0))(X)
    np.testing.assert_allclose(F @ F.T, rbf(2.0)(X), atol=1e-7)


def test_more_landmarks_lose_less():
    """The trace of K − K̂ falls as samples join the landmarks: eq-nystrom-error."""
    K = rbf(2.0)(DIGITS)
    lost = []
    for m in (1, 5, 20, 80, 200):
        K_nm = K[:, :m]
        lost.append(np.trace(K - K_nm @ np.linalg.solve(K[:m, :m], K_nm.T)))
        F = nystrom(DIGITS[:m], m, rbf(2.0))(DIGITS)
        assert np.trace(K - F @ F.T) == pytest.approx(lost[-1], abs=1e-7)
    assert lost == sorted(lost, reverse=True)


def test_landmarks_that_look_at_the_samples_find_a_rare_group():
    """Of 1,000 samples 5 are far away: uniform landmarks miss them, the others don't."""
    rng = np.random.default_rng(0)
    X = 0.3 * rng.standard_normal((1000, 2))
    X[:5] += [6, 0]
    seen = {}
    for how in LANDMARKS:
        maps = [nystrom(X, 30, rbf(0.5), landmarks=how, rng=seed) for seed in range(10)]
        seen[how] = sum(float(np.sum(phi(X[:5]) ** 2, axis=1).mean()) > 0.3 for phi in maps)
    assert seen["uniform"] <= 5
    assert min(seen["pivoted"], seen["kmeans"], seen["leverage"]) >= 9


def test_only_vectors_have_centres():
    """Texts have no mean, and the sentence says which landmarks they can have."""

    def shared(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    with pytest.raises(ValueError, match='samples that have means.*"uniform" or "leverage"'):
        nystrom(["abc", "bcd", "cde"], 2, shared, landmarks="kmeans")


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "pivoted"])
def test_precomputed_kernels_are_read_in_columns(landmarks):
    """Row numbers as samples: only columns of the landmarks and the diagonal: eq-nystrom."""
    K, read = rbf(2.0)(DIGITS), []

    def stored(rows, columns):
        read.append((len(rows), len(columns)))
        return K[np.ix_(rows, columns)]

    phi = nystrom(range(200), 20, stored, landmarks=landmarks)
    F = phi(range(200))
    L = phi.landmarks
    np.testing.assert_allclose(F @ F.T, K[:, L] @ np.linalg.solve(K[np.ix_(L, L)], K[L]), atol=1e-7)
    assert max(columns for _, columns in read) <= 20
    model = fit_kernel_pca_features(range(200), 3, phi)
    gram = fit_kernel_pca_gram(F @ F.T, 3)
    np.testing.assert_allclose(
        align_signs(model.scores, gram.scores), model.scores, atol=1e-7 * len(K)
    )


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "pivoted"])
def test_words_and_sparse_rows_have_landmarks_too(landmarks):
    words = ["tree", "trees", "three", "house", "mouse", "horse", "tea", "sea"]

    def letters(A, B):
        sets = [set(a) for a in A], [set(b) for b in B]
        return np.array([[len(a & b) for b in sets[1]] for a in sets[0]], float)

    F = nystrom(words, 8, letters, landmarks=landmarks)(words)
    np.testing.assert_allclose(F @ F.T, letters(words, words), atol=1e-9)
    X = sparse.csr_array(DIGITS)
    same = nystrom(X, 20, rbf(2.0), landmarks=landmarks, rng=3)(X)
    dense = nystrom(DIGITS, 20, rbf(2.0), landmarks=landmarks, rng=3)(DIGITS)
    np.testing.assert_allclose(same @ same.T, dense @ dense.T, atol=1e-8)


def test_leverage_scores_with_a_full_first_choice():
    """If the first choice is all samples, the estimates are the ridge leverage scores."""
    X = DIGITS[:80]
    K = rbf(1.0)(X)
    lam = np.linalg.eigvalsh(K)
    ridge = lam[:-40].sum() / 40
    exact = np.diag(K @ np.linalg.inv(K + ridge * np.eye(80)))
    scores = leverage_scores(rbf(1.0), X, X)
    np.testing.assert_allclose(scores, exact + 1e-3 * exact.mean(), rtol=1e-6)


def test_random_pivots_are_drawn_by_what_is_left():
    """The second pivot has the chances of the rest after the first, within 4 standard errors."""
    X = DIGITS[:6]
    K = rbf(2.0)(X)
    draws = [tuple(random_pivots(rbf(2.0), X, 2, np.random.default_rng(s))) for s in range(4000)]
    counts = np.zeros((6, 6))
    np.add.at(counts, tuple(np.transpose(draws)), 1)
    for first in range(6):
        rest = np.maximum(np.diag(K) - K[:, first] ** 2 / K[first, first], 0)
        p, n = rest / rest.sum(), counts[first].sum()
        error = np.sqrt(n * p * (1 - p)) + 1e-9
        assert np.all(np.abs(counts[first] - n * p) <= 4 * error)


def test_random_pivots_without_a_rest():
    """Once nothing is left over, other samples are taken, each once."""
    X = np.repeat(DIGITS[:3], 5, axis=0)
    places = random_pivots(rbf(2.0), X, 10, np.random.default_rng(0))
    assert len(set(places.tolist())) == 10
    assert len({tuple(X[i]) for i in places[:3]}) == 3


def test_spread_rows_take_every_group():
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0)
    rows = spread_rows(X, 3, np.random.default_rng(0))
    assert len({tuple(row) for row in rows}) == 3


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "leverage"])
def test_an_indefinite_kernel_is_told(landmarks):
    """A sigmoid has no feature map: the features can't give its negative part back."""
    X = np.random.default_rng(0).standard_normal((60, 3))
    indefinite, true = sigmoid(1.0, -1.0), rbf(1.0)
    with pytest.warns(UserWarning, match="not positive semidefinite.*inner products") as told:
        phi = nystrom(X, 20, indefinite, landmarks=landmarks)
    assert len(told) == 1
    assert np.isfinite(phi(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-3, 1.0, 1e3):  # nearly of rank one, and nearly the identity
            nystrom(scale * X, 20, true, landmarks=landmarks)
            nystrom((scale * X).astype(np.float32), 20, true, landmarks=landmarks)


def test_nystrom_agrees_with_scikit_learn():
    """On the same landmarks the inner products are scikit-learn's: eq-nystrom-features."""
    theirs = Nystroem(gamma=1 / 8, n_components=50, random_state=1)
    F = theirs.fit_transform(DIGITS)
    ours = nystrom(DIGITS[theirs.component_indices_], 50, rbf(2.0))(DIGITS)
    np.testing.assert_allclose(ours @ ours.T, F @ F.T, atol=1e-8)


# --- kernel PCA of features ----------------------------------------------------------------------


@pytest.mark.parametrize("m", [200, 60])
def test_feature_pca_is_kernel_pca_of_the_approximation(m):
    """Centring the features centres K̂; all samples as landmarks are exact: eq-feature-pca."""
    phi = nystrom(DIGITS, m, rbf(2.0), rng=1)
    model = fit_kernel_pca_features(DIGITS, 4, phi)
    F = phi(DIGITS)
    gram = fit_kernel_pca_gram(F @ F.T, 4)
    np.testing.assert_allclose(model.variances, gram.variances, rtol=1e-8)
    np.testing.assert_allclose(align_signs(model.scores, gram.scores), model.scores, atol=1e-7)
    np.testing.assert_allclose(model.encode(DIGITS), model.scores, atol=1e-9)
    exact, new = fit_kernel_pca(DIGITS, 4, rbf(2.0)), DIGITS[::7] + 0.1
    assert np.all(model.variances <= exact.variances * (1 + 1e-9))  # K − K̂ is PSD
    if m == 200:
        Z = exact.encode(new)
        np.testing.assert_allclose(align_signs(Z, model.encode(new)), Z, atol=1e-6)


def test_the_mean_is_that_of_all_samples():
    """Scores of the training samples have mean zero; the landmarks' mean would shift them."""
    phi = nystrom(DIGITS, 30, rbf(2.0), landmarks="pivoted")
    model = fit_kernel_pca_features(DIGITS, 3, phi)
    np.testing.assert_allclose(model.scores.mean(axis=0), 0, atol=1e-12)
    wrong = (phi(DIGITS) - phi(phi.landmarks).mean(axis=0)) @ model.pca.V
    assert np.linalg.norm(wrong.mean(axis=0)) > 0.01


@pytest.mark.parametrize("make", [fourier_features, orthogonal_features])
def test_kernel_pca_by_waves(make):
    """With many waves the variances are those of kernel PCA: eq-feature-pca eq-fourier."""
    model = fit_kernel_pca_features(DIGITS, 3, make(64, 6000, 2.0))
    exact = fit_kernel_pca(DIGITS, 3, rbf(2.0))
    np.testing.assert_allclose(model.variances, exact.variances, rtol=0.08)


# --- waves ---------------------------------------------------------------------------------------

FAR = np.array([0.3, 1.0, 2.0, 3.5])
ROWS = np.pad(FAR[:, None], ((0, 0), (0, 4)))  # at these distances from the origin, d = 5
MAPS = {
    "pairs": lambda rng: fourier_features(5, 20, 1.0, rng),
    "phases": lambda rng: fourier_features(5, 20, 1.0, rng, phases=True),
    "orthogonal": lambda rng: orthogonal_features(5, 20, 1.0, rng),
    "laplacian": lambda rng: fourier_features(5, 20, 1.0, rng, kernel="laplacian"),
}
DRAWS = 4000


def products(kind):
    """Return estimates of κ at four distances, (draws, 4)."""
    maps = (MAPS[kind](np.random.default_rng(seed)) for seed in range(DRAWS))
    return np.array([phi(ROWS) @ phi(np.zeros((1, 5)))[0] for phi in maps])


@pytest.mark.parametrize("kind", MAPS)
def test_waves_are_unbiased(kind):
    """The mean over 4,000 draws is κ within 4 standard errors: eq-fourier-mean
    eq-fourier-frequencies eq-orthogonal.
    """
    kernel = laplacian(1.0) if kind == "laplacian" else rbf(1.0)
    values = products(kind)
    error = values.std(axis=0) / np.sqrt(DRAWS)
    assert np.all(np.abs(values.mean(axis=0) - kernel(ROWS, np.zeros((1, 5)))[:, 0]) <= 4 * error)


@pytest.mark.parametrize("kind", ["pairs", "phases"])
def test_variances_of_waves(kind):
    """(1 − κ²)²/m for pairs, (1 + (1 − κ²)²)/2m for phases, within 4 standard errors:
    eq-fourier-variance.
    """
    values = products(kind)
    squares = (1 - np.exp(-(FAR**2))) ** 2
    right = squares / 20 if kind == "pairs" else (1 + squares) / 40
    centred = (values - values.mean(axis=0)) ** 2
    error = centred.std(axis=0) / np.sqrt(DRAWS)
    assert np.all(np.abs(centred.mean(axis=0) - right) <= 4 * error)


def test_orthogonal_waves_vary_less_for_near_samples():
    """Each frequency has a Gaussian's length, groups are orthogonal: eq-orthogonal."""
    ratio = products("orthogonal").var(axis=0) / products("pairs").var(axis=0)
    assert np.all(ratio[:2] < 0.8)
    W = orthogonal_features(5, 20, 2.0, 3).frequencies
    for group in (W[:, :5], W[:, 5:]):
        G = group.T @ group
        np.testing.assert_allclose(G - np.diag(np.diag(G)), 0, atol=1e-12)
    lengths = [
        np.sum((orthogonal_features(5, 10, 2.0, s).frequencies * 2) ** 2) / 5 for s in range(2000)
    ]
    assert np.mean(lengths) == pytest.approx(5, abs=4 * np.std(lengths) / np.sqrt(2000))


def test_pairs_have_an_exact_diagonal():
    """cos² + sin² = 1: eq-fourier."""
    F = fourier_features(64, 30, 2.0)(DIGITS)
    np.testing.assert_allclose(np.sum(F**2, axis=1), 1, atol=1e-12)


def test_the_uniform_bound_is_kept():
    """In at most δ of 200 draws some pair is off by more, and the rate is 1/√m:
    eq-fourier-bound.
    """
    X = np.random.default_rng(0).standard_normal((40, 3))
    K, worst = rbf(1.0)(X), {}
    for m in (40, 640):
        errors = []
        for seed in range(200):
            F = fourier_features(3, m, 1.0, seed)(X)
            errors.append(np.abs(F @ F.T - K).max())
        assert np.mean(np.array(errors) > fourier_error_bound(40, m, delta=0.2)) <= 0.2
        worst[m] = np.mean(errors)
    assert worst[40] / worst[640] == pytest.approx(4, rel=0.15)
    by_hand = np.sqrt(2 * np.log(40 * 39 / 0.2) / 20)
    assert fourier_error_bound(40, 40, delta=0.2) == pytest.approx(by_hand)


def test_waves_agree_with_scikit_learn():
    """With its draws our features are RBFSampler's: eq-fourier."""
    theirs = RBFSampler(gamma=1 / 8, n_components=30, random_state=0).fit(DIGITS)
    ours = FourierMap(theirs.random_weights_, theirs.random_offset_)
    np.testing.assert_allclose(ours(DIGITS), theirs.transform(DIGITS), atol=1e-12)


def test_odd_numbers_of_pairs_are_refused():
    for make in (fourier_features, orthogonal_features):
        with pytest.raises(ValueError, match="m is even. Take m=8"):
            make(3, 7, 1.0)
    assert fourier_features(3, 7, 1.0, phases=True).m == 7


# --- memory --------------------------------------------------------------------------------------


def test_a_gram_matrix_beyond_memory_is_refused_before_it_is_made(monkeypatch):
    """The message has the size and the way out, and no kernel value was computed."""
    monkeypatch.setattr(memory, "available_memory", lambda: 1e9)
    called = []

    def kernel(A, B):
        called.append(len(A))
        return np.zeros((len(A), len(B)))

    for kappa, size in ((rbf(1.0), "5.0 GB"), (kernel, "10.0 GB")):
        with pytest.raises(MemoryError, match=f"35,355 samples takes {size}, and 1.0 GB") as caught:
            fit_kernel_pca(np.zeros((35_355, 1)), 2, kappa)
        assert "fit_kernel_pca_features" in str(caught.value)
        assert "nystrom" in str(caught.value)
    assert called == []


def test_what_fits_is_not_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8.0 * 200**2 + 1)
    assert fit_kernel_pca(DIGITS, 2, rbf(2.0)).k == 2
    assert gram_spectrum.refuse_beyond_memory is memory.refuse_beyond_memory
    assert memory._written(16e12) == "16.0 TB"


def test_two_million_samples(monkeypatch):
    """16 TB are refused where there is one, before anything is computed."""
    monkeypatch.setattr(memory, "available_memory", lambda: 1e12)
    with pytest.raises(MemoryError, match="2,000,000 samples takes 16.0 TB"):
        fit_kernel_pca(np.zeros((2_000_000, 1)), 2, rbf(1.0))


def test_one_fourier_feature_is_half_a_pair():
    with pytest.raises(ValueError, match="m is even. Take m=2"):
        fourier_features(3, 1, 1.0)


@pytest.mark.parametrize("step", [4, 40])
def test_leverage_scores_of_a_partial_first_choice(step):
    """φᵀ(C + λI)⁻¹φ with C on the span of the first choice alone, and 1/λ for what is beyond."""
    X, kernel = DIGITS[:40].copy(), rbf(8.0)
    X[1] *= 9  # a sample that the choice does not explain
    K, first = kernel(X), np.arange(0, 36, step)
    half = max(1, len(first) // 2)
    N = K[:, first] @ np.linalg.solve(K[np.ix_(first, first)], K[first])  # what the choice explains
    rest = 1 - np.diag(N)
    ridge = (rest.sum() + np.linalg.eigvalsh(N)[:-half].sum()) / half
    plain = np.diag(N @ np.linalg.inv(N + ridge * np.eye(40))) + rest / ridge
    plain = np.minimum(plain, 1)
    found = leverage_scores(kernel, X, X[first])
    np.testing.assert_allclose(found, plain + 1e-3 * plain.mean(), rtol=1e-8)
    assert step == 40 or np.flatnonzero(plain == 1).tolist() == [1]


def test_landmarks_are_chosen_as_their_names_say():
    """Pivots by what is left, others by their leverage, both in the order of the samples."""
    X, kernel, m = DIGITS[:30], rbf(1.0), 6
    places = np.random.default_rng(3).choice(30, m, replace=False)
    np.testing.assert_array_equal(nystrom(X, m, kernel, rng=3).landmarks, X[np.sort(places)])
    pivots = random_pivots(kernel, X, m, np.random.default_rng(3))
    found = nystrom(X, m, kernel, landmarks="pivoted", rng=3).landmarks
    np.testing.assert_array_equal(found, X[np.sort(pivots)])
    rng = np.random.default_rng(3)
    scores = leverage_scores(kernel, X, X[rng.choice(30, m, replace=False)])
    places = rng.choice(30, m, replace=False, p=scores / scores.sum())
    found = nystrom(X, m, kernel, landmarks="leverage", rng=3).landmarks
    np.testing.assert_array_equal(found, X[np.sort(places)])


def test_random_pivots_of_samples_without_features():
    """A kernel that is zero leaves nothing from the start: any samples are taken, each once."""
    places = random_pivots(0 * rbf(1.0), DIGITS[:5], 4, np.random.default_rng(0))
    assert len(set(places.tolist())) == 4


def test_spread_rows_prefer_what_is_far():
    """Also the last row can be drawn; of equal rows any are taken."""
    X = np.array([[0.0], [1.0], [10.0]])
    pairs = [spread_rows(X, 2, np.random.default_rng(seed)) for seed in range(50)]
    assert sum(10.0 in pair for pair in pairs) >= 40
    assert all(len(set(spread_rows(X, 3, np.random.default_rng(s)).ravel())) == 3 for s in range(9))
    assert spread_rows(np.ones((3, 2)), 3, np.random.default_rng(0)).shape == (3, 2)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_landmarks_know_no_unit(unit):
    """Directions without length are told by the largest, whatever the unit of the samples."""
    X = DIGITS[:20, 20:24] + 0.5  # 20 landmarks in 4 dimensions
    small, large = nystrom(X, 20, linear()), nystrom(unit * X, 20, linear())
    assert np.linalg.matrix_rank(small.root, tol=1e-8 * np.abs(small.root).max()) == 4
    np.testing.assert_allclose(unit * large.root, small.root, atol=1e-6 * np.abs(small.root).max())


@pytest.mark.parametrize(("d", "m"), [(1, 2), (1, 6), (2, 2), (2, 4), (2, 6), (3, 2)])
def test_orthogonal_features_are_as_many_as_asked_for(d, m):
    """Whole groups of d frequencies, a part of one, or one alone."""
    features = orthogonal_features(d, m, 1.0)
    assert features.frequencies.shape == (d, m // 2)
    assert features(np.ones((3, d))).shape == (3, m)


def test_the_smallest_numbers_that_are_taken():
    """Zero matrices have no triplets and no error; one feature, two samples, two columns more."""
    assert randomized_svd(np.zeros((5, 4)), 2).s.size == 0
    assert range_error_bound(np.zeros(4), 2, oversample=2, norm="spectral") == 0
    assert range_error_bound([1.0, 1.0], 2, oversample=2) == 0
    assert fourier_features(1, 1, 1.0, phases=True).m == 1
    assert fourier_error_bound(2, 2, 0.5) == pytest.approx(np.sqrt(2 * np.log(4)))


def test_phases_go_once_around():
    """They are spread over 0 … 2π, each part alike."""
    b = fourier_features(1, 4000, 1.0, phases=True).phases
    counts = np.histogram(b, bins=4, range=(0, 2 * np.pi))[0]
    assert np.all(np.abs(counts - 1000) < 130)
    assert counts.sum() == 4000


def test_pivots_are_drawn_by_their_length():
    """A sample whose feature is short is rarely the first pivot."""
    X = np.array([[0.1], [1.0]])  # chances of 1 to 100
    first = [random_pivots(linear(), X, 1, np.random.default_rng(seed))[0] for seed in range(50)]
    assert sum(first) >= 45
    for seed in range(5):  # all that there is may be in the last sample
        last = random_pivots(
            linear(), np.array([[0.0], [0.0], [1.0]]), 1, np.random.default_rng(seed)
        )
        assert last == [2]


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_leverage_knows_no_unit(unit):
    """Where the first choice explains all samples, rounding is judged by their lengths."""
    X = np.random.default_rng(0).standard_normal((20, 2))
    wanted = leverage_scores(linear(), X, X[:6])
    np.testing.assert_allclose(leverage_scores(linear(), unit * X, unit * X[:6]), wanted, rtol=0.01)
    assert wanted.sum() < 3  # two directions have no more


def test_pivots_stop_where_nothing_is_left():
    """Samples in a plane: two columns of kernel values are asked for, whatever m is."""
    X, columns = np.random.default_rng(0).standard_normal((10, 2)), []

    def kernel(A, B):
        columns.append(len(B))
        return A @ B.T

    assert len(set(random_pivots(kernel, X, 5, np.random.default_rng(0)).tolist())) == 5
    assert columns.count(1) == 2


def test_leverage_of_samples_without_features():
    """All have the same chance where the kernel is zero."""
    scores = leverage_scores(0 * rbf(1.0), DIGITS[:6], DIGITS[:3])
    np.testing.assert_allclose(scores / scores.sum(), 1 / 6)


@pytest.mark.parametrize("how", ["uniform", "leverage", "pivoted"])
def test_no_sample_is_a_landmark_twice(how):
    for seed in range(10):
        L = nystrom(DIGITS[:30], 15, rbf(1.0), landmarks=how, rng=seed).landmarks
        assert len(np.unique(L, axis=0)) == 15


@pytest.mark.parametrize("phases", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_angles_beyond_the_floats_are_refused(form, phases):
    """Features are finite with inner products κ(x, x) near 1, or there is a sentence."""
    X = np.random.default_rng(0).standard_normal((5, 3))
    for sigma in (1e-150, 1.0, 1e150):
        features = fourier_features(3, 8, sigma, phases=phases)
        for c in (1e-300, 1.0, 1e150, 1e300):
            if c / sigma > 1e307:
                with pytest.raises(ValueError, match="angles overflow"):
                    features(form(c * X))
            else:
                assert np.isfinite(features(form(c * X))).all()
