"""Other methods for the partial AUC, to compare with: an asymmetric SVM, boosting and a greedy heuristic."""

from rocband.baselines.asymmetric import AsymmetricSVC
from rocband.baselines.boost import PartialAUCBoost
from rocband.baselines.greedy import GreedyPartialAUC

__all__ = ["AsymmetricSVC", "GreedyPartialAUC", "PartialAUCBoost"]
