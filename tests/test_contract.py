"""What holds for every fit and every model: arrays, signatures, threads, units.

The fits are listed here, one line each; that none is forgotten is tested, too.
"""

import copy
import importlib
import inspect
import pickle
import pkgutil
import sys
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from scipy import sparse

import kpca_edu
from kpca_edu import (
    best_subset,
    denoise,
    fit_kernel_pca,
    fit_kernel_pca_features,
    fit_kernel_pca_gram,
    fit_pca,
    fit_pca_blocks,
    fit_ppca,
    fit_ppca_em,
    fit_sparse_pca,
    fourier_features,
    nystrom,
    power_iteration,
    preimage,
    randomized_svd,
    subspace_iteration,
    summarize,
    svd_by_deflation,
    svd_by_projection,
    thin_svd,
)
from kpca_edu._engine.model import Frozen, read_only
from kpca_edu.centering import classical_mds
from kpca_edu.kernels import rbf
from kpca_edu.power_method import power_eigen
from kpca_edu.ppca import spectrum
from kpca_edu.preimages import fit_score_regression
from kpca_edu.sparse_pca import generalized_power, truncated_power

MODULES = {
    name: module
    for name, module in vars(kpca_edu).items()
    if inspect.ismodule(module) and not name.startswith("_")
}


def samples(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) * 3 + rng.normal(size=(n, d))


def distances(X):
    return np.sqrt(np.sum((X[:, None] - X) ** 2, axis=2))


def with_holes(X):
    X = X.copy()
    X[::7, 1] = np.nan
    return X


# name: how a result of every kind is made from data
RESULTS = {
    "SVD": thin_svd,
    "PowerRun": power_iteration,
    "EigenRun": lambda X: power_eigen(X.T @ X),
    "deflation": lambda X: svd_by_deflation(X, 2),
    "projection": lambda X: svd_by_projection(X, 2),
    "subspace": lambda X: subspace_iteration(X, 2),
    "randomized": lambda X: randomized_svd(X, 2),
    "PCA": lambda X: fit_pca(X, 2),
    "Spectrum": spectrum,
    "PPCA": lambda X: fit_ppca(X, 2),
    "PPCA by EM": lambda X: fit_ppca_em(with_holes(X), 1),
    "KernelPCA": lambda X: fit_kernel_pca(X, 3, rbf(4.0)),
    "KernelPCA of a Gram matrix": lambda X: fit_kernel_pca_gram(X @ X.T, 2),
    "ClassicalMDS": lambda X: classical_mds(distances(X), 2),
    "SparsePCA": lambda X: fit_sparse_pca(X, 2, nonzeros=3),
    "Subset": lambda X: best_subset(X.T @ X, 2),
    "truncated power": lambda X: truncated_power(X.T @ X, 2),
    "generalized power": lambda X: generalized_power(X, 0.1),
    "Preimage": lambda X: preimage(fit_kernel_pca(X, 3, rbf(4.0)), np.zeros((2, 3)), "nearest"),
    "Moments": lambda X: summarize(X),
    "FeaturePCA": lambda X: fit_kernel_pca_features(X, 2, nystrom(X, 20, rbf(4.0))),
    "NystromMap": lambda X: nystrom(X, 20, rbf(4.0)),
    "FourierMap": lambda X: fourier_features(X.shape[1], 20, 4.0),
    "ScoreRegression": lambda X: fit_score_regression(fit_kernel_pca(X, 3, rbf(4.0))),
}
each_result = pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)


def arrays(model):
    values = [getattr(model, field.name) for field in fields(model)]
    return [value for value in values if isinstance(value, np.ndarray)]


