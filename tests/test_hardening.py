"""Every public function on every kind of data: right, or a sentence; never NaN, never a warning.

The calls are those of public_calls.py. Shapes, ranks, ties, duplicates, constant columns, far
origins and extreme units are tried on all of them, and all forms that a matrix can come in. What
scaling and shifting the data does to a result is found out near one, and must hold far away.
"""

import dataclasses
import inspect
import warnings
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from public_calls import ARGUMENTS, FUNCTIONS, prepared, samples
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import kpca_edu
from kpca_edu import (
    covariance_matrix,
    fit_kernel_pca_gram,
    fit_pca,
    fit_ppca,
    fit_ppca_em,
    low_rank_error,
    rbf,
    subspace_angles,
    thin_svd,
)
from kpca_edu._engine import memory
from kpca_edu.centering import centering_matrix
from kpca_edu.choosing_k import bootstrap_pca, fill_in, optimal_shrinkage
from kpca_edu.feature_pca import fit_kernel_pca_features
from kpca_edu.kernels import gram_matrix, squared_distances
from kpca_edu.ppca import expect, move_prior
from kpca_edu.preimages import exact_preimage, preimage_objective
from kpca_edu.streaming import accumulate, fit_kernel_pca_blocks

PACKAGE = str(Path(kpca_edu.__file__).parent)


def takes_data(name):
    """Tell whether X is used: by a method's instance, or as an argument."""
    if name not in FUNCTIONS:
        return True
    try:
        return any(value is None for value in ARGUMENTS[name](None).values())
    except (TypeError, ValueError, AttributeError, IndexError):
        return True


DATA_CALLS = [name for name in ARGUMENTS if takes_data(name)]
each_call = pytest.mark.parametrize("name", DATA_CALLS)


# --- running a call ------------------------------------------------------------------------------


class Refused(Exception):
    """The library has said in a sentence why not."""


def result_of(name, X, preparing="error"):
    """Return what a call gives for data X; :class:`Refused` if that is a sentence of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # the library's own words
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(preparing, RuntimeWarning)
                call, arguments = prepared(name, X)
            result = call(**arguments)
            return list(result) if inspect.isgenerator(result) else result
        except (ValueError, MemoryError) as error:
            if own_sentence(error):
                raise Refused from error
            raise


def own_sentence(error):
    """Tell whether the library itself has raised the error, with a sentence."""
    last = inspect.getinnerframes(error.__traceback__)[-1]
    return last.filename.startswith(PACKAGE) and str(error).endswith((".", "?"))


def arrays_in(result):
    """Return all numbers of a result, as a list of arrays of floats."""
    if isinstance(result, np.ndarray):
        return [result.astype(float)] if result.dtype.kind in "fiub" else []
    if isinstance(result, bool | int | float | np.number | np.bool_):
        return [np.array(result, float)]
    if dataclasses.is_dataclass(result):
        fields = [getattr(result, field.name) for field in dataclasses.fields(result)]
        return [array for value in fields for array in arrays_in(value)]
    if isinstance(result, tuple | list):
        return [array for value in result for array in arrays_in(value)]
    if hasattr(result, "matmat") and hasattr(result, "shape"):
        return [result @ np.eye(result.shape[1])]
    if hasattr(result, "compute"):
        return arrays_in(result.compute())
    assert result is None or callable(result) or isinstance(result, str | slice), type(result)
    return []


# --- nothing breaks ------------------------------------------------------------------------------

SHAPES = [(1, 1), (1, 3), (2, 1), (5, 1), (2, 2), (3, 7), (5, 5), (13, 4)]


def kinds_of_data(n, d):
    """Yield tables of one shape: ranks, ties, duplicates, constants, origins and units."""
    X = samples(n, d, seed=n + d)
    yield "generic", X
    yield "far origin", np.round(X * 64) / 64 + 1e8
    yield "tiny", X * 1e-150
    yield "huge", X * 1e150
    yield "zeros", np.zeros((n, d))
    yield "equal rows", np.tile(X[:1], (n, 1)) + 0.1
    if min(n, d) > 1:
        yield "rank one", np.outer(X[:, 0], X[0])
        yield "ties", np.eye(n, d) * 3.0
        yield "duplicates", X[np.arange(n) // 2]
        yield "constant column", np.column_stack([np.full(n, 0.1), X[:, 1:]])
        yield "columns of unequal size", X * 10.0 ** -np.arange(0, 9 * d, 9)


DATA = {f"{n}×{d} {kind}": X for n, d in SHAPES for kind, X in kinds_of_data(n, d)}


@each_call
def test_no_data_break_it(name):
    """A finite result or a sentence, no warning of NumPy's, and the data as they were."""
    right = 0
    for label, X in DATA.items():
        before = X.copy()
        try:
            result = result_of(name, X)
        except Refused:
            continue
        except Exception as error:
            pytest.fail(f"{label}: {type(error).__name__}: {error}")
        finally:
            assert np.array_equal(X, before), f"{label}: the data were changed"
        right += 1
        for array in arrays_in(result):
            assert np.isfinite(array).all(), f"{label}: {array}"
    assert right >= 8, f"only {right} of {len(DATA)} were taken"


