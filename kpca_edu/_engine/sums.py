"""Sums over the rows of a data matrix, in double: means, squares, and the scatter matrix.

Numbers that are added one after the other lose digits, the more the longer the column. So columns
are added up in short pieces, then the sums of the pieces, and so on; and single precision is added
up in double.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .checks import times

__all__ = [
    "column_means",
    "column_scales",
    "column_sums",
    "gram_matrix",
    "scatter_matrix",
    "sum_of_squares",
]

PIECE = 64  # so many numbers are added one after the other
BLOCK = 2**18  # entries of a block that is centred and multiplied while it is near
LONG = 8192  # rows of a block at most, unless it has many columns: products add one by one, too


def column_means(X: NDArray | sparse.csr_array | LinearOperator) -> NDArray:
    """Return x̄ᵀ = 1ᵀX/n, in the precision of X: (d,). One pass over X, or one product.

    The sums are doubles, whatever the precision of X.
    """
    n = X.shape[0]
    if sparse.issparse(X):
        sums = np.bincount(X.indices, X.data, minlength=X.shape[1])
    elif not isinstance(X, np.ndarray):
        sums = times(X.T, np.ones(n, X.dtype))
    else:
        sums = column_sums(X)
    return (sums / n).astype(X.dtype)


def column_scales(X_c: NDArray) -> NDArray:
    """Return the root of the mean square of each column, (d,), whatever the size of the entries."""
    largest = np.abs(X_c).max(axis=0)
    unit = np.where(largest > 0, largest, 1)
    return unit * np.sqrt(column_means((X_c / unit) ** 2))


def column_sums(X: NDArray) -> NDArray:
    """Return 1ᵀX in doubles: (d,). Pieces of 64 rows are added up, then their sums, and so on."""
    n, d = X.shape
    if X.dtype != float:
        return X.sum(axis=0, dtype=float)
    if n <= PIECE:
        return np.ones(n) @ X
    whole = n - n % PIECE
    sums = np.ones(PIECE) @ X[:whole].reshape(-1, PIECE, d)
    rest = np.ones((1, n - whole)) @ X[whole:]
    return column_sums(np.concatenate([sums, rest]))


def scatter_matrix(X: NDArray, mean: NDArray) -> NDArray:
    """Return X_cᵀX_c of a dense X: (d, d). X_c = X − 1x̄ᵀ is formed a block at a time.

    Costs nd² operations, and the memory of a block and of two d×d matrices.
    """
    n, d = X.shape
    rows = max(min(4 * BLOCK // d, LONG), 2 * d)
    room, product = np.empty((min(rows, n), d), X.dtype), np.empty((d, d), X.dtype)
    total = np.zeros((d, d))
    for start in range(0, n, rows):
        block = np.subtract(X[start : start + rows], mean, out=room[: n - start])
        total += np.matmul(block.T, block, out=product)
    return total.astype(X.dtype, copy=False)


def gram_matrix(X: NDArray, mean: NDArray) -> NDArray:
    """Return X_cX_cᵀ of a dense X: (n, n). X_c = X − 1x̄ᵀ is formed a block of columns at a time.

    Costs n²d operations, and the memory of a block and of two n×n matrices.
    """
    n, d = X.shape
    columns = max(8 * BLOCK // n, 2 * n, 16)
    product, total = np.empty((n, n), X.dtype), np.zeros((n, n))
    for start in range(0, d, columns):
        block = X[:, start : start + columns] - mean[start : start + columns]
        total += np.matmul(block, block.T, out=product)
    return total.astype(X.dtype, copy=False)


def sum_of_squares(X: NDArray | sparse.csr_array, mean: NDArray) -> float:
    """Return ‖X − 1x̄ᵀ‖²_F, without cancellation and without forming the difference."""
    n, d = X.shape
    if sparse.issparse(X):
        stored = np.bincount(X.indices, minlength=d)  # the other n − stored entries are 0 − x̄ⱼ
        gaps = (X.data - mean[X.indices]).astype(float, copy=False)
        return float(np.vdot(gaps, gaps) + (n - stored) @ mean.astype(float) ** 2)
    rows = max(1, BLOCK // d)
    blocks = (X[start : start + rows] - mean for start in range(0, n, rows))
    return float(sum(np.vdot(block, block) for block in blocks))
