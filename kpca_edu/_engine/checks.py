"""Input checks whose messages teach: what came, what was needed, what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .memory import room_for

__all__ = [
    "ConvergenceWarning",
    "check_columns",
    "check_scores",
    "choice",
    "column_names",
    "component_count",
    "data_matrix",
    "finite_array",
    "flag",
    "fraction",
    "generator",
    "is_number",
    "linear_map",
    "number",
    "orthonormal_columns",
    "real_array",
    "row_folds",
    "singular_values",
    "symmetric_map",
    "tell",
    "times",
    "tolerance",
    "whole_number",
]

PACKAGE = str(Path(__file__).parents[1])


class ConvergenceWarning(UserWarning):
    """An iteration ran out of steps before it met its goal: the result is what it had by then."""


def data_matrix(
    A: ArrayLike, name: str = "X", missing: bool = False, check_finite: bool = True
) -> NDArray:
    """Return A as a finite real matrix of floats, or say in one sentence why it is none.

    Floats keep their precision, integers and booleans become doubles; a float array is not copied.
    With ``missing=True`` NaN is allowed and stands for a value that was not observed; with
    ``check_finite=False`` the caller looks for NaN and infinity, where that costs less.

    >>> data_matrix([1, 2, 3])
    Traceback (most recent call last):
    ...
    ValueError: X is 1-D with shape (3,): a matrix is needed. Use X.reshape(-1, 1) if its entries \
