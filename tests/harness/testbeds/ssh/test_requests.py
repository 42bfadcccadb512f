"""What roles are asked."""

from dataclasses import replace
from pathlib import Path

from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, FakeAgent, fake_node

from harness.testbeds.ssh.requests import limiter_of, load_requests, prepare_request
from harness.testbeds.ssh.roles import PlannedFlow, plan_roles
from harness.testbeds.timing import Timing, cell_timing
from rogue_agent.control.messages import ARRIVALS_MAX, Arrivals, Load


def planned(tmp_path: Path, *settings: str) -> tuple[list[PlannedFlow], Timing]:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", *settings)
    timing = cell_timing(cell)
    return plan_roles(cell, timing), timing


def test_an_end_of_a_flow(tmp_path: Path) -> None:
    (flow, *_, probe), timing = planned(tmp_path)
    node = fake_node("h0", FakeAgent())
    request = prepare_request(node, (flow, "requester"), timing, 5_000)
    assert (request.role, request.end, request.address) == ("flow0-requester", "requester", "10.9.0.10")
    assert (request.transport, request.line_rate_bps, request.mtu_bytes) == ("rogue", 10**8, 1024)
    assert (request.limiter, request.priority, request.record_rtt) == ("htb", 1, True)
    assert request.sample_interval_ns == timing.throughput_interval_ns
    quiet = prepare_request(node, (probe, "requester"), timing, 5_000)
    assert (quiet.limiter, quiet.priority, quiet.record_rtt) == ("none", 0, False)


def test_the_best_limiter_that_the_interface_has() -> None:
    agent = FakeAgent()
    for offered, expected in (
        (["dcb:eth1", "htb:eth1", "software"], "htb"),
        (["dcb:eth1", "software"], "dcb"),
        (["htb:eth0", "software"], "software"),
    ):
        agent.capabilities = replace(CAPABILITIES, limiters=offered)
        assert limiter_of(fake_node("h0", agent)) == expected


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
