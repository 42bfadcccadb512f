"""The packet simulator: a C++ engine and its Python API."""

from rogue.simulator._core import CompiledKind, Controller, QueuePair, ReceiverKind, SwitchKind, Timer
from rogue.simulator.control import CONTROLS, ControlKind, Hop, NicControl, PathFacts, PrototypeControl
from rogue.simulator.datagram import DatagramQueuePair, Memory
from rogue.simulator.errors import ControlError, InvariantViolation, QueuePairError, SimulationError
from rogue.simulator.faults import BurstLoss, IndependentLoss, IpIdLoss, Loss
from rogue.simulator.flow_control import CONTROL_PRIORITY, PriorityFlowControl, Wait, explained, find_deadlock
from rogue.simulator.forwarding import SPRAYING_PARAMETERS, Spraying, spraying_of, unsprayable
from rogue.simulator.framing import FRAMINGS, ROCEV2, Framing
from rogue.simulator.packet_events import PacketEvent
from rogue.simulator.parameters import ControlParameter
from rogue.simulator.plugin_controls import (
    RECEIVER_CONTROLS,
    SWITCH_CONTROLS,
    ReceiverControl,
    ReceiverControlKind,
    SwitchControl,
    SwitchControlKind,
)
from rogue.simulator.profiles import CX3PRO, CX4, IDEAL, PROFILES, NicProfile
from rogue.simulator.reliability import RELIABILITIES, WITH_CREDITS, Reliability, check_parameters
from rogue.simulator.simulation import Simulation
from rogue.simulator.switches import FAIR_RATE_PARAMETERS, FairRates, Marking, Trimming, with_telemetry

__all__ = [
    "CONTROLS",
    "CONTROL_PRIORITY",
    "CX3PRO",
    "CX4",
    "FAIR_RATE_PARAMETERS",
    "FRAMINGS",
    "IDEAL",
    "PROFILES",
    "RECEIVER_CONTROLS",
    "RELIABILITIES",
    "ROCEV2",
    "SPRAYING_PARAMETERS",
    "SWITCH_CONTROLS",
    "WITH_CREDITS",
    "BurstLoss",
    "CompiledKind",
    "ControlError",
    "ControlKind",
    "ControlParameter",
    "Controller",
    "DatagramQueuePair",
    "FairRates",
    "Framing",
    "Hop",
    "IndependentLoss",
    "InvariantViolation",
    "IpIdLoss",
    "Loss",
    "Marking",
    "Memory",
    "NicControl",
    "NicProfile",
    "PacketEvent",
    "PathFacts",
    "PriorityFlowControl",
    "PrototypeControl",
    "QueuePair",
    "QueuePairError",
    "ReceiverControl",
    "ReceiverControlKind",
    "ReceiverKind",
    "Reliability",
    "Simulation",
    "SimulationError",
    "Spraying",
    "SwitchControl",
    "SwitchControlKind",
    "SwitchKind",
    "Timer",
    "Trimming",
    "Wait",
    "check_parameters",
    "explained",
    "find_deadlock",
    "spraying_of",
    "unsprayable",
    "with_telemetry",
]
