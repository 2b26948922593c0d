"""Kernels against explicit feature maps, exact arithmetic, finite differences and scikit-learn."""

import copy
import inspect
import pickle
import sys
import tracemalloc
import warnings
from fractions import Fraction
from math import comb, factorial

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import seeds, sparing, thorough
from scipy import sparse
from sklearn.metrics import pairwise

from kpca_edu import kernels as module
from kpca_edu._engine import panels
from kpca_edu._engine.inner_products import neighbor_spacing
from kpca_edu.kernels import (
    Kernel,
    RadialKernel,
    check_kernel,
    cosine,
    gram_matrix,
    is_psd,
    laplacian,
    linear,
    median_sigma,
    polynomial,
    polynomial_features,
    rbf,
    rbf_features,
    rbf_from_gamma,
    sigmoid,
    squared_distances,
)

TRUE_KERNELS = {
    "linear": linear(),
    "polynomial": polynomial(3, 0.7),
    "homogeneous": polynomial(2, 0.0),
    "rbf": rbf(1.3),
    "laplacian": laplacian(0.8),
    "cosine": cosine(),
    "sum": linear() + rbf(0.5),
    "product": polynomial(2) * laplacian(2.0),
    "multiple": 0.3 * rbf(2.0) * 5,
    "mixed": 2 * linear() * rbf(1.0) + 0.5 * cosine(),
    "constant": rbf(0.7) + 0.5,
    "power": (linear() + 1) ** 3,
}
EVERY = TRUE_KERNELS | {"sigmoid": sigmoid(0.5, -0.2)}
each_true = pytest.mark.parametrize("kernel", TRUE_KERNELS.values(), ids=TRUE_KERNELS.keys())
every = pytest.mark.parametrize("kernel", EVERY.values(), ids=EVERY.keys())


def by_definition(kernel_of_two, X, Y):
    """The Gram matrix, one pair at a time."""
    return np.array([[kernel_of_two(x, y) for y in Y] for x in X])


@st.composite
def samples(draw, max_side=9):
    n, d = draw(st.integers(1, max_side)), draw(st.integers(1, 5))
    return np.random.default_rng(draw(seeds)).standard_normal((n, d)) + 0.1


# --- values --------------------------------------------------------------------------------------


@thorough
@given(samples(), samples())
def test_values_are_those_of_the_definition(X, Y):
    """Each kernel's matrix holds its formula: eq-kpca-rbf, eq-kpca-poly, eq-kpca-gram."""
    d = min(X.shape[1], Y.shape[1])
    X, Y = X[:, :d], Y[:, :d]
    formulas = {
        linear(): lambda x, y: sum(x * y),
        polynomial(3, 0.7): lambda x, y: (sum(x * y) + 0.7) ** 3,
        rbf(1.3): lambda x, y: np.exp(-sum((x - y) ** 2) / (2 * 1.3**2)),
        laplacian(0.8): lambda x, y: np.exp(-np.sqrt(sum((x - y) ** 2)) / 0.8),
        sigmoid(0.5, -0.2): lambda x, y: np.tanh(0.5 * sum(x * y) - 0.2),
        cosine(): lambda x, y: sum(x * y) / np.sqrt(sum(x**2) * sum(y**2)),
    }
    for kernel, formula in formulas.items():
        right = by_definition(formula, X, Y)
        scale = np.abs(right).max()
        np.testing.assert_allclose(kernel(X, Y), right, rtol=1e-9, atol=1e-12 * scale)
        right = by_definition(formula, X, X)
        np.testing.assert_allclose(kernel(X), right, rtol=1e-9, atol=1e-12 * np.abs(right).max())
        np.testing.assert_allclose(kernel.diagonal(X), right.diagonal(), rtol=1e-12, atol=1e-14)


def test_scikit_learn_agrees():
    """scikit-learn's gamma is 1/2σ² for the RBF kernel: eq-kpca-rbf."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 4)), rng.standard_normal((15, 4))
    pairs = [
        (rbf(0.7), pairwise.rbf_kernel(X, Y, gamma=1 / (2 * 0.7**2))),
        (linear(), pairwise.linear_kernel(X, Y)),
        (polynomial(3, 0.5), pairwise.polynomial_kernel(X, Y, degree=3, gamma=1, coef0=0.5)),
        (sigmoid(0.3, 0.1), pairwise.sigmoid_kernel(X, Y, gamma=0.3, coef0=0.1)),
        (cosine(), pairwise.cosine_similarity(X, Y)),
    ]
    for kernel, theirs in pairs:
        np.testing.assert_allclose(kernel(X, Y), theirs, rtol=1e-12, atol=1e-13)
    manhattan_in_1d = pairwise.laplacian_kernel(X[:, :1], Y[:, :1], gamma=1 / 0.7)
    np.testing.assert_allclose(laplacian(0.7)(X[:, :1], Y[:, :1]), manhattan_in_1d, rtol=1e-12)


def test_the_sign_of_the_gaussian():
    """With the minus the values fall from 1 to 0; without it two points give −1.718 and 3.718."""
    X = np.array([[0.0], [np.sqrt(2)], [50.0]])
    K = rbf(1.0)(X)
    np.testing.assert_allclose(K[0], [1, np.exp(-1), 0], atol=1e-15)
    wrong = np.exp(np.array([[0.0, 2.0], [2.0, 0.0]]) / 2)
    np.testing.assert_allclose(np.linalg.eigvalsh(wrong), [1 - np.e, 1 + np.e])
    assert not is_psd(wrong)


@every
def test_matrices_fit_together(kernel):
    """Gram matrices are exactly symmetric and agree with the cross form: eq-kpca-gram."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 3))
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel(X, X.copy()), K, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel(X[:4], X), K[:4], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), K.diagonal(), rtol=1e-12)