@each_result
class TestEveryResult:
    def test_is_a_frozen_dataclass_with_a_short_repr(self, make):
        result = make(samples())
        assert is_dataclass(result)
        assert isinstance(result, Frozen)
        text = repr(result)
        assert text.startswith(type(result).__name__)
        assert len(text) <= 120
        assert "\n" not in text
        assert "array" not in text

    def test_owns_its_arrays(self, make):
        """Changing what was fitted on changes nothing, and the arrays can't be written to."""
        X = samples()
        result = make(X)
        before = [array.copy() for array in arrays(result)]
        X *= 2
        for array, was in zip(arrays(result), before, strict=True):
            assert np.array_equal(array, was)
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0

    def test_survives_pickle_and_copy(self, make):
        result = make(samples())
        twins = [pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)]
        for twin in twins:
            assert repr(twin) == repr(result)
            for array, other in zip(arrays(result), arrays(twin), strict=True):
                assert np.array_equal(array, other)
                assert not other.flags.writeable

    def test_single_precision_and_other_forms_are_taken(self, make):
        """Lists, Fortran order, read-only and single precision give the same result."""
        X = samples().round(3)
        wanted = arrays(make(X))
        still = X.copy()
        still.flags.writeable = False
        for form in (np.asfortranarray(X), still, X[:, ::-1][:, ::-1]):
            for array, right in zip(arrays(make(form)), wanted, strict=True):
                assert array.shape == right.shape
                if array.dtype.kind == "f":
                    np.testing.assert_allclose(array, right, atol=1e-6 * np.abs(X).max() ** 2)


def test_no_kind_of_result_is_forgotten():
    """Every frozen dataclass that a public module offers is made above."""
    made = {type(make(samples())) for make in RESULTS.values()}
    offered = {
        thing
        for module in MODULES.values()
        for name in getattr(module, "__all__", [])
        if inspect.isclass(thing := getattr(module, name))
        and issubclass(thing, Frozen)
        and thing.__name__ not in PARTS
    }
    assert offered <= made


PARTS = {"PowerHistory", "Kernel", "RadialKernel", "InnerProductKernel"}  # found inside results


def test_read_only_copies_only_what_others_can_write():
    own = np.arange(3.0)
    kept = read_only(own)
    assert kept is not own
    assert read_only(kept) is kept
    assert read_only(kept[:2]).base is kept
    own[:] = 9
    assert np.array_equal(kept, [0, 1, 2])


# --- signatures ----------------------------------------------------------------------------------


FUNCTIONS = {
    f"{module.__name__}.{name}".removeprefix("kpca_edu."): thing
    for module in MODULES.values()
    for name in getattr(module, "__all__", [])
    if inspect.isfunction(thing := getattr(module, name)) and thing.__module__ == module.__name__
}
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@each_function
def test_signatures(function):
    """fit_x(X, k, *, …): options are keyword-only; what all share has one name and one place."""
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    with_default = [p for p in positional if p.default is not p.empty]
    if function.__name__.startswith("fit_"):
        allowed = {"X", "K", "k", "kernel", "model", "blocks", "array", "features"}
        assert {p.name for p in positional} <= allowed, [p.name for p in positional]
    assert len(positional) <= 4, [p.name for p in positional]
    assert len(with_default) <= 2, [p.name for p in with_default]
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    last = [name for name in ("tol", "max_iter", "rng", "progress") if name in names]
    assert names[len(names) - len(last) :] == last, names


SWITCHED_ON = {  # a flag is off unless it is listed here
    "center",
    "check_finite",
    "converged",
    "copy",
    "copy_X",
    "shrink",
}


def defaults_of(module, kind):
    """Yield every argument whose default is of a kind, in the functions and classes of a module."""
    for thing in vars(module).values():
        if getattr(thing, "__module__", "") != module.__name__ or not callable(thing):
            continue
        members = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
        for member in filter(inspect.isfunction, members):
            for parameter in inspect.signature(member).parameters.values():
                if type(parameter.default) in kind:
                    yield f"{module.__name__}.{member.__qualname__}", parameter


NAMES = [info.name for info in pkgutil.walk_packages(kpca_edu.__path__, "kpca_edu.")]
NAMES = [name for name in NAMES if ".exercises" not in name]


def test_defaults_of_flags():
    """Public or not, a flag has the same default everywhere: data are centred, nothing else is on.

    Only what multiplies a matrix as it comes, the eigensolver, does not centre by itself.
    """
    modules = map(importlib.import_module, NAMES)
    flags = [flag for module in modules for flag in defaults_of(module, [bool])]
    assert len(flags) > 80
    for owner, parameter in flags:
        on = parameter.name in SWITCHED_ON and "_engine.eigen." not in owner
        assert parameter.default is on, f"{owner}({parameter.name})"


