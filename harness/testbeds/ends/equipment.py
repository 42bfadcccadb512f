"""What the traffic went through, in the words of facts."""

from collections.abc import Mapping, Sequence
from typing import Final

from rogue.agent.node.messages import Prepared
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.ends.roles import NodeFlow

LIMITERS: Final = {
    "none": "none",
    "htb": "tc htb (software)",
    "software": "release times of the agent (software)",
    "dcb": "dcb maxrate (hardware)",
}
CLOCKS: Final = {"host": "the host's clock (software)", "nic": "the NIC's clock (hardware)"}


def pacing_facts(flows: Sequence[NodeFlow], prepared: Mapping[str, Prepared]) -> dict[str, Fact]:
    """How rates are limited and what time is taken with, by the first flow that is no probe and no TCP.

    prepared: what roles said of themselves. A TCP asks neither for a limiter nor for a timestamp of ours.
    """
    first = next((flow for flow in flows if not flow.is_probe and flow.service != "tcp"), None)
    if first is None:
        return {"rate_limiter": LIMITERS["none"], "timestamps": None}
    limiter = prepared[first.role(first.source_end)].limiter
    clock = prepared[first.role("requester")].clock
    return {"rate_limiter": LIMITERS.get(limiter, limiter), "timestamps": CLOCKS.get(clock, clock)}
