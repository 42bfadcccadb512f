"""Measure an RDMA transfer between each pair of hosts."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple, Protocol

from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Host, Inventory
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
