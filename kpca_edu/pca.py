"""Principal component analysis: fitting, encoding, decoding and choosing k (chapter 3).

Rows of X are samples. The mean is subtracted unless ``center=False``; variances are taken with
1/n. Directions are the *columns* of V, scores are the columns of Z = (X − 1x̄ᵀ) V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse
from scipy.linalg.blas import get_blas_funcs
from scipy.sparse.linalg import LinearOperator, eigsh

from ._engine.checks import component_count, data_matrix, linear_map
from .compare import fix_signs
from .sketching import randomized_svd

__all__ = [
    "PCA",
    "fit_pca",
    "center_data",
    "standardize",
    "covariance_matrix",
    "encoder_decoder_loss",
    "dual_coefficients",
    "centered_operator",
]

MatrixLike = ArrayLike | sparse.sparray | sparse.spmatrix | LinearOperator
Fit = tuple[NDArray, NDArray, float]  # s (k,), V (d, k) and ‖X_c‖²_F


# The model


@dataclass(frozen=True, eq=False)
class PCA:
    """The k directions of largest variance of a data matrix :eq:`eq-pca-solution`."""

    mean: NDArray  # (d,) the mean x̄ that was subtracted; zeros if none was
    V: NDArray  # (d, k) orthonormal directions, the columns; V encodes, Vᵀ decodes
    s: NDArray  # (k,) leading singular values of X_c, falling; zero beyond its rank
    n: int  # the number of samples
    total_variance: float | None = None  # ‖X_c‖²_F/n; None if the s are all there is

    @property
    def variances(self) -> NDArray:
        """The variance s²/n of each column of scores :eq:`eq-pca-decorrelated`."""
        return self.s**2 / self.n

    @property
    def explained_ratio(self) -> NDArray:
        """The share of the total variance in each direction :eq:`eq-pca-share`."""
        total = self.total_variance
        if total is None:
            total = float(np.sum(self.variances))
        return self.variances / (total or 1.0)

    @property
    def loadings(self) -> NDArray:
        """V with each column times its standard deviation :eq:`eq-pca-loadings`."""
        return self.V * np.sqrt(self.variances)

    def encode(self, X: MatrixLike) -> NDArray:
        """Return the scores (X − 1x̄ᵀ) V of any samples :eq:`eq-pca-encode`.

        X : (m, d), dense or sparse; the result is (m, k).
        """
        X = self._samples(X)
        if isinstance(X, np.ndarray):
            return (X - self.mean) @ self.V
        return X @ self.V - self.mean @ self.V

    def decode(self, Z: ArrayLike) -> NDArray:
        """Return 1x̄ᵀ + Z Vᵀ, the samples with the scores Z :eq:`eq-pca-decode`."""
        Z = data_matrix(Z, "Z")
        if Z.shape[1] != self.V.shape[1]:
            raise ValueError(
                f"Z has {Z.shape[1]} columns and the model {self.s.size} "
                f"components: a column of scores for each is needed."
            )
        return self.mean + Z @ self.V.T

    def reconstruct(self, X: MatrixLike) -> NDArray:
        """Decode the codes of X: the nearest points of the fitted plane :eq:`eq-pca-decode`."""
        return self.decode(self.encode(X)) if self.s.size else self._mean_rows(X)

    def whiten(self, X: MatrixLike) -> NDArray:
        """Return scores scaled to variance one :eq:`eq-pca-whiten`."""
        if np.any(self.s == 0):
            first = int(np.argmax(self.s == 0)) + 1
            raise ValueError(
                f"Component {first} has zero variance and can't be scaled to variance one: "
                f"fit with at most k={first - 1} components before whitening."
            )
        return self.encode(X) / np.sqrt(self.variances)

    def _samples(self, X: MatrixLike) -> NDArray | sparse.csr_array | LinearOperator:
        X = linear_map(X)
        if X.shape[1] != self.mean.size:
            raise ValueError(
                f"X has {X.shape[1]} columns and the model was fitted on {self.mean.size}: "
                f"new samples need the same features in the same order."
            )
        return X

    def _mean_rows(self, X: MatrixLike) -> NDArray:
        return np.tile(self.mean, (self._samples(X).shape[0], 1))


# The fit


def fit_pca(
    X: MatrixLike,
    k: int | None = None,
    center: bool = True,
    solver: str = "auto",
    rng: int | np.random.Generator = 0,
) -> PCA:
    """Find k directions of largest variance of the rows of X :eq:`eq-pca-solution`.

    X : (n, d), dense, sparse or a LinearOperator; the last two are centred
    implicitly and never made dense. k=None keeps all directions of positive
    variance. Directions beyond the rank have s = 0 and are arbitrary.

    solver: "svd" keeps all digits. "covariance" (d×d :eq:`eq-pca-eigen`) and
    "gram" (n×n :eq:`eq-pca-dual`) square the data: an error of about ε s₁² in
    each s². "arpack" iterates to the same digits, for small k. "randomized" is
    quick, with an error that depends on how the singular values fall; rng is
    used here, and for the start of "arpack". "auto" squares if that keeps two
    thirds of the digits :eq:`eq-pca-digits`, and else takes "svd".
    """
    X = linear_map(X, check_finite=False)
    n, d = X.shape
    if k is not None:
        k = component_count(k, min(n, d), f"a {n}×{d} matrix")
    mean = _column_means(X)
    if not np.isfinite(mean).all():  # only then can X hold NaN or infinity
        linear_map(X)
    mean = mean if center else np.zeros_like(mean)
    s, V, scatter = _solver(solver, X, k)(X, mean, k, rng)
    if not np.isfinite(scatter):
        raise ValueError(
            "The entries of X are so large that their squares overflow: "
            "divide X by its largest entry first."
        )
    rounding = 8 * np.finfo(s.dtype).eps * np.sqrt(n) * linalg.norm(mean)  # of the centring
    s = np.where((s > rounding) & (scatter > rounding**2), s, 0)
    s, V = (s[s > 0], V[:, s > 0]) if k is None else _pad_directions(s, V, k)
    return PCA(mean, fix_signs(V)[0], s, n, scatter / n)


# The steps


def center_data(X: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return X_c = X − 1x̄ᵀ and the mean x̄ of the rows :eq:`eq-pca-center`.

    >>> center_data([[1.0, 5.0], [3.0, 5.0]])[0]
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = data_matrix(X)
    mean = _column_means(X)
    return X - mean, mean


def standardize(X: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Return X with each column at mean 0 and variance 1, the means and the scales.

    PCA of the result is PCA of the correlation matrix :eq:`eq-pca-correlation`.
    A constant column has no scale and is refused.
    """
    Xc, mean = center_data(X)
    scale = np.sqrt(np.mean(Xc**2, axis=0))
    constant = scale <= 8 * np.finfo(Xc.dtype).eps * np.abs(mean)
    if constant.any():
        raise ValueError(
            f"Column {int(np.argmax(constant))} is constant: it has zero variance and can't be "
            f"scaled to variance one. Drop constant columns first."
        )
    return Xc / scale, mean, scale


