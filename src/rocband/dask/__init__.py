"""The linear models for data that one machine cannot hold, on Dask arrays and data frames.

Features stay on the workers. A step sends a model out and brings back the scores of the positives and of those
negatives that are in play in the band; see the page on large data for what travels, in bytes.
"""

from importlib.util import find_spec

_missing = [name for name in ("dask", "distributed", "pandas", "pyarrow") if find_spec(name) is None]
if _missing:
    raise ImportError(f"rocband.dask needs {', '.join(_missing)}; install the extra with pip install 'rocband[dask]'.")

from rocband.dask.estimators import PartialAUCSVC, PartialAUCSVCCV  # noqa: E402
from rocband.dask.metrics import partial_auc_score  # noqa: E402

__all__ = ["PartialAUCSVC", "PartialAUCSVCCV", "partial_auc_score"]
