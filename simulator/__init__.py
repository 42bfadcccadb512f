"""The packet simulator: a C++ engine with a Python face."""

from simulator._core import QueuePair, Timer
from simulator.control import CONTROLS, ControlParameter, NicControl
from simulator.datagram import DatagramQueuePair
from simulator.errors import InvariantViolation, QueuePairError, SimulationError
from simulator.feedback import FAIR_RATE_PARAMETERS, FairRates, with_telemetry
from simulator.flow_control import PriorityFlowControl
from simulator.framing import FRAMINGS, ROCEV2, Framing
from simulator.losses import BurstLoss, IndependentLoss, IpIdLoss, Loss
from simulator.marking import Marking
from simulator.memory import Memory
from simulator.profiles import CX3PRO, CX4, IDEAL, PROFILES, NicProfile
from simulator.reliability import RELIABILITIES, Reliability, check_parameters
from simulator.simulation import Simulation
from simulator.waits import Wait, explained, find_deadlock

__all__ = [
    "CONTROLS",
    "CX3PRO",
    "CX4",
    "FAIR_RATE_PARAMETERS",
    "FRAMINGS",
    "IDEAL",
    "PROFILES",
    "RELIABILITIES",
    "ROCEV2",
    "BurstLoss",
    "ControlParameter",
    "DatagramQueuePair",
    "FairRates",
    "Framing",
    "IndependentLoss",
    "InvariantViolation",
    "IpIdLoss",
    "Loss",
    "Marking",
    "Memory",
    "NicControl",
    "NicProfile",
    "PriorityFlowControl",
    "QueuePair",
    "QueuePairError",
    "Reliability",
    "Simulation",
    "SimulationError",
    "Timer",
    "Wait",
    "check_parameters",
    "explained",
    "find_deadlock",
    "with_telemetry",
]
