"""When a connection wants to be called although nothing happens, and why."""

from enum import Enum, unique
from typing import NamedTuple

from rogue.agent.core.clocks import HostNs


@unique
class DeadlineReason(Enum):
    """What a connection waits for when it asks for a timer."""

    FLUSH = "completions of the verbs that a failed queue pair flushes"
    RESYNC = "the peer's reply about a lost queue pair"
    ACKNOWLEDGEMENT = "the peer's acknowledgement of a batch over UC"


class Deadline(NamedTuple):
    """The next instant at which `on_timer` must be called, and why."""

    host_ns: HostNs
    reason: DeadlineReason
