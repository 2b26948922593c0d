"""One good call of every public function and method, made from a data matrix X.

The functions and methods are found by introspection. Whoever adds one adds a line here, or a test
that runs through all of them says that it is missing.
"""

import importlib
import inspect
import pkgutil

import numpy as np

import kpca_edu
from kpca_edu import (
    fit_kernel_pca,
    fit_pca,
    fit_ppca,
    fit_sparse_pca,
    fourier_features,
    nystrom,
    rbf,
    summarize,
    thin_svd,
)
from kpca_edu.centering import classical_mds
from kpca_edu.feature_pca import fit_kernel_pca_features
from kpca_edu.kernels import gram_matrix, median_sigma
from kpca_edu.ppca import expect, infer, spectrum
from kpca_edu.preimages import training_distances2
from kpca_edu.score_regression import fit_score_regression

# modules without numbers: figures and sources for the book, checkers with tests of their own, and
# estimators, whose input scikit-learn checks, with a test of theirs
APART = {"figures", "exercises", "estimators"}
MODULES = {
    info.name: importlib.import_module(f"kpca_edu.{info.name}")
    for info in pkgutil.iter_modules(kpca_edu.__path__)
    if not info.name.startswith("_") and info.name not in APART
}
# formulas and steps on arrays that the library has made, asked thousands of times: no checks
FORMULAS = {
    "profile",
    "profile_derivative",
    "profile_and_derivative",
    "inverse_profile",
    "waves",
    "oja_step",
    "shrink",
}


def _functions():
    for name, module in MODULES.items():
        for thing in map(module.__dict__.get, module.__all__):
            own = inspect.isfunction(thing) and thing.__module__ == module.__name__
            if own and thing.__name__ not in FORMULAS:
                yield f"{name}.{thing.__name__}", thing


def _methods():
    for module in MODULES.values():
        for kind in map(module.__dict__.get, module.__all__):
            if not inspect.isclass(kind) or not kind.__module__.startswith("kpca_edu"):
                continue
            for name, member in inspect.getmembers(kind, inspect.isfunction):
                public = not name.startswith("_") or name == "__call__"
                if public and name not in FORMULAS and member.__module__.startswith("kpca_edu"):
                    yield f"{kind.__name__}.{name}", member


FUNCTIONS, METHODS = dict(_functions()), dict(_methods())


def samples(n=12, d=4, seed=0):
    """Return data with a strong direction, a weaker one and noise."""
    rng = np.random.default_rng(seed)
    spread = np.array([5.0, 3.0] + [1.0] * d)[:d]
    return rng.standard_normal((n, d)) * spread @ np.linalg.qr(rng.standard_normal((d, d)))[0]


def _width(X):
    return median_sigma(X)


def _kernel_model(X):
    return fit_kernel_pca(X, 1, rbf(_width(X)))


def _covariance(X):
    Xc = np.asarray(X, float) - np.asarray(X, float).mean(axis=0)
    return Xc.T @ Xc / len(Xc)


def _distances(X):
    X = np.asarray(X, float)
    return np.sqrt(np.sum((X[:, None] - X) ** 2, axis=2))


def _gram(X):
    return np.asarray(X, float) @ np.asarray(X, float).T


def _axis(X):
    return np.eye(np.shape(X)[1], 1)


def _blocks(X):
    half = (len(X) + 1) // 2
    return [part for part in (X[:half], X[half:]) if len(part)]


def _dask(X):
    return importlib.import_module("dask.array").from_array(np.asarray(X, float), chunks=(5, -1))


def _features(X):
    return nystrom(X, min(5, len(X)), rbf(_width(X)))


# class: an instance
INSTANCES = {
    "SVD": thin_svd,
    "SVDRun": lambda X: kpca_edu.subspace_iteration(X, 1),
    "PCA": lambda X: fit_pca(X, 1),
    "PPCA": lambda X: fit_ppca(X, 1),
    "Kernel": lambda X: rbf(_width(X)),
    "RadialKernel": lambda X: rbf(_width(X)),
    "KernelPCA": _kernel_model,
    "ClassicalMDS": lambda X: classical_mds(_distances(X), 1),
    "SparsePCA": lambda X: fit_sparse_pca(X, 1, nonzeros=1),
    "ScoreRegression": lambda X: fit_score_regression(_kernel_model(X)),
    "NystromMap": _features,
    "FourierMap": lambda X: fourier_features(np.shape(X)[1], 6, 3.0),
    "FeaturePCA": lambda X: fit_kernel_pca_features(X, 1, _features(X)),
}

