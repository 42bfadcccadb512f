"""Tests of one file share an experiment: with `--dist loadgroup` one process runs it, once."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
