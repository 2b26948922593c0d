"""What can't fit is refused before it is allocated, work is done in blocks, long work has a bar.

The limit is lowered, so that small matrices are too large; that a refusal comes first is shown by
inputs that are small, such as operators, of results that no machine can hold.
"""

import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from public_calls import samples
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import kpca_edu
from kpca_edu import (
    SVD,
    choose_sigma,
    fit_kernel_pca,
    fit_pca,
    fit_ppca,
    fit_ppca_em,
    fit_sparse_pca,
    fourier_features,
    median_sigma,
    nystrom,
    polynomial,
    power_iteration,
    preimage,
    randomized_svd,
    rbf,
    subspace_iteration,
    thin_svd,
)
from kpca_edu._engine import memory, panels, progress, sums
from kpca_edu._engine.choices import squared_lacks
from kpca_edu._engine.covariance import Covariance
from kpca_edu._engine.eigen import top_eigenpairs
from kpca_edu.choosing_k import (
    bootstrap_pca,
    fill_in,
    held_out_residuals,
    held_out_row_errors,
    noise_level,
    parallel_variances,
)
from kpca_edu.kernel_pca import denoising_error, held_out_loss
from kpca_edu.kernels import laplacian, polynomial_features, rbf_features, squared_distances
from kpca_edu.pca import center_data
from kpca_edu.ppca import PPCA, expect
from kpca_edu.preimages import exact_preimage
from kpca_edu.sketching import orthogonal_features, range_finder
from kpca_edu.sparse_pca import adjusted_variances, refit_loadings
from kpca_edu.streaming import frequent_directions, oja_directions, summarize
from kpca_edu.svd import full_svd, svd_by_maximization


def with_gap(X):
    X = X.copy()
    X[0, 0] = np.nan
    return X


def read_off(X):
    model = fit_kernel_pca(X[:2], 1, polynomial(3, 0.0))
    return exact_preimage(model, model.scores[:1], np.cbrt)


MODEL = fit_pca(samples(6, 3), 1)
FULL = PPCA(np.zeros(3), np.eye(3), 1.0)
SIZES = [  # of what is asked for, of 5 and 7 samples with 3 features
    ("The matrix, 5×3", lambda X, Y: SVD(np.eye(5, 1), np.ones(1), np.eye(3, 1)).matrix()),
    ("A copy of the matrix, 5×3", lambda X, Y: thin_svd(X)),
    ("A full basis, 5×5", lambda X, Y: full_svd(X)),
    ("A full basis, 3×3", lambda X, Y: svd_by_maximization(X)),
    ("The singular vectors, 8×2", lambda X, Y: subspace_iteration(X, 2, oversample=0)),
    ("What is multiplied by X, and the product, 8×3", lambda X, Y: range_finder(X, 3)),
    ("A pair of singular vectors, 8×1", lambda X, Y: power_iteration(X)),
    ("The basis for k=1 eigenvectors, 200×41", lambda X, Y: top_eigenpairs(np.eye(200), 1)),
    ("A centred copy of X, 5×3", lambda X, Y: center_data(X)),
    ("A centred copy of X, 5×3", lambda X, Y: fit_pca(X, 1, solver="svd")),
    ("A centred copy of X, and its squares, 5×6", lambda X, Y: noise_level(X)),
    ("What is kept of each table, 9×4", lambda X, Y: parallel_variances(X, repeats=9)),
    ("What is kept of each table, 9×4", lambda X, Y: bootstrap_pca(X, 1, repeats=9)),
    ("What is known of the tables, 30×2", lambda X, Y: fill_in(X, np.array([X > 2, X > 3]), 1)),
    ("What is made of Z, 9×3", lambda X, Y: MODEL.decode(np.ones((9, 1)))),
    ("What is made of Z, 9×3", lambda X, Y: fit_ppca(X, 1).decode(np.ones((9, 1)))),
    (
        "What is made of Z, 9×5",
        lambda X, Y: fit_kernel_pca(X, 1, rbf(2.0)).weights(np.ones((9, 1))),
    ),
    ("The scatter matrix, 3×3", lambda X, Y: summarize(X)),
    ("The covariance matrix, 3×3", lambda X, Y: adjusted_variances(X, np.eye(3, 1))),
    ("The matrix of kernel values, 5×7", lambda X, Y: rbf(1.0).gradient(X, Y, np.ones((5, 7)))),
    (
        "The matrix of kernel values, 7×5",
        lambda X, Y: fit_kernel_pca(X, 1, lambda A, B: A @ B.T).encode(Y),
    ),
    ("A unit vector for each feature, 3×3", lambda X, Y: read_off(X)),
    ("The Gram matrix of the landmarks, 4×4", lambda X, Y: nystrom(X, 4, rbf(1.0))),
    (
        "The kernel values of all samples and landmarks, 7×3",
        lambda X, Y: nystrom(Y, 3, rbf(1.0), landmarks="pivoted"),
    ),
    ("The frequencies, 3×4", lambda X, Y: fourier_features(3, 8, 1.0)),
    ("An orthogonal group, 3×3", lambda X, Y: orthogonal_features(3, 4, 1.0)),
    ("The sketch, 4×3", lambda X, Y: frequent_directions([X], 4)),
    ("A matrix of directions, 3×2", lambda X, Y: oja_directions([X], 2)),
    ("A distance for each pair, 5×2", lambda X, Y: median_sigma(X)),
    ("The result, 5×2", lambda X, Y: panels.map_rows(lambda rows: rows[:, :2], X, 2**20)),
    ("X, and what is left of it, 5×6", lambda X, Y: fit_ppca_em(with_gap(X), 1)),
    ("The covariances of all rows, 15×3", lambda X, Y: FULL.posterior(with_gap(X))),
    ("A k×k matrix for each column of X, 9×3", lambda X, Y: expect(FULL, with_gap(X[:4]))),
]


