"""Whatever is wrong with an argument, the answer is a sentence of the library that names it.

Every public function and method is called with some thirty kinds of bad values for each of its
arguments, the others being good. It must raise a ValueError or a TypeError from the library's own
code, not from NumPy's insides, whose message is a sentence about that argument.
"""

import datetime
import inspect
import re
import traceback
import types
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from public_calls import ARGUMENTS, FUNCTIONS, INSTANCES, METHODS, prepared, samples
from scipy import sparse

import kpca_edu
from kpca_edu import estimators

PACKAGE = str(Path(kpca_edu.__file__).parent)
NAN, INF = np.nan, np.inf


# --- what is bad ---------------------------------------------------------------------------------


def no_numbers():
    """Things that are no real number, and no array of real numbers either."""
    return {
        "None": None,
        "a text": "two",
        "a number as text": "1",
        "an empty text": "",
        "bytes": b"1",
        "complex": 1 + 1j,
        "NumPy's complex": np.complex128(1j),
        "an object": object(),
        "a class": int,
        "a module": np,
        "a dict": {"a": 1},
        "a set": {1, 2},
        "a frozenset": frozenset([1]),
        "an ellipsis": ...,
        "a slice": slice(1),
        "a generator": (i for i in range(3)),
        "an iterator": iter([1.0]),
        "a date": datetime.date(2020, 1, 1),
        "NumPy's date": np.datetime64("2020-01-01"),
        "pandas' date": pd.Timestamp("2020-01-01"),
        "a time span": np.timedelta64(3, "s"),
        "an exception": ValueError("1"),
        "a path": Path("1"),
        "a text array": np.array("1"),
        "an object array": np.array(object()),
        "a list of texts": ["1", "2"],
        "a table of texts": [["a", "b"], ["c", "d"]],
        "a pattern": re.compile("1"),
        "a namespace": types.SimpleNamespace(shape=3),
        "a dtype": np.dtype(float),
        "a masked value": np.ma.masked,
        "a structured array": np.zeros((2, 2), [("a", float)]),
    }


def no_number():
    """What is no single number: also arrays, booleans, NaN and infinity."""
    return no_numbers() | {
        "True": True,
        "False": False,
        "NumPy's True": np.True_,
        "NaN": NAN,
        "infinity": INF,
        "minus infinity": -INF,
        "a decimal": Decimal("NaN"),
        "pd.NA": pd.NA,
        "pd.NaT": pd.NaT,
        "a list": [1.0, 2.0],
        "an empty list": [],
        "an array": np.array([1.0, 2.0]),
        "a matrix": np.eye(2),
        "a sparse matrix": sparse.csr_array(np.eye(2)),
        "a function": len,
        "beyond the floats": -(10**400),
    }


def no_matrix():
    """What is no dense matrix of finite real numbers."""
    table = pd.DataFrame(samples(), columns=list("abcd"))
    return {
        name: thing
        for name, thing in no_numbers().items()
        if name not in ("a generator", "an iterator")
    } | {
        "a number": 3.0,
        "True": True,
        "an empty list": [],
        "a row": [1.0, 2.0, 3.0, 4.0],
        "three axes": np.ones((2, 2, 2)),
        "no rows": np.empty((0, 4)),
        "no columns": np.empty((12, 0)),
        "ragged": [[1.0, 2.0], [3.0]],
        "complex entries": samples() * 1j,
        "infinite entry": np.where(np.arange(48).reshape(12, 4) == 7, INF, samples()),
        "objects": np.array([[object()] * 4] * 12),
        "dates": np.full((12, 4), np.datetime64("2020-01-01")),
        "a column of texts": table.assign(b="x"),
        "a column of dates": table.assign(b=pd.Timestamp("2020-01-01")),
        "texts after decimals": table.assign(a=[Decimal(1)] * 12, b="x"),
        "a column of objects": table.assign(b=[{} for _ in range(12)]),
        "too large integers": [[10**400] * 4] * 12,
        "masked": np.ma.masked_greater(samples(), 0),
        "a function": len,
    }


def gaps():
    table = pd.DataFrame(samples(), columns=list("abcd"))
    holes = table.mask(table > 2)
    return {"NaN": holes.to_numpy(), "None inside": [[None] * 4] * 12, "a table with NaN": holes}


