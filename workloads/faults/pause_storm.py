"""A NIC that pauses its switch for ever."""

from typing import Literal

from workloads.faults.host_fault import HostFault
from workloads.specification import Delay, Time


class PauseStorm(HostFault):
    """A host's NIC breaks: it pauses its switch all the time, sends nothing else and takes nothing in.

    Under priority flow control whatever waits for that host then stands in the way of all others, and the
    pauses spread. `topology.pause_watchdog` sets watchdogs in the switches, `nic_watchdog` one in the NIC.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.3.
    """

    kind: Literal["pause_storm"] = "pause_storm"
    at_ns: Delay
    """When it begins."""
    duration_ns: Time
    """How long the NIC is broken."""
    nic_watchdog_ns: Time | None = None
    """A watchdog in the NIC ends the pauses after that time; the NIC stays broken."""
