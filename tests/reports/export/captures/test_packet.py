"""Rows of the table."""

from pathlib import Path

from helpers.captured import packets_of_cell

from rogue.reports.export.captures.packet import packets_of


def test_rows_with_what_they_lack_as_nothing(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "transports=[roce+pfc+dcqcn]", "topology.buffer=1MB")
    packets = list(packets_of(table))
    assert [packet.t_ps for packet in packets] == sorted(table["t_ps"])
    pause = next(packet for packet in packets if packet.kind == "pause")
    assert (pause.src, pause.qp_num, pause.flags, pause.reason) == ("", 0, frozenset(), "")
    first = next(packet for packet in packets if "first" in packet.flags)
    assert (first.kind, first.message_bytes, first.flow_number) == ("write", 200_000, first.src_qp_num)
