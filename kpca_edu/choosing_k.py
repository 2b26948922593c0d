"""How many components? Rules that choose k, each with its assumptions, and how sure one can be.

X is n×d, rows are samples, and complete: NaN is refused. Every rule returns an int; what it looks
at has a function of its own, to be drawn. No rule changes its mind when all of X is scaled, or
when a number is added to a column. Data without variance leave nothing to choose, and are refused.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import choice, component_count, flag, fraction, generator, whole_number
from ._engine.choices import (
    at_a_time,
    components_of_table,
    in_squared_units,
    largest_k,
    of_drawn,
    over_folds,
    rows_and_axes,
    squared_lacks,
    tried,
    two_columns,
)
from ._engine.factors import numpy_svd
from ._engine.filling import known_part, nearest_of_rank, settle
from ._engine.likelihoods import judged, parameter_counts
from ._engine.noise import aspect_ratio, median_of_noise, noise_size, seen_sizes, sides
from ._engine.pca_solvers import leading_of_many
from ._engine.progress import with_progress
from ._engine.tables import centred_table, complete_table, entry_folds, scaled_table
from .compare import align_signs
from .pca import Rng, fit_pca, standardize
from .ppca import spectrum
from .svd import choose_rank

__all__ = [
    "choose_k_by_error",
    "choose_k_by_parallel_analysis",
    "parallel_variances",
    "choose_k_by_hard_threshold",
    "hard_threshold",
    "hard_threshold_factor",
    "noise_level",
    "marchenko_pastur_median",
    "shrink_singular_values",
    "optimal_shrinkage",
    "choose_k_by_cross_validation",
    "held_out_row_errors",
    "held_out_residuals",
    "held_out_errors",
    "fill_in",
    "choose_k_by_bic",
    "bic_of_each_k",
    "choose_k_by_held_out_likelihood",
    "held_out_log_likelihood",
    "bootstrap_pca",
    "Resampled",
]

TIE = 1e-9  # numbers that differ by less, relatively, count as equal: rounding decides nothing
EQUAL = 1e-4  # a component that gains less than this part of the variance predicts nothing
ALONE = 1e-9  # an entry whose leverage is this close to one can't be told by the rest of its row


# How much may I lose?


def choose_k_by_error(
    X: ArrayLike, max_relative_error: float, *, squared: bool = False, center: bool = True
) -> int:
    """Return the smallest k with ‖X_c − X̂_c‖_F ≤ bound · ‖X_c‖_F :eq:`eq-pca-relative-error`.

    With ``squared=True`` the bound is on the lost share of the variance, with ``center=False`` the
    error is about the origin. It assumes nothing, and so can't tell structure from noise.

    >>> choose_k_by_error([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 0.35)
    1
    """
    bound = fraction(max_relative_error, "max_relative_error")
    s = centred_table(X, flag(center, "center")).singular_values()
    return choose_rank(s, min(bound * (1 + TIE), 1.0), squared=flag(squared, "squared"))


# Is it more than chance?


def choose_k_by_parallel_analysis(
    X: ArrayLike,
    rng: Rng = 0,
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
    X: ArrayLike, rng: Rng = 0, *, repeats: int = 100, progress: bool = False
) -> NDArray:
    """Return the variances of data whose columns were shuffled one by one: (repeats, min(n, d)).

    Shuffling keeps each column's distribution and destroys what ties columns together.
    """
    table, rng, repeats = (
        centred_table(X),
        generator(rng),
        whole_number(repeats, "repeats", least=1),
    )
    s: list[NDArray] = []
    runs = at_a_time(repeats, table.Xc.size, min(table.Xc.shape))
    for some in with_progress(runs, progress, "shuffles"):
        shuffled = np.array([rng.permuted(table.Xc, axis=0) for _ in some])
        s.extend(table._replace(Xc=shuffled).singular_values())
    return in_squared_units(np.square(s) / len(table.Xc), table.unit)


# What would pure noise do?


def choose_k_by_hard_threshold(X: ArrayLike, *, sigma: float | None = None) -> int:
    """Count the singular values of X_c above :func:`hard_threshold`.

    It assumes a matrix of low rank, plus noise that is independent and of one variance in every
    entry, with a finite fourth moment, and n and d large beside the rank. It fails, by keeping
    too many, for heavy tails and where columns have noise of different size, which standardising
    brings about. sigma : the standard deviation of the noise in an entry, if known.
    """
    table = centred_table(X)
    sigma = None if sigma is None else noise_size(sigma) / table.unit
    return int(np.sum(table.singular_values() > hard_threshold(table.Xc, sigma=sigma)))


def hard_threshold(X: ArrayLike, *, sigma: float | None = None) -> float:
    """Return the threshold τ of Gavish and Donoho: singular values of X_c below it are dropped.

    τ = τ_β √N σ with known noise :eq:`eq-pca-threshold`, else with the σ̂ of :func:`noise_level`
    :eq:`eq-pca-threshold-unknown`. N is the longer side of (n − 1)×d, since centring takes a row
    away, and β ≤ 1 the ratio of its sides. Keeping less would bring in more noise than it is worth.
    """
    table = centred_table(X)
    small, large = sides(table)
    sigma = noise_level(X) if sigma is None else noise_size(sigma)
    return float(hard_threshold_factor(small / large) * np.sqrt(large) * sigma)


def hard_threshold_factor(beta: float) -> float:
    """Return τ_β, the best threshold in units of √N σ :eq:`eq-pca-lambda`.

    >>> round(hard_threshold_factor(1.0), 6) == round(4 / 3**0.5, 6)
    True
    """
    beta = aspect_ratio(beta)
    root = np.sqrt(beta**2 + 14 * beta + 1)
    return float(np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + root)))


def noise_level(X: ArrayLike) -> float:
    """Return σ̂, the standard deviation of the noise in an entry, from the median of the s.

    Most singular values are noise if the rank is low, and the median of noise is known
    :eq:`eq-k-noise-level`. Where the rank is not low, σ̂ is too large.
    """
    table = centred_table(X)
    small, large = sides(table)
    median = np.median(table.singular_values()[:small])
    return float(median / np.sqrt(large * marchenko_pastur_median(small / large)) * table.unit)


def marchenko_pastur_median(beta: float) -> float:
    """Return the median m_β of noise's squared singular values, over Nσ².

    Half of the density :eq:`eq-pca-marchenko-pastur` lies below it.

    >>> round(marchenko_pastur_median(1.0), 4)
    0.6528
    """
    return median_of_noise(aspect_ratio(beta))


# Keep a part of each


def shrink_singular_values(X: ArrayLike, *, sigma: float | None = None) -> NDArray:
    """Return X, (n, d), with less noise: the singular values of X_c are shrunk, none is cut.

    Each becomes what loses least on average :eq:`eq-k-shrinker`; those that noise alone can have
    become zero. It assumes what :func:`choose_k_by_hard_threshold` assumes; sigma as there.
    """
    X, table = complete_table(X), centred_table(X)
    small, large = sides(table)
    sigma = noise_level(X) if sigma is None else noise_size(sigma)
    U, s, V = numpy_svd(table.Xc)
    s = optimal_shrinkage(s, small / large, unit=np.sqrt(large) * sigma / table.unit)
    return X - table.unit * (table.Xc - (U * s) @ V.T)


def optimal_shrinkage(s: ArrayLike, beta: float, *, unit: float = 1.0) -> NDArray:
    """Return η(s), the best size for singular values s seen through noise :eq:`eq-k-shrinker`.

    unit : √N σ. Up to the edge of noise, 1 + √β units, the best size is zero.

    >>> optimal_shrinkage([1.9, 2.5, 10.0], 1.0).round(3)
    array([0.   , 1.5  , 9.798])
    """
    s, beta, unit = seen_sizes(s, beta, unit)
    low, edge = (1 - np.sqrt(beta)) * unit, (1 + np.sqrt(beta)) * unit  # √a and √b
    y = np.maximum(s, edge)  # where s is less, the second root is zero
    size = np.where(y > 0, y, 1.0)
    return y * np.sqrt(1 - (low / size) ** 2) * np.sqrt(1 - (edge / size) ** 2)


# What predicts best?


def choose_k_by_cross_validation(
    X: ArrayLike,
    *,
    leave: str = "entries",
    max_k: int | None = None,
    folds: int = 5,
    rng: Rng = 0,
    progress: bool = False,
) -> int:
    """Return the k that predicts what was held out best.

    leave : "entries" spread over the table :eq:`eq-pca-press`, or "rows", each entry of which is
    predicted from the rest of its row :eq:`eq-k-leverage`. Of several k that are as good, up to
    1e-4 of the variance, it is the smallest. Entries take folds · (max_k + 1) fillings of the
    table: give max_k where it has more than some hundred rows and columns. It assumes that the
    noise of an entry tells nothing about that of others, and counts squared errors of all columns
    alike. It fails where neighbouring entries share their noise, as in images and series.
    """
    table = centred_table(X)
    by_rows = choice(leave, "leave", ("entries", "rows")) == "rows"
    held_out = held_out_row_errors if by_rows else held_out_errors
    errors = held_out(table.Xc, max_k=max_k, folds=folds, rng=rng, progress=progress)
    return int(np.argmax(errors <= errors.min() + EQUAL * errors[0]))


def held_out_row_errors(
    X: ArrayLike, *, max_k: int | None = None, folds: int = 5, rng: Rng = 0, progress: bool = False
) -> NDArray:
    """Return the mean squared error of telling entries of new rows, for k = 0 … max_k.

    Each row is held out once, with its fold; the directions are those of the other folds, and an
    entry is told from the rest of its row as :func:`held_out_residuals` does.
    """
    Xc, unit = two_columns(X)

    def curve(rest: NDArray, left_out: NDArray) -> NDArray:
        fit = spectrum(rest)  # one SVD serves all k
        ks = tried(max_k, min(fit.V.shape[1], Xc.shape[1] - 1))
        return squared_lacks(left_out - fit.mean, fit.V[:, : ks[-1]], ALONE)

    errors = over_folds(Xc, folds, rng, progress, curve)
    largest_k(max_k, errors.size - 1, "the rows left in")  # refuses what is none
    return in_squared_units(errors / Xc.size, unit)


def held_out_residuals(Y: ArrayLike, V: ArrayLike) -> NDArray:
    """Return what each entry of Y lacks when it is told from the rest of its row: (m, d).

    Y : (m, d), rows less the mean of the fit; V : (d, k), orthonormal columns. Dividing by
    1 − leverage takes away what the code has seen of the entry itself :eq:`eq-k-leverage`. Where
    the leverage is one, the rest tells nothing, and the entry itself is what it lacks.
    """
    Y, V = rows_and_axes(Y, V)
    leverage = np.sum(V**2, axis=1)  # h_j, the squared length of row j of V
    told = 1 - leverage > ALONE
    residual = (Y - Y @ V @ V.T) / np.where(told, 1 - leverage, 1.0)
    return np.where(told, residual, Y)


def held_out_errors(
    X: ArrayLike, *, max_k: int | None = None, folds: int = 5, rng: Rng = 0, progress: bool = False
) -> NDArray:
    """Return the mean squared error of predicting entries, for k = 0 … max_k :eq:`eq-pca-press`.

    Every entry is left out once, together with its fold, and predicted by :func:`fill_in`.
    """
    Xc, unit = two_columns(X)
    n, d = Xc.shape
    max_k = largest_k(max_k, min(n, d) - 1, f"held-out entries of {n}×{d}")
    fold, errors, filled = entry_folds(n, d, folds, rng), np.zeros(max_k + 1), None
    parts = at_a_time(folds, Xc.size)  # so many folds are filled at a time
    for part, k in with_progress([*product(parts, range(max_k + 1))], progress, "fits"):
        filled = fill_in(Xc, fold == part[:, None, None], k, start=filled if k else None)
        errors[k] += np.sum((filled - Xc) ** 2)
    return in_squared_units(errors / Xc.size, unit)


def fill_in(
    X: ArrayLike,
    unknown: ArrayLike,
    k: int,
    *,
    start: ArrayLike | None = None,
) -> NDArray:
    """Return X with its unknown entries replaced by what k components make of the others.

    unknown : (n, d), True where X is not to be looked at; or (m, n, d), to fill m copies of X,
    which is quicker than one by one. Fill with the means of the columns (or from the table
    start), fit, replace the fillings by their reconstructions, and repeat until they stand still
    :eq:`eq-pca-press`.
    """
    known = known_part(X, unknown)
    _, n, d = known.T.shape
    k = component_count(k, min(n, d), f"a {n}×{d} table")

    def refill(T: NDArray) -> NDArray:
        mean = T.mean(axis=1, keepdims=True)
        return mean + nearest_of_rank(T - mean, k)

    first = known.T if start is None else known.values(start)
    return known.filled(X, settle(refill, first, known.unknown, known.spread))


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
    logs = judged(spectrum(X), X) - X.size * np.log(unit)  # one SVD serves all k
    bics = -2 * logs + parameter_counts(X.shape[1], logs.size) * np.log(len(X))
    return bics[: 1 + largest_k(max_k, logs.size - 1, "data that must keep some noise")]


def choose_k_by_held_out_likelihood(
    X: ArrayLike, *, max_k: int | None = None, folds: int = 5, rng: Rng = 0, progress: bool = False
) -> int:
    """Return the k that makes held-out rows most likely :eq:`eq-ppca-held-out`.

    It assumes independent rows and, as BIC does, noise of one variance in every column: where that
    is false, k grows with n beyond the directions that columns share. It may take one too many.
    """
    logs = held_out_log_likelihood(X, max_k=max_k, folds=folds, rng=rng, progress=progress)
    return int(np.argmax(logs))


def held_out_log_likelihood(
    X: ArrayLike, *, max_k: int | None = None, folds: int = 5, rng: Rng = 0, progress: bool = False
) -> NDArray:
    """Return the log-likelihood of rows that the fit has not seen, for k = 0 … max_k.

    The rows of X, (n, d), are shuffled into folds; each fold is judged by the model of the
    others, and the sums are added :eq:`eq-ppca-held-out`. No max_k: all that leave some noise.
    """
    X, unit = scaled_table(X)
    logs = over_folds(X, folds, rng, progress, lambda rest, rows: judged(spectrum(rest), rows))
    logs = logs[: 1 + largest_k(max_k, logs.size - 1, "data that must keep some noise")]
    return logs - X.size * np.log(unit)


# How sure are we?


class Resampled(NamedTuple):
    """PCA of tables that were drawn, row by row, from the rows of one table."""

    variances: NDArray  # (repeats, k)
    V: NDArray  # (repeats, d, k) directions, with the signs of those of the whole table


def bootstrap_pca(
    X: ArrayLike,
    k: int,
    *,
    repeats: int = 200,
    scale: bool = False,
    rng: Rng = 0,
    progress: bool = False,
) -> Resampled:
    """Fit k components to many tables of n rows drawn from X, with replacement.

    With ``scale=True`` the columns of each are standardised anew. Rows must be independent.
    Signs are matched, order is not: directions with close variances trade places. Quantiles of
    the results are the ends of intervals :eq:`eq-k-bootstrap`.
    """
    X, rng, k = complete_table(X), generator(rng), components_of_table(X, k)
    prepare = (lambda rows: standardize(rows)[0]) if flag(scale, "scale") else np.asarray
    whole, fits, repeats = fit_pca(prepare(X), k), [], whole_number(repeats, "repeats", least=1)
    runs = at_a_time(repeats, X.size, k * X.shape[1])  # a few tables at once
    for some in with_progress(runs, progress, "tables"):
        drawn = rng.integers(0, len(X), (len(some), len(X)))
        tables = [of_drawn(prepare, X[rows]) for rows in drawn]
        fits += leading_of_many(tables, k, lambda Y: fit_pca(Y, k))
    V = np.array([align_signs(whole.V, V) for _, V in fits])
    return Resampled(np.array([variances for variances, _ in fits]), V)
