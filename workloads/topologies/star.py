"""One switch with every host on a link of its own."""

from typing import Annotated, Literal

from pydantic import Field

from workloads.specification import Delay, Rate, SizeOrUnbounded
from workloads.topologies.topology import HostCount, Link, Switch, Topology


class Star(Topology):
    """One switch with every host on a link of its own: the smallest network that has an incast."""

    kind: Literal["star"] = "star"
    hosts: HostCount
    """How many hosts."""
    rate_bps: Rate
    """Rate of every link."""
    delay_ns: Delay = 1_000
    """Propagation delay of every link, one way."""
    buffer_bytes: SizeOrUnbounded = 9_000_000
    """Buffer of the switch, shared by its ports; `unbounded` never drops."""
    alpha: Annotated[float, Field(gt=0, le=64)] = 1.0
    """A port may queue alpha times what is free in the buffer."""

    def host_names(self) -> tuple[str, ...]:
        """h0, h1, ..."""
        return tuple(f"h{index}" for index in range(self.hosts))

    def switches(self) -> tuple[Switch, ...]:
        """The one switch, s0."""
        return (Switch("s0", self.buffer_bytes, self.alpha),)

    def links(self) -> tuple[Link, ...]:
        """One link per host."""
        return tuple(Link(host, "s0", self.rate_bps, self.delay_ns) for host in self.host_names())
