import pytest

from rogue.harness.plugins.traffic_contract import faults
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.traffic import WORKLOADS


@pytest.mark.parametrize("name", [*WORKLOADS])
def test_every_shipped_workload_keeps_it_or_says_what_it_could_not_take(name: str) -> None:
    assert [fault for fault in faults("workload", name) if "none of the values" not in fault] == []


@pytest.mark.parametrize("name", [*TOPOLOGIES])
def test_every_shipped_topology_keeps_it_or_says_what_it_could_not_take(name: str) -> None:
    assert [fault for fault in faults("topology", name) if "none of the values" not in fault] == []


def test_most_can_be_tried() -> None:
    untried = [name for name in WORKLOADS if faults("workload", name)]
    untried += [name for name in TOPOLOGIES if faults("topology", name)]
    assert len(untried) <= 6, untried  # half of them read files


def test_kinds_without_a_contract_have_no_faults() -> None:
    assert faults("measure", "jain") == []
