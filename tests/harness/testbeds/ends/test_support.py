"""What no real stack can do."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.transport import ParameterError
from rogue.harness.testbeds.ends.support import (
    check_parameters,
    is_same_for_every_seed,
    simulators_topology,
    simulators_traffic,
    too_fine,
)


def test_nics_of_several_ports_are_the_simulators(tmp_path: Path) -> None:
    one_way = "topology={kind: multi_plane, planes: 1, leaves: 1, spines: 0, rate: 1Gbps}"
    told = simulators_topology(cell_of(tmp_path, one_way))
    assert told is not None and told.startswith("the NICs of multi_plane are for the simulator")
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
def test_traffic_that_only_the_simulator_has(tmp_path: Path, group: str, reason: str | None) -> None:
    cell = cell_of(tmp_path, f"traffic=[{{name: a, {group}}}]", "workload=null")
    told = simulators_traffic(cell)
    assert told is None if reason is None else str(told).endswith(reason)


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("name: rogue, estimator: nic_tx_stamp", "no NIC tells"),
        ("name: rogue, completions: seldom", "completions"),
        ("name: roce+dcqcn, kmin: 20KB", "kmin"),
    ],
)
def test_parameters_that_no_agent_on_a_node_takes(tmp_path: Path, parameter: str, words: str) -> None:
    cell = cell_of(tmp_path, f"transports=[{{{parameter}}}]")
    with pytest.raises(ParameterError) as refusal:
        check_parameters(cell.groups[0])
    assert words in str(refusal.value.args[0])


def test_samples_that_no_agent_takes(tmp_path: Path) -> None:
    assert too_fine(cell_of(tmp_path, "measure=[{kind: throughput, interval: 1ms}]")) is None
    told = too_fine(cell_of(tmp_path, "measure=[{kind: throughput, interval: 300us}]"))
    assert str(told).startswith("agents sample throughput every 1 ms or less often, not every 300 us")


@pytest.mark.parametrize(
    ("workload", "is_same"),
    [
        ("{kind: incast, senders: 1, size: 1MB}", True),
        ("{kind: poisson, load: 0.1, size: 1MB, arrive_for: 1ms}", False),
    ],
)
def test_repetitions_are_asked_about_once_unless_flows_are_drawn(
    tmp_path: Path, workload: str, is_same: bool
) -> None:
    assert is_same_for_every_seed(cell_of(tmp_path, f"workload={workload}")) is is_same