def dense_only():
    return {
        "sparse matrix": sparse.csr_matrix(samples()),
        "sparse array": sparse.coo_array(samples()),
    }


def bad_sparse():
    hole = samples()
    hole[3, 1] = NAN
    return {
        "complex sparse": sparse.csr_array(samples() * 1j),
        "sparse NaN": sparse.csr_array(hole),
        "empty sparse": sparse.csr_array((0, 4)),
    }


def no_square():
    lopsided = np.eye(12)
    lopsided[0, 1] = 1.0
    return {"not square": samples(), "not symmetric": lopsided}


def not_semidefinite():
    return {"zero": np.zeros((4, 4)), "indefinite": np.diag([1.0, 1.0, 1.0, -1.0])}


# kind of argument: what is bad for it
BAD = {
    "dense": lambda: no_matrix() | gaps() | dense_only(),
    "with gaps": lambda: no_matrix() | dense_only(),
    "map": lambda: no_matrix() | gaps() | bad_sparse(),
    "square": lambda: no_matrix() | gaps() | dense_only() | no_square(),
    "square map": lambda: no_matrix() | gaps() | bad_sparse() | no_square(),
    "covariance": lambda: BAD["square"]() | not_semidefinite(),
    "distances": lambda: (
        BAD["square"]() | {"negative": np.eye(3) - 1.0, "diagonal": np.ones((3, 3))}
    ),
    "orthonormal": lambda: (
        without(BAD["dense"](), "no columns") | {"not orthonormal": np.full((4, 2), 3.0)}
    ),
    "vector": lambda: {
        **without(no_matrix(), "a row", "a number", "True"),
        "NaN inside": [NAN, 1.0, 2.0, 3.0],
        "infinity inside": [INF, 1.0, 2.0, 3.0],
        "zeros": np.zeros(4),
        "too long": np.ones(99),
        "a number": 3.0,
    },
    "mean": lambda: without(BAD["vector"](), "zeros"),
    "singular values": lambda: {
        **without(no_matrix(), "a row", "an empty list", "True"),
        "rising": [1.0, 2.0],
        "negative": [1.0, -1.0],
        "NaN": [NAN],
        "a column": np.ones((3, 1)),
    },
    "numbers": lambda: {
        **no_numbers(),
        "ragged": [[1.0], [1.0, 2.0]],
        "NaN inside": [[NAN, 1.0]],
        "infinity inside": [[INF, 1.0]],
    },
    "number": no_number,
    "not negative": lambda: no_number() | {"negative": -1.0, "a little below": -5e-324},
    "positive": lambda: no_number() | {"zero": 0.0, "negative": -1.0},
    "share": lambda: no_number() | {"negative": -0.1, "above one": 1.1},
    "tolerance": lambda: no_number() | {"negative": -1e-8},
    "ridge": lambda: (
        without(no_number(), "infinity") | {"negative": -1.0, "a little below": -5e-324}
    ),
    "whole": lambda: (
        no_number() | {"negative": -1, "no whole number": 1.5, "a float": 2.0, "huge": 10**30}
    ),
    "count": lambda: BAD["whole"]() | {"too many": 99},
    "count or share": lambda: (
        without(BAD["count"](), "no whole number", "a float")
        | {"a share above one": 1.5, "two as a float": 2.0, "all of it": 1.0, "minus": -0.5}
    ),
    "seed": lambda: without(
        no_number() | {"negative": -1, "a float": 0.5, "legacy": np.random.RandomState(0)}, "None"
    ),
    "flag": lambda: without(
        no_number() | {"zero": 0, "one": 1, "yes": "yes", "an object array": np.array([True])},
        "True",
        "False",
        "NumPy's True",
    ),
    "name": lambda: no_number() | {"a list of names": ["svd"], "a letter": "x"},
    "numbers of steps": lambda: {
        **no_numbers(),
        "negative": -1,
        "some negative": [1, -1],
        "NaN": NAN,
    },
    "one or each": lambda: {
        **no_numbers(),
        "negative": -1,
        "NaN": NAN,
        "two of them": [1, 1, 1, 1, 1, 1, 1],
        "ragged": [[1], [1, 2]],
    },
    "model": lambda: no_number() | {"PCA of another kind": kpca_edu.thin_svd(samples())},
    "kernel": lambda: without(
        no_number() | {"a name": "rbf", "a maker": kpca_edu.rbf, "a number": 1.0},
        "a function",
        "a class",
    ),
    "callable": lambda: without(no_number() | {"a number": 1.0}, "a function", "a class"),
    "blocks": lambda: {
        **without(no_number(), "a sparse matrix", "an array", "a matrix"),
        "a bad block": [samples(), samples() * NAN],
        "other columns": [samples(), samples(5, 3)],
        "no blocks": [],
    },
    "dask": lambda: no_number() | {"a NumPy array": samples()},
    "mask": lambda: without(no_number() | {"another shape": np.zeros((3, 3), bool)}),
    "points": lambda: without(no_matrix(), "three axes"),
    "file": lambda: {  # what it holds is tested with the streams
        "a number": 3,
        "True": True,
        "bytes": b"moments.npz",
        "a list of texts": ["moments.npz"],
        "an array": np.ones(3),
        "a class": str,
        "an object": object(),
        "no folder": "no folder of that name/moments.npz",
    },
    "text": lambda: {},  # a name for messages
}


