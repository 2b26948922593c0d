"""The engine of sparse PCA against plain versions of a few lines: nets, paths, covariances."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import orthonormal, seeds, sparing, thorough

from kpca_edu._engine import supports
from kpca_edu._engine.alternation import Alternation
from kpca_edu._engine.covariance import (
    Covariance,
    covariance_of,
    falling_order,
    largest,
    power_of_two,
    principal_directions,
    refuse_negative,
    scaled_samples,
    semidefinite,
    unit_columns,
)
from kpca_edu._engine.elastic_net import (
    Collinear,
    ElasticNets,
    FixedNets,
    HeldNets,
    Quadratic,
    RidgeNets,
    _stop_at_the_first_zero,
    _value,
    elastic_net,
    path,
    solve,
    stretch_with,
)
from kpca_edu._engine.sparsity import Rounds, listed
from kpca_edu._engine.subsets import Nodes, row_bound, split
from kpca_edu._engine.supports import (
    Found,
    Steps,
    _best_truncated,
    _keep_their_penalties,
    along_paths,
    alternate,
    best_start,
    filled_up,
    in_turn,
    nets_with_counts,
    sparse_start,
)
from kpca_edu.sparse_pca import (
    adjusted_variances,
    deflate_covariance,
    procrustes,
    refit_loadings,
    simple_threshold,
    sparse_direction,
    sparse_pca_objective,
)

STEPS = Steps(
    procrustes, sparse_pca_objective, refit_loadings, lambda M: np.linalg.eigvalsh(M)[::-1]
)


@st.composite
def problems(draw, max_d=9):
    """Draw data, C = XᵀX/n as a matrix and as a root, and c = Ca."""
    d = draw(st.integers(2, max_d))
    rng = np.random.default_rng(draw(seeds))
    X = rng.standard_normal((draw(st.integers(2, 2 * d)), d)) @ rng.standard_normal((d, d))
    X /= np.sqrt(np.mean(X**2) * len(X))
    C = X.T @ X
    return C, Covariance(X, root=True), rng.standard_normal(d)


# --- covariances ---------------------------------------------------------------------------------


@thorough
@given(problems(), seeds)
def test_a_root_does_what_the_matrix_does(case, seed):
    """Products, blocks, eigenvectors and deflation agree, whether C was formed or not."""
    C, root, _ = case
    rng, d = np.random.default_rng(seed), len(C)
    T = np.sort(rng.permutation(d)[: rng.integers(1, d + 1)])
    B = rng.standard_normal((d, 2)) * (rng.random((d, 1)) < 0.5)
    for form in (root, Covariance(C)):
        assert len(form) == d
        assert form.trace == pytest.approx(np.trace(C))
        np.testing.assert_allclose(form @ B, C @ B, atol=1e-12)
        np.testing.assert_allclose(form.block(T), C[np.ix_(T, T)], atol=1e-12)
        np.testing.assert_allclose(form.columns_times(T, B[T]), C[:, T] @ B[T], atol=1e-12)
        np.testing.assert_allclose(form.diagonal(), np.diag(C), atol=1e-12)
        value, w = form.leading(T)
        assert value == pytest.approx(np.linalg.eigvalsh(C[np.ix_(T, T)])[-1])
        np.testing.assert_allclose(C[np.ix_(T, T)] @ w, value * w, atol=1e-9 * np.trace(C))
        b = unit_columns(rng.standard_normal(d))
        rest = form.without(b)
        left = rest.M.T @ rest.M if rest.root else rest.M
        np.testing.assert_allclose(left, deflate_covariance(C, b, "schur"), atol=1e-7 * np.trace(C))


def test_products_follow_what_is_multiplied():
    """The last product is kept for the same array only."""
    C = Covariance(np.diag([1.0, 2.0]))
    B = np.eye(2)
    assert (C @ B) is (C @ B)
    np.testing.assert_array_equal(C @ (2 * B), 2 * (C @ B))


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_used_up_features_are_gone(unit):
    """What a score explains wholly becomes an exact zero; taking it again changes nothing."""
    R = unit * np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    for form in (Covariance(R.T @ R), Covariance(R, root=True)):
        rest = form.without(np.array([1.0, 0.0, 0.0]))
        assert list(rest.diagonal() > 0) == [False, False, True]
        assert rest.leading(np.array([0, 1])) == (0.0, pytest.approx([0, 0]))
        again = rest.without(np.array([1.0, 0.0, 0.0]))
        np.testing.assert_array_equal(again.M, rest.M)


def test_a_root_whose_rows_are_known_becomes_the_matrix():
    """Blocks are the same before and after, and C is formed once."""
    X = np.random.default_rng(4).standard_normal((3, 8))
    C = Covariance(X, root=True)
    for T in [*np.arange(8)[:, None], np.arange(3), np.arange(8), np.array([1, 6])]:
        np.testing.assert_allclose(C.block(T), X[:, T].T @ X[:, T], atol=1e-12)
    assert not C.root
    np.testing.assert_allclose(C @ np.eye(8), X.T @ X, atol=1e-12)


def test_how_many_directions_have_variance():
    """A second eigenvalue counts from 8 d roundings of the first on."""
    eps = np.finfo(float).eps
    for second, enough in ((100 * eps, False), (3000 * eps, True)):
        C = Covariance(4 * np.diag([1.0, second / 4] + 18 * [0.0]))
        if enough:
            np.testing.assert_allclose(np.abs(principal_directions(C, 2, False)), np.eye(20)[:, :2])
            continue
        with pytest.raises(ValueError, match="only 1 directions"):
            principal_directions(C, 2, False)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 100.0])
def test_a_matrix_in_any_unit_may_be_negative_by_rounding(scale):
    """The message has the eigenvalue in the unit of the matrix."""
    form, _ = covariance_of(scale * np.diag([1.0, -5e-9]), True)
    principal_directions(form, 1, True)
    form, _ = covariance_of(scale * np.diag([1.0, -0.25]), True)
    with pytest.raises(ValueError, match=f"negative eigenvalue {-0.25 * scale:.3g}:"):
        principal_directions(form, 1, True)
    assert semidefinite(scale * np.ones((3, 3))).shape == (3, 3)
    with pytest.raises(ValueError, match="no positive variance"):
        covariance_of(0 * np.eye(2), True)


def test_a_constant_column_is_zero():
    """What rounding leaves of it is no variance."""
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    np.testing.assert_array_equal(scaled_samples(X)[0][:, 0], 0)


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_the_unit_is_taken_out(gram, scale):
    """C comes in units of its mean variance, whatever the unit of X."""
    X = np.random.default_rng(0).standard_normal((30, 5)) + 3
    C = np.cov(X.T, ddof=0)
    form, mean = covariance_of(scale * C if gram else scale * X, gram)
    unit = np.trace(C) / 5
    np.testing.assert_allclose(form.M, C / unit, atol=1e-12)
    assert form.unit == pytest.approx(unit * scale ** (1 if gram else 2))
    np.testing.assert_allclose(mean, 0 if gram else scale * X.mean(axis=0), rtol=1e-12)


@sparing
@given(problems())
def test_principal_directions(case):
    """They are the leading eigenvectors, orthonormal to rounding, from C or from a root."""
    C, root, _ = case
    k = int(np.sum(np.linalg.eigvalsh(C) > 1e-6))
    for form in (root, Covariance(C)):
        V = principal_directions(form, k, False)
        np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
        np.testing.assert_allclose(C @ V, V * np.diag(V.T @ C @ V), atol=1e-8 * np.trace(C))


@thorough
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.data(), seeds)
def test_largest_breaks_ties_by_place(values, draw, seed):
    """Noise of the size of rounding changes nothing; a stable sort gives the same places."""
    c = np.array(values, float)
    count = draw.draw(st.integers(1, c.size))
    plain = np.sort(np.argsort(-np.abs(c), kind="stable")[:count])
    np.testing.assert_array_equal(largest(c, count), plain)
    noise = 1 + 1e-13 * np.random.default_rng(seed).standard_normal(c.size)
    np.testing.assert_array_equal(largest(c * noise, count), plain)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_falling_order(unit):
    """Values fall; those that are equal up to rounding go by place, in every unit."""
    values = unit * np.array([1.0, 3.0, 1.0 + 1e-14, 3.0 - 1e-13, 2.0])
    order = falling_order(values, np.array([7, 9, 3, 8, 0]))
    np.testing.assert_array_equal(order, [3, 1, 4, 2, 0])


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_negative_eigenvalue_counts_in_every_unit(unit):
    """From 1e-8 of the largest on it is more than rounding."""
    refuse_negative(-1e-9 * unit, unit)
    with pytest.raises(ValueError, match="negative eigenvalue"):
        refuse_negative(-1e-7 * unit, unit)


@pytest.mark.parametrize("X", [np.eye(2) / 4, [[2.0, 0.1], [0.1, 2.0]]])
def test_the_smallest_matrix_that_may_be_a_covariance(X):
    """Two rows are enough to ask, and any positive diagonal; small entries must agree, too."""
    with pytest.warns(UserWarning, match="gram=True"):
        scaled_samples(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled_samples(X + np.array([[0.0, 1e-3], [0.0, 0.0]]))
        scaled_samples(X - np.diag([2.0, 0.0]))
        scaled_samples([[0.0, 1.0], [1.0, 2.0]])


# --- nets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.2, np.inf])
def test_the_quadratic_form_written_out(ridge):
    """Blocks, products and solutions are those of C + ridge I, or of I."""
    X = np.random.default_rng(0).standard_normal((9, 5))
    Q = Quadratic(Covariance(X.T @ X), ridge)
    plain = np.eye(5) if ridge == np.inf else X.T @ X + ridge * np.eye(5)
    T, b = np.array([0, 3, 4]), np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(Q.block(T), plain[np.ix_(T, T)])
    np.testing.assert_allclose(Q.columns_times(T, b), plain[:, T] @ b)
    np.testing.assert_allclose(Q.block(T) @ Q.solve(T, b), b, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_nets_and_pieces_know_no_unit(unit):
    """c and l1 in another unit give the same net in that unit, and penalties inside a piece."""
    X = np.random.default_rng(1).standard_normal((12, 6))
    Q, c = Quadratic(Covariance(X.T @ X / 12), 0.1), np.arange(1.0, 7.0)
    plain = elastic_net(Q, c, 2.0, np.zeros(6))
    assert 1 < np.count_nonzero(plain) < 6
    np.testing.assert_allclose(elastic_net(Q, unit * c, 2 * unit, np.zeros(6)), unit * plain)
    pairs = list(zip(path(Q, c), path(Q, unit * c), strict=True))
    assert pairs[0][0].high == 12.0
    for piece, scaled in pairs:
        assert scaled.high == pytest.approx(unit * piece.high)
        assert scaled.inside() == pytest.approx(unit * piece.inside())
        assert scaled.there()
    assert not replace(piece, low=0.0, high=0.0).there()


@thorough
@given(problems(), seeds, st.floats(0.001, 0.99), st.sampled_from([1e-3, 0.3, np.inf]))
def test_many_at_once_is_one_by_one(case, seed, share, ridge):
    """From any start the quick solver finds what sparse_direction finds from zero."""
    C, root, a = case
    l1 = share * 2 * np.abs(C @ a).max()
    plain = sparse_direction(C, a, l1, ridge=ridge)
    starts = [np.zeros(len(C)), np.random.default_rng(seed).standard_normal(len(C)), plain]
    for start in starts:
        b = elastic_net(Quadratic(root, ridge), C @ a, l1, start)
        np.testing.assert_allclose(b, plain, atol=1e-7 * np.abs(plain).max())
        np.testing.assert_array_equal(b != 0, plain != 0)


def test_hundreds_of_features_enter_in_a_few_systems(monkeypatch):
    """A net of 300 loadings takes some dozen systems from nothing, and one from itself."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 400)) / 200**0.5
    C, a = Covariance(X, root=True), rng.standard_normal(400)
    calls = []
    block = Quadratic.block
    monkeypatch.setattr(Quadratic, "block", lambda Q, T: calls.append(T.size) or block(Q, T))
    Q, c = Quadratic(C, 0.1), C @ a
    b = elastic_net(Q, c, 0.05 * np.abs(c).max(), np.zeros(400))
    assert np.count_nonzero(b) > 200
    assert len(calls) < 80
    calls.clear()
    np.testing.assert_allclose(elastic_net(Q, c, 0.05 * np.abs(c).max(), b), b, atol=1e-10)
    assert len(calls) == 1


