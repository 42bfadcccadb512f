"""Measure whether packets arrive marked, as the inventory declares."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.places import AGENT
from rogue.remote.connection import Shell
from rogue.remote.errors import NodeError

_GROUP: Final = 3
"""A receiver and two senders, which together fill its port."""


class _Named(Protocol):
    """A host, or its card."""

    @property
    def name(self) -> str:
        """Name of the host."""


HostT = TypeVar("HostT", bound=_Named)


def at_once(
    inventory: Inventory, hosts: Sequence[HostT]
) -> Iterator[list[tuple[HostT, tuple[HostT, HostT]]]]:
    """Yield groups of receivers with two senders each that may send at the same time.

    The groups share no link between switches. hosts: at least three.
    """
    switches = {
        port.peer: switch.name
        for switch in inventory.hardware_switches
        for port in switch.variables.switch_ports
    }
    has_one = len(inventory.hardware_switches) == 1
    for groups in incasts(hosts):
        local = []
        for receiver, senders in groups:
            places = {switches.get(each.name, each.name) for each in (receiver, *senders)}
            if has_one or len(places) == 1:
                local.append((receiver, senders))
            else:
                yield [(receiver, senders)]
        if local:
            yield local


def incasts(hosts: Sequence[HostT]) -> Iterator[list[tuple[HostT, tuple[HostT, HostT]]]]:
    """Yield rounds in which no host takes part twice; each host receives once, from two others."""
    whole = len(hosts) - len(hosts) % _GROUP
    groups = [hosts[first : first + _GROUP] for first in range(0, whole, _GROUP)]
    for turn in range(_GROUP):
        turned = [(*group[turn:], *group[:turn]) for group in groups]
        yield [(receiver, (first, second)) for receiver, first, second in turned]
    for receiver in hosts[whole:]:
        yield [(receiver, (hosts[0], hosts[1]))]


Flooded = tuple["Arrived", list[dict[str, Any]]]
"""Packets that arrived, and the report of each sender."""
HOSTS_MIN: Final = 3
LIMIT_S: Final = 60.0
COUNTERS: Final = "cat /proc/net/netstat; cat /proc/net/snmp6 2>/dev/null || true"
_ARRIVED_MIN: Final = 0.05
"""Share of the sent packets; two senders at the rate of the port lose half of them."""
_LOST_MIN: Final = 0.01
_FULL: Final = 0.9
"""Share of the line rate above which a port counts as full without losses, as with pauses."""
_WHAT: Final = "marks by the switch"
_BELIEVED: Final = "what the inventory declares is believed"


@dataclass(frozen=True, slots=True)
class Arrived:
    """Packets that a host's kernel received, by their two ECN bits (RFC 3168)."""

    not_capable: int
    capable: int
    marked: int

    def __sub__(self, before: "Arrived") -> "Arrived":
        return Arrived(
            self.not_capable - before.not_capable,
            self.capable - before.capable,
            self.marked - before.marked,
        )

    @property
    def packets(self) -> int:
        """All of them."""
        return self.not_capable + self.capable + self.marked


@dataclass(frozen=True, slots=True)
class Heard:
    """Counts of a test: packets of two senders, their arrival, and marks while one sender was alone."""

    sent_packets: int
    sent_bytes: int
    seconds: float
    arrived: Arrived
    marked_alone: int

    @property
    def lost(self) -> float:
        """Share of the packets that did not arrive."""
        return 1 - self.arrived.packets / self.sent_packets

    @property
    def received_bps(self) -> float:
        """Rate of what arrived."""
        return 8 * self.sent_bytes * (1 - self.lost) / self.seconds


def measure_marks(
    inventory: Inventory, facts: Mapping[str, Facts], shells: Mapping[str, Shell]
) -> list[Finding]:
    """Return findings about marks that the inventory declares; without declared marks there are none.

    shells: of all hosts.
    """
    switches = [switch for switch in inventory.hardware_switches if switch.variables.marking]
    if not switches:
        return []
    if len(inventory.hosts) < HOSTS_MIN:
        got, expected = f"{len(inventory.hosts)} hosts", "three, as one alone cannot fill the port to another"
        return [Finding(switches[0].name, _WHAT, got, expected, _BELIEVED, refuses=False)]
    findings: list[Finding] = []
    with ThreadPoolExecutor(len(inventory.hosts)) as pool:
        for groups in at_once(inventory, inventory.hosts):
            alone = [pool.submit(_flooded, shells, receiver, senders[:1]) for receiver, senders in groups]
            wait(alone)
            both = [pool.submit(_flooded, shells, receiver, senders) for receiver, senders in groups]
            for (receiver, senders), one, two in zip(groups, alone, both, strict=True):
                rates_bps = [_line_rate_bps(facts.get(each.name, {})) for each in (receiver, senders[0])]
                try:
                    finding = judge(receiver, _heard(one.result(), two.result()), *rates_bps)
                except NodeError as error:
                    advice = "try again, and see what the agent says there"
                    finding = Finding(receiver.name, _WHAT, str(error), "packets that arrive", advice)
                findings += [finding] if finding else []
    return findings


