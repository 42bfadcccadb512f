from collections.abc import Iterator

import pytest

from rogue.harness.plugins.loading import unload_plugins


@pytest.fixture(autouse=True)
def nothing_stays_loaded() -> Iterator[None]:
    yield
    unload_plugins()
