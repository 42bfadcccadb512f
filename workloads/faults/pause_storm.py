"""A NIC that pauses its switch all the time."""

from typing import ClassVar, Literal

from rogue.workloads.faults.fault import FaultyNetwork, HostFault
from rogue.workloads.specification import Delay, Time


class PauseStorm(HostFault):
    """A host's NIC breaks: it pauses its switch all the time, sends nothing else and takes nothing in.

    Under priority flow control packets for that host then block all others, and the pauses spread.
    `topology.pause_watchdog` sets watchdogs in the switches, `nic_watchdog` one in the NIC.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.3.
    """

    is_pausing: ClassVar[bool] = True
    kind: Literal["pause_storm"] = "pause_storm"
    at_ns: Delay
    """When it begins."""
    duration_ns: Time
    """How long the NIC is broken."""
    nic_watchdog_ns: Time | None = None
    """A watchdog in the NIC ends the pauses after that time; the NIC stays broken."""

    def changes(self) -> list[tuple[int, str]]:
        """Return when the NIC breaks, and when it is whole again."""
        return [(self.at_ns, "pause_storm_begins"), (self.at_ns + self.duration_ns, "pause_storm_ends")]

    def strike(self, network: FaultyNetwork) -> None:
        """Let the NIC break for that time."""
        network.pause_storm(
            self.target,
            start_ns=self.at_ns,
            duration_ns=self.duration_ns,
            watchdog_ns=self.nic_watchdog_ns,
        )
