"""Build the requests to a role from a planned flow."""

from collections.abc import Iterator
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.drivers.limiters import SLOTS
from rogue.agent.node.messages import ARRIVALS_MAX, After, Arrivals, Load, Prepare
from rogue.harness.cell.timing import Timing
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow, Role, after_requests

FILL_SEED: Final = 1
MEMORY_BYTES_MIN: Final = 4096
RECEIVES_MIN: Final = 8
"""More than the batches that a sender keeps under way: else SENDs come while no receive is posted."""
RECEIVES_MAX: Final = 256
"""How many receives a queue pair of the agent has at most."""


def memory_bytes(flow: NodeFlow, end: EndName) -> int:
    """Return the memory at one end; SENDs need room for several transfers, each message in its place."""
    segment_bytes = flow.settings.segment_bytes
    if end == "responder" and _lands_in_ring(flow):
        messages = _messages(flow, flow.flow.size_bytes)
        return messages * -(-RECEIVES_MIN // messages) * segment_bytes
    if end == "responder" and flow.flow.arrivals and _receives(flow):
        messages = sum(_messages(flow, arrival.size_bytes) for arrival in flow.flow.arrivals)
        return min(RECEIVES_MIN, messages) * segment_bytes
    sizes = [flow.flow.size_bytes, *(arrival.size_bytes for arrival in flow.flow.arrivals)]
    return min(flow.memory_bytes_max, max(MEMORY_BYTES_MIN, *sizes))


def fill_seed(flow: NodeFlow, end: EndName) -> int | None:
    """Return the seed of the bytes in an end's memory; None unless the bytes come from there."""
    return FILL_SEED if end == flow.source_end and not flow.is_probe else None


def compared_bytes(flow: NodeFlow) -> int:
    """Return how many leading bytes must agree at both ends after a whole transfer; 0 if none need.

    Over an unreliable connection bytes may be lost. WRITE and READ put every byte where it was at the source;
    what does not fit into the memory goes round, as far as whole segments reach. SENDs fill receives one
    after the other: a message is where it was at the source if it is a segment long and a transfer has a
    whole share of the receives.
    """
    size_bytes = flow.flow.size_bytes
    if flow.service != "rc" or size_bytes == 0:
        return 0
    if flow.flow.verb == "send":
        return size_bytes if _lands_in_ring(flow) else 0
    if size_bytes <= flow.memory_bytes_max:
        return size_bytes
    segment_bytes = flow.settings.segment_bytes
    return flow.memory_bytes_max // segment_bytes * segment_bytes


def _receives(flow: NodeFlow) -> bool:
    """True if the responder posts receives, of a segment each."""
    return flow.flow.verb == "send" and flow.transport in TRANSPORTS


def _lands_in_ring(flow: NodeFlow) -> bool:
    """True if a transfer's messages are segments, which fit the receives."""
    size_bytes, verb_bytes = flow.flow.size_bytes, flow.flow.verb_bytes
    if not _receives(flow) or flow.flow.arrivals or size_bytes > flow.memory_bytes_max:
        return False
    is_whole = verb_bytes is None or verb_bytes >= min(flow.settings.segment_bytes, size_bytes)
    return is_whole and _messages(flow, size_bytes) <= RECEIVES_MAX


def _messages(flow: NodeFlow, size_bytes: int) -> int:
    """Return how many receives a transfer takes."""
    return max(1, -(-size_bytes // flow.settings.segment_bytes))


def prepare_request(role: Role, address: str, limiter: str, timing: Timing, limit_ms: int) -> Prepare:
    """Return the request that prepares one end of a flow for the other end.

    limiter: the kind that its host offers, for an end that sets rates.
    """
    flow, end = role
    own = limiter if flow.priority_of(end) else "none"
    interval_ns = timing.throughput_interval_ns
    return Prepare(
        role=role.name,
        time_limit_ms=limit_ms,
        end=end,
        address=address,
        transport=flow.transport,
        buffer_bytes=memory_bytes(flow, end),
        parameters=dict(flow.carrier.settings.overrides),
        verb=flow.flow.verb,
        fill_seed=fill_seed(flow, end),
        line_rate_bps=flow.line_rate_bps,
        mtu_bytes=flow.mtu_bytes,
        priority=flow.priority_of(end),
        limiter=own,
        turns=list(flow.limiter.turns) if own in SLOTS else [],
        sample_interval_ns=interval_ns,
        first_sample_ns=interval_ns - flow.flow.start_ns % interval_ns,
        record_rtt=flow.has_limiter,
        record_control=flow.has_limiter and flow.records_control,
        completions=flow.carrier.settings.options.completions,
        record_inputs=flow.carrier.settings.options.record_inputs and end == "requester",
        tells=list(flow.tells),
    )


def load_requests(role: Role, limit_ms: int) -> Iterator[Load | Arrivals | After]:
    """Yield the schedule of a requester."""
    requested = role.flow.flow
    if requested.arrivals:
        arrivals = [[each.start_ns - requested.start_ns, each.size_bytes] for each in requested.arrivals]
        for first in range(0, len(arrivals), ARRIVALS_MAX):
            yield Arrivals(role.name, limit_ms, arrivals[first : first + ARRIVALS_MAX])
        yield from after_requests(role, limit_ms)
        return
    until_ns = requested.repeat_until_ns
    yield Load(
        role=role.name,
        time_limit_ms=limit_ms,
        size_bytes=requested.size_bytes,
        count=requested.count,
        repeat_for_ns=None if until_ns is None else max(1, until_ns - requested.start_ns),
        interval_ns=requested.interval_ns,
        verb_bytes=requested.verb_bytes,
    )