NUMBERS = {  # argument: its default where that is a number, or the functions with each default
    "coef0": 1,
    "degree": {2: "polynomial polynomial_features", 3: "KernelPCA"},
    "delta": 0.05,
    "every": 100,
    "failure": {0.1: "convergence_bound steps_needed value_bound", 0.01: "spectral_norm_bounds"},
    "folds": 5,
    "gamma": 1.0,
    "l1": 0.0,
    "max_iter": {
        500: "fixed_point_preimage gradient_preimage",
        1000: "generalized_power subspace_iteration truncated_power",
        5000: "SparsePCA fit_sparse_pca",
        10_000: "ProbabilisticPCA coordinate_descent fit_ppca_em power_eigen power_iteration "
        "svd_by_deflation svd_by_projection",
    },
    "max_samples": {500: "fit_score_regression", 2000: "median_sigma"},
    "n_components": 100,
    "n_iter": {
        0: "range_error_bound range_finder",
        4: "randomized_svd",
        50: "spectral_norm_bounds",
    },
    "n_oversamples": 10,
    "n_samples": 1,
    "neighbors": 10,
    "noise": 0.0,
    "offset": {1.0: "polynomial polynomial_features", 0.0: "sigmoid"},
    "oversample": {4: "subspace_iteration", 10: "randomized_svd range_error_bound"},
    "quantile": 0.95,
    "rate": 10.0,
    "repeats": {100: "choose_k_by_parallel_analysis parallel_variances", 200: "bootstrap_pca"},
    "restarts": 1,
    "ridge": {
        0.0: "coordinate_descent elastic_net_path sparse_direction sparse_pca_objective",
        0.01: "SparsePCA fit_sparse_pca",
    },
    "rng": 0,
    "scale": 1.0,
    "starts": 2,
    "tol": {
        0: "KernelPCA PCA",
        1e-12: "ProbabilisticPCA fit_ppca_em",
        1e-10: "coordinate_descent generalized_power truncated_power",
        1e-8: "same_subspace",
        1e-7: "gradient_preimage",
        1e-6: "SparsePCA fit_sparse_pca",
        1e-5: "fixed_point_preimage",
    },
    "unit": 1.0,
}


def test_defaults_that_are_numbers():
    """Who leaves an argument out gets the number that the table has: another is another answer."""
    found = {}
    for module in map(importlib.import_module, (name for name in NAMES if "_engine" not in name)):
        for owner, parameter in defaults_of(module, [int, float]):
            name = owner.removeprefix(f"{module.__name__}.").removesuffix(".__init__")
            found.setdefault(parameter.name, {}).setdefault(parameter.default, set()).add(name)
    assert found.keys() == NUMBERS.keys()
    for name, defaults in NUMBERS.items():
        if isinstance(defaults, dict):
            assert found[name] == {value: set(who.split()) for value, who in defaults.items()}
        else:
            assert found[name].keys() == {defaults}, name


@each_function
def test_chance_begins_at_zero(function):
    """Whatever draws at random does so from the seed 0, unless another is given."""
    parameter = inspect.signature(function).parameters.get("rng")
    assert parameter is None or parameter.default in (0, inspect.Parameter.empty)


@each_function
def test_public_functions_are_short(function):
    """No more than 25 lines of code, without signature and docstring, and a docstring."""
    assert function.__doc__
    source = inspect.getsource(function)
    body = source.split('"""', 2)[2]
    lines = [line for line in body.splitlines() if line.strip()]
    assert len(lines) <= 25, len(lines)


def test_fits_answer_alike():
    """Every model has k, encode, variances and explained_ratio, of the right shapes."""
    X = samples()
    models = [
        fit_pca(X, 2),
        fit_ppca(X, 2),
        fit_kernel_pca(X, 2, rbf(4.0)),
        fit_sparse_pca(X, 2, nonzeros=3),
    ]
    for model in models:
        assert model.k == 2
        assert model.encode(X).shape == (60, 2)
        assert model.variances.shape == model.explained_ratio.shape == (2,)
        assert 0 < model.explained_ratio.sum() <= 1 + 1e-12