BEYOND = {
    f"{name} of {dtype.__name__}": X
    for dtype, sizes in {np.float64: [1.3e154, 1e160, 1e300], np.float32: [1e19, 1e37]}.items()
    for size in sizes
    for name, X in {
        f"one entry of {size:g}": np.where(np.arange(48).reshape(12, 4) == 5, size, samples()),
        f"columns from 1 to {size:g}": samples() / 9 * [1.0, size, 1.0, np.sqrt(size)],
        f"equal entries of {size / 9:g}": np.full((12, 4), size / 9),
    }.items()
    for X in [X.astype(dtype)]
}


@pytest.mark.parametrize("name", sorted(set(DATA_CALLS) - {"preimages.gradient_preimage"}))
def test_squares_beyond_the_floats_break_nothing(name):
    """Where products leave the floats there is a sentence: no NaN, no infinity, no endless loop."""
    for label, X in BEYOND.items():
        try:
            result = result_of(name, X.copy(), preparing="ignore")
        except Refused:
            continue
        except Exception as error:
            pytest.fail(f"{label}: {type(error).__name__}: {error}")
        for array in arrays_in(result):
            assert np.isfinite(array).all(), f"{label}: {array}"


# --- forms ---------------------------------------------------------------------------------------

WHOLE = np.rint(samples(11, 4, seed=3))  # whole numbers: the same in every precision


def forms_of(X):
    """Yield the same table in other forms, and how near the results must be."""
    wide = np.zeros((22, 8))
    wide[::2, ::2] = X
    still = X.copy()
    still.flags.writeable = False
    yield "Fortran order", np.asfortranarray(X), 1e-6
    yield "every second entry of a larger one", wide[::2, ::2], 1e-6
    yield "backwards", X[::-1, ::-1].copy()[::-1, ::-1], 1e-6
    yield "read-only", still, 1e-6
    yield "integers", X.astype(int), 1e-6
    yield "small integers", X.astype(np.int8), 1e-6
    yield "big-endian", X.astype(">f8"), 1e-6
    yield "half precision", X.astype(np.float16), 1e-6
    yield "objects", X.astype(object), 1e-6
    yield "single precision", X.astype(np.float32), 5e-3


@each_call
def test_forms_do_not_matter(name):
    wanted = arrays_in(result_of(name, WHOLE))
    for label, X, tol in forms_of(WHOLE):
        if label == "single precision" and name in COUNT_STEPS:
            continue
        found = arrays_in(result_of(name, X))
        assert_alike(found, wanted, tol, label)


COUNT_STEPS = {  # whose goal depends on the precision, and with it the number of steps
    "power_method.power_iteration",
    "power_method.svd_by_deflation",
    "power_method.svd_by_projection",
    "power_method.subspace_iteration",
    "preimages.gradient_preimage",
    "preimages.exact_preimage",
}


@each_call
def test_lists_and_tables_are_taken(name):
    """What slices its data itself, in public_calls.py, gets no list."""
    wanted = arrays_in(result_of(name, WHOLE))
    assert_alike(arrays_in(result_of(name, Sliceable(WHOLE.tolist()))), wanted, 1e-6, "a list")
    table = pd.DataFrame(WHOLE, columns=list("abcd"))
    if not any(word in name for word in BY_POSITION):
        assert_alike(arrays_in(result_of(name, table)), wanted, 1e-6, "a DataFrame")


BY_POSITION = ()


class Sliceable(list):
    """A list of rows."""


