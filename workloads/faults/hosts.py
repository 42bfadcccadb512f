"""Faults of a host's NIC."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from rogue.workloads.faults.fault import FaultyNetwork, HostFault
from rogue.workloads.specification import Delay, Rate, Size, Time, mistake, mistakes_at


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
        return [(self.at_ns, "pause_storm_begins"), (self.at_ns + self.duration_ns, "pause_storm_ends")]

    def strike(self, network: FaultyNetwork) -> None:
        network.pause_storm(
            self.target,
            start_ns=self.at_ns,
            duration_ns=self.duration_ns,
            watchdog_ns=self.nic_watchdog_ns,
        )


class SlowReceiver(HostFault):
    """A host's NIC takes in frame bytes at a limited rate, and pauses its switch when they pile up. A switch
    without PFC ignores that, so that the NIC loses frames.

    NICs with too small a cache of page addresses behaved like this: pauses spread in an idle network.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.4.
    """

    is_pausing: ClassVar[bool] = True
    kind: Literal["slow_receiver"] = "slow_receiver"
    rate_bps: Rate
    """Rate at which the NIC takes in frames."""
    at_ns: Delay = 0
    """When it begins."""
    duration_ns: Time | None = None
    """How long it lasts; by default to the end."""
    buffer_bytes: Size = 256_000
    """Buffer of the NIC; frames beyond it are lost."""
    xoff_bytes: Size = 128_000
    """Above this many waiting bytes the NIC pauses its switch."""
    xon_bytes: Size = 64_000
    """At or below this many waiting bytes the NIC lets its switch send again."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.xon_bytes >= self.xoff_bytes:
            raise mistakes_at({"xon": mistake(f"less than xoff, {self.xoff_bytes} bytes", "lower it")})
        if self.xoff_bytes >= self.buffer_bytes:
            raise mistakes_at({"xoff": mistake(f"less than buffer, {self.buffer_bytes} bytes", "lower it")})
        return self

    def changes(self) -> list[tuple[int, str]]:
        end = [] if self.duration_ns is None else [(self.at_ns + self.duration_ns, "slow_receiver_ends")]
        return [(self.at_ns, "slow_receiver_begins"), *end]

    def strike(self, network: FaultyNetwork) -> None:
        network.receive_slowly(
            self.target,
            rate_bps=self.rate_bps,
            start_ns=self.at_ns,
            duration_ns=self.duration_ns,
            buffer_bytes=self.buffer_bytes,
            xoff_bytes=self.xoff_bytes,
            xon_bytes=self.xon_bytes,
        )
