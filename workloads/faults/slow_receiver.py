"""A NIC that takes in less than its link brings."""

from typing import Literal, Self

from pydantic import model_validator

from workloads.faults.host_fault import HostFault
from workloads.mistakes import mistake, mistakes_at
from workloads.specification import Delay, Rate, Size, Time


class SlowReceiver(HostFault):
    """A host's NIC takes in only so many frame bytes per second, and pauses its switch when they pile up.

    So did NICs whose cache of page addresses was too small: the network is idle, and pauses spread in it.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.4.
    """

    kind: Literal["slow_receiver"] = "slow_receiver"
    rate_bps: Rate
    """So much it takes in."""
    at_ns: Delay = 0
    """When it begins."""
    duration_ns: Time | None = None
    """How long it lasts; by default to the end."""
    buffer_bytes: Size = 256_000
    """What comes when so much waits in the NIC is lost."""
    xoff_bytes: Size = 128_000
    """Above so much it pauses its switch."""
    xon_bytes: Size = 64_000
    """Down to so much it lets it go on."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.xon_bytes >= self.xoff_bytes:
            raise mistakes_at({"xon": mistake(f"less than xoff, {self.xoff_bytes} bytes", "lower it")})
        if self.xoff_bytes >= self.buffer_bytes:
            raise mistakes_at({"xoff": mistake(f"less than buffer, {self.buffer_bytes} bytes", "lower it")})
        return self
