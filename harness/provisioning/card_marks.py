"""Measure between hosts whether RoCE packets arrive marked and in which priority they leave."""

import re
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple

from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.measured_marks import at_once
from rogue.harness.provisioning.places import WITH_PROGRAMS
from rogue.harness.provisioning.rdma_transfers import (
    TCP_PORT,
    End,
    ends_of,
    least_share_between,
    mean_gbps,
    transferred,
    untried_over_ipv6,
)
from rogue.remote.connection import Shell
from rogue.remote.errors import NodeError

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
