"""What the port of a Linux switch has counted, read from what `tc -s -j` prints."""

from dataclasses import dataclass
from typing import Any

from rogue.harness.provisioning.ports import QUEUE_HANDLE


@dataclass(frozen=True, slots=True)
class PortCounters:
    """What a port has counted since its settings were applied."""

    sent_bytes: int = 0
    sent_packets: int = 0
    dropped_packets: int = 0
    """The queue was full."""
    lost_packets: int = 0
    """Lost on purpose."""
    marked_packets: int = 0
    backlog_bytes: int = 0
    """In the queue now."""


def port_counters(disciplines: list[dict[str, Any]], filtered_packets: int) -> PortCounters:
    """Sum up what the disciplines of one interface have counted.

    netem counts what its inner disciplines drop among its own drops.
    """
    root = next((each for each in disciplines if each.get("root")), None)
    if root is None:
        return PortCounters()
    queue = next((each for each in disciplines if each["handle"] == f"{QUEUE_HANDLE}:"), None)
    is_netem = root["kind"] == "netem"
    dropped = queue["drops"] if queue else (0 if is_netem else root["drops"])
    return PortCounters(
        sent_bytes=root["bytes"],
        sent_packets=root["packets"],
        dropped_packets=dropped,
        lost_packets=filtered_packets + (root["drops"] - dropped if is_netem else 0),
        marked_packets=(queue or root).get("marked", 0),
        backlog_bytes=(queue or root)["backlog"],
    )


def waiting_packets(disciplines: list[dict[str, Any]]) -> int:
    """Packets in the queue of one interface and on the cable behind it, which netem emulates."""
    return next((int(each["qlen"]) for each in disciplines if each.get("root")), 0)


def filter_drops(filters: list[dict[str, Any]]) -> int:
    """Packets that actions of filters have dropped."""
    actions = [action for each in filters for action in each.get("options", {}).get("actions", [])]
    return sum(int(action.get("stats", {}).get("drops", 0)) for action in actions)
