"""Pages whose code writes files do so in a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def own_folder(request, tmp_path_factory, monkeypatch):
    """Leave the folder of the repository for code that is read from a page."""
    if request.node.path.suffix == ".md":
        monkeypatch.chdir(tmp_path_factory.mktemp("page"))