def assert_alike(found, wanted, tol, label):
    assert len(found) == len(wanted), label
    for array, right in zip(found, wanted, strict=True):
        assert array.shape == right.shape, label
        slack = tol * max(np.abs(right).max(initial=0.0), ROUNDING)
        assert np.abs(array - right).max(initial=0.0) <= slack, f"{label}: {array}, not {right}"


# --- units and origins ---------------------------------------------------------------------------


ROUNDING = 1e-6  # numbers below this may be rounding, or what an iteration has left


def degree(at_one, at_four):
    """Return p with f(4X) = 4^p f(X); None if there is none, or nothing to see."""
    size = np.abs(at_one).max(initial=0.0)
    if at_one.shape != at_four.shape or size <= ROUNDING:
        return None
    for p in (0, 1, 2, -1, -2):
        if np.abs(at_four - 4.0**p * at_one).max() <= 1e-6 * 4.0**p * size:
            return p
    return None


@each_call
def test_what_scales_near_one_scales_everywhere(name):
    """If f(4X) = 4^p f(X), then also f(cX) = c^p f(X) for c = 2^±480, or the unit is refused."""
    X = samples(11, 4, seed=5)
    at_one, at_four = (arrays_in(result_of(name, c * X)) for c in (1.0, 4.0))
    if len(at_one) != len(at_four):
        return
    powers = [degree(one, four) for one, four in zip(at_one, at_four, strict=True)]
    for c in (2.0**-480, 2.0**480):
        try:
            far = arrays_in(result_of(name, c * X))
        except Refused:
            continue
        for one, array, p in zip(at_one, far, powers, strict=True):
            if p is not None:
                assert array.shape == one.shape
                if name == "streaming.frequent_directions":  # the rows of a sketch have no sign
                    one, array = np.abs(one), np.abs(array)
                size = np.abs(one).max()
                unit = np.abs(array / c ** (p / 2) / c ** (p / 2) - one).max()
                assert unit <= 1e-5 * size, f"degree {p} at {c:.0e}: off by {unit / size:.1e}"


@each_call
def test_what_does_not_feel_a_shift_feels_none(name):
    """If f(X + 8) = f(X), or f(X) + 8, then also for a shift by 2^26, up to its rounding."""
    X = np.round(samples(11, 4, seed=6) * 2**20) / 2**20  # so that the shift rounds nothing
    here, near, off = (arrays_in(result_of(name, X + shift)) for shift in (0.0, 8.0, 512.0))
    if name in LOST or not len(here) == len(near) == len(off):
        return
    try:
        far = arrays_in(result_of(name, X + 2.0**26))
    except Refused:
        return
    for at, *others, moved in zip(here, near, off, far, strict=True):
        size = max(np.abs(at).max(initial=0.0), ROUNDING)
        for share in (0.0, 1.0):  # it stays, or moves along

            def follows(array, shift, tol, at=at, share=share, size=size):
                if array.shape != at.shape:
                    return False
                gap = np.abs(array - at - share * shift).max(initial=0.0)
                return gap <= tol * (size + share * shift)

            if follows(others[0], 8.0, 1e-9) and follows(others[1], 512.0, 1e-9):
                assert follows(moved, 2.0**26, 1e-5), name
                break


# Here the data come as inner products, which have lost the digits before.
LOST = {name for name in DATA_CALLS if name.startswith("centering.center_")} | {
    "centering.squared_distances_of_gram",
    "kernel_pca.fit_kernel_pca_gram",
    "preimages.exact_preimage",
}


# --- digits, against mpmath ----------------------------------------------------------------------


def exact(array):
    return mpmath.matrix(np.asarray(array, float).tolist())


def exact_covariance(X):
    """Return mean and covariance of the rows, in 60 digits."""
    n, d = X.shape
    M = exact(X)
    mean = [mpmath.fsum(M[i, j] for i in range(n)) / n for j in range(d)]
    for i in range(n):
        for j in range(d):
            M[i, j] -= mean[j]
    return mean, M.T * M / n


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


OFFSETS = [0.0, 1e8, -3e10]


