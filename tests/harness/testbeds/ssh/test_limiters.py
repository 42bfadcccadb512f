"""Limiters of nodes, and cells that need others."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory

from rogue.agent.node.messages import Capabilities
from rogue.harness.testbeds.ssh.card_features import KINDS, interface_of, limiter_kind, missing_limiters
from rogue.harness.testbeds.ssh.support import unsupported

SLOW = "topology.rate=100Mbps"
BARE = replace(CAPABILITIES, limiters=["software"])


def nodes(node: Capabilities = CAPABILITIES) -> dict[str, Capabilities]:
    return {f"h{index}": node for index in range(16)}


def told(tmp_path: Path, node: Capabilities, *settings: str) -> str | None:
    return missing_limiters(cell_of(tmp_path, *settings), fake_inventory(16), nodes(node))


def test_the_best_limiter_that_the_interface_has() -> None:
    for offered, expected in (
        (["dcb:eth1", "htb:eth1", "software"], "htb"),
        (["dcb:eth1", "software"], "dcb"),
        (["htb:eth0", "software"], "software"),
    ):
        assert limiter_kind(replace(CAPABILITIES, limiters=offered), "eth1") == expected


def test_an_interface_that_the_inventory_knows_by_its_mac_is_found_by_its_address() -> None:
    variables = fake_inventory(2).hosts[1].variables
    assert interface_of(CAPABILITIES, variables) == "eth1"
    by_mac = variables.model_copy(update={"experiment_interface": None})
    port = {"address": "10.9.0.11", "netdev": "enp65s0f0np0"}
    assert interface_of(
        replace(CAPABILITIES, ports=[{"address": "10.9.0.1", "netdev": "x"}, port]), by_mac
    ) == ("enp65s0f0np0")
    assert limiter_kind(BARE, interface_of(replace(CAPABILITIES, ports=[]), by_mac)) == "software"


@pytest.mark.parametrize("kind", KINDS)
def test_more_flows_than_limiters_take_turns_unless_they_cannot(tmp_path: Path, kind: str) -> None:
    """A host with n peers sends n flows; READs keep a limiter each."""
    node = replace(CAPABILITIES, limiters=[f"{kind}:eth1", "software"])
    for peers, verb, is_refused in ((8, "write", False), (7, "read", False), (8, "read", True)):
        many = f"workload={{kind: many_pairs, hosts: {peers + 1}, load: 0.5, arrive_for: 20s, verb: {verb}}}"
        settings = ("topology.hosts=16", SLOW, many, "probe=null", "transports=[rogue]")
        reason = told(tmp_path, node, *settings)
        assert (reason is not None) is is_refused
        if reason is not None:
            assert (
                "sends 8 flows that have rates of their own, and its card has 7 limiters for them" in reason
            )
        assert told(tmp_path, node, *settings, "transports=[roce]") is None


def test_whole_batches_are_held_back_only_where_they_are_long(tmp_path: Path) -> None:
    """64 KiB take 5.2 ms at 100 Mb/s, and 10.5 ms at 50 Mb/s."""
    assert told(tmp_path, BARE, SLOW) == (
        "h0 has neither htb nor dcb on eth1: provision it; "
        "holding back whole batches is too coarse where one takes 5.2 ms, less than 10 ms"
    )
    assert told(tmp_path, BARE, "topology.rate=50Mbps") is None
    assert "10.5" not in str(told(tmp_path, BARE, SLOW, "transports=[{name: rogue, segment: 128KiB}]"))
    reading = told(tmp_path, BARE, "topology.rate=50Mbps", "workload.verb=read")
    assert str(reading).endswith("no software can hold back its responses to READs")


def test_a_groups_own_segment_decides_how_long_its_batches_are(tmp_path: Path) -> None:
    """256 KiB take 21 ms at 100 Mb/s."""
    workload = "workload: {kind: incast, senders: 2, size: 1MB}"
    for parameters, is_refused in (("{segment: 256KiB}", False), ("{alpha_packets: 1}", True)):
        traffic = f"traffic=[{{name: own, {workload}, parameters: {parameters}}}]"
        reason = told(tmp_path, BARE, SLOW, "workload=null", traffic)
        assert (reason is not None) is is_refused


def test_it_is_said_in_the_plan(tmp_path: Path) -> None:
    reason = unsupported(cell_of(tmp_path, SLOW), fake_inventory(), nodes(BARE))
    assert str(reason).startswith("h0 has neither htb nor dcb")
