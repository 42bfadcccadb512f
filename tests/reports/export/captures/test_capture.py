"""Tests: captures, and what Wireshark reads in them."""

import io
import struct
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from helpers.experiments import packets_of_cell
from helpers.wireshark import dissected, wrong_frames

from rogue.reports.cells.recorded_packets import Packet
from rogue.reports.errors import ReportError
from rogue.reports.export.captures.capture import (
    REFUSALS,
    CaptureFile,
    Frames,
    missed_text,
    recorded,
    write_capture,
)
from rogue.reports.export.captures.transport_headers import addresses_of
from rogue.workloads.transports import BASES


def test_refused_packet_is_in_no_capture(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path)
    refused = int(table["reason"].isin(REFUSALS).sum())
    written = write_capture(table, tmp_path / "cell.pcapng", "a cell")
    assert refused > 0
    assert (written.refused, written.frames) == (refused, len(table) - refused)


def test_packet_lost_on_a_link_is_in_the_capture(tmp_path: Path) -> None:
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


def test_flooded_packet_is_not_lost(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "faults=[{kind: flooding, target: s0, destination: h3}]")
    assert (table["reason"] == "flooded").sum() > 0
    assert not table["dropped"][table["reason"] == "flooded"].any()
    write_capture(table, tmp_path / "cell.pcapng", "a cell")
    assert b"flooded" not in (tmp_path / "cell.pcapng").read_bytes()


def test_cell_without_readable_packets_is_an_error() -> None:
    with pytest.raises(ReportError, match=r"a-r1 recorded no packets; .*measure=\[packets\]"):
        recorded(None, "rocev2", "a-r1")
    with pytest.raises(ReportError, match="headers of ns3"):
        recorded(pd.DataFrame({"t_ps": [1]}), "ns3", "a-r1")


def test_text_of_missed_packets() -> None:
    assert missed_text(1).startswith("the bound was hit: 1 more packet went by unrecorded; raise packets_max")
    assert "2 more packets" in missed_text(2)


def blocks(content: bytes) -> list[tuple[int, bytes]]:
    """Type and body of each block; both lengths of a block agree."""
    found = []
    while content:
        kind, length = struct.unpack_from("<II", content)
        assert length % 4 == 0
        assert content[length - 4 : length] == struct.pack("<I", length)
        found.append((kind, content[8 : length - 4]))
        content = content[length:]
    return found


def written() -> list[tuple[int, bytes]]:
    file = io.BytesIO()
    capture = CaptureFile(file, "program", "what it is")
    capture.add_names({bytes((10, 0, 0, 1)): "h0"})
    capture.add_interfaces(["h0->s0", "s0->h0"])
    capture.write(1, (5 << 32) + 7, b"frame", "lost")
    return blocks(file.getvalue())


def test_order_of_blocks() -> None:
    assert [kind for kind, _ in written()] == [0x0A0D0D0A, 4, 1, 1, 6]


def test_interfaces_count_nanoseconds() -> None:
    (_, first), _ = [block for block in written() if block[0] == 1]
    assert struct.unpack_from("<HHI", first) == (1, 0, 0)
    assert b"h0->s0" in first
    assert struct.pack("<HHB", 9, 1, 9) in first  # if_tsresol: 10^-9


def test_a_frame_with_its_time_and_comment() -> None:
    body = written()[-1][1]
    assert struct.unpack_from("<IIIII", body) == (1, 5, 7, 5, 5)
    assert body[20:28] == b"frame\0\0\0"
    assert body[28:] == struct.pack("<HH", 1, 4) + b"lost" + bytes(4)


def test_names_of_addresses() -> None:
    body = written()[1][1]
    assert body.startswith(struct.pack("<HH", 1, 7) + bytes((10, 0, 0, 1)) + b"h0\0")
    assert len(body) % 4 == 0


ADDRESSES = addresses_of(["h0", "h1", "s0"])
WRITE = Packet(
    0, "h0", "h0->s0", "write", "rc", "h0", "h1", 2, 3, 4, 1086, 1024, 0,
    False, "", frozenset(), 0, 0, "", 0, 0,
)  # fmt: skip


