"""How properties are searched, how workers share the processor, and where pages whose code writes files run."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Workers of pytest-xdist fill the processor already: threads of theirs would only wait for each other. NumPy reads
# these when it is imported, which is after this file.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# On a busy machine any example may take long and any strategy may be slow: neither is a fault of the code under test.
# Under CI the same examples run every time; elsewhere each run searches anew, and a failure prints how to repeat it.
settings.register_profile(
    "rocband",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
    print_blob=True,
)
settings.load_profile("rocband")


@pytest.fixture(autouse=True)
def own_folder(request, tmp_path_factory, monkeypatch):
    """Leave the folder of the repository for code that is read from a page."""
    if request.node.path.suffix == ".md":
        monkeypatch.chdir(tmp_path_factory.mktemp("page"))
