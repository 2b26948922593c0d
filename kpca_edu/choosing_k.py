"""How many components? Rules that choose k, each with its assumptions.

Rows of X are samples. Every rule returns an int; what it looks at has a function of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import integrate, linalg, optimize

from ._engine.checks import component_count, data_matrix, fraction, row_folds, whole_number
from ._engine.progress import with_progress
from .pca import _column_means, _fit_by_svd
from .ppca import _complete_matrix, _maximum, _Spectrum, _spectrum
from .svd import choose_rank

__all__ = [
    "choose_k_by_error",
    "choose_k_by_parallel_analysis",
    "parallel_variances",
    "choose_k_by_hard_threshold",
    "hard_threshold",
    "hard_threshold_factor",
    "marchenko_pastur_median",
    "choose_k_by_cross_validation",
    "held_out_errors",
    "choose_k_by_bic",
    "held_out_log_likelihood",
    "choose_k_by_held_out",
]


def choose_k_by_error(
    X: ArrayLike, max_relative_error: float, squared: bool = False, center: bool = True
) -> int:
    """Return the smallest k with ‖X_c − X̂_c‖_F ≤ bound · ‖X_c‖_F :eq:`eq-pca-relative-error`.

    With ``squared=True`` the bound is on the lost share of the variance.

    >>> choose_k_by_error([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 0.35)
    1
    """
    s = _singular_values(data_matrix(X), center)
    return choose_rank(s, max_relative_error, squared)


def choose_k_by_parallel_analysis(
    X: ArrayLike,
    rng: int | np.random.Generator = 0,
    repeats: int = 100,
    quantile: float = 0.95,
    progress: bool = False,
) -> int:
    """Count the leading variances above those of shuffled columns :eq:`eq-pca-parallel`."""
    shuffled = parallel_variances(X, rng, repeats, progress)
    threshold = np.quantile(shuffled, fraction(quantile, "quantile"), axis=0)
    X = data_matrix(X)
    return _leading(_singular_values(X) ** 2 / len(X) > threshold)


def parallel_variances(
    X: ArrayLike,
    rng: int | np.random.Generator = 0,
    repeats: int = 100,
    progress: bool = False,
) -> NDArray:
    """Return the variances of data whose columns were shuffled one by one: (repeats, min(n, d)).

    Shuffling keeps each column's distribution and destroys what ties columns together.
    """
    X = data_matrix(X)
    rng = np.random.default_rng(rng)
    rounds = with_progress(range(whole_number(repeats, "repeats", least=1)), progress)
    shuffled = [_singular_values(rng.permuted(X, axis=0)) for _ in rounds]
    return np.array(shuffled) ** 2 / len(X)


def choose_k_by_hard_threshold(X: ArrayLike, sigma: float | None = None) -> int:
    """Count the singular values of X_c above Gavish and Donoho's threshold.

    sigma : the standard deviation of the noise in an entry, if it is known.
    """
    X = data_matrix(X)
    return int(np.sum(_singular_values(X) > hard_threshold(X, sigma)))


def hard_threshold(X: ArrayLike, sigma: float | None = None) -> float:
    """Return the threshold τ below which a singular value of X_c is noise.

    τ = λ(β) √N σ with known noise :eq:`eq-pca-threshold`, else
    τ = λ(β)/√μ(β) · median(s) :eq:`eq-pca-threshold-unknown`. Centring takes one
    row away: N is the longer side of (n − 1)×d, β ≤ 1 the ratio of its sides.
    """
    X = data_matrix(X)
    n, d = X.shape
    if n < 2:
        raise ValueError("X has one row: at least two are needed to see any noise.")
    small, large = sorted((n - 1, d))
    factor = hard_threshold_factor(small / large)
    if sigma is not None:
        if not isinstance(sigma, Real) or not 0 < sigma < np.inf:
            raise ValueError(f"sigma={sigma!r}: a positive standard deviation is needed.")
        return float(factor * np.sqrt(large) * sigma)
    median = np.median(_singular_values(X)[:small])
    return float(factor / np.sqrt(marchenko_pastur_median(small / large)) * median)


def hard_threshold_factor(beta: float) -> float:
    """Return λ(β), the best threshold in units of √N σ :eq:`eq-pca-lambda`.

    >>> round(hard_threshold_factor(1.0), 6) == round(4 / 3**0.5, 6)
    True
    """
    beta = _aspect_ratio(beta)
    root = np.sqrt(beta**2 + 14 * beta + 1)
    return float(np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + root)))


def marchenko_pastur_median(beta: float) -> float:
    """Return the median μ(β) of noise's squared singular values, over Nσ².

    Half of the density :eq:`eq-pca-marchenko-pastur` lies below it; the density
    is integrated in the angle θ that makes it smooth.

    >>> round(marchenko_pastur_median(1.0), 4)
    0.6528
    """
    beta = _aspect_ratio(beta)

    def value(t: float) -> float:  # 1 + β − 2√β cos t, without cancellation
        return (1 - np.sqrt(beta)) ** 2 + 4 * np.sqrt(beta) * np.sin(t / 2) ** 2

    def density(t: float) -> float:
        return 2 / np.pi * np.sin(t) ** 2 / value(t)

    def excess(theta: float) -> float:
        return integrate.quad(density, 0, theta, epsabs=1e-13)[0] - 0.5

    return float(value(optimize.brentq(excess, 1e-3, np.pi, xtol=1e-13)))


def choose_k_by_cross_validation(
    X: ArrayLike,
    max_k: int | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> int:
    """Return the k that predicts held-out *entries* best :eq:`eq-pca-press`."""
    return int(np.argmin(held_out_errors(X, max_k, folds, rng, progress)))


def held_out_errors(
    X: ArrayLike,
    max_k: int | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> NDArray:
    """Return the mean squared error of predicting entries, for k = 0 … max_k :eq:`eq-pca-press`.

    Every entry is left out once, together with its fold. The model is fitted to the
    others by filling in and refitting until the filled-in values stand still.
    """
    X = data_matrix(X)
    n, d = X.shape
    if min(n, d) < 2:
        raise ValueError(
            f"X is {n}×{d}: at least two rows and two columns are needed, "
            f"or the entries that are left say nothing about the one left out."
        )
    most = min(n, d) - 1
    max_k = most if max_k is None else component_count(max_k, most, f"held-out entries of {n}×{d}")
    fold = _fold_of_each_entry(n, d, folds, rng)
    rounds = with_progress(range(folds), progress)
    return np.sum([_squared_errors(X, fold == f, max_k) for f in rounds], axis=0) / X.size


def choose_k_by_bic(X: ArrayLike) -> int:
    """Return the k whose model has the smallest BIC :eq:`eq-ppca-bic`."""
    X = _complete_matrix(X)
    mean = X.mean(axis=0)
    spectrum = _spectrum(X, mean)
    ks = range(_largest_k(spectrum) + 1)
    bics = [_maximum(mean, spectrum, k).bic(X) for k in ks]
    return int(np.argmin(bics))


def held_out_log_likelihood(
    X: ArrayLike,
    ks: Sequence[int],
    folds: int = 5,
    rng: int | np.random.Generator = 0,
) -> NDArray:
    """Return, for each k, the log-likelihood of rows that the fit has not seen.

    The rows of X, (n, d), are shuffled into folds; each fold is judged by the
    model of the others, and the sums are added :eq:`eq-ppca-held-out`.
    """
    X = _complete_matrix(X)
    n, d = X.shape
    ks = [component_count(k, d, f"a {n}×{d} matrix") for k in ks]
    total = np.zeros(len(ks))
    for held_out in row_folds(n, folds, rng):
        rest = np.delete(X, held_out, axis=0)
        mean = rest.mean(axis=0)
        spectrum = _spectrum(rest, mean)  # one SVD serves all k
        models = (_maximum(mean, spectrum, k) for k in ks)
        total += [model.log_likelihood(X[held_out]) for model in models]
    return total


def choose_k_by_held_out(X: ArrayLike, folds: int = 5, rng: int | np.random.Generator = 0) -> int:
    """Return the k that makes held-out rows most likely :eq:`eq-ppca-held-out`."""
    X = _complete_matrix(X)
    n, d = X.shape
    rows_left = n - -(-n // folds) if 2 <= folds <= n else n
    largest = _largest_k(_spectrum(X, X.mean(axis=0)))
    largest = min(largest, max(rows_left - 2, 0))
    return int(np.argmax(held_out_log_likelihood(X, range(largest + 1), folds, rng)))


def _singular_values(X: NDArray, center: bool = True) -> NDArray:
    """Return all min(n, d) singular values of X_c."""
    return linalg.svdvals(X - _column_means(X) if center else X, check_finite=False)


def _leading(passed: NDArray) -> int:
    """Count the entries before the first False."""
    return int(np.argmin(np.append(passed, False)))


def _fold_of_each_entry(n: int, d: int, folds: int, rng: int | np.random.Generator) -> NDArray:
    """Deal the n·d entries into folds of equal size, at random."""
    if whole_number(folds, "folds", least=1) < 2:
        raise ValueError(f"folds={folds}: at least two are needed.")
    dealt = np.arange(n * d) % folds
    return np.random.default_rng(rng).permutation(dealt).reshape(n, d)


def _squared_errors(X: NDArray, held_out: NDArray, max_k: int) -> NDArray:
    """Return the summed squared errors at the held-out entries, for k = 0 … max_k."""
    known = np.maximum(np.sum(~held_out, axis=0), 1)
    filled = np.where(held_out, np.where(held_out, 0, X).sum(axis=0) / known, X)
    errors = [np.sum((filled - X)[held_out] ** 2)]
    for k in range(1, max_k + 1):
        filled = _fill_in(filled, held_out, k)
        errors.append(np.sum((filled - X)[held_out] ** 2))
    return np.array(errors)


def _fill_in(
    X: NDArray,
    unknown: NDArray,
    k: int,
    max_iter: int = 100,
) -> NDArray:
    """Replace unknown entries by reconstructions until they stand still."""
    tol = 1e-3 * np.std(X)
    for _ in range(max_iter):
        mean = X.mean(axis=0)
        _, V, _ = _fit_by_svd(X, mean, k, None)
        guess = np.where(unknown, mean + (X - mean) @ V @ V.T, X)
        change = np.sqrt(np.mean((guess - X)[unknown] ** 2))
        X = guess
        if change <= tol:
            break
    return X


def _aspect_ratio(beta: float) -> float:
    if not isinstance(beta, Real) or not 0 < beta <= 1:
        raise ValueError(f"beta={beta!r}: the short side over the long one, in (0, 1], is needed.")
    return float(beta)


def _largest_k(spectrum: _Spectrum) -> int:
    """Return the largest k < d that leaves some variance for the noise."""
    return max(spectrum.V.shape[1] - 1, 0)
