"""Measure whether packets arrive marked, as the inventory declares."""

import json
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.places import AGENT
from rogue.remote.connection import Connection
from rogue.remote.errors import NodeError

HOSTS_MIN: Final = 3
LIMIT_S: Final = 60.0
REPLY_LIMIT_S: Final = LIMIT_S + 10
"""Longer than the `timeout` of a command, whose end the host reports."""
COUNTERS: Final = "cat /proc/net/netstat; cat /proc/net/snmp6 2>/dev/null || true"
_ARRIVED_MIN: Final = 0.05
"""Share of the sent packets; two senders at the rate of the port lose half of them."""
_LOST_MIN: Final = 0.01
_FULL: Final = 0.9
"""Share of the line rate above which a port counts as full without losses, as with pauses."""
_WHAT: Final = "marks by the switch"
_UNTESTED: Final = "what the inventory declares is believed"


class Arrived(NamedTuple):
    """Packets that a host's kernel received, by their two ECN bits (RFC 3168)."""

    not_capable: int
    capable: int
    marked: int


@dataclass(frozen=True, slots=True)
class FloodCounts:
    """Counts of a test: packets of two senders, their arrival, and marks while one sender was alone."""

    sent_packets: int
    sent_bytes: int
    seconds: float
    arrived: Arrived
    marked_alone: int

    @property
    def lost(self) -> float:
        """Return the share of the packets that did not arrive."""
        return 1 - sum(self.arrived) / self.sent_packets

    @property
    def received_bps(self) -> float:
        """Return the rate of the packets that arrived."""
        return 8 * self.sent_bytes * (1 - self.lost) / self.seconds

    def __str__(self) -> str:
        arrived = self.arrived
        return f"{sum(arrived)} packets, {arrived.marked} of them marked and {arrived.capable} that could be"


Flood = tuple[Arrived, list[dict[str, Any]]]
"""Packets that arrived, and the report of each sender."""


def measure_marks(
    inventory: Inventory, facts: Mapping[str, Facts], connections: Mapping[str, Connection]
) -> list[Finding]:
    """Return findings about marks that the inventory declares; without declared marks there are none.

    One host after the other receives from one and from two others, which together fill the port to it.
    connections: of all hosts.
    """
    switches = [switch for switch in inventory.hardware_switches if switch.variables.marking]
    if not switches:
        return []
    if len(inventory.hosts) < HOSTS_MIN:
        got, expected = f"{len(inventory.hosts)} hosts", "three, as one alone cannot fill the port to another"
        return [Finding(switches[0].name, _WHAT, got, expected, _UNTESTED, refuses=False)]
    findings: list[Finding] = []
    for number, receiver in enumerate(inventory.hosts):
        senders = [inventory.hosts[(number + step) % len(inventory.hosts)] for step in (1, 2)]
        rates_bps = [_line_rate_bps(facts.get(each.name, {})) for each in (receiver, senders[0])]
        try:
            alone, both = (_flood(connections, receiver, own) for own in (senders[:1], senders))
            finding = judge(receiver, _counts(alone, both), *rates_bps)
        except NodeError as error:
            advice = "try again, and see the agent's error there"
            finding = Finding(receiver.name, _WHAT, str(error), "packets that arrive", advice)
        findings += [finding] if finding else []
    return findings


def judge(
    receiver: Host, counts: FloodCounts, line_rate_bps: float | None = None, sender_bps: float | None = None
) -> Finding | None:
    """Return the finding about the switch's port to this host; None if its marks are right.

    line_rate_bps, sender_bps: of the ports of this host and of the host that sent alone; None if unknown, so
    that one host may fill the port.
    """
    arrived, got, sent = counts.arrived, str(counts), counts.sent_packets
    if sum(arrived) < _ARRIVED_MIN * sent:
        advice = "see what drops packets with this DSCP: the switch, its access lists, or a firewall"
        return Finding(receiver.name, _WHAT, got, f"most of {sent} packets that two hosts sent", advice)
    if counts.marked_alone and sender_bps and line_rate_bps and sender_bps <= line_rate_bps:
        got = f"{counts.marked_alone} marked packets while one host alone sent"
        advice = (
            "see what marks before the switch: a queue of the host such as fq_codel, or a threshold near 0"
        )
        return Finding(receiver.name, _WHAT, got, "none, as one host fills no port", advice)
    if arrived.marked:
        return None
    if arrived.not_capable > arrived.capable:
        expected = "packets that are ECN-capable, as they were sent"
        advice = "see what rewrites the ECN bits on the path: the switch, or its trust of DSCP"
        return Finding(receiver.name, _WHAT, got, expected, advice)
    if not _is_full(counts, line_rate_bps):
        got = f"{got}, at {counts.received_bps / 1e9:.3g} Gb/s and with no loss"
        expected = "a full port, which two hosts could not fill"
        return Finding(receiver.name, _WHAT, got, expected, _UNTESTED, refuses=False)
    advice = "set the switch up to mark packets with this DSCP, or correct switch_priorities"
    return Finding(receiver.name, _WHAT, got, "marked ones among them, as its port was full", advice)