def judge(
    receiver: Host, heard: Heard, line_rate_bps: float | None = None, sender_bps: float | None = None
) -> Finding | None:
    """Return the finding about the switch's port to this host; None if its marks are right.

    line_rate_bps, sender_bps: of the ports of this host and of the host that sent alone; None if unknown, so
    that one host may fill the port.
    """
    arrived, sent = arrived_words(heard), heard.sent_packets
    if heard.arrived.packets < _ARRIVED_MIN * sent:
        advice = "see what drops packets with this DSCP: the switch, its access lists, or a firewall"
        return Finding(receiver.name, _WHAT, arrived, f"most of {sent} packets that two hosts sent", advice)
    if heard.marked_alone and sender_bps and line_rate_bps and sender_bps <= line_rate_bps:
        got = f"{heard.marked_alone} marked packets while one host alone sent"
        advice = (
            "see what marks before the switch: a queue of the host such as fq_codel, or a threshold near 0"
        )
        return Finding(receiver.name, _WHAT, got, "none, as one host fills no port", advice)
    if heard.arrived.marked:
        return None
    if heard.arrived.not_capable > heard.arrived.capable:
        advice = "see what rewrites the ECN bits on the way: the switch, or its trust of DSCP"
        return Finding(
            receiver.name, _WHAT, arrived, "packets that are ECN-capable, as they were sent", advice
        )
    if not _is_full(heard, line_rate_bps):
        return Finding(
            receiver.name, _WHAT, f"{arrived}, at {heard.received_bps / 1e9:.3g} Gb/s and with no loss",
            "a full port, which two hosts could not fill", _BELIEVED, refuses=False,
        )  # fmt: skip
    advice = "set the switch up to mark packets with this DSCP, or correct switch_priorities"
    return Finding(receiver.name, _WHAT, arrived, "marked ones among them, as its port was full", advice)


def _is_full(heard: Heard, line_rate_bps: float | None) -> bool:
    """True if the port was full; losses alone do not show it, because a slow host also loses packets."""
    has_lost = heard.lost > _LOST_MIN
    if line_rate_bps is None:
        return has_lost
    is_offered = 8 * heard.sent_bytes / heard.seconds >= line_rate_bps
    return (has_lost and is_offered) or heard.received_bps > _FULL * line_rate_bps


def arrived_words(heard: Heard) -> str:
    """Return the counts as part of a sentence."""
    arrived = heard.arrived
    return f"{arrived.packets} packets, {arrived.marked} of them marked and {arrived.capable} that could be"


def arrived_until_now(said: str) -> Arrived:
    """Parse the ECN counters of COUNTERS; NodeError if there are none.

    IPv4 has a line of names and a line of numbers, IPv6 a line for each counter.
    """
    rows = [line.split() for line in said.splitlines() if line.startswith("IpExt:")]
    if len(rows) != 2:
        raise NodeError(f"got {len(rows)} lines IpExt in /proc/net/netstat, expected two")
    counters = dict(zip(rows[0], rows[1], strict=True))
    counters |= {line.split()[0]: line.split()[1] for line in said.splitlines() if line.startswith("Ip6In")}
    numbers = [
        int(counters[f"In{kind}Pkts"]) + int(counters.get(f"Ip6In{kind}Pkts", 0))
        for kind in ("NoECT", "ECT0", "ECT1", "CE")
    ]
    return Arrived(numbers[0], numbers[1] + numbers[2], numbers[3])


def flood_command(sender: Host, receiver: Host) -> str:
    """Return the command of a sender, which needs no root."""
    words = ["timeout", f"{LIMIT_S:.0f}", "python3", AGENT, "flood"]
    words += [str(receiver.variables.experiment_address), "--dscp", str(sender.variables.dscp or 0)]
    return shlex.join([*words, "--mtu", str(sender.variables.experiment_mtu)])


def _heard(alone: Flooded, both: Flooded) -> Heard:
    arrived, sent = both
    return Heard(
        sum(each["packets"] for each in sent),
        sum(each["bytes"] for each in sent),
        max(each["seconds"] for each in sent),
        arrived,
        alone[0].marked,
    )


def _flooded(shells: Mapping[str, Shell], receiver: Host, senders: Sequence[Host]) -> Flooded:
    before = arrived_until_now(shells[receiver.name].run(COUNTERS))
    with ThreadPoolExecutor(len(senders)) as pool:
        sent = list(pool.map(lambda each: _sent(shells[each.name], each, receiver), senders))
    return arrived_until_now(shells[receiver.name].run(COUNTERS)) - before, sent


def _sent(shell: Shell, sender: Host, receiver: Host) -> dict[str, Any]:
    """Return the report of a sender; NodeError if it is not JSON."""
    said = shell.run(flood_command(sender, receiver), limit_s=LIMIT_S)
    try:
        found: dict[str, Any] = json.loads(said)
    except ValueError:
        got = f"got `{said[:60].strip()}` from the agent"
        raise NodeError(f"{sender.name}: {got}, expected what it sent, in JSON") from None
    return found


def _line_rate_bps(facts: Facts) -> float | None:
    """Return the rate of the card's port; None for soft-RoCE, whose reported rate means nothing."""
    own = next((port for port in facts.get("rdma_ports", []) if port["is_asked_for"]), None)
    return own["rate_bps"] if own and own.get("hca_type") else None
