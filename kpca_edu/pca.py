"""Principal component analysis: fitting, encoding and decoding (chapter 3).

Rows of X are samples. The mean is subtracted unless ``center=False``; variances are taken with
1/n. Directions are the *columns* of V, scores the columns of Z = X_cV, with X_c = X − mean.

``SOLVERS``, the roads to the directions, with the machine precision ε:

- ``"svd"`` factors X_c and keeps all digits. Dense data only.
- ``"covariance"`` (d×d) and ``"gram"`` (n×n) square the data: an error of about ε s₁² in each s²,
  and directions that turn by ε s₁² over the gap between their s² and the next.
- ``"lanczos"`` iterates with products, for few directions of sparse or very large data: the same
  error in s², and directions right to √ε s₁² over the gap.
- ``"randomized"`` is quick, with an error that depends on how the singular values fall; uses rng.
- ``"auto"`` squares dense data and looks at the result. It takes ``"svd"`` unless the variances
  keep two thirds of their digits and the directions half of theirs. It iterates on sparse data,
  and on data with more than 3,000 rows and columns, if few directions are wanted, without that
  test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ._engine.checks import (
    check_columns,
    check_scores,
    choice,
    column_names,
    data_matrix,
    flag,
    linear_map,
)
from ._engine.memory import room_for
from ._engine.model import Frozen
from ._engine.pca_checks import (
    complete_data,
    complete_table,
    count_or_share,
    finite_means,
    gram_eigenpairs,
    refuse_constant,
    row_vector,
    squares_fit,
)
from ._engine.pca_solvers import (
    Centered,
    Solver,
    by_best,
    by_covariance,
    by_gram,
    by_lanczos,
    by_sampling,
    by_svd,
    leading_triplets,
)
from ._engine.sums import column_means, column_scales, column_sums
from .compare import fix_signs
from .sketching import randomized_svd

__all__ = [
    "PCA",
    "fit_pca",
    "encoder_decoder_loss",
    "center_data",
    "covariance_matrix",
    "standardize",
    "dual_coefficients",
    "centered_operator",
    "SOLVERS",
]

MatrixLike = ArrayLike | sparse.sparray | sparse.spmatrix | LinearOperator
Rng = int | np.random.Generator

SOLVERS: dict[str, Solver] = {
    "svd": by_svd,  # of X_c itself: all digits
    "covariance": by_covariance,  # X_cᵀX_c, d×d, squares the data: an error of ε s₁² in each s²
    "gram": by_gram,  # X_cX_cᵀ, n×n: the same error
    "lanczos": by_lanczos,  # iterates with products, for few directions: the same error
    "randomized": by_sampling(randomized_svd),  # quick; how the s fall decides the error; uses rng
    "auto": by_best,  # squares where that keeps two thirds of the digits, and else "svd"
}


# The model


@dataclass(frozen=True, eq=False, repr=False)
class PCA(Frozen):
    """The k directions of largest variance of a data matrix :eq:`eq-pca-solution`."""

    mean: NDArray  # (d,) the mean that was subtracted; zeros if none was
    V: NDArray  # (d, k) orthonormal directions, the columns; V encodes, Vᵀ decodes
    s: NDArray  # (k,) leading singular values of X_c, falling; zero beyond its rank
    n: int  # the number of samples
    total_variance: float | None = None  # ‖X_c‖²_F/n; None if the s are all there is
    columns: tuple[str, ...] | None = None  # the names of the features, if X had any

    @property
    def k(self) -> int:
        """The number of directions."""
        return self.V.shape[1]

    @property
    def variances(self) -> NDArray:
        """The variance s²/n of each column of scores :eq:`eq-pca-decorrelated`."""
        return self.s.astype(float) ** 2 / self.n

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
        """Return the scores (X − mean) V of any samples :eq:`eq-pca-encode`.

        X : (m, d), dense or sparse; the result is (m, k).
        """
        X = self.as_samples(X)
        if isinstance(X, np.ndarray):
            return (X - self.mean) @ self.V
        return X @ self.V - self.mean @ self.V  # sparse data stay sparse

    def decode(self, Z: ArrayLike) -> NDArray:
        """Return mean + Z Vᵀ, the samples with the scores Z :eq:`eq-pca-decode`."""
        Z = check_scores(Z, self.k, width=self.mean.size)
        return self.mean + Z @ self.V.T

    def reconstruct(self, X: MatrixLike) -> NDArray:
        """Decode the codes of X: the nearest points of the fitted plane :eq:`eq-pca-decode`."""
        return self.decode(self.encode(X))

    def whiten(self, X: MatrixLike) -> NDArray:
        """Return scores scaled to variance one :eq:`eq-pca-whiten`."""
        if np.any(self.s == 0):
            first = int(np.argmax(self.s == 0)) + 1
            raise ValueError(
                f"Component {first} has zero variance and can't be scaled to variance one: "
                f"fit with at most k={first - 1} components before whitening."
            )
        return self.encode(X) / np.sqrt(self.variances)

    def as_samples(self, X: MatrixLike) -> NDArray | sparse.csr_array | LinearOperator:
        """Return X as a matrix with the features that the model was fitted on, or say why not."""
        samples = complete_data(X)
        check_columns(X, self.mean.size, self.columns)
        return samples

    def __repr__(self) -> str:
        share = f", {100 * np.sum(self.explained_ratio):.3g} % of the variance"
        share = share if self.total_variance else ""
        return f"PCA(k={self.k} of d={self.mean.size}, n={self.n}{share})"


# The fit


def fit_pca(
    X: MatrixLike,
    k: float | None = None,
    *,
    center: bool = True,
    solver: str = "auto",
    rng: Rng = 0,
    progress: bool = False,
) -> PCA:
    """Find k directions of largest variance of the rows of X :eq:`eq-pca-solution`.

    X : (n, d), dense, sparse or a LinearOperator; the last two are never made
    dense. k : a number, a share of the variance such as 0.9, or None for all
    that have variance; beyond the rank s = 0. solver : see ``SOLVERS``;
    "auto" squares the data where that keeps enough digits :eq:`eq-pca-digits`.
    progress=True shows a bar while a solver iterates.
    """
    names, X = column_names(X), linear_map(X, check_finite=False)
    solve, k = SOLVERS[choice(solver, "solver", SOLVERS)], count_or_share(k, X)
    mean = finite_means(X) if flag(center, "center") else 0 * finite_means(X)
    X_c = centered_operator(X, mean)  # X − 1 meanᵀ
    s, V, total = leading_triplets(X_c, k, solve, rng, progress)  # X_c = U diag(s) Vᵀ
    n = X.shape[0]
    return PCA(mean, fix_signs(V)[0], s, n, total / n, names)


# The steps


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
    return float(np.sum((squares_fit(X) - (X @ E) @ D) ** 2))


def center_data(X: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return X_c = X − 1 meanᵀ and the mean of the rows :eq:`eq-pca-center`.

    >>> center_data([[1.0, 5.0], [3.0, 5.0]])[0]
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = complete_table(X)
    way_out = "centered_operator(X) does without it."
    room_for(len(X), X.shape[1], "A centred copy of X", way_out, X.dtype)
    mean = column_means(X)
    return X - mean, mean


def covariance_matrix(X: ArrayLike) -> NDArray:
    """Return C = X_cᵀX_c/n :eq:`eq-pca-covariance`, with 1/n and not 1/(n − 1).

    >>> covariance_matrix([[1.0, 5.0], [3.0, 5.0]])
    array([[1., 0.],
           [0., 0.]])
    """
    X_c, _ = center_data(X)
    n, d = X_c.shape
    room_for(d, d, "The covariance matrix", "fit_pca(X, k) works without it.")
    return squares_fit(X_c).T @ X_c / n


def standardize(X: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Return X with each column at mean 0 and variance 1, the means and the scales.

    PCA of the result is PCA of the correlation matrix :eq:`eq-pca-correlation`.
    A constant column has no scale and is refused.
    """
    X_c, mean = center_data(X)
    scale = column_scales(X_c)
    refuse_constant(scale, mean, column_names(X))
    return X_c / scale, mean, scale


