"""Two endpoints on a fabric inside the test's own process."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from helpers.fake_verbs import EVENT_FILE, fake_pyverbs
from helpers.fake_verbs_network import Fabric
from helpers.verbs_ends import PLAN, PORT, connect

from rogue.agent.drivers.verbs import clock, completion_queue
from rogue.agent.drivers.verbs.endpoint import Endpoint, opened
from rogue.agent.drivers.verbs.pyverbs import Pyverbs


@pytest.fixture
def fabric() -> Fabric:
    return Fabric()


@pytest.fixture
def pyverbs(fabric: Fabric, monkeypatch: pytest.MonkeyPatch) -> Pyverbs:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    return fake_pyverbs(fabric)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened_things:
        yield opened_things


@pytest.fixture
def requester(pyverbs: Pyverbs) -> Iterator[Endpoint]:
    with opened(pyverbs, PORT, PLAN, clock.nic_ns) as endpoint:
        yield endpoint


@pytest.fixture
def responder(pyverbs: Pyverbs) -> Iterator[Endpoint]:
    with opened(pyverbs, PORT, PLAN, clock.nic_ns) as endpoint:
        yield endpoint


@pytest.fixture
def connected(requester: Endpoint, responder: Endpoint) -> tuple[Endpoint, Endpoint]:
    connect(requester, responder)
    return requester, responder