are samples of one feature, X.reshape(1, -1) if they are the features of one sample.
    """
    array = real_array(A, name)
    if array.ndim == 1:
        raise ValueError(
            f"{name} is 1-D with shape {array.shape}: a matrix is needed. "
            f"Use {name}.reshape(-1, 1) if its entries are samples of one feature, "
            f"{name}.reshape(1, -1) if they are the features of one sample."
        )
    if array.ndim != 2:
        raise ValueError(
            f"{name} is {array.ndim}-D with shape {array.shape}: a matrix (2-D) is needed. "
            f"Reshape it so that each row is one sample."
        )
    if array.size == 0:
        raise ValueError(
            f"{name} is empty, with shape {array.shape}: "
            f"at least one row and one column are needed."
        )
    if missing:
        with np.errstate(all="ignore"):
            bad = not np.isfinite(array.sum()) and np.isinf(array).any()
        if bad:
            _finite(np.where(np.isnan(array), 0.0, array), name)
        return array
    return _finite(array, name) if check_finite else array


def linear_map(
    X: ArrayLike | sparse.sparray | sparse.spmatrix | LinearOperator,
    name: str = "X",
    check_finite: bool = True,
) -> NDArray | sparse.csr_array | LinearOperator:
    """Return X as a thing with ``shape``, ``dtype``, ``@`` and ``.T``, without densifying it.

    X may be a dense matrix, a SciPy sparse matrix (it becomes CSR, each place stored once) or a
    SciPy ``LinearOperator``, of which only products with X and Xᵀ are asked.
    """
    if not isinstance(X, sparse.sparray | sparse.spmatrix | LinearOperator):
        return data_matrix(X, name, check_finite=check_finite)
    given: Any = X  # SciPy's stubs give its sparse classes neither shape nor dtype
    if (kind := np.dtype(given.dtype).kind) == "c":
        raise ValueError(f"{name} is complex: real numbers are needed. Take its real part first.")
    if kind not in "fiub":
        raise ValueError(f"{name} holds {given.dtype}: numbers are needed, such as {name} * 1.0.")
    if len(given.shape) != 2 or 0 in given.shape:
        raise ValueError(
            f"{name} is empty or no matrix, with shape {given.shape}: "
            f"at least one row and one column are needed."
        )
    if isinstance(given, LinearOperator):
        return given if np.dtype(given.dtype).kind == "f" else 1.0 * given
    rows = sparse.csr_array(given)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):  # beyond the doubles: infinity, and refused as such
            rows = rows.astype(float)
    _finite(rows.data, f"{name}.data")
    return rows


def times(A: Any, B: NDArray) -> NDArray:
    """Return AB; where A is the transpose of an operator that has none, say so."""
    try:
        return A @ B
    except (NotImplementedError, TypeError) as error:
        if isinstance(error, TypeError) and "NoneType" not in str(error):
            raise
        raise ValueError(
            "X is a LinearOperator that can't multiply by its transpose, which is needed here: "
            "give it rmatvec beside matvec, as in LinearOperator(shape, matvec=…, rmatvec=…)."
        ) from error


def symmetric_map(
    K: ArrayLike | sparse.sparray | sparse.spmatrix | LinearOperator, name: str = "K"
) -> NDArray | sparse.csr_array | LinearOperator:
    """Return K as :func:`linear_map` does, square and symmetric (an operator is trusted there)."""
    square = linear_map(K, name)
    n, d = square.shape
    if n != d:
        raise ValueError(
            f"{name} is {n}×{d}: a symmetric matrix is square. "
            f"If its rows are samples, form their Gram matrix first."
        )
    if not isinstance(square, LinearOperator):
        gap, size = _asymmetry(square), max(square.max(), -square.min())
        if gap > np.sqrt(np.finfo(square.dtype).eps) * size:
            raise ValueError(
                f"{name} is not symmetric: entries and their mirror images differ by up to "
                f"{gap:.2g}. Use ({name} + {name}.T) / 2 if that is rounding."
            )
    return square


def _asymmetry(K: NDArray | sparse.csr_array) -> float:
    """Return the largest |K_ij − K_ji|, without a second matrix of the size of a dense K."""
    if sparse.issparse(K):
        return float(abs(K - K.T).max())
    tiles = [slice(start, start + 128) for start in range(0, len(K), 128)]  # they stay in cache
    pairs = ((rows, columns) for i, rows in enumerate(tiles) for columns in tiles[i:])
    return float(max(np.abs(K[r, c] - K[c, r].T).max() for r, c in pairs))


def orthonormal_columns(U: ArrayLike, name: str = "U") -> NDArray:
    """Return U as a float matrix whose columns are orthonormal (there may be none of them)."""
    array = real_array(U, name)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] > 0:
        array = data_matrix(U, name)
    with np.errstate(over="ignore", invalid="ignore"):  # huge entries: refused just below
        gap = np.abs(array.T @ array - np.eye(array.shape[1])).max(initial=0.0)
    if not gap <= array.shape[0] * np.sqrt(np.finfo(array.dtype).eps):
        raise ValueError(
            f"The columns of {name} are not orthonormal: {name}ᵀ{name} differs from the identity "
            f"by {gap:.2g}. Orthonormalise them first, for example with np.linalg.qr({name})[0]."
        )
    return array


def component_count(k: int, limit: int, of: str, least: int = 0, name: str = "k") -> int:
    """Return k as an int between ``least`` and ``limit``, the number that ``of`` can have.

    >>> component_count(12, 5, "a 10×5 matrix")
    Traceback (most recent call last):
    ...
    ValueError: k=12 components asked of a 10×5 matrix: at most 5 exist.
    """
    if not is_number(k, Integral):
        raise ValueError(
            f"{name}={k!r} is no number of components: "
            f"a whole number from {least} to {limit} is needed."
        )
    k = int(k)
    if k < least:
        raise ValueError(f"{name}={k} components asked of {of}: at least {least} is needed.")
    if k > limit:
        raise ValueError(f"{name}={k} components asked of {of}: at most {limit} exist.")
    return k


def number(
    value: float,
    name: str,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    open_low: bool = False,
    hint: str = "",
) -> float:
    """Return value as a finite float from low to high (above low with ``open_low``).

    >>> number(-1.0, "offset", 0.0)
    Traceback (most recent call last):
    ...
    ValueError: offset=-1.0: a number from 0 up is needed.
    """
    if is_number(value, Real):
        try:
            value = float(value)
        except OverflowError:  # a whole number beyond the floats
            value = np.inf
        if low <= value <= high and not (open_low and value == low) and np.isfinite(value):
            return value
    wanted = "a finite number"
    if low > -np.inf:
        wanted = f"a number {'above' if open_low else 'from'} {low:g}"
        wanted += f"{' and up' * open_low} to {high:g}" if high < np.inf else " up" * (not open_low)
    raise ValueError(f"{name}={value!r}: {wanted} is needed{hint}.")


def fraction(value: float, name: str) -> float:
    """Return value as a float from 0 to 1, both ends allowed."""
    return number(value, name, 0.0, 1.0, hint=", such as 0.05 for 5 %")


def tolerance(value: float, name: str = "tol") -> float:
    """Return value as a float that is finite and not negative: the goal of an iteration."""
    return number(value, name, 0.0, hint=", such as 1e-8")


def whole_number(value: int, name: str, least: int = 0) -> int:
    """Return value as an int that is at least ``least``."""
    if not is_number(value, Integral) or int(value) < least:
        raise ValueError(f"{name}={value!r}: a whole number from {least} up is needed.")
    if int(value) > sys.maxsize:
        raise ValueError(f"{name} has {len(str(value))} digits: no computer counts so far.")
    return int(value)


def flag(value: bool, name: str) -> bool:
    """Return value as a bool; numbers and texts are not taken for one."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r}: True or False is needed.")
    return bool(value)


