"""Train and measure models for the part of the ROC curve you operate in."""

__version__ = "0.1.0.dev0"
