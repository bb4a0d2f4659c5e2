"""Pictures of the band: the ROC curve with the part that counts, a solver's convergence, a path of C, the bound.

They follow scikit-learn's displays: an object holds the data, ``plot`` draws them and keeps ``ax_`` and ``figure_``.
Colours are Okabe and Ito's, which readers with any colour vision can tell apart; line styles differ too, for print.
"""

from rocband.plot.bound import plot_generalization_bound
from rocband.plot.convergence import plot_convergence
from rocband.plot.path import plot_path
from rocband.plot.roc import PartialROCDisplay

__all__ = ["PartialROCDisplay", "plot_convergence", "plot_generalization_bound", "plot_path"]
