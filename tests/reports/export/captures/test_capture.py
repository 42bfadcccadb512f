"""Captures: what is in them and what is not."""

from pathlib import Path

import pandas as pd
import pytest
from helpers.captured import packets_of_cell

from rogue.reports.errors import ReportError
from rogue.reports.export.captures.capture import REFUSALS, recorded, write_capture


def test_what_a_queue_refused_never_left(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path)
    refused = int(table["reason"].isin(REFUSALS).sum())
    written = write_capture(table, tmp_path / "cell.pcapng", "a cell")
    assert refused > 0
    assert (written.refused, written.frames) == (refused, len(table) - refused)


def test_what_a_link_lost_did_leave_and_says_so(tmp_path: Path) -> None:
    table = packets_of_cell(
        tmp_path, "faults=[{kind: loss, target: h0-s0, probability: .01}]", "topology.buffer=9MB"
    )
    lost = int((table["reason"] == "link").sum())
    path = tmp_path / "cell.pcapng"
    assert write_capture(table, path, "a cell").frames == len(table)
    assert path.read_bytes().count(b"went no further: link") == lost > 0


def test_flooded_copies_are_counted(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "faults=[{kind: flooding, target: s0, destination: h2}]")
    written = write_capture(table, tmp_path / "cell.pcapng", "a cell")
    assert written.copies == (table["kind"] == "stray").sum()


def test_a_flooded_packet_went_on_and_is_not_called_lost(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "faults=[{kind: flooding, target: s0, destination: h3}]")
    assert (table["reason"] == "flooded").sum() > 0
    assert not table["dropped"][table["reason"] == "flooded"].any()
    write_capture(table, tmp_path / "cell.pcapng", "a cell")
    assert b"flooded" not in (tmp_path / "cell.pcapng").read_bytes()


def test_without_packets_or_with_headers_that_nobody_reads() -> None:
    with pytest.raises(ReportError, match=r"a-r1 recorded no packets; .*measure=\[packets\]"):
        recorded(None, "rocev2", "a-r1")
    with pytest.raises(ReportError, match="headers of ns3"):
        recorded(pd.DataFrame({"t_ps": [1]}), "ns3", "a-r1")
