import pytest

from rogue.harness.commands.listing import LISTS, places
from rogue.harness.testbeds import TESTBEDS
from rogue.harness.testbeds.base import Testbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.faults import FAULTS
from rogue.workloads.transports import parse_transport


class Nowhere(SimulatorTestbed):
    """Runs nothing."""

    def unsupported(self, cell: object) -> str | None:
        return "it runs nothing"


@pytest.mark.parametrize(
    ("kind", "names", "expected"),
    [
        (SimulatorTestbed, ["rogue"], "simulator, kernel, nodes"),
        (SimulatorTestbed, ["roce+pfc"], "simulator, nodes"),
        (SimulatorTestbed, ["roce+timely"], "simulator"),
        (SimulatorTestbed, ["rogue+pfc", "roce"], "simulator, kernel, nodes"),
        (Nowhere, ["dctcp"], "kernel, nodes"),
        (Nowhere, ["iwarp"], "nowhere yet"),
        (Nowhere, ["roce+pfc"], "nodes"),
        (Nowhere, ["roce+timely"], "nowhere yet"),
    ],
)
def test_a_transport_runs_where_its_testbed_says(
    monkeypatch: pytest.MonkeyPatch, kind: type[Testbed], names: list[str], expected: str
) -> None:
    monkeypatch.setitem(TESTBEDS, "simulator", kind)
    assert places([parse_transport(name) for name in names]) == expected


def test_every_transport_says_where_it_runs() -> None:
    lines = LISTS["transports"]()
    assert all("nodes" in line or "simulator" in line or "nowhere yet" in line for line in lines)


def test_faults_are_listed_with_their_parameters() -> None:
    lines = LISTS["faults"]()
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == list(FAULTS)
    begin = lines.index(
        "slow_receiver: A host's NIC takes in only so many frame bytes per second, and pauses its "
        "switch when they pile up."
    )
    rows = [line.split()[:3] for line in lines[begin + 1 :][:7]]
    assert ["rate", "required", "What"] in rows
    assert ["buffer", "default", "256KB"] in rows
