"""Test what ends of flows and ports of Linux can and cannot do."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of, group_in

from rogue.harness.cell.network import OutageSpec, SwitchPort
from rogue.harness.cell.transport import ParameterError
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.ends.support import (
    is_same_for_every_seed,
    simulators_topology,
    simulators_traffic,
)
from rogue.harness.testbeds.ends.switch_ports import (
    check_marking,
    faulty_ports,
    linux_ports,
    marking_ports,
    outages,
    uneven_delays,
    unsupported_marking,
)
from rogue.workloads.topologies import Link, Switch


def test_multi_port_nics_need_the_simulator(tmp_path: Path) -> None:
    one_way = "topology={kind: multi_plane, planes: 1, leaves: 1, spines: 0, rate: 1Gbps}"
    found = simulators_topology(cell_of(tmp_path, one_way))
    assert found is not None and found.startswith("the NICs of multi_plane are for the simulator")
    rails = "topology={kind: rail_optimised, rate: 1Gbps}"
    assert simulators_topology(cell_of(tmp_path, rails)) is None


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        ("workload: {kind: incast, senders: 1, size: 1MB}, priority: 3", "set priority to 0"),
        (
            "workload: {kind: pingmesh, places: [1], interval: 1ms, run_for: 5ms}",
            "which only the simulator does",
        ),
        (
            "transport: rogue-uc, workload: {kind: collective, hosts: 2, size: 1MB}",
            "set transport to one over RC or TCP",
        ),
        ("workload: {kind: incast, senders: 1, size: 1MB}", None),
    ],
)
def test_traffic_that_needs_the_simulator(tmp_path: Path, group: str, reason: str | None) -> None:
    cell = cell_of(tmp_path, f"traffic=[{{name: a, {group}}}]", "workload=null")
    found = simulators_traffic(cell)
    assert found is None if reason is None else str(found).endswith(reason)


@pytest.mark.parametrize(
    ("workload", "is_same"),
    [
        ("{kind: incast, senders: 1, size: 1MB}", True),
        ("{kind: poisson, load: 0.1, size: 1MB, arrive_for: 1ms}", False),
    ],
)
def test_seeds_differ_only_if_flows_are_drawn(tmp_path: Path, workload: str, is_same: bool) -> None:
    assert is_same_for_every_seed(cell_of(tmp_path, f"workload={workload}")) is is_same


UNEVEN = """\
links:
  - {link: h0-s0, rate: 1Gbps, delay: 200us}
  - {link: h1-s0, rate: 1Gbps, delay: 200us}
  - {link: h2-s0, rate: 1Gbps, delay: 300us}
"""


@pytest.mark.parametrize(
    ("buffer_bytes", "alpha", "queue_bytes"),
    [(9_000_000, 1.0, 4_500_000), (9_000_000, 2.0, 6_000_000), (1, 0.5, 1), (None, 1.0, 10**9)],
)
def test_port_queue_is_its_share_of_the_buffer_alone(
    buffer_bytes: int | None, alpha: float, queue_bytes: int
) -> None:
    """alpha / (1 + alpha) of the buffer: half of it with 1, two thirds with 2."""
    switch, link = Switch("s0", buffer_bytes, alpha, "shared"), Link("s0", "h0", 10**10, 1_000)
    (port,) = linux_ports({"s0->h0": SwitchPort(switch, link)}, ["h0"]).values()
    assert (port.rate_bps, port.queue_bytes, port.red_max_bytes) == (10**10, queue_bytes, None)


def test_different_host_delays_are_refused(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(UNEVEN)
    cell = cell_of(tmp_path, "topology={kind: links, file: net.yaml}", "probe=null")
    found = "a Linux switch gives the cables of all hosts one delay: give their links the same delay"
    assert uneven_delays(cell) == found


PORTS = {"s0->h3": PortSettings(rate_bps=10_000_000_000, queue_bytes=500_000)}
TWO = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: one, parameters: {mark_above: 50KB}, workload: {kind: incast, senders: 1, size: 1MB}}
  - {name: two, workload: {kind: incast, senders: 1, size: 1MB}}
transports: [dctcp]
"""


def test_port_marks_at_a_full_queue_at_the_latest(tmp_path: Path) -> None:
    port = marking_ports(cell_of(tmp_path, "transports=[{name: dctcp, mark_above: 600KB}]"), PORTS)["s0->h3"]
    assert port.red_max_bytes == port.queue_bytes == 500_000
    assert port.mistake() is None


def test_two_marking_thresholds_are_refused(tmp_path: Path) -> None:
    assert unsupported_marking(cell_of(tmp_path, "transports=[dctcp]")) is None
    found = unsupported_marking(cell_of(tmp_path, text=TWO))
    assert found == "the switches have one traffic class: give all groups the same mark_above"


def test_threshold_too_small_for_red_is_a_mistake(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    check_marking(group_in(cell, "dctcp", {"mark_above": "3KB"}))
    check_marking(group_in(cell, "rogue"))
    with pytest.raises(ParameterError) as caught:
        check_marking(group_in(cell, "dctcp", {"mark_above": "2KB"}))
    assert caught.value.mistake.key == "mark_above"


LOSS = "faults=[{kind: loss, target: h2, %s}]"
PORT_FAULTS_PORTS = {f"s0->h{host}": PortSettings(rate_bps=10**8) for host in range(4)}


def test_loss_of_probability_zero_changes_nothing(tmp_path: Path) -> None:
    assert faulty_ports(cell_of(tmp_path, LOSS % "one_in: 0"), PORT_FAULTS_PORTS) == PORT_FAULTS_PORTS


def test_cut_between_switches_affects_two_ports(tmp_path: Path) -> None:
    cut = cell_of(
        tmp_path,
        "topology={kind: dumbbell, hosts_per_side: 2, rate: 100Mbps, bottleneck_rate: 50Mbps}",
        "faults=[{kind: link_cut, target: s0-s1, at: 1s, duration: 2s}]",
    )
    ports = ["s0->h0", "s0->h1", "s0->s1", "s1->s0", "s1->h2", "s1->h3"]
    outage = OutageSpec("s0", "s1", at_ns=10**9, duration_ns=2 * 10**9)
    assert outages(cut, ports) == [(["s0->s1", "s1->s0"], outage)]
