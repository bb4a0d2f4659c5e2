"""Data sets to learn and measure with: one embedded, one synthetic, four fetched."""

from rocband.datasets.letter import load_letter
from rocband.datasets.public import fetch_a9a, fetch_codrna, fetch_covtype, fetch_ijcnn1
from rocband.datasets.synthetic import make_band_problem

__all__ = ["fetch_a9a", "fetch_codrna", "fetch_covtype", "fetch_ijcnn1", "load_letter", "make_band_problem"]
