"""The threshold for a false-positive rate, with or without a guarantee, and what a model does there.

A sample is called positive when its score lies strictly above the threshold, and a threshold is always the score of a
negative: with the k-th largest of n, at most k - 1 of them pass, however many scores tie.
"""

from rocband.threshold.classifier import FPRThresholdClassifier
from rocband.threshold.operating import operating_points

__all__ = ["FPRThresholdClassifier", "operating_points"]
