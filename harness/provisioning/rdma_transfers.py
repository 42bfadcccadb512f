"""Measure RDMA between hosts: rates, priorities and marks of RoCE packets."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple, Protocol

from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.measured_marks import at_once
from rogue.harness.provisioning.places import WITH_PROGRAMS
from rogue.remote.connection import Shell
from rogue.remote.errors import NodeError

PAYLOADS_BYTES: Final = (4096, 2048, 1024, 512, 256)
HEADERS_BYTES: Final = 96
"""What Linux keeps free of an MTU: GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4.

Source: Linux, include/rdma/ib_addr.h (`iboe_get_mtu`), by which mlx4 and mlx5 say what a port does."""


def payload_bytes(ip_mtu_bytes: int) -> int:
    """The largest payload that fits."""
    fitting = (size for size in PAYLOADS_BYTES if least_ip_mtu_bytes(size) <= ip_mtu_bytes)
    return next(fitting, PAYLOADS_BYTES[-1])


def least_ip_mtu_bytes(rdma_payload_bytes: int) -> int:
    """The smallest MTU into which a payload fits."""
    return rdma_payload_bytes + HEADERS_BYTES


LEAST_OF_LINE_RATE: Final = 0.9
"""Where packets carry 2048 bytes or more."""
_LEAST_OF_PAYLOAD: Final = 0.97
"""Of what is left for payload; .926 of the line rate with 1024 bytes, .862 with 512."""
_WIRE_HEADERS_BYTES: Final = {4: 82, 6: 102}
"""RoCE v2, by version of IP: Ethernet with preamble and gap 38, IP 20 or 40, UDP 8, BTH 12, ICRC 4."""
_ONE_PAIR_BPS_MAX: Final = 25_000_000_000
"""Beyond, several send at once: one alone may be slower than the link, with small packets above all.
At which rate that begins nobody here has seen."""
_QUEUE_PAIRS: Final = 4
SECONDS: Final = 2
LIMIT_S: Final = 60.0
_TRIES: Final = 5
TCP_PORT: Final = 18_515
_ECN_CAPABLE: Final = 0b10
"""ECT(0), as the agent's queue pairs have it. Source: RFC 3168, section 5."""
_OVER_IPV6: Final = "--ipv6-addr"
"""The hosts talk about the test over IPv6; Debian 12's perftest cannot."""
_IPV6: Final = 6
_UNTRIED: Final = "keep in mind that nobody tried a WRITE over RoCE here"
_ROW: Final = re.compile(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", re.MULTILINE)
"""perftest's row of results: bytes, iterations, peak, mean in Gb/s, messages."""
_BPS_PER_GBPS: Final = 1_000_000_000


class _Session(Protocol):
    """What a command that runs on a node is to us."""

    def close(self) -> None:
        """End it."""


class End(NamedTuple):
    """A host with its card's port."""

    host: Host
    port: Facts

    @property
    def name(self) -> str:
        """The host's."""
        return self.host.name

    def command(
        self,
        peer: "End | None" = None,
        *,
        tcp_port: int = TCP_PORT,
        is_ecn_capable: bool = False,
        more: tuple[str, ...] = (),
    ) -> str:
        """One end of a WRITE test with GID, MTU and DSCP of experiments; as client with a peer.

        more: further options of perftest's, for both ends.
        """
        variables = self.host.variables
        words = ["ib_write_bw", "-d", str(self.port["device"]), "-i", str(self.port["port"])]
        words += ["-x", str(self.port["gid_index"]), "-m", str(payload_bytes(variables.experiment_mtu))]
        words += ["-D", str(SECONDS), "-F", "--report_gbits", "-p", str(tcp_port)]
        words += [f"--tclass={(variables.dscp or 0) << 2 | (_ECN_CAPABLE if is_ecn_capable else 0)}"]
        words += more
        words += [_OVER_IPV6] if variables.experiment_address.version == _IPV6 else []
        words += [str(peer.host.variables.experiment_address)] if peer else []
        return shlex.join(words)


def measure_transfers(
    inventory: Inventory, facts: Mapping[str, Facts], shells: Mapping[str, Shell]
) -> list[Finding]:
    """What is wrong with transfers between hosts with cards; pairs that share no host send at once.

    shells: by host; one without is left out.
    """
    ends = [end for end in ends_of(inventory, facts) if end.name in shells]
    findings: list[Finding] = []
    with ThreadPoolExecutor(max(1, len(ends) // 2)) as pool:
        for pairs in rounds(ends):
            findings += [each for each in pool.map(partial(_transfer, shells), pairs) if each is not None]
    return findings


def rounds(ends: Sequence[End]) -> Iterator[list[tuple[End, End]]]:
    """Every pair once, in rounds in which no host has two: the first stays, the others go round."""
    seats: list[End | None] = [*ends, *([None] if len(ends) % 2 else [])]
    for _ in range(len(seats) - 1):
        across = zip(seats[: len(seats) // 2], reversed(seats), strict=False)
        yield [(here, there) for here, there in across if here is not None and there is not None]
        seats.insert(1, seats.pop())


def ends_of(inventory: Inventory, facts: Mapping[str, Facts]) -> Iterator[End]:
    """The cards of all hosts that have one."""
    for host in inventory.hosts:
        ports = facts.get(host.name, {}).get("rdma_ports", [])
        own = next((port for port in ports if port["is_asked_for"]), None)
        if own is not None and host.variables.rdma_device_kind == "card":
            yield End(host, own)


def _transfer(shells: Mapping[str, Shell], pair: tuple[End, End]) -> Finding | None:
    """One end serves, the other sends; it tries again while the server is not there yet."""
    sender, receiver = pair
    what = f"transfer to {receiver.name} over the experiment network"
    try:
        said = transferred(shells, pair)
    except NodeError as error:
        if (untried := untried_over_ipv6(sender.name, what, error)) is not None:
            return untried
        advice = "check GID, MTU and DSCP on the way: the same packets must pass at both ends and the switch"
        return Finding(sender.name, what, str(error), "a WRITE over RoCE that arrives", advice)
    return judge_bandwidth(pair, what, said)


def untried_over_ipv6(node: str, what: str, error: NodeError) -> Finding | None:
    """The warning that this node's perftest cannot talk over IPv6; None if that is not what is wrong."""
    if f"unrecognized option '{_OVER_IPV6}'" not in str(error):
        return None
    got, expected = f"a perftest without {_OVER_IPV6}", "a later one, as addresses are of IPv6"
    return Finding(node, what, got, expected, _UNTRIED, refuses=False)


def transferred(
    shells: Mapping[str, Shell],
    pair: tuple[End, End],
    *,
    tcp_port: int = TCP_PORT,
    is_ecn_capable: bool = False,
    more: tuple[str, ...] = (),
) -> str:
    """What perftest says to the first of a pair that sends to the second; NodeError if it fails."""
    sender, receiver = pair
    more = (*_queue_pairs(pair), *more)
    asked = partial(End.command, tcp_port=tcp_port, is_ecn_capable=is_ecn_capable, more=more)
    serve, client = asked(receiver), asked(sender, receiver)
    tries = f"for try in {' '.join(map(str, range(_TRIES)))}; do {client} && exit 0; sleep 1; done; exit 1"
    server: _Session = shells[receiver.name].open_session(f"timeout {LIMIT_S:.0f} {serve}")
    try:
        return shells[sender.name].run(f"timeout {LIMIT_S:.0f} sh -c {shlex.quote(tries)}", limit_s=LIMIT_S)
    finally:
        server.close()


def _queue_pairs(pair: tuple[End, End]) -> tuple[str, ...]:
    """perftest's option, which both ends need alike."""
    slower_bps = min(end.port.get("rate_bps", 0) for end in pair)
    return ("-q", str(_QUEUE_PAIRS)) if slower_bps > _ONE_PAIR_BPS_MAX else ()


def least_share(payload: int, ip_version: int) -> float:
    """The share of the line rate that a transfer with so many bytes in a packet must reach."""
    on_the_wire = payload + _WIRE_HEADERS_BYTES[ip_version]
    return min(LEAST_OF_LINE_RATE, _LEAST_OF_PAYLOAD * payload / on_the_wire)


def least_share_between(ends: Sequence[End]) -> float:
    """The same between these hosts: that of the smallest packets."""
    variables = [end.host.variables for end in ends]
    return min(least_share(payload_bytes(v.experiment_mtu), v.experiment_address.version) for v in variables)


def mean_gbps(said: str) -> float | None:
    """The rate in Gb/s that perftest tells; None if it tells none."""
    rows = _ROW.findall(said)
    return float(rows[-1]) if rows else None


def judge_bandwidth(pair: tuple[End, End], what: str, said: str) -> Finding | None:
    """Whether what perftest says is near the line rate."""
    sender, receiver = pair
    gbps = mean_gbps(said)
    line_rate_bps = min(sender.port["rate_bps"], receiver.port["rate_bps"])
    share = least_share_between(pair)
    least_gbps = share * line_rate_bps / _BPS_PER_GBPS
    if gbps is not None and gbps >= least_gbps:
        return None
    got = "no result of ib_write_bw" if gbps is None else f"{gbps:g} Gb/s"
    expected = f"{least_gbps:.3g} Gb/s at least, {share:.2g} of the line rate"
    advice = "see who else uses the network, the card's slot (PCIe), pauses on the way, and its MTU"
    return Finding(sender.name, what, got, expected, advice)


LEVELS: Final = range(8)
_COUNTER: Final = re.compile(r"^\s*tx_prio_?(\d)_packets: (\d+)$", re.MULTILINE)
_MOST: Final = 0.5
"""The priority that has more than this share of the packets is theirs; others have the kernel's own."""
Levels = dict[str, object]


def priorities_of_levels(shells: Mapping[str, Shell], sender: End, receiver: End) -> Levels:
    """Priority by service level, None for one of which nothing was counted; or why not, with names."""
    try:
        return {"priorities": [_priority(shells, sender, receiver, level) for level in LEVELS]}
    except NodeError as error:
        return {"reason": str(error)}


def _priority(shells: Mapping[str, Shell], sender: End, receiver: End, level: int) -> int | None:
    before = sent_packets(shells[sender.name], str(sender.port["netdev"]))
    transferred(shells, (sender, receiver), more=("-S", str(level)))
    after = sent_packets(shells[sender.name], str(sender.port["netdev"]))
    risen = {priority: count - before.get(priority, 0) for priority, count in after.items()}
    most = max(risen, key=lambda priority: risen[priority], default=None)
    return most if most is not None and risen[most] > _MOST * sum(risen.values()) else None


def sent_packets(shell: Shell, netdev: str) -> dict[int, int]:
    """Packets that left an interface, the card's own included, by priority."""
    said = shell.run(f"{WITH_PROGRAMS} ethtool -S {shlex.quote(netdev)}")
    return {int(priority): int(count) for priority, count in _COUNTER.findall(said)}


COUNTER: Final = "np_ecn_marked_roce_packets"
_WHAT: Final = "marks on RoCE packets"
_NONE: Final = "none"
_SENDERS: Final = 2
_BELIEVED: Final = "keep in mind that nobody has seen RoCE packets marked"


class Heard(NamedTuple):
    """What came of two cards that sent to one."""

    gbps: float
    """What both say together."""
    marked_packets: int | None
    """None: the receiver's card counts none."""


def measure_roce_marks(
    inventory: Inventory, facts: Mapping[str, Facts], shells: Mapping[str, Shell]
) -> list[Finding]:
    """What is wrong with marks on RoCE packets.

    Nothing where the inventory says no marks, or where there are no three cards.
    """
    ends = [end for end in ends_of(inventory, facts) if end.name in shells]
    if not any(switch.variables.marking for switch in inventory.hardware_switches) or len(ends) <= _SENDERS:
        return []
    findings: list[Finding] = []
    with ThreadPoolExecutor(len(ends)) as pool:
        for groups in at_once(inventory, ends):
            told = pool.map(partial(_incast, facts, shells), groups)
            findings += [finding for finding in told if finding]
    return findings


def _incast(
    facts: Mapping[str, Facts], shells: Mapping[str, Shell], group: tuple[End, tuple[End, End]]
) -> Finding | None:
    receiver, senders = group
    try:
        heard, full = _heard(shells, receiver, senders), least_share_between((receiver, *senders))
        return judge(receiver, heard, _dcqcn(facts[receiver.name]), full)
    except NodeError as error:
        if (untried := untried_over_ipv6(receiver.name, _WHAT, error)) is not None:
            return untried
        advice = "check GID, MTU and DSCP on the way: two cards send to one here"
        return Finding(receiver.name, _WHAT, str(error), "two WRITEs over RoCE that arrive", advice)


def _heard(shells: Mapping[str, Shell], receiver: End, senders: Sequence[End]) -> Heard:
    before = _marked(shells[receiver.name], receiver)
    with ThreadPoolExecutor(_SENDERS) as pool:
        sent = [
            pool.submit(
                transferred, shells, (sender, receiver), tcp_port=TCP_PORT + number, is_ecn_capable=True
            )
            for number, sender in enumerate(senders)
        ]
    gbps = sum(mean_gbps(each.result()) or 0.0 for each in sent)
    after = _marked(shells[receiver.name], receiver)
    return Heard(gbps, None if before is None or after is None else after - before)


def _marked(shell: Shell, end: End) -> int | None:
    path = f"/sys/class/infiniband/{end.port['device']}/ports/{end.port['port']}/hw_counters/{COUNTER}"
    said = shell.run(f"cat {path} 2>/dev/null || echo {_NONE}").strip()
    if said == _NONE:
        return None
    try:
        return int(said)
    except ValueError:
        raise NodeError(f"{end.name}: got `{said[:60]}` in {path}, expected a number") from None


def judge(receiver: End, heard: Heard, dcqcn: str, full: float) -> Finding | None:
    """What the count means for RoCE packets to this host.

    dcqcn: `on`, `off`, or what else `node_facts` says of the receiver's card. full: the share of the line
    rate from which its port counts as full.
    """
    if heard.marked_packets:
        return None
    if heard.marked_packets is None:
        expected = f"{COUNTER}, which mlx5 has"
        return Finding(receiver.name, _WHAT, "no counter of them", expected, _BELIEVED, refuses=False)
    got = f"none, at {heard.gbps:g} Gb/s from two hosts"
    if heard.gbps < full * receiver.port["rate_bps"] / 1e9:
        expected = "a full port, which two cards could not fill"
        return Finding(receiver.name, _WHAT, got, expected, _BELIEVED, refuses=False)
    if dcqcn == "off":
        expected = "some, as the port was full; but with DCQCN off a card may count none"
        return Finding(receiver.name, _WHAT, got, expected, _BELIEVED, refuses=False)
    advice = (
        "see whether the cards' packets have the DSCP that the switch marks, and whether DCQCN is on for "
        "their priority: without it a card's packets may not be ECN-capable"
    )
    return Finding(receiver.name, _WHAT, got, "some, as its port was full", advice)


def _dcqcn(facts: Facts) -> str:
    cards = [each["card"] for each in facts["interfaces"].values() if each and each.get("card")]
    return str(cards[0]["dcqcn"]["state"]) if cards else "unknown"
