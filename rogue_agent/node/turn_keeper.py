"""Share the limiters of a card among the flows of its host."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Protocol

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.limiter import Grant, LimiterPool, PoolAction
from rogue.agent.drivers.limiters import SLOTS
from rogue.agent.drivers.limiters.base import LimiterError, PacedInterface
from rogue.agent.drivers.limiters.borrowed import (
    ASK,
    BACK,
    BACK_FOR_MORE,
    LEAVE,
    MESSAGE_BYTES,
    REFUSED,
    REST,
    USE,
    WELCOME,
)
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable
from rogue.agent.node.messages import Prepare
from rogue.agent.node.wire import accepted


def keep_turns(
    request: Prepare, find: Callable[[str], PortAddress], listener: socket.socket, poller: Poller, source: int
) -> int:
    """Keep the turns that a flow's request tells of; `find` knows the port of its address.

    Where there are no such limiters, or others have them, each flow is told so.
    """
    try:
        port = find(request.address)
        interface = paced_interface(request, port)
        slots = SLOTS[request.limiter](interface, request.turns)
    except (LimiterError, VerbsUnavailable) as error:
        return TurnKeeper(source, listener, Lending((), lambda _priority: None), poller, str(error)).serve()
    with closing(slots):
        return TurnKeeper(source, listener, Lending(request.turns, slots.lift), poller).serve()


def paced_interface(request: Prepare, port: PortAddress) -> PacedInterface:
    """What a limiter of a request paces."""
    return PacedInterface(
        port.netdev,
        port.driver,
        request.priority,
        request.line_rate_bps or port.rate_bps,
        request.limiter_burst_bytes,
        is_lent=bool(request.turns),
    )


def place_of(directory: Path, address: str) -> Path:
    """Where the keeper of a card listens, which is named by the host's address."""
    return directory / f"turns-{address}"


@dataclass(frozen=True)
class Lending:
    """The limiters that are lent, by their priorities, and what lifts the limit of one."""

    priorities: Sequence[int]
    lift: Callable[[int], None]


class TurnKeeper:
    """Serves a listening socket until `source` ends, which is when its starter ends.

    `refusal`: why nobody gets a limiter; each that comes is told, and sent away.
    """

    def __init__(
        self, source: int, listener: socket.socket, lending: Lending, poller: Poller, refusal: str = ""
    ) -> None:
        self._source = source
        self._listener = listener
        self._lending = lending
        self._poller = poller
        self._refusal = refusal
        self._pool = LimiterPool(len(lending.priorities))
        self._flows: dict[int, socket.socket] = {}
        self._flows_so_far = 0
        self._is_over = False
        poller.watch(source, self._end)
        poller.watch(listener.fileno(), self._accept)

    def serve(self) -> int:
        """Go round until it is over."""
        while not self._is_over:
            self.turn()
        self.close()
        return 0

    def close(self) -> None:
        """Leave all flows."""
        for flow in self._flows.values():
            flow.close()

    def turn(self) -> None:
        """Wait for a message or the end of a turn, and handle it."""
        self._poller.turn(self._pool.deadline_ns)
        self._pool.on_timer(self._poller.now())
        self._tell()

    def _end(self, _now: HostNs) -> None:
        self._is_over = not os.read(self._source, 1)

    def _accept(self, now: HostNs) -> None:
        """Answer a flow that connects."""
        flow = accepted(self._listener)
        if self._refusal:
            _sent(flow, REFUSED + self._refusal.encode()[: MESSAGE_BYTES // 2])
            flow.close()
            return
        key, self._flows_so_far = self._flows_so_far, self._flows_so_far + 1
        self._flows[key] = flow
        self._poller.watch(flow.fileno(), partial(self._hear, key))
        if not _sent(flow, WELCOME):
            self._drop(key, now)

    def _hear(self, key: int, now: HostNs) -> None:
        """Take what a flow says; one that has ended, or says what makes no sense, is gone."""
        try:
            message = self._flows[key].recv(MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if message == ASK:
            self._pool.ask(key, now)
        elif message == REST:
            self._pool.rest(key)
        elif message in (BACK, BACK_FOR_MORE) and self._pool.holds(key):
            self._pool.give_back(key, now, wants_more=message == BACK_FOR_MORE)
        else:
            self._drop(key, now)

    def _drop(self, key: int, now: HostNs) -> None:
        """Lift a flow's limit; the next flow hears of its turn after that."""
        flow = self._flows.pop(key)
        self._poller.leave(flow.fileno())
        flow.close()
        limiter = self._pool.leave(key, now)
        if limiter is not None:
            try:
                self._lending.lift(self._lending.priorities[limiter])
            except LimiterError as error:
                sys.stderr.write(f"a limit cannot be lifted: {error}\n")

    def _tell(self) -> None:
        while actions := self._pool.actions():
            for action in actions:
                flow = self._flows.get(action.key)
                if flow is not None and not _sent(flow, self._words(action)):
                    self._drop(action.key, self._poller.now())

    def _words(self, action: PoolAction) -> bytes:
        if isinstance(action, Grant):
            return USE + str(self._lending.priorities[action.limiter]).encode()
        return LEAVE


def _sent(flow: socket.socket, message: bytes) -> bool:
    """Say something to a flow; one that does not listen is none."""
    try:
        flow.send(message)
    except OSError:
        return False
    return True


_GRACE_S = 5.0


class Keeper(Protocol):
    """The process of a keeper."""

    @property
    def stdin(self) -> "IO[bytes] | None":
        """Its end is the keeper's."""

    @property
    def stdout(self) -> "IO[bytes] | None":
        """Nothing comes from there."""

    def kill(self) -> None:
        """End it at once."""

    def wait(self, timeout: "float | None" = None) -> int:
        """Return its exit code; raises subprocess.TimeoutExpired."""


@dataclass
class _Kept:
    process: Keeper
    terms: str
    roles: "set[str]" = field(default_factory=set)


class Keepers:
    """Knows which roles take turns where; `start` starts a keeper as a request tells."""

    def __init__(self, start: Callable[[Prepare], Keeper]) -> None:
        self._start = start
        self._kept: dict[str, _Kept] = {}

    def join(self, request: Prepare) -> None:
        """A role comes, which may take turns; SettingsError unless it agrees with those that are there."""
        if not request.turns:
            return
        kept = self._kept.get(request.address)
        if kept is None:
            kept = self._kept[request.address] = _Kept(self._start(request), _terms(request))
        elif _terms(request) != kept.terms:
            expected = f"those of the other flows at {request.address}: {kept.terms}"
            raise SettingsError("turns", _terms(request), expected)
        kept.roles.add(request.role)

    def leave(self, role: str) -> None:
        """A role has ended; the last one of a card ends its keeper."""
        for address, kept in list(self._kept.items()):
            kept.roles.discard(role)
            if not kept.roles:
                _end(self._kept.pop(address).process)


def _terms(request: Prepare) -> str:
    """What a keeper keeps, on which all its flows must agree."""
    burst = request.limiter_burst_bytes
    return f"{request.limiter} limiters of priorities {request.turns} with a burst of {burst} bytes"


def _end(process: Keeper) -> None:
    """End a keeper so that it lifts what it lent, or by force."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    process.kill()
    process.wait()
