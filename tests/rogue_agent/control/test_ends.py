from dataclasses import replace

import pytest
from helpers.agent_roles import LIMIT_MS, Stage

from rogue_agent.control.messages import Prepare
from rogue_agent.core.errors import SettingsError
from rogue_agent.drivers.verbs.errors import VerbsUnavailable

PREPARE = Prepare("here", LIMIT_MS, "requester", "10.9.0.1", "rogue", 4_096)


def test_an_unknown_transport_is_refused_before_anything_is_opened(stage: Stage) -> None:
    with pytest.raises(SettingsError, match="transport: got 'tcp'"):
        stage.enter(replace(PREPARE, transport="tcp"))
    assert stage.fabric.queue_pairs == {}


def test_an_address_without_a_port_is_refused(stage: Stage) -> None:
    with pytest.raises(VerbsUnavailable, match=r"10\.9\.0\.9; this node has rxe0/1"):
        stage.enter(replace(PREPARE, address="10.9.0.9"))


def test_leaving_gives_everything_back(stage: Stage) -> None:
    stage.enter(PREPARE)
    assert len(stage.fabric.queue_pairs) == 3, "main, shadow and side channel"
    stage.stack.close()
    assert stage.fabric.queue_pairs == {}