def covariance_matrix(X: ArrayLike) -> NDArray:
    """Return C = X_cᵀX_c/n :eq:`eq-pca-covariance`, with 1/n and not 1/(n − 1).

    >>> covariance_matrix([[1.0, 5.0], [3.0, 5.0]])
    array([[1., 0.],
           [0., 0.]])
    """
    Xc, _ = center_data(X)
    return Xc.T @ Xc / Xc.shape[0]


def encoder_decoder_loss(X: ArrayLike, E: ArrayLike, D: ArrayLike) -> float:
    """Return ‖X − XED‖²_F, what encoding by E and decoding by D loses :eq:`eq-pca-loss`.

    X : (n, d), E : (d, k), D : (k, d).
    """
    X, E, D = data_matrix(X), data_matrix(E, "E"), data_matrix(D, "D")
    if E.shape[0] != X.shape[1] or D.shape != E.shape[::-1]:
        raise ValueError(
            f"X {X.shape}, E {E.shape} and D {D.shape} don't fit: for X with d columns, "
            f"E needs shape (d, k) and D shape (k, d)."
        )
    return float(np.sum((X - (X @ E) @ D) ** 2))


def dual_coefficients(K: ArrayLike, k: int) -> tuple[NDArray, NDArray]:
    """Return α : (n, k) and λ̃ : (k,) from the Gram matrix K = X_cX_cᵀ.

    K a = λ̃ a with unit a :eq:`eq-pca-dual`, then α = a/√λ̃ :eq:`eq-pca-alpha`,
    so that the directions X_cᵀα have length one. Where λ̃ = 0, α is zero.
    """
    K = data_matrix(K, "K")
    n = K.shape[0]
    small = 1e-8 * np.abs(K).max()
    if K.shape != (n, n) or not np.allclose(K, K.T, rtol=0, atol=small):
        raise ValueError(
            f"K with shape {K.shape} is no Gram matrix: it must be square and "
            f"symmetric. For centred data form it as Xc @ Xc.T."
        )
    k = component_count(k, n, f"a {n}×{n} Gram matrix")
    lam, a = _top_eigenpairs(K, k)
    return a / np.sqrt(np.where(lam > 0, lam, np.inf)), lam