def without(things, *names):
    return {name: thing for name, thing in things.items() if name not in names}


# argument: its kind, wherever it has that name …
KINDS = {
    "progress": "flag",
    "center": "flag",
    "squared": "flag",
    "scale": "flag",
    "gram": "flag",
    "refit": "flag",
    "clip": "flag",
    "phases": "flag",
    "shrink": "flag",
    "return_std": "flag",
    "rng": "seed",
    "tol": "tolerance",
    "rtol": "tolerance",
    "max_iter": "whole",
    "n_iter": "whole",
    "oversample": "whole",
    "repeats": "whole",
    "folds": "whole",
    "starts": "whole",
    "restarts": "whole",
    "neighbors": "whole",
    "every": "whole",
    "size": "whole",
    "block_rows": "whole",
    "max_samples": "whole",
    "degree": "whole",
    "n": "whole",
    "d": "whole",
    "m": "count",
    "k": "count",
    "max_k": "count",
    "max_relative_error": "share",
    "quantile": "share",
    "ratio": "share",
    "beta": "positive",
    "delta": "positive",
    "failure": "positive",
    "tangent": "positive",
    "rate": "positive",
    "sigma": "positive",
    "gamma": "positive",
    "unit": "not negative",
    "offset": "not negative",
    "noise": "not negative",
    "ridge": "not negative",
    "penalty": "not negative",
    "t": "numbers of steps",
    "norm": "name",
    "stop": "name",
    "solver": "name",
    "leave": "name",
    "method": "name",
    "landmarks": "name",
    "nonzeros": "one or each",
    "l1": "one or each",
    "A": "dense",
    "B": "dense",
    "C": "covariance",
    "D": "dense",
    "E": "dense",
    "K": "square",
    "L": "square",
    "M": "dense",
    "Q": "orthonormal",
    "U": "dense",
    "V": "dense",
    "W": "dense",
    "X": "dense",
    "T": "map",
    "Y": "map",
    "Z": "dense",
    "K_test": "dense",
    "K_train": "square",
    "X0": "map",
    "X_hat": "map",
    "D_new": "dense",
    "noisy": "map",
    "s": "singular values",
    "a": "vector",
    "b": "vector",
    "v": "vector",
    "x": "vector",
    "start": "vector",
    "mean": "mean",
    "row_means": "mean",
    "weights": "vector",
    "model": "model",
    "found": "model",
    "moments": "model",
    "spectrum": "model",
    "codes": "model",
    "z": "model",
    "regression": "model",
    "kernel": "kernel",
    "features": "callable",
    "inverse": "callable",
    "blocks": "blocks",
    "array": "dask",
    "block": "dense",
    "unknown": "mask",
    "checkpoint": "file",
    "name": "text",
}
# … and where it is another
SPECIAL = {
    **{
        f"{name}.X": "map"
        for name in (
            "power_method.power_step",
            "power_method.power_iteration",
            "power_method.deflate",
            "power_method.project_out",
            "power_method.svd_by_deflation",
            "power_method.svd_by_projection",
            "power_method.ritz_triplets",
            "power_method.subspace_iteration",
            "power_method.spectral_norm_bounds",
            "sketching.randomized_svd",
            "sketching.range_finder",
            "sketching.nystrom",
            "pca.fit_pca",
            "pca.centered_operator",
            "PCA.encode",
            "PCA.reconstruct",
            "PCA.whiten",
            "PCA.as_samples",
            "kernels.gram_matrix",
            "kernels.squared_distances",
            "kernels.median_sigma",
            "Kernel.__call__",
            "Kernel.diagonal",
            "Kernel.gradient",
            "RadialKernel.__call__",
            "RadialKernel.diagonal",
            "RadialKernel.gradient",
            "kernel_pca.fit_kernel_pca",
            "NystromMap.__call__",
            "NystromMap.project",
            "FourierMap.__call__",
            "feature_pca.fit_kernel_pca_features",
        )
    },
    **{
        f"{name}.X": "with gaps"
        for name in (
            "ppca.infer",
            "ppca.fit_ppca_em",
            "ppca.expect",
            "ppca.maximize",
            "PPCA.log_density",
            "PPCA.log_likelihood",
            "PPCA.bic",
            "PPCA.posterior",
            "PPCA.encode",
            "PPCA.reconstruct",
            "PPCA.impute",
            "choosing_k.fill_in",
        )
    },
    "svd.low_rank_error.k": "whole",
    "svd.relative_error.k": "whole",
    "sparse_pca.sparse_direction.ridge": "ridge",
    "power_method.power_eigen.K": "square map",
    "power_method.project_out.V": "orthonormal",
    "svd.projector.U": "orthonormal",
    "choosing_k.held_out_residuals.V": "orthonormal",
    "choosing_k.held_out_residuals.Y": "dense",
    "choosing_k.fill_in.start": "dense",
    "choosing_k.optimal_shrinkage.s": "numbers",
    "ppca.fit_ppca_em.start": "model",
    "pca.fit_pca.k": "count or share",
    "kernel_pca.fit_kernel_pca.k": "count or share",
    "kernel_pca.fit_kernel_pca_gram.k": "count or share",
    "kernel_pca.held_out_loss.k": "count or share",
    "kernel_pca.denoising_error.k": "count or share",
    "kernel_pca.choose_sigma.k": "count or share",
    "kernel_pca.denoising_error.noise": "positive",
    "kernel_pca.choose_sigma.noise": "positive",
    "kernel_pca.choose_sigma.sigmas": "numbers",
    "kernels.sigmoid.scale": "number",
    "kernels.sigmoid.offset": "number",
    "Kernel.gradient.T": "dense",
    "RadialKernel.gradient.T": "dense",
    "Kernel.diagonal_gradient.T": "dense",
    "RadialKernel.diagonal_gradient.T": "dense",
    "KernelPCA.reconstruction_error.diagonal": "points",
    "centering.center_cross_gram_by_means.mean": "number",
    "centering.center_gram_by_blocks.out": "points",
    "centering.double_center.D2": "distances",
    "centering.classical_mds.D": "distances",
    "centering.additive_constant.D": "distances",
    "preimages.preimage_objective.gamma": "dense",
    "preimages.objective_gradient.gamma": "dense",
    "preimages.fixed_point_step.gamma": "dense",
    "preimages.input_distances2.D2": "numbers",
    "preimages.locate_by_distances.D2": "points",
    "preimages.locate_by_distances.neighbors": "points",
    "score_regression.fit_score_regression.ridge": "numbers",
    "score_regression.leave_one_out_errors.ridges": "numbers",
    "score_regression.leave_one_out_errors.Y": "dense",
    "sparse_pca.fit_sparse_pca.ridge": "ridge",
    "sparse_pca.sparse_pca_objective.ridge": "ridge",
    "sparse_pca.coordinate_descent.l1": "not negative",
    "sparse_pca.sparse_direction.l1": "not negative",
    "sparse_search.soft_threshold.c": "numbers",
    "sparse_search.soft_threshold.t": "not negative",
    "sketching.fourier_features.kernel": "name",
    "sketching.fourier_features.m": "whole",
    "sketching.orthogonal_features.m": "whole",
    "sketching.fourier_error_bound.m": "whole",
    "streaming.merge.a": "model",
    "streaming.merge.b": "model",
}
# the message speaks of an argument by another name
CALLED = {
    "blocks": "[Bb]locks?",
    "sigmas": "sigmas?",
    "ridges": "ridges?",
    "X_hat": "X_hat|T|points",
    "noisy": "noisy|T",
    "T": "T|X",
    "inverse": "inverse",
}


