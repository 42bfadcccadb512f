"""The two clocks of an agent."""

from typing import NewType

HostNs = NewType("HostNs", int)
"""Nanoseconds of the host's monotonic clock."""

NicNs = NewType("NicNs", int)
"""Nanoseconds of the NIC's free-running clock."""


def earlier(one_ns: HostNs | None, other_ns: HostNs | None) -> HostNs | None:
    """Return the earlier of two instants; None is never."""
    if one_ns is None or (other_ns is not None and other_ns < one_ns):
        return other_ns
    return one_ns