def centered_operator(
    X: MatrixLike,
    mean: ArrayLike | None = None,
) -> LinearOperator:
    """Return X − 1x̄ᵀ as an operator, without forming it :eq:`eq-pca-implicit`.

    X : (n, d), dense, sparse or itself a LinearOperator. The mean is that of
    the rows unless it is given.
    """
    X = linear_map(X)
    mean = _column_means(X) if mean is None else np.asarray(mean)
    Xt = X.T

    def product(B: NDArray) -> NDArray:  # X_c B = XB − 1(x̄ᵀB)
        return X @ B - mean @ B

    def transposed(Y: NDArray) -> NDArray:  # X_cᵀY = XᵀY − x̄(1ᵀY)
        return Xt @ Y - np.multiply.outer(mean, Y.sum(axis=0))

    both = {"matmat": product, "rmatmat": transposed}
    return LinearOperator(X.shape, product, transposed, dtype=X.dtype, **both)


# The solvers: each takes X (n, d), the mean, k (None: all) and rng, and gives s, V and ‖X_c‖²_F


def _fit_by_svd(X: NDArray, mean: NDArray, k: int | None, rng: object) -> Fit:
    """Take the SVD of X_c, through QR so that U is never formed."""
    Xc = X - mean
    if Xc.shape[0] >= Xc.shape[1]:
        R = np.linalg.qr(Xc, mode="r")  # X_c = QR: the same s and V as R
        _, s, Vt = linalg.svd(R, check_finite=False)
        V = Vt.T
    else:
        Q, R = linalg.qr(Xc.T, mode="economic", check_finite=False)
        W, s, _ = linalg.svd(R, check_finite=False)  # X_cᵀ = QR, R = W S Uᵀ
        V = Q @ W
    scatter = float(np.sum(s.astype(float) ** 2))
    s = np.where(s > max(Xc.shape) * np.finfo(s.dtype).eps * s[0], s, 0)
    return s[:k], V[:, :k], scatter


def _fit_by_covariance(X: MatrixLike, mean: NDArray, k: int | None, rng: object) -> Fit:
    """Take the eigenvectors of the d×d matrix X_cᵀX_c."""
    scatter = _scatter_matrix(X, mean)
    lam, V = _top_eigenpairs(scatter, min(X.shape) if k is None else k, max(X.shape))
    return np.sqrt(lam), V, float(np.trace(scatter))


def _fit_by_gram(X: MatrixLike, mean: NDArray, k: int | None, rng: object) -> Fit:
    """Take the eigenvectors a of X_cX_cᵀ and combine rows: v = X_cᵀa/√λ̃."""
    if isinstance(X, np.ndarray):
        Xc = X - mean
        K = Xc @ Xc.T
    else:
        Xc = centered_operator(X, mean)
        K = _product_with_transpose(Xc)
    lam, a = _top_eigenpairs(K, min(X.shape) if k is None else k, max(X.shape))
    V = Xc.T @ (a / np.sqrt(np.where(lam > 0, lam, np.inf)))
    return np.sqrt(lam), V, float(np.trace(K))


