"""Where NIC timestamps come from: the host's clock, because completion events come without the NIC's own.

pyverbs can arm and wait only for plain completion queues, and only extended ones carry timestamps. In event
mode the time of a completion is therefore the host clock read right after the poll that found it, and the
time of a post the same clock read just before. Both are of one clock, as the RTT estimator needs.
"""

import time

from rogue_agent.core.clocks import HostNs, NicNs

NAME = "host"


def host_ns() -> HostNs:
    """Read the clock that timers run on."""
    return HostNs(time.monotonic_ns())


def nic_ns() -> NicNs:
    """Read the clock that stamps posts and completions."""
    return NicNs(time.monotonic_ns())