def choice(value: str, name: str, options: Iterable[str]) -> str:
    """Return value if it is one of the options.

    >>> choice("both", "side", ["left", "right"])
    Traceback (most recent call last):
    ...
    ValueError: side='both': choose one of "left", "right".
    """
    options = list(options)
    if not isinstance(value, str) or value not in options:
        known = ", ".join(f'"{option}"' for option in options)
        raise ValueError(f"{name}={value!r}: choose one of {known}.")
    return value


def generator(rng: int | np.random.Generator) -> np.random.Generator:
    """Return a NumPy generator: the one given, or a new one from a seed.

    >>> generator("seed")
    Traceback (most recent call last):
    ...
    ValueError: rng='seed': a seed (a whole number from 0 up) or a NumPy generator is needed.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or (is_number(rng, Integral) and int(rng) >= 0):
        return np.random.default_rng(rng)
    raise ValueError(
        f"rng={rng!r}: a seed (a whole number from 0 up) or a NumPy generator is needed."
    )


def row_folds(n: int, folds: int, rng: int | np.random.Generator) -> list[NDArray]:
    """Deal n rows into folds at random: a list of index arrays, sizes equal up to one."""
    folds = whole_number(folds, "folds", least=2)
    if folds > n:
        raise ValueError(f"folds={folds} of {n} rows: at most {n} parts can be held out.")
    return np.array_split(generator(rng).permutation(n), folds)


def check_columns(X: Any, d: int, columns: Sequence[str] | None = None, name: str = "X") -> None:
    """Refuse new samples whose features are not those that the model was fitted on.

    X is what the user gave, converted or not; ``columns`` are the names that the model has seen.
    """
    if (given := np.shape(X)[1]) != d:
        raise ValueError(
            f"{name} has {given} columns and the model was fitted on {d}: "
            f"new samples need the same features in the same order."
        )
    names = column_names(X)
    if columns is None or names is None or names == tuple(columns):
        return
    j = next(j for j in range(d) if names[j] != columns[j])
    raise ValueError(
        f"Column {j} of {name} is called {names[j]!r}, and the model was fitted with "
        f"{columns[j]!r} there: new samples need the same features in the same order."
    )


def check_scores(Z: ArrayLike, k: int, name: str = "Z", *, width: int = 0) -> NDArray:
    """Return Z as a matrix with a column for each of the model's k components.

    width : so many numbers will be made of each row; what can't fit in memory is refused.
    """
    if k == 0 and np.ndim(Z) == 2 and np.shape(Z)[1] == 0:
        return np.asarray(Z, float)
    Z = data_matrix(Z, name)
    if Z.shape[1] != k:
        raise ValueError(
            f"{name} has {Z.shape[1]} columns and the model {k} components: "
            f"a column of scores for each is needed, as encode gives them."
        )
    room_for(len(Z), width, "What is made of Z", "take some rows of Z at a time.")
    return Z


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of a DataFrame's columns; None for what has no names (all of them texts)."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "iloc"):
        return None
    names = tuple(columns)
    return names if all(isinstance(name, str) for name in names) else None


def tell(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's own code that called the library."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


def is_number(value: Any, kind: type) -> bool:
    """Tell whether value is such a number; booleans are none, nor are NumPy's spans of time."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def singular_values(s: ArrayLike, name: str = "s") -> NDArray:
    """Return s as a 1-D array of non-negative numbers in falling order (it may be empty)."""
    array = finite_array(s, name)
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}: a 1-D array of singular values is needed. "
            f"Take them from thin_svd(A).s, or np.diag({name}) if they are in a diagonal matrix."
        )
    if np.any(array < 0):
        i = int(np.argmax(array < 0))
        raise ValueError(
            f"{name}[{i}] = {array[i]:.4g} is negative: singular values are non-negative. "
            f"Take them from thin_svd(A).s."
        )
    if np.any(np.diff(array) > 0):
        i = int(np.argmax(np.diff(array) > 0))
        raise ValueError(
            f"{name}[{i + 1}] = {array[i + 1]:.4g} follows {name}[{i}] = {array[i]:.4g}: singular "
            f"values must be in falling order. Sort them with np.sort({name})[::-1]."
        )
    return array


