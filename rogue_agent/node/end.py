"""What a role drives: one end of one flow, whatever carries the bytes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Spool
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.node.messages import Prepared
from rogue.agent.node.transfer_events import TransferEvents


@dataclass(frozen=True)
class NodeContext:
    """What a data process brings to its end.

    `pyverbs` loads it when it is needed. `clock` is for timers, `stamp` for posts and completions.
    `ports` are those found already; none means that they are looked for. `transfer_events`
    are those of the role's transfers; None if no transfer waits for another.
    """

    pyverbs: Callable[[], Pyverbs]
    sysfs: Path
    spool: Spool
    poller: Poller
    clock: Callable[[], HostNs]
    stamp: Callable[[], NicNs]
    ports: Sequence[PortAddress] = ()
    transfer_events: TransferEvents | None = None


@dataclass(frozen=True)
class Report:
    """What an end has done; `ended` counts transfers by their status."""

    moved_bytes: int
    ended: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    retransmitted_bytes: int | None = None
    verbs: int = 0
    batches: int = 0
    spent: dict[str, object] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)


class End(ABC):
    """One end of a flow. It watches its own descriptors; the event loop calls `on_time`."""

    is_requester: bool

    @abstractmethod
    def introduce(self, role: str) -> Prepared:
        """Say what the peer needs, and what was found on this node."""

    @abstractmethod
    def connect(self, peer: Prepared) -> None:
        """Become ready for the peer."""

    @abstractmethod
    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Count from this instant on; a requester follows the schedule."""

    @property
    @abstractmethod
    def deadline_ns(self) -> HostNs | None:
        """When `on_time` must be called at the latest."""

    @abstractmethod
    def on_time(self, now: HostNs) -> None:
        """Do what is due; called once per turn of the loop."""

    @property
    @abstractmethod
    def is_finished(self) -> bool:
        """Whether the schedule is done; a responder never is."""

    def on_failure(self) -> None:  # noqa: B027 - most ends have nothing that others wait for
        """The role has failed: leave to others what they may wait for, before everything is given back."""

    @abstractmethod
    def finish(self, now: HostNs) -> None:
        """End the flow and its tables; said once."""

    @abstractmethod
    def report(self) -> Report:
        """Say what has been done so far."""

    @abstractmethod
    def checksum(self, size_bytes: int | None) -> str | None:
        """SHA-256 of the memory's first bytes or of all; None if there is no memory."""
