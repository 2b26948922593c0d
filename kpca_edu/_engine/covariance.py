"""A covariance matrix as sparse PCA needs it: blocks, products, what a direction leaves of it.

Data and matrices are divided by a power of two first, so that no square over- or underflows, and
then by the mean variance of a feature: nothing that is decided here depends on the unit of X.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import data_matrix, flag, real_array, symmetric_map, tell
from .eigen import SMALL, top_eigenpairs
from .memory import room_for
from .sums import column_means

__all__ = [
    "Covariance",
    "adjusted_squares",
    "covariance",
    "covariance_of",
    "falling_order",
    "feature_vector",
    "largest",
    "power_of_two",
    "principal_directions",
    "refuse_negative",
    "scaled_samples",
    "semidefinite",
    "unit_columns",
]

TIE = 1e-8  # numbers that differ by less, relatively, count as equal: rounding decides nothing
KEPT = 4  # rows of C for each row of M that are kept
FORMED = 2000  # up to so many features C itself is formed once many of its rows are known


class Covariance:
    """C = M, or C = MᵀM if M is a root: for data at least twice as wide as high, C is not formed.

    Of a C that is not formed, rows are computed as they are needed, and kept while they take no
    more than four times the room of M. ``unit`` is what C was divided by.
    """

    def __init__(self, M: NDArray, *, root: bool = False, unit: float = 1.0):
        self.M, self.root, self.unit = M, root, unit
        self.d = M.shape[1]
        self.trace = float(np.vdot(M, M) if root else np.trace(M))
        self.at_first: NDArray | None = None  # the diagonal before anything was taken away
        self._rows: dict[int, NDArray] = {}
        self._last: tuple[NDArray | None, NDArray | None] = (None, None)

    def __len__(self) -> int:
        return self.d

    def __matmul__(self, B: NDArray) -> NDArray:
        """Return CB, at the cost of the rows of B that aren't zero; the last product is kept."""
        if self._last[0] is not B:
            T = np.flatnonzero(B.any(axis=tuple(range(1, B.ndim))))
            self._last = (B, self.columns_times(T, B[T]))
        assert self._last[1] is not None
        return self._last[1]

    def columns_times(self, T: NDArray, b: NDArray) -> NDArray:
        """Return the columns T of C times b."""
        if T.size == self.d:
            return self.M.T @ (self.M @ b) if self.root else self.M @ b
        if not self.root:
            return self.M[T].T @ b
        if T.size > len(self.M):  # so many rows of C would take more room than its root
            return self.M.T @ (self.M[:, T] @ b)
        return np.array(self._some_rows(T)).reshape(T.size, self.d).T @ b

    def block(self, T: NDArray) -> NDArray:
        """Return the rows and columns T of C, in memory of its own."""
        if self.root and self.d <= FORMED and 4 * len(self._rows) > self.d:
            self.M, self.root = self.M.T @ self.M, False  # all at once is cheaper by now
        if not self.root:
            return self.M[np.ix_(T, T)]
        if T.size > len(self.M):
            return self.M[:, T].T @ self.M[:, T]
        return np.array([row[T] for row in self._some_rows(T)]).reshape(T.size, T.size)

    def diagonal(self) -> NDArray:
        return np.sum(self.M**2, axis=0) if self.root else self.M.diagonal()

    def leading(self, T: NDArray) -> tuple[float, NDArray]:
        """Return the largest eigenvalue of the block T and its unit eigenvector."""
        w, live = np.zeros(T.size), self.diagonal()[T] > 0
        if self.root and live.sum() > len(self.M):  # RRᵀ is smaller, with the same eigenvalue
            R = self.M[:, T[live]]
            lam, u, _ = top_eigenpairs(R @ R.T, 1)
            w[live] = unit_columns(R.T @ u[:, 0])
        elif live.any():
            lam, u, _ = top_eigenpairs(self.block(T[live]), 1)
            w[live] = u[:, 0]
        else:
            return 0.0, w
        return float(lam[0]), w

    def without(self, b: NDArray) -> Covariance:
        """Return what remains after a regression of every feature on the score of b.

        What is left of a feature by rounding alone becomes zero. If b has no variance, nothing is
        taken away. Costs a pass over M, and its memory again.
        """
        score = self.M @ b if self.root else self @ b
        variance = score @ score if self.root else b @ score
        if variance <= 0:
            return self
        weights = score @ self.M / variance if self.root else score / variance
        taken = np.outer(score, weights)
        rest = Covariance(np.subtract(self.M, taken, out=taken), root=self.root)
        rest.at_first = self.diagonal() if self.at_first is None else self.at_first
        gone = rest.diagonal() <= 1e-10 * rest.at_first
        rest.M[:, gone] = 0.0
        if not self.root:
            rest.M[gone] = 0.0
        return rest

    def _some_rows(self, T: NDArray) -> list[NDArray]:
        new = [j for j in T.tolist() if j not in self._rows]
        if len(self._rows) + len(new) > KEPT * len(self.M):
            self._rows, new = {}, T.tolist()
        if new:
            self._rows.update(zip(new, self.M[:, new].T @ self.M, strict=True))
        return [self._rows[j] for j in T.tolist()]


