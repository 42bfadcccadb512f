"""A stage for roles inside the test's own process."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from helpers.agent_roles import Stage
from helpers.fake_verbs import EVENT_FILE

from rogue.agent.drivers.verbs import completion_queue


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    with ExitStack() as stack:
        yield Stage(tmp_path, stack)
