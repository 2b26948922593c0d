"""Five roads to the leading s and V of centred data, X_c = U diag(s) Vᵀ, and the choice of one.

A solver takes X_c, the number of directions (or a share of the variance, or None for all), rng,
and whether an iteration shows a bar. It returns at least as many directions as were asked for;
:func:`leading_triplets` cuts them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .checks import flag, generator, tell
from .eigen import GramOperator, basis_size, lanczos_pays, top_eigenpairs
from .memory import available_memory, room_for
from .pca_checks import MEAN_ROUNDING, Data, is_fraction, refuse_overflow
from .sums import column_means, gram_matrix, scatter_matrix, sum_of_squares

__all__ = [
    "Centered",
    "Found",
    "Solver",
    "by_best",
    "by_covariance",
    "by_gram",
    "by_lanczos",
    "by_sampling",
    "by_svd",
    "complete",
    "leading_of_many",
    "leading_triplets",
]

LARGE = 3000  # rows and columns from which a few directions are found by iterating
ROOM = 2**31  # bytes, two gigabytes, up to which a square matrix is formed
SMALL = 100  # columns up to which the eigenpairs of many tables are found in one call
FIRST_GUESS = 8  # directions to begin with where a share of the variance is asked for


class Found(NamedTuple):
    """What a solver has found: singular values, falling, directions, and ‖X_c‖²_F."""

    s: NDArray  # (m,) zero where they can't be told from rounding
    V: NDArray  # (d, m) orthonormal columns, at least where s > 0
    total: float


Solver = Callable[["Centered", float | None, int | np.random.Generator, bool], Found]


class Centered(LinearOperator):
    """X_c = X − 1x̄ᵀ by its products with matrices; it is formed only where a method says so."""

    def __init__(
        self,
        X: Data,
        mean: NDArray,
        times: Callable[[NDArray], NDArray],
        transpose_times: Callable[[NDArray], NDArray],
    ):
        single = X.dtype == np.float32
        dtype = np.dtype(np.float32 if single else np.float64)
        super().__init__(dtype, X.shape)  # type: ignore[call-arg]
        self.X, self.mean, self.times, self.transpose_times = X, mean, times, transpose_times

    @property
    def formed(self) -> bool:
        """Whether X is an array, so that X_c can be formed at the price of another one."""
        return isinstance(self.X, np.ndarray)

    def array(self) -> NDArray:
        """Form X_c: (n, d)."""
        room_for(*self.shape, "A centred copy of X", 'choose solver="lanczos" or "randomized".')
        return self.X - self.mean

    def scatter(self) -> NDArray:
        """Form X_cᵀX_c: (d, d)."""
        self._check_room(self.shape[1], "X_cᵀX_c")
        if isinstance(self.X, np.ndarray):
            return scatter_matrix(self.X, self.mean)
        return GramOperator(self).whole()

    def gram(self) -> NDArray:
        """Form X_cX_cᵀ: (n, n)."""
        self._check_room(self.shape[0], "X_cX_cᵀ")
        if isinstance(self.X, np.ndarray):
            return gram_matrix(self.X, self.mean)
        return GramOperator(self.T).whole()

    def sum_of_squares(self) -> float:
        """Return ‖X_c‖²_F. Costs a pass over X, of an operator min(n, d) products with vectors."""
        if not isinstance(self.X, LinearOperator):
            return sum_of_squares(self.X, self.mean)
        A = self if self.shape[1] <= self.shape[0] else self.T
        m = A.shape[1]
        units = (np.eye(m, min(64, m - i), -i, dtype=self.dtype) for i in range(0, m, 64))
        return float(sum(np.sum((A @ block) ** 2, dtype=float) for block in units))

    def rounding(self) -> float:
        """Return the largest singular value that errors of the mean can cause in constant data."""
        n = self.shape[0]
        units = MEAN_ROUNDING if self.formed else max(MEAN_ROUNDING, n)  # added up without pieces
        largest = float(np.abs(self.mean).max())
        size = largest * float(np.linalg.norm(self.mean / (largest or 1.0)))
        return units * float(np.finfo(self.dtype).eps) * float(np.sqrt(n)) * size

    def in_range(self) -> Centered:
        """Return X_c itself, or in doubles if single precision can't hold its squares.

        Nor can it tell sparse data from their mean if that is far: no row is centred there.
        """
        if self.dtype == np.float64 or isinstance(self.X, LinearOperator):
            return self
        peak = largest_modulus(self.X)
        near = self.formed or self.rounding() < 1e-3 * np.sqrt(self.sum_of_squares())
        if peak == 0 or (near and 1e-12 < peak < 1e12):
            return self
        return Centered(
            self.X.astype(float), self.mean.astype(float), self.times, self.transpose_times
        )

    def _check_room(self, order: int, what: str) -> None:
        size = order**2 * self.dtype.itemsize
        if size > ROOM:
            small = min(self.shape)
            if small < order:
                way_out = f'choose solver="{"gram" if small == self.shape[0] else "covariance"}"'
            else:
                room = available_memory() / small / self.dtype.itemsize  # columns of a basis
                ks = (k for k in range(small, -1, -1) if basis_size(small, k) <= room or k == 0)
                most = next(k for k in ks if lanczos_pays(small, k))
                way_out = f"ask for at most k={most}, which can be found without it"
            raise ValueError(
                f"For that the {order}×{order} matrix {what} is needed, and takes "
                f"{size / 1e9:.1f} GB: {way_out}."
            )

    def _matvec(self, x: NDArray) -> NDArray:
        return self._matmat(x.reshape(-1, 1)).ravel()

    def _rmatvec(self, y: NDArray) -> NDArray:
        return self._rmatmat(y.reshape(-1, 1)).ravel()

    def _matmat(self, B: NDArray) -> NDArray:
        return np.asarray(self.times(B), np.result_type(self.dtype, B))

    def _rmatmat(self, Y: NDArray) -> NDArray:
        return np.asarray(self.transpose_times(Y), np.result_type(self.dtype, Y))

    def _transpose(self) -> LinearOperator:
        return _Transposed(self)


class _Transposed(LinearOperator):
    """The transpose of a real operator, without the copies that SciPy's conjugation makes."""

    def __init__(self, A: Centered):
        super().__init__(A.dtype, A.shape[::-1])  # type: ignore[call-arg]
        self.A = A

    def _matmat(self, B: NDArray) -> NDArray:
        return self.A._rmatmat(B)

    def _rmatmat(self, B: NDArray) -> NDArray:
        return self.A._matmat(B)

    def _transpose(self) -> LinearOperator:
        return self.A


