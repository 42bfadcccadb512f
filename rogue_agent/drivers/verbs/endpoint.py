"""One end of a connection on a node: device, memory, completion queue and queue pair, opened together."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from rogue_agent.core.clocks import NicNs
from rogue_agent.drivers.verbs.buffer import Buffer
from rogue_agent.drivers.verbs.completion_queue import EventQueue
from rogue_agent.drivers.verbs.discovery import PortAddress
from rogue_agent.drivers.verbs.errors import VerbsError
from rogue_agent.drivers.verbs.library import Library
from rogue_agent.drivers.verbs.queue_pair import QueuePair, mtu_of_code

_SPARE_ENTRIES = 16
_PSN_BITS = 24


@dataclass(frozen=True)
class Endpoint:
    """What a data process works with, and the PSN its requester starts from."""

    port: PortAddress
    active_mtu_bytes: int
    buffer: Buffer
    queue: EventQueue
    queue_pair: QueuePair
    psn: int


@contextmanager
def opened(
    library: Library,
    port: PortAddress,
    buffer_bytes: int,
    send_queue_verbs: int,
    clock: Callable[[], NicNs],
) -> Iterator[Endpoint]:
    """Open the port's device with a registered buffer of this size; leaving gives everything back."""
    with ExitStack() as stack:
        try:
            context = library.device.Context(name=port.device)
            stack.callback(context.close)
            active_mtu_bytes = mtu_of_code(int(context.query_port(port.port).active_mtu))
            protection_domain = library.pd.PD(context)
            stack.callback(protection_domain.close)
            buffer = Buffer(library, protection_domain, buffer_bytes)
            stack.callback(buffer.close)
            queue = EventQueue(library, context, send_queue_verbs + _SPARE_ENTRIES, clock)
            stack.callback(queue.close)
            queue_pair = QueuePair(library, protection_domain, queue.cq, send_queue_verbs)
            stack.callback(queue_pair.close)
        except library.error as error:
            raise VerbsError("opening", f"device {port.device}, port {port.port}: {error}") from error
        yield Endpoint(port, active_mtu_bytes, buffer, queue, queue_pair, secrets.randbits(_PSN_BITS))