def test_sparse_samples_of_a_model_are_its_own_also_in_copies():
    """Nobody can write to them, before and after pickle and copy, and the user's stay free."""
    X = sparse.random_array((20, 6), density=0.5, rng=0, format="csr")
    for make in (
        lambda: fit_kernel_pca(X, 2, rbf(1.0)).X,
        lambda: nystrom(X, 5, rbf(1.0)).landmarks,
        lambda: pickle.loads(pickle.dumps(fit_kernel_pca(X, 2, rbf(1.0)))).X,
        lambda: copy.deepcopy(fit_kernel_pca(X, 2, rbf(1.0))).X,
        lambda: copy.copy(nystrom(X, 5, rbf(1.0))).landmarks,
    ):
        kept = make()
        for part in (kept.data, kept.indices, kept.indptr):
            assert not part.flags.writeable
    assert X.data.flags.writeable


def test_columns_of_a_table_are_remembered():
    """Models fitted on a DataFrame know its columns and refuse them in another order."""
    table = pd.DataFrame(samples(), columns=list("abcde"))
    for model in (
        fit_pca(table, 2),
        fit_ppca(table, 2),
        fit_ppca_em(table, 2),
        fit_kernel_pca(table, 2, rbf(4.0)),
        fit_sparse_pca(table, 2, nonzeros=3),
    ):
        assert model.columns == tuple("abcde")
        np.testing.assert_allclose(model.encode(table), model.encode(table.to_numpy()))
        with pytest.raises(ValueError, match="Column 0 of . is called 'e'"):
            model.encode(table[list("edcba")])


# --- one BLAS pool -------------------------------------------------------------------------------

SCIPY_LINALG = str(Path(scipy.linalg.__file__).parent)


