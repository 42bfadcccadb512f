"""What roles are asked."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.node.messages import ARRIVALS_MAX, Arrivals, Load
from rogue.harness.cell.timing import Timing
from rogue.harness.testbeds.ends.requests import load_requests, prepare_request
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow, plan_roles


def planned(tmp_path: Path, *settings: str) -> tuple[list[NodeFlow], Timing]:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", *settings)
    timing = cell.timing
    return plan_roles(cell), timing


def test_an_end_of_a_flow(tmp_path: Path) -> None:
    (flow, *_, probe), timing = planned(tmp_path)
    request = prepare_request((flow, "requester"), "10.9.0.10", "htb", timing, 5_000)
    assert (request.role, request.end, request.address) == ("flow0-requester", "requester", "10.9.0.10")
    assert (request.transport, request.line_rate_bps, request.mtu_bytes) == ("rogue", 10**8, 1024)
    assert (request.limiter, request.priority, request.record_rtt) == ("htb", 1, True)
    interval_ns = timing.throughput_interval_ns
    assert (request.sample_interval_ns, request.first_sample_ns) == (
        interval_ns,
        interval_ns - flow.flow.start_ns,
    )
    quiet = prepare_request((probe, "requester"), "10.9.0.10", "htb", timing, 5_000)
    assert (quiet.limiter, quiet.priority, quiet.record_rtt) == ("none", 0, False)
    assert not request.record_control
    (asked, *_), timing = planned(tmp_path, "measure=[control]")
    assert prepare_request((asked, "requester"), "10.9.0.10", "htb", timing, 5_000).record_control


@pytest.mark.parametrize(
    ("verb", "source"), [("write", "requester"), ("send", "requester"), ("read", "responder")]
)
def test_only_the_end_that_the_bytes_leave_has_a_limiter_and_its_priority(
    tmp_path: Path, verb: str, source: EndName
) -> None:
    """ACKs with the data's priority would queue behind the limit of the flow in the other direction."""
    (flow, *_), timing = planned(tmp_path, f"workload.verb={verb}")
    ends: tuple[EndName, EndName] = ("requester", "responder")
    requests = {end: prepare_request((flow, end), "10.9.0.10", "htb", timing, 5_000) for end in ends}
    limited = {end: (request.limiter, request.priority) for end, request in requests.items()}
    other = next(end for end in ends if end != source)
    assert limited == {source: ("htb", 1), other: ("none", 0)}


def test_options_of_the_driver_reach_both_ends(tmp_path: Path) -> None:
    """Only a requester has decisions that could be replayed."""
    options = "transports=[{name: rogue, completions: polling, record_inputs: true}]"
    (flow, *_, probe), timing = planned(tmp_path, options)
    here = prepare_request((flow, "requester"), "10.9.0.10", "htb", timing, 5_000)
    there = prepare_request((flow, "responder"), "10.9.0.10", "htb", timing, 5_000)
    assert (here.completions, here.record_inputs) == ("polling", True)
    assert (there.completions, there.record_inputs) == ("polling", False)
    assert prepare_request((probe, "requester"), "10.9.0.10", "htb", timing, 5_000).completions == "event"


def test_a_schedule(tmp_path: Path) -> None:
    flows, _ = planned(tmp_path, "workload.repeat_for=2s")
    (load,) = load_requests(flows[0], "flow0-requester", 5_000)
    assert isinstance(load, Load)
    assert (load.size_bytes, load.count, load.interval_ns) == (1_000_000, None, None)
    assert load.repeat_for_ns == 2 * 10**9 - flows[0].flow.start_ns
    (probe,) = load_requests(flows[-1], "probe-requester", 5_000)
    assert isinstance(probe, Load)
    assert (probe.size_bytes, probe.interval_ns) == (0, 100_000)


def test_arrivals_in_portions(tmp_path: Path) -> None:
    many = "workload={kind: many_pairs, hosts: 2, load: 0.9, arrive_for: 9s, size: 10KB}"
    flows, _ = planned(tmp_path, many, "probe=null")
    flow = flows[0]
    requests = list(load_requests(flow, "flow0-requester", 5_000))
    assert all(isinstance(each, Arrivals) and len(each.arrivals) <= ARRIVALS_MAX for each in requests)
    said = [tuple(each) for request in requests if isinstance(request, Arrivals) for each in request.arrivals]
    assert said == [(each.start_ns - flow.flow.start_ns, each.size_bytes) for each in flow.flow.arrivals]
    assert len(requests) > 1
