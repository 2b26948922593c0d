"""Tables with holes: rows with the same gaps share their matrices, and parts fit in memory.

NaN marks a value that was not observed. With g patterns of gaps in n rows of d columns, and k×k
matrices, the work of a pass is O((n + g)dk² + gk³) and its memory n·d + d·k² numbers and one part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .checks import check_columns, data_matrix
from .gaussian import refuse_out_of_range
from .memory import room_for
from .panels import BLOCK_ENTRIES
from .sums import column_means

__all__ = [
    "Table",
    "Units",
    "by_row",
    "grams",
    "in_own_units",
    "loadings_and_noise",
    "log_determinants",
    "mean_variances_directions",
    "model_and_codes",
    "quadratic_forms",
    "refuse_empty_columns",
    "refuse_other_codes",
    "refuse_other_models",
    "refuse_unknowable",
    "solve_columns",
    "solve_rows",
    "table_for",
    "table_with",
    "with_holes",
]

COLLAPSED = 1e-10  # of the mean variance: noise below this is taken for none


@dataclass(frozen=True, eq=False)
class Table:
    """A data matrix, where it was observed, and which of its rows have the same gaps."""

    values: NDArray  # (n, d) zeros where nothing was seen
    seen: NDArray  # (n, d) True where a value was observed
    patterns: NDArray  # (g, d) the different rows of ``seen``
    group: NDArray  # (n,) the pattern of each row
    in_order: bool  # whether the rows are sorted by pattern
    rows: NDArray | slice  # where these rows stand in the table that they are a part of

    def __len__(self) -> int:
        return len(self.values)

    @property
    def d(self) -> int:
        return self.values.shape[1]

    @property
    def n_seen(self) -> int:
        """The number of observed values."""
        return int(self.seen.sum())

    @property
    def complete(self) -> bool:
        return len(self.patterns) == 1 and bool(self.patterns.all())

    def minus(self, fitted: NDArray) -> NDArray:
        """Return values − fitted, (n, d), with zeros where nothing was seen."""
        rest = self.values - fitted
        if not self.complete:
            rest *= self.seen
        return rest

    def parts(self, k: int) -> Iterator[Table]:
        """Cut the rows into parts with about a million entries of k×k matrices, one a row.

        Rows with the same gaps stay together, sorted by pattern; a pattern with more rows than
        that is a part of its own, as one matrix serves it. A table that is sorted isn't copied.
        """
        most = max(BLOCK_ENTRIES // max(k * k, 1), 1)
        if len(self.patterns) == 1 or (self.in_order and len(self) <= most):
            yield self
            return
        order = None if self.in_order else np.argsort(self.group, kind="stable")
        ends = np.cumsum(np.bincount(self.group))
        first = start = 0
        while first < len(ends):
            after = max(int(np.searchsorted(ends, start + most, side="right")), first + 1)
            stop = int(ends[after - 1])
            rows = slice(start, stop) if order is None else order[start:stop]
            patterns, group = self.patterns[first:after], self.group[rows] - first
            yield Table(self.values[rows], self.seen[rows], patterns, group, True, rows)
            first, start = after, stop

    def gather(self, pieces: Iterable[tuple[NDArray | slice, NDArray]]) -> NDArray:
        """Put what was computed for the parts, as (rows, values), in the order of the rows."""
        found = list(pieces)
        if len(self.patterns) == 1:
            return found[0][1]  # all rows at once, or one value that is the same for all
        whole = np.empty((len(self), *found[0][1].shape[1:]))
        for rows, values in found:
            whole[rows] = values
        return whole

    def over_rows(self, T: NDArray) -> NDArray:
        """Return Σᵢ Tᵢ over the rows that have column j, (d, a, b), for each j.

        T is (g, a, b), the same for all rows of a pattern. A complete table gives (1, a, b), which
        is right for every column.
        """
        return self._over_patterns(T, np.bincount(self.group))

    def second_moments(self, Z: NDArray) -> NDArray:
        """Return Σᵢ zᵢzᵢᵀ over the rows that have column j, (d, a, a); (1, a, a) if complete.

        Z is (n, a). Plainly: ``[Z[s].T @ Z[s] for s in seen.T]``, here in one product a part.
        """
        total = np.zeros((1 if self.complete else self.d, Z.shape[1], Z.shape[1]))
        for part in self.parts(Z.shape[1]):
            total += part._over_patterns(part._squares(Z[part.rows]), 1)
        return total

    def _squares(self, Z: NDArray) -> NDArray:
        """Return Σᵢ zᵢzᵢᵀ over the rows of each pattern, (g, a, a); rows are sorted by pattern."""
        if len(self.patterns) == 1:
            return (Z.T @ Z)[None]
        outer = _outer(Z)
        if len(outer) == len(self.patterns):
            return outer
        return np.add.reduceat(outer, np.searchsorted(self.group, np.arange(len(self.patterns))))

    def _over_patterns(self, T: NDArray, weight: NDArray | int) -> NDArray:
        """Return the weighted sum of the T, (g, a, b), of the patterns that have column j."""
        columns = self.patterns[:, :1] if self.patterns.all() else self.patterns
        total = (columns.T * np.asarray(weight, float)) @ _flat(T)
        return total.reshape(columns.shape[1], *T.shape[1:])


def with_holes(X: Any) -> Table:
    """Return X, (n, d) with NaN for what is missing, as a table; a table is returned as it is."""
    if isinstance(X, Table):
        return X
    X = data_matrix(X, missing=True)
    room_for(len(X), 2 * X.shape[1], "X, and what is left of it", "take some rows at a time.")
    X = X.astype(float)
    seen = ~np.isnan(X)
    X[~seen] = 0.0
    return _table(X, seen)


class Model(Protocol):
    """What is asked of a model: x = Wz + mean + noise, and the names of its columns."""

    @property
    def mean(self) -> NDArray: ...

    @property
    def W(self) -> NDArray: ...

    @property
    def sigma2(self) -> float: ...

    @property
    def columns(self) -> tuple[str, ...] | None: ...


def table_for(model: Model, X: Any) -> Table:
    """Return X as a table that has the columns of the model and tells it something."""
    refuse_other_models(model, "model")
    table = with_holes(X)
    check_columns(table.values if table is X else X, model.mean.size, model.columns)
    refuse_unknowable(model.W, model.sigma2, table.patterns)
    return table


def refuse_other_models(model: Any, name: str) -> None:
    """Refuse what has no loadings and no noise."""
    if not (hasattr(model, "W") and hasattr(model, "sigma2")):
        given = type(model).__name__
        raise ValueError(f"{name} is a {given}: a PPCA, as fit_ppca makes it, is needed.")


def refuse_other_codes(codes: Any) -> None:
    """Refuse what is no outcome of an E-step."""
    if not (hasattr(codes, "m") and hasattr(codes, "spread")):
        given = type(codes).__name__
        raise ValueError(f"codes is a {given}: what expect(model, X) returns is needed.")


def model_and_codes(model: Any, codes: Any) -> tuple[NDArray, NDArray]:
    """Return W and the posterior means m of a model and of codes that are codes of its kind."""
    refuse_other_models(model, "model")
    refuse_other_codes(codes)
    if model.W.shape[1] != codes.m.shape[1]:
        raise ValueError(
            f"model has {model.W.shape[1]} directions and codes has {codes.m.shape[1]}: give the "
            f"codes that expect(model, X) returns."
        )
    return model.W, codes.m


def loadings_and_noise(model: Any, z: Any) -> tuple[NDArray, float]:
    """Return W and σ² of a model, if z can be what :func:`infer` has found by it."""
    refuse_other_models(model, "model")
    if not (hasattr(z, "part") and hasattr(z, "M")):
        given = type(z).__name__
        raise ValueError(f"z is a {given}: what infer(model, X) yields is needed.")
    return model.W, model.sigma2


def mean_variances_directions(spectrum: Any) -> tuple[NDArray, NDArray, NDArray]:
    """Return what the closed form needs of a spectrum, if it is one."""
    if not all(hasattr(spectrum, name) for name in ("mean", "lam", "V")):
        given = type(spectrum).__name__
        raise ValueError(f"spectrum is a {given}: what spectrum(X) returns is needed.")
    return spectrum.mean, spectrum.lam, spectrum.V


def table_with(X: Any, codes: Any) -> Table:
    """Return X as a table that codes.m, (n, k), and codes.spread, (d or 1, k, k), are of."""
    refuse_other_codes(codes)
    table = with_holes(X)
    if len(table) != len(codes.m) or len(codes.spread) not in (1, table.d):
        raise ValueError(
            f"X is {len(table)}×{table.d} and the codes are of {len(codes.m)} rows of another "
            f"table: give X as it was given to expect."
        )
    refuse_empty_columns(table)
    return table


def _table(values: NDArray, seen: NDArray) -> Table:
    """Group the rows by their gaps."""
    if seen.all():
        return Table(values, seen, seen[:1], np.zeros(len(seen), int), True, slice(None))
    packed = np.packbits(seen, axis=1)
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    in_order = bool(np.all(np.diff(group) >= 0))
    return Table(values, seen, seen[first], group, in_order, slice(None))


class Units(NamedTuple):
    """Where a table has been measured from, and in which unit: x = origin + unit · x′."""

    origin: NDArray  # (d,)
    unit: float  # a power of two
    variance: float  # of the observed values about their column means, in the new unit
    rounding: float  # what rounding in x can amount to, in the new unit

    def collapsed(self, sigma2: float) -> bool:
        """Tell whether a noise, in the new unit, is too small to be one."""
        return sigma2 <= max(COLLAPSED * self.variance, (4 * self.rounding) ** 2)

    def refuse_collapse(self, sigma2: float, k: int) -> None:
        """Refuse a model with k directions whose noise is on its way to zero."""
        if self.collapsed(sigma2):
            raise ValueError(
                f"σ² falls to 0 with k={k} components: it is below {COLLAPSED:.0e} of the mean "
                f"variance and still falling, because some rows are fitted exactly. The likelihood "
                f"then grows without bound and has no maximum. Ask for fewer components, or for "
                f"more rows with few gaps; if a column is in much larger units, rescale it."
            )


def in_own_units(table: Table) -> tuple[Table, Units]:
    """Measure the values from their column means, in a unit in which the largest is about 1.

    So neither a far origin nor a large scale costs digits, and no square overflows. Rows without
    any value are left out, and the others sorted by their gaps. A table in which nothing varies
    has no unit, and a column without values no mean: both are refused.
    """
    refuse_empty_columns(table)
    size = float(np.abs(table.values).max())
    origin = column_means(table.values) * (len(table) / table.seen.sum(axis=0))
    rest = table.minus(origin)
    largest = float(np.abs(rest).max())
    if largest <= 8 * np.finfo(float).eps * size:
        raise ValueError(
            "X has zero variance: in no column do two observed values differ, and the likelihood "
            "grows without bound as σ² → 0. Rows that differ are needed."
        )
    refuse_out_of_range(largest)
    unit = 2.0 ** np.floor(np.log2(largest))
    rest /= unit
    variance = float(np.vdot(rest, rest)) / table.n_seen
    order = np.argsort(table.group, kind="stable")
    has_values = np.asarray(table.patterns.any(axis=1))
    order = order[has_values[table.group[order]]]
    own = _table(rest[order], table.seen[order])
    return own, Units(origin, float(unit), variance, np.finfo(float).eps * size / unit)


def refuse_empty_columns(table: Table) -> None:
    """Refuse a table with a column of which no value was observed."""
    empty = np.flatnonzero(~table.patterns.any(axis=0))
    if empty.size:
        raise ValueError(
            f"Column {empty[0]} of X has no observed value: nothing can be learnt about it. "
            f"Drop it."
        )


def grams(W: NDArray, patterns: NDArray) -> NDArray:
    """Return WᵀW over the observed rows of W, (g, k, k), for each pattern of gaps.

    Plainly: ``[W[seen].T @ W[seen] for seen in patterns]``, here in one product, 2gdk² operations.
    """
    W = W.astype(float, copy=False)  # whose squares may be beyond single precision
    if len(patterns) == 1:
        observed = W[patterns[0]]
        return (observed.T @ observed)[None]
    k = W.shape[1]
    return (patterns.astype(float) @ _flat(_outer(W))).reshape(len(patterns), k, k)


def quadratic_forms(W: NDArray, S: NDArray) -> NDArray:
    """Return wⱼᵀSwⱼ for each matrix S, (g, k, k), and each row wⱼ of W: (g, d)."""
    return _flat(S) @ _flat(_outer(W.astype(float, copy=False))).T


def refuse_unknowable(W: NDArray, sigma2: float, patterns: NDArray) -> None:
    """Refuse rows whose observed values don't determine z, where no noise leaves it uncertain."""
    k, W = W.shape[1], W.astype(float, copy=False)
    if k == 0 or sigma2 > np.finfo(float).eps * np.vdot(W, W):
        return
    if np.linalg.matrix_rank(grams(W, patterns), hermitian=True).min() < k:
        raise ValueError(
            f"With sigma2={sigma2:.2g} (which shrink=False sets to 0) some row has too few "
            f"observed values to tell its z: WᵀW of the observed columns can't be inverted. Leave "
            f"such rows out, or use a larger sigma2, or independent columns in W."
        )


