"""Real data sets for the benchmarks: those of the experiments."""

from rocband.reproduce.sets import FILES, SPARSE, Data, load, standardized

__all__ = ["FILES", "SPARSE", "Data", "load", "standardized"]