@pytest.mark.parametrize(("size", "call"), SIZES)
def test_what_cannot_fit_is_refused_by_its_size(size, call, monkeypatch):
    """The message has rows, columns and a way out; enough memory for them is enough."""
    X, Y = np.split(np.random.default_rng(0).standard_normal((12, 3)), [5])
    needed = 8 * np.prod([int(side) for side in size.split(", ")[-1].split("×")])
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=rf"{size}, takes .* are free: .*\w.*\.$"):
        call(X, Y)
    monkeypatch.setattr(memory, "available_memory", lambda: needed)
    call(X, Y)


@pytest.mark.parametrize(
    ("columns", "call"),
    [
        (50, lambda X: rbf(1.0)(X)),
        (40, lambda X: rbf(1.0)(X, X[:40])),
        (50, lambda X: fit_kernel_pca(X, 2, rbf(1.0))),
        (40, lambda X: squared_distances(X, X[:40])),
        (4, lambda X: center_data(X)),
        (4, lambda X: panels.map_rows(lambda rows: rows, X, 2**20)),
    ],
)
def test_single_precision_needs_half_of_the_room(columns, call, monkeypatch):
    X = samples(50, 4).astype(np.float32)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 50 * columns - 1)
    with pytest.raises(MemoryError):
        call(X)
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 50 * columns)
    call(X)


def test_rows_with_the_same_gaps_share_one_covariance(monkeypatch):
    """So it needs no room for each, and what is returned takes none."""
    X = samples(200, 3)
    X[:, 0] = np.nan
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 2 * X.size)  # of the table
    covariance = FULL.posterior(X).covariance
    assert covariance.shape == (200, 3, 3)
    assert covariance.strides[0] == 0


def ones(n, d):
    """Return an n×d operator of ones, which takes no memory."""
    return aslinearoperator(np.ones((n, 1))) @ aslinearoperator(np.ones((1, d)))