# function or method: the arguments that it needs
ARGUMENTS = {
    "compare.align_signs": lambda X: {"U": X, "V": X},
    "compare.subspace_angles": lambda X: {"U": X, "V": X},
    "compare.same_subspace": lambda X: {"U": X, "V": X},
    "compare.fix_signs": lambda X: {"V": X},
    "svd.thin_svd": lambda X: {"A": X},
    "svd.is_svd": lambda X: {
        "A": X,
        **{name: getattr(thin_svd(X), name) for name in "UsV"},
    },
    "svd.full_svd": lambda X: {"A": X},
    "svd.svd_by_maximization": lambda X: {"A": X},
    "svd.longest_direction": lambda X: {"A": X},
    "svd.svd_via_gram": lambda X: {"A": X},
    "svd.frobenius_norm": lambda X: {"A": X},
    "svd.low_rank": lambda X: {"A": X, "k": 1},
    "svd.low_rank_error": lambda X: {"s": thin_svd(X).s, "k": 1},
    "svd.projector": lambda X: {"U": thin_svd(X).U},
    "svd.relative_error": lambda X: {"s": thin_svd(X).s, "k": 1},
    "svd.choose_rank": lambda X: {"s": thin_svd(X).s, "max_relative_error": 0.3},
    "SVD.matrix": lambda X: {},
    "SVD.truncate": lambda X: {"k": 1},
    "SVDRun.matrix": lambda X: {},
    "SVDRun.truncate": lambda X: {"k": 1},
    "power_method.power_step": lambda X: {"X": X, "v": np.ones(np.shape(X)[1])},
    "power_method.power_iteration": lambda X: {"X": X},
    "power_method.random_unit": lambda X: {"d": 5},
    "power_method.convergence_bound": lambda X: {"n": 9, "ratio": 0.5, "t": 3},
    "power_method.steps_needed": lambda X: {"n": 9, "ratio": 0.5, "tangent": 0.1},
    "power_method.value_bound": lambda X: {"n": 9, "t": 3},
    "power_method.power_eigen": lambda X: {"K": _gram(X)},
    "power_method.deflate": lambda X: {"X": X, "found": thin_svd(X).truncate(1)},
    "power_method.project_out": lambda X: {"X": X, "V": _axis(X)},
    "power_method.svd_by_deflation": lambda X: {"X": X, "k": 1},
    "power_method.svd_by_projection": lambda X: {"X": X, "k": 1},
    "power_method.ritz_triplets": lambda X: {"X": X, "Q": _axis(X)},
    "power_method.subspace_iteration": lambda X: {"X": X, "k": 1},
    "power_method.spectral_norm_bounds": lambda X: {"X": X},
    "pca.fit_pca": lambda X: {"X": X, "k": 1},
    "pca.encoder_decoder_loss": lambda X: {"X": X, "E": _axis(X), "D": _axis(X).T},
    "pca.center_data": lambda X: {"X": X},
    "pca.covariance_matrix": lambda X: {"X": X},
    "pca.standardize": lambda X: {"X": X},
    "pca.dual_coefficients": lambda X: {"K": _gram(X), "k": 1},
    "pca.centered_operator": lambda X: {"X": X},
    "PCA.encode": lambda X: {"X": X},
    "PCA.decode": lambda X: {"Z": [[1.0], [2.0]]},
    "PCA.reconstruct": lambda X: {"X": X},
    "PCA.whiten": lambda X: {"X": X},
    "PCA.as_samples": lambda X: {"X": X},
    "choosing_k.choose_k_by_error": lambda X: {"X": X, "max_relative_error": 0.3},
    "choosing_k.choose_k_by_parallel_analysis": lambda X: {"X": X, "repeats": 9},
    "choosing_k.parallel_variances": lambda X: {"X": X, "repeats": 9},
    "choosing_k.choose_k_by_hard_threshold": lambda X: {"X": X},
    "choosing_k.hard_threshold": lambda X: {"X": X},
    "choosing_k.hard_threshold_factor": lambda X: {"beta": 0.5},
    "choosing_k.noise_level": lambda X: {"X": X},
    "choosing_k.marchenko_pastur_median": lambda X: {"beta": 0.5},
    "choosing_k.shrink_singular_values": lambda X: {"X": X},
    "choosing_k.optimal_shrinkage": lambda X: {"s": thin_svd(X).s, "beta": 0.5},
    "choosing_k.choose_k_by_cross_validation": lambda X: {"X": X, "folds": 2},
    "choosing_k.held_out_row_errors": lambda X: {"X": X, "folds": 2},
    "choosing_k.held_out_residuals": lambda X: {"Y": X, "V": _axis(X)},
    "choosing_k.held_out_errors": lambda X: {"X": X, "folds": 2},
    "choosing_k.fill_in": lambda X: {
        "X": X,
        "unknown": np.arange(np.size(X)).reshape(np.shape(X)) == np.size(X) - 1,
        "k": 1,
    },
    "choosing_k.choose_k_by_bic": lambda X: {"X": X},
    "choosing_k.bic_of_each_k": lambda X: {"X": X},
    "choosing_k.choose_k_by_held_out_likelihood": lambda X: {"X": X, "folds": 2},
    "choosing_k.held_out_log_likelihood": lambda X: {"X": X, "folds": 2},
    "choosing_k.bootstrap_pca": lambda X: {"X": X, "k": 1, "repeats": 5},
    "ppca.log_gaussian": lambda X: {
        "model": fit_ppca(X, 1),
        "z": next(infer(fit_ppca(X, 1), X)),
    },
    "ppca.infer": lambda X: {"model": fit_ppca(X, 1), "X": X},
    "ppca.fit_ppca": lambda X: {"X": X, "k": 1},
    "ppca.spectrum": lambda X: {"X": X},
    "ppca.maximum_likelihood": lambda X: {"spectrum": spectrum(X), "k": 1},
    "ppca.fit_ppca_em": lambda X: {"X": X, "k": 1},
    "ppca.expect": lambda X: {"model": fit_ppca(X, 1), "X": X},
    "ppca.maximize": lambda X: {"X": X, "codes": expect(fit_ppca(X, 1), X)},
    "ppca.move_prior": lambda X: {
        "model": fit_ppca(X, 1),
        "codes": expect(fit_ppca(X, 1), X),
    },
    "PPCA.covariance": lambda X: {},
    "PPCA.log_density": lambda X: {"X": X},
    "PPCA.log_likelihood": lambda X: {"X": X},
    "PPCA.bic": lambda X: {"X": X},
    "PPCA.posterior": lambda X: {"X": X},
    "PPCA.encode": lambda X: {"X": X},
    "PPCA.decode": lambda X: {"Z": [[1.0], [2.0]]},
    "PPCA.reconstruct": lambda X: {"X": X},
    "PPCA.impute": lambda X: {"X": X},
    "PPCA.sample": lambda X: {"n": 3, "rng": 0},
    "kernels.linear": lambda X: {},
    "kernels.cosine": lambda X: {},
    "kernels.polynomial": lambda X: {},
    "kernels.rbf": lambda X: {"sigma": 2.0},
    "kernels.rbf_from_gamma": lambda X: {"gamma": 2.0},
    "kernels.laplacian": lambda X: {"sigma": 2.0},
    "kernels.sigmoid": lambda X: {},
    "kernels.check_kernel": lambda X: {"kernel": rbf(2.0)},
    "kernels.gram_matrix": lambda X: {"X": X, "kernel": rbf(2.0)},
    "kernels.is_psd": lambda X: {"K": _gram(X)},
    "kernels.polynomial_features": lambda X: {"X": X},
    "kernels.rbf_features": lambda X: {"X": X, "sigma": _width(X), "degree": 2},
    "kernels.squared_distances": lambda X: {"X": X, "Y": X},
    "kernels.median_sigma": lambda X: {"X": X},
    **{
        f"{kind}.{name}": call
        for kind in ("Kernel", "RadialKernel")
        for name, call in {
            "__call__": lambda X: {"X": X, "Y": X},
            "diagonal": lambda X: {"X": X},
            "gradient": lambda X: {"T": X, "X": X, "W": np.ones((len(X), len(X)))},
            "diagonal_gradient": lambda X: {"T": X},
        }.items()
    },
    "kernel_pca.fit_kernel_pca": lambda X: {"X": X, "k": 1, "kernel": rbf(_width(X))},
    "kernel_pca.fit_kernel_pca_gram": lambda X: {"K": _gram(X), "k": 1},
    "kernel_pca.kernel_model": lambda X: {"model": _kernel_model(X)},
    "kernel_pca.held_out_loss": lambda X: {
        "X": X,
        "k": 1,
        "kernel": rbf(_width(X)),
        "folds": 2,
    },
    "kernel_pca.denoising_error": lambda X: {
        "X": X,
        "k": 1,
        "kernel": rbf(_width(X)),
        "folds": 2,
    },
    "kernel_pca.choose_sigma": lambda X: {
        "X": X,
        "k": 1,
        "sigmas": _width(X) * np.array([0.5, 1.0, 2.0]),
        "folds": 2,
    },
    "KernelPCA.encode": lambda X: {"T": X},
    "KernelPCA.weights": lambda X: {"Z": [[0.1], [0.2]]},
    "KernelPCA.reconstruction_error": lambda X: {"T": X},
    "KernelPCA.decode": lambda X: {"Z": [[0.1], [0.2]]},
    "KernelPCA.reconstruct": lambda X: {"T": X},
    "KernelPCA.as_samples": lambda X: {"T": X},
    "KernelPCA.preimage_method": lambda X: {},
    "centering.centering_matrix": lambda X: {"n": 4},
    "centering.center_gram_by_matrix": lambda X: {"K": _gram(X)},
    "centering.center_gram": lambda X: {"K": _gram(X)},
    "centering.center_gram_in_place": lambda X: {"K": _gram(X)},
    "centering.gram_means": lambda X: {"K": _gram(X)},
    "centering.center_cross_gram": lambda X: {"K_test": _gram(X)[:1], "K_train": _gram(X)},
    "centering.center_cross_gram_by_means": lambda X: {
        "K_test": _gram(X)[:1],
        "row_means": _gram(X).mean(axis=1),
        "mean": float(_gram(X).mean()),
    },
    "centering.cosine_with_mean": lambda X: {"K": gram_matrix(X, rbf(_width(X)))},
    "centering.squared_distances_of_gram": lambda X: {"K": _gram(X)},
    "centering.double_center": lambda X: {"D2": _distances(X) ** 2},
    "centering.classical_mds": lambda X: {"D": _distances(X), "k": 1},
    "centering.additive_constant": lambda X: {"D": _distances(X)},
    "centering.is_conditionally_psd": lambda X: {"K": -(_distances(X) ** 2)},
    "centering.center_gram_weighted": lambda X: {"K": _gram(X), "weights": np.ones(len(X))},
    "centering.gram_means_by_blocks": lambda X: {"K": _gram(X)},
    "centering.center_gram_by_blocks": lambda X: {"K": _gram(X), "out": 0 * _gram(X)},
    "ClassicalMDS.encode": lambda X: {"D_new": _distances(X)[:2]},
    **{
        f"preimages.{name}": lambda X: {
            "model": (model := _kernel_model(X)),
            "Z": model.scores[:2],
        }
        for name in (
            "preimage",
            "reconstruction_norm2",
            "training_distances2",
            "nearest_preimage",
            "gradient_preimage",
            "fixed_point_preimage",
            "mds_preimage",
            "ridge_preimage",
        )
    },
    "preimages.denoise": lambda X: {"model": _kernel_model(X), "T": X},
    "preimages.exact_preimage": lambda X: {
        "model": (model := fit_kernel_pca(X, 1, kpca_edu.polynomial(3, 0.0))),
        "Z": model.scores[:2],
        "inverse": np.cbrt,
    },
    **{
        f"preimages.{name}": lambda X: {
            "model": (model := _kernel_model(X)),
            "T": X[:2],
            "gamma": model.weights(model.scores[:2]),
        }
        for name in ("preimage_objective", "objective_gradient", "fixed_point_step")
    },
    **{
        f"preimages.{name}": lambda X: {
            "model": (model := _kernel_model(X)),
            "X_hat": X[:2],
            "Z": model.scores[:2],
        }
        for name in ("feature_distance", "feature_cosine")
    },
    "preimages.input_distances2": lambda X: {
        "model": (model := _kernel_model(X)),
        "D2": training_distances2(model, model.scores[:2]),
    },
    "preimages.locate_by_distances": lambda X: {
        "neighbors": np.asarray(X, float)[None],
        "D2": np.sum(np.asarray(X, float) ** 2, axis=1)[None],
    },
    "score_regression.fit_score_regression": lambda X: {"model": _kernel_model(X)},
    "score_regression.leave_one_out_errors": lambda X: {
        "L": gram_matrix(X, rbf(_width(X))),
        "Y": X,
        "ridges": [0.1],
    },
    "ScoreRegression.predict": lambda X: {"Z": [[0.1]]},
    **{
        f"sparse_pca.{name}": lambda X, more=more: {
            "C": _covariance(X),
            "a": np.ones(np.shape(X)[1]),
            **more,
        }
        for name, more in {
            "ridge_direction": {"ridge": 0.1},
            "coordinate_descent": {"l1": 0.1, "ridge": 0.1},
            "sparse_direction": {"l1": 0.1},
            "elastic_net_path": {},
        }.items()
    },
    "sparse_pca.fit_sparse_pca": lambda X: {"X": X, "k": 1},
    "sparse_pca.sparse_pca_objective": lambda X: {
        "C": _covariance(X),
        "A": _axis(X),
        "B": _axis(X),
    },
    "sparse_pca.procrustes": lambda X: {"M": X if len(X) >= np.shape(X)[1] else np.transpose(X)},
    "sparse_pca.sparse_rotation": lambda X: {"V": X},
    "sparse_pca.effective_nonzeros": lambda X: {"V": X},
    "sparse_pca.refit_loadings": lambda X: {"C": _covariance(X), "B": _axis(X)},
    "sparse_pca.adjusted_variances": lambda X: {"X": X, "B": _axis(X)},
    "SparsePCA.encode": lambda X: {"X": X},
    "SparsePCA.decode": lambda X: {"Z": [[1.0]]},
    "SparsePCA.reconstruct": lambda X: {"X": X},
    "sparse_search.best_subset": lambda X: {"C": _covariance(X), "k": 1},
    "sparse_search.simple_threshold": lambda X: {"V": X, "nonzeros": 1},
    "sparse_search.soft_threshold": lambda X: {"c": X, "t": 0.1},
    "sparse_search.truncated_power": lambda X: {"C": _covariance(X), "nonzeros": 1},
    "sparse_search.generalized_power": lambda X: {"X": X, "penalty": 0.1},
    "sparse_search.deflate_covariance": lambda X: {"C": _covariance(X), "b": _axis(X)[:, 0]},
    "sketching.randomized_svd": lambda X: {"X": X, "k": 1},
    "sketching.range_finder": lambda X: {"X": X, "size": 2},
    "sketching.range_error_bound": lambda X: {"s": [3.0, 2.0, 1.0], "k": 2},
    "sketching.nystrom": lambda X: {"X": X, "m": 1, "kernel": rbf(2.0)},
    "sketching.fourier_features": lambda X: {"d": 3, "m": 6, "sigma": 2.0},
    "sketching.orthogonal_features": lambda X: {"d": 3, "m": 6, "sigma": 2.0},
    "sketching.fourier_error_bound": lambda X: {"n": 9, "m": 6},
    "NystromMap.__call__": lambda X: {"X": X},
    "NystromMap.project": lambda X: {"X": X},
    "FourierMap.__call__": lambda X: {"X": X},
    "feature_pca.fit_kernel_pca_features": lambda X: {"X": X, "k": 1, "features": _features(X)},
    "FeaturePCA.encode": lambda X: {"T": X},
    "streaming.summarize": lambda X: {"block": X},
    "streaming.merge": lambda X: {"a": summarize(X), "b": summarize(X)},
    "streaming.pca_of_moments": lambda X: {"moments": summarize(X), "k": 1},
    "streaming.accumulate": lambda X: {"blocks": _blocks(X)},
    "streaming.fit_pca_blocks": lambda X: {"blocks": _blocks(X), "k": 1},
    "streaming.fit_kernel_pca_blocks": lambda X: {
        "blocks": _blocks(X),
        "k": 1,
        "features": _features(X),
    },
    "streaming.fit_pca_dask": lambda X: {"array": _dask(X), "k": 1},
    "streaming.fit_kernel_pca_dask": lambda X: {
        "array": _dask(X),
        "k": 1,
        "features": _features(X),
    },
    "streaming.encode_dask": lambda X: {"model": fit_pca(X, 1), "array": _dask(X)},
    "streaming.oja_directions": lambda X: {"blocks": _blocks(X), "k": 1},
    "streaming.frequent_directions": lambda X: {"blocks": _blocks(X), "size": 2},
    "streaming.centered_blocks": lambda X: {"blocks": _blocks(X)},
    "datasets.pagoda_picture": lambda X: {},
    "datasets.mnist_digits": lambda X: {},
    "datasets.tobamovirus": lambda X: {},
    "datasets.pitprops": lambda X: {},
    "datasets.matrix_with_singular_values": lambda X: {"s": [2.0, 1.0], "n": 4, "d": 3},
}


def prepared(name, X):
    """Return the function, or the method of an instance, and its arguments, made from X."""
    arguments = ARGUMENTS[name](X)
    if name in FUNCTIONS:
        return FUNCTIONS[name], arguments
    kind, method = name.split(".")
    return getattr(INSTANCES[kind](X), method), arguments