@every
def test_blocks_change_nothing(kernel, monkeypatch):
    """The Gram matrix is the same in blocks of two rows as in one."""
    X = np.random.default_rng(2).standard_normal((11, 3))
    whole = gram_matrix(X, kernel)
    monkeypatch.setattr(panels, "BLOCK_ENTRIES", 22)
    monkeypatch.setattr(panels, "PANEL_ROWS", 1)
    assert len(list(panels.lower_panels(kernel, X))) == 6
    np.testing.assert_allclose(gram_matrix(X, kernel), whole, rtol=1e-9, atol=1e-13)


@every
def test_single_precision_stays(kernel):
    """float32 in, float32 out, near the double values."""
    X = np.random.default_rng(3).standard_normal((12, 3))
    single = X.astype(np.float32)
    for got, right in (
        (kernel(single), kernel(X)),
        (kernel(single, single[:5]), kernel(X, X[:5])),
        (kernel.diagonal(single), kernel.diagonal(X)),
    ):
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, right, rtol=2e-3, atol=2e-4)
    assert polynomial_features(single).dtype == rbf_features(single, 1.0, 3).dtype == np.float32


@every
def test_inputs_are_left_alone(kernel):
    X, Y = np.random.default_rng(4).standard_normal((2, 6, 3))
    before = X.copy(), Y.copy()
    kernel(X), kernel(X, Y), kernel.diagonal(X), kernel.diagonal_gradient(X)
    kernel.gradient(X, Y, np.ones((6, 6)))
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


@every
@pytest.mark.parametrize("seed", [0, 1])
def test_gradients_are_difference_quotients(kernel, seed):
    """The gradients in t of Σ wᵢκ(t, xᵢ) and of κ(t, t), by central differences."""
    rng = np.random.default_rng(seed)
    T, X, W = rng.standard_normal((3, 2)), rng.standard_normal((7, 2)), rng.standard_normal((3, 7))
    h = 1e-6

    def slope(f):
        steps = h * np.eye(2)
        return np.column_stack([(f(T + step) - f(T - step)) / (2 * h) for step in steps])

    along = slope(lambda T: np.sum(W * kernel(T, X), axis=1))
    np.testing.assert_allclose(kernel.gradient(T, X, W), along, rtol=1e-6, atol=1e-7)
    diagonal = slope(kernel.diagonal)
    np.testing.assert_allclose(kernel.diagonal_gradient(T), diagonal, rtol=1e-6, atol=1e-7)


def test_far_from_the_origin_digits_are_kept():
    """Squared distances of nearby points 10⁶ from the origin have ten digits."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 1000, (20, 3)) / 1024 + 2.0**20  # exact in binary
    right = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    np.testing.assert_allclose(squared_distances(X, X), right, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(rbf(0.3)(X), np.exp(-right / 0.18), rtol=1e-10)


def test_equal_samples_give_equal_rows():
    """Duplicates are at distance 0 to all digits, also for the laplacian with its tip."""
    X = 1e3 + np.random.default_rng(6).standard_normal((5, 4))
    K = laplacian(1.0)(X, X.copy())
    np.testing.assert_array_equal(K.diagonal(), 1)
    np.testing.assert_allclose(rbf(1e-3)(X, X.copy()).diagonal(), 1, atol=1e-3)


# --- what makes a kernel -------------------------------------------------------------------------


@each_true
@sparing
@given(X=samples())
def test_true_kernels_are_positive_semidefinite(kernel, X):
    """cᵀKc ≥ 0 for Gram matrices of all kernels and their combinations: eq-kpca-psd."""
    K = kernel(X)
    c = np.random.default_rng(0).standard_normal((len(X), 20))
    assert is_psd(K)
    assert np.einsum("ij,ik,kj->j", c, K, c).min() >= -1e-9 * np.abs(K).max() * len(X)


@thorough
@given(samples(), st.floats(0, 10))
def test_closure_is_entry_by_entry(X, factor):
    """Sums, products and multiples of kernels are those of their values: eq-kpca-closure."""
    first, second = polynomial(2, 0.5), rbf(0.9)
    A, B = first(X), second(X)
    np.testing.assert_allclose((first + second)(X), A + B, rtol=1e-12)
    np.testing.assert_allclose((first * second)(X), A * B, rtol=1e-12)
    np.testing.assert_allclose((factor * first)(X), factor * A, rtol=1e-12)
    np.testing.assert_allclose((first * factor)(X), factor * A, rtol=1e-12)


@sparing
@given(samples(), st.integers(1, 5), st.floats(0, 10))
def test_powers_constants_and_sums(X, power, constant):
    """Whole powers are repeated products, numbers are constant kernels: eq-kpca-closure."""
    kernel = 0.5 * linear() + rbf(0.9)
    K = kernel(X)
    for got, right in (
        (kernel**power, K**power),
        (kernel + constant, K + constant),
        (constant + kernel, K + constant),
        (sum([kernel, rbf(2.0), kernel]), 2 * K + rbf(2.0)(X)),
        (np.float64(constant) * kernel, constant * K),
    ):
        np.testing.assert_allclose(got(X), right, rtol=1e-10)
        np.testing.assert_allclose(got.diagonal(X), right.diagonal(), rtol=1e-10)
    assert kernel + 0 is kernel
    assert kernel**1 is kernel


@sparing
@given(seeds, st.integers(2, 7), st.integers(1, 4))
def test_schur_products_of_features(seed, n, rank):
    """The product's features are all products of two features: eq-kpca-closure."""
    rng = np.random.default_rng(seed)
    F, G = rng.standard_normal((2, n, rank))
    products = np.einsum("ij,ik->ijk", F, G).reshape(n, -1)
    np.testing.assert_allclose(products @ products.T, (F @ F.T) * (G @ G.T), atol=1e-12)
    assert is_psd((F @ F.T) * (G @ G.T))


