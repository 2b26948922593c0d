"""kpca_edu: principal components from the singular value decomposition to kernel and sparse PCA.

The reference library of the book: one module a chapter, one function a derivation step.
"""

from . import (
    centering,
    choosing_k,
    compare,
    kernel_pca,
    kernels,
    pca,
    power_method,
    ppca,
    preimages,
    sketching,
    sparse_pca,
    svd,
)
from .centering import *  # noqa: F403
from .choosing_k import *  # noqa: F403
from .compare import *  # noqa: F403
from .kernel_pca import *  # noqa: F403
from .kernels import *  # noqa: F403
from .pca import *  # noqa: F403
from .power_method import *  # noqa: F403
from .ppca import *  # noqa: F403
from .preimages import *  # noqa: F403
from .sketching import *  # noqa: F403
from .sparse_pca import *  # noqa: F403
from .svd import *  # noqa: F403

__all__ = [
    *compare.__all__,
    *svd.__all__,
    *power_method.__all__,
    *pca.__all__,
    *ppca.__all__,
    *choosing_k.__all__,
    *kernels.__all__,
    *kernel_pca.__all__,
    *centering.__all__,
    *preimages.__all__,
    *sparse_pca.__all__,
    *sketching.__all__,
]
__version__ = "0.1.0"
