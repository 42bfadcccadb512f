"""Build the requests to a role from a planned flow."""

from collections.abc import Iterator
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.drivers.limiters import SLOTS
from rogue.agent.node.messages import ARRIVALS_MAX, After, Arrivals, Load, Prepare
from rogue.harness.cell.timing import Timing
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow, after_requests

FILL_SEED: Final = 1
MEMORY_BYTES_MIN: Final = 4096
RECEIVES_MIN: Final = 8
"""More than the batches that a sender keeps under way: else SENDs come while no receive is posted."""
RECEIVES_MAX: Final = 256
"""How many receives a queue pair of the agent has at most."""


def memory_bytes(flow: NodeFlow, end: EndName) -> int:
    """Return the memory at one end; SENDs need room for several transfers, each message in its place."""
    if end == "responder" and _lands_in_ring(flow):
        receives = _messages(flow) * -(-RECEIVES_MIN // _messages(flow))
        return receives * _segment_bytes(flow)
    if (
        end == "responder"
        and flow.flow.arrivals
        and flow.flow.verb == "send"
        and flow.transport in TRANSPORTS
    ):
        return min(RECEIVES_MIN, _messages_of_all(flow)) * _segment_bytes(flow)
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
    return flow.memory_bytes_max // _segment_bytes(flow) * _segment_bytes(flow)


def _lands_in_ring(flow: NodeFlow) -> bool:
    """True if a transfer's messages are segments, which fit the receives."""
    asked = flow.flow
    if asked.verb != "send" or flow.transport not in TRANSPORTS or asked.arrivals:
        return False
    is_whole = asked.verb_bytes is None or asked.verb_bytes >= min(_segment_bytes(flow), asked.size_bytes)
    return is_whole and asked.size_bytes <= flow.memory_bytes_max and _messages(flow) <= RECEIVES_MAX


def _messages(flow: NodeFlow) -> int:
    return max(1, -(-flow.flow.size_bytes // _segment_bytes(flow)))


def _messages_of_all(flow: NodeFlow) -> int:
    """Return how many receives the transfers of a flow take."""
    segment_bytes = _segment_bytes(flow)
    return sum(max(1, -(-arrival.size_bytes // segment_bytes)) for arrival in flow.flow.arrivals)


def _segment_bytes(flow: NodeFlow) -> int:
    return flow.settings.segment_bytes


def prepare_request(
    role: tuple[NodeFlow, EndName], address: str, limiter: str, timing: Timing, limit_ms: int
) -> Prepare:
    """Return the request that prepares one end of a flow for the other end.

    limiter: the kind that its host offers, for an end that sets rates.
    """
    flow, end = role
    own = limiter if flow.priority_of(end) else "none"
    interval_ns = timing.throughput_interval_ns
    return Prepare(
        role=flow.role(end),
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


def load_requests(flow: NodeFlow, role: str, limit_ms: int) -> Iterator[Load | Arrivals | After]:
    """Yield the schedule of a requester."""
    asked = flow.flow
    if asked.arrivals:
        arrivals = [[each.start_ns - asked.start_ns, each.size_bytes] for each in asked.arrivals]
        for first in range(0, len(arrivals), ARRIVALS_MAX):
            yield Arrivals(role, limit_ms, arrivals[first : first + ARRIVALS_MAX])
        yield from after_requests(flow, role, limit_ms)
        return
    repeat_for_ns = None
    if asked.repeat_until_ns is not None:
        repeat_for_ns = max(1, asked.repeat_until_ns - asked.start_ns)
    yield Load(
        role=role,
        time_limit_ms=limit_ms,
        size_bytes=asked.size_bytes,
        count=asked.count,
        repeat_for_ns=repeat_for_ns,
        interval_ns=asked.interval_ns,
        verb_bytes=asked.verb_bytes,
    )
