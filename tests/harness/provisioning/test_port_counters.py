"""Counters of a port, from what tc prints of its disciplines and filters."""

from typing import Any

from rogue.harness.provisioning.ports import (
    PortCounters,
    filter_drops,
    port_counters,
    waiting_packets,
)


def discipline(kind: str, handle: str, **counted: object) -> dict[str, Any]:
    """One element of what `tc -s -j qdisc show` prints."""
    empty = {"dev": "eth1", "bytes": 0, "packets": 0, "drops": 0, "backlog": 0}
    return {**empty, "kind": kind, "handle": handle, **counted}


def test_netems_own_losses_are_told_from_the_queues_drops() -> None:
    counted = [
        discipline("netem", "1:", root=True, bytes=900, packets=9, drops=10),
        discipline("htb", "2:", parent="1:1", drops=7),
        discipline("red", "3:", parent="2:10", drops=7, marked=20, backlog=30),
    ]
    assert port_counters(counted, 0) == PortCounters(900, 9, 7, 3, 20, 30)


def test_without_a_rate_the_drops_are_the_kernels_own_queues() -> None:
    alone = [discipline("fq_codel", "0:", root=True, drops=2)]
    assert port_counters(alone, 0) == PortCounters(dropped_packets=2)
    lossy = [discipline("netem", "1:", root=True, drops=2)]
    assert port_counters(lossy, 0) == PortCounters(lost_packets=2)


def test_what_waits_is_what_the_root_holds() -> None:
    tree = [discipline("htb", "2:", qlen=3), discipline("netem", "1:", root=True, qlen=5)]
    assert waiting_packets(tree) == 5
    assert waiting_packets([]) == 0


def test_filters_without_actions_have_dropped_nothing() -> None:
    assert filter_drops([{"kind": "u32"}, {"options": {"actions": [{}]}}]) == 0