def leading_triplets(
    X_c: Centered, k: float | None, solve: Solver, rng: Any, progress: bool = False
) -> Found:
    """Return s (k,), V (d, k) and ‖X_c‖²_F.

    k=None keeps all with s > 0, a share as few as have that part of the squares. Beyond the rank
    s is zero, and the columns of V are arbitrary and orthonormal.
    """
    if k is not None and not is_fraction(k):
        room_for(X_c.shape[1], int(k), "The directions", "ask for fewer components.")
    data, rng, progress = X_c.in_range(), generator(rng), flag(progress, "progress")
    with np.errstate(over="ignore", invalid="ignore"):  # refused by _check_range
        found = solve(data, k, rng, progress) if k != 0 else _nothing(data)
    s, V, total = found
    rounding = data.rounding()
    _check_range(X_c, total, rounding)
    if s.max(initial=0.0) > np.finfo(X_c.dtype).max:  # found in doubles
        refuse_overflow(np.inf)
    seen = (s > rounding) & (np.sqrt(max(total, 0.0)) > rounding)
    if s.max(initial=0.0) > 0 and not seen.any() and data.dtype != np.float64:
        tell(
            "All variance is below the rounding of single precision, and counts as zero: either "
            "all rows are equal, or X must be given in double precision to tell them apart."
        )
    s = np.where(seen, s, 0).astype(X_c.dtype)
    count = _count(s, total, k)
    s, V = complete(s[:count], V[:, :count].astype(X_c.dtype), count)
    return Found(s, V, total)


# The solvers


def by_svd(X_c: Centered, k: float | None, rng: Any = None, progress: bool = False) -> Found:
    """Take the SVD of X_c, through QR so that U is never formed. All digits; O(nd·min(n, d))."""
    if not X_c.formed:
        raise ValueError(
            'solver="svd" works on dense arrays, and X is sparse or a LinearOperator: '
            'choose "auto" or "lanczos", which never make it dense.'
        )
    Xc = X_c.array()
    if Xc.shape[0] >= Xc.shape[1]:
        _, s, Vt = np.linalg.svd(np.linalg.qr(Xc, mode="r"))  # X_c = QR: the same s and V as R
        V = Vt.T
    else:
        V, s = _left_factors(Xc.T)
    total = float(np.sum(s.astype(float) ** 2))
    return Found(_above_noise(s, max(Xc.shape) * float(np.finfo(s.dtype).eps)), V, total)