def _fit_by_arpack(X: MatrixLike, mean: NDArray, k: int | None, rng: object) -> Fit:
    """Run Lanczos on the smaller Gram matrix, which is never formed."""
    small, scatter = min(X.shape), _sum_of_squares(X, mean)
    if k is None or k >= small - 1 or scatter == 0:
        solve = _fit_by_covariance if X.shape[1] <= X.shape[0] else _fit_by_gram
        return solve(X, mean, k, rng)
    A = centered_operator(X, mean)
    A = A if X.shape[1] == small else A.T
    gram = LinearOperator((small, small), lambda v: A.rmatvec(A.matvec(v)), dtype=X.dtype)
    start = np.random.default_rng(rng).standard_normal(small).astype(X.dtype)
    tol = np.finfo(X.dtype).eps ** (2 / 3)
    _, W = eigsh(gram, k, v0=start, ncv=min(small, 2 * k + 16), tol=tol)
    image = A @ W
    if A.shape[1] == X.shape[1]:
        _, s, Rt = linalg.svd(np.linalg.qr(image, mode="r"))  # turns W and measures s
        V = W @ Rt.T
    else:
        V, s, _ = linalg.svd(image, full_matrices=False)
    s = np.where(s > np.sqrt(max(X.shape) * np.finfo(X.dtype).eps) * s[0], s, 0)
    return s, V, scatter


def _fit_by_randomized(X: MatrixLike, mean: NDArray, k: int | None, rng: object) -> Fit:
    """Let random vectors find the leading directions of the centred operator."""
    k = min(X.shape) if k is None else k
    svd = randomized_svd(centered_operator(X, mean), k, n_iter=7, rng=rng)
    return svd.s, svd.V, _sum_of_squares(X, mean)


def _fit_nothing(X: MatrixLike, mean: NDArray, k: int, rng: object) -> Fit:
    """Keep the mean alone: k = 0."""
    return np.zeros(0, X.dtype), np.zeros((X.shape[1], 0), X.dtype), _sum_of_squares(X, mean)


def _fit_by_best(
    X: MatrixLike,
    mean: NDArray,
    k: int | None,
    rng: object,
) -> Fit:
    """Choose by shape; keep a squared solution only if s_k ≥ ε^(1/6) s₁."""
    n, d = X.shape
    squared = _fit_by_covariance if d <= n else _fit_by_gram
    few = k is not None and 20 * k <= min(n, d)
    if not isinstance(X, np.ndarray):
        return (_fit_by_arpack if few else squared)(X, mean, k, rng)
    if few and min(n, d) > 3000:
        return _fit_by_arpack(X, mean, k, rng)
    if k is not None:
        s, V, scatter = squared(X, mean, k, rng)
        if s[-1] >= np.finfo(X.dtype).eps ** (1 / 6) * s[0] > 0:
            return s, V, scatter
    return _fit_by_svd(X, mean, k, rng)


SOLVERS = {
    "auto": _fit_by_best,
    "svd": _fit_by_svd,
    "covariance": _fit_by_covariance,
    "gram": _fit_by_gram,
    "arpack": _fit_by_arpack,
    "randomized": _fit_by_randomized,
}


# The helpers


def _column_means(X: NDArray | sparse.csr_array | LinearOperator) -> NDArray:
    """Return x̄ᵀ = 1ᵀX/n, of a dense X in blocks to keep the digits."""
    n = X.shape[0]
    if not isinstance(X, np.ndarray):
        return (X.T @ np.ones(n, X.dtype)) / X.dtype.type(n)
    ones = np.ones(256, X.dtype)
    blocks = (X[start : start + 256] for start in range(0, n, 256))
    sums = [ones[: len(block)] @ block for block in blocks]
    return (np.sum(sums, axis=0, dtype=np.result_type(X, float)) / n).astype(X.dtype)