MATRICES = {"dense", "with gaps", "map", "square", "square map", "covariance", "distances"}
WORDS = {  # what the message must say of a matrix
    "a text": "not numbers|one text",
    "numbers as text": "not numbers",
    "complex entries": "complex",
    "infinite entry": r"NaN or infinity, 1 in all, the first \(infinity\) at index \[1, 3\]",
    "NaN": "NaN",
    "None inside": "NaN",
    "a table with NaN": "NaN",
    "a row": r"1-D with shape \(4,\)|shape \(4,\)|a list|of shape",
    "three axes": r"3-D|shape \(2, 2, 2\)",
    "no rows": r"\(0, 4\)",
    "ragged": "different lengths",
    "dates": "not numbers",
    "a column of texts": "not numbers.*'b'",
    "a column of dates": "not numbers.*'b'",
    "a column of objects": "not numbers.*'b'",
    "texts after decimals": "not numbers.*'b'",
    "masked": "mask",
    "too large integers": "too large",
    "sparse matrix": "sparse",
    "sparse array": "sparse",
    "complex sparse": "complex",
    "sparse NaN": "NaN",
    "empty sparse": "empty",
    "not square": "square",
    "not symmetric": "symmetric",
    "zero": "no positive variance",
    "indefinite": "negative eigenvalue -1",
    "negative": "negative entry, -1",
    "diagonal": "diagonal of",
}
ODD = ("infinite entry", "NaN", "None inside", "a table with NaN", "a row", "three axes")
EMPTY = ("an empty text", "an empty list", "no blocks")


