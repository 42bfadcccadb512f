"""Test the requests to the roles of a planned flow, and the bytes that both ends compare."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.agent_roles import LIMIT_MS, Stage, play
from helpers.experiments import cell_of
from helpers.fake_verbs import EVENT_FILE

from rogue.agent.drivers.verbs import completion_queue
from rogue.agent.node import data_process
from rogue.agent.node.messages import ARRIVALS_MAX, Arrivals, Connect, Load, Prepare, Result, Results
from rogue.harness.cell.cell import Cell
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

SOURCES = pytest.mark.parametrize(
    ("verb", "source"), [("write", "requester"), ("send", "requester"), ("read", "responder")]
)


def planned(tmp_path: Path, *settings: str) -> list[NodeFlow]:
    return plan_roles(cell_of(tmp_path, "topology.rate=100Mbps", *settings))


def prepares(tmp_path: Path, *settings: str) -> dict[str, Prepare]:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", *settings)
    return {role.name: prepared(cell, role) for flow in plan_roles(cell) for role in flow.roles}


def prepared(cell: Cell, role: Role) -> Prepare:
    return prepare_request(role, "10.9.0.10", "htb", cell.timing, LIMIT_MS)


def test_request_that_prepares_a_requester(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "topology.rate=100Mbps")
    (flow, *_, probe) = plan_roles(cell)
    request = prepared(cell, flow.roles[0])
    assert (request.role, request.end, request.address) == ("flow0-requester", "requester", "10.9.0.10")
    assert (request.transport, request.line_rate_bps, request.mtu_bytes) == ("rogue", 10**8, 1024)
    assert (request.limiter, request.priority, request.record_rtt) == ("htb", 1, True)
    interval_ns = cell.timing.throughput_interval_ns
    assert request.sample_interval_ns == interval_ns
    assert request.first_sample_ns == interval_ns - flow.flow.start_ns
    quiet = prepared(cell, probe.roles[0])
    assert (quiet.limiter, quiet.priority, quiet.record_rtt) == ("none", 0, False)
    assert not request.record_control
    assert prepares(tmp_path, "measure=[control]")["flow0-requester"].record_control


@SOURCES
def test_only_the_source_of_the_bytes_is_limited_and_filled(
    tmp_path: Path, verb: str, source: EndName
) -> None:
    """ACKs with the data's priority would queue behind the limit of the flow in the other direction."""
    flow, *_, probe = planned(tmp_path, f"workload.verb={verb}")
    requests = prepares(tmp_path, f"workload.verb={verb}")
    for role in flow.roles:
        request, is_source = requests[role.name], role.end == source
        assert (request.limiter, request.priority) == (("htb", 1) if is_source else ("none", 0))
        assert (fill_seed(flow, role.end) is not None) is is_source
    assert fill_seed(probe, "requester") is None, "the probe moves nothing"


def test_driver_options_reach_both_ends(tmp_path: Path) -> None:
    """Only a requester has decisions that could be replayed."""
    requests = prepares(tmp_path, "transports=[{name: rogue, completions: polling, record_inputs: true}]")
    options = {role: (each.completions, each.record_inputs) for role, each in requests.items()}
    assert options["flow0-requester"] == ("polling", True)
    assert options["flow0-responder"] == ("polling", False)
    assert options["probe-requester"] == ("event", False)


def test_schedule_of_a_repeating_flow_and_of_a_probe(tmp_path: Path) -> None:
    flow, *_, probe = planned(tmp_path, "workload.repeat_for=2s")
    (load,) = load_requests(flow.roles[0], LIMIT_MS)
    assert isinstance(load, Load)
    assert (load.role, load.size_bytes, load.count, load.interval_ns) == (
        "flow0-requester", 1_000_000, None, None,
    )  # fmt: skip
    assert load.repeat_for_ns == 2 * 10**9 - flow.flow.start_ns
    (pings,) = load_requests(probe.roles[0], LIMIT_MS)
    assert isinstance(pings, Load)
    assert (pings.size_bytes, pings.interval_ns) == (0, 100_000)


