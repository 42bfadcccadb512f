"""An eager engine with the same face as simulator._core, for tests."""

from simulator._core import Engine as Engine
from simulator._core import QueuePair as QueuePair
from simulator._core import Timer as Timer
