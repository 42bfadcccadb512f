"""The packet simulator: a C++ engine with a Python face."""

from simulator._core import QueuePair, Timer
from simulator.datagram import DatagramQueuePair
from simulator.errors import InvariantViolation, QueuePairError, SimulationError
from simulator.framing import ROCEV2, Framing
from simulator.profiles import CX3PRO, IDEAL, PROFILES, NicProfile
from simulator.simulation import Simulation

__all__ = [
    "CX3PRO",
    "IDEAL",
    "PROFILES",
    "ROCEV2",
    "DatagramQueuePair",
    "Framing",
    "InvariantViolation",
    "NicProfile",
    "QueuePair",
    "QueuePairError",
    "Simulation",
    "SimulationError",
    "Timer",
]
