"""Train and measure models for the part of the ROC curve you operate in."""

from rocband._base import CollapsedSolutionWarning
from rocband.kernel import KernelPartialAUCSVC
from rocband.linear import PartialAUCSVC
from rocband.linear_cv import PartialAUCSVCCV

__version__ = "0.1.0.dev0"

__all__ = ["CollapsedSolutionWarning", "KernelPartialAUCSVC", "PartialAUCSVC", "PartialAUCSVCCV", "__version__"]
