"""Tests: the environment of a cell on nodes: switch counters, link cuts and CPU samples."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import DOOL, FakeAgent, FakeConnection, FakeSwitch, fake_inventory, fake_node

from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.ssh.cell_environment import CellEnvironment, CpuRecorder, parse_dool
from rogue.remote.connection import Connection
from rogue.remote.errors import NodeError
from rogue.workloads.records import FailureKind

Run = Callable[..., CellResult]


def test_link_cuts_are_scheduled_on_the_switch(run: Run) -> None:
    run("faults=[{kind: link_cut, target: h0, at: 1s, duration: 2s}]")
    ((port, after_s, duration_s),) = FakeSwitch.cuts
    assert (port, duration_s) == ("s0->h0", 2.0)
    assert 0 < after_s < 60


def test_failing_switch_is_a_switch_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSwitch, "breaks", True)
    failure = run().failure
    assert failure is not None
    assert (failure.kind, failure.message) == (FailureKind.SWITCH, "fabric: `tc -batch -` failed")


@pytest.mark.usefixtures("agents")
def test_cpu_table_covers_the_traffic_only(tmp_path: Path) -> None:
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
def test_failed_recorder_loses_only_its_own_samples(tmp_path: Path) -> None:
    nodes = {name: fake_node(name, FakeAgent()) for name in ("h0", "h1", "h2")}
    around = CellEnvironment(cell_of(tmp_path, "topology.rate=100Mbps"), fake_inventory(), nodes)
    around.set_ports()
    cast("FakeConnection", nodes["h0"].connection).dool.die()
    before_ns = time.monotonic_ns()
    around.record_load()
    cast("FakeConnection", nodes["h1"].connection).dool.die()
    around.begin()
    around.end()
    assert around.unrecorded == [
        "h0: got '' from the recorder of its load, expected its time", "h1: dool has measured nothing",
    ]  # fmt: skip
    assert around.cpu_table(before_ns + 10**8, 1_500_000_000)["host"] == ["h2"]


def test_unknown_load_is_no_failure(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h0"].has_dool = False
    result = run()
    assert result.failure is None
    assert result.not_measured["cpu"] == "h0: dool has measured nothing"


@pytest.mark.usefixtures("agents")
def test_node_error_is_not_blamed_on_the_switch(tmp_path: Path) -> None:
    around = CellEnvironment(cell_of(tmp_path, "topology.rate=100Mbps"), fake_inventory(), {})
    with pytest.raises(NodeError, match="h7: SSH failed"), around.around():
        raise NodeError("h7: SSH failed: no route")


def test_busy_share_excludes_idle_and_wait() -> None:
    """The first line is an average since the machine was switched on, the last one is not whole."""
    samples = parse_dool(DOOL)
    assert [sample.epoch_s for sample in samples] == [1763632801.1, 1763632802.1]
    assert [sample.busy_fraction for sample in samples] == pytest.approx([0.5, 0.095])


def test_column_names_may_have_titles() -> None:
    text = DOOL.replace(b'"epoch","usr","sys","idl"', b'"epoch:epoch","total cpu usage:usr","x:sys","x:idl"')
    assert parse_dool(text) == parse_dool(DOOL)


def test_empty_dool_table_has_no_samples() -> None:
    assert parse_dool(b"") == []
    assert parse_dool(b'"dool 1.3.8 CSV Output"\n') == []


def test_node_calendar_time_is_translated_to_our_clock() -> None:
    shell = FakeConnection(FakeAgent())
    recorder = CpuRecorder(cast("Connection", shell), before_ns=5_000)
    assert recorder.here_ns(1763632801.5) == pytest.approx(1_500_005_000, abs=1_000)
    assert recorder.stop() == DOOL
    assert shell.dool.is_told_to_end


@pytest.mark.parametrize("words", [b"", b"mktemp: no space\n"])
def test_recorder_without_a_start_time_is_an_error(words: bytes) -> None:
    """A channel at its end gives nothing for ever."""
    shell = FakeConnection(FakeAgent(), "h3")
    shell.dool.die(words)
    with pytest.raises(NodeError, match=r"h3: got .* from the recorder of its load, expected its time"):
        CpuRecorder(cast("Connection", shell), before_ns=0)


def test_node_without_dool_is_an_error() -> None:
    shell = FakeConnection(FakeAgent())
    recorder = CpuRecorder(cast("Connection", shell), before_ns=0)
    shell.dool.die()
    with pytest.raises(NodeError, match="h0: dool has measured nothing"):
        recorder.stop()


@pytest.mark.parametrize(
    "content",
    [
        b'"idl","wai"\n1,2\n1,2\n1,2\n',
        b'"epoch","idl","wai"\n1,2,3\n1e999,2,3\nnan,2,3\ninf,inf,inf\n',
        b"\x00\xff" * 99,
        b'"' + b"x" * 200_000 + b'"\n',
        b'"epoch","idl","wai"\n\r\r"\n',
    ],
)
def test_damaged_dool_table_has_no_samples(content: bytes) -> None:
    assert parse_dool(content) == []