def covariance(C: ArrayLike | Covariance) -> Covariance:
    """Return C as a :class:`Covariance` in its own unit; one that is given is returned as it is."""
    return C if isinstance(C, Covariance) else Covariance(semidefinite(C))


def covariance_of(X: ArrayLike, gram: bool) -> tuple[Covariance, NDArray]:
    """Return C in units of its mean variance, and the mean of the rows (zeros for a matrix).

    X : (n, d) data, or a covariance matrix (d, d) if ``gram``. That it is positive semidefinite is
    not seen to here.
    """
    if flag(gram, "gram"):
        C = _square(X)
        M, exponent = _near_one(C.astype(float))
        total, mean = float(np.trace(M)) / len(C), np.zeros(len(C), C.dtype)
        if total <= 0:
            raise ValueError("C has no positive variance: there is nothing to find.")
        return Covariance(M / total, unit=power_of_two(total, exponent)), mean
    M, exponent, mean = scaled_samples(X)
    n, d = M.shape
    total = float(np.vdot(M, M)) / (n * d)
    root = M / np.sqrt(n * total)
    wide = 2 * n <= d
    unit = power_of_two(total, 2 * exponent)
    if not wide:
        room_for(d, d, "The covariance matrix", "take fewer features.")
    return Covariance(root if wide else root.T @ root, root=wide, unit=unit), mean


def scaled_samples(X: ArrayLike) -> tuple[NDArray, int, NDArray]:
    """Return X_c · 2^−e in doubles, with entries up to one, then e and the mean x̄."""
    A = data_matrix(X)
    _question(A)
    doubles = A.astype(float)
    mean = column_means(doubles)
    return *_near_one(_centered(doubles, mean)), mean.astype(A.dtype)


def principal_directions(C: Covariance, k: int, gram: bool) -> NDArray:
    """Return the k leading eigenvectors of C, which must have k positive eigenvalues.

    A matrix that was given (``gram``) must be positive semidefinite. Costs what
    ``top_eigenpairs`` costs for C, or for the n×n matrix MMᵀ if C has a root M.
    """
    if C.root:
        lam, U, _ = top_eigenpairs(C.M @ C.M.T, k)
        V = np.linalg.qr(C.M.T @ U)[0]
    else:
        lam, V, lowest = top_eigenpairs(C.M, k)
        if gram:
            exact = len(C) <= SMALL
            lowest = float(np.linalg.eigvalsh(C.M)[0]) if exact else lowest
            refuse_negative(C.unit * lowest, C.unit * float(lam[0]))
    useful = int(np.sum(lam > 8 * len(C) * np.finfo(float).eps * max(lam[0], 0.0)))
    if useful < k:
        raise ValueError(
            f"k={k} components asked, and only {useful} directions have positive variance: "
            f"ask for at most {useful}."
        )
    return V


def semidefinite(C: ArrayLike, name: str = "C") -> NDArray:
    """Return C as a positive semidefinite matrix of doubles, or say why it is none.

    Up to 500 features all eigenvalues are computed. Beyond, some dozen products with a dozen
    vectors show a negative eigenvalue if it is large enough to matter.
    """
    A = _square(C, name).astype(float)
    if len(A) <= SMALL:
        lam = np.linalg.eigvalsh(A)
        refuse_negative(float(lam[0]), float(lam[-1]), name)
    else:
        pairs = top_eigenpairs(A, 1, tol=1e-6)
        refuse_negative(pairs.lowest, float(pairs.lam[0]), name)
    return A


