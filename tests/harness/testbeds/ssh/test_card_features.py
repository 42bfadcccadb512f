from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory
from helpers.switch_inventory import hardware, wanted

from rogue.agent.node.messages import Capabilities
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh.card_features import is_of_cards, missing_features
from rogue.harness.testbeds.ssh.support import unsupported
from rogue.workloads.transports import parse_transport

MARKS = {"3": {"marks": {"from_bytes": 30_000, "to_bytes": 30_000}}}
DCQCN_MARKS = {"3": {"marks": {"from_bytes": 5_000, "to_bytes": 200_000, "probability": 0.01}}}
PAUSES = {"3": {"pauses": True}}
INBOX = "not controllable: the inbox driver has no switch, and the firmware's default is on"


def rack(*priorities: dict[str, object]) -> Inventory:
    switches = [hardware(wanted("declared", switch_priorities=each), None) for each in priorities]
    return replace(fake_inventory(), switch=None, hardware_switches=tuple(switches))


def nodes(dcqcn: str = "off", paused: str = "") -> dict[str, Capabilities]:
    port = {"device": "mlx5_0", "driver": "mlx5_core", "dcqcn": dcqcn, "paused": paused}
    return {f"h{index}": replace(CAPABILITIES, ports=[port]) for index in range(4)}


def told(tmp_path: Path, transport: str, inventory: Inventory, of: dict[str, Capabilities]) -> str:
    return str(missing_features(cell_of(tmp_path, f"transports=[{transport}]"), inventory, of))


@pytest.mark.parametrize("state", ["on", INBOX])
def test_dcqcn_is_planned_where_cards_react_and_the_switch_marks(tmp_path: Path, state: str) -> None:
    assert told(tmp_path, "roce+dcqcn", rack(MARKS), nodes(state)) == "None"
    cell = cell_of(tmp_path, "transports=[roce+dcqcn]")
    assert unsupported(cell, rack(DCQCN_MARKS), nodes(state)) is None
    assert told(tmp_path, "roce+dcqcn", rack(PAUSES), nodes(state)).startswith(
        "roce+dcqcn needs switches where"
    )
    assert told(tmp_path, "roce+dcqcn", rack(), nodes(state)).startswith(
        "roce+dcqcn needs a switch that marks"
    )


def test_a_card_that_does_not_react_is_named(tmp_path: Path) -> None:
    for state in ("off", "none: mlx4_core does not react to marks"):
        words = told(tmp_path, "roce+dcqcn", rack(MARKS), nodes(state))
        assert words.startswith(f"roce+dcqcn: DCQCN on h0: got {state}, expected on; provision with")


def test_pauses_are_planned_where_both_pause(tmp_path: Path) -> None:
    assert told(tmp_path, "roce+pfc", rack(PAUSES), nodes(paused="3")) == "None"
    assert told(tmp_path, "roce+pfc", rack(PAUSES), nodes()).startswith("roce+pfc: h0 pauses no priority")
    assert told(tmp_path, "roce+pfc", rack(MARKS), nodes(paused="3")).startswith(
        "roce+pfc needs switches where"
    )
    assert "a Linux switch pauses for no card" in told(
        tmp_path, "roce+pfc", fake_inventory(), nodes(paused="3")
    )


@pytest.mark.parametrize("transport", ["roce", "rogue"])
def test_a_card_that_reacts_to_marks_by_itself_is_no_plain_transport(tmp_path: Path, transport: str) -> None:
    for state in ("on", INBOX):
        words = told(tmp_path, transport, rack(MARKS), nodes(state))
        assert words.startswith("the switch marks, and the card of h0 reacts to it by itself")
        assert told(tmp_path, transport, rack(PAUSES), nodes(state)) == "None"
    assert told(tmp_path, transport, rack(MARKS), nodes("off")) == "None"


def test_what_cards_never_have_is_no_nodes_transport() -> None:
    for name, is_one in (
        ("roce+dcqcn+pfc", True),
        ("roce+timely", False),
        ("rogue+pfc", False),
        ("rogue", True),
    ):
        assert is_of_cards(parse_transport(name)) is is_one