def _solver(name: str, X: object, k: int | None) -> Callable[..., Fit]:
    if name not in SOLVERS:
        known = ", ".join(f'"{known}"' for known in SOLVERS)
        raise ValueError(f"solver={name!r}: choose one of {known}.")
    if name == "svd" and not isinstance(X, np.ndarray):
        raise ValueError(
            'solver="svd" works on dense arrays, and X is sparse or a LinearOperator: '
            'choose "auto" or "arpack", which never make it dense.'
        )
    return _fit_nothing if k == 0 else SOLVERS[name]


def _top_eigenpairs(A: NDArray, k: int, size: int | None = None) -> tuple[NDArray, NDArray]:
    """Return the k largest eigenvalues, rounding noise set to zero, and unit eigenvectors.

    Only the lower half of A is read.
    """
    order = A.shape[0]
    k_found = min(k, order)
    if k_found == 0 or not np.isfinite(np.trace(A)):
        return np.zeros(k_found, A.dtype), np.zeros((order, k_found), A.dtype)
    wanted = [order - k_found, order - 1]
    lam, W = linalg.eigh(A, subset_by_index=wanted, check_finite=False)
    lam, W = lam[::-1], W[:, ::-1]  # largest first
    noise = (size or order) * np.finfo(A.dtype).eps * max(lam[0], 0)
    return np.where(lam > noise, lam, 0), W


def _scatter_matrix(X: MatrixLike, mean: NDArray) -> NDArray:
    """Return X_cᵀX_c, of a dense X in blocks of rows; only the lower half is filled."""
    if not isinstance(X, np.ndarray):
        return _product_with_transpose(centered_operator(X, mean).T)
    n, d = X.shape
    rows = max(16, 2**16 // d)  # a block fits into the cache
    (syrk,) = get_blas_funcs(["syrk"], [X])
    total = np.zeros((d, d), X.dtype, order="F")
    room = np.empty((rows, d), X.dtype)
    for start in range(0, n, rows):
        block = np.subtract(X[start : start + rows], mean, out=room[: n - start])
        total = syrk(1, block.T, beta=1, c=total, overwrite_c=1, lower=1)
    return total


def _product_with_transpose(A: LinearOperator, columns: int = 64) -> NDArray:
    """Return AAᵀ by applying the operator to a few unit vectors at a time."""
    m = A.shape[0]
    blocks = [
        A @ (A.T @ np.eye(m, min(columns, m - start), -start, dtype=A.dtype))
        for start in range(0, m, columns)
    ]
    product = np.hstack(blocks)
    return (product + product.T) / 2


def _sum_of_squares(X: MatrixLike, mean: NDArray) -> float:
    """Return ‖X − 1x̄ᵀ‖²_F, added up without forming the difference and without cancellation."""
    n, d = X.shape
    if sparse.issparse(X):
        stored = np.bincount(X.indices, minlength=d)  # the other n − stored entries are 0 − x̄ⱼ
        gaps = X.data - mean[X.indices]
        return float(gaps @ gaps + (n - stored) @ mean**2)
    if isinstance(X, np.ndarray):
        rows = max(1, 2**16 // d)
        blocks = (X[start : start + rows] - mean for start in range(0, n, rows))
        return float(sum(np.vdot(block, block) for block in blocks))
    A = centered_operator(X, mean)
    A = A if d <= n else A.T
    m = A.shape[1]
    units = (np.eye(m, min(64, m - start), -start, dtype=A.dtype) for start in range(0, m, 64))
    return float(sum(np.sum((A @ block) ** 2) for block in units))


def _pad_directions(s: NDArray, V: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Complete the directions of positive s by arbitrary orthonormal ones with s = 0."""
    r = int(np.sum(s > 0))
    if r == k:
        return s, V
    V, rng = V[:, :r], np.random.default_rng(0)
    extra = rng.standard_normal((V.shape[0], k - r)).astype(V.dtype)
    for _ in range(2):  # the second round removes what rounding left of the first
        extra, _ = np.linalg.qr(extra - V @ (V.T @ extra))
    return np.append(s[:r], np.zeros(k - r, s.dtype)), np.column_stack([V, extra])
