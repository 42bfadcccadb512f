"""Tests: tables of transfers and events, the same for every testbed."""

from functools import partial
from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.testbeds.transfer_tables import (
    columns_of,
    events_table,
    flows_table,
    latency_table,
    plain_yardstick,
)
from rogue.workloads.records import EventRow


def test_rows_become_columns_by_name() -> None:
    rows = [EventRow("a", 1, "x", ""), EventRow("b", 2, "y", "z")]
    assert columns_of(EventRow, rows)["t_ns"] == [1, 2]
    assert columns_of(EventRow, []) == {"flow_id": [], "t_ns": [], "event": [], "detail": []}


def planned(cell: Cell) -> PlannedFlow:
    return PlannedFlow(cell.groups[0], cell.groups[0].flows[0])


def test_flow_row_is_derived_from_a_transfer(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: rogue, label: ours}]")
    whole = TransferRecord(1, 1_000_000, HostNs(500), HostNs(2_000_500), "ok", retransmitted_bytes=7)
    half = TransferRecord(2, 1_000_000, HostNs(900), HostNs(950), "error", "RETRY_EXC_ERR")
    table = flows_table([(planned(cell), whole), (planned(cell), half)], partial(plain_yardstick, cell))
    assert list(table["fct_ns"]) == [2_000_000, None]
    assert list(table["goodput_bps"]) == [4e9, None]
    assert list(table["slowdown"]) == [pytest.approx(2e6 / table["ideal_fct_ns"][0]), None]
    assert (table["group"][0], table["transport"][0], table["service"][0]) == ("main", "ours", "rc")
    assert list(table["error"]) == [None, "RETRY_EXC_ERR"]


def test_ideal_time_of_tcp_uses_its_own_packets(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[dctcp]", "probe=null")
    table = flows_table(
        [(planned(cell), TransferRecord(1, 100_000, HostNs(0)))], partial(plain_yardstick, cell)
    )
    # 68 full segments, the first twice, a last one of 720 bytes, and an ACK twice; 4 us of delay
    assert table["ideal_fct_ns"][0] == 4_000 + int((69 * 1538 + 720 + 78 + 2 * 84) * 0.8)


def test_unsent_probe_is_left_out(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    assert cell.probe is not None
    sent = TransferRecord(1, 0, HostNs(10), HostNs(35), "ok")
    unsent = TransferRecord(2, 0, HostNs(20), HostNs(30), "error", "WR_FLUSH_ERR", is_sent=False)
    table = latency_table([(cell.probe, sent), (cell.probe, unsent)])
    assert (list(table["rtt_ns"]), list(table["group"]), list(table["src"])) == ([25], ["probe"], ["h2"])


def test_events_are_sorted_by_time(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "faults=[{kind: link_cut, target: h1, at: 2us, duration: 5us}]")
    own = [EventRow("main/h1->h2", 9_000, "qp_failed", "7"), EventRow("main/h1->h2", 3_000, "qp_failed", "5")]
    table = events_table(cell, 10_000, own)
    assert list(table["t_ns"]) == [2_000, 3_000, 7_000, 9_000]
    assert table["event"][0] == "link_cut"