# --- the test ------------------------------------------------------------------------------------


def problem(call, arguments, name, bad, words=""):
    """Return what is wrong with the answer to a bad argument; None if all is well.

    ``words`` is a pattern that the message must hold, besides the name of the argument.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            result = call(**arguments | {name: bad})
            if inspect.isgenerator(result):
                list(result)
    except (ValueError, TypeError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        message = str(error)
        if not frames[-1].filename.startswith(PACKAGE):
            return f"from the insides, {Path(frames[-1].filename).name}: {message[:100]}"
        if not message.endswith((".", "?")):
            return f"no sentence: {message[:100]}"
        if not re.search(rf"\b({CALLED.get(name, name)})\b", message):
            return f"doesn't name {name}: {message[:100]}"
        return None if re.search(words, message) else f"no word of {words!r}: {message[:100]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    return "accepted"


def kind_of(name, argument):
    return SPECIAL.get(f"{name}.{argument}") or KINDS[argument]


def bad_values(name, argument, parameter):
    """Yield what is bad for an argument: None is good where it is the default."""
    kind = kind_of(name, argument)
    for label, value in BAD[kind]().items():
        if label == "None" and parameter.default is None:
            continue
        yield label, value


def test_every_public_name_has_a_good_call():
    """A new function or method needs a line in public_calls.py, and its arguments a kind here."""
    offered = {**FUNCTIONS, **METHODS}
    assert set(offered) == set(ARGUMENTS)
    assert {name.split(".")[0] for name in METHODS} == set(INSTANCES)
    for name, function in offered.items():
        for argument in inspect.signature(function).parameters.values():
            if argument.name != "self" and argument.kind not in VARIADIC:
                kind_of(name, argument.name)


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments_get_a_sentence(name):
    """At least thirty kinds of bad values for each function that takes arguments."""
    call, arguments = prepared(name, samples())
    problems, tried = [], 0
    for argument, parameter in inspect.signature(call).parameters.items():
        if parameter.kind in VARIADIC:
            continue
        for label, bad in bad_values(name, argument, parameter):
            tried += 1
            words = WORDS.get(label, "") if kind_of(name, argument) in MATRICES else ""
            said = problem(call, arguments, argument, bad, words)
            if said and not {(name, argument, label), (name, argument)} & GOOD_HERE:
                problems.append(f"{argument} = {label}: {said}")
    assert not problems, "\n".join([f"{len(problems)} of {tried}", *problems])
    assert tried >= 30 or not inspect.signature(call).parameters


# bad elsewhere, and welcome here
GOOD_HERE = {
    ("compare.fix_signs", "V", "no columns"),
    *(("svd.is_svd", name, label) for name in "UV" for label in ODD),  # shapes, or: it is none
    ("power_method.deflate", "found", "PCA of another kind"),
    ("KernelPCA.reconstruction_error", "diagonal", "a number"),
    ("KernelPCA.reconstruction_error", "diagonal", "True"),
    ("centering.center_gram_in_place", "K", "not symmetric"),
    ("centering.center_gram_by_blocks", "K", "a structured array"),  # out is named first
    ("streaming.summarize", "block", "no rows"),
    *(("streaming.centered_blocks", "blocks", x) for x in EMPTY),  # a generator of none
    # K may be a file: only its shape and its blocks are looked at
    *(("centering.gram_means_by_blocks", "K", label) for label in WORDS),
    *(("centering.center_gram_by_blocks", "K", label) for label in WORDS),
    *(("centering.center_gram_in_place", "K", label) for label in WORDS),  # a writable array
    ("feature_pca.fit_kernel_pca_features", "k", "None"),  # all that have variance, as fit_pca
}


# --- estimators ----------------------------------------------------------------------------------

ESTIMATORS = {name: getattr(estimators, name) for name in estimators.__all__}
# parameter: its kind; scikit-learn's own parameters that change nothing are taken as they come
PARAMETERS = {
    "n_components": "whole",
    "whiten": "flag",
    "svd_solver": "name",
    "random_state": None,
    "kernel": "kernel",
    "gamma": "positive",
    "degree": "whole",
    "coef0": "number",
    "kernel_params": None,
    "alpha": "positive",
    "fit_inverse_transform": "flag",
    "eigen_solver": "name",
    "remove_zero_eig": "flag",
    "preimage": "name",
    "nonzeros": "one or each",
    "l1": "one or each",
    "ridge": "ridge",
    "refit": "flag",
    "tol": "tolerance",
    "max_iter": "whole",
    "landmarks": "name",
    "phases": "flag",
    **dict.fromkeys(
        ["copy", "iterated_power", "n_oversamples", "power_iteration_normalizer"]
        + ["copy_X", "n_jobs", "noise"]
    ),
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_estimators_refuse_bad_samples(estimator):
    """In scikit-learn's words or in ours, as a ValueError or a TypeError, from fit and after it."""
    fitted = estimator(n_components=2).fit(samples())
    nan = fitted._traits().get("allow_nan", False)
    kind = "map" if fitted._traits().get("sparse") else "with gaps" if nan else "dense"
    for call in (estimator(n_components=2).fit, fitted.transform):
        for label, bad in BAD[kind]().items():
            if label in SKLEARN_TAKES:
                continue
            try:
                call(bad)
            except (ValueError, TypeError):
                continue
            pytest.fail(f"{call.__name__} took {label}")


