"""The machinery of the searches: each routine beside its plain version of a few lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import seeds, sparing
from scipy.optimize import minimize

from kpca_edu._engine.descent import _backtrack, _bend, _quasi_newton, minimize_rows
from kpca_edu._engine.options import check_options, option_names
from kpca_edu._engine.searches import Ends, best_ends, in_blocks, nearest_columns
from kpca_edu._engine.uphill import climb_rows


def valleys(T, data):
    """Rosenbrock valleys, data : (m, 2) their width and scale: values and gradients."""
    x, y, width, scale = *T.T, *data.T
    slope = [2 * (x - 1) - 4 * width * x * (y - x**2), 2 * width * (y - x**2)]
    return scale * ((x - 1) ** 2 + width * (y - x**2) ** 2), scale[:, None] * np.transpose(slope)


STARTS = np.array([[-1.2, 1.0], [3.0, -2.0], [-1.2, 1.0], [0.5, 2.0]])
DATA = np.array([[1.0, 1.0], [10.0, 1e6], [100.0, 1e-6], [30.0, 1.0]])


def descend(starts=STARTS, data=DATA, max_iter=500, tol=1e-8):
    return minimize_rows(
        valleys, starts, data, length=1.0, flat=tol * data[:, 1], max_iter=max_iter
    )


def test_descent_beside_a_loop_of_scipy():
    """Every row ends where SciPy's L-BFGS-B ends it, in about as many steps."""
    found = descend()
    assert found.converged.all()
    for start, data, end, value, steps in zip(
        STARTS, DATA, found.T, found.value, found.n_iter, strict=True
    ):

        def one(x, data=data):
            value, slope = valleys(x[None], data[None])
            return value[0] / data[1], slope[0] / data[1]

        alone = minimize(one, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-10})
        np.testing.assert_allclose(end, alone.x, atol=1e-5)
        assert value / data[1] <= alone.fun + 1e-12
        assert steps <= 2 * alone.nit + 10


@sparing
@given(seeds, st.integers(1, 6))
def test_descent_of_random_quadratics(seed, d):
    """(t − c)ᵀA(t − c)/2 with a matrix for each row: the end is c, and the gradient there is 0."""
    rng = np.random.default_rng(seed)
    C, roots = rng.standard_normal((5, d)), rng.standard_normal((5, d, d))
    A = roots @ roots.transpose(0, 2, 1) + np.eye(d)

    def value_and_slope(T, rows):
        slope = np.einsum("mij,mj->mi", A[rows[:, 0]], T - C[rows[:, 0]])
        return np.sum(slope * (T - C[rows[:, 0]]), axis=1) / 2, slope

    rows = np.arange(5)[:, None]
    found = minimize_rows(
        value_and_slope, np.zeros((5, d)), rows, length=1.0, flat=np.full(5, 1e-9), max_iter=500
    )
    assert found.converged.all()
    np.testing.assert_allclose(found.T, C, atol=1e-8)
    np.testing.assert_allclose(value_and_slope(found.T, rows)[1], 0, atol=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_the_direction_is_that_of_the_matrix_written_out(size):
    """H ← (I − ρsyᵀ)H(I − ρysᵀ) + ρssᵀ from sᵀy/yᵀy of the newest pair that bends upwards."""
    rng, count, d = np.random.default_rng(0), 4, 5
    G, S, Y = (
        rng.standard_normal((3, d)),
        *rng.standard_normal((2, 3, 3, d)) * [[[[1.0]]], [[[0.3]]]],
    )
    Y = size * (S + Y)
    R = np.array([_bend(s, y) for s, y in zip(S, Y, strict=True)])
    R[0, 1] = R[:, 2] = 0.0  # the second row lost its newest pair, the third has none
    assert (R[:, :2] > 0).sum() == 5
    found = _quasi_newton(G, S, Y, R, count, 2.0)
    for row, order in enumerate([(1, 2, 0), (1, 2)]):  # oldest first, place (count − 1) % 3 last
        s, y = S[order[-1], row], Y[order[-1], row]
        H = s @ y / (y @ y) * np.eye(d)
        for i in order:
            s, y = S[i, row], Y[i, row]
            E = np.eye(d) - np.outer(s, y) / (s @ y)
            H = E @ H @ E.T + np.outer(s, s) / (s @ y)
        np.testing.assert_allclose(found[row], -H @ G[row], rtol=1e-9)
    np.testing.assert_allclose(found[2], -0.2 * G[2] / np.linalg.norm(G[2]))


def test_a_slope_that_does_not_turn_is_not_remembered():
    s, y = np.array([[1.0, 0.0]] * 3), np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0]])
    assert _bend(s, y).tolist() == [0.0, 0.0, 0.25]