def test_a_pause_frame() -> None:
    """Source: IEEE 802.3, annex 31D: destination, type, opcode, enable vector and eight times."""
    packet = WRITE._replace(kind="pause", node="s0", told_priorities=0b1001, paused_priorities=0b1000)
    frame = Frames([], ADDRESSES).frame(packet)
    assert frame is not None
    assert frame[:6].hex() == "0180c2000001"
    assert frame[12:34].hex() == "8808" + "0101" + "0009" + "0000" * 3 + "ffff" + "0000" * 4
    assert len(frame) == 60


def test_a_flooded_copy_has_no_frame() -> None:
    assert Frames([], ADDRESSES).frame(WRITE._replace(kind="stray")) is None


def test_frames_go_from_node_to_node_and_packets_from_host_to_host() -> None:
    frame = Frames([], ADDRESSES).frame(WRITE._replace(port="s0->h1", node="s0"))
    assert frame is not None
    assert (frame[:6], frame[6:12]) == (ADDRESSES.mac("h1"), ADDRESSES.mac("s0"))
    assert (frame[26:30], frame[30:34]) == (ADDRESSES.ip("h0"), ADDRESSES.ip("h1"))


def test_an_acknowledgement_counts_the_messages_before_it() -> None:
    last = frozenset({"last"})
    data = [WRITE._replace(psn=psn, flags=last if psn in (2, 5) else frozenset()) for psn in range(7)]
    frames = Frames(data, ADDRESSES)
    for psn, messages in ((1, 0), (2, 1), (4, 1), (6, 2)):
        reply = WRITE._replace(
            kind="ack", src="h1", dst="h0", src_qp_num=3, qp_num=2, psn=psn, payload_bytes=0
        )
        frame = frames.frame(reply)
        assert frame is not None
        assert frame[54:58] == bytes((0x1F, 0, 0, messages))


def test_nak_does_not_count_the_missing_message() -> None:
    """Source: InfiniBand architecture, volume 1, 9.7.5.1.1: the MSN counts what is completed."""
    data = [WRITE._replace(psn=psn, flags=frozenset({"first", "last"})) for psn in range(3)]
    reply = WRITE._replace(kind="nak", src="h1", dst="h0", src_qp_num=3, qp_num=2, psn=1, payload_bytes=0)
    frame = Frames(data, ADDRESSES).frame(reply)
    assert frame is not None
    assert frame[50:58] == bytes((0, 0, 0, 1)) + bytes((0x60, 0, 0, 1))


def test_a_rate_of_a_switch_is_an_icmp_message() -> None:
    packet = WRITE._replace(
        kind="feedback", node="s0", port="s0->h0", src="", dst="h0", src_qp_num=0, qp_num=2
    )
    frame = Frames([], ADDRESSES).frame(packet)
    assert frame is not None
    assert frame[23] == 1
    assert frame[26:30] == ADDRESSES.ip("s0")
    assert frame[34] == 253


PFC = "topology.buffer=1MB"
CASES = [
    *((name,) for name in BASES if name != "roce-go-back-0"),
    ("roce-go-back-0", PFC),  # with losses it would never end
    ("rogue", "workload.verb=read"),
    ("rogue", "workload.verb=send"),
    ("roce", "workload.verb=read"),
    ("roce", "workload.verb=send"),
    ("roce-uc", "workload.verb=send"),
    ("roce", "workload.size=1001B"),
    ("roce+pfc", PFC),
    ("roce+pfc+dcqcn", PFC),
    ("roce+pfc+rocc", PFC),
    ("roce+timely", PFC),
    ("roce+hpcc", PFC),
    ("irn+dcqcn",),
    ("{name: dctcp, timestamps: 1}",),
    ("roce", "faults=[{kind: flooding, target: s0, destination: h2}]"),
    ("roce", "topology.mtu=4096"),
]


