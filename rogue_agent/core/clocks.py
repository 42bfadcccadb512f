"""The two clocks of an agent, and the deadlines of a connection."""

from enum import Enum, unique
from typing import NamedTuple, NewType

HostNs = NewType("HostNs", int)
"""Nanoseconds of the host's monotonic clock."""

NicNs = NewType("NicNs", int)
"""Nanoseconds of the NIC's free-running clock."""


def earlier(one_ns: HostNs | None, other_ns: HostNs | None) -> HostNs | None:
    """Return the earlier of two instants; None is never."""
    if one_ns is None or (other_ns is not None and other_ns < one_ns):
        return other_ns
    return one_ns


@unique
class DeadlineReason(Enum):
    """Reason for a connection's timer."""

    FLUSH = "completions of the verbs that a failed queue pair flushes"
    RESYNC = "the peer's reply about a lost queue pair"
    ACKNOWLEDGEMENT = "the peer's acknowledgement of a batch over UC"


class Deadline(NamedTuple):
    """Next instant at which `on_timer` must be called, and why."""

    host_ns: HostNs
    reason: DeadlineReason