@pytest.mark.parametrize("offset", OFFSETS)
def test_variances_far_from_the_origin(offset):
    """Rows at 1e8 with variance one: all that was not rounded away before is still there."""
    X = samples(9, 3, seed=1) + offset
    _, C = exact_covariance(X)
    lam = sorted((float(x) for x in mpmath.eigsy(C, eigvals_only=True)), reverse=True)
    slack = 1e-12 + 20 * np.finfo(float).eps * abs(offset)  # of the mean, in the data's own digits
    np.testing.assert_allclose(covariance_matrix(X), np.array(C.tolist(), float), atol=60 * slack)
    for solver in ("auto", "svd", "covariance", "gram"):
        np.testing.assert_allclose(fit_pca(X, 3, solver=solver).variances, lam, atol=60 * slack)
    model = fit_ppca(X, 1)
    assert model.sigma2 == pytest.approx((lam[1] + lam[2]) / 2, abs=60 * slack)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_log_likelihoods_far_from_the_origin(offset):
    """ℓ of the fitted model, by mpmath's determinant and inverse: eq-ppca-loglik."""
    X = samples(9, 3, seed=2) * [1.0, 1.0, 1e-3] + offset
    model = fit_ppca(X, 1)
    W, mu = exact(model.W), exact(model.mean[:, None])
    S = W * W.T + mpmath.mpf(model.sigma2) * mpmath.eye(3)
    wanted = mpmath.mpf(0)
    for x in X:
        r = exact(x[:, None]) - mu
        wanted -= (3 * mpmath.log(2 * mpmath.pi) + mpmath.log(mpmath.det(S))) / 2
        wanted -= (r.T * mpmath.lu_solve(S, r))[0] / 2
    assert model.log_likelihood(X) == pytest.approx(float(wanted), rel=1e-10)


def test_em_with_gaps_far_from_the_origin():
    """EM measures from the column means: a shift by 1e8 moves the mean, and nothing else."""
    X = np.round(samples(40, 4, seed=4) * 2**20) / 2**20
    X[::5, 1] = np.nan
    here, far = fit_ppca_em(X, 1), fit_ppca_em(X + 2.0**26, 1)
    assert far.sigma2 == pytest.approx(here.sigma2, rel=1e-5)
    np.testing.assert_allclose(far.W, here.W, atol=1e-4)


