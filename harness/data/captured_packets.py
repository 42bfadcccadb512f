"""Turn a capture into a table of packets: pair queue pairs to flows, and count their packets from 0."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import pandas as pd

from rogue.agent.node.roce_frames import Frame, decode, decode_ip
from rogue.harness.data.capture import Capture
from rogue.harness.errors import UsageError
from rogue.workloads.records import PacketRow

REQUESTS: Final = ("write", "send", "read_request", "atomic")
EXPORTED_LOSS: Final = "went no further: "
"""Comment of `rogue export --pcap` on a packet that was lost behind the port."""
PACKETS_MAX: Final = 1_000_000
"""Their rows take about 1 GB of memory."""
_PSNS: Final = 1 << 24
_COMPARED: Final = 32
"""Packet numbers of each stream of replies that are compared with those of the requests."""
_T_PS_MAX: Final = 2**62
"""Fifty days: later times are those of a damaged capture."""
_ECT: Final = (1, 2, 3)


class Stream(NamedTuple):
    """The packets to one queue pair from one host."""

    src: str
    dst: str
    qp_num: int


class _Packet(NamedTuple):
    t_ns: int
    interface: str
    comment: str
    frame: Frame

    @property
    def stream(self) -> Stream:
        return Stream(self.frame.source, self.frame.destination, self.frame.qp_num)


class CapturedPackets(NamedTuple):
    """The packets of a capture by flow."""

    table: pd.DataFrame
    """In the columns of the table `packets`."""
    undecided_flows: int
    """Flows whose replies may belong to another flow."""


def packets_of_capture(capture: Capture) -> CapturedPackets:
    """Return the packets of reliable and unreliable connections; UsageError if there are too many.

    Times count from the first packet. A host is named by its address. Where several interfaces saw the same
    direction of a flow, the first one counts as the port of the sender, and the last one as the port to the
    receiver.
    """
    requests: dict[Stream, list[_Packet]] = defaultdict(list)
    replies: dict[Stream, list[_Packet]] = defaultdict(list)
    for packet in sorted(_packets(capture), key=lambda packet: packet.t_ns):
        (requests if packet.frame.kind in REQUESTS else replies)[packet.stream].append(packet)
    answers, undecided = _paired(requests, replies)
    names: Counter[str] = Counter()
    rows: list[PacketRow] = []
    for stream, own in requests.items():
        both = sorted(
            [*own, *replies[answers[stream]]] if stream in answers else own, key=lambda packet: packet.t_ns
        )
        rows += _rows(both, own, names)
    began_ps = min((row.t_ps for row in rows), default=0)
    rows = [row._replace(t_ps=min(row.t_ps - began_ps, _T_PS_MAX)) for row in rows]
    rows.sort(key=lambda row: row.t_ps)
    return CapturedPackets(pd.DataFrame(rows, columns=PacketRow._fields), undecided)


def _packets(capture: Capture) -> Iterator[_Packet]:
    """Yield the packets of connections, without the captured bytes."""
    count = 0
    for each in capture:
        frame = decode(each.content) if each.ip is None else decode_ip(each.content, each.ip)
        if frame is None or (frame.service not in ("rc", "uc") and frame.kind != "cnp"):
            continue
        count += 1
        if count > PACKETS_MAX:
            got = f"{capture.path}: got more than {PACKETS_MAX} RoCEv2 packets, expected at most as many"
            raise UsageError(f"{got}; cut the capture, for example with `editcap -r IN OUT 1-{PACKETS_MAX}`.")
        yield _Packet(each.t_ns, each.interface, each.comment, frame)


_Streams = Mapping[Stream, Sequence[_Packet]]


def _paired(requests: _Streams, replies: _Streams) -> tuple[dict[Stream, Stream], int]:
    """Return the stream of replies to each stream of requests, and how many of these are undecided.

    A reply has the number of its request, but not the queue pair that sent it. Between two hosts, streams
    with the most numbers in common belong together, the clearest pairs first. Of equals the one with the same
    UDP source port is taken, which some NICs derive from both queue pairs. Still equal ones are paired in the
    order of their first packets.
    """
    asking: dict[tuple[str, str], list[Stream]] = defaultdict(list)
    by_number: dict[tuple[str, str, int], list[Stream]] = defaultdict(list)
    for stream, own in requests.items():
        asking[stream.src, stream.dst].append(stream)
        for psn in {packet.frame.psn for packet in own}:
            by_number[stream.src, stream.dst, psn].append(stream)
    votes = {stream: _votes(stream, own, by_number) for stream, own in replies.items()}
    answers: dict[Stream, Stream] = {}
    undecided: set[Stream] = set()
    for stream in sorted(votes, key=lambda stream: _clearness(votes[stream]), reverse=True):
        free = [each for each in votes[stream] if each not in answers]
        free = free or [each for each in asking[stream.dst, stream.src] if each not in answers]
        most = max((votes[stream][each] for each in free), default=0)
        equal = [each for each in free if votes[stream][each] == most]
        port = replies[stream][0].frame.udp_port
        same_port = [each for each in equal if requests[each][0].frame.udp_port == port]
        if len(equal) > 1 and len(same_port) != 1:
            undecided.update(equal)
        for each in (same_port or equal)[:1]:
            answers[each] = stream
    return answers, len(undecided)


def _votes(
    stream: Stream, own: Sequence[_Packet], by_number: Mapping[tuple[str, str, int], Sequence[Stream]]
) -> Counter[Stream]:
    """Count in how many numbers a stream of replies agrees with each stream of requests, of a few of them."""
    places = {
        (stream.dst, stream.src, packet.frame.psn): None for packet in own if packet.frame.kind != "cnp"
    }
    known = [place for place in places if place in by_number]
    chosen = {known[at * (len(known) - 1) // (_COMPARED - 1)] for at in range(_COMPARED)} if known else ()
    return Counter(each for place in chosen for each in by_number[place])


def _clearness(votes: Counter[Stream]) -> tuple[int, int]:
    """Return how far the first candidate is before the second one, and its votes."""
    first, second = [*(count for _, count in votes.most_common(2)), 0, 0][:2]
    return first - second, first


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
        if packet.interface in ports[packet.frame.source]
    ]


def _ports(packets: Sequence[_Packet]) -> dict[str, tuple[str, str]]:
    """Return the interfaces that saw the packets of each host first and last."""
    seen: dict[str, dict[str, None]] = defaultdict(dict)
    for packet in packets:
        seen[packet.frame.source].setdefault(packet.interface)
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
    interface = packet.interface
    node = frame.source if interface == first else interface
    neighbour = frame.destination if interface == last else interface
    words = [*frame.places, *(["ack_request"] if frame.ack_request else [])]
    words += ["ect"] if frame.tos & 3 in _ECT else []
    words += ["corrupt"] if frame.is_corrupt else []
    words += ["rnr"] if frame.is_rnr else []
    lost = packet.comment.removeprefix(EXPORTED_LOSS)
    is_lost = lost != packet.comment
    return PacketRow(
        t_ps=packet.t_ns * 1000, node=node, port=f"{node}->{neighbour}", kind=frame.kind,
        flow_id=flow_id, service=service, src=frame.source, dst=frame.destination, src_qp_num=None,
        qp_num=frame.qp_num, psn=number, bytes=frame.frame_bytes, payload_bytes=frame.payload_bytes,
        priority=frame.tos >> 5, marked=frame.is_marked, dropped=is_lost, reason=lost if is_lost else None,
        flags=" ".join(words) or None, message_bytes=frame.message_bytes, immediate=frame.immediate,
        selective=None, told_priorities=None, paused_priorities=None,
    )  # fmt: skip