def by_covariance(X_c: Centered, k: float | None, rng: Any = None, progress: bool = False) -> Found:
    """Take the eigenvectors of the d×d matrix X_cᵀX_c: nd² operations, half of the digits."""
    C = X_c.scatter()
    total = float(np.trace(C, dtype=float))
    lam, V = _eigenpairs(C, _one_more(X_c, k), total)
    return Found(_above_noise(np.sqrt(np.maximum(lam, 0)), _squared_noise(X_c)), V, total)


def by_gram(X_c: Centered, k: float | None, rng: Any = None, progress: bool = False) -> Found:
    """Take the eigenvectors a of the n×n matrix X_cX_cᵀ, and an orthonormal basis of X_cᵀa."""
    K = X_c.gram()
    total = float(np.trace(K, dtype=float))
    _, a = _eigenpairs(K, _one_more(X_c, k), total)
    V, s = _left_factors(X_c.T @ a)
    return Found(_above_noise(s, _squared_noise(X_c)), V, total)


def by_lanczos(X_c: Centered, k: float | None, rng: Any = None, progress: bool = False) -> Found:
    """Iterate with products: the eigenvectors of the smaller of X_cᵀX_c and X_cX_cᵀ.

    Neither is formed, unless so many directions are wanted that iterating would not pay.
    """
    n, d = X_c.shape
    tall, most = d <= n, min(n, d)
    form = by_covariance if tall else by_gram
    if k is None or not lanczos_pays(most, _first_guess(k)):
        return form(X_c, k)
    total = X_c.sum_of_squares()
    refuse_overflow(total)
    if total == 0:
        return _nothing(X_c)
    K = GramOperator(X_c if tall else X_c.T)
    count = _first_guess(k)
    while lanczos_pays(most, count):
        tol = float(np.sqrt(np.finfo(X_c.dtype).eps))
        lam, A, _ = top_eigenpairs(K, count, tol=tol, progress=progress)
        if not is_fraction(k) or np.sum(lam) >= k * total:
            V, s = (A, np.sqrt(np.maximum(lam, 0))) if tall else _left_factors(X_c.T @ A)
            return Found(_above_noise(s, _squared_noise(X_c)), V, total)
        count *= 2
    return form(X_c, k)


def by_sampling(randomized_svd: Callable[..., Any]) -> Solver:
    """Return a solver that lets random vectors find the leading directions."""

    def solve(
        X_c: Centered, k: float | None, rng: int | np.random.Generator, progress: bool = False
    ) -> Found:
        total, most = X_c.sum_of_squares(), min(X_c.shape)
        refuse_overflow(total)
        count = most if k is None else _first_guess(k)
        while True:
            svd = randomized_svd(X_c, min(count, most), n_iter=7, rng=rng, progress=progress)
            if k is None or count >= most or not is_fraction(k) or np.sum(svd.s**2) >= k * total:
                return Found(svd.s, svd.V, total)
            count *= 2

    return solve


def by_best(X_c: Centered, k: float | None, rng: Any = None, progress: bool = False) -> Found:
    """Choose by shape: square the data where that keeps enough digits, and else take the SVD."""
    n, d = X_c.shape
    few = k is not None and lanczos_pays(min(n, d), _first_guess(k))
    if not X_c.formed or (few and min(n, d) > LARGE):
        return by_lanczos(X_c, k, progress=progress)
    if k is not None:
        found = (by_covariance if d <= n else by_gram)(X_c, k)
        if _keeps_digits(found.s, _count(found.s, found.total, k)):
            return found
    return by_svd(X_c, k)


def leading_of_many(
    tables: Sequence[NDArray], k: int, fit: Callable[[NDArray], Any]
) -> list[tuple[NDArray, NDArray]]:
    """Return the variances, (k,), and directions, (d, k), of each table, (n, d), of one shape.

    The matrices X_cᵀX_c of small tables go to one call of ``eigh``, where a fit each would spend
    most of its time on checks. A table that :func:`by_best` would not square is left to
    ``fit(table)``, which has ``variances`` and ``V``.
    """
    n, d = tables[0].shape
    if d > min(n, SMALL) or tables[0].dtype != float:
        return [(one.variances, one.V) for one in map(fit, tables)]
    eps, tiny = np.finfo(float).eps, np.finfo(float).tiny
    with np.errstate(over="ignore", invalid="ignore"):  # such tables are left to fit
        means = [column_means(X) for X in tables]
        C = np.array([scatter_matrix(X, mean) for X, mean in zip(tables, means, strict=True)])
        rounding = MEAN_ROUNDING * eps * np.sqrt(n) * np.linalg.norm(means, axis=1)
        total = np.trace(C, axis1=1, axis2=2)
    usable = (total > tiny / eps) & (total < np.inf)
    lam, V = np.linalg.eigh(np.where(usable[:, None, None], C, 0.0))
    lam, V = np.maximum(lam[:, ::-1], 0), V[:, :, ::-1]
    found = []
    for X, own, directions, noise in zip(tables, lam, V, rounding, strict=True):
        if _keeps_digits(s := np.sqrt(own), k) and s[k - 1] > noise:
            found.append((own[:k] / n, directions[:, :k]))
        else:
            found.append(((one := fit(X)).variances, one.V))
    return found