@pytest.mark.parametrize("smallest", [1e-4, 1e-8, 1e-11])
def test_tiny_singular_values_keep_digits(smallest):
    """An SVD is right to ε·s₁: so many digits of the smallest one are left."""
    rng = np.random.default_rng(7)
    U, V = (np.linalg.qr(rng.standard_normal((m, 4)))[0] for m in (8, 4))
    A = (U * np.array([1.0, 0.5, 0.5 * (1 + 1e-9), smallest])) @ V.T
    wanted = sorted((float(x) for x in mpmath.svd_r(exact(A), compute_uv=False)), reverse=True)
    for s in (thin_svd(A).s, fit_pca(A, 4, center=False).s):
        np.testing.assert_allclose(s, wanted, atol=5e-14)
    assert low_rank_error(thin_svd(A).s, 3) == pytest.approx(wanted[3], abs=5e-14)


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-3, 1.0, np.pi / 2 - 1e-9])
def test_small_and_right_angles(angle):
    """Neither the cosine of a small angle nor the sine of a large one loses it."""
    U, V = np.eye(3, 1), np.array([[np.cos(angle)], [np.sin(angle)], [0.0]])
    wanted = float(mpmath.atan2(mpmath.mpf(V[1, 0]), mpmath.mpf(V[0, 0])))
    assert subspace_angles(U, V)[0] == pytest.approx(wanted, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("gap", [1e-3, 1e-7, 1e-11])
def test_near_ties_of_a_gram_matrix(gap):
    """Two eigenvalues that nearly agree are both found, and their plane is right."""
    rng = np.random.default_rng(8)
    Q = np.linalg.qr(rng.standard_normal((9, 9)))[0]
    K = (Q * np.array([1.0 + gap, 1.0, 0.1, 0.1, 0, 0, 0, 0, 0])) @ Q.T
    K = (K + K.T) / 2
    wanted = sorted((float(x) for x in mpmath.eigsy(exact(K), eigvals_only=True)), reverse=True)
    model = fit_kernel_pca_gram(K, 4, center=False)
    np.testing.assert_allclose(model.lam, wanted[:4], atol=5e-14)
    plane = model.alpha[:, :2] * np.sqrt(model.lam[:2])
    assert subspace_angles(plane, Q[:, :2]).max() <= 1e-13


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_kernel_values_of_near_points_far_away(offset):
    """Distances of 1e-3 at 1e8: the data's own rounding is all that is lost."""
    X = offset + np.round(samples(5, 2, seed=9) * 2**10) / 2**20
    M = exact(X)
    K = rbf(2e-3)(X)
    for i, j in np.ndindex(5, 5):
        square = sum((M[i, c] - M[j, c]) ** 2 for c in range(2))
        assert K[i, j] == pytest.approx(float(mpmath.exp(-square / (2 * mpmath.mpf(2e-3) ** 2))))


# --- what counts as constant ---------------------------------------------------------------------


@pytest.mark.parametrize("mean", [1e-8, 0.1, 1e8])
def test_constant_is_measured_by_the_mean(mean):
    """Deviations of a few roundings of the mean are none; a thousand roundings are variance."""
    rounding = np.finfo(float).eps * mean
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    rng = np.random.default_rng(0)
    other = rng.standard_normal(7) * 1e4 * rounding
    constant, varying = (np.column_stack([mean + c * rounding * signs, other]) for c in (1, 1000))
    with pytest.raises(ValueError, match="Column 0 is constant"):
        kpca_edu.standardize(constant)
    assert kpca_edu.standardize(varying)[0].shape == (7, 2)
    directions = np.eye(2)
    assert kpca_edu.adjusted_variances(constant, directions)[0] == 0
    assert kpca_edu.adjusted_variances(varying, directions)[0] > 0
    assert fit_pca(constant[:, :1], 1).s[0] == 0 < fit_pca(varying[:, :1], 1).s[0]


# --- memory --------------------------------------------------------------------------------------

TOO_LARGE = {
    "centering_matrix": lambda: kpca_edu.centering_matrix(10**7),
    "projector": lambda: kpca_edu.projector(np.eye(10**6, 1)),
    "full_svd": lambda: kpca_edu.svd.full_svd(np.eye(10**6, 1)),
    "covariance_matrix": lambda: covariance_matrix(np.eye(2, 10**6)),
    "random_unit": lambda: kpca_edu.power_method.random_unit(10**14),
    "sample": lambda: fit_ppca(samples(), 1).sample(10**14, 0),
    "PPCA.covariance": lambda: kpca_edu.PPCA(
        np.zeros(10**7), np.zeros((10**7, 1)), 1.0
    ).covariance(),
    "kernel": lambda: rbf(1.0)(np.zeros((10**7, 1))),
    "kernel of two": lambda: rbf(1.0)(np.zeros((10**7, 1)), np.ones((10**7, 1))),
    "gram_matrix": lambda: kpca_edu.kernels.gram_matrix(np.zeros((10**7, 1)), rbf(1.0)),
    "squared_distances": lambda: kpca_edu.kernels.squared_distances(
        np.zeros((10**7, 1)), np.zeros((10**7, 1))
    ),
    "fit_kernel_pca": lambda: kpca_edu.fit_kernel_pca(np.zeros((10**7, 1)), 1, rbf(1.0)),
    "matrix_with_singular_values": lambda: kpca_edu.datasets.matrix_with_singular_values(
        [1.0], 10**7, 10**7
    ),
}


@pytest.mark.parametrize("call", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_cannot_fit_is_refused_before_it_is_allocated(call, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1e12)  # whatever this machine has
    with pytest.raises((MemoryError, ValueError), match=r"takes [\d.]+ [GT]B.*:") as caught:
        call()
    assert str(caught.value).endswith(".")


def test_memory_is_asked_of_the_system(monkeypatch):
    """Of a container, else of Linux, else of any Unix; where none tells, nothing is refused."""
    files = {
        "/sys/fs/cgroup/memory.max": "5000000000\n",
        "/sys/fs/cgroup/memory.current": "2000000000\n",
        "/sys/fs/cgroup/memory.stat": "anon 1\nfile 600000000\ninactive_file 500000000\n",
        "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 4000000 kB\n",
    }

    def read_text(path):
        if str(path) not in files:
            raise OSError(path)
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read_text)
    assert memory.available_memory() == 3.5e9  # the cache of files gives way
    files["/sys/fs/cgroup/memory.max"] = "max"  # no limit
    assert memory.available_memory() == 4096e6
    del files["/proc/meminfo"]
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.get)
    assert memory.available_memory() == 4096e3
    monkeypatch.delattr(memory.os, "sysconf")  # as on Windows
    assert memory.available_memory() == np.inf
    memory.refuse_beyond_memory(1e30, "All", "never mind.")