@sparing
@given(problems(), st.sampled_from([0.01, 0.5, np.inf]))
def test_paths_hit_every_count_that_they_have(case, ridge):
    """A piece with so many features is the elastic net at every penalty inside."""
    C, root, a = case
    Q, c = Quadratic(root, ridge), C @ a
    counts = {s.support.size for s in path(Q, c) if s.there()}
    for count in range(1, len(C) + 1):
        piece = stretch_with(Q, c, count)
        if piece is None:
            assert count not in counts
            continue
        b = np.zeros(len(C))
        b[piece.support] = piece.loadings(piece.inside())
        plain = sparse_direction(C, a, piece.inside(), ridge=ridge)
        np.testing.assert_allclose(b, plain, atol=1e-6 * np.abs(plain).max())
        assert piece.support.size == count


def test_a_path_skips_counts_where_features_enter_together():
    """Four copies enter at once: there is no piece with two of them."""
    C = Covariance(np.kron(np.eye(2), np.ones((4, 4))) + np.eye(8))
    c = C @ np.repeat([1.0, 0.5], 4)
    assert stretch_with(Quadratic(C, 0.01), c, 2) is None
    assert sorted(stretch_with(Quadratic(C, 0.01), c, 4).support) == [0, 1, 2, 3]


@sparing
@given(problems(), seeds)
def test_nets_minimise_the_criterion(case, seed):
    """Each kind of nets gives the B that nothing near it beats, on what it may choose from."""
    C, root, _ = case
    rng, d = np.random.default_rng(seed), len(C)
    A, l1 = orthonormal(d, 2, rng), np.array([0.05, 0.1])
    Q = Quadratic(root, 0.2)
    pieces = [stretch_with(Q, c, 1) for c in (C @ A).T]
    held = HeldNets(
        root,
        [p.support for p in pieces],
        [p.signs for p in pieces],
        np.array([p.inside() for p in pieces]),
        0.2,
    )
    for nets in (ElasticNets(root, l1, 0.2), held):
        B = nets(A)
        value = sparse_pca_objective(C, A, B, l1=nets.l1, ridge=0.2)
        for _ in range(20):
            near = B + 1e-3 * rng.standard_normal(B.shape)
            assert sparse_pca_objective(C, A, near, l1=nets.l1, ridge=0.2) >= value - 1e-12
    V = np.linalg.eigh(C)[1][:, ::-1][:, :2]
    exact = np.linalg.solve(C + 0.2 * np.eye(d), C @ V)
    np.testing.assert_allclose(RidgeNets(root, 2, 0.2)(V), exact, atol=1e-9)
    assert FixedNets(B)(A) is B