def _is_full(counts: FloodCounts, line_rate_bps: float | None) -> bool:
    """True if the port was full; losses alone do not show it, because a slow host also loses packets."""
    has_lost = counts.lost > _LOST_MIN
    if line_rate_bps is None:
        return has_lost
    is_offered = 8 * counts.sent_bytes / counts.seconds >= line_rate_bps
    return (has_lost and is_offered) or counts.received_bps > _FULL * line_rate_bps


def arrived_until_now(counters: str) -> Arrived:
    """Parse the ECN counters in the output of COUNTERS; NodeError if there are none.

    IPv4 has a line of names and a line of numbers, IPv6 a line for each counter.
    """
    rows = [line.split() for line in counters.splitlines() if line.startswith("IpExt:")]
    if len(rows) != 2:
        raise NodeError(f"got {len(rows)} lines IpExt in /proc/net/netstat, expected two")
    found = dict(zip(rows[0], rows[1], strict=True))
    found |= {line.split()[0]: line.split()[1] for line in counters.splitlines() if line.startswith("Ip6In")}
    numbers = [
        int(found[f"In{kind}Pkts"]) + int(found.get(f"Ip6In{kind}Pkts", 0))
        for kind in ("NoECT", "ECT0", "ECT1", "CE")
    ]
    return Arrived(numbers[0], numbers[1] + numbers[2], numbers[3])


def flood_command(sender: Host, receiver: Host) -> str:
    """Return the command of a sender, which needs no root."""
    words = ["timeout", f"{LIMIT_S:.0f}", "python3", AGENT, "flood"]
    words += [str(receiver.variables.experiment_address), "--dscp", str(sender.variables.dscp or 0)]
    return shlex.join([*words, "--mtu", str(sender.variables.experiment_mtu)])


def _counts(alone: Flood, both: Flood) -> FloodCounts:
    arrived, sent = both
    return FloodCounts(
        sum(each["packets"] for each in sent),
        sum(each["bytes"] for each in sent),
        max(each["seconds"] for each in sent),
        arrived,
        alone[0].marked,
    )


def _flood(connections: Mapping[str, Connection], receiver: Host, senders: Sequence[Host]) -> Flood:
    before = arrived_until_now(connections[receiver.name].run(COUNTERS))
    with ThreadPoolExecutor(len(senders)) as pool:
        sent = list(pool.map(lambda each: _send(connections[each.name], each, receiver), senders))
    after = arrived_until_now(connections[receiver.name].run(COUNTERS))
    return Arrived(*(now - then for now, then in zip(after, before, strict=True))), sent


def _send(connection: Connection, sender: Host, receiver: Host) -> dict[str, Any]:
    """Return the report of a sender; NodeError if it is not JSON."""
    output = connection.run(flood_command(sender, receiver), limit_s=REPLY_LIMIT_S)
    try:
        found: dict[str, Any] = json.loads(output)
    except ValueError:
        got = f"got `{output[:60].strip()}` from the agent"
        raise NodeError(f"{sender.name}: {got}, expected its report in JSON") from None
    return found


def _line_rate_bps(facts: Facts) -> float | None:
    """Return the rate of the card's port; None for soft-RoCE, whose reported rate means nothing."""
    own = next((port for port in facts.get("rdma_ports", []) if port["is_own"]), None)
    return own["rate_bps"] if own and own.get("hca_type") else None
