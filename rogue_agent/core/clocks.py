"""The two clocks an agent sees, as types that mypy refuses to mix.

The host clock drives timers and stamps the application's transfers. The NIC clock stamps posts and
completions; it has its own zero and drifts by tens of parts per million, so that no difference between the
two means anything.
"""

from typing import NewType

HostNs = NewType("HostNs", int)
"""Nanoseconds of the host's monotonic clock."""

NicNs = NewType("NicNs", int)
"""Nanoseconds of the NIC's free-running clock."""


def earlier(one_ns: HostNs | None, other_ns: HostNs | None) -> HostNs | None:
    """The first of two instants, of which None never comes."""
    if one_ns is None or (other_ns is not None and other_ns < one_ns):
        return other_ns
    return one_ns