def by_row(A: NDArray, group: NDArray, B: NDArray) -> NDArray:
    """Return A_g b for each row b of B, (n, k), with the matrix of the row's group."""
    if len(A) == 1:
        return B @ A[0].T
    return np.einsum("nkl,nl->nk", A if len(A) == len(B) else A[group], B)


def solve_columns(A: NDArray, B: NDArray) -> NDArray:
    """Solve Aⱼxⱼ = bⱼ for each row bⱼ of B, (d, k); one matrix, (1, k, k), may serve all."""
    if len(A) == 1:
        return np.linalg.solve(A[0], B.T).T
    return np.linalg.solve(A, B[:, :, None])[:, :, 0]


def solve_rows(M: NDArray, group: NDArray, B: NDArray) -> tuple[NDArray, NDArray]:
    """Return M⁻¹b for each row b of B, (n, k), and M⁻¹ for each pattern; M is (g, k, k).

    The product with an inverse has an error that grows with the condition of M. One correction by
    what is left over, b − Mx, makes x as good as a solver's, without solving for each row.
    """
    M_inv = np.linalg.inv(M)
    x = by_row(M_inv, group, B)
    x += by_row(M_inv, group, B - by_row(M, group, x))
    return x, M_inv


def log_determinants(M: NDArray, W: NDArray, sigma2: float, patterns: NDArray) -> NDArray:
    """Return log|M|, (g,), for M = WᵢᵀWᵢ + σ²I, σ² > 0, from the k×k matrices in M, (g, k, k).

    A pattern with fewer values than directions, c < k, has the eigenvalue σ² in M, which drowns in
    rounding if it is small. The c×c matrix WᵢWᵢᵀ + σ²I has not: |M| = σ^{2(k − c)} |WᵢWᵢᵀ + σ²I|.
    """
    if sigma2 == 0:
        raise ValueError(
            "With sigma2=0 the model has no density: all its samples lie on mean + span(W), and "
            "any other point has likelihood 0. Use a model with sigma2 > 0."
        )
    k, count, W = W.shape[1], patterns.sum(axis=1), W.astype(float, copy=False)
    logs = np.linalg.slogdet(M)[1]
    for c in np.unique(count[count < k]):
        few = np.flatnonzero(count == c)
        observed = W[np.nonzero(patterns[few])[1].reshape(len(few), c)]
        small = observed @ observed.swapaxes(1, 2) + sigma2 * np.eye(c)
        logs[few] = np.linalg.slogdet(small)[1] + (k - c) * np.log(sigma2)
    return logs


def _outer(A: NDArray) -> NDArray:
    """Return aaᵀ for each row a of A: (n, k, k)."""
    return A[:, :, None] * A[:, None, :]


def _flat(matrices: NDArray) -> NDArray:
    """Return each matrix of a stack, (n, a, b), as one row: (n, ab)."""
    n, a, b = matrices.shape
    return matrices.reshape(n, a * b)
