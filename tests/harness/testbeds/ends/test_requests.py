"""Tests: build the requests to a role from a planned flow."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.agent_roles import LIMIT_MS, Actor, Stage, play
from helpers.experiments import cell_of
from helpers.fake_verbs import EVENT_FILE

from rogue.agent.drivers.verbs import completion_queue
from rogue.agent.node import data_process
from rogue.agent.node.messages import ARRIVALS_MAX, Arrivals, Connect, Load, Result, Results
from rogue.harness.cell.timing import Timing
from rogue.harness.testbeds.ends.requests import (
    MEMORY_BYTES_MIN,
    RECEIVES_MAX,
    compared_bytes,
    fill_seed,
    load_requests,
    memory_bytes,
    prepare_request,
)
from rogue.harness.testbeds.ends.roles import MEMORY_BYTES_MAX, EndName, NodeFlow, Role, plan_roles


def planned(tmp_path: Path, *settings: str) -> tuple[list[NodeFlow], Timing]:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", *settings)
    timing = cell.timing
    return plan_roles(cell), timing


def test_an_end_of_a_flow(tmp_path: Path) -> None:
    (flow, *_, probe), timing = planned(tmp_path)
    request = prepare_request(Role(flow, "requester"), "10.9.0.10", "htb", timing, 5_000)
    assert (request.role, request.end, request.address) == ("flow0-requester", "requester", "10.9.0.10")
    assert (request.transport, request.line_rate_bps, request.mtu_bytes) == ("rogue", 10**8, 1024)
    assert (request.limiter, request.priority, request.record_rtt) == ("htb", 1, True)
    interval_ns = timing.throughput_interval_ns
    assert (request.sample_interval_ns, request.first_sample_ns) == (
        interval_ns,
        interval_ns - flow.flow.start_ns,
    )
    quiet = prepare_request(Role(probe, "requester"), "10.9.0.10", "htb", timing, 5_000)
    assert (quiet.limiter, quiet.priority, quiet.record_rtt) == ("none", 0, False)
    assert not request.record_control
    (asked, *_), timing = planned(tmp_path, "measure=[control]")
    assert prepare_request(Role(asked, "requester"), "10.9.0.10", "htb", timing, 5_000).record_control


@pytest.mark.parametrize(
    ("verb", "source"), [("write", "requester"), ("send", "requester"), ("read", "responder")]
)
def test_only_the_end_that_the_bytes_leave_has_a_limiter_and_its_priority(
    tmp_path: Path, verb: str, source: EndName
) -> None:
    """ACKs with the data's priority would queue behind the limit of the flow in the other direction."""
    (flow, *_), timing = planned(tmp_path, f"workload.verb={verb}")
    ends: tuple[EndName, EndName] = ("requester", "responder")
    requests = {end: prepare_request(Role(flow, end), "10.9.0.10", "htb", timing, 5_000) for end in ends}
    limited = {end: (request.limiter, request.priority) for end, request in requests.items()}
    other = next(end for end in ends if end != source)
    assert limited == {source: ("htb", 1), other: ("none", 0)}


def test_options_of_the_driver_reach_both_ends(tmp_path: Path) -> None:
    """Only a requester has decisions that could be replayed."""
    options = "transports=[{name: rogue, completions: polling, record_inputs: true}]"
    (flow, *_, probe), timing = planned(tmp_path, options)
    here = prepare_request(Role(flow, "requester"), "10.9.0.10", "htb", timing, 5_000)
    there = prepare_request(Role(flow, "responder"), "10.9.0.10", "htb", timing, 5_000)
    assert (here.completions, here.record_inputs) == ("polling", True)
    assert (there.completions, there.record_inputs) == ("polling", False)
    assert prepare_request(Role(probe, "requester"), "10.9.0.10", "htb", timing, 5_000).completions == "event"


def test_a_schedule(tmp_path: Path) -> None:
    flows, _ = planned(tmp_path, "workload.repeat_for=2s")
    (load,) = load_requests(Role(flows[0], "requester"), 5_000)
    assert isinstance(load, Load)
    assert (load.size_bytes, load.count, load.interval_ns) == (1_000_000, None, None)
    assert load.repeat_for_ns == 2 * 10**9 - flows[0].flow.start_ns
    (probe,) = load_requests(Role(flows[-1], "requester"), 5_000)
    assert isinstance(probe, Load)
    assert (probe.size_bytes, probe.interval_ns) == (0, 100_000)


def test_arrivals_in_portions(tmp_path: Path) -> None:
    many = "workload={kind: many_pairs, hosts: 2, load: 0.9, arrive_for: 9s, size: 10KB}"
    flows, _ = planned(tmp_path, many, "probe=null")
    flow = flows[0]
    requests = list(load_requests(Role(flow, "requester"), 5_000))
    assert all(isinstance(each, Arrivals) and len(each.arrivals) <= ARRIVALS_MAX for each in requests)
    said = [tuple(each) for request in requests if isinstance(request, Arrivals) for each in request.arrivals]
    assert said == [(each.start_ns - flow.flow.start_ns, each.size_bytes) for each in flow.flow.arrivals]
    assert len(requests) > 1


VERBS = ["write", "read", "send"]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    with ExitStack() as stack:
        yield Stage(tmp_path, stack)


def planned_of_memories(tmp_path: Path, *settings: str) -> list[NodeFlow]:
    cell = cell_of(tmp_path, *settings)
    return plan_roles(cell)


