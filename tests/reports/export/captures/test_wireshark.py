"""Captures of every transport, as Wireshark's dissectors see them."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.experiments import packets_of_cell
from helpers.wireshark import dissected, wrong_frames

from rogue.reports.export.captures.capture import REFUSALS, write_capture
from rogue.workloads.transports import BASES

pytestmark = pytest.mark.needs("tshark")

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


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_no_frame_is_malformed_and_no_expert_finds_an_error(case: tuple[str, ...], tmp_path: Path) -> None:
    transport, *settings = case
    table = packets_of_cell(tmp_path, f"transports=[{transport}]", *settings)
    written = write_capture(table, tmp_path / "cell.pcapng", "a cell")
    assert written.frames > 100 or "1001B" in case[-1]
    assert wrong_frames(tmp_path / "cell.pcapng") == []
    assert len(dissected(tmp_path / "cell.pcapng")) == written.frames


def test_the_judge_sees_wrong_ports_and_checksums(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path)
    path = tmp_path / "cell.pcapng"
    write_capture(table, path, "a cell")
    content = bytearray(path.read_bytes())
    path.write_bytes(content.replace(b"\x12\xb7", b"\x12\xb8"))  # another port: nobody knows what it is
    assert dissected(path, wanted="infiniband") == []
    path.write_bytes(content.replace(bytes((64, 17)), bytes((63, 17))))  # without a new checksum
    assert wrong_frames(path) != []


def test_what_wireshark_reads_is_what_the_table_says(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("transport", ["irn", "irn-gbn", "roce-lossy", "roce"])
def test_the_last_acknowledgement_is_of_the_last_packet_and_counts_its_message(
    transport: str, tmp_path: Path
) -> None:
    table = packets_of_cell(
        tmp_path,
        f"transports=[{transport}]",
        "workload.senders=1",
        "measure=[{kind: packets, ports: [h3]}]",
    )
    path = tmp_path / "cell.pcapng"
    write_capture(table, path, "a cell")
    data = dissected(path, "infiniband.bth.psn", wanted="infiniband.bth.opcode < 0x11")
    fields = ("infiniband.bth.psn", "infiniband.aeth.msn")
    acknowledged = dissected(path, *fields, wanted="infiniband.bth.opcode == 0x11")
    assert acknowledged[-1] == (data[-1][0], "1")
    assert all(int(msn) == (psn == data[-1][0]) for psn, msn in acknowledged)


def test_streams_of_tcp_have_no_gap_that_the_network_did_not_make(tmp_path: Path) -> None:
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
