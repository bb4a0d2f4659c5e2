"""What the paper reports: H. Narasimhan, S. Agarwal, Neural Computation 29(7), 2017."""

from __future__ import annotations

__all__ = ["KDDCUP06", "KDDCUP08", "STAND_INS", "UCI", "figure"]

_COLUMNS = ("a9a", "cod-rna", "covtype 5", "ijcnn1", "letter Q")

# Partial AUC in [0.02, 0.05], mean of five splits.
UCI: dict[str, dict[str, float]] = {
    method: dict(zip(_COLUMNS, row, strict=True))
    for method, row in {
        "SVM_pAUC": (0.2739, 0.9187, 0.2467, 0.6131, 0.5208),
        "SVM_pAUC^dc": (0.3650, 0.9196, 0.2410, 0.6798, 0.5182),
        "SVM_AUC": (0.4338, 0.9192, 0.2987, 0.4750, 0.4455),
        "pAUCBoost": (0.4012, 0.0330, 0.4485, 0.4913, 0.4954),
        "Greedy": (0.3417, 0.0329, 0.2386, 0.1201, 0.2888),
    }.items()
}
# Partial AUC from 0.2 to 0.3 false positives per image.
KDDCUP08: dict[str, float] = {
    "SVM_pAUC": 0.6376,
    "SVM_pAUC^dc": 0.6162,
    "SVM_AUC": 0.6117,
    "pAUCBoost": 0.6033,
    "Greedy": 0.5616,
}
# TPR at FPR 0.1 by method and band, one split.
KDDCUP06: dict[tuple[str, tuple[float, float]], float] = {
    ("SVM_pAUC", (0.0, 0.1)): 0.6131,
    ("SVM_pAUC", (0.05, 0.1)): 0.5839,
    ("SVM_pAUC^dc", (0.05, 0.1)): 0.5912,
    ("SVM_AUC", (0.0, 0.1)): 0.5839,
}
# What our sets stand for, where they are not the paper's.
STAND_INS: dict[str, str] = {
    "cod-rna": "331,152 of the paper's 488,565 rows",
    "covtype 5": "class 5 against the rest; the paper does not say which class it took",
    "letter Q": "Q against the rest; the paper does not name its letter",
    "protein": "KDD Cup 2004 protein homology, split by block, in place of ppi and of KDD Cup 2008",
    "hiva": "HIV screening, 3,845 compounds, in place of chemo",
    "kddcup06": "the challenge's test part only, 1,391 of 4,429 candidates, split by patient",
}


def figure(experiment: str, data: str, method: str, band: tuple[float, float]) -> float | None:
    """Return the paper's figure for a cell of a table, if it has one."""
    if experiment == "uci":
        return UCI.get(method, {}).get(data)
    if experiment == "kddcup08":
        return KDDCUP08.get(method)
    if experiment == "kddcup06":
        return KDDCUP06.get((method, band))
    return None
