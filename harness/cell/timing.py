"""Derive the duration and the sampling intervals of a cell, in network time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rogue.harness.cell.demand import Demand
from rogue.harness.experiment.model import Experiment
from rogue.workloads.ideal import Route, ideal_goodput_bps, ideal_transfer_ns, plain_route, plain_rules
from rogue.workloads.topologies import PathShape, Topology
from rogue.workloads.traffic import Flow, Verb
from rogue.workloads.traffic.transfer_graph import waits

SECOND_NS: Final = 1_000_000_000
TIME_LIMIT_FACTOR: Final = 10
TIME_LIMIT_NS_MIN: Final = SECOND_NS

THROUGHPUT_INTERVALS_NS: Final = ((5 * SECOND_NS, SECOND_NS), (2 * SECOND_NS, 100_000_000), (0, 10_000_000))
QUEUE_INTERVALS_NS: Final = ((SECOND_NS, 1_000_000), (SECOND_NS // 10, 100_000), (0, 10_000))
"""From this duration on, this interval."""
QUEUE_SAMPLES_MAX: Final = 5_000_000
THROUGHPUT_SAMPLES_MAX: Final = 50_000_000
"""Limits for intervals that the experiment does not set."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of one cell, in nanoseconds of the network: simulated ones on the simulator."""

    traffic_ns: int
    """How long the traffic lasts, or should last."""
    limit_ns: int
    """When the cell ends at the latest."""
    is_open_ended: bool
    """All traffic ends by the clock, at `limit_ns`: a transfer that is unfinished then is no failure."""
    throughput_interval_ns: int
    queue_interval_ns: int


def timing_of(experiment: Experiment, demands: tuple[Demand, ...]) -> Timing:
    """Choose the times of a cell."""
    waited_for = tuple(demand for demand in demands if demand.workload.duration_ns is None)
    durations = [demand.workload.duration_ns or 0 for demand in demands]
    finite_ns = _finite_traffic_ns(experiment.topology, waited_for)
    traffic_ns = max(1, finite_ns, *durations)
    is_open_ended = not waited_for
    limit_ns = traffic_ns if is_open_ended else max(TIME_LIMIT_FACTOR * traffic_ns, TIME_LIMIT_NS_MIN)
    flows, ports = sum(len(demand.flows) for demand in demands), switch_ports(experiment.topology)
    arriving_ns = max(finite_ns, *_arriving_ns(experiment))
    return Timing(
        traffic_ns=traffic_ns,
        limit_ns=limit_ns if is_open_ended else experiment.time_limit_ns or limit_ns,
        is_open_ended=is_open_ended,
        throughput_interval_ns=experiment.interval_ns("throughput")
        or _interval_ns(THROUGHPUT_INTERVALS_NS, traffic_ns, limit_ns, flows, THROUGHPUT_SAMPLES_MAX),
        queue_interval_ns=experiment.interval_ns("queues")
        or _interval_ns(QUEUE_INTERVALS_NS, arriving_ns, limit_ns, ports, QUEUE_SAMPLES_MAX),
    )


def _arriving_ns(experiment: Experiment) -> list[int]:
    """Return for each group the time in which its transfers start, without the time in which they drain."""
    workloads = [group.workload for group in experiment.groups]
    return [1, *(workload.arriving_ns or workload.duration_ns or 1 for workload in workloads)]


def switch_ports(topology: Topology) -> int:
    """Return how many ports the switches have together."""
    return sum(len(topology.links_of[switch.name]) for switch in topology.switches())


def _interval_ns(
    intervals: tuple[tuple[int, int], ...], lasting_ns: int, limit_ns: int, series: int, samples_max: int
) -> int:
    """Return an interval in proportion to a time, longer if many series would fill the memory."""
    interval_ns = next(interval_ns for from_ns, interval_ns in intervals if lasting_ns >= from_ns)
    while limit_ns // interval_ns * series > samples_max:
        interval_ns *= 10
    return interval_ns


@lru_cache(maxsize=8)
def _finite_traffic_ns(topology: Topology, demands: tuple[Demand, ...]) -> int:
    """Return the least time in which all transfers of these demands can be done.

    The busiest receiver never idles, the last transfer starts by the clock, the transfers of one flow follow
    each other, and those that wait have had what they wait for.
    """
    flows = [flow for demand in demands for flow in demand.flows]
    last_arrival_ns = max((_last_start_ns(flow) for flow in flows if flow.count is not None), default=0)
    waiting_ns = max((_waiting_ns(topology, demand) for demand in demands), default=0)
    following_ns = _following_ns(topology, flows)
    return max(last_arrival_ns, waiting_ns, following_ns, int(_receiving_ns(topology, flows)))


def _waiting_ns(topology: Topology, demand: Demand) -> int:
    if not waits(demand.flows):
        return 0

    rules = plain_rules(topology)

    def took_ns(flow: Flow, size_bytes: int) -> int:
        route = plain_route(topology, flow.initiator, flow.responder)
        return ideal_transfer_ns(route, rules, flow.verb, size_bytes)

    return demand.order.earliest_end_ns(took_ns) or 0


def _last_start_ns(flow: Flow) -> int:
    """Return when the last transfer starts by the clock, without transfers that follow others."""
    return flow.arrivals[-1].start_ns if flow.arrivals else flow.start_ns


def _following_ns(topology: Topology, flows: Sequence[Flow]) -> int:
    """Return when the last flow can be done whose transfers follow each other.

    Of flows over paths that are alike, the one whose bytes would be out last decides.
    """
    last: dict[tuple[Route, Verb, int], tuple[float, Flow]] = {}
    for flow in flows:
        if flow.count is not None and not flow.arrivals:
            path = topology.path_shape(flow.source, flow.destination)
            out_ns = flow.start_ns + flow.finite_bytes * 8 * SECOND_NS / topology.path_rate_bps(path)
            alike = plain_route(topology, flow.initiator, flow.responder), flow.verb, flow.count
            if alike not in last or out_ns > last[alike][0]:
                last[alike] = out_ns, flow
    rules = plain_rules(topology)
    following_ns = (
        flow.start_ns + count * ideal_transfer_ns(route, rules, verb, flow.size_bytes)
        for (route, verb, count), (_, flow) in last.items()
    )
    return max(following_ns, default=0)


def _receiving_ns(topology: Topology, flows: Sequence[Flow]) -> float:
    goodputs_bps: dict[PathShape, float] = {}
    receiving_ns: dict[str, float] = defaultdict(float)
    for flow in flows:
        shape = topology.path_shape(flow.source, flow.destination)
        if shape not in goodputs_bps:
            goodputs_bps[shape] = ideal_goodput_bps(topology, flow.source, flow.destination)
        receiving_ns[flow.destination] += flow.finite_bytes * 8 * SECOND_NS / goodputs_bps[shape]
    return max(receiving_ns.values(), default=0.0)