# --- rounds and searches -------------------------------------------------------------------------


@sparing
@given(problems(), seeds)
def test_lengthened_steps_end_where_plain_ones_do(case, seed):
    """The value never rises, and at the end a plain round changes nothing."""
    C, root, _ = case
    A = orthonormal(len(C), 2, seed)
    nets = ElasticNets(root, np.array([1e-3, 1e-3]), 0.1)
    run = alternate(root, A, nets, 0.1, STEPS, tol=1e-9, max_iter=600)
    assert np.all(np.diff(run.history) <= 0)
    if run.converged:
        np.testing.assert_allclose(procrustes(C @ run.B), run.A, atol=1e-8)
        np.testing.assert_allclose(ElasticNets(root, nets.l1, 0.1)(run.A), run.B, atol=1e-8)


def test_a_step_that_raised_the_value_is_taken_back():
    """After it the plain step is tried, and the best so far stays."""
    turn = lambda t: np.array([[np.cos(t)], [np.sin(t)]])  # noqa: E731
    run = Alternation(turn(0.0), FixedNets(turn(0.0)), procrustes, tol=0.0, max_iter=4)
    values = iter([5.0, 4.0, 6.0, 3.5, 3.0])
    tried = []
    for A in run:
        tried.append(float(np.arctan2(A[1, 0], A[0, 0])))
        run.record(A, A, next(values), turn(tried[-1] + 0.1))
    assert run.history == [5.0, 4.0, 4.0, 3.5, 3.0]
    assert tried[1] == pytest.approx(0.1)
    assert tried[2] > 0.205  # lengthened, and worse
    assert tried[3] == pytest.approx(0.2)  # plain


