"""How many components? Rules that choose k, each with its assumptions.

X is n×d, rows are samples, and complete: NaN is refused. Every rule returns an int; what it looks
at has a function of its own, to be drawn. No rule changes its mind when all of X is scaled, or
when a number is added to a column. Data without variance leave nothing to choose, and are refused.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import integrate, optimize

from ._engine.checks import (
    component_count,
    flag,
    fraction,
    generator,
    number,
    row_folds,
    whole_number,
)
from ._engine.factors import rescaled
from ._engine.filling import known_part, nearest_of_rank, settle
from ._engine.likelihoods import log_likelihoods, parameter_counts
from ._engine.progress import with_progress
from ._engine.tables import centred_table, entry_folds, scaled_table
from .ppca import spectrum
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
    "fill_in",
    "choose_k_by_bic",
    "bic_of_each_k",
    "choose_k_by_held_out_likelihood",
    "held_out_log_likelihood",
]

TIE = 1e-9  # numbers that differ by less, relatively, count as equal: rounding decides nothing
EQUAL = 1e-4  # a component that gains less than this part of the variance predicts nothing
STILL = 1e-3  # filled-in values stand still when they change by this part of the spread
STEPS = 500  # as many are tried; a few dozen are usual


# How much may I lose?


def choose_k_by_error(
    X: ArrayLike, max_relative_error: float, *, squared: bool = False, center: bool = True
) -> int:
    """Return the smallest k with ‖X_c − X̂_c‖_F ≤ bound · ‖X_c‖_F :eq:`eq-pca-relative-error`.

    With ``squared=True`` the bound is on the lost share of the variance; with ``center=False``
    the error is about the origin. It assumes nothing about the data, and so can't tell structure
    from noise: it fails where the bound was chosen by habit.

    >>> choose_k_by_error([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 0.35)
    1
    """
    bound = fraction(max_relative_error, "max_relative_error")
    s = centred_table(X, flag(center, "center")).singular_values()
    return choose_rank(s, min(bound * (1 + TIE), 1.0), squared=flag(squared, "squared"))


# Is it more than chance?


def choose_k_by_parallel_analysis(
    X: ArrayLike,
    rng: int | np.random.Generator = 0,
    *,
    repeats: int = 100,
    quantile: float = 0.95,
    progress: bool = False,
) -> int:
    """Count the leading variances above those of shuffled columns :eq:`eq-pca-parallel`.

    It assumes that the rows are independent samples, and lets the noise differ from column to
    column. It fails by caution: a strong first component uses up variance that the shuffled
    tables still have, and weak ones after it are missed.
    """
    quantile, table = fraction(quantile, "quantile"), centred_table(X)
    shuffled = parallel_variances(table.Xc, rng, repeats=repeats, progress=progress)
    threshold = np.quantile(shuffled, quantile, axis=0)
    passed = table.singular_values() ** 2 / len(table.Xc) > threshold * (1 + TIE)
    return int(np.argmin(np.append(passed, False)))  # those before the first that fails


def parallel_variances(
    X: ArrayLike,
    rng: int | np.random.Generator = 0,
    *,
    repeats: int = 100,
    progress: bool = False,
) -> NDArray:
    """Return the variances of data whose columns were shuffled one by one: (repeats, min(n, d)).

    Shuffling keeps each column's distribution and destroys what ties columns together.
    """
    table, rng = centred_table(X), generator(rng)
    rounds = with_progress(range(whole_number(repeats, "repeats", least=1)), progress, "shuffles")
    shuffled = (table._replace(Xc=rng.permuted(table.Xc, axis=0)) for _ in rounds)
    s = np.array([one.singular_values() for one in shuffled])
    return _in_squared_units(s**2 / len(table.Xc), table.unit)


# What would pure noise do?


def choose_k_by_hard_threshold(X: ArrayLike, *, sigma: float | None = None) -> int:
    """Count the singular values of X_c above :func:`hard_threshold`.

    It assumes a matrix of low rank, plus noise that is independent and of one variance in every
    entry, with a finite fourth moment, and n and d large beside the rank. It fails, by keeping
    too many, for heavy tails and where columns have noise of different size, which standardising
    brings about. sigma : the standard deviation of the noise in an entry, if it is known.
    """
    table = centred_table(X)
    sigma = None if sigma is None else _positive(sigma) / table.unit
    return int(np.sum(table.singular_values() > hard_threshold(table.Xc, sigma=sigma)))


def hard_threshold(X: ArrayLike, *, sigma: float | None = None) -> float:
    """Return the threshold τ of Gavish and Donoho: a singular value of X_c below it is noise.

    τ = λ(β) √N σ with known noise :eq:`eq-pca-threshold`, else
    τ = λ(β)/√μ(β) · median(s) :eq:`eq-pca-threshold-unknown`. Centring takes one
    row away: N is the longer side of (n − 1)×d, β ≤ 1 the ratio of its sides.
    """
    table = centred_table(X)
    n, d = table.Xc.shape
    small, large = sorted((n - 1, d))
    factor = hard_threshold_factor(small / large)
    if sigma is not None:
        return float(factor * np.sqrt(large) * _positive(sigma))
    median = np.median(table.singular_values()[:small])
    return float(factor / np.sqrt(marchenko_pastur_median(small / large)) * median * table.unit)


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


# What predicts best?


def choose_k_by_cross_validation(
    X: ArrayLike,
    *,
    max_k: int | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> int:
    """Return the k that predicts held-out *entries* best :eq:`eq-pca-press`.

    Of several that are as good, up to 1e-4 of the variance, it is the smallest. It assumes
    that the noise of an entry tells nothing about that of others, and counts squared errors of
    all columns alike. It fails where neighbouring entries share their noise, as in images and
    series.
    """
    table = centred_table(X)
    errors = held_out_errors(table.Xc, max_k=max_k, folds=folds, rng=rng, progress=progress)
    return int(np.argmax(errors <= errors.min() + EQUAL * errors[0]))


def held_out_errors(
    X: ArrayLike,
    *,
    max_k: int | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> NDArray:
    """Return the mean squared error of predicting entries, for k = 0 … max_k :eq:`eq-pca-press`.

    Every entry is left out once, together with its fold, and predicted by :func:`fill_in`.
    """
    Xc, unit, _ = centred_table(X)
    n, d = Xc.shape
    if d < 2:
        raise ValueError("X has one column: at least two are needed, or nothing predicts an entry.")
    most = min(n, d) - 1
    max_k = most if max_k is None else component_count(max_k, most, f"held-out entries of {n}×{d}")
    fold = entry_folds(n, d, folds, rng)
    errors, filled = np.zeros((folds, max_k + 1)), None
    for f, k in with_progress(list(np.ndindex(errors.shape)), progress, "fits"):
        filled = fill_in(Xc, fold == f, k, start=filled if k else None)  # go on from k − 1
        errors[f, k] = np.sum((filled - Xc) ** 2)
    return _in_squared_units(errors.sum(axis=0) / Xc.size, unit)


def fill_in(X: ArrayLike, unknown: ArrayLike, k: int, *, start: ArrayLike | None = None) -> NDArray:
    """Return X with its unknown entries replaced by what k components make of the others.

    unknown : (n, d), True where X is not to be looked at. Fill with the means of the columns (or
    from the table start), fit, replace the fillings by their reconstructions, and repeat until
    they stand still :eq:`eq-pca-press`.
    """
    known = known_part(X, unknown)
    k = component_count(k, min(known.T.shape), "a {}×{} table".format(*known.T.shape))
    T = known.T.copy()  # the known entries less the means of their columns, zeros elsewhere

    def refill(values: NDArray) -> NDArray:
        T[known.unknown] = values
        mean = T.mean(axis=0)
        return (mean + nearest_of_rank(T - mean, k))[known.unknown]

    first = T[known.unknown] if start is None else known.values(start)
    return known.filled(X, settle(refill, first, STILL, known.spread, STEPS))


# What would make the data likely?


def choose_k_by_bic(X: ArrayLike, *, max_k: int | None = None) -> int:
    """Return the k whose probabilistic PCA has the smallest BIC :eq:`eq-ppca-bic`.

    It assumes Gaussian data with noise of one variance in every column, and many rows for each
    parameter. Where columns differ in noise, it takes each difference for a direction, and k
    grows towards d − 1 with n.
    """
    return int(np.argmin(bic_of_each_k(X, max_k=max_k)))


def bic_of_each_k(X: ArrayLike, *, max_k: int | None = None) -> NDArray:
    """Return −2ℓ + (number of parameters) · log n for k = 0 … max_k :eq:`eq-ppca-bic`.

    ℓ is the largest log-likelihood of X with k directions. No max_k: all k that leave some noise.
    """
    X, unit = scaled_table(X)
    n, d = X.shape
    fit = spectrum(X)  # one SVD serves all k
    logs = log_likelihoods(fit.lam, fit.V, X - fit.mean) - X.size * np.log(unit)
    bics = -2 * logs + parameter_counts(d, logs.size) * np.log(n)
    return bics[: _count(max_k, logs.size)]


def choose_k_by_held_out_likelihood(
    X: ArrayLike,
    *,
    max_k: int | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> int:
    """Return the k that makes held-out rows most likely :eq:`eq-ppca-held-out`.

    It assumes independent rows and, as BIC does, noise of one variance in every column: where
    that is false, k grows with n beyond the directions that columns share. Now and then it takes
    one too many.
    """
    logs = held_out_log_likelihood(X, max_k=max_k, folds=folds, rng=rng, progress=progress)
    return int(np.argmax(logs))


def held_out_log_likelihood(
    X: ArrayLike,
    *,
    max_k: int | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> NDArray:
    """Return the log-likelihood of rows that the fit has not seen, for k = 0 … max_k.

    The rows of X, (n, d), are shuffled into folds; each fold is judged by the model of the
    others, and the sums are added :eq:`eq-ppca-held-out`. No max_k: all k that leave some noise
    in every fold.
    """
    X, unit = scaled_table(X)
    curves = []
    for rows in with_progress(row_folds(len(X), folds, rng), progress, "folds"):
        fit = spectrum(np.delete(X, rows, axis=0))  # one SVD serves all k
        curves.append(log_likelihoods(fit.lam, fit.V, X[rows] - fit.mean))
    count = _count(max_k, min(map(len, curves)))
    return np.sum([curve[:count] for curve in curves], axis=0) - X.size * np.log(unit)


# Helpers


def _count(max_k: int | None, exist: int) -> int:
    """Return how many k there are from 0 to max_k, where ``exist`` of them leave some noise."""
    if exist == 0:
        raise ValueError(
            "When one part of the rows is held out, the others are all the same: they have no "
            "variance. Take more folds, or drop repeated rows."
        )
    if max_k is None:
        return exist
    return component_count(max_k, exist - 1, "data that must keep some noise") + 1


def _positive(sigma: float) -> float:
    return number(sigma, "sigma", 0.0, open_low=True)


def _aspect_ratio(beta: float) -> float:
    return number(beta, "beta", 0.0, 1.0, open_low=True, hint=": the short side over the long one")


def _in_squared_units(values: NDArray, unit: float) -> NDArray:
    return rescaled(rescaled(values, unit), unit)
