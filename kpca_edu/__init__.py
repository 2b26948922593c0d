"""kpca_edu: principal components from the singular value decomposition to kernel and sparse PCA.

The reference library of the book: one module a chapter, one function a derivation step.
"""

from . import compare, svd
from .compare import *  # noqa: F403
from .svd import *  # noqa: F403

__all__ = [*compare.__all__, *svd.__all__]
__version__ = "0.1.0"
