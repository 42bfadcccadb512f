"""Packets of a cell: which ones, and whose they are."""

from pathlib import Path

import pytest
from helpers.experiments import RECORDED, cell_of, packets_of_cell

from rogue.harness.errors import ConfigError
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.network import build_network

SENDERS = ("h0", "h1", "h2")


def test_each_packet_has_its_flow(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path)
    assert set(table["flow_id"]) == {f"main/{host}->h3" for host in SENDERS}
    assert set(table["port"]) == {f"{host}->s0" for host in (*SENDERS, "h3")} | {
        f"s0->{host}" for host in (*SENDERS, "h3")
    }


def test_a_node_stands_for_its_links(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "measure=[{kind: packets, ports: [h3, h0->s0]}]")
    assert set(table["port"]) == {"h3->s0", "s0->h3", "h0->s0"}


def test_only_the_flows_asked_for(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "measure=[{kind: packets, flows: [main/h1->h3]}]")
    assert set(table["flow_id"]) == {"main/h1->h3"}


def test_datagrams_beside_a_connection_belong_to_its_flow(tmp_path: Path) -> None:
    flow = build_network(cell_of(tmp_path, "transports=[rogue]", text=RECORDED)).flows[0]
    datagrams = [number for number in flow.all_qp_nums if number >= 1 << 23]
    assert len(datagrams) == 2
    assert len(flow.all_qp_nums) == 6  # main and shadow, both ends
    assert set(flow.qp_nums) < set(flow.all_qp_nums)


def test_a_flow_that_there_is_not_is_refused_by_name(tmp_path: Path) -> None:
    settings = "measure=[{kind: packets, flows: [nothing/x]}]"
    reason = SimulatorTestbed().unsupported(cell_of(tmp_path, settings, text=RECORDED))
    assert reason is not None
    assert "the flow nothing/x" in reason
    assert "there are main/h0->h3" in reason


def test_hosts_that_take_no_part_are_refused(tmp_path: Path) -> None:
    """Three hosts send to the last of six: h3 and h4 see no packet, unless a switch floods."""
    idle = ("topology.hosts=6", "measure=[{kind: packets, ports: [h3, s0->h4]}]")
    assert SimulatorTestbed().unsupported(cell_of(tmp_path, *idle, text=RECORDED)) == (
        "measure: packets of h3, s0->h4, where the cell sends none; name hosts with traffic: h0, h1, h2, h5"
    )
    flooded = "faults=[{kind: flooding, target: s0, destination: h5}]"
    assert SimulatorTestbed().unsupported(cell_of(tmp_path, *idle, flooded, text=RECORDED)) is None
    both = (idle[0], "measure=[{kind: packets, ports: [h5, h3]}]")
    assert SimulatorTestbed().unsupported(cell_of(tmp_path, *both, text=RECORDED)) is None


def test_the_bound_is_a_fact_when_it_was_hit(tmp_path: Path) -> None:
    facts = {
        most: SimulatorTestbed()
        .run(
            cell_of(tmp_path, f"measure=[{{kind: packets, packets_max: {most}}}]", text=RECORDED),
            lambda _fraction: None,
        )
        .facts.get("packets_missed")
        for most in (10, 100_000)
    }
    assert facts[100_000] is None
    assert isinstance(facts[10], int)


def test_recording_changes_nothing(tmp_path: Path) -> None:
    digests = {
        SimulatorTestbed()
        .run(cell_of(tmp_path, f"measure={measure}", text=RECORDED), lambda _fraction: None)
        .facts["completions_digest"]
        for measure in ("[packets]", "[pauses]")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("port", ["h0->h1", "s9", "h0->s1"])
def test_a_port_that_there_is_not(port: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"the port {port}"):
        cell_of(tmp_path, f"measure=[{{kind: packets, ports: [{port}]}}]", text=RECORDED)