def test_which_rounds_are_kept():
    """A lengthened step as good as the last is, and so is a plain one that is worse by rounding."""
    A, turn = np.eye(3)[:, :1], [[0.0], [0.1], [0.0]]
    run = Alternation(A, FixedNets(A), procrustes, tol=0.0, max_iter=9)
    tried = []
    for value in (5.0, 4.0, 4.0, 6.0, 4.0 + 1e-15, 4.0):
        tried.append(run._next)
        run.record(tried[-1], A, value, tried[-1] + turn)
        last = 2 if len(tried) == 4 else len(tried) - 1  # the fourth, a lengthened one, is not
        assert run.A is tried[last]
    assert run.history == [5.0, 4.0, 4.0, 4.0, 4.0, 4.0]


@pytest.mark.parametrize(("gap", "converged"), [(0.25, True), (0.251, False)])
def test_an_alternation_ends_when_A_moves_by_at_most_tol(gap, converged):
    A = np.eye(2)[:, :1]
    run = Alternation(A, FixedNets(A), procrustes, tol=0.25, max_iter=9)
    run.record(A, A, 1.0, A + [[0.0], [gap]])
    assert run.converged is converged


def test_rounds_go_on_until_told_to_end():
    with pytest.warns(UserWarning, match="after max_iter=3 rounds"):
        assert list(Rounds("direction", 1e-3, 3, False)) == [0, 1, 2]
    rounds = Rounds("direction", 0.5, 3, False)
    for _ in rounds:
        rounds.settled(0.5)
    assert rounds.converged