SKLEARN_TAKES = {"masked", "dates", "a structured array", "True", "a date", "too large integers"}


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_estimators_refuse_bad_parameters(estimator):
    """Parameters are looked at by fit, in our words or in scikit-learn's."""
    X = samples()
    for name in inspect.signature(estimator).parameters:
        kind = None if (estimator.__name__, name) in UNUSED else PARAMETERS[name]
        for label, bad in BAD[kind]().items() if kind else ():
            if bad is None or (name, label) in GOOD_PARAMETERS:
                continue
            try:
                estimator(**{"n_components": 2, **options_for(estimator, name), name: bad}).fit(X)
            except (ValueError, TypeError):
                continue
            pytest.fail(f"{name} = {label} was taken")


def options_for(estimator, name):
    """Return what must be asked for so that a parameter matters."""
    known = inspect.signature(estimator).parameters
    options = {
        "gamma": {"kernel": "rbf"},
        "degree": {"kernel": "poly"},
        "coef0": {"kernel": "poly"},
        "alpha": {"fit_inverse_transform": True},
    }
    return {key: value for key, value in options.get(name, {}).items() if key in known}


UNUSED = {("PCA", "tol"), ("KernelPCA", "tol"), ("KernelPCA", "max_iter")}
GOOD_PARAMETERS = {
    ("kernel", "a name"),
    ("gamma", "zero"),
    ("degree", "a float"),  # 2.0, as scikit-learn takes it
    ("degree", "no whole number"),  # a broken power of positive numbers
    *(("alpha", label) for label in ("True", "NumPy's True", "a list", "an array")),
}
