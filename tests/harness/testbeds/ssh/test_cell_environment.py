"""The switch around a cell."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import FakeAgent, FakeShell, FakeSwitch, fake_inventory, fake_node

from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.ssh.cell_environment import CellEnvironment
from rogue.remote.errors import NodeError
from rogue.workloads.records import FailureKind

Run = Callable[..., CellResult]


def test_cuts_are_arranged_with_the_switch(run: Run) -> None:
    run("faults=[{kind: link_cut, target: h0, at: 1s, duration: 2s}]")
    ((port, after_s, duration_s),) = FakeSwitch.cuts
    assert (port, duration_s) == ("s0->h0", 2.0)
    assert 0 < after_s < 60


def test_a_switch_that_fails_is_to_blame(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSwitch, "breaks", True)
    failure = run().failure
    assert failure is not None
    assert (failure.kind, failure.message) == (FailureKind.SWITCH, "fabric: `tc -batch -` failed")


@pytest.mark.usefixtures("agents")
def test_load_of_the_nodes_while_the_traffic_lasts(tmp_path: Path) -> None:
    """dool's samples are 1.1, 2.1 s after it was started; the traffic begins at 0.1 s and lasts 1.5 s."""
    cell = cell_of(tmp_path, "topology.rate=100Mbps")
    around = CellEnvironment(cell, fake_inventory(), {"h0": fake_node("h0", FakeAgent())})
    around.set_ports()
    before_ns = time.monotonic_ns()
    around.record_load()
    around.begin()
    around.end()
    table = around.cpu_table(before_ns + 10**8, 1_500_000_000)
    assert (table["host"], table["busy_cores"], table["source"]) == (["h0"], [1.0], ["dool"])  # of two cores
    assert 10**9 <= int(table["t_ns"][0]) < 15 * 10**8


@pytest.mark.usefixtures("agents")
def test_a_recorder_that_fails_costs_its_own_samples_only(tmp_path: Path) -> None:
    nodes = {name: fake_node(name, FakeAgent()) for name in ("h0", "h1", "h2")}
    around = CellEnvironment(cell_of(tmp_path, "topology.rate=100Mbps"), fake_inventory(), nodes)
    around.set_ports()
    cast("FakeShell", nodes["h0"].shell).dool.die()
    before_ns = time.monotonic_ns()
    around.record_load()
    cast("FakeShell", nodes["h1"].shell).dool.die()
    around.begin()
    around.end()
    assert around.unrecorded == [
        "h0: got '' from the recorder of its load, expected its time", "h1: dool has measured nothing",
    ]  # fmt: skip
    assert around.cpu_table(before_ns + 10**8, 1_500_000_000)["host"] == ["h2"]


def test_load_that_is_not_known_is_no_failure(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h0"].has_dool = False
    result = run()
    assert result.failure is None
    assert result.not_measured["cpu"] == "h0: dool has measured nothing"


@pytest.mark.usefixtures("agents")
def test_what_fails_beside_the_switch_is_not_its_fault(tmp_path: Path) -> None:
    around = CellEnvironment(cell_of(tmp_path, "topology.rate=100Mbps"), fake_inventory(), {})
    with pytest.raises(NodeError, match="h7: SSH failed"), around.around():
        raise NodeError("h7: SSH failed: no route")
