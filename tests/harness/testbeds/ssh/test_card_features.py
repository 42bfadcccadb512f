"""Tests: features and limiters of cards that a transport needs."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory
from helpers.fake_switch import hardware, wanted

from rogue.agent.node.messages import Capabilities
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh.card_features import (
    KINDS,
    interface_of,
    limiter_kind,
    missing_features,
    missing_limiters,
)
from rogue.harness.testbeds.ssh.support import unsupported

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


def refusal_of(tmp_path: Path, transport: str, inventory: Inventory, of: dict[str, Capabilities]) -> str:
    return str(missing_features(cell_of(tmp_path, f"transports=[{transport}]"), inventory, of))


@pytest.mark.parametrize("state", ["on", INBOX])
def test_dcqcn_needs_cards_that_react_and_a_switch_that_marks(tmp_path: Path, state: str) -> None:
    assert refusal_of(tmp_path, "roce+dcqcn", rack(MARKS), nodes(state)) == "None"
    cell = cell_of(tmp_path, "transports=[roce+dcqcn]")
    assert unsupported(cell, rack(DCQCN_MARKS), nodes(state)) is None
    assert refusal_of(tmp_path, "roce+dcqcn", rack(PAUSES), nodes(state)).startswith(
        "roce+dcqcn needs switches where"
    )
    assert refusal_of(tmp_path, "roce+dcqcn", rack(), nodes(state)).startswith(
        "roce+dcqcn needs a switch that marks"
    )


def test_card_without_dcqcn_is_refused_by_name(tmp_path: Path) -> None:
    for state in ("off", "none: mlx4_core does not react to marks"):
        words = refusal_of(tmp_path, "roce+dcqcn", rack(MARKS), nodes(state))
        assert words.startswith(f"roce+dcqcn: DCQCN on h0: got {state}, expected on; provision with")


def test_pfc_needs_cards_and_switches_that_pause(tmp_path: Path) -> None:
    assert refusal_of(tmp_path, "roce+pfc", rack(PAUSES), nodes(paused="3")) == "None"
    assert refusal_of(tmp_path, "roce+pfc", rack(PAUSES), nodes()).startswith(
        "roce+pfc: h0 pauses no priority"
    )
    assert refusal_of(tmp_path, "roce+pfc", rack(MARKS), nodes(paused="3")).startswith(
        "roce+pfc needs switches where"
    )
    assert "a Linux switch pauses for no card" in refusal_of(
        tmp_path, "roce+pfc", fake_inventory(), nodes(paused="3")
    )


@pytest.mark.parametrize("transport", ["roce", "rogue"])
def test_plain_transport_is_refused_on_a_card_that_reacts_to_marks(tmp_path: Path, transport: str) -> None:
    for state in ("on", INBOX):
        words = refusal_of(tmp_path, transport, rack(MARKS), nodes(state))
        assert words.startswith("the switch marks, and the card of h0 reacts to it by itself")
        assert refusal_of(tmp_path, transport, rack(PAUSES), nodes(state)) == "None"
    assert refusal_of(tmp_path, transport, rack(MARKS), nodes("off")) == "None"


SLOW = "topology.rate=100Mbps"
BARE = replace(CAPABILITIES, limiters=["software"])


def limiter_nodes(node: Capabilities = CAPABILITIES) -> dict[str, Capabilities]:
    return {f"h{index}": node for index in range(16)}


def limiter_refusal(tmp_path: Path, node: Capabilities, *settings: str) -> str | None:
    return missing_limiters(cell_of(tmp_path, *settings), fake_inventory(16), limiter_nodes(node))


def test_best_limiter_of_an_interface_is_chosen() -> None:
    for offered, expected in (
        (["dcb:eth1", "htb:eth1", "software"], "htb"),
        (["dcb:eth1", "software"], "dcb"),
        (["htb:eth0", "software"], "software"),
    ):
        assert limiter_kind(replace(CAPABILITIES, limiters=offered), "eth1") == expected


def test_interface_without_a_name_is_found_by_its_address() -> None:
    variables = fake_inventory(2).hosts[1].variables
    assert interface_of(CAPABILITIES, variables) == "eth1"
    by_mac = variables.model_copy(update={"experiment_interface": None})
    port = {"address": "10.9.0.11", "netdev": "enp65s0f0np0"}
    assert interface_of(
        replace(CAPABILITIES, ports=[{"address": "10.9.0.1", "netdev": "x"}, port]), by_mac
    ) == ("enp65s0f0np0")
    assert limiter_kind(BARE, interface_of(replace(CAPABILITIES, ports=[]), by_mac)) == "software"


@pytest.mark.parametrize("kind", KINDS)
def test_flows_beyond_the_limiters_take_turns_except_reads(tmp_path: Path, kind: str) -> None:
    """A host with n peers sends n flows; READs keep a limiter each."""
    node = replace(CAPABILITIES, limiters=[f"{kind}:eth1", "software"])
    for peers, verb, is_refused in ((8, "write", False), (7, "read", False), (8, "read", True)):
        many = f"workload={{kind: many_pairs, hosts: {peers + 1}, load: 0.5, arrive_for: 20s, verb: {verb}}}"
        settings = ("topology.hosts=16", SLOW, many, "probe=null", "transports=[rogue]")
        reason = limiter_refusal(tmp_path, node, *settings)
        assert (reason is not None) is is_refused
        if reason is not None:
            assert "sends 8 flows with rates, and its card has 7 limiters for them" in reason
        assert limiter_refusal(tmp_path, node, *settings, "transports=[roce]") is None


def test_software_limiter_needs_long_batches(tmp_path: Path) -> None:
    """64 KiB take 5.2 ms at 100 Mb/s, and 10.5 ms at 50 Mb/s."""
    assert limiter_refusal(tmp_path, BARE, SLOW) == (
        "h0 has neither htb nor dcb on eth1: provision it; "
        "holding back whole batches is too coarse where one takes 5.2 ms, less than 10 ms"
    )
    assert limiter_refusal(tmp_path, BARE, "topology.rate=50Mbps") is None
    assert "10.5" not in str(
        limiter_refusal(tmp_path, BARE, SLOW, "transports=[{name: rogue, segment: 128KiB}]")
    )
    reading = limiter_refusal(tmp_path, BARE, "topology.rate=50Mbps", "workload.verb=read")
    assert str(reading).endswith("no software can hold back its responses to READs")


def test_batch_length_follows_the_groups_own_segment(tmp_path: Path) -> None:
    """256 KiB take 21 ms at 100 Mb/s."""
    workload = "workload: {kind: incast, senders: 2, size: 1MB}"
    for parameters, is_refused in (("{segment: 256KiB}", False), ("{alpha_packets: 1}", True)):
        traffic = f"traffic=[{{name: own, {workload}, parameters: {parameters}}}]"
        reason = limiter_refusal(tmp_path, BARE, SLOW, "workload=null", traffic)
        assert (reason is not None) is is_refused
