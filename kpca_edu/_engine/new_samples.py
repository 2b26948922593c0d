"""Samples that a model keeps, and kernel values that it can't compute itself.

What the user or a callable gives is checked here: as many columns as there are training samples,
one κ(t, t) a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import check_columns, column_names, data_matrix, real_array
from .inner_products import row_samples, sample_count
from .kernel_algebra import Kernel
from .memory import room_for

__all__ = [
    "checked_kernel",
    "given_diagonal",
    "given_rows",
    "kernel_values",
    "own_samples",
]


def own_samples(X: Any, kernel: Any) -> Any:
    """Return samples as the kernel takes them, in memory that the user does not write to later.

    Arrays are left to the model, which copies them. The entries of a list are not copied.
    """
    X = row_samples(X) if isinstance(kernel, Kernel) else X
    sample_count(X)  # what has no length can't be copied either
    if isinstance(X, np.ndarray):
        return X
    if hasattr(X, "tocsr"):  # sparse, of any format
        X = X.copy()
        for part in (getattr(X, name, None) for name in ("data", "indices", "indptr")):
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        return X
    return copy(X)


def kernel_values(kernel: Callable[[Any, Any], Any], X: Any, Y: Any) -> NDArray:
    """Return κ(xᵢ, yⱼ) : (m, n); what a callable of the user's gives is checked."""
    if isinstance(kernel, Kernel):
        return kernel(X, Y)
    K = data_matrix(kernel(X, Y), "kernel(X, Y)")
    m, n = sample_count(X), sample_count(Y, "Y")
    if K.shape != (m, n):
        raise ValueError(
            f"kernel(X, Y) is {K.shape[0]}×{K.shape[1]} for {m} samples X and {n} samples Y: "
            f"a row for each x and a column for each y are needed."
        )
    return K


def checked_kernel(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], NDArray]:
    """Return the kernel; what a callable of the user's gives is looked at each time."""
    return kernel if isinstance(kernel, Kernel) else partial(kernel_values, kernel)


def given_rows(
    kernel: Callable[[Any, Any], NDArray] | None,
    X: Any,
    T: Any,
    n: int,
    columns: tuple[str, ...] | None,
) -> NDArray:
    """Return κ(t, xᵢ) : (m, n), as the user's callable gives it, or T itself if there is none."""
    if kernel is not None and columns is not None and column_names(T) is not None:
        check_columns(T, len(columns), columns, "T")
    if kernel is not None:
        room_for(sample_count(T, "T"), n, "The matrix of kernel values", "take fewer rows of T.")
    K_t = data_matrix(T if kernel is None else kernel(T, X), "K_test")
    if K_t.shape[1] != n:
        raise ValueError(
            f"K_test has {K_t.shape[1]} columns and the model {n} training samples: "
            f"a column κ(t, xᵢ) for each of them is needed."
        )
    return K_t


def given_diagonal(diagonal: ArrayLike | None, m: int) -> NDArray:
    """Return κ(t, t) of m samples as the user gave it: m numbers, or one for all."""
    if diagonal is None:
        raise ValueError(
            "κ(t, t) is needed for each sample: pass it as diagonal=…, "
            "since only κ(t, xᵢ) can be had from what the model was fitted on."
        )
    values = real_array(diagonal, "diagonal")
    if values.shape not in ((), (m,)) or not np.isfinite(values).all():
        raise ValueError(
            f"diagonal has shape {values.shape}: {m} finite numbers κ(t, t) are needed, one "
            f"for each sample of T, with shape ({m},)."
        )
    return np.broadcast_to(values, (m,))
