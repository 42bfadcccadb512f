"""Transfers one by one."""

from rogue.workloads.traffic.program import program_of
from rogue.workloads.traffic.waiting import OneByOne
from rogue.workloads.traffic.workload import Arrival, Flow, Predecessor


def test_the_last_cause_and_its_pause_decide_and_flows_keep_their_order() -> None:
    """a ends at 10 and at 0 + 30; b starts at max(10 + 5, 30 + 1) = 31, so c's second not before 31."""
    both = (Predecessor("a->x", 0, "end", 5), Predecessor("a->x", 1, "arrival", 1))
    after_start = (Predecessor("b->x", 0, "start"),)
    flows = [
        Flow("a", "x", "write", 1, 0, arrivals=(Arrival(0, 10), Arrival(0, 30))),
        Flow("b", "x", "write", 1, 0, arrivals=(Arrival(0, 100, both),)),
        Flow("c", "x", "write", 1, 0, arrivals=(Arrival(0, 1, after_start), Arrival(0, 200))),
    ]
    program = program_of(flows)
    order = OneByOne(program)
    assert len(order) == 5
    assert order.last_end_ns(program.sizes_bytes) == 231


def test_who_waits_for_nobody_there_is_never_starts() -> None:
    flows = [
        Flow("a", "x", "write", 1, 0, arrivals=(Arrival(0, 1, (Predecessor("b->x", 0),)), Arrival(0, 1)))
    ]
    assert len(OneByOne(program_of(flows))) == 0
