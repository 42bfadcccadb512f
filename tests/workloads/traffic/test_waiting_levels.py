"""Whole levels at once say the same as transfers one by one."""

from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.traffic.program import MOMENTS, program_of
from rogue.workloads.traffic.waiting import Levels, OneByOne
from rogue.workloads.traffic.workload import Arrival, Flow, Predecessor

CAUSES = st.builds(
    Predecessor,
    st.sampled_from(["h0->x", "h1->x", "h2->x", "nobody"]),
    st.integers(0, 4),
    st.sampled_from(MOMENTS),
    st.integers(0, 50),
)
ARRIVALS = st.builds(Arrival, st.integers(0, 100), st.integers(1, 9), st.lists(CAUSES, max_size=2).map(tuple))


def flow(number: int, arrivals: list[Arrival]) -> Flow:
    return Flow(f"h{number}", "x", "write", 1, 0, arrivals=tuple(arrivals))


@given(st.lists(st.lists(ARRIVALS, max_size=4), max_size=3))
def test_both_ways_free_the_same_transfers_and_end_at_the_same_instant(listed: list[list[Arrival]]) -> None:
    program = program_of([flow(number, arrivals) for number, arrivals in enumerate(listed)])
    levels, one_by_one = Levels(program), OneByOne(program)
    assert len(levels) == len(one_by_one)
    if len(levels) == len(program.joins):
        took_ns = program.sizes_bytes * 7
        assert levels.last_end_ns(took_ns) == one_by_one.last_end_ns(took_ns)


def test_a_long_chain_is_narrow_and_a_wide_one_is_not() -> None:
    """700 levels of one transfer, or of forty."""
    chain = [Arrival(0, 1)] * 700
    assert Levels(program_of([flow(0, chain)])).are_narrow
    wide = Levels(program_of([flow(number, chain) for number in range(40)]))
    assert (wide.are_narrow, len(wide)) == (False, 28_000)