def test_which_steps_fall_enough():
    """A ten-thousandth of what the slope promises is enough, rounding is allowed for, and only a
    direction that leads down is tried."""
    rows = {  # slope, step, value here, {place: value there}, where it ends
        "rises a little": (-1.0, 1.0, 0.0, {1.0: 5e-5, 0.5: -0.1}, 0.5),
        "just enough, just long enough": (-2.0, 0.5, 0.0, {0.5: -1e-4}, 0.5),
        "no digit changes": (-1e-20, 1.0, 1.0, {1.0: 1.0}, 1.0),
        "leads up": (0.5, 1.0, 0.0, {1.0: -1.0}, None),
        "leads along": (0.0, 1.0, 0.0, {1.0: -1.0}, None),
        "never falls": (-1.0, 1.0, 0.0, {1.0: 1.0, 0.5: 1.0}, None),
    }
    slope, step, here, there, end = zip(*rows.values(), strict=True)

    def look(T, data):
        pairs = zip(T[:, 0], data[:, 0], strict=True)
        return np.array([there[i][t] for t, i in pairs]), np.ones_like(T)

    m = np.arange(len(rows))
    T, G, P = np.zeros((len(m), 1)), np.array(slope)[:, None], np.array(step)[:, None]
    moved, T_new, *_ = _backtrack(look, m[:, None], T, np.array(here), G, P, m, 0.5)
    assert moved.tolist() == [at is not None for at in end]
    assert T_new[:, 0].tolist() == [at for at in end if at is not None]


def test_descent_stops_when_it_should():
    """No step at a minimum, no more steps than allowed, none where nothing falls."""
    at_rest = descend(np.ones((4, 2)), tol=0.0)
    assert at_rest.converged.all()
    assert not at_rest.n_iter.any()
    short = descend(max_iter=2)
    assert not short.converged.any()
    assert np.all(short.n_iter == 2)
    assert np.all(short.value < valleys(STARTS, DATA)[0])

    def cone(T, _):  # |t|, whose tip has the slope 1
        return np.abs(T[:, 0]), np.where(T >= 0, 1.0, -1.0)

    flat = np.full(2, 1e-9)
    tip = minimize_rows(
        cone, np.array([[0.0], [2.0]]), np.zeros((2, 1)), length=1.0, flat=flat, max_iter=100
    )
    assert not tip.converged.any()
    assert tip.n_iter.max() < 100  # it gave up
    np.testing.assert_allclose(tip.T, 0, atol=1e-6)


@pytest.mark.parametrize("search", ["descend", "climb"])
def test_rows_do_not_know_each_other(search):
    """A row alone takes as many steps to the same end."""
    run = {"descend": descend, "climb": lambda T, data: climb(T, data)}[search]
    together = run(STARTS, DATA)
    for i in range(4):
        alone = run(STARTS[i : i + 1], DATA[i : i + 1])
        np.testing.assert_allclose(alone.T[0], together.T[i], rtol=1e-12)
        assert alone.n_iter[0] == together.n_iter[i]


# --- climbing ------------------------------------------------------------------------------------


def bells(T, data):
    """Mean shift among four bells: height Σexp(−‖t − c‖²/2) and the step to the weighted mean."""
    C = np.array([[0.0, 0.0], [1.5, 0.0], [5.0, 1.0], [5.0, 3.0]])
    w = np.exp(-np.sum((T[:, None] - C) ** 2, axis=2) / 2)
    with np.errstate(invalid="ignore"):
        return w.sum(axis=1), (w @ C) / w.sum(axis=1, keepdims=True) - T