def dual_coefficients(K: ArrayLike, k: int) -> tuple[NDArray, NDArray]:
    """Return α : (n, k) and lam : (k,) from the Gram matrix K = X_cX_cᵀ.

    K a = lam a with unit a :eq:`eq-pca-dual`, then α = a/√lam :eq:`eq-pca-alpha`,
    so that the directions X_cᵀα have length one. Where lam = 0, α is zero.
    """
    lam, a = gram_eigenpairs(K, k)
    return a / np.sqrt(np.where(lam > 0, lam, np.inf)), lam


def centered_operator(X: MatrixLike, mean: ArrayLike | None = None) -> Centered:
    """Return X_c = X − 1 meanᵀ as an operator, without forming it :eq:`eq-pca-implicit`.

    X : (n, d), dense, sparse or itself a LinearOperator. The mean is that of
    the rows unless it is given.
    """
    X = linear_map(X, check_finite=mean is None)
    mean = column_means(X) if mean is None else row_vector(mean, X.shape[1], "mean")

    def times(B: NDArray) -> NDArray:
        return X @ B - mean @ B  # X_cB = XB − 1(meanᵀB)

    def transpose_times(Y: NDArray) -> NDArray:
        return X.T @ Y - np.outer(mean, column_sums(Y))  # X_cᵀY = XᵀY − mean(1ᵀY)

    return Centered(X, mean, times, transpose_times)