MANY = 10**6
HUGE = {
    "block": lambda: subspace_iteration(sparse.csr_array((MANY, MANY)), 10**5),
    "oversample": lambda: randomized_svd(ones(MANY, MANY), 1, oversample=10**6),
    "directions": lambda: fit_pca(sparse.csr_array((MANY, MANY)), 5 * 10**4),
    "one by one": lambda: kpca_edu.svd_by_deflation(ones(MANY, MANY), 10**5),
    "shuffles": lambda: parallel_variances(samples(), repeats=10**13),
    "resampled": lambda: bootstrap_pca(samples(), 2, repeats=10**12),
    "scatter": lambda: summarize(np.ones((2, MANY))),
    "frequencies": lambda: fourier_features(MANY, MANY, 1.0),
    "group": lambda: orthogonal_features(MANY, 2, 1.0),
    "sketch": lambda: frequent_directions([samples()], 10**13),
    "points": lambda: SVD(np.eye(MANY, 1), np.ones(1), np.eye(MANY, 1)).matrix(),
    "folds": lambda: denoising_error(np.ones((10**7, 1)), 1, rbf(1.0)),
}


@pytest.mark.parametrize("call", HUGE.values(), ids=HUGE)
def test_what_is_far_too_large_is_refused_at_once(call, monkeypatch):
    """The sentence is ours, and it comes before the work, which would take long."""
    monkeypatch.setattr(memory, "available_memory", lambda: 1e11)  # whatever this machine has
    with pytest.raises(MemoryError, match=r"100\.0 GB of memory are free"):
        call()


def test_folds_that_cannot_fit_are_refused_before_all_else(monkeypatch):
    """Half of the rows are fitted at least; where there is room for two folds, they are tried."""
    X = samples(40, 3)
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 20**2 - 1)
    with pytest.raises(MemoryError, match="The Gram matrix of 20 samples"):
        denoising_error(X, 1, rbf(4.0))
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 20**2)
    assert denoising_error(X, 1, rbf(4.0), folds=2) > 0


@pytest.mark.parametrize("room", [0, 1000, 10**9])
def test_a_process_may_have_a_limit(monkeypatch, room):
    """What ulimit -v allows is all there is, less what the process has already and BLAS needs."""
    resource = pytest.importorskip("resource")
    page = resource.getpagesize()
    files = {"/proc/self/statm": "1234 9 9 9 0 9 0", "/proc/meminfo": "MemAvailable: 4000000 kB"}

    def read_text(path):
        if str(path) not in files:
            raise OSError(path)
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read_text)
    limit = (1234 + room) * page + int(memory.BLAS)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, resource.RLIM_INFINITY))
    assert memory.available_memory() == min(room * page, 4096e6)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    assert memory.available_memory() == 4096e6
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit))
    del files["/proc/self/statm"]  # as on macOS
    assert memory.available_memory() == 4096e6


# --- no more than it needs -----------------------------------------------------------------------