def finite_array(A: ArrayLike, name: str) -> NDArray:
    """Return A as an array of finite floats of any dimension, as :func:`real_array` does."""
    return _finite(real_array(A, name), name)


def real_array(A: ArrayLike, name: str) -> NDArray:
    """Return A as an array of floats of any dimension; refuse what is not made of real numbers.

    Single and double precision stay what they are; half precision, integers and booleans become
    doubles, and so does extended precision, which LAPACK does not have.
    """
    if hasattr(A, "toarray"):
        raise ValueError(
            f"{name} is a sparse matrix: this function works on dense arrays. "
            f"Use {name}.toarray() if it fits in memory."
        )
    if isinstance(A, LinearOperator):
        raise ValueError(
            f"{name} is a LinearOperator: this function works on dense arrays. "
            f"Use {name} @ np.eye({name}.shape[1]) if that fits in memory."
        )
    if np.ma.is_masked(A):
        raise ValueError(
            f"{name} is a masked array, and its mask would be lost. Fill the gaps with "
            f"{name}.filled(…), by np.nan for a function that takes missing values, or drop them."
        )
    try:
        array = np.asarray(A)
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths: every row needs the same number of entries. "
            f"Fill the gaps or drop the short rows."
        ) from None
    if np.iscomplexobj(array):
        raise ValueError(
            f"{name} is complex: real numbers are needed. "
            f"Use {name}.real if the imaginary parts are zero."
        )
    if array.dtype.kind == "O" and not any(isinstance(x, str | bytes) for x in array.flat):
        array = _floats_of_objects(array, name)
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} holds entries that are not numbers, such as text or dates{_where_text(A)}: "
            f"real numbers are needed. Encode or drop those columns first."
        )
    if array.dtype in (np.float32, np.float64):
        return array
    with np.errstate(over="ignore"):  # beyond the doubles: infinity, and refused as such
        return array.astype(float)


def _floats_of_objects(array: NDArray, name: str) -> NDArray:
    """Turn whole numbers of any size, fractions, decimals, None and pd.NA (NaN) into floats."""
    gaps = np.array([x is None or type(x).__name__ in ("NAType", "NaTType") for x in array.flat])
    try:
        return np.where(gaps.reshape(array.shape), np.nan, array).astype(float)
    except OverflowError:
        raise ValueError(
            f"{name} holds integers too large for a float: scale them down first."
        ) from None
    except (TypeError, ValueError):
        return array  # no numbers: the caller says so


def _where_text(A: Any) -> str:
    """Name the first column of a DataFrame that is not made of numbers."""
    if column_names(A) is None:
        return ""
    for column in A.columns:
        values = np.asarray(A[column])
        text = any(isinstance(x, str | bytes) for x in values.flat)
        if values.dtype.kind == "O" and not text:
            values = _floats_of_objects(values, str(column))
        if text or values.dtype.kind not in "fiub":
            return f" (column {column!r})"
    return ""


def _finite(array: NDArray, name: str) -> NDArray:
    """Return the array itself if all entries are finite; else say where the first bad one is."""
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):  # quick: a sum is finite only if all its terms are
            return array
    bad = ~np.isfinite(array)
    if bad.any():
        where = ", ".join(str(i) for i in np.argwhere(bad)[0])
        what = "NaN" if np.isnan(array[bad][0]) else "infinity"
        raise ValueError(
            f"{name} holds NaN or infinity, {bad.sum()} in all, the first ({what}) at index "
            f"[{where}]: finite numbers are needed. Drop those rows or fill the entries in first."
        )
    return array
