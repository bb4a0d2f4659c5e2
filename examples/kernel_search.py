"""Choose gamma and C of a kernel model at a sane cost: search with few components and rows, then fit once with many.

    python examples/kernel_search.py                                        about a minute
    python examples/kernel_search.py --rows 2000 --components 100           some seconds

The cost of a fit grows with rows times components. So the grid is searched on a part of the training rows with a fifth
of the components, to a loose tolerance. The best C tends to grow with rows and components: when the score is flat, or
best at the end of the grid, search again with more of both.
"""

from __future__ import annotations

import argparse
import time

from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocband import KernelPartialAUCSVC, PartialAUCSVC
from rocband.datasets import load_letter
from rocband.metrics import partial_auc_score, partial_auc_scorer

BAND = (0.0, 0.05)
GAMMAS = (0.02, 0.06, 0.2)
CS = (100.0, 1000.0, 10_000.0)


def main(arguments=None):
    options = read_arguments(arguments)
    X, y = load_letter("Q", return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)

    # 1. Search with few components, on a part of the training rows.
    began = time.perf_counter()
    some, _, y_some, _ = train_test_split(X_train, y_train, train_size=options.rows, stratify=y_train, random_state=0)
    search = GridSearchCV(
        model(n_components=max(options.components // 5, 10), tol=1e-3),
        {"kernelpartialaucsvc__gamma": GAMMAS, "kernelpartialaucsvc__C": CS},
        scoring=partial_auc_scorer(BAND),
        cv=3,
        refit=False,
    ).fit(some, y_some)
    best = {name.split("__")[1]: value for name, value in search.best_params_.items()}
    print(f"1. Searched {len(GAMMAS) * len(CS)} pairs in {time.perf_counter() - began:.1f} s:", end=" ")
    print(f"gamma = {best['gamma']:g}, C = {best['C']:g}, cross-validated pAUC {search.best_score_:.3f}.")

    # 2. Fit once, to all training rows with all components.
    began = time.perf_counter()
    final = model(n_components=options.components, **best).fit(X_train, y_train)
    print(f"2. Fitted {options.components} components to {len(y_train):,} rows in {time.perf_counter() - began:.1f} s.")

    # 3. Compare with the linear model on fresh rows.
    linear = make_pipeline(StandardScaler(), PartialAUCSVC(BAND)).fit(X_train, y_train)
    areas = [partial_auc_score(y_test, each.decision_function(X_test), fpr_range=BAND) for each in (final, linear)]
    print(f"3. Test pAUC {areas[0]:.3f}, where the linear model has {areas[1]:.3f}.")


def read_arguments(arguments):
    parser = argparse.ArgumentParser(description="Search gamma and C of a kernel model, then fit it.")
    parser.add_argument("--rows", type=int, default=6000, help="rows to search on (default: %(default)s)")
    parser.add_argument("--components", type=int, default=500, help="of the last fit (default: %(default)s)")
    return parser.parse_args(arguments)


def model(**parameters):
    """Scale the features, then the kernel."""
    return make_pipeline(StandardScaler(), KernelPartialAUCSVC(BAND, **parameters))


if __name__ == "__main__":
    main()