def peak(call):
    """Return how many bytes a call holds at most beyond what was there."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_rows_held_out_are_not_kept_for_every_k():
    """A table like X for each of a hundred k would show."""
    X = np.random.default_rng(0).standard_normal((200, 300))
    assert peak(lambda: held_out_row_errors(X, folds=2)) < 12 * X.nbytes


def test_squared_lacks_are_those_of_the_plain_version():
    """One direction after the other gives what each k gives from the start, also when alone."""
    rng = np.random.default_rng(1)
    Y, V = rng.standard_normal((5, 8)), np.zeros((8, 4))
    V[:7, :3] = np.linalg.qr(rng.standard_normal((7, 3)))[0]
    V[7, 3] = 1.0  # the last feature stands alone: nothing else tells it
    plain = [np.sum(held_out_residuals(Y, V[:, :k]) ** 2) for k in range(5)]
    np.testing.assert_allclose(squared_lacks(Y, V, 1e-9), plain, rtol=1e-12)


LONG = {
    "pca": lambda X: fit_pca(X, 2, solver="svd"),
    "ppca": lambda X: fit_ppca(X, 2),
    "sample": lambda X: randomized_svd(X, 2),
    "sketch": lambda X: frequent_directions([X], 4),
    "svd": lambda X: thin_svd(X),
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
def test_no_square_of_the_longer_side_is_formed(call):
    """A few samples with 2000 features take some copies of them, and no 2000×2000 array."""
    X = np.random.default_rng(0).standard_normal((12, 2000))
    for A in (X, X.T) if call is not LONG["sketch"] else (X,):
        call(A)
        assert peak(lambda A=A: call(A)) < 20 * X.nbytes


def test_neighbours_are_decomposed_some_rows_at_a_time(monkeypatch):
    """Ten neighbours with many features are more than all distances to the samples."""
    monkeypatch.setattr(panels, "BLOCK_ENTRIES", 2**12)
    X = np.random.default_rng(0).standard_normal((60, 1000))
    model = fit_kernel_pca(X, 2, rbf(40.0))
    preimage(model, model.scores[:2], "mds")
    assert peak(lambda: preimage(model, model.scores, "mds")) < 4 * X.nbytes


def test_rows_without_gaps_share_one_covariance():
    """Of complete rows the posterior covariance is kept once: eq-ppca-posterior."""
    for n in (1, 2, 50):
        shared = FULL.posterior(samples(n, 3)).covariance
        assert shared.shape == (n, 3, 3)
        assert all(np.shares_memory(shared[0], one) for one in shared)


def test_eigenpairs_of_a_matrix_that_may_be_overwritten_take_no_copy_of_it():
    """A Gram matrix is most of the memory that there is; LAPACK works in its place."""
    K = rbf(1.0)(np.random.default_rng(0).standard_normal((600, 3)))
    halves = panels.SymmetricPanels([K[:300, :300].copy(), K[300:].copy()])
    for form in (K.copy(), halves):
        assert peak(lambda form=form: top_eigenpairs(form, 100, overwrite=True)) < 1.8 * K.nbytes


@pytest.mark.parametrize("kernel", [rbf(1.0), laplacian(1.0)])
def test_kernel_values_take_the_memory_of_the_result(kernel):
    """Distances are turned into values in their place."""
    X, Y = np.split(np.random.default_rng(0).standard_normal((3600, 3)), [600])
    kernel(X[:2], Y)
    assert peak(lambda: kernel(X, Y)) < 1.5 * 8 * len(X) * len(Y)


def test_products_of_centred_samples_need_no_copy_of_them(monkeypatch):
    """XᵀX and XXᵀ of X less its mean are added up over blocks: eq-pca-dual."""
    monkeypatch.setattr(sums, "BLOCK", 2**10)
    X, few, many = np.ones((200_000, 5)), np.zeros(5), np.zeros(200_000)
    assert peak(lambda: sums.scatter_matrix(X, few)) < X.nbytes / 4
    assert peak(lambda: sums.gram_matrix(X.T, many)) < X.nbytes / 4


def test_rows_of_a_covariance_that_is_not_formed_are_computed_once():
    """A support that grows asks for its new rows alone, as long as there is room for the others."""
    C = Covariance(np.random.default_rng(3).standard_normal((9, 4000)), root=True)
    first = C._some_rows(np.arange(3))
    assert all(row is again for row, again in zip(first, C._some_rows(np.arange(6)), strict=False))


def test_rows_of_a_covariance_that_is_not_formed_do_not_pile_up():
    """All of C is read, a block after the other; at no time is there more than some rows of it."""
    M = np.random.default_rng(3).standard_normal((5, 4000))
    C, blocks = Covariance(M, root=True), np.split(np.arange(4000), 1000)
    assert peak(lambda: [C.block(T) for T in blocks]) < 12 * M.nbytes
    for T in blocks[:5] + blocks[-5:]:
        np.testing.assert_allclose(C.block(T), M[:, T].T @ M[:, T], atol=1e-12)


def test_monomials_are_counted_before_they_are_written():
    """All degrees together count, for few samples too, and the message names what was asked."""
    words = "Degree 3 of 600 features has 36,361,101 monomials, more than the 1,000,000 that"
    with pytest.raises(ValueError, match=words):
        polynomial_features(np.ones((1, 600)), 3)
    with pytest.raises(ValueError, match="Degree 120 of 2 features has 7,381 monomials"):
        rbf_features(np.broadcast_to(1.0, (10**6, 2)), 1.0, 120)
    with pytest.raises(ValueError, match="degree=1000: at most 170"):
        rbf_features(np.ones((1, 1)), 1.0, 1000)
    assert rbf_features(np.ones((1, 1)), 1.0, 170).shape == (1, 171)


# --- bars ----------------------------------------------------------------------------------------


@pytest.fixture
def moves(monkeypatch):
    """Return a list that grows by the title of a bar whenever it moves."""
    seen = []

    class Bar:
        def __init__(self, steps, desc, leave):
            self.steps, self.title = steps, desc

        def __iter__(self):
            for step in self.steps:
                yield step
                seen.append(self.title)

    monkeypatch.setattr(progress, "tqdm_class", lambda: Bar)
    return seen


@pytest.mark.parametrize("loss", [denoising_error, held_out_loss])
def test_errors_of_folds_have_a_bar(loss, moves):
    X = samples(30, 3)
    quiet = loss(X, 1, rbf(4.0), folds=3)
    assert moves == []
    assert loss(X, 1, rbf(4.0), folds=3, progress=True) == pytest.approx(quiet)
    assert [title for title in moves if title == "folds"] == ["folds"] * 3


def test_the_bar_of_a_width_moves_with_its_folds(moves):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the best width is the last one
        choose_sigma(samples(30, 3), 1, sigmas=[2.0, 4.0, 8.0], folds=3, progress=True)
    outer = [title for title in moves if title in ("folds", "Widths")]
    assert outer == (["folds"] * 3 + ["Widths"]) * 3
    assert moves[0] == "Pre-images"  # it moves long before the first fold is done


def test_trials_of_sparse_pca_have_a_bar(moves):
    """Which start is better is found out first, and takes as long as the rest."""
    fit_sparse_pca(samples(30, 6), 2, l1=0.1, progress=True)
    assert moves.count("trial") >= 2
    assert moves.index("trial") < moves.index("sparse PCA")


@pytest.mark.parametrize("landmarks", ["kmeans", "leverage", "pivoted"])
def test_the_choice_of_landmarks_has_a_bar(landmarks, moves, monkeypatch):
    X = samples(30, 3)
    monkeypatch.setattr(panels, "BLOCK_ENTRIES", 32)
    quiet = nystrom(X, 5, rbf(4.0), landmarks=landmarks)
    assert moves == []
    told = nystrom(X, 5, rbf(4.0), landmarks=landmarks, progress=True)
    assert len(moves) > 3
    np.testing.assert_allclose(told.landmarks, quiet.landmarks)


# --- words ---------------------------------------------------------------------------------------

WORDS = {
    "no components": (lambda: bootstrap_pca(samples(), 0), "k=0 components asked of a 12×4 matrix"),
    "no landmark": (lambda: nystrom(samples(), 0, rbf(1.0)), "m=0 landmarks asked of 12 samples"),
    "landmarks": (lambda: nystrom(samples(), 1.5, rbf(1.0)), "m=1.5 landmarks asked of 12 samples"),
    "an operator": (
        lambda: kpca_edu.fit_kernel_pca_gram(LinearOperator((3, 3), lambda v: v), 1),
        "K is a LinearOperator: this function works on dense arrays",
    ),
}


@pytest.mark.parametrize(("call", "words"), WORDS.values(), ids=WORDS)
def test_messages_speak_of_what_was_asked(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("solver", ["auto", "lanczos", "randomized"])
def test_iterating_solvers_of_pca_have_a_bar(moves, solver):
    """For data that are only multiplied, and the result is that without a bar."""
    X = sparse.csr_array(np.random.default_rng(0).standard_normal((400, 300)))
    quiet = fit_pca(X, 2, solver=solver)
    assert moves == []
    told = fit_pca(X, 2, solver=solver, progress=True)
    np.testing.assert_allclose(told.V, quiet.V, atol=1e-9)
    assert len(moves) >= 4


def test_refits_have_a_bar(moves):
    refit_loadings(np.eye(4), np.eye(4, 3), progress=True)
    assert moves == ["refits"] * 3
