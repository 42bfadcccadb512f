"""The window in which all flows have work, and goodput inside it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers.small_runs import SECOND, delivery, tiny_view, transfer

from rogue.reports.cells.view import CellView, Window, common_interval_ns, once_per_cell

FIRST, SECOND_FLOW = "main/h0->h2", "main/h1->h2"
Rows = Sequence[Mapping[str, object]]


def flow_view(
    directory: Path, flows: Rows, throughput: Rows = (), queues: Rows = (), **facts: object
) -> CellView:
    tables = {"flows": flows, "throughput": throughput, "queues": queues}
    return tiny_view(directory, {name: rows for name, rows in tables.items() if rows}, **facts)


def samples(*flow_ids: str, seconds: int = 4) -> list[dict[str, object]]:
    """Return a byte per second of each flow."""
    return [delivery(flow_id, t * SECOND, 1) for t in range(1, seconds + 1) for flow_id in flow_ids]


DONE_EARLY = [transfer(FIRST, end_ns=2 * SECOND + 7), transfer(SECOND_FLOW, end_ns=4 * SECOND)]
CONTINUES = [
    transfer(FIRST, end_ns=SECOND),
    transfer(FIRST, start_ns=SECOND, end_ns=3 * SECOND),
    transfer(SECOND_FLOW, end_ns=None, status="unfinished"),
]


@pytest.mark.parametrize(("flows", "end_s"), [(DONE_EARLY, 2), (CONTINUES, 3)])
def test_window_ends_when_the_first_flow_is_done(
    tmp_path: Path, flows: list[dict[str, object]], end_s: int
) -> None:
    """A flow with a later transfer is not done by its first one."""
    view = tiny_view(tmp_path, {"flows": flows, "throughput": samples(FIRST, SECOND_FLOW)})
    assert view.window == Window(0, end_s * SECOND)


@pytest.mark.parametrize(("end_ns", "is_over"), [(SECOND - 1, True), (SECOND, False)])
def test_traffic_that_is_over_before_the_first_sample_has_no_rate(
    tmp_path: Path, end_ns: int, is_over: bool
) -> None:
    """The second flow begins late, so that the whole traffic would count; the queue counts while it lasts."""
    flows = [transfer("main/h0->h2", end_ns=100), transfer("main/h1->h2", start_ns=500, end_ns=end_ns)]
    rows = [delivery(f"main/h{number}->h2", SECOND, 1) for number in (0, 1)]
    queues = [{"port": "s0->h2", "t_ns": t_ns, "bytes": size} for t_ns, size in ((400, 7), (SECOND + 1, 0))]
    flows += [transfer("main/h0->h2", start_ns=300, end_ns=400)]  # idle in between
    tables = {"flows": flows, "throughput": rows, "queues": queues}
    view = tiny_view(tmp_path, tables, bottleneck_port="s0->h2")
    assert view.was_over_at_once == is_over
    assert view.window == (None if is_over else Window(0, SECOND))
    assert view.load_window == (Window(0, end_ns) if is_over else Window(0, SECOND))
    assert view.bottleneck_queue is not None and view.bottleneck_queue["bytes"].tolist() == [7]


def test_failure_does_not_end_the_window(tmp_path: Path) -> None:
    """A flow that dies at 1 s counts as zero until the end; otherwise failing would look like finishing."""
    flows = [transfer(FIRST, status="error", end_ns=SECOND), transfer(SECOND_FLOW, end_ns=4 * SECOND)]
    rows = [delivery(FIRST, SECOND, 100), *(delivery(SECOND_FLOW, t * SECOND, 100) for t in (1, 2, 3, 4))]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows})
    assert view.window == Window(0, 4 * SECOND)
    goodput = view.goodput(SECOND)
    assert goodput is not None
    assert goodput["main/h0->h2"].tolist() == [800, 0, 0, 0]
    assert goodput["main/h1->h2"].tolist() == [800, 800, 800, 800]
    assert view.failed_flow_ids == ("main/h0->h2",)


def test_goodput_adds_samples_to_intervals(tmp_path: Path) -> None:
    """Ten samples of 100 ms make 1 s; the half interval at the end does not count."""
    tenth = SECOND // 10
    rows = [delivery(FIRST, n * tenth, n, tenth) for n in range(1, 16)]
    view = flow_view(tmp_path, [transfer(FIRST, end_ns=None, status="unfinished")], rows)
    goodput = view.goodput(SECOND)
    assert goodput is not None
    assert goodput.index.tolist() == [SECOND]
    assert goodput["main/h0->h2"].tolist() == [8.0 * sum(range(1, 11))]


def test_coarse_samples_have_no_goodput(tmp_path: Path) -> None:
    assert flow_view(tmp_path, [transfer(FIRST)], samples(FIRST, seconds=1)).goodput(SECOND // 10) is None


def test_ideal_share_counts_failed_flows(tmp_path: Path) -> None:
    flows = [transfer("main/h0->h2"), transfer("main/h1->h2", status="error")]
    view = tiny_view(tmp_path, {"flows": flows}, ideal_goodput_bps=9e9)
    assert view.ideal_share_bps == 4.5e9


def test_bottleneck_is_the_longest_queue_inside_the_window(tmp_path: Path) -> None:
    queues = [
        {"node": "s0", "port": port, "t_ns": t * SECOND, "bytes": size, "max_bytes": size}
        for port, size in (("s0->h2", 500), ("s0->h1", 10))
        for t in (1, 2, 3)
    ]
    view = flow_view(tmp_path, [transfer(FIRST)], samples(FIRST, seconds=3), queues)
    assert view.bottleneck_port == ("s0->h2", 0)
    assert view.bottleneck_queue is not None
    assert view.bottleneck_queue["t_ns"].tolist() == [SECOND, 2 * SECOND]


def test_queue_counts_while_transfers_arrive_not_while_they_drain(tmp_path: Path) -> None:
    """Of ten samples those after the warm-up of 2 s and up to the last arrival at 5 s; the figure has all."""
    queues = [{"node": "s0", "port": "s0->h2", "t_ns": t * SECOND, "bytes": t} for t in range(1, 11)]
    facts = {"warm_up_ns": 2 * SECOND, "arriving_ns": 5 * SECOND}
    view = flow_view(tmp_path, [transfer(FIRST, end_ns=8 * SECOND)], queues=queues, **facts)
    queue, whole = view.bottleneck_queue, view.whole_bottleneck_queue
    assert queue is not None
    assert queue["bytes"].tolist() == [3, 4, 5]
    assert whole is not None
    assert whole["bytes"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_bottleneck_named_by_the_testbed(tmp_path: Path) -> None:
    queues = [
        {"node": "s0", "port": port, "priority": priority, "t_ns": SECOND, "bytes": size_bytes}
        for port, priority, size_bytes in (("s0->h0", 0, 900), ("s0->h2", 0, 10), ("s0->h2", 3, 20))
    ]
    assert tiny_view(tmp_path / "a", {"queues": queues}).bottleneck_port == ("s0->h0", 0)
    named = tiny_view(tmp_path / "b", {"queues": queues}, bottleneck_port="s0->h2")
    assert named.bottleneck_port == ("s0->h2", 3)
    absent = tiny_view(tmp_path / "c", {"queues": queues}, bottleneck_port="s9->h9")
    assert absent.bottleneck_port == ("s0->h0", 0)


@pytest.mark.parametrize(
    ("seconds", "sample_ns", "interval_ns"),
    [
        (5, SECOND // 10, SECOND),
        (4, SECOND // 10, SECOND // 10),
        (4, SECOND, SECOND),
        (1, SECOND // 1000, SECOND // 10),
    ],
)
def test_interval_is_the_longest_that_fits_five_times(
    tmp_path: Path, seconds: int, sample_ns: int, interval_ns: int
) -> None:
    ends = range(sample_ns, seconds * SECOND + 1, sample_ns)
    rows = [delivery(FIRST, t, 1, sample_ns) for t in ends]
    view = flow_view(tmp_path, [transfer(FIRST, end_ns=seconds * SECOND)], rows)
    assert common_interval_ns([view]) == interval_ns


def test_cell_without_tables(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {})
    assert view.flow_ids == ()
    assert view.window is None
    assert view.goodput(SECOND) is None
    assert view.bottleneck_queue is None
    assert view.ideal_share_bps is None


def test_function_of_a_cell_is_cached(tmp_path: Path) -> None:
    calls: list[tuple[str, int]] = []

    @once_per_cell
    def derived(view: CellView, number: int) -> None:
        calls.append((view.entry.id, number))

    for name in ("one", "two"):
        view = tiny_view(tmp_path / name, {"flows": [transfer("main/h0->h2", end_ns=SECOND)]})
        for number in (1, 2, 1):
            derived(view, number)
    assert [number for _, number in calls] == [1, 2, 1, 2]


def test_payload_of_each_flow_is_that_inside_the_window(tmp_path: Path) -> None:
    """The second flow continues after the first is done; its throughput then does not count."""
    flows = [transfer(FIRST, end_ns=2 * SECOND), transfer(SECOND_FLOW, end_ns=4 * SECOND)]
    rows = [delivery(f"main/h{n}->h2", t * SECOND, 10 + n) for t in (1, 2, 3, 4) for n in (1, 0)]
    view = flow_view(tmp_path, flows, rows)
    assert view.delivered_bytes_of_flows is not None
    assert list(view.delivered_bytes_of_flows) == [20, 22]


def _joining(*rows: Any) -> dict[str, list[dict[str, object]]]:
    """h0 sends 2 bytes per ms from 17 ms to 45 ms, h1 as much from 29 ms to 64 ms."""
    ms = 1_000_000
    return {
        "flows": [
            transfer("main/h0->h2", start_ns=17 * ms, end_ns=45 * ms),
            transfer("main/h1->h2", start_ns=29 * ms, end_ns=64 * ms),
        ],
        "throughput": [
            delivery(f"main/{host}->h2", end * ms, 2 * (end - begin), (end - begin) * ms)
            for host, *edges in rows
            for begin, end in pairwise(edges)
        ],
    }


@pytest.mark.parametrize(
    "rows",
    [
        (("h0", 17, 20, 30, 40, 45), ("h1", 29, 30, 40, 50, 60, 64)),
        (("h0", 17, 27, 37, 45), ("h1", 29, 39, 49, 59, 64)),
    ],
    ids=["one grid", "each flow on its grid"],
)
def test_samples_of_any_length_are_split_by_time(tmp_path: Path, rows: Any) -> None:
    view, ms = tiny_view(tmp_path, _joining(*rows)), 1_000_000
    assert view.window == Window(17 * ms, 64 * ms)
    assert view.delivered_bytes_of_flows is not None
    assert view.delivered_bytes_of_flows.tolist() == [56, 70]
    goodput = view.goodput_within(Window(20 * ms, 60 * ms), 10 * ms)
    assert goodput is not None
    assert (goodput * 10 * ms / 8e9).round(9).to_numpy().T.tolist() == [[20, 20, 10, 0], [2, 20, 20, 20]]
    assert view.samples is not None
    assert set(view.samples["interval_ns"]) == {10 * ms}


def test_half_a_window_need_not_be_whole_samples(tmp_path: Path) -> None:
    """Of 3 s the second half has half of the second sample."""
    rows = [delivery("main/h0->h2", t * SECOND, 100 * t) for t in (1, 2, 3)]
    flows = [transfer("main/h0->h2", end_ns=None, status="unfinished")]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows})
    goodput = view.goodput(3 * SECOND // 2)
    assert goodput is not None
    assert (goodput * 1.5 / 8).to_numpy().ravel().tolist() == [200, 400]


def test_an_unfinished_transfer_lasts_until_the_end_of_the_run(tmp_path: Path) -> None:
    flows = [transfer("main/h0->h2", end_ns=None, status="unfinished")]
    view = tiny_view(tmp_path, {"flows": flows}, simulated_ns=3 * SECOND)
    assert view.whole_window == Window(0, 3 * SECOND)
