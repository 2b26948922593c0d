"""kpca_edu: principal components from the singular value decomposition to kernel and sparse PCA.

The reference library of the book: one module a chapter, one function a derivation step. What most
users need can be imported from here; the steps of the derivations stay in their modules.
"""

from ._engine.checks import ConvergenceWarning
from ._version import __version__
from .centering import (
    ClassicalMDS,
    center_cross_gram,
    center_gram,
    centering_matrix,
    classical_mds,
)
from .choosing_k import (
    choose_k_by_bic,
    choose_k_by_cross_validation,
    choose_k_by_error,
    choose_k_by_hard_threshold,
    choose_k_by_held_out_likelihood,
    choose_k_by_parallel_analysis,
)
from .compare import align_signs, same_subspace, subspace_angles
from .feature_pca import fit_kernel_pca_features
from .kernel_pca import KernelPCA, choose_sigma, fit_kernel_pca, fit_kernel_pca_gram
from .kernels import (
    cosine,
    laplacian,
    linear,
    median_sigma,
    polynomial,
    polynomial_features,
    rbf,
    sigmoid,
)
from .pca import PCA, center_data, covariance_matrix, fit_pca, standardize
from .power_method import (
    PowerRun,
    convergence_bound,
    power_iteration,
    power_step,
    subspace_iteration,
    svd_by_deflation,
    svd_by_projection,
)
from .ppca import PPCA, fit_ppca, fit_ppca_em
from .preimages import (
    Preimage,
    denoise,
    feature_distance,
    fixed_point_preimage,
    gradient_preimage,
    mds_preimage,
    nearest_preimage,
    preimage,
    ridge_preimage,
)
from .sketching import fourier_features, nystrom, orthogonal_features, randomized_svd
from .sparse_pca import (
    SparsePCA,
    Subset,
    adjusted_variances,
    best_subset,
    fit_sparse_pca,
    ridge_direction,
    sparse_direction,
    truncated_power,
)
from .streaming import (
    Moments,
    fit_pca_blocks,
    fit_pca_dask,
    merge,
    summarize,
)
from .svd import (
    SVD,
    choose_rank,
    frobenius_norm,
    low_rank,
    low_rank_error,
    projector,
    relative_error,
    svd_via_gram,
    thin_svd,
)

__all__ = [
    # how to compare what is unique only up to sign or rotation
    "align_signs",
    "same_subspace",
    "subspace_angles",
    # the singular value decomposition
    "SVD",
    "choose_rank",
    "frobenius_norm",
    "low_rank",
    "low_rank_error",
    "projector",
    "relative_error",
    "svd_via_gram",
    "thin_svd",
    # the power method
    "PowerRun",
    "convergence_bound",
    "power_iteration",
    "power_step",
    "subspace_iteration",
    "svd_by_deflation",
    "svd_by_projection",
    # PCA and its probabilistic form
    "PCA",
    "PPCA",
    "center_data",
    "covariance_matrix",
    "fit_pca",
    "fit_ppca",
    "fit_ppca_em",
    "standardize",
    # how many components
    "choose_k_by_bic",
    "choose_k_by_cross_validation",
    "choose_k_by_error",
    "choose_k_by_hard_threshold",
    "choose_k_by_held_out_likelihood",
    "choose_k_by_parallel_analysis",
    # kernels and kernel PCA
    "KernelPCA",
    "choose_sigma",
    "cosine",
    "fit_kernel_pca",
    "fit_kernel_pca_gram",
    "laplacian",
    "linear",
    "median_sigma",
    "polynomial",
    "polynomial_features",
    "rbf",
    "sigmoid",
    # centring in feature space
    "ClassicalMDS",
    "center_cross_gram",
    "center_gram",
    "centering_matrix",
    "classical_mds",
    # back from feature space
    "Preimage",
    "denoise",
    "feature_distance",
    "fixed_point_preimage",
    "gradient_preimage",
    "mds_preimage",
    "nearest_preimage",
    "preimage",
    "ridge_preimage",
    # sparse directions
    "SparsePCA",
    "Subset",
    "adjusted_variances",
    "best_subset",
    "fit_sparse_pca",
    "ridge_direction",
    "sparse_direction",
    "truncated_power",
    # large data: sketches and streams
    "Moments",
    "fit_kernel_pca_features",
    "fit_pca_blocks",
    "fit_pca_dask",
    "fourier_features",
    "merge",
    "nystrom",
    "orthogonal_features",
    "randomized_svd",
    "summarize",
    # said when an iteration runs out of steps
    "ConvergenceWarning",
    "__version__",
]