def refuse_negative(lowest: float, highest: float, name: str = "C") -> None:
    """Refuse a matrix whose smallest eigenvalue is negative beyond rounding."""
    if highest <= 0:
        raise ValueError(f"{name} has no positive variance: there is nothing to find.")
    if lowest < -1e-8 * highest:
        raise ValueError(
            f"{name} has the negative eigenvalue {lowest:.3g}: it is no covariance or Gram matrix. "
            f"Was it estimated with missing values, or deflated by Hotelling's formula?"
        )


def feature_vector(a: ArrayLike, d: int, name: str) -> NDArray:
    """Return a as a vector of d doubles that are finite and not all zero."""
    vector = real_array(a, name)
    if vector.shape != (d,) or not np.isfinite(vector).all() or not vector.any():
        raise ValueError(
            f"{name} with shape {vector.shape} must be a vector of {d} finite numbers, not all "
            f"zero."
        )
    return vector.astype(float)


def largest(c: NDArray, count: int) -> NDArray:
    """Return the places of the ``count`` largest moduli, rising; among equal ones the first."""
    size = np.abs(c)
    cut = np.partition(size, -count)[-count]
    above = size > cut * (1 + TIE)
    sure, equal = np.flatnonzero(above), np.flatnonzero(~above & (size >= cut * (1 - TIE)))
    return np.sort(np.concatenate([sure, equal[: count - sure.size]]))


def falling_order(values: NDArray, places: NDArray) -> NDArray:
    """Return the order of falling values; those that are equal up to rounding go by place."""
    order = np.argsort(-values, kind="stable")
    steps = -np.diff(values[order], prepend=values[order[0]])
    group = np.cumsum(steps > TIE * np.abs(values).max())
    return order[np.lexsort((places[order], group))]


def unit_columns(B: NDArray) -> NDArray:
    """Scale columns, or one vector, to length one; zero columns stay."""
    size = np.abs(B).max(axis=0, initial=0.0)
    B = B / np.where(size > 0, size, 1)
    lengths = np.linalg.norm(B, axis=0)
    return B / np.where(lengths > 0, lengths, 1)


def adjusted_squares(M: NDArray) -> NDArray:
    """Return diag(R)² with M = RᵀR, for any positive semidefinite M."""
    lam, W = np.linalg.eigh(M)
    R = np.linalg.qr(np.sqrt(np.maximum(lam, 0))[:, None] * W.T, mode="r")
    return np.diag(R) ** 2


def _square(C: ArrayLike, name: str = "C") -> NDArray:
    """Return C as a symmetric matrix."""
    A = data_matrix(C, name)
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"{name} is {A.shape[0]}×{A.shape[1]}: a symmetric matrix is square, and a covariance, "
            f"correlation or Gram matrix was promised. Leave out gram=True if its rows are "
            f"samples, or form np.cov({name}.T, ddof=0) first."
        )
    symmetric_map(A, name)
    return A


def _question(X: NDArray) -> None:
    """Ask whether a symmetric X with a positive diagonal was meant as data."""
    n, d = X.shape
    if n == d > 1 and np.all(X.diagonal() > 0) and np.allclose(X, X.T, rtol=1e-6, atol=0):
        tell(
            f"X is a symmetric {n}×{n} matrix with a positive diagonal, and its rows were taken "
            f"for samples. If it is a covariance or correlation matrix, say gram=True."
        )


def _centered(X: NDArray, mean: NDArray) -> NDArray:
    """Return X − 1x̄ᵀ; a column that is constant up to rounding becomes zero."""
    Xc = X - mean
    noise = 8 * np.finfo(float).eps * np.abs(mean)
    Xc[:, np.abs(Xc).max(axis=0) <= noise] = 0
    if not Xc.any():
        raise ValueError(
            "All rows of X are the same, so no direction has positive variance: "
            "there is nothing to find."
        )
    return Xc


def power_of_two(value: float, exponent: int) -> float:
    """Return value · 2^exponent, or say that a double can't hold it."""
    with np.errstate(over="ignore", under="ignore"):
        result = float(np.ldexp(value, exponent))
    if not np.finfo(float).tiny <= result < np.inf:
        raise ValueError(
            f"The variances are {'too large' if result > 1 else 'too small'} for a double: "
            f"divide X by its largest entry first."
        )
    return result


def _near_one(A: NDArray) -> tuple[NDArray, int]:
    """Return A · 2^−e, with entries up to one, and e."""
    exponent = int(np.frexp(np.abs(A).max())[1])
    return np.ldexp(A, -exponent), exponent