@sparing
@given(problems(), st.data())
def test_in_turn_adds_variance_every_time(case, draw):
    """Each direction has its count and some variance that those before it lack."""
    C, root, _ = case
    k = draw.draw(st.integers(1, int(np.sum(np.linalg.eigvalsh(C) > 1e-3))))
    counts = np.array(draw.draw(st.lists(st.integers(1, len(C)), min_size=k, max_size=k)))
    V = np.linalg.eigh(C)[1][:, ::-1][:, :k]
    A, B = in_turn(root, V, counts, STEPS)
    assert np.all(np.count_nonzero(B, axis=0) <= counts)
    assert np.all(adjusted_variances(C, B, gram=True) > 0)
    np.testing.assert_allclose(A.T @ A, np.eye(k), atol=1e-9)


def test_along_paths_meets_the_counts():
    """What it finds are elastic nets of the penalties it names, with the counts asked for."""
    X = np.random.default_rng(3).standard_normal((60, 8)) * np.linspace(3, 1, 8)
    C, _ = covariance_of(X, False)
    V = principal_directions(C, 2, False)
    A, nets = along_paths(C, V, np.array([3, 2]), 0.01, STEPS)
    B = nets(A)
    np.testing.assert_array_equal(np.count_nonzero(B, axis=0), [3, 2])
    again = ElasticNets(C, nets.l1, 0.01)(A)
    np.testing.assert_allclose(again, B, atol=1e-6)


def test_truncated_power_tries_the_feature_with_the_largest_variance():
    """A start that leads nowhere else ends at its own feature; the best one is elsewhere."""
    C = Covariance(np.diag([0.1, 0.2, 0.4]))
    b = _best_truncated(C, np.eye(3)[:, :2], 1)
    np.testing.assert_array_equal(np.abs(b), [0, 0, 1])


def test_features_without_variance_take_no_place():
    """The two largest entries of the start lie on dead features: the next two lead to the best."""
    C = np.zeros((5, 5))
    C[2:4, 2:4], C[4, 4] = [[0.2, 0.19], [0.19, 0.2]], 0.3
    b = _best_truncated(Covariance(C), np.array([[0.9], [0.9], [0.1], [0.1], [0.0]]), 2)
    np.testing.assert_allclose(np.abs(b), [0, 0, 0.5**0.5, 0.5**0.5, 0])


def test_truncated_power_ends_when_supports_stand_still(monkeypatch):
    """On a diagonal matrix nothing moves: one product to see it, one for the variances."""
    products, times = [], Covariance.__matmul__
    monkeypatch.setattr(Covariance, "__matmul__", lambda C, X: products.append(X) or times(C, X))
    _best_truncated(Covariance(np.diag([1.0, 2.0, 4.0])), np.eye(3)[:, :2], 1)
    assert len(products) == 2


