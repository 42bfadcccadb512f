"""Arrivals as columns are the same as arrivals as objects."""

from rogue.workloads.traffic.program import NOTHING, ProgramArrivals, program_of
from rogue.workloads.traffic.steps import Step, Steps, all_arrived
from rogue.workloads.traffic.workload import Arrival, Flow, Predecessor

WAITING = Arrival(3, 20, (Predecessor("h0->h1", 0, "arrival", 3), Predecessor("h2->h1", 0, "arrival", 3)))


def chain() -> tuple[Flow, ...]:
    """Two arrive at h1, which sends on twice."""
    steps = Steps()
    ways = [steps.connection(host, "h1") for host in ("h0", "h2")]
    both = all_arrived(steps.send_all(ways, [10, 11], Step(least_ns=5)).tolist()).later(3)
    steps.send("h1", "h3", 20, both)
    steps.send("h1", "h3", 21, both)
    return steps.flows("write")


def test_arrivals_look_like_a_tuple_of_them() -> None:
    first, _, on = (flow.arrivals for flow in chain())
    assert isinstance(on, ProgramArrivals)
    assert on == (WAITING, WAITING._replace(size_bytes=21))
    assert on != (WAITING,)
    assert (len(on), on[-1].size_bytes, on[:1], on.sizes_bytes) == (2, 21, (WAITING,), [20, 21])
    assert hash(on) == hash(tuple(on))
    assert repr(first) == repr((Arrival(5, 10),))
    assert isinstance(first, ProgramArrivals)
    assert (first.waiting, first.starts_ns, on.waiting, on.starts_ns) == ([], [5], [0, 1], [3, 3])


def test_transfers_that_follow_one_step_share_what_they_wait_for() -> None:
    on = chain()[2].arrivals
    assert on[0].after is on[1].after
    program = program_of(chain())
    assert program.joins.tolist() == [NOTHING, NOTHING, 0, 0]
    assert program.join_firsts.tolist() == [0, 2]


def test_columns_are_made_of_objects_where_there_are_none() -> None:
    flows = chain()
    assert program_of(flows) is flows[0].arrivals.program  # type: ignore[attr-defined]
    some = program_of(flows[1:])
    assert some.firsts.tolist() == [0, 1, 3]
    assert some.causes.tolist() == [NOTHING, 0, NOTHING, 0], "h0 is not among them"
    listed = program_of([Flow("h0", "h1", "write", 1, 0, arrivals=tuple(flows[0].arrivals))])
    assert (listed.starts_ns.tolist(), listed.sizes_bytes.tolist()) == ([5], [10])
    assert program_of([]).firsts.tolist() == [0]


def test_a_flow_knows_its_sizes_and_whether_it_waits_without_objects() -> None:
    flows = chain()
    listed = [Flow("h1", "h3", "write", 1, 0, arrivals=tuple(flow.arrivals)) for flow in flows]
    for as_columns, as_objects in zip(flows, listed, strict=True):
        assert as_columns.finite_bytes == as_objects.finite_bytes
        assert as_columns.arrived_sizes_bytes == as_objects.arrived_sizes_bytes
        assert as_columns.waiting == as_objects.waiting
        assert as_columns.arrived_starts_ns == as_objects.arrived_starts_ns