def calls_into_scipy_linalg(run):
    """Return the names of SciPy's linear algebra functions that are called meanwhile."""
    seen = set()

    def watch(frame, event, arg):
        if event == "call" and frame.f_code.co_filename.startswith(SCIPY_LINALG):
            seen.add(frame.f_code.co_name)

    sys.setprofile(watch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    finally:
        sys.setprofile(None)
    return seen


LARGE = samples(700, 12)
SCATTERED = sparse.random_array((600, 500), density=0.05, rng=0, format="csr")
MODEL = fit_kernel_pca(LARGE[:300], 10, rbf(6.0))
HOT_PATHS = {
    "kernel PCA": lambda: fit_kernel_pca(LARGE, 5, rbf(6.0)),
    "kernel PCA, uncentred": lambda: fit_kernel_pca(LARGE, 5, rbf(6.0), center=False),
    "kernel PCA, small": lambda: fit_kernel_pca(LARGE[:100], 5, rbf(6.0)),
    "kernel PCA of a Gram matrix": lambda: fit_kernel_pca_gram(LARGE @ LARGE.T, 5),
    "power method": lambda: power_iteration(LARGE),
    "deflation": lambda: svd_by_deflation(LARGE, 3),
    "projection": lambda: svd_by_projection(LARGE, 3),
    "subspace iteration": lambda: subspace_iteration(LARGE, 3),
    "randomised SVD": lambda: randomized_svd(LARGE, 3),
    "PCA, randomised": lambda: fit_pca(LARGE, 3, solver="randomized"),
    "PCA, sparse": lambda: fit_pca(SCATTERED, 5),
    "PCA": lambda: fit_pca(LARGE, 3),
    "EM": lambda: fit_ppca_em(LARGE, 3, max_iter=5, tol=0.0),
    "EM with holes": lambda: fit_ppca_em(with_holes(LARGE), 3, max_iter=5, tol=0.0),
    "sparse PCA, counts": lambda: fit_sparse_pca(LARGE, 3, nonzeros=4),
    "sparse PCA, penalties": lambda: fit_sparse_pca(LARGE, 3, l1=0.02),
    "sparse PCA": lambda: fit_sparse_pca(LARGE, 3),
    "encoding": lambda: MODEL.encode(LARGE),
    "streaming PCA": lambda: fit_pca_blocks([LARGE[:300], LARGE[300:]], 3),
    "Nyström": lambda: fit_kernel_pca_features(LARGE, 3, nystrom(LARGE, 50, rbf(6.0))),
    "Fourier": lambda: fit_kernel_pca_features(LARGE, 3, fourier_features(12, 50, 6.0)),
    **{
        f"denoising, {method}": lambda method=method: denoise(MODEL, LARGE[300:400], method)
        for method in ("nearest", "fixed-point", "gradient", "mds", "ridge")
    },
}


@pytest.mark.parametrize("run", HOT_PATHS.values(), ids=HOT_PATHS)
def test_hot_paths_stay_in_one_pool(run):
    """NumPy's and SciPy's BLAS threads fight for the cores: what loops calls NumPy's alone."""
    assert calls_into_scipy_linalg(run) == set()


def test_a_call_into_the_other_pool_is_seen():
    assert "qr" in calls_into_scipy_linalg(lambda: scipy.linalg.qr(np.eye(3)))


def test_no_module_takes_lapack_or_blas_from_scipy():
    """Such calls leave no trace for the test above, so the sources are searched for them."""
    root = Path(kpca_edu.__file__).parent
    sources = {path: path.read_text("utf8") for path in root.rglob("*.py")}
    words = ("scipy.linalg.lapack", "scipy.linalg.blas", "import lapack", "import blas", "get_blas")
    found = [p.name for p, text in sources.items() for word in words if word in text]
    assert found == []


# --- units ---------------------------------------------------------------------------------------

SCALES = [1e-100, 2.0**-40, 1000.0, 1e100]
FITS = {
    "streaming PCA": lambda X, c: fit_pca_blocks(np.array_split(X, 7), 2).V,
    "Nyström": lambda X, c: (
        fit_kernel_pca_features(X, 2, nystrom(X, 20, rbf(4.0 * c))).explained_ratio
    ),
    "PCA": lambda X, c: fit_pca(X, 2).explained_ratio,
    "PCA directions": lambda X, c: fit_pca(X, 2).V,
    "PPCA": lambda X, c: fit_ppca(X, 2).W / c,
    "PPCA by EM": lambda X, c: fit_ppca_em(with_holes(X), 1).W / c,
    "kernel PCA": lambda X, c: fit_kernel_pca(X, 3, rbf(4.0 * c)).alpha,
    "sparse PCA, counts": lambda X, c: fit_sparse_pca(X, 2, nonzeros=3).B,
    "sparse PCA, one loading": lambda X, c: fit_sparse_pca(X, 2, nonzeros=1).B,
    "sparse PCA, penalties": lambda X, c: fit_sparse_pca(X, 2, l1=0.1).B,
    "sparse PCA": lambda X, c: fit_sparse_pca(X, 2).B,
    "subspace iteration": lambda X, c: subspace_iteration(X, 2).V,
    "deflation": lambda X, c: svd_by_deflation(X, 2).V,
    **{
        f"pre-images, {method}": lambda X, c, method=method: (
            denoise(fit_kernel_pca(X[10:], 3, rbf(4.0 * c)), X[:10], method).X / c
        )
        for method in ("nearest", "fixed-point", "gradient", "mds", "ridge")
    },
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_units_do_not_matter(fit):
    """X and cX, widths with them, give the same answer."""
    X = samples()
    wanted = fit(X, 1.0)
    for c in SCALES:
        np.testing.assert_allclose(fit(c * X, c), wanted, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("fit", [fit for name, fit in FITS.items() if "ation" not in name])
def test_the_origin_does_not_matter(fit):
    """A shift of all rows changes neither directions nor shares, up to its rounding."""
    X = samples()
    wanted = fit(X, 1.0)
    moved = fit(X + np.array([1e3, 0, -1e3, 5, 1e4]), 1.0)
    if wanted.shape == (10, 5):  # pre-images move along
        moved = moved - np.array([1e3, 0, -1e3, 5, 1e4])
    np.testing.assert_allclose(moved, wanted, atol=1e-4 * np.abs(wanted).max())


def test_a_view_that_cannot_be_written_may_still_change():
    """Its owner can write to it, so a model takes a copy; what nobody can write to is shared."""
    owner = np.arange(3.0)
    view = owner[:]
    view.flags.writeable = False
    kept = read_only(view)
    owner[0] = 7
    assert kept[0] == 0
    owner.flags.writeable = False
    assert read_only(view) is view