def climb(T=STARTS, data=DATA, look=bells, max_iter=2000, small=1e-9):
    slack = np.full(len(T), 1e-15)
    return climb_rows(look, T, data, small=small, slack=slack, max_iter=max_iter)


def plain_climb(T, small=1e-7):
    """The iteration as it is: the whole step, again and again."""
    steps = 0
    while np.linalg.norm(step := bells(T, None)[1], axis=1).max() > small:
        T, steps = T + step, steps + 1
    return T, steps


@sparing
@given(seeds)
def test_climb_beside_the_plain_iteration(seed):
    """Looking ahead ends at the same tops, higher than any start, in far fewer steps."""
    starts = np.random.default_rng(seed).uniform(-1, 6, (8, 2))
    found = climb(starts, np.zeros((8, 1)), small=1e-7)
    plain, steps = plain_climb(starts)
    assert found.converged.all()
    np.testing.assert_allclose(found.T, plain, atol=1e-4)
    np.testing.assert_allclose(-found.value, bells(found.T, None)[0])
    assert np.linalg.norm(bells(found.T, None)[1], axis=1).max() <= 1e-7
    assert found.n_iter.max() < steps / 2


def test_climb_halves_steps_that_lead_down():
    """Steps ten times too long: the plain iteration never ends, the guarded one does, uphill."""
    heights = []

    def too_far(T, _):
        heights.append(-np.sum(T**2, axis=1))
        return heights[-1], -10 * T

    found = climb(look=too_far, small=1e-6)
    assert found.converged.all()
    np.testing.assert_allclose(found.T, 0, atol=1e-6)
    assert np.all(-found.value >= heights[0])


def test_climb_stops_when_it_should():
    """At a tip no share of a step leads up; where there is no step, or no more, it says so."""

    def cone(T, _):
        return -np.linalg.norm(T, axis=1), np.tile([[0.3, 0.2]], (len(T), 1))

    tip = climb(np.zeros((4, 2)), look=cone)
    assert tip.converged.all()
    assert not tip.T.any()
    lost = climb(np.full((4, 2), 1e3), look=bells)
    assert not lost.converged.any()
    assert np.array_equal(lost.T, np.full((4, 2), 1e3))
    assert np.isfinite(lost.value).all()
    short = climb(max_iter=1)
    assert not short.converged.any()
    assert np.all(short.n_iter == 1)


def test_a_step_of_the_length_that_counts_as_none_is_not_taken():
    """Steps of just ``small`` are none, however high they lead; longer ones are taken."""
    look = lambda T, _: (T[:, 0], np.tile([[0.25, 0.0]], (len(T), 1)))  # noqa: E731
    found = climb(np.zeros((1, 2)), look=look, small=0.25)
    assert (found.converged[0], found.n_iter[0], found.T[0, 0]) == (True, 0, 0.0)
    assert climb(np.zeros((1, 2)), look=look, small=0.2, max_iter=3).T[0, 0] >= 0.75


def test_level_ground_is_walked():
    """Without slack a step that keeps the height is taken, and none that loses any."""
    starts = np.array([[1.0, 2.0]])

    def walk(fall):
        height = lambda T: -fall * (T[:, 0] < 1)  # noqa: E731
        return climb_rows(
            lambda T, _: (height(T), -T / 2),
            starts,
            starts,
            small=1e-6,
            slack=np.zeros(1),
            max_iter=100,
        )

    np.testing.assert_allclose(walk(0.0).T, 0, atol=1e-5)
    np.testing.assert_array_equal(walk(1e-9).T, starts)


# --- starts, blocks, options ---------------------------------------------------------------------


def ends(T, value, converged):
    m = len(T)
    return Ends(np.array(T, float), np.array(value, float), np.array(converged), np.ones(m, int))


