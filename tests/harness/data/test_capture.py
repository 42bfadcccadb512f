"""Tests: captures of RoCEv2 become tables of packets, whatever else is in them."""

import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from helpers.packet_tables import ONE_LOSS, packet_table

from rogue.harness.commands.conformance import conformance
from rogue.harness.data import captured_packets
from rogue.harness.data.capture import Capture
from rogue.harness.data.captured_packets import packets_of_capture
from rogue.harness.errors import ExitCode, UsageError
from rogue.reports.cells.recorded_packets import packets_of
from rogue.reports.export.captures.capture import Frames, write_capture
from rogue.reports.export.captures.transport_headers import addresses_of


def frames_of(table: pd.DataFrame) -> list[tuple[int, bytes]]:
    """Return time (ns) and frame of each packet as it leaves its host."""
    packets = [packet for packet in packets_of(table) if packet.node == packet.src]
    made = Frames(packets, addresses_of(["h0", "h1", "s0"]))
    found = [(packet.t_ps // 1000, made.frame(packet)) for packet in packets]
    return [(t_ns, frame) for t_ns, frame in found if frame is not None]


def pcap(
    frames: Iterable[tuple[int, bytes]], order: str = "<", link_type: int = 1, magic: int = 0xA1B23C4D
) -> bytes:
    """Return a classic capture."""
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link_type)
    unit_ns = 1 if magic == 0xA1B23C4D else 1000
    records = [
        struct.pack(f"{order}IIII", t_ns // 10**9, t_ns % 10**9 // unit_ns, len(frame), len(frame)) + frame
        for t_ns, frame in frames
    ]
    return head + b"".join(records)


def table_of(content: bytes, place: Path) -> pd.DataFrame:
    """Return the table of a capture with that content."""
    place.write_bytes(content)
    return packets_of_capture(Capture(place)).table


def numbers(table: pd.DataFrame) -> list[tuple[str, int]]:
    """Return kind and number of each packet in order."""
    return list(zip(table["kind"], table["psn"], strict=True))


EPOCH_NS = 1_800_000_000 * 10**9
EXPECTED = [(line.split()[1], int(line.split()[2])) for line in ONE_LOSS]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_classic_captures_of_both_byte_orders_and_resolutions(tmp_path: Path, order: str, magic: int) -> None:
    frames = [(EPOCH_NS + t_ns // 1000 * 1000, frame) for t_ns, frame in frames_of(packet_table(*ONE_LOSS))]
    table = table_of(pcap(frames, order, magic=magic), tmp_path / "a.pcap")
    assert numbers(table) == EXPECTED
    assert table["t_ps"].tolist() == [(t_ns - frames[0][0]) * 1000 for t_ns, _ in frames]
    assert set(table["flow_id"]) == {"capture/10.0.0.1->10.0.0.2"}
    assert (table["node"] == table["src"]).all()


def test_an_exported_run_has_its_ports_and_losses_again(tmp_path: Path) -> None:
    original = packet_table(*ONE_LOSS)
    write_capture(original, tmp_path / "a.pcapng", "a cell")
    table = packets_of_capture(Capture(tmp_path / "a.pcapng")).table
    assert len(table) == len(original)
    assert table["dropped"].tolist() == original["dropped"].tolist()
    assert table["reason"].dropna().unique().tolist() == ["event"]
    is_sent = (table["node"] == table["src"]).tolist()
    assert is_sent == (original["node"] == original["src"]).tolist()


def test_a_file_that_ends_within_a_frame_has_the_frames_before(tmp_path: Path) -> None:
    whole = pcap(frames_of(packet_table(*ONE_LOSS)))
    for cut in (1, 20, 70):
        capture = _captured(whole[:-cut], tmp_path)
        table = packets_of_capture(capture).table
        assert capture.is_truncated
        assert numbers(table) == EXPECTED[: capture.frames_read]
    write_capture(packet_table(*ONE_LOSS), tmp_path / "b.pcapng", "a cell")
    capture = _captured((tmp_path / "b.pcapng").read_bytes()[:-5], tmp_path)
    assert len(list(capture)) == capture.frames_read > 0
    assert capture.is_truncated


def _captured(content: bytes, place: Path) -> Capture:
    (place / "a.pcap").write_bytes(content)
    return Capture(place / "a.pcap")


def test_frames_with_vlan_tags_and_other_traffic(tmp_path: Path) -> None:
    tagged = [
        (t_ns, frame[:12] + b"\x88\xa8\x00\x07\x81\x00\x60\x05" + frame[12:])
        for t_ns, frame in frames_of(packet_table(*ONE_LOSS))
    ]
    arp = bytes(12) + b"\x08\x06" + bytes(46)
    short = tagged[0][1][:40]
    others = [(1, arp), (2, b""), (3, short), (4, bytes(12) + b"\x08\x00\x45" + bytes(30))]
    assert numbers(table_of(pcap([*others, *tagged]), tmp_path / "a.pcap")) == EXPECTED


def test_captures_of_bare_ip_packets(tmp_path: Path) -> None:
    bare = [(t_ns, frame[14:]) for t_ns, frame in frames_of(packet_table(*ONE_LOSS))]
    assert numbers(table_of(pcap(bare, link_type=101), tmp_path / "a.pcap")) == EXPECTED


@pytest.mark.parametrize(("link_type", "head_bytes"), [(101, 0), (113, 16), (276, 20)])
def test_packets_have_their_bytes_on_ethernet_whatever_the_capture_has(
    tmp_path: Path, link_type: int, head_bytes: int
) -> None:
    frames = frames_of(packet_table(*ONE_LOSS))
    cooked = [(t_ns, bytes(head_bytes) + frame[14:]) for t_ns, frame in frames]
    on_ethernet = table_of(pcap(frames), tmp_path / "a.pcap")
    assert table_of(pcap(cooked, link_type=link_type), tmp_path / "b.pcap").equals(on_ethernet)


def test_numbers_continue_when_they_wrap(tmp_path: Path) -> None:
    first = (1 << 24) - 2
    wrapped = [
        " ".join([at, kind, str((int(psn) + first) % (1 << 24)), *words])
        for at, kind, psn, *words in (line.split() for line in ONE_LOSS)
    ]
    assert numbers(table_of(pcap(frames_of(packet_table(*wrapped))), tmp_path / "a.pcap")) == EXPECTED


def test_flows_that_share_a_queue_pair_number_are_apart(tmp_path: Path) -> None:
    """Two hosts may use the same number, and two queue pairs of the same hosts answer by number."""
    own = frames_of(packet_table(*ONE_LOSS))
    elsewhere = [(t_ns + 7, _moved(frame)) for t_ns, frame in own]
    later = [
        f"{float(line.split()[0]) + 0.3} {line.split()[1]} {int(line.split()[2]) + 100}" for line in ONE_LOSS
    ]
    beside = frames_of(packet_table(*later, qp_num=20))
    frames = sorted([*own, *elsewhere, *beside])
    table = table_of(pcap(frames), tmp_path / "a.pcap")
    assert {flow: numbers(rows) for flow, rows in table.groupby("flow_id")} == {
        "capture/10.0.0.1->10.0.0.2": EXPECTED,
        "capture/10.0.0.1->10.0.0.2#1": EXPECTED,
        "capture/10.0.1.1->10.0.1.2": EXPECTED,
    }


def with_ends(frame: bytes, qp_num: int, psn: int, udp_port: int) -> bytes:
    """Return the frame to another queue pair, with another number and UDP source port."""
    ends = [(34, udp_port.to_bytes(2, "big")), (47, qp_num.to_bytes(3, "big")), (51, psn.to_bytes(3, "big"))]
    changed = bytearray(frame)
    for place, value in ends:
        changed[place : place + len(value)] = value
    return bytes(changed)


REQUEST, REPLY = (frame for _, frame in frames_of(packet_table("1 write 0 first last", "5 ack 0")))


def test_queue_pairs_with_equal_numbers_are_paired_by_their_udp_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The replies come in another order than the requests."""
    ports = {3: 50_003, 21: 50_021}
    for port_of, undecided in ((ports, 0), ({3: 50_000, 21: 50_000}, 2)):
        frames = [
            (1, with_ends(REQUEST, 3, 0, port_of[3])),
            (2, with_ends(REQUEST, 21, 0, port_of[21])),
            (3, with_ends(REPLY, 20, 0, port_of[21])),
            (4, with_ends(REPLY, 2, 0, port_of[3])),
        ]
        (tmp_path / "a.pcap").write_bytes(pcap(frames))
        table, found = packets_of_capture(Capture(tmp_path / "a.pcap"))
        assert found == undecided
        pairs = [tuple(rows["qp_num"]) for _, rows in table.groupby("flow_id")]
        assert pairs == ([(3, 2), (21, 20)] if found == 0 else [(3, 20), (21, 2)])
    conformance(pcap=tmp_path / "a.pcap")
    assert "2 flows between the same hosts have the same packet numbers" in capsys.readouterr().err


def test_three_thousand_queue_pairs_of_two_hosts_are_paired(tmp_path: Path) -> None:
    """Pairing that compares all with all takes minutes here."""
    stream, frames = Random(1), list[tuple[int, bytes]]()
    firsts = stream.sample(range(1 << 24), 3000)
    for number, psn in enumerate(firsts):
        frames.append((number, with_ends(REQUEST, 10_000 + number, psn, 50_000)))
        frames.append((9_000 - number, with_ends(REPLY, 20_000 + number, psn, 50_000)))
    table = table_of(pcap(frames), tmp_path / "a.pcap")
    pairs = table.groupby("flow_id")["qp_num"].apply(lambda numbers: numbers.max() - numbers.min())
    assert len(pairs) == 3000
    assert set(pairs) == {10_000}


def test_more_packets_than_memory_allows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured_packets, "PACKETS_MAX", len(ONE_LOSS))
    frames = frames_of(packet_table(*ONE_LOSS))
    assert len(table_of(pcap(frames), tmp_path / "a.pcap")) == len(ONE_LOSS)
    with pytest.raises(UsageError, match=r"got more than 10 RoCEv2 packets.*cut the capture"):
        table_of(pcap([*frames, *frames]), tmp_path / "b.pcap")


def _moved(frame: bytes) -> bytes:
    """Return the frame between other hosts; nothing checks the sum of the IP header."""
    source, destination = bytes((10, 0, 1, frame[29])), bytes((10, 0, 1, frame[33]))
    return frame[:26] + source + destination + frame[34:]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "begins with nothing"),
        (b"PK\3\4 and so on", "begins with 504b0304, expected a pcap or pcapng file"),
        (pcap([]), "got 0 frames without a RoCEv2 request"),
        (pcap([(1, bytes(60))]), "got 1 frames without a RoCEv2 request"),
        (pcap([(1, bytes(60))], link_type=105), "got 1 frames without a RoCEv2 request"),
        (pcap([])[:10], "got 0 frames without a RoCEv2 request"),
    ],
)
def test_a_file_without_roce_ends_in_a_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.pcap").write_bytes(content)
    with pytest.raises(UsageError, match=words):
        conformance(pcap=tmp_path / "a.pcap")
    with pytest.raises(UsageError, match="No such file"):
        conformance(pcap=tmp_path / "missing.pcap")


def test_the_command_prints_the_checks_of_a_capture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_capture(packet_table(*ONE_LOSS), tmp_path / "a.pcapng", "a cell")
    assert conformance(pcap=tmp_path / "a.pcapng") is ExitCode.OK
    lines = _results(capsys.readouterr().out.splitlines())
    assert lines["NAK for a lost packet"] == "as specified"
    assert lines["What is sent again after a NAK"] == "as specified"
    assert lines["Time to NAK"] == "measured"
    assert lines["Lost NAK"] == "not applicable"


def _results(lines: Sequence[str]) -> dict[str, str]:
    parts = [[part.strip() for part in line.split("  ") if part.strip()] for line in lines]
    return {part[0]: part[1] for part in parts if len(part) > 2}


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_capture_ends_in_a_table_or_a_sentence(tmp_path: Path, seed: int) -> None:
    stream = Random(seed)
    write_capture(packet_table(*ONE_LOSS), tmp_path / "a.pcapng", "a cell")
    whole = (tmp_path / "a.pcapng").read_bytes() if seed % 2 else pcap(frames_of(packet_table(*ONE_LOSS)))
    damaged = bytearray(whole)
    for _ in range(stream.randrange(1, 30)):
        damaged[stream.randrange(4, len(damaged))] = stream.randrange(256)
    (tmp_path / "b.pcap").write_bytes(damaged[: stream.randrange(len(damaged))] if seed % 3 else damaged)
    with suppress(UsageError):
        assert conformance(pcap=tmp_path / "b.pcap") is ExitCode.OK


def test_a_device_is_no_capture() -> None:
    with pytest.raises(UsageError, match="got no regular file, expected a capture"):
        Capture(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nodes": "racks.yaml"}, "NODES"),
        ({"testbed": "kernel"}, "--testbed"),
        ({"out": Path("results"), "jobs": 2}, "--out, --jobs"),
        ({"trusts_inventory": True}, "--trust-inventory"),
    ],
)
def test_options_of_runs_are_refused_beside_a_capture(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=f"--pcap: got {words}, expected no option of a run; leave"):
        conformance(pcap=Path("a.pcap"), **options)