def test_columns_are_filled_up_beside_what_they_have():
    """A column that lacks loadings keeps its own features and gets those that go with it best."""
    X = np.random.default_rng(2).standard_normal((40, 6)) * [1, 5, 1, 4, 1, 3]
    C = Covariance(X.T @ X / 40)
    B = np.eye(6)[:, [0, 1]]
    full = filled_up(C, B, np.array([3, 1]), 0.1, STEPS)
    assert np.count_nonzero(full, axis=0).tolist() == [3, 1]
    assert full[0, 0] != 0
    np.testing.assert_array_equal(full[:, 1], B[:, 1])
    assert np.linalg.norm(full[:, 0]) == pytest.approx(1)
    assert filled_up(C, B, np.array([1, 1]), 0.1, STEPS) is B


def test_all_loadings_need_no_penalty():
    """Counts of d are PCA: ridge regressions from the first start."""
    C = Covariance(np.diag([3.0, 2.0, 1.0]))
    starts = [np.eye(3)[:, :2], np.eye(3)[:, 1:]]
    A, nets = sparse_start(C, starts, np.array([3, 3]), None, 0.1, STEPS)
    assert A is starts[0]
    assert isinstance(nets, RidgeNets)
    assert isinstance(sparse_start(C, starts, np.array([3, 2]), None, 0.1, STEPS)[1], HeldNets)


@pytest.mark.parametrize(("lead", "first"), [(0.5, True), (2.0, False)])
def test_a_start_must_be_better_by_a_millionth_of_the_trace(lead, first, monkeypatch):
    C = Covariance(np.eye(10))
    values = iter([5.0, 5.0 - lead * 1e-6 * C.trace])
    ends = lambda *_, **__: SimpleNamespace(history=[next(values)])  # noqa: E731
    monkeypatch.setattr(supports, "alternate", ends)
    starts = [np.eye(10)[:, :2], np.eye(10)[:, 1:3]]
    found = best_start(C, starts, np.ones(2), 0.1, STEPS)
    assert found is starts[0 if first else 1]


CHOICES = {  # adjusted variances: truncated power, path from the first start, from the second
    "paths may lose a hundredth": ([10, 10], [9.95, 9.9], [1, 1], True, 0),
    "not more": ([10, 10], [9.5, 10], [1, 1], True, None),
    "the second must win by a hundredth": ([10, 10], [10, 10], [10.05, 10.05], True, 0),
    "and may": ([10, 10], [10, 10], [10.5, 10.5], True, 1),
    "no empty component": ([10, 10], [40, 3e-8], [1, 1], True, None),
    "a small one will do": ([0.1, 0.1], [0.3, 3e-9], [0, 0], True, 0),
    "penalties must hold": ([10, 10], [20, 20], [30, 30], False, None),
}


@pytest.mark.parametrize("case", CHOICES.values(), ids=CHOICES)
def test_which_supports_are_taken(case, monkeypatch):
    """Paths are preferred where they lose little, a later start where it gains more than that."""
    *variances, hold, wanted = case
    C, B = Covariance(np.eye(4)), np.eye(4)[:, :2]
    found = [Found(B, FixedNets(B)) for _ in range(2)]
    paths, numbers = iter(found), iter(variances)
    steps = STEPS._replace(adjusted=lambda _: np.array(next(numbers)))
    monkeypatch.setattr(supports, "along_paths", lambda *_: next(paths))
    monkeypatch.setattr(supports, "_keep_their_penalties", lambda *_: hold)
    chosen = nets_with_counts(C, [B, B], np.array([1, 1]), 0.1, steps)
    assert [chosen is each for each in found] == [wanted == 0, wanted == 1]


def test_truncated_power_starts_from_the_rotated_directions(monkeypatch):
    C, starts, seen = Covariance(np.diag([4.0, 3.0, 2.0])), [np.eye(3)[:, :2], np.eye(3)[:, 1:]], []
    monkeypatch.setattr(supports, "along_paths", lambda *_: None)
    monkeypatch.setattr(supports, "in_turn", lambda *args: seen.append(args[1]) or in_turn(*args))
    A, nets = nets_with_counts(C, starts, np.array([1, 1]), 0.1, STEPS)
    assert seen[0] is starts[1]
    np.testing.assert_array_equal(np.abs(nets(A)), np.eye(3)[:, :2])