def test_best_ends_keeps_the_best_of_each_row():
    """All rows from all starts, or further starts only for those that failed."""
    table = {  # start: (value, converged) for each of three rows
        0: ([3.0, 2.0, 5.0], [True, False, False]),
        1: ([1.0, 2.0, 9.0], [True, True, True]),
    }

    def start(number):
        return lambda rows: np.full((len(rows), 1), float(number))

    def run(T, rows):
        value, converged = table[int(T[0, 0])]
        return ends(T, np.array(value)[rows], np.array(converged)[rows])

    every = best_ends(run, [start(0), start(1)], 3, only_failed=False)
    assert every.T[:, 0].tolist() == [1, 1, 0]
    assert every.value.tolist() == [1, 2, 5]
    assert every.converged.tolist() == [True, True, False]  # as deep, and converged: it counts
    assert every.n_iter.tolist() == [2, 2, 2]
    failed = best_ends(run, [start(0), start(1)], 3, only_failed=True)
    assert failed.value.tolist() == [3, 2, 5]
    assert failed.n_iter.tolist() == [1, 2, 2]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_equal_ends_are_equal_in_any_unit(size):
    """Values that agree to 1e-9 of themselves tie, and the converged end wins; others don't."""
    for gap, wins in ((5e-10, True), (5e-9, False)):
        values = {0.0: -size, 1.0: -size * (1 - gap)}  # the second is a little worse

        def run(T, rows, values=values):
            return ends(T, [values[float(T[0, 0])]], [T[0, 0] == 1.0])

        starts = [lambda rows, at=at: np.full((1, 1), at) for at in (0.0, 1.0)]
        best = best_ends(run, starts, 1, only_failed=False)
        assert (best.T[0, 0] == 1.0, bool(best.converged[0])) == (wins, wins)


def test_an_end_that_is_no_better_replaces_none():
    """Of equal values the first is kept, and with it that it has converged."""
    runs = iter([ends([[0.0]], [2.0], [True]), ends([[1.0]], [2.0], [False])])
    best = best_ends(lambda T, rows: next(runs), [lambda rows: rows] * 2, 1, only_failed=False)
    assert (best.T[0, 0], bool(best.converged[0])) == (0.0, True)


@pytest.mark.parametrize("m", [16, 17, 32, 33])
def test_one_block_and_two_join_to_the_whole(m, monkeypatch):
    monkeypatch.setattr("kpca_edu._engine.panels.BLOCK_ENTRIES", 16)
    (numbers,) = in_blocks(lambda rows: (np.arange(m)[rows],), m, 2)
    assert np.array_equal(numbers, np.arange(m))


def test_blocks_join_to_the_whole(monkeypatch):
    monkeypatch.setattr("kpca_edu._engine.panels.BLOCK_ENTRIES", 4 * 50)
    seen = []

    def solve(rows):
        seen.append(rows)
        return np.arange(100)[rows], np.arange(100)[rows] % 2 == 0

    numbers, even = in_blocks(solve, 100, 2)
    assert len(seen) == 4
    assert np.array_equal(numbers, np.arange(100))
    assert np.array_equal(even, np.arange(100) % 2 == 0)


@sparing
@given(seeds, st.integers(1, 7))
def test_nearest_columns_sort_the_least(seed, count):
    """They are the first columns of the sorted rows."""
    D2 = np.random.default_rng(seed).random((5, 7))
    assert np.array_equal(nearest_columns(D2, count), np.argsort(D2, axis=1)[:, :count])


def test_the_last_of_many_nearest_columns_is_right():
    """A partition is sure of one place only; where rows are long, it must be the last one."""
    D2 = np.random.default_rng(0).random((10, 600))
    order = np.argsort(D2, axis=1)
    for count in range(50, 250, 2):
        assert np.array_equal(nearest_columns(D2, count), order[:, :count])


def test_options_are_listed():
    def solve(model, Z, *, tol=1e-8, progress=False, **rest):
        return model, Z, tol, progress, rest

    assert option_names(solve) == ["tol", "progress"]
    check_options({"tol": 1}, ["tol", "tol"], "solve")
    with pytest.raises(TypeError, match="solve has no option tool: it takes tol, progress."):
        check_options({"tool": 1}, option_names(solve), "solve")