def test_a_function_that_is_no_kernel():
    """tanh(xᵀy − 1) has a clearly negative eigenvalue: eq-kpca-psd does not hold."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    K = sigmoid(1.0, -1.0)(X)
    assert np.linalg.eigvalsh(K)[0] < -1
    assert not is_psd(K)


@thorough
@given(seeds, st.integers(1, 8), st.integers(1, 8))
def test_every_psd_matrix_is_a_gram_matrix(seed, n, rank):
    """A root B of K has K = BBᵀ, so its rows are features: eq-kpca-kernel and eq-kpca-psd."""
    F = np.random.default_rng(seed).standard_normal((n, rank))
    K = F @ F.T
    lam, A = np.linalg.eigh(K)
    B = A * np.sqrt(np.maximum(lam, 0))
    np.testing.assert_allclose(B @ B.T, K, atol=1e-12 * n * rank)
    assert is_psd(K)
    assert not is_psd(K - 0.1 * np.eye(n) * np.abs(K).max()) or rank >= n


def test_the_tolerance_of_is_psd():
    K = np.diag([1.0, -1e-8])
    assert not is_psd(K)
    assert is_psd(K, tol=1e-7)
    assert is_psd(np.zeros((3, 3)))


def test_two_feature_maps_one_kernel():
    """A map into three and one into four dimensions both have (xᵀy)²: eq-kpca-poly-features."""
    X = np.random.default_rng(0).standard_normal((9, 2))
    four = np.column_stack([X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] * X[:, 0], X[:, 1] ** 2])
    three = polynomial_features(X, 2, 0.0)
    assert three.shape[1] == 3
    np.testing.assert_allclose(four @ four.T, three @ three.T, atol=1e-13)
    np.testing.assert_allclose(four @ four.T, polynomial(2, 0.0)(X), atol=1e-13)


def test_the_small_example_map_is_a_kernel():
    """φ(x) = (x₁, x₁², x₁x₂) gives x₁y₁ + x₁²y₁² + x₁x₂y₁y₂: eq-kpca-kernel."""
    x, y = np.random.default_rng(1).standard_normal((2, 8, 2))
    phi = [np.column_stack([t[:, 0], t[:, 0] ** 2, t[:, 0] * t[:, 1]]) for t in (x, y)]
    closed = np.outer(x[:, 0], y[:, 0]) * (1 + x @ y.T)
    np.testing.assert_allclose(phi[0] @ phi[1].T, closed, atol=1e-13)
    assert is_psd(phi[0] @ phi[0].T)


# --- features ------------------------------------------------------------------------------------


@thorough
@given(samples(), st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0, 2.5]))
def test_polynomial_features_have_the_kernel(X, degree, offset):
    """φ(x)ᵀφ(y) = (xᵀy + c)^p and the number of columns: eq-kpca-poly-features, eq-kpca-count."""
    phi = polynomial_features(X, degree, offset)
    d = X.shape[1]
    assert phi.shape[1] == (comb(d + degree, degree) if offset else comb(d + degree - 1, degree))
    K = polynomial(degree, offset)(X)
    np.testing.assert_allclose(phi @ phi.T, K, rtol=1e-10, atol=1e-12 * np.abs(K).max())


@every
@pytest.mark.parametrize("size", [1e155, 1e200, 1e300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_values_are_finite_or_the_overflow_is_told(kernel, size, form):
    """Products of sparse matrices, and those in other threads, raise no flag of NumPy's."""
    X = size * np.random.default_rng(0).standard_normal((5, 3))
    S, W = form(X), np.ones((5, 5))
    for call in (
        lambda: kernel(S),
        lambda: kernel(S, -S),
        lambda: kernel.diagonal(S),
        lambda: kernel.gradient(X, S, W),
        lambda: kernel.diagonal_gradient(X),
    ):
        try:
            said = "finite" if np.isfinite(call()).all() else "not finite"
        except ValueError as error:
            said = str(error)
        assert said.startswith(("finite", "The kernel overflows", "The Laplacian kernel works on"))