@pytest.mark.needs("tshark")
@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_no_frame_is_malformed_and_no_expert_finds_an_error(case: tuple[str, ...], tmp_path: Path) -> None:
    transport, *settings = case
    table = packets_of_cell(tmp_path, f"transports=[{transport}]", *settings)
    written = write_capture(table, tmp_path / "cell.pcapng", "a cell")
    assert written.frames > 100 or "1001B" in case[-1]
    assert wrong_frames(tmp_path / "cell.pcapng") == []
    assert len(dissected(tmp_path / "cell.pcapng")) == written.frames


@pytest.mark.needs("tshark")
def test_wireshark_detects_wrong_ports_and_checksums(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path)
    path = tmp_path / "cell.pcapng"
    write_capture(table, path, "a cell")
    content = bytearray(path.read_bytes())
    path.write_bytes(content.replace(b"\x12\xb7", b"\x12\xb8"))  # another port, of no known protocol
    assert dissected(path, wanted="infiniband") == []
    path.write_bytes(content.replace(bytes((64, 17)), bytes((63, 17))))  # without a new checksum
    assert wrong_frames(path) != []


@pytest.mark.needs("tshark")
def test_wireshark_reads_the_recorded_packets(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "transports=[roce+pfc+dcqcn]", PFC)
    path = tmp_path / "cell.pcapng"
    write_capture(table, path, "a cell")
    left = table[~table["reason"].isin(REFUSALS)]
    fields = ("frame.time_epoch", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn")
    frames = dissected(path, *fields, wanted="infiniband")
    packets = left[left["kind"] != "pause"]
    assert [int(destination, 16) for _, _, destination, _ in frames] == list(packets["qp_num"])
    assert [int(psn or 0) for *_, psn in frames] == list(packets["psn"])
    seconds = [round(float(each) * 1e9) for each, *_ in frames]
    assert seconds == list(packets["t_ps"] // 1000)
    opcodes = Counter(int(opcode) for _, opcode, *_ in frames)
    kinds = Counter(packets["kind"])
    assert opcodes[0x81] == kinds["cnp"] > 0
    assert opcodes[0x11] == kinds["ack"] > 0
    assert opcodes[0x06] + opcodes[0x07] + opcodes[0x08] == kinds["write"]
    pauses = dissected(path, "macc.cbfc.enbv", "eth.src", wanted="macc.opcode == 0x0101")
    assert len(pauses) == Counter(left["kind"])["pause"] > 0
    marked = dissected(path, wanted="ip.dsfield.ecn == 3")
    assert len(marked) == left["marked"].sum() > 0


@pytest.mark.needs("tshark")
@pytest.mark.parametrize("transport", ["irn", "irn-gbn", "roce-lossy", "roce"])
def test_the_last_acknowledgement_is_of_the_last_packet_and_counts_its_message(
    transport: str, tmp_path: Path
) -> None:
    table = packets_of_cell(
        tmp_path, f"transports=[{transport}]", "workload.senders=1", "measure=[{kind: packets, ports: [h3]}]"
    )
    path = tmp_path / "cell.pcapng"
    write_capture(table, path, "a cell")
    data = dissected(path, "infiniband.bth.psn", wanted="infiniband.bth.opcode < 0x11")
    fields = ("infiniband.bth.psn", "infiniband.aeth.msn")
    acknowledged = dissected(path, *fields, wanted="infiniband.bth.opcode == 0x11")
    assert acknowledged[-1] == (data[-1][0], "1")
    assert all(int(msn) == (psn == data[-1][0]) for psn, msn in acknowledged)


@pytest.mark.needs("tshark")
def test_tcp_streams_have_no_gaps(tmp_path: Path) -> None:
    """Sequence numbers of a connection without losses: each segment follows the one before."""
    table = packets_of_cell(
        tmp_path, "transports=[cubic]", "workload.senders=1", "measure=[{kind: packets, ports: [h3]}]"
    )
    path = tmp_path / "cell.pcapng"
    write_capture(table, path, "a cell")
    frames = dissected(path, "tcp.seq_raw", "tcp.len", wanted="tcp.len > 0")
    ends = [int(sequence) + int(length) for sequence, length in frames]
    assert [int(sequence) for sequence, _ in frames] == [1, *ends[:-1]]
    assert ends[-1] == 200_001
    assert dissected(path, wanted="tcp.analysis.flags") == []