def entered(stage: Stage, flow: NodeFlow, end: EndName, timing_of: Path) -> Actor:
    """A role as the harness asks for it, but for where it is."""
    request = prepare_request(Role(flow, end), "10.9.0.10", "none", cell_of(timing_of).timing, LIMIT_MS)
    name = "here" if end == "requester" else "there"
    return stage.enter(replace(request, role=name, address="10.9.0.1", limiter="none", priority=0))


def sums(flow: NodeFlow, *actors: Actor) -> set[str | None]:
    """Checksums as the harness asks for them."""
    size_bytes = compared_bytes(flow)
    assert size_bytes > 0
    return {
        actor.ask(Result(actor.introduction.role, LIMIT_MS, True, size_bytes), Results).sha256
        for actor in actors
    }


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("size", "count"), [("100B", 3), ("200KB", 3), ("2MB", 2)])
def test_memories_are_equal_only_once_bytes_have_moved(
    stage: Stage, tmp_path: Path, verb: str, size: str, count: int
) -> None:
    flow = planned_of_memories(
        tmp_path, f"workload.verb={verb}", f"workload.size={size}", "topology.mtu=4096"
    )[0]
    there, here = (entered(stage, flow, end, tmp_path) for end in ("responder", "requester"))
    assert len(sums(flow, here, there)) == 2, "nothing has moved"
    there.role.handle(Connect("there", LIMIT_MS, here.introduction))
    here.role.handle(Connect("here", LIMIT_MS, there.introduction))
    play(here, there, Load("here", LIMIT_MS, flow.flow.size_bytes, count=count))
    assert len(sums(flow, here, there)) == 1


@pytest.mark.parametrize("verb", ["write", "read"])
def test_a_transfer_that_goes_round_is_compared_as_far_as_whole_segments_reach(
    stage: Stage, tmp_path: Path, verb: str
) -> None:
    """A memory of 200 000 bytes holds 3 segments of 64 KiB; 1 MB goes round 5 times."""
    large = planned_of_memories(tmp_path, f"workload.verb={verb}", "workload.size=1MB", "topology.mtu=4096")[
        0
    ]
    flow = replace(large, memory_bytes_max=200_000)
    assert compared_bytes(flow) == 3 * 65_536
    there, here = (entered(stage, flow, end, tmp_path) for end in ("responder", "requester"))
    assert len(sums(flow, here, there)) == 2, "nothing has moved"
    there.role.handle(Connect("there", LIMIT_MS, here.introduction))
    here.role.handle(Connect("here", LIMIT_MS, there.introduction))
    play(here, there, Load("here", LIMIT_MS, flow.flow.size_bytes))
    assert len(sums(flow, here, there)) == 1


@pytest.mark.parametrize(
    ("verb", "source"), [("write", "requester"), ("read", "responder"), ("send", "requester")]
)
def test_only_the_source_of_the_bytes_is_filled(tmp_path: Path, verb: str, source: EndName) -> None:
    flows = planned_of_memories(tmp_path, f"workload.verb={verb}")
    filled = {end for end in ("requester", "responder") if fill_seed(flows[0], end) is not None}
    assert filled == {source}
    assert fill_seed(flows[-1], "requester") is None, "the probe moves nothing"


def test_a_memory_holds_a_transfer_up_to_a_limit(tmp_path: Path) -> None:
    assert memory_bytes(planned_of_memories(tmp_path)[0], "requester") == 1_000_000
    assert (
        memory_bytes(planned_of_memories(tmp_path, "workload.size=1GB")[0], "responder") == MEMORY_BYTES_MAX
    )
    assert memory_bytes(planned_of_memories(tmp_path)[-1], "requester") == MEMORY_BYTES_MIN


def test_sends_land_in_receives_that_hold_whole_transfers(tmp_path: Path) -> None:
    """16 segments of 64 KiB hold a megabyte; 8 receives are the least, so 200 KB have 2 times their 4."""
    for size, receives in (("1MB", 16), ("200KB", 8), ("100B", 8)):
        (flow, *_) = planned_of_memories(tmp_path, "workload.verb=send", f"workload.size={size}")
        assert memory_bytes(flow, "responder") == receives * 65_536
    assert data_process._RECEIVES == RECEIVES_MAX


@pytest.mark.parametrize(
    "settings",
    [
        ("transports=[rogue-uc]",),
        ("transports=[dctcp]",),
        ("workload.verb=send", "workload.size=20MB"),
        ("workload.verb=send", "workload.size=40MB"),
        ("workload.verb=send", "workload.verb_size=4KB"),
    ],
)
def test_what_says_nothing_about_the_bytes_is_not_compared(tmp_path: Path, settings: tuple[str, ...]) -> None:
    """Losses are allowed, or messages lie where they did not at the source."""
    assert compared_bytes(planned_of_memories(tmp_path, *settings)[0]) == 0


def test_there_is_a_receive_for_each_of_several_sends_under_way(tmp_path: Path) -> None:
    """Steps of 1 MB follow each other at once: 4 receives of 1 MiB, or 8."""
    few, many = (
        planned_of_memories(
            tmp_path,
            f"workload={{kind: collective, hosts: 3, size: 3MB, verb: send{more}}}",
            "transports=[roce]",
        )[0]
        for more in ("", ", iterations: 5")
    )
    assert memory_bytes(few, "responder") == 4 * 2**20
    assert memory_bytes(many, "responder") == 8 * 2**20
    assert memory_bytes(many, "requester") == 10**6
