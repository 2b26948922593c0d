"""Random sampling of the range: what it spans, and its bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import EPS, assert_orthonormal, seeds, sparing, thorough
from sklearn.datasets import load_breast_cancer
from sklearn.utils.extmath import randomized_svd as sklearn_randomized_svd

from kpca_edu.datasets import matrix_with_singular_values as made
from kpca_edu.sketching import randomized_svd, range_error_bound, range_finder


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
    """k terms keep ‖X − X̂‖² ≤ ‖S₂‖² + ‖S₂Ω₂Ω₁⁺‖² too, for every Ω: eq-truncation-cost."""
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