@pytest.mark.parametrize("size", [1e155, 1e200, 1e300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_squared_distances_beyond_the_floats_are_told(size, form):
    X = size * np.random.default_rng(0).standard_normal((5, 3))
    with pytest.raises(ValueError, match="squares of the distances overflow: divide X"):
        squared_distances(form(X), form(-X))


def test_polynomial_features_in_the_plane_by_hand():
    """(1, √2x₁, √2x₂, x₁², √2x₁x₂, x₂²) in this order: eq-kpca-poly-features."""
    a, b = 3.0, -2.0
    r = np.sqrt(2)
    right = [1, r * a, r * b, a * a, r * a * b, b * b]
    np.testing.assert_allclose(polynomial_features([[a, b]]), [right])


def test_polynomial_features_exactly():
    """The features agree with the kernel in rational arithmetic: eq-kpca-poly, eq-kpca-count."""
    x, y = [Fraction(1, 3), Fraction(2, 5), Fraction(-3, 7)], [Fraction(5, 2), Fraction(-1), 4]
    phi = polynomial_features(np.array([x, y], float), 3, 2.0)
    exact = (sum(a * b for a, b in zip(x, y, strict=True)) + 2) ** 3
    assert phi[0] @ phi[1] == pytest.approx(float(exact), rel=1e-13)
    assert polynomial_features(np.ones((1, 40)), 2).shape[1] == comb(42, 2)


@thorough
@given(samples(), st.floats(0.7, 3), st.integers(0, 8))
def test_rbf_features_are_the_truncated_exponential(X, sigma, degree):
    """Inner products are e^{−…}·Σ_{m ≤ N} (xᵀy/σ²)^m/m!, by mpmath: eq-kpca-rbf-features."""
    X = X[:4, :3]
    phi = rbf_features(X, sigma, degree)
    assert phi.shape[1] == comb(X.shape[1] + degree, degree)
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            z = mpmath.mpf(float(x @ y)) / sigma**2
            bell = mpmath.exp(-(mpmath.mpf(float(x @ x)) + float(y @ y)) / (2 * sigma**2))
            right = bell * sum(z**m / mpmath.factorial(m) for m in range(degree + 1))
            assert phi[i] @ phi[j] == pytest.approx(float(right), rel=1e-10, abs=1e-12)


@thorough
@given(samples(), st.floats(0.5, 3), seeds)
def test_features_of_the_gaussian_kernel_one_by_one(X, sigma, seed):
    """Each is e^{−‖x‖²/2σ²}·∏ xⱼ^mⱼ/(σ^m √∏ mⱼ!), not divided by √m!: eq-kernels-rbf-map."""
    X = X[:, :3]
    bell = np.exp(-np.sum(X**2, axis=1) / (2 * sigma**2))
    phi = rbf_features(X, sigma, 4)
    m = np.random.default_rng(seed).multinomial(4, np.ones(X.shape[1]) / X.shape[1])
    root = np.sqrt(np.prod([float(factorial(int(e))) for e in m]))
    one = bell * np.prod(X**m, axis=1) / (sigma ** m.sum() * root)
    assert np.abs(phi.T - one).max(axis=1).min() <= 1e-12 * max(1.0, np.abs(one).max())


def test_rbf_features_converge_to_the_kernel():
    """The truncation error falls beneath 1e-10, and stays within the tail: eq-kpca-rbf-features."""
    X = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    K = rbf(1.0)(X)
    errors = [
        np.abs(phi @ phi.T - K).max()
        for phi in (rbf_features(X, 1.0, degree) for degree in range(18))
    ]
    reach = np.sum(X**2, axis=1).max()
    tails = [float(mpmath.nsum(lambda m: reach**m / mpmath.factorial(m), [N + 1, N + 60]))
             for N in range(18)]  # fmt: skip
    assert np.all(np.diff(errors[:14]) < 0)
    assert np.all(errors <= np.array(tails) + 1e-15)
    assert errors[17] < 1e-10


def test_gaussian_gram_matrices_have_full_rank():
    """Distinct points: all n eigenvalues are positive; the quadratic kernel in 1-D has rank 3."""
    x = np.linspace(0, 11, 12)[:, None]
    assert np.linalg.eigvalsh(rbf(0.8)(x))[0] > 0.01
    assert np.linalg.matrix_rank(polynomial(2)(x)) == 3


# --- the kernel trick, and functions -------------------------------------------------------------


@thorough
@given(samples(), samples(), st.sampled_from([0.0, 1.0]))
def test_distances_from_kernel_values(X, T, offset):
    """Distances of features, and from a mean of features: eq-kernels-distance, eq-kernels-mean."""
    d = min(X.shape[1], T.shape[1])
    X, T = X[:, :d], T[:, :d]
    kernel = polynomial(2, offset)
    phi, phi_T = polynomial_features(X, 2, offset), polynomial_features(T, 2, offset)
    own, own_T = kernel(X).diagonal(), kernel(T).diagonal()
    slack = 1e-12 * (1 + own.max() + own_T.max())
    pairs = own_T[:, None] - 2 * kernel(T, X) + own
    np.testing.assert_allclose(
        pairs, np.sum((phi_T[:, None] - phi) ** 2, axis=2), rtol=1e-9, atol=slack
    )
    from_mean = own_T - 2 * kernel(T, X).mean(axis=1) + kernel(X).mean()
    right = np.sum((phi_T - phi.mean(axis=0)) ** 2, axis=1)
    np.testing.assert_allclose(from_mean, right, rtol=1e-9, atol=slack)


@thorough
@given(samples(), seeds)
def test_functions_of_a_kernel(X, seed):
    """w = Σ cᵢφ(xᵢ) is the function Σ cᵢκ(xᵢ, ·) with the norm √cᵀKc, whose values are inner
    products: eq-kernels-function, eq-kernels-norm, eq-kernels-reproducing."""
    rng = np.random.default_rng(seed)
    c, T = rng.standard_normal(len(X)), rng.standard_normal((5, X.shape[1]))
    phi, phi_T, kernel = polynomial_features(X, 3), polynomial_features(T, 3), polynomial(3)
    w = phi.T @ c
    size = np.abs(phi).max() * np.abs(phi_T).max() * np.abs(c).sum() * phi.shape[1]
    np.testing.assert_allclose(kernel(T, X) @ c, phi_T @ w, atol=1e-12 * size)
    weight = np.abs(c) @ np.abs(kernel(X)) @ np.abs(c)
    assert abs(c @ kernel(X) @ c - w @ w) <= 1e-11 * weight
    many = np.vstack([X, T])  # ⟨f, κ(x, ·)⟩ by weights: c against the unit vector of x
    inner = np.concatenate([c, np.zeros(5)]) @ kernel(many)
    np.testing.assert_allclose(inner[len(X) :], phi_T @ w, atol=1e-12 * size)


@thorough
@given(samples(), seeds, st.floats(0.3, 3))
def test_functions_of_small_norm_are_smooth(X, seed, sigma):
    """|f(x) − f(y)| ≤ ‖f‖ ‖φ(x) − φ(y)‖ for all pairs: eq-kernels-smooth."""
    rng = np.random.default_rng(seed)
    c, T = rng.standard_normal(len(X)), rng.standard_normal((6, X.shape[1]))
    kernel = rbf(sigma)
    f, norm = kernel(T, X) @ c, np.sqrt(max(c @ kernel(X) @ c, 0))
    far = np.sqrt(np.maximum(2 - 2 * kernel(T), 0))
    slack = 1e-6 * np.abs(c).sum()  # near 0 a root doubles the rounding
    assert np.all(np.abs(f[:, None] - f) <= norm * far + slack)


# --- widths --------------------------------------------------------------------------------------


@sparing
@given(samples(max_side=12))
def test_median_sigma(X):
    """The median of all distances between two samples."""
    if len(X) < 2:
        return
    pairs = [np.linalg.norm(X[i] - X[j]) for i in range(len(X)) for j in range(i)]
    assert median_sigma(X) == pytest.approx(np.median(pairs))


def test_median_sigma_of_many_samples_is_drawn():
    X = np.random.default_rng(0).standard_normal((3000, 2))
    first = median_sigma(X, max_samples=300)
    assert first == median_sigma(X, max_samples=300)
    assert first == pytest.approx(median_sigma(X[:1000]), rel=0.1)
    assert median_sigma(X, max_samples=300, rng=np.random.default_rng(7)) != first


# --- callables, progress, bad input --------------------------------------------------------------


def test_any_callable_gets_the_data_as_they_are():
    words = ["ab", "b", "abc"]

    def shared_letters(first, second):
        return np.array([[len(set(a) & set(b)) for b in second] for a in first], float)

    np.testing.assert_array_equal(
        gram_matrix(words, shared_letters), [[2, 1, 2], [1, 1, 1], [2, 1, 3]]
    )


@every
def test_sparse_samples(kernel):
    """Sparse matrices of any format give the dense values, also mixed with dense ones."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((30, 12)) * (rng.random((30, 12)) < 0.2)
    X[:, 0] += 1  # no row of zeros
    Y = X[:7] + 0.5
    if "laplacian" in str(kernel):
        with pytest.raises(ValueError, match="dense arrays"):
            kernel(sparse.csr_array(X))
        return
    for make in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        S = make(X)
        for got, right in (
            (kernel(S), kernel(X)),
            (kernel(S, make(Y)), kernel(X, Y)),
            (kernel(Y, S), kernel(Y, X)),
            (kernel(S, Y), kernel(X, Y)),
            (kernel.diagonal(S), kernel.diagonal(X)),
            (kernel.gradient(Y, S, np.ones((7, 30))), kernel.gradient(Y, X, np.ones((7, 30)))),
        ):
            assert type(got) is np.ndarray
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)
    assert kernel(sparse.csr_array(X.astype(np.float32))).dtype == np.float32


def test_sparse_widths():
    """The median distance is that of the dense samples."""
    X = np.eye(9)[:, :5] + np.arange(9)[:, None] * (np.arange(5) == 2)
    assert median_sigma(sparse.csr_array(X)) == pytest.approx(median_sigma(X))
    S = sparse.csr_array(X)
    np.testing.assert_allclose(squared_distances(S, S), squared_distances(X, X), atol=1e-12)


class Cauchy(RadialKernel):
    """A radial kernel of one's own, 1/(1 + D²/σ²), with no more than what must be said."""

    def __init__(self, sigma):
        self.sigma = sigma

    def profile(self, D2):
        return 1 / (1 + D2 / self.sigma**2)

    def profile_derivative(self, D2):
        return -1 / (self.sigma**2 * (1 + D2 / self.sigma**2) ** 2)


def test_profiles_and_their_inverses():
    """g and g′ at once are g and g′; u is found from g(u) in any unit of length."""
    shares = np.random.default_rng(0).uniform(0.01, 5, (4, 5))
    for unit in (1e-60, 1.0, 1e60):
        D2 = unit**2 * shares
        for kernel in (rbf(0.7 * unit), laplacian(0.7 * unit), Cauchy(0.7 * unit)):
            g, slope = kernel.profile_and_derivative(D2.copy())
            np.testing.assert_allclose(g, kernel.profile(D2.copy()), rtol=1e-14)
            np.testing.assert_allclose(slope, kernel.profile_derivative(D2), rtol=1e-14)
            np.testing.assert_allclose(kernel.inverse_profile(g), D2, rtol=1e-9)
            np.testing.assert_array_equal(kernel.inverse_profile(np.array([1.0, 1.5])), 0)
            assert np.all(kernel.inverse_profile(np.array([0.0, -1.0])) > 1e200 * unit)
    X = np.random.default_rng(1).standard_normal((6, 2))
    assert is_psd(Cauchy(1.0)(X))
    np.testing.assert_allclose(Cauchy(1.0)(X), 1 / (1 + squared_distances(X, X)))
    assert repr(2 * Cauchy(1.0) + rbf(1.0)) == "2 * Cauchy + rbf(sigma=1)"


def test_gamma():
    """exp(−γ‖x − y‖²) is scikit-learn's way to write the width: eq-kpca-rbf."""
    X = np.random.default_rng(0).standard_normal((9, 3))
    for gamma in (0.01, 0.5, 7.0):
        np.testing.assert_allclose(
            rbf_from_gamma(gamma)(X), pairwise.rbf_kernel(X, gamma=gamma), rtol=1e-12
        )


def test_kernels_read_as_they_were_written():
    """A kernel prints what makes it, and what it prints makes it; numbers keep all digits."""
    for kernel, text in (
        (rbf(0.8), "rbf(sigma=0.8)"),
        (polynomial(2, 1.0), "polynomial(degree=2, offset=1)"),
        (0.5 * linear() + rbf(1), "0.5 * linear() + rbf(sigma=1)"),
        ((linear() + 1) ** 2 * cosine(), "(linear() + 1)**2 * cosine()"),
        (2 * (3 * rbf(1.0)), "6 * rbf(sigma=1)"),
        (sigmoid(0.1, -2), "sigmoid(scale=0.1, offset=-2)"),
    ):
        assert repr(kernel) == text
    names = {name: getattr(module, name) for name in module.__all__}
    third = rbf(1 / 3)
    deep = [third * (linear() + third) ** 3, linear() * (2 * cosine()), 3 * (linear() * third) + 7]
    deep.append((linear() + third) * cosine())
    for kernel in (*EVERY.values(), third, *deep, linear() + (third + 1), (third**2) ** 2):
        assert eval(repr(kernel), names) == kernel
    assert str(third) == "rbf(sigma=0.3333)"


def test_copies_of_kernels():
    """Pickle and copy give equal kernels."""
    for kernel in EVERY.values():
        assert pickle.loads(pickle.dumps(kernel)) == copy.deepcopy(kernel) == kernel


def test_what_is_a_kernel():
    """Kernels and callables pass; the functions that make kernels, names and numbers don't."""
    for kernel in (rbf(1.0), rbf(1.0) + 1, pairwise.rbf_kernel, np.dot, lambda X, Y: X @ Y.T):
        assert check_kernel(kernel) is kernel
    makers = [f for _, f in inspect.getmembers(module, inspect.isfunction)]
    for wrong in (*makers, "rbf", None, 3, np.eye(2), module.Kernel):
        if getattr(wrong, "__module__", module.__name__) == module.__name__:
            with pytest.raises(ValueError, match="kernel"):
                check_kernel(wrong)


def test_progress_bar(capsys):
    gram_matrix(np.ones((5, 2)), rbf(1.0), progress=True)
    assert "Gram matrix" in capsys.readouterr().err


def test_progress_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="needs tqdm"):
        gram_matrix(np.ones((5, 2)), rbf(1.0), progress=True)


def test_kernels_are_values():
    """Kernels compare by value and can't be changed."""
    assert rbf(1.0) == rbf(1.0) != rbf(2.0)
    assert isinstance(rbf(1.0), RadialKernel)
    assert isinstance(rbf(1.0) + linear(), Kernel)
    with pytest.raises(AttributeError):
        rbf(1.0).sigma = 2.0


X32 = np.ones((3, 2))
BAD = {
    "width zero": (lambda: rbf(0), "a width is positive"),
    "width negative": (lambda: laplacian(-1.0), "a width is positive"),
    "width NaN": (lambda: rbf(float("nan")), "sigma=nan: a number from"),
    "width text": (lambda: rbf("wide"), "sigma='wide': a number from"),
    "width too small to be squared": (lambda: rbf(1e-200), "it is squared"),
    "width boolean": (lambda: rbf(True), "sigma=True: a number from"),
    "gamma zero": (lambda: rbf_from_gamma(0), "gamma=0.0: a number above 0"),
    "degree zero": (lambda: polynomial(0), "whole number from 1"),
    "degree fraction": (lambda: polynomial(1.5), "whole number from 1"),
    "offset negative": (lambda: polynomial(2, -1.0), "offset=-1.0.*makes no kernel"),
    "offset of features": (lambda: polynomial_features(X32, 2, -1.0), "offset=-1.0"),
    "offset text": (lambda: sigmoid(1.0, "a"), "offset='a': a finite number"),
    "scale infinite": (lambda: sigmoid(np.inf), "finite number"),
    "negative multiple": (lambda: -1 * rbf(1.0), "factor=-1.0.*would be negative"),
    "negative multiple of a multiple": (lambda: (2 * rbf(1.0)) * -1, "factor=-1.0"),
    "minus": (lambda: -rbf(1.0), "would be negative"),
    "NaN times": (lambda: np.nan * rbf(1.0), "factor=nan"),
    "negative constant": (lambda: rbf(1.0) + -1, "constant=-1.0"),
    "power zero": (lambda: rbf(1.0) ** 0, "exponent=0: a whole number from 1"),
    "power of a half": (lambda: rbf(1.0) ** 0.5, "exponent=0.5"),
    "T and X differ": (lambda: rbf(1.0).gradient(X32, np.ones((4, 3)), X32), "T has 2.*X has 3"),
    "W is a row": (lambda: rbf(1.0).gradient(X32, X32, np.ones((1, 3))), "W is 1×3.*3×3"),
    "W is 1-D": (lambda: linear().gradient(X32, X32, np.ones(3)), "W is 1-D"),
    "W transposed": (lambda: (2 * cosine()).gradient(X32[:2], X32, np.ones((3, 2))), "W is 3×2"),
    "W text": (lambda: (rbf(1.0) + linear()).gradient(X32, X32, [["a"] * 3] * 3), "W holds"),
    "W NaN": (lambda: polynomial(2).gradient(X32, X32, np.full((3, 3), np.nan)), "W holds NaN"),
    "T 1-D": (lambda: rbf(1.0).diagonal_gradient(np.ones(3)), "T is 1-D"),
    "a name": (lambda: gram_matrix(X32, "rbf"), "kernel='rbf'.*not its name"),
    "a maker": (lambda: gram_matrix(X32, rbf), "kernel=rbf is a function that makes kernels"),
    "no kernel": (lambda: gram_matrix(X32, 3.0), "kernel is float: a kernel is needed"),
    "wrong order": (lambda: gram_matrix(linear(), X32), "kernel is ndarray"),
    "sparse laplacian": (lambda: laplacian(1.0)(sparse.eye_array(3)), "dense arrays"),
    "sparse NaN": (lambda: rbf(1.0)(sparse.csr_array([[np.nan]])), "NaN"),
    "distances": (lambda: squared_distances(X32, np.ones((1, 5))), "2 columns and Y has 5"),
    "far": (lambda: squared_distances([[1e160]], [[0.0]]), "squares of the distances overflow"),
    "max_samples": (lambda: median_sigma(X32, max_samples=1), "whole number from 2"),
    "rng": (lambda: median_sigma(np.eye(5), max_samples=2, rng="a"), "rng='a'"),
    "columns differ": (lambda: rbf(1.0)(X32, np.ones((3, 4))), "2 columns and Y has 4"),
    "1-D": (lambda: rbf(1.0)(np.ones(3)), "reshape"),
    "NaN": (lambda: rbf(1.0)([[np.nan]]), "NaN"),
    "text": (lambda: linear()([["a"]]), "not numbers"),
    "complex": (lambda: linear()([[1j]]), "complex"),
    "zero row": (lambda: cosine()([[0.0, 0.0], [1.0, 1.0]]), "Row 0 of X is zero"),
    "too many features": (lambda: polynomial_features(np.ones((9, 99)), 5), "needs none of them"),
    "degree too high": (lambda: polynomial_features([[1.0]], 171), "degree=171: at most 170"),
    "degree far too high": (lambda: polynomial_features([[1.0]], 10**9), "at most 170"),
    "terms too high": (lambda: rbf_features([[1.0]], 1.0, 171), "degree=171: at most 170"),
    "negative degree": (lambda: rbf_features(X32, 1.0, -1), "whole number from 0"),
    "one sample": (lambda: median_sigma([[1.0]]), "two samples"),
    "equal samples": (lambda: median_sigma(X32), "duplicates"),
    "not square": (lambda: is_psd(X32), "square"),
    "not symmetric": (lambda: is_psd([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
    "tolerance negative": (lambda: is_psd(np.eye(2), tol=-1), "number from 0 up"),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_only_kernels_and_numbers_are_combined():
    for other in ("a", None, [1.0], True, 1j):
        with pytest.raises(TypeError):
            rbf(1.0) + other
        with pytest.raises(TypeError):
            other * rbf(1.0)
    with pytest.raises(TypeError, match="difference of kernels is in general no kernel"):
        rbf(1.0) - linear()


def test_precision_of_the_unit_diagonal():
    """The diagonal of a Gaussian Gram matrix is exactly 1."""
    X = 1e5 * np.random.default_rng(0).standard_normal((50, 3))
    assert np.all(rbf(1.0)(X).diagonal() == 1)


@pytest.mark.parametrize(("offset", "size"), [(0.0, 6), (1.0, 10)])
def test_at_most_a_hundred_million_numbers(offset, size):
    """Degree 2 of 3 features has 6 monomials, with an offset 10; they are counted beforehand."""
    assert next(module._monomials(10**8 // size, 3, 2, offset)) == [0, 0][: 2 if offset == 0 else 0]
    with pytest.raises(ValueError, match=f"has {size} monomials"):
        next(module._monomials(10**8 // size + 1, 3, 2, offset))


def test_the_laplacian_kernel_takes_no_sparse_samples():
    """On either side: the sentence says what does."""
    dense, rare = np.eye(3), sparse.csr_array(np.eye(3))
    for X, Y in ((rare, dense), (dense, rare), (rare, rare)):
        with pytest.raises(ValueError, match=r"dense arrays.*rbf\(sigma\), which takes sparse"):
            laplacian(1.0)(X, Y)


def test_sparse_samples_beside_dense_ones_stay_sparse():
    """Distances between a dense sample and many sparse ones take no dense copy of these."""
    X = np.zeros((1, 5000))
    Y = sparse.csr_array(([3.0, 4.0], ([0, 0], [7, 8])), shape=(200, 5000))
    for one, other in ((X, Y), (Y, X)):
        tracemalloc.start()
        D2 = squared_distances(one, other)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert D2.ravel().tolist() == [25.0] + [0.0] * 199
        assert peak < 8 * Y.shape[0] * Y.shape[1] / 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(log_size=st.floats(2, 16), rows=st.integers(3, 60), seed=seeds)
def test_far_samples_change_no_distance_between_the_others(dtype, log_size, rows, seed):
    """Distances among samples near each other keep their digits, however far some others are."""
    rng = np.random.default_rng(seed)
    near = (rng.standard_normal((rows, 3)) + 1e3 * rng.standard_normal(3)).astype(dtype)
    far = (10**log_size * rng.standard_normal((1 + rows // 20, 3))).astype(dtype)
    X = np.vstack([near, far])[order := rng.permutation(rows + len(far))]
    others = np.argsort(order)[:rows]
    D2 = squared_distances(X, X)[np.ix_(others, others)]
    right = np.sum((near[:, None].astype(float) - near.astype(float)) ** 2, axis=2)
    spread = max(right.max(), 1.0)
    np.testing.assert_allclose(D2, right, rtol=0, atol=1e3 * np.finfo(dtype).eps * spread)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [1e3, 1e8, 1e15])
def test_a_far_sample_is_no_measure_of_how_near_neighbours_are(dtype, far):
    """The spacing is a median: one of many samples changes it by little, duplicates not at all."""
    X = np.random.default_rng(3).standard_normal((90, 3)).astype(dtype)
    spacing = neighbor_spacing(X)
    assert neighbor_spacing(np.repeat(X, 2, axis=0)) == pytest.approx(spacing, rel=1e-3)
    with_far = np.vstack([X[:50], np.full((1, 3), far, dtype), X[50:]])
    assert neighbor_spacing(with_far) == pytest.approx(spacing, rel=0.05)


def test_blocks_have_about_a_million_entries():
    """Rows are cut without gap or overlap, into blocks that the processor can keep near."""
    for n, width in ((10**7, 1), (5000, 10**4), (999, 0), (3, 10**9)):
        blocks = list(panels.row_blocks(n, width))
        starts, stops = zip(*blocks, strict=True)
        assert starts == (0, *stops[:-1])
        assert stops[-1] == n
        if n * width > 2e6 > width:
            assert 5e5 < (stops[0] - starts[0]) * width < 2e6
    assert [stop - start for start, stop in panels.row_blocks(3, 10**9)] == [1, 1, 1]
    assert list(panels.row_blocks(0, 5)) == []


@pytest.mark.parametrize("n", [8, 30])
def test_rounding_allowed_to_is_psd_grows_with_n(n):
    """Down to −10n units of rounding an eigenvalue passes for zero."""
    K, eps = np.eye(n), np.finfo(float).eps
    K[0, 0] = -5 * n * eps
    assert is_psd(K)
    K[0, 0] = -20 * n * eps
    assert not is_psd(K)


def test_the_tip_of_the_laplacian_has_no_slope():
    """At distance 0 the derivative is 0, without a warning; elsewhere it is −g/(2σD)."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g, slope = laplacian(2.0).profile_and_derivative(np.array([0.0, 0.25, 9.0]))
    np.testing.assert_allclose(g, np.exp([0, -0.25, -1.5]))
    np.testing.assert_allclose(slope, [0, -g[1] / 2, -g[2] / 12])


def test_numbers_before_a_kernel_are_multiplied():
    """2(3κ) is 6κ, and 0(3κ) is 0κ."""
    assert 2 * (3 * rbf(1.0)) == 6 * rbf(1.0)
    assert 0 * (3 * rbf(1.0)) == 0 * rbf(1.0)
    with pytest.raises(ValueError, match="-1"):
        -1 * (3 * rbf(1.0))


def test_median_sigma_of_few_samples():
    """Two have one distance; of more than are asked for, different ones are drawn."""
    assert median_sigma([[0.0], [3.0]]) == 3
    drawn = {median_sigma([[0.0], [1.0], [3.0]], max_samples=2, rng=seed) for seed in range(20)}
    assert drawn == {1.0, 2.0, 3.0}


def test_the_largest_degree():
    """170! is the last factorial that is a float."""
    assert next(module._monomials(1, 1, 170, 1.0)) == []
    with pytest.raises(ValueError, match="at most 170"):
        next(module._monomials(1, 1, 171, 1.0))


def test_slopes_of_products_on_the_diagonal():
    """d κ₁(t, t)κ₂(t, t) by the rule for products, with neither factor constant."""
    kernel, t, h = linear() * polynomial(2), np.array([[0.7, -1.2]]), 1e-6
    found = kernel._diagonal_gradient(t)[0]
    steps = [kernel._diagonal(t + s * h * np.eye(2)) for s in (1, -1)]
    np.testing.assert_allclose(found, (steps[0] - steps[1]) / (2 * h), rtol=1e-6)


def test_truth_is_no_factor():
    for kernel in (rbf(1.0), 3 * rbf(1.0)):
        with pytest.raises(TypeError):
            kernel * True


def test_minus_one_is_what_a_minus_stands_for():
    with pytest.raises(ValueError, match="factor=-1"):
        -rbf(1.0)
