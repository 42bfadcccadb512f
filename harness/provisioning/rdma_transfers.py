"""Measure RDMA transfers between hosts, and collect anonymised reports of two cards."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.places import AGENT, WITH_PROGRAMS
from rogue.remote.connection import Connection, connect
from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.workloads.printable import parse_json

PAYLOADS_BYTES: Final = (4096, 2048, 1024, 512, 256)
HEADERS_BYTES: Final = 96
"""Room that Linux keeps in an MTU: GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4.

Source: Linux, include/rdma/ib_addr.h (`iboe_get_mtu`), by which mlx4 and mlx5 derive a port's MTU."""


def payload_bytes(ip_mtu_bytes: int) -> int:
    """Return the largest RDMA payload that fits into an IP MTU."""
    fitting = (size for size in PAYLOADS_BYTES if least_ip_mtu_bytes(size) <= ip_mtu_bytes)
    return next(fitting, PAYLOADS_BYTES[-1])


def least_ip_mtu_bytes(rdma_payload_bytes: int) -> int:
    """Return the smallest IP MTU into which an RDMA payload fits."""
    return rdma_payload_bytes + HEADERS_BYTES


LEAST_OF_LINE_RATE: Final = 0.9
"""For packets with 2048 bytes of payload or more."""
_LEAST_OF_PAYLOAD: Final = 0.97
"""Share of the line rate without headers; 0.926 of the line rate with 1024 bytes, 0.862 with 512."""
_WIRE_HEADERS_BYTES: Final = {4: 82, 6: 102}
"""RoCE v2, by version of IP: Ethernet with preamble and gap 38, IP 20 or 40, UDP 8, BTH 12, ICRC 4."""
_ONE_PAIR_BPS_MAX: Final = 25_000_000_000
"""Above this rate several queue pairs send at once, because one may be slower than the link. The bound is a
guess: no fast card has run this."""
_QUEUE_PAIRS: Final = 4
SECONDS: Final = 2
LIMIT_S: Final = 60.0
REPLY_LIMIT_S: Final = LIMIT_S + 10
"""Longer than the `timeout` of a command, whose end the host reports."""
_TRIES: Final = 5
TCP_PORT: Final = 18_515
_OVER_IPV6: Final = "--ipv6-addr"
"""perftest's option to exchange parameters over IPv6; Debian 12's perftest does not have it."""
_IPV6: Final = 6
_ROW: Final = re.compile(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", re.MULTILINE)
"""perftest's row of results: bytes, iterations, peak, mean in Gb/s, messages."""
_BPS_PER_GBPS: Final = 1_000_000_000


class End(NamedTuple):
    """A host with its card's port."""

    host: Host
    port: Facts

    @property
    def name(self) -> str:
        """Return the host's name."""
        return self.host.name

    def command(self, peer: "End | None" = None, options: Sequence[str] = ()) -> str:
        """Return one end of a WRITE test with GID, MTU and DSCP of experiments; the client's with a peer.

        options: further options of perftest, the same at both ends.
        """
        variables = self.host.variables
        words = ["ib_write_bw", "-d", str(self.port["device"]), "-i", str(self.port["port"])]
        words += ["-x", str(self.port["gid_index"]), "-m", str(payload_bytes(variables.experiment_mtu))]
        words += ["-D", str(SECONDS), "-F", "--report_gbits", "-p", str(TCP_PORT)]
        words += [f"--tclass={(variables.dscp or 0) << 2}", *options]
        words += [_OVER_IPV6] if variables.experiment_address.version == _IPV6 else []
        words += [str(peer.host.variables.experiment_address)] if peer else []
        return shlex.join(words)


def measure_transfers(
    inventory: Inventory, facts: Mapping[str, Facts], connections: Mapping[str, Connection]
) -> list[Finding]:
    """Return findings about transfers between hosts with cards; pairs that share no host send at once.

    connections: by host; a host without one is left out.
    """
    ends = [end for end in ends_of(inventory, facts) if end.name in connections]
    findings: list[Finding] = []
    with ThreadPoolExecutor(max(1, len(ends) // 2)) as pool:
        for pairs in rounds(ends):
            findings += [
                each for each in pool.map(partial(_transfer, connections), pairs) if each is not None
            ]
    return findings


def rounds(ends: Sequence[End]) -> Iterator[list[tuple[End, End]]]:
    """Yield rounds that have each host at most once, and together every pair once (circle method)."""
    seats: list[End | None] = [*ends, *([None] if len(ends) % 2 else [])]
    for _ in range(len(seats) - 1):
        across = zip(seats[: len(seats) // 2], reversed(seats), strict=False)
        yield [(here, there) for here, there in across if here is not None and there is not None]
        seats.insert(1, seats.pop())


def ends_of(inventory: Inventory, facts: Mapping[str, Facts]) -> Iterator[End]:
    """Yield the card of each host that has one."""
    for host in inventory.hosts:
        ports = facts.get(host.name, {}).get("rdma_ports", [])
        own = next((port for port in ports if port["is_own"]), None)
        if own is not None and host.variables.rdma_device_kind == "card":
            yield End(host, own)


def _transfer(connections: Mapping[str, Connection], pair: tuple[End, End]) -> Finding | None:
    sender, receiver = pair
    what = f"transfer to {receiver.name} over the experiment network"
    try:
        output = transferred(connections, pair)
    except NodeError as error:
        if f"unrecognized option '{_OVER_IPV6}'" in str(error):
            got, expected = f"a perftest without {_OVER_IPV6}", "a later one, as addresses are of IPv6"
            advice = "without it RoCE between these hosts is untested"
            return Finding(sender.name, what, got, expected, advice, refuses=False)
        advice = "check GID, MTU and DSCP on the path: the same packets must pass at both ends and the switch"
        return Finding(sender.name, what, str(error), "a WRITE over RoCE that arrives", advice)
    return judge_bandwidth(pair, what, output)


def transferred(
    connections: Mapping[str, Connection], pair: tuple[End, End], options: Sequence[str] = ()
) -> str:
    """Return perftest's output at the sender, the first of the pair; NodeError if the transfer fails.

    The sender tries again while the server has not started yet.
    """
    sender, receiver = pair
    slower_bps = min(end.port.get("rate_bps", 0) for end in pair)
    pairs = ("-q", str(_QUEUE_PAIRS)) if slower_bps > _ONE_PAIR_BPS_MAX else ()
    serve, client = receiver.command(None, (*pairs, *options)), sender.command(receiver, (*pairs, *options))
    tries = f"for try in {' '.join(map(str, range(_TRIES)))}; do {client} && exit 0; sleep 1; done; exit 1"
    server = connections[receiver.name].open_session(f"timeout {LIMIT_S:.0f} {serve}")
    try:
        return connections[sender.name].run(
            f"timeout {LIMIT_S:.0f} sh -c {shlex.quote(tries)}", limit_s=REPLY_LIMIT_S
        )
    finally:
        server.close()


def least_share(payload: int, ip_version: int) -> float:
    """Return the share of the line rate that a transfer with this payload per packet must reach."""
    on_the_wire = payload + _WIRE_HEADERS_BYTES[ip_version]
    return min(LEAST_OF_LINE_RATE, _LEAST_OF_PAYLOAD * payload / on_the_wire)


def mean_gbps(output: str) -> float | None:
    """Return the mean rate in perftest's output, in Gb/s; None if there is none."""
    rows = _ROW.findall(output)
    return float(rows[-1]) if rows else None


def judge_bandwidth(pair: tuple[End, End], what: str, output: str) -> Finding | None:
    """Return the finding about a rate that is not near the line rate."""
    sender, receiver = pair
    gbps = mean_gbps(output)
    line_rate_bps = min(sender.port["rate_bps"], receiver.port["rate_bps"])
    variables = [end.host.variables for end in pair]
    share = min(
        least_share(payload_bytes(each.experiment_mtu), each.experiment_address.version) for each in variables
    )
    least_gbps = share * line_rate_bps / _BPS_PER_GBPS
    if gbps is not None and gbps >= least_gbps:
        return None
    got = "no result of ib_write_bw" if gbps is None else f"{gbps:g} Gb/s"
    expected = f"{least_gbps:.3g} Gb/s at least, {share:.2g} of the line rate"
    advice = "see who else uses the network, the card's slot (PCIe), pauses on the path, and its MTU"
    return Finding(sender.name, what, got, expected, advice)


_COUNTER: Final = re.compile(r"^\s*tx_prio_?(\d)_packets: (\d+)$", re.MULTILINE)
_MOST: Final = 0.5
"""The test's packets are in the priority with more than this share; the kernel sends some in others."""


def priorities_of_levels(
    connections: Mapping[str, Connection], sender: End, receiver: End
) -> dict[str, object]:
    """Return `priorities` by service level, None where nothing was counted, or the `reason` of a failure."""
    try:
        return {"priorities": [_priority(connections, sender, receiver, level) for level in range(8)]}
    except NodeError as error:
        return {"reason": str(error)}


def _priority(connections: Mapping[str, Connection], sender: End, receiver: End, level: int) -> int | None:
    before = sent_packets(connections[sender.name], str(sender.port["netdev"]))
    transferred(connections, (sender, receiver), ("-S", str(level)))
    after = sent_packets(connections[sender.name], str(sender.port["netdev"]))
    risen = {priority: count - before.get(priority, 0) for priority, count in after.items()}
    most = max(risen, key=lambda priority: risen[priority], default=None)
    return most if most is not None and risen[most] > _MOST * sum(risen.values()) else None


def sent_packets(connection: Connection, netdev: str) -> dict[int, int]:
    """Return the packets that left an interface, RDMA included, by priority."""
    output = connection.run(f"{WITH_PROGRAMS} ethtool -S {shlex.quote(netdev)}")
    return {int(priority): int(count) for priority, count in _COUNTER.findall(output)}


SCHEMA: Final = 1
REPORT_LIMIT_S: Final = 120.0
NAME: Final = "<name>"
_ADDRESS: Final = "<address>"
_PATTERNS: Final = {
    # IPv6, before the IPv4 at the end of one; also Ethernet addresses, GIDs and PCI addresses
    re.compile(r"(?<![\w:])(?=[:.]*[0-9a-f])(?:[0-9a-f]{0,4}:){2,}[0-9a-f.]*(?:%[\w.<>-]+)?", re.I): _ADDRESS,
    re.compile(r"(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)"): _ADDRESS,  # IPv4
    re.compile(r"(?<![\w-])(?:[0-9a-f]{2}-){5}[0-9a-f]{2}(?![\w-])", re.I): _ADDRESS,
    re.compile(r"(?<=/home/)[^/\s]+"): NAME,
}
_COMMON_USER: Final = "root"
"""A user that every node has, so the name identifies no one."""
_HOSTS: Final = 2
Bundle = Mapping[str, Any]
Scrub = Callable[[str], str]


def collect_cards(
    inventory: Inventory, open_connection: Callable[[Login], AbstractContextManager[Connection]] = connect
) -> str:
    """Return the JSON text about the first two hosts with cards; NodeError if one of them does not reply."""
    hosts = [host for host in inventory.hosts if host.variables.rdma_device_kind == "card"][:_HOSTS]
    if len(hosts) < _HOSTS:
        raise UsageError(
            f"inventory {inventory.path}: got {len(hosts)} hosts with cards, expected two; --card compares "
            "two cards of one kind."
        )
    with ExitStack() as stack:
        connections = {host.name: stack.enter_context(open_connection(host.login)) for host in hosts}
        replies = [_report(connections[host.name], host) for host in hosts]
        ends = [End(host, each["where"]) for host, each in zip(hosts, replies, strict=True)]
        between = {
            "service_levels": priorities_of_levels(connections, *ends),
            "uc_transfer": _uc(connections, *ends),
        }
    devices = [str(each["where"][key]) for each in replies for key in ("device", "netdev")]
    names = dict.fromkeys([*names_in(inventory), *devices], NAME)
    scrub = scrubbing(names | {host.name: f"card {number}" for number, host in enumerate(hosts)})
    cards = {"kind": "rogue-cards", "schema": SCHEMA, "cards": [each["card"] for each in replies]}
    return json.dumps(scrubbed({**cards, **between}, scrub), indent=1, sort_keys=True) + "\n"


def card_command(host: Host) -> str:
    """Return the command that a host runs, as root."""
    command = f"{WITH_PROGRAMS} python3 {AGENT} card {host.variables.experiment_address}"
    return command if host.login.user == "root" else f"sudo -n {command}"


def _report(connection: Connection, host: Host) -> Bundle:
    text = connection.run(card_command(host), limit_s=REPORT_LIMIT_S)
    try:
        reply: Any = parse_json(text.encode())
        where = {key: reply["where"][key] for key in ("device", "port", "gid_index", "netdev")}
        return {"card": dict(reply["card"].items()), "where": where}
    except (ValueError, KeyError, TypeError, AttributeError):
        got = " ".join(text.split())[:60]
        expected = "a report about its card, in JSON; provision it again."
        raise NodeError(f"{host.name}: got `{got}` from the agent, expected {expected}") from None


def _uc(connections: Mapping[str, Connection], sender: End, receiver: End) -> Bundle:
    """Return the rate of WRITEs over UC, which are not acknowledged."""
    try:
        gbps = mean_gbps(transferred(connections, (sender, receiver), ("-c", "UC")))
    except NodeError as error:
        return {"reason": str(error)}
    return {"reason": "no result of ib_write_bw"} if gbps is None else {"gbps": gbps}


def names_in(inventory: Inventory) -> frozenset[str]:
    """Return all names of nodes, interfaces and users in an inventory."""
    logins = [*inventory.logins, *(each.login for each in inventory.hardware_switches if each.login)]
    interfaces = [host.variables.experiment_interface or "" for host in inventory.hosts]
    switches = [each.name for each in inventory.hardware_switches]
    switches += [each.name for each in inventory.allocated_switches]
    return frozenset([*switches, *interfaces, *(name for login in logins for name in _names_of(login))])


def _names_of(login: Login) -> Iterator[str]:
    """Yield the names of a node and of its jump hosts; of a domain name also the first label."""
    yield from (login.node, login.address, login.user, login.name, login.host_key_alias)
    try:
        ip_address(login.address)
    except ValueError:
        yield login.address.partition(".")[0]
    if login.gateway is not None:
        yield from _names_of(login.gateway)


def scrubbing(words: Mapping[str, str]) -> Scrub:
    """Return a function that replaces each name by its word, and every address."""
    known = {name.lower(): word for name, word in words.items() if name not in {"", _COMMON_USER}}
    longest_first = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    names = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)" if known else r"(?!)", re.I)

    def scrub(text: str) -> str:
        text = names.sub(lambda found: known.get(found[0].lower(), NAME), text)
        for pattern, word in _PATTERNS.items():
            text = pattern.sub(word, text)
        return text

    return scrub


def scrubbed(content: object, scrub: Scrub) -> object:
    """Return the same mappings and lists, with every text scrubbed."""
    if isinstance(content, str):
        return scrub(content)
    if isinstance(content, Mapping):
        return {key: scrubbed(each, scrub) for key, each in content.items()}
    return [scrubbed(each, scrub) for each in content] if isinstance(content, list) else content