SIZES = {  # of what is asked for, of 5 and 7 samples with 3 features
    "The matrix of kernel values, 5×7": lambda X, Y: rbf(1.0)(X, Y),
    "The Gram matrix, 5×5": lambda X, Y: gram_matrix(X, rbf(1.0)),
    "The matrix of distances, 5×7": lambda X, Y: squared_distances(X, Y),
    "The covariance matrix, 3×3": lambda X, Y: fit_ppca(X, 1).covariance(),
    "The sample, with its noise, 4×6": lambda X, Y: fit_ppca(X, 1).sample(4, 0),
    "The matrix J, 5×5": lambda X, Y: centering_matrix(5),
}


@pytest.mark.parametrize("size", SIZES)
def test_memory_is_asked_for_by_the_right_size(size, monkeypatch):
    """The message has rows and columns; enough memory for them is enough."""
    X, Y = np.split(np.random.default_rng(0).standard_normal((12, 3)), [5])
    needed = 8 * np.prod([int(side) for side in size.split(", ")[-1].split("×")])
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=size):
        SIZES[size](X, Y)
    monkeypatch.setattr(memory, "available_memory", lambda: needed)
    SIZES[size](X, Y)


# --- arguments that must fit each other ----------------------------------------------------------

X = samples()
MISFITS = {
    "codes of another k": (
        lambda: move_prior(fit_ppca(X, 2), expect(fit_ppca(X, 1), X)),
        "model has 2 directions and codes has 1",
    ),
    "negative s": (lambda: optimal_shrinkage([2.0, -1.0], 0.5), "s holds -1: .* non-negative"),
    "a start out of reach": (
        lambda: fill_in(X, X > 5, 1, start=X + 1e12),
        "start is more than 1e.09 times as far",
    ),
    "no variance": (
        lambda: kpca_edu.fit_sparse_pca(np.zeros((3, 3)), 1, gram=True),
        "no positive variance",
    ),
    "a share for the bootstrap": (lambda: bootstrap_pca(X, 0.9), "k=0.9 is no number"),
    "a kernel that overflows": (
        lambda: kpca_edu.polynomial(3)(1e150 * X),
        "The kernel overflows on these samples: divide X by a number first.",
    ),
    "a gradient that overflows": (
        lambda: kpca_edu.polynomial(3).gradient(1e160 * X, X, np.ones((12, 12))),
        "The kernel overflows",
    ),
    "features that are none": (lambda: accumulate([X], features=3), "features is int"),
}


@pytest.mark.parametrize(("call", "words"), MISFITS.values(), ids=MISFITS)
def test_misfits_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_subspaces_in_single_precision():
    """Rounding to single precision turns a plane by 1e-7, and that is the same plane."""
    rng = np.random.default_rng(2)
    U = rng.standard_normal((9, 3)).astype(np.float32)
    V = (U @ rng.standard_normal((3, 3))).astype(np.float32)
    assert kpca_edu.same_subspace(U, U)
    assert kpca_edu.same_subspace(U, V)
    assert not kpca_edu.same_subspace(U, V + np.float32(1e-3) * np.eye(9, 3, dtype=np.float32))
    assert not kpca_edu.same_subspace(U.astype(float), V.astype(float))  # doubles are held to 1e-8


@pytest.mark.parametrize("size", [1e-170, 1.0, 1e170])
def test_angles_have_no_unit(size):
    """The cosine of tiny and huge rows, dense and sparse: no square over- or underflows."""
    wanted = X @ X.T / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(kpca_edu.cosine()(size * X), wanted, atol=1e-12)
    np.testing.assert_allclose(kpca_edu.cosine()(sparse.csr_array(size * X)), wanted, atol=1e-12)


# --- callables of the user's ---------------------------------------------------------------------


def inner(A, B):
    return np.asarray(A) @ np.asarray(B).T


MODEL = kpca_edu.fit_kernel_pca(X, 2, inner)


def with_kernel(kernel):
    """Return a model as if it had been fitted with that callable."""
    return dataclasses.replace(MODEL, kernel=kernel)


