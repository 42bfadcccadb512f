"""Turn a capture into a table of packets: pair queue pairs to flows, and count their packets from 0."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import pandas as pd

from rogue.agent.node.roce_frames import Frame, decode, decode_ip
from rogue.harness.data.capture import Capture, CapturedFrame
from rogue.workloads.records import PacketRow

REQUESTS: Final = ("write", "send", "read_request", "atomic")
REPLIES: Final = ("ack", "nak", "read_response", "atomic_response")
EXPORTED_LOSS: Final = "went no further: "
"""Comment of `rogue export --pcap` on a packet that was lost behind the port."""
_PSNS: Final = 1 << 24
_T_PS_MAX: Final = 2**62
"""Fifty days: later times are those of a damaged capture."""
_ECT: Final = (1, 2, 3)


class Stream(NamedTuple):
    """The packets to one queue pair from one host."""

    src: str
    dst: str
    qp_num: int


class _Packet(NamedTuple):
    captured: CapturedFrame
    frame: Frame

    @property
    def stream(self) -> Stream:
        return Stream(self.frame.source, self.frame.destination, self.frame.qp_num)


def packets_of_capture(capture: Capture) -> pd.DataFrame:
    """Return the packets of reliable and unreliable connections in the columns of the table `packets`.

    Times count from the first packet. A host is named by its address. Where several interfaces saw the same
    direction of a flow, the first one counts as the port of the sender, and the last one as the port to the
    receiver.
    """
    found = [
        _Packet(each, frame)
        for each in capture.frames
        if (frame := decode(each.content) if each.ip is None else decode_ip(each.content, each.ip))
        and (frame.service in ("rc", "uc") or frame.kind == "cnp")
    ]
    found.sort(key=lambda packet: packet.captured.t_ns)
    streams: dict[Stream, list[_Packet]] = defaultdict(list)
    for packet in found:
        streams[packet.stream].append(packet)
    names: Counter[str] = Counter()
    rows: list[PacketRow] = []
    for requests, replies in _connections(streams):
        rows += _rows(sorted([*requests, *replies], key=lambda packet: packet.captured.t_ns), requests, names)
    began_ps = min((row.t_ps for row in rows), default=0)
    rows = [row._replace(t_ps=min(row.t_ps - began_ps, _T_PS_MAX)) for row in rows]
    rows.sort(key=lambda row: row.t_ps)
    return pd.DataFrame(rows, columns=PacketRow._fields)


def _connections(
    streams: Mapping[Stream, Sequence[_Packet]],
) -> Iterable[tuple[Sequence[_Packet], Sequence[_Packet]]]:
    """Pair the requests to each queue pair with the replies from it.

    A reply carries the number of its request, but not the queue pair that sent it. A stream of replies
    belongs to the stream of requests whose numbers it carries most often.
    """
    numbers = {
        stream: {packet.frame.psn for packet in own if packet.frame.kind in REQUESTS}
        for stream, own in streams.items()
    }
    owners: dict[Stream, list[Stream]] = defaultdict(list)
    for stream, own in streams.items():
        replies = [
            packet.frame.psn for packet in own if packet.frame.kind in REPLIES or packet.frame.kind == "cnp"
        ]
        others = [
            each for each in streams if (each.src, each.dst) == (stream.dst, stream.src) and numbers[each]
        ]
        if replies and others:
            votes = {each: sum(psn in numbers[each] for psn in replies) for each in others}
            owners[max(votes, key=lambda each: votes[each])].append(stream)
    for stream, own in streams.items():
        requests = [packet for packet in own if packet.frame.kind in REQUESTS]
        if requests:
            answering = [packet for other in owners[stream] for packet in streams[other]]
            yield requests, [packet for packet in answering if packet.frame.kind not in REQUESTS]


def _rows(packets: Sequence[_Packet], requests: Sequence[_Packet], names: Counter[str]) -> list[PacketRow]:
    """Return the rows of a connection in order of time."""
    first = requests[0].stream
    is_read = all(packet.frame.kind == "read_request" for packet in requests)
    ends = (first.dst, first.src) if is_read else (first.src, first.dst)
    name = f"capture/{ends[0]}->{ends[1]}"
    flow_id = f"{name}#{names[name]}" if names[name] else name
    names[name] += 1
    service = requests[0].frame.service
    ports = _ports(packets)
    numbers = _running_numbers(packets)
    return [
        _row(packet, number, flow_id, service, ports[packet.frame.source])
        for packet, number in zip(packets, numbers, strict=True)
        if packet.captured.interface in ports[packet.frame.source]
    ]


def _ports(packets: Sequence[_Packet]) -> dict[str, tuple[str, str]]:
    """Return the interfaces that saw the packets of each host first and last."""
    seen: dict[str, dict[str, None]] = defaultdict(dict)
    for packet in packets:
        seen[packet.frame.source].setdefault(packet.captured.interface)
    return {source: (next(iter(own)), list(own)[-1]) for source, own in seen.items()}


def _running_numbers(packets: Sequence[_Packet]) -> list[int | None]:
    """Return packet numbers without wraps, from 0 at the least; None of a CNP.

    Source: InfiniBand Architecture, volume 1, 9.7.2 (PSN comparison, modulo 2^24).
    """
    running, numbers = None, list[int | None]()
    for packet in packets:
        if packet.frame.kind == "cnp":
            numbers.append(None)
            continue
        if running is None:
            running = packet.frame.psn
        distance = (packet.frame.psn - running + _PSNS // 2) % _PSNS - _PSNS // 2
        running += distance
        numbers.append(running)
    least = min((number for number in numbers if number is not None), default=0)
    return [None if number is None else number - least for number in numbers]


def _row(
    packet: _Packet, number: int | None, flow_id: str, service: str | None, ports: tuple[str, str]
) -> PacketRow:
    frame, (first, last) = packet.frame, ports
    interface = packet.captured.interface
    node = frame.source if interface == first else interface
    neighbour = frame.destination if interface == last else interface
    words = [*frame.places, *(["ack_request"] if frame.ack_request else [])]
    words += ["ect"] if frame.tos & 3 in _ECT else []
    words += ["corrupt"] if frame.is_corrupt else []
    words += ["rnr"] if frame.is_rnr else []
    lost = packet.captured.comment.removeprefix(EXPORTED_LOSS)
    is_lost = lost != packet.captured.comment
    return PacketRow(
        t_ps=packet.captured.t_ns * 1000, node=node, port=f"{node}->{neighbour}", kind=frame.kind,
        flow_id=flow_id, service=service, src=frame.source, dst=frame.destination, src_qp_num=None,
        qp_num=frame.qp_num, psn=number, bytes=frame.frame_bytes, payload_bytes=frame.payload_bytes,
        priority=frame.tos >> 5, marked=frame.is_marked, dropped=is_lost, reason=lost if is_lost else None,
        flags=" ".join(words) or None, message_bytes=frame.message_bytes, immediate=frame.immediate,
        selective=None, told_priorities=None, paused_priorities=None,
    )  # fmt: skip
