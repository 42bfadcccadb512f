"""Assign the card's limiters to flows with rates: one each, or turns at the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rogue.harness.cell.demand import PlannedFlow
from rogue.workloads.topologies import Topology

PRIORITIES: Final = 7
"""Traffic classes with a limiter, from 1; class 0 has none."""


@dataclass(frozen=True, slots=True)
class LimiterClass:
    """Of the end that the bytes leave."""

    priority: int = 0
    """0 where the agent sets no rates. A flow that takes turns only begins with it."""
    turns: tuple[int, ...] = ()
    """Priorities whose limiters it shares by turns; none if its own is its own."""


def limiters_of(topology: Topology) -> int:
    """How many limiters each host's card has for flows."""
    return topology.nic_limiters or PRIORITIES


def can_take_turns(planned: PlannedFlow) -> bool:
    """True if a flow can move from one limiter to another, which needs a moment with nothing outstanding.

    A responder to READs cannot request that. Over UC the queue pair loses for good what its peer
    sends while it is moved.
    """
    return planned.flow.verb != "read" and planned.carrier.transport.service == "rc"


def limiter_classes(flows: Sequence[PlannedFlow], limiters: int) -> list[LimiterClass]:
    """The limiters of all flows with rates that leave one host.

    As long as there are enough, each has one. Then those that cannot take turns keep theirs. `short_of`
    refuses hosts where none is left for the others; flows whose batches are held back may share one.
    """
    if len(flows) <= limiters:
        return [LimiterClass(number) for number in range(1, len(flows) + 1)]
    kept = sum(not can_take_turns(flow) for flow in flows)
    turns = tuple(range(kept + 1, limiters + 1))
    classes, number = [], 0
    for flow in flows:
        if turns and can_take_turns(flow):
            classes.append(LimiterClass(turns[0], turns))
        else:
            classes.append(LimiterClass(1 + number % limiters))
            number += 1
    return classes


def short_of(host: str, flows: Iterable[PlannedFlow], limiters: int) -> str | None:
    """Why a host has too few limiters for its flows with rates, with turns; None if not."""
    moving = [can_take_turns(flow) for flow in flows]
    kept = moving.count(False)
    if len(moving) <= limiters or kept + any(moving) <= limiters:
        return None
    return (
        f"{host} sends {len(moving)} flows that have rates of their own, and its card has {limiters} "
        f"limiters for them: {kept} respond to READs or go over unreliable connections, which keep a limiter "
        "each and take no turns; let it send fewer of these"
    )
