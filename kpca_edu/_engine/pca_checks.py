"""What PCA takes and refuses: data without gaps, a number or share of components, Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .checks import (
    component_count,
    data_matrix,
    is_number,
    linear_map,
    real_array,
    symmetric_map,
)
from .eigen import top_eigenpairs
from .sums import column_means

__all__ = [
    "MEAN_ROUNDING",
    "Data",
    "complete_data",
    "complete_table",
    "count_or_share",
    "finite_means",
    "gram_eigenpairs",
    "is_fraction",
    "refuse_constant",
    "refuse_overflow",
    "row_vector",
    "squares_fit",
]

MEAN_ROUNDING = 16  # errors of the mean of a column, in units of its last digit

Data = NDArray | sparse.csr_array | LinearOperator


def complete_data(X: Any) -> Data:
    """Return X as :func:`linear_map` does; where NaN marks gaps, point to what can fit them."""
    return _or_point_to_em(linear_map, X)


def complete_table(X: Any) -> NDArray:
    """Return X as :func:`data_matrix` does; where NaN marks gaps, point to what can fit them."""
    return _or_point_to_em(data_matrix, X)


def finite_means(X: Data) -> NDArray:
    """Return x̄, (d,); refuse NaN and infinity, which a mean shows without a pass of its own."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = column_means(X)
    if not np.isfinite(mean).all():
        complete_data(X)
        refuse_overflow(np.inf)
    return mean


def _or_point_to_em(check: Callable[[Any], Any], X: Any) -> Any:
    try:
        return check(X)
    except ValueError as error:
        if "(NaN)" not in str(error):
            raise
        raise ValueError(
            f"{error} If NaN marks values that were not observed, fit_ppca_em(X, k) fits the "
            f"others, and its impute(X) fills the gaps."
        ) from None


def count_or_share(k: float | None, X: Data) -> float | None:
    """Return k as a number of directions that X can have, a share between 0 and 1, or None."""
    if k is None:
        return None
    if not is_fraction(k):
        n, d = X.shape
        return component_count(k, min(n, d), f"a {n}×{d} matrix")  # type: ignore[arg-type]
    if 0 < k < 1:
        return float(k)
    raise ValueError(
        f"k={k!r}: a whole number of components (k=1 is one), a share of the variance between 0 "
        f"and 1, or None for all that have variance is needed."
    )


def refuse_constant(scale: NDArray, mean: NDArray, names: tuple[str, ...] | None) -> None:
    """Refuse columns whose scale is that of the rounding of their mean."""
    constant = scale <= MEAN_ROUNDING * np.finfo(scale.dtype).eps * np.abs(mean)
    if constant.any():
        j = int(np.argmax(constant))
        raise ValueError(
            f"Column {j}{f' ({names[j]!r})' if names else ''} is constant: it has zero variance "
            f"and can't be scaled to variance one. Drop constant columns first."
        )


def row_vector(v: Any, d: int, name: str) -> NDArray:
    """Return v as a vector of d finite numbers."""
    row = data_matrix(np.atleast_2d(real_array(v, name)), name)
    if row.shape != (1, d):
        raise ValueError(f"{name} has shape {np.shape(v)}: {d} numbers are needed.")
    return row[0]


def gram_eigenpairs(K: Any, k: int) -> tuple[NDArray, NDArray]:
    """Return the k leading eigenvalues of a Gram matrix, rounding noise as 0, and eigenvectors.

    A matrix with a clearly negative eigenvalue is refused.
    """
    K = symmetric_map(data_matrix(K, "K"))
    n = len(K)
    k = component_count(k, n, f"a {n}×{n} Gram matrix")
    lam, a, lowest = top_eigenpairs(K, max(k, 1))
    size, eps = float(lam[0]), float(np.finfo(K.dtype).eps)
    if lowest < -np.sqrt(eps) * size:
        raise ValueError(
            f"K has an eigenvalue of at most {lowest:.3g}: a Gram matrix has none below zero. "
            f"For centred data form it as X_c @ X_c.T."
        )
    return np.where(lam > n * eps * size, lam, 0)[:k], a[:, :k]


def is_fraction(k: Any) -> bool:
    """Tell whether k is a number that is not a whole one by its type."""
    return is_number(k, Real) and not isinstance(k, Integral)


def squares_fit(X: NDArray, name: str = "X") -> NDArray:
    """Return X if it is finite, and sums of its squares over a million times as many rows are."""
    if not np.vdot(X, X) <= 1e-6 * np.finfo(X.dtype).max:
        data_matrix(X, name)  # says where it is not finite
        refuse_overflow(np.inf)
    return X


def refuse_overflow(total: float) -> None:
    """Say so if a sum of squares left the floats."""
    if not np.isfinite(total):
        raise ValueError(
            "The entries of X are so large that their squares overflow: "
            "divide X by its largest entry first."
        )
