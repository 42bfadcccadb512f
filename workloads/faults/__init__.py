"""The faults that an experiment can name."""

from typing import Final

from rogue.workloads.faults.fault import (
    Breakage,
    Fault,
    ForwardingFault,
    HostFault,
    TargetedFault,
)
from rogue.workloads.faults.forwarding import Flooding, Misrouting
from rogue.workloads.faults.hosts import PauseStorm, SlowReceiver
from rogue.workloads.faults.link_cuts import LinkCut, LinkFailures
from rogue.workloads.faults.loss import Loss
from rogue.workloads.faults.packet_event import PacketEvent

__all__ = [
    "FAULTS",
    "Breakage",
    "Fault",
    "Flooding",
    "ForwardingFault",
    "HostFault",
    "LinkCut",
    "LinkFailures",
    "Loss",
    "Misrouting",
    "PacketEvent",
    "PauseStorm",
    "SlowReceiver",
    "TargetedFault",
]

FAULTS: Final[dict[str, type[Fault]]] = {
    "link_cut": LinkCut,
    "link_failures": LinkFailures,
    "loss": Loss,
    "packet_event": PacketEvent,
    "pause_storm": PauseStorm,
    "slow_receiver": SlowReceiver,
    "misrouting": Misrouting,
    "flooding": Flooding,
}
