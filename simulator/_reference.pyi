"""An eager engine with the same face as simulator._core, for tests."""

from rogue.simulator._core import Engine as Engine
from rogue.simulator._core import QueuePair as QueuePair
from rogue.simulator._core import Timer as Timer