@pytest.mark.parametrize("converged", [True, False])
@pytest.mark.parametrize(("factor", "count"), [(1.0, 2), (50.0, 2), (1.0, 4)])
def test_penalties_hold_if_they_do_at_rest(converged, factor, count, monkeypatch):
    """The rounds must have converged, and each penalty must lie inside its piece of the path."""
    C = Covariance(np.diag([4.0, 3.0, 2.0, 1.0]) + 0.2)
    A = np.linalg.eigh(C.M)[1][:, [3, 2]]
    pieces = [stretch_with(Quadratic(C, 0.1), c, count) for c in (C @ A).T]
    l1 = factor * np.array([p.inside() for p in pieces])
    nets = HeldNets(C, [p.support for p in pieces], [p.signs for p in pieces], l1, 0.1)
    rest = SimpleNamespace(A=A, converged=converged)
    monkeypatch.setattr(supports, "alternate", lambda *_, **__: rest)
    assert _keep_their_penalties(C, A, nets, 0.1, STEPS) == (converged and factor == 1.0)


def test_nodes():
    """A stack is run through while it grows; the parts of a node are all that it held."""
    nodes = Nodes((np.arange(4), 0))
    seen = []
    for allowed, sure in nodes:
        seen.append((allowed.tolist(), sure))
        if len(seen) == 1:
            nodes.extend(split(allowed, 0, 2, 2))
    assert seen == [([0, 1, 2, 3], 0), ([2, 0, 1, 3], 1), ([0, 1, 3], 0)]
    assert nodes.opened == 3
    without, with_it = split(np.arange(4), 0, 2, 1)  # the last one that is needed: no others
    assert (without[0].tolist(), without[1]) == ([0, 1, 3], 0)
    assert (with_it[0].tolist(), with_it[1]) == ([2], 1)
    C = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, -3.0], [0.0, -3.0, 9.5]])
    assert row_bound(C, np.arange(3), 0, 2) == 12.5
    assert row_bound(C, np.arange(3), 1, 2) == 9.5
    assert simple_threshold(np.ones((3, 1)), 1)[0, 0] == 1


def test_the_value_that_decides_how_many_leave():
    """bᵀQb − 2bᵀc + l1‖b‖₁, each term with its sign."""
    G, c, b = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, -3.0]), np.array([2.0, -1.0])
    assert _value(G, c, 0.25, b) == pytest.approx(7.0 - 10.0 + 0.75)


@pytest.mark.parametrize("unit", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("gap", [2.0**-51, 2.0**-40])
def test_collinear_is_what_rounding_can_not_tell_from_it(gap, unit):
    """Without a ridge the smallest pivot must be above 1e-14 of the largest variance."""
    G, c = unit * np.array([[1.0, 1 - gap], [1 - gap, 1.0]]), unit * np.array([1.0, 0.5])
    if gap > 1e-14:
        x = solve(G, c)
        np.testing.assert_allclose(gap * x, [0.25, -0.25], rtol=1e-3)
        return
    with pytest.raises(Collinear, match="with ridge=0 the minimum is not unique"):
        solve(G, c)
    assert np.isfinite(solve(G + 1e-3 * np.eye(2), c, 1e-3)).all()
    assert np.isfinite(solve(G, c, 1e-20)).all()  # any ridge will do


def test_the_first_loading_that_vanishes_ends_the_step():
    """From (1, 2, 4) to (−1, 1, −20) the first zero comes after a sixth of the way."""
    b, signs, T = np.array([1.0, 0.0, 2.0, 4.0]), np.array([1.0, 0, 1, 1]), np.array([0, 2, 3])
    new = np.array([-1.0, 1.0, -20.0])
    _stop_at_the_first_zero(b, signs, T, new, new < 0)
    np.testing.assert_allclose(b, [1 - 2 / 6, 0, 2 - 1 / 6, 0], atol=1e-15)
    assert signs.tolist() == [1, 0, 1, 0]


def test_the_smallest_variance_that_a_double_holds():
    tiny = np.finfo(float).tiny
    assert power_of_two(1.0, -1022) == tiny
    for value, exponent, words in [(0.5, -1022, "too small"), (1.0, 1024, "too large")]:
        with pytest.raises(ValueError, match=words):
            power_of_two(value, exponent)


def test_six_numbers_are_listed():
    assert listed(np.arange(6)) == "0, 1, 2, 3, 4, 5"
    assert listed(np.arange(7)) == "0, 1, 2, 3, 4, 5, …"