# Their parts


def complete(s: NDArray, V: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Complete the directions of positive s to k by arbitrary orthonormal ones with s = 0."""
    r = int(np.sum(s > 0))
    if r == k:
        return s, V
    V, rng = V[:, :r], np.random.default_rng(0)
    extra = rng.standard_normal((V.shape[0], k - r)).astype(V.dtype)
    for _ in range(2):  # the second round removes what rounding left of the first
        extra, _ = np.linalg.qr(extra - V @ (V.T @ extra))
    return np.append(s[:r], np.zeros(k - r, s.dtype)), np.column_stack([V, extra])


def largest_modulus(X: NDArray | sparse.csr_array) -> float:
    """Return the largest |x| of the entries of X."""
    return max(float(X.max()), -float(X.min()))


def _left_factors(Y: NDArray) -> tuple[NDArray, NDArray]:
    """Return the left singular vectors of a tall Y and its singular values."""
    Q, R = np.linalg.qr(Y)
    W, s, _ = np.linalg.svd(R)
    return Q @ W, s


def _eigenpairs(C: NDArray, k: int, total: float) -> tuple[NDArray, NDArray]:
    """Return the k leading eigenvalues of a matrix that may be overwritten, and eigenvectors."""
    refuse_overflow(total)
    lam, W, _ = top_eigenpairs(C, min(k, len(C)), overwrite=True)
    return lam, W


def _one_more(X_c: Centered, k: float | None) -> int:
    """Return how many to find, so that the gap below the last one that is wanted can be seen."""
    most = min(X_c.shape)
    return most if k is None or is_fraction(k) else min(int(k) + 1, most)


def _first_guess(k: float) -> int:
    """Return k, or how many directions to try first if k is a share of the variance."""
    return FIRST_GUESS if is_fraction(k) else int(k)


def _squared_noise(X_c: Centered) -> float:
    """Return the relative size of a singular value that squaring loses: √(max(n, d) ε)."""
    return float(np.sqrt(max(X_c.shape) * np.finfo(X_c.dtype).eps))


def _above_noise(s: NDArray, relative: float) -> NDArray:
    return np.where(s > relative * s.max(initial=0.0), s, 0)


def _keeps_digits(s: NDArray, k: int) -> bool:
    """Tell whether squaring kept two thirds of the digits of s₁ … s_k, and half of those of V.

    An error of ε s₁² in X_cᵀX_c is one of ε(s₁/sⱼ)² in each variance, and turns a direction by
    ε s₁² over the gap between its s² and the next.
    """
    if k == 0 or s[k - 1] == 0:
        return False
    eps = float(np.finfo(s.dtype).eps)
    lam = (s[: k + 1].astype(float) / float(s[0])) ** 2
    gaps = lam[:-1] - lam[1:]
    return bool(lam[k - 1] >= eps ** (1 / 3) and gaps.min(initial=1.0) >= np.sqrt(eps))


def _count(s: NDArray, total: float, k: float | None) -> int:
    """Return how many directions to keep of those that were found."""
    if k is not None and not is_fraction(k):
        return int(k)
    positive = int(np.sum(s > 0))
    if k is None:
        return positive
    enough = np.cumsum(s[:positive].astype(float) ** 2) >= k * total * (1 - 1e-9)
    return int(np.argmax(enough)) + 1 if enough.any() else positive


def _nothing(X_c: Centered) -> Found:
    """Find no direction at all: k = 0, or data without variance."""
    empty = np.zeros(0, X_c.dtype), np.zeros((X_c.shape[1], 0), X_c.dtype)
    return Found(*empty, X_c.sum_of_squares())


def _check_range(X_c: Centered, total: float, rounding: float) -> None:
    """Refuse data whose squares over- or underflow; data without variance are welcome."""
    refuse_overflow(total)
    limits = np.finfo(float)
    if total >= limits.tiny / limits.eps or isinstance(X_c.X, LinearOperator):
        return
    X = X_c.X
    deviations = X_c.array() if isinstance(X, np.ndarray) else X.data - X_c.mean[X.indices]
    if np.abs(deviations).max(initial=0.0) > rounding:
        raise ValueError(
            "The entries of X are so small that their squares vanish: "
            "divide X by its largest entry first."
        )
