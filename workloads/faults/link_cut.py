"""A link that goes down and comes back."""

from typing import Literal

from workloads.faults.fault import Fault
from workloads.specification import Delay, Time


class LinkCut(Fault):
    """A link that carries nothing for a while: what is on it is lost, what comes is dropped."""

    kind: Literal["link_cut"] = "link_cut"
    at_ns: Delay
    """When it goes down."""
    duration_ns: Time
    """How long it is down."""
