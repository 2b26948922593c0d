"""The eigensolver beside LAPACK: ties, clusters, centring, operators, half a matrix."""

import itertools
from math import comb

import numpy as np
import pytest
from matrices import assert_orthonormal

from kpca_edu._engine import eigen
from kpca_edu._engine.eigen import block_lanczos, top_eigenpairs
from kpca_edu._engine.panels import SymmetricPanels
from kpca_edu.kernel_pca import (
    fit_kernel_pca,
    fit_kernel_pca_gram,
)
from kpca_edu.kernels import (
    cosine,
    laplacian,
    linear,
    lower_panels,
    polynomial,
    rbf,
)

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


def J(n):
    return np.eye(n) - np.ones((n, n)) / n


def spectrum_matrix(lam, seed=0, center=False):
    """A symmetric matrix with the eigenvalues lam; if centred, also 1 in its null space."""
    n = len(lam) + center
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((n, n))
    columns[:, 0] = 1 if center else columns[:, 0]
    Q = np.linalg.qr(columns)[0][:, int(center) :]
    return (Q * lam) @ Q.T


SPECTRA = {
    "fast decay": 0.5 ** np.arange(399.0),
    "slow decay": 1 / np.arange(1.0, 400),
    "flat": np.ones(399),
    "many copies": np.repeat([3.0, 2.0, 1.0], 133),
    "rank 3": np.append([5.0, 2.0, 2.0], np.zeros(396)),
    "indefinite": np.append(np.linspace(1, 5, 20), np.linspace(-4, 0, 379)),
    "huge": 1e150 / np.arange(1.0, 400),
}


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("name", SPECTRA)
def test_block_lanczos(name, center):
    """The eigenvalues are the largest, the residuals rounding: eq-kpca-dual."""
    lam = np.sort(SPECTRA[name])[::-1]
    K = spectrum_matrix(lam, center=center)
    if center:
        K = K + np.abs(lam).max() * (np.add.outer(np.arange(400) / 400, np.arange(400) / 400))
    pairs = block_lanczos(K, 5, center)
    assert pairs is not None
    target = J(400) @ K @ J(400) if center else K
    top = np.abs(lam).max()
    np.testing.assert_allclose(pairs.lam, lam[:5], atol=1e-11 * top)
    assert_orthonormal(pairs.A, 100)
    residual = np.linalg.norm(target @ pairs.A - pairs.A * pairs.lam, axis=0)
    assert residual.max() <= 1e-11 * top
    assert pairs.lowest >= lam[-1] - 1e-10 * top


def test_hypercube():
    """On {±1}¹¹ eigenvalues of the RBF kernel come with binomial multiplicity: all are found."""
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=11)))
    sigma = 2.0
    per_axis = np.exp(-np.array([0.0, 4.0]) / (2 * sigma**2))
    even, odd = per_axis.sum(), per_axis[0] - per_axis[1]  # 2×2 eigenvalues of one axis
    exact = [even ** (11 - w) * odd**w for w in range(12) for _ in range(comb(11, w))][1:]
    model = fit_kernel_pca(X, 50, rbf(sigma))  # 11 copies, then 39 of the next 55
    np.testing.assert_allclose(model.lam, exact[:50], rtol=1e-10)
    np.testing.assert_allclose(model.total_variance * 2048, np.sum(exact), rtol=1e-10)


def test_more_copies_than_a_block_holds():
    """Thirty copies of one eigenvalue, a few others, a tail: a block of twelve must look again."""
    lam = np.concatenate([np.full(30, 3.0), [1.0, 0.9, 0.8, 0.7], np.linspace(0, 0.01, 465)])
    K = spectrum_matrix(lam, center=True)
    for k in (14, 15):
        pairs = block_lanczos(K, k)
        assert pairs is not None
        np.testing.assert_allclose(pairs.lam, 3, rtol=1e-12)
        assert_orthonormal(pairs.A, 100)


def test_identity():
    """K = I, of which every vector is an eigenvector; dense and Lanczos agree on λ̃."""
    for n, k in ((600, 5), (100, 60)):
        model = fit_kernel_pca_gram(np.eye(n), k)
        np.testing.assert_allclose(model.lam, 1, atol=1e-12)
        assert_orthonormal(model.alpha, 100)


@pytest.mark.parametrize("n", [60, 500, 1300])
def test_dense_and_lanczos_agree(n):
    """Few components by Lanczos, many by LAPACK: the same pairs."""
    K = rbf(1.0)(made(n, 3))
    few, many = top_eigenpairs(K, 4), top_eigenpairs(K.copy(), n // 5)
    np.testing.assert_allclose(few.lam, many.lam[:4], rtol=1e-10)
    np.testing.assert_allclose(up_to_sign(few.A, many.A[:, :4]), many.A[:, :4], atol=1e-8)
    assert many.lowest >= np.linalg.eigvalsh(J(n) @ K @ J(n))[0] - 1e-10
    assert many.lowest < 0.001 * many.lam[0]


def test_a_tight_cluster_of_eigenvalues():
    """Twenty eigenvalues within 1e-8 of each other: five of them, at rounding's residual."""
    lam = np.append(1 + 1e-9 * np.arange(20), np.linspace(0, 0.5, 379))
    K = spectrum_matrix(lam)
    pairs = top_eigenpairs(K, 5, center=False)
    np.testing.assert_allclose(pairs.lam, np.sort(lam)[:-6:-1], rtol=1e-12)
    assert np.linalg.norm(K @ pairs.A - pairs.A * pairs.lam, axis=0).max() < 1e-12


def test_slow_lanczos_gives_up_and_lapack_takes_over(monkeypatch):
    K = spectrum_matrix(np.linspace(1, 1.0001, 399), center=True)
    assert block_lanczos(K, 5, max_steps=3) is None
    patient = block_lanczos
    monkeypatch.setattr(eigen, "block_lanczos", lambda K, k, center: patient(K, k, center, 2))
    lam = top_eigenpairs(K, 5).lam
    np.testing.assert_allclose(lam, np.linspace(1, 1.0001, 399)[:-6:-1], rtol=1e-12)


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
    assert np.array_equal(half.whole(), K)
    assert np.array_equal(half.diagonal(), K.diagonal())
    assert (half.max(), half.min()) == (K.max(), K.min())
    assert np.allclose(half.row_means(), K.mean(axis=1, dtype=float), rtol=0, atol=1e-14)
    assert (V @ half).dtype == dtype
    assert np.allclose(V @ half, V @ K, rtol=0, atol=tol * np.abs(V @ K).max())
