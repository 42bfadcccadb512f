"""Makes the requests to a role from a planned flow."""

from collections.abc import Iterator

from rogue.agent.drivers.limiters import SLOTS
from rogue.agent.node.messages import ARRIVALS_MAX, After, Arrivals, Load, Prepare
from rogue.harness.cell.timing import Timing
from rogue.harness.testbeds.ends.memories import fill_seed, memory_bytes
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow
from rogue.harness.testbeds.ends.waiting import after_requests


def prepare_request(
    role: tuple[NodeFlow, EndName], address: str, limiter: str, timing: Timing, limit_ms: int
) -> Prepare:
    """What one end of a flow needs to know before it meets the other.

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
        parameters=flow.overrides,
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
        completions=flow.options.completions,
        record_inputs=flow.options.record_inputs and end == "requester",
        tells=list(flow.tells),
    )


def load_requests(flow: NodeFlow, role: str, limit_ms: int) -> Iterator[Load | Arrivals | After]:
    """The schedule of a requester."""
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