USES = {
    "gram_matrix": lambda kernel: gram_matrix(X, kernel),
    "fit": lambda kernel: kpca_edu.fit_kernel_pca(X, 1, kernel),
    "encode": lambda kernel: with_kernel(kernel).encode(X[:5]),
    "nearest": lambda kernel: kpca_edu.preimage(with_kernel(kernel), MODEL.scores, "nearest"),
    "objective": lambda kernel: preimage_objective(
        with_kernel(kernel), X[:5], MODEL.weights(MODEL.scores[:5])
    ),
    "distance": lambda kernel: kpca_edu.feature_distance(
        with_kernel(kernel), X[:5], MODEL.scores[:5]
    ),
    **{
        f"{landmarks} landmarks": lambda kernel, landmarks=landmarks: kpca_edu.nystrom(
            X, 5, kernel, landmarks=landmarks
        )(X[:7])
        for landmarks in ("uniform", "kmeans", "leverage", "pivoted")
    },
}
BAD_KERNELS = {
    "NaN": lambda A, B: np.full((len(A), len(B)), np.nan),
    "infinity": lambda A, B: np.full((len(A), len(B)), np.inf),
    "complex": lambda A, B: 1j * inner(A, B),
    "text": lambda A, B: np.full((len(A), len(B)), "a"),
    "nothing": lambda A, B: None,
    "a number": lambda A, B: 1.0,
    "a row": lambda A, B: np.ones(len(B)),
    "three axes": lambda A, B: np.ones((len(A), len(B), 1)),
    "another size": lambda A, B: np.ones((3, 2)),
    "a sparse matrix": lambda A, B: sparse.csr_array(inner(A, B)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("bad", BAD_KERNELS)
def test_values_of_a_callable_are_looked_at_wherever_it_is_asked(use, bad):
    """Not at the fit alone: what is no matrix of kernel values gets a sentence everywhere."""
    with pytest.raises(ValueError, match="kernel|K_test") as caught:
        USES[use](BAD_KERNELS[bad])
    assert own_sentence(caught.value)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    "form", [np.matrix, pd.DataFrame, np.ndarray.tolist, lambda K: K.astype(object)]
)
def test_values_of_a_callable_may_have_any_form(use, form):
    """Tables, lists and objects hold the same numbers."""
    found = arrays_in(USES[use](lambda A, B: form(inner(A, B))))
    for array, right in zip(found, arrays_in(USES[use](inner)), strict=True):
        np.testing.assert_allclose(array, right, atol=1e-6 * np.abs(right).max(initial=1e-9))


MAPS = {
    "features": lambda features: fit_kernel_pca_features(X, 1, features),
    "blocks": lambda features: fit_kernel_pca_blocks([X[:7], X[7:]], 1, features),
    "scores": lambda features: dataclasses.replace(
        fit_kernel_pca_features(X, 1, np.array), features=features
    ).encode(X),
}


@pytest.mark.parametrize("use", MAPS)
@pytest.mark.parametrize(
    "features", [lambda A: A[:-1], lambda A: np.vstack([A, A]), lambda A: np.ones((2, 4))]
)
def test_a_map_gives_each_sample_its_row(use, features):
    with pytest.raises(ValueError, match="a row of features for each is needed"):
        MAPS[use](features)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("form", [pd.DataFrame, np.matrix, lambda Z: Z.astype(object)])
def test_scores_of_an_exact_preimage_may_have_any_form(form):
    model = kpca_edu.fit_kernel_pca(X, 2, kpca_edu.polynomial(3, 0.0))
    found, right = (exact_preimage(model, Z, np.cbrt) for Z in (form(model.scores), model.scores))
    np.testing.assert_allclose(found.X, right.X)
    assert np.array_equal(found.converged, right.converged)


def test_an_operator_is_called_one():
    with pytest.raises(ValueError, match="X is a LinearOperator: .* dense"):
        covariance_matrix(aslinearoperator(X))


def test_rows_beyond_all_densities_are_named():
    """The density of a row 1e200 away is exp(−1e400): there is no number for its logarithm."""
    far = X.copy()
    far[3] = 1e200
    for ask in (fit_ppca(X, 1).log_density, fit_ppca(X, 1).log_likelihood, fit_ppca(X, 1).bic):
        with pytest.raises(ValueError, match="Row 3 of X is so far from the mean"):
            ask(far)


@pytest.mark.parametrize("sign", [1, -1])
def test_blocks_whose_squares_overflow_are_refused(sign):
    """So no union of blocks has a scatter beyond the floats, as long as the rows can be counted."""
    far = np.where(np.arange(48).reshape(12, 4) == 5, sign * 1e155, samples())
    with pytest.raises(ValueError, match="squares overflow"):
        kpca_edu.summarize(far)
    moments = kpca_edu.summarize(far / 1e6)
    union = kpca_edu.merge(moments, kpca_edu.summarize(-far / 1e6))
    assert np.isfinite(union.scatter).all()
