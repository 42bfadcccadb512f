"""Whether RoCE's own packets come marked: two cards send to a third, whose firmware counts them.

Marks on UDP packets prove the switch. That a card sends ECN-capable packets, with the DSCP that the switch
marks, only marks on RoCE packets prove. The agent asks for both by a queue pair's traffic class. Of that mlx5
passes the DSCP alone: whether packets are ECN-capable is its firmware's choice.

Source: Linux, commit e1f24a79f424 (IB/mlx5: Support congestion related counters):
`np_ecn_marked_roce_packets` are the marked RoCE packets that the notification point received. mlx4 has none.
drivers/infiniband/hw/mlx5/qp.c (mlx5_set_path) has the DSCP.
No card has run this.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple

from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches.incasts import at_once
from rogue.harness.provisioning.transfers import (
    TCP_PORT,
    End,
    ends_of,
    least_share_between,
    mean_gbps,
    transferred,
    untried_over_ipv6,
)
from rogue.remote.errors import NodeError
from rogue.remote.shell import Shell

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