def test_many_arrivals_are_split_into_several_requests(tmp_path: Path) -> None:
    many = "workload={kind: many_pairs, hosts: 2, load: 0.9, arrive_for: 9s, size: 10KB}"
    flow = planned(tmp_path, many, "probe=null")[0]
    requests = list(load_requests(flow.roles[0], LIMIT_MS))
    assert all(isinstance(each, Arrivals) and len(each.arrivals) <= ARRIVALS_MAX for each in requests)
    sent = [tuple(each) for request in requests if isinstance(request, Arrivals) for each in request.arrivals]
    assert sent == [(each.start_ns - flow.flow.start_ns, each.size_bytes) for each in flow.flow.arrivals]
    assert len(requests) > 1


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    with ExitStack() as stack:
        yield Stage(tmp_path, stack)


def check_memories(stage: Stage, flow: NodeFlow, count: int = 1) -> None:
    """Move transfers between two roles; their checksums must differ before and agree after that."""
    timing = cell_of(stage.directory).timing
    actors = {}
    for name, role in zip(("there", "here"), reversed(flow.roles), strict=True):
        request = prepare_request(role, "10.9.0.1", "none", timing, LIMIT_MS)
        actors[name] = stage.enter(replace(request, role=name, priority=0))

    def sums() -> set[str | None]:
        return {
            actor.ask(Result(name, LIMIT_MS, True, compared_bytes(flow)), Results).sha256
            for name, actor in actors.items()
        }

    assert len(sums()) == 2, "nothing has moved"
    there, here = actors.values()
    there.role.handle(Connect("there", LIMIT_MS, here.introduction))
    here.role.handle(Connect("here", LIMIT_MS, there.introduction))
    play(here, there, Load("here", LIMIT_MS, flow.flow.size_bytes, count=count))
    assert len(sums()) == 1


@pytest.mark.parametrize("verb", ["write", "read", "send"])
@pytest.mark.parametrize(("size", "count"), [("100B", 3), ("200KB", 3), ("2MB", 2)])
def test_memories_agree_once_bytes_have_moved(
    stage: Stage, tmp_path: Path, verb: str, size: str, count: int
) -> None:
    flow = planned(tmp_path, f"workload.verb={verb}", f"workload.size={size}", "topology.mtu=4096")[0]
    assert compared_bytes(flow) > 0
    check_memories(stage, flow, count)


@pytest.mark.parametrize("verb", ["write", "read"])
def test_transfer_larger_than_the_memory_is_compared_in_whole_segments(
    stage: Stage, tmp_path: Path, verb: str
) -> None:
    """A memory of 200 000 bytes holds 3 segments of 64 KiB; 1 MB goes round 5 times."""
    large = planned(tmp_path, f"workload.verb={verb}", "workload.size=1MB", "topology.mtu=4096")[0]
    flow = replace(large, memory_bytes_max=200_000)
    assert compared_bytes(flow) == 3 * 65_536
    check_memories(stage, flow)


@pytest.mark.parametrize(
    ("size", "index", "end", "expected"),
    [
        ("1MB", 0, "requester", 1_000_000),
        ("1GB", 0, "responder", MEMORY_BYTES_MAX),
        ("1MB", -1, "requester", MEMORY_BYTES_MIN),
    ],
)
def test_memory_holds_a_transfer_up_to_a_limit(
    tmp_path: Path, size: str, index: int, end: EndName, expected: int
) -> None:
    assert memory_bytes(planned(tmp_path, f"workload.size={size}")[index], end) == expected


@pytest.mark.parametrize(("size", "receives"), [("1MB", 16), ("200KB", 8), ("100B", 8)])
def test_receives_hold_whole_transfers_of_sends(tmp_path: Path, size: str, receives: int) -> None:
    """16 segments of 64 KiB hold a megabyte; 8 receives are the least, so 200 KB have 2 times their 4."""
    flow = planned(tmp_path, "workload.verb=send", f"workload.size={size}")[0]
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
def test_bytes_that_may_be_lost_or_displaced_are_not_compared(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    assert compared_bytes(planned(tmp_path, *settings)[0]) == 0


def test_each_outstanding_send_of_a_step_has_a_receive(tmp_path: Path) -> None:
    """Steps of 1 MB follow each other at once: 4 receives of 1 MiB, or 8."""
    step = "workload={kind: collective, hosts: 3, size: 3MB, verb: send%s}"
    few, many = (planned(tmp_path, step % more, "transports=[roce]")[0] for more in ("", ", iterations: 5"))
    assert memory_bytes(few, "responder") == 4 * 2**20
    assert memory_bytes(many, "responder") == 8 * 2**20
    assert memory_bytes(many, "requester") == 10**6
