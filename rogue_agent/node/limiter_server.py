"""The process that shares the rate limiters of one card among the flows of its host.

Flows are processes, and connect to it through `LimiterClient` (`drivers/limiters/client.py`).
"""

import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError, SettingsError
from rogue.agent.core.limiter import Claim, Grant, LimiterPool
from rogue.agent.drivers.limiters import SLOTS
from rogue.agent.drivers.limiters.base import PacedInterface
from rogue.agent.drivers.limiters.client import GRANT, MESSAGE_BYTES, REFUSED, REVOKE, WELCOME
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable
from rogue.agent.node.messages import Prepare
from rogue.agent.node.processes import Child, accepted, end_process

_GRACE_S = 5.0


def serve_limiters(
    request: Prepare, find: Callable[[str], PortAddress], listener: socket.socket, poller: Poller, source: int
) -> int:
    """Serve the limiters that a request names until `source` ends; `find` returns the port of its address.

    If the limiters do not exist or are in use, every flow that connects is refused with the reason.
    """
    try:
        interface = paced_interface(request, find(request.address))
        slots = SLOTS[request.limiter](interface, request.turns)
    except (LimiterError, VerbsUnavailable) as error:
        return LimiterServer(source, listener, (), lambda _priority: None, poller, str(error)).serve()
    with closing(slots):
        return LimiterServer(source, listener, request.turns, slots.lift, poller).serve()


def paced_interface(request: Prepare, port: PortAddress) -> PacedInterface:
    """Return what a limiter of a request paces."""
    return PacedInterface(
        port.netdev,
        port.driver,
        request.priority,
        request.line_rate_bps or port.rate_bps,
        request.limiter_burst_bytes,
        is_lent=bool(request.turns),
    )


def socket_of(directory: Path, address: str) -> Path:
    """Return the socket of the limiter server for the host with this address."""
    return directory / f"turns-{address}"


class LimiterServer:
    """Serves a listening socket until `source` ends, which is when the parent process ends.

    The limiters are those of `priorities`; `lift` removes the limit of one. With a `refusal` every flow that
    connects is refused with this reason.
    """

    def __init__(  # noqa: PLR0913 - two descriptors, the limiters, and where to wait
        self,
        source: int,
        listener: socket.socket,
        priorities: Sequence[int],
        lift: Callable[[int], None],
        poller: Poller,
        refusal: str = "",
    ) -> None:
        self._source = source
        self._listener = listener
        self._priorities = priorities
        self._lift = lift
        self._poller = poller
        self._refusal = refusal
        self._pool = LimiterPool(len(priorities))
        self._flows: dict[int, socket.socket] = {}
        self._next_key = 0
        self._is_over = False
        poller.watch(source, self._end)
        poller.watch(listener.fileno(), self._accept)

    def serve(self) -> int:
        """Run until the parent process ends; return the exit code."""
        while not self._is_over:
            self.turn()
        self.close()
        return 0

    def close(self) -> None:
        """Disconnect all flows."""
        for flow in self._flows.values():
            flow.close()

    def turn(self) -> None:
        """Wait for a message or the end of a turn, and handle it."""
        self._poller.turn(self._pool.deadline_ns)
        self._pool.on_timer(self._poller.now())
        self._send_decisions()

    def _end(self, _now: HostNs) -> None:
        self._is_over = not os.read(self._source, 1)

    def _accept(self, now: HostNs) -> None:
        """Welcome or refuse a flow that connects."""
        flow = accepted(self._listener)
        if self._refusal:
            _sent(flow, REFUSED + self._refusal.encode()[: MESSAGE_BYTES // 2])
            flow.close()
            return
        key, self._next_key = self._next_key, self._next_key + 1
        self._flows[key] = flow
        self._poller.watch(flow.fileno(), partial(self._receive, key))
        if not _sent(flow, WELCOME):
            self._drop(key, now)

    def _receive(self, key: int, now: HostNs) -> None:
        """Take a flow's message; drop a flow that has ended or sends an invalid message."""
        try:
            claim = Claim(self._flows[key].recv(MESSAGE_BYTES))
        except BlockingIOError:
            return
        except (OSError, ValueError):
            self._drop(key, now)
            return
        if claim in (Claim.REQUEST, Claim.IDLE) or self._pool.holds(key):
            self._pool.on_claim(key, claim, now)
        else:
            self._drop(key, now)

    def _drop(self, key: int, now: HostNs) -> None:
        """Disconnect a flow and lift its limit, before the next flow gets the limiter."""
        flow = self._flows.pop(key)
        self._poller.leave(flow.fileno())
        flow.close()
        limiter = self._pool.leave(key, now)
        if limiter is not None:
            try:
                self._lift(self._priorities[limiter])
            except LimiterError as error:
                sys.stderr.write(f"a limit cannot be lifted: {error}\n")

    def _send_decisions(self) -> None:
        while actions := self._pool.actions():
            for action in actions:
                flow, message = self._flows.get(action.key), REVOKE
                if isinstance(action, Grant):
                    message = GRANT + str(self._priorities[action.limiter]).encode()
                if flow is not None and not _sent(flow, message):
                    self._drop(action.key, self._poller.now())


def _sent(flow: socket.socket, message: bytes) -> bool:
    """Send a message to a flow; return False if the flow does not read."""
    try:
        flow.send(message)
    except OSError:
        return False
    return True


@dataclass
class _Running:
    process: Child
    terms: str
    roles: set[str] = field(default_factory=set)


class LimiterServers:
    """The limiter servers of a supervisor, by the address of their host; `start` starts one for a request."""

    def __init__(self, start: Callable[[Prepare], Child]) -> None:
        self._start = start
        self._running: dict[str, _Running] = {}

    def join(self, request: Prepare) -> None:
        """Add a role that shares limiters; raises SettingsError unless it wants those of the other roles."""
        if not request.turns:
            return
        burst = request.limiter_burst_bytes
        terms = f"{request.limiter} limiters of priorities {request.turns} with a burst of {burst} bytes"
        server = self._running.get(request.address)
        if server is None:
            server = self._running[request.address] = _Running(self._start(request), terms)
        elif terms != server.terms:
            expected = f"those of the other flows at {request.address}: {server.terms}"
            raise SettingsError("turns", terms, expected)
        server.roles.add(request.role)

    def leave(self, role: str) -> None:
        """Remove a role that has ended; the last one of a host ends its server, which lifts all limits."""
        for address, server in list(self._running.items()):
            server.roles.discard(role)
            if not server.roles:
                end_process(self._running.pop(address).process, _GRACE_S)
