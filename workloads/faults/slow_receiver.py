"""A NIC that takes packets in slowly."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from rogue.workloads.faults.fault import FaultyNetwork, HostFault
from rogue.workloads.specification import Delay, Rate, Size, Time, mistake, mistakes_at


class SlowReceiver(HostFault):
    """A host's NIC takes in frame bytes at a limited rate, and pauses its switch when they pile up.

    So did NICs whose cache of page addresses was too small: the network is idle, and pauses spread in it.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.4.
    """

    is_pausing: ClassVar[bool] = True
    kind: Literal["slow_receiver"] = "slow_receiver"
    rate_bps: Rate
    """What the NIC takes in."""
    at_ns: Delay = 0
    """When it begins."""
    duration_ns: Time | None = None
    """How long it lasts; by default to the end."""
    buffer_bytes: Size = 256_000
    """What the NIC holds; what comes beyond is lost."""
    xoff_bytes: Size = 128_000
    """With more than this waiting, the NIC pauses its switch."""
    xon_bytes: Size = 64_000
    """With no more than this waiting, the NIC lets its switch go on."""

    def changes(self) -> list[tuple[int, str]]:
        """Return when the NIC becomes slow, and when that ends."""
        end = [] if self.duration_ns is None else [(self.at_ns + self.duration_ns, "slow_receiver_ends")]
        return [(self.at_ns, "slow_receiver_begins"), *end]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.xon_bytes >= self.xoff_bytes:
            raise mistakes_at({"xon": mistake(f"less than xoff, {self.xoff_bytes} bytes", "lower it")})
        if self.xoff_bytes >= self.buffer_bytes:
            raise mistakes_at({"xoff": mistake(f"less than buffer, {self.buffer_bytes} bytes", "lower it")})
        return self

    def strike(self, network: FaultyNetwork) -> None:
        """Let the NIC be slow for that time."""
        network.receive_slowly(
            self.target,
            rate_bps=self.rate_bps,
            start_ns=self.at_ns,
            duration_ns=self.duration_ns,
            buffer_bytes=self.buffer_bytes,
            xoff_bytes=self.xoff_bytes,
            xon_bytes=self.xon_bytes,
        )
