"""Tests: figures of flows and transfers."""

from pathlib import Path

import numpy as np
import pytest
from helpers.sample_kinds import SIZES, sized_rows, write_cells
from helpers.sample_run import Sample, write_sample_run
from helpers.small_runs import SECOND, cell, delivery, tiny_view, transfer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.completion_times import CompletionTimes
from rogue.reports.figures.estimates import RateEstimate
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.figures.flow_shares import NAMES_MAX, FlowShares, FlowSpread, shares
from rogue.reports.figures.group_slowdowns import GroupSlowdowns, slowdowns
from rogue.reports.figures.size_slowdowns import TRANSFERS_MIN, SizeSlowdowns
from rogue.reports.figures.throughput import ThroughputOverTime
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


@pytest.mark.parametrize(
    ("ends_s", "share"),
    [
        ((4, 3), [(0.0, 6.0), (4.0, 6.0)]),
        ((4, 2), [(0.0, 6.0), (4.0, 6.0)]),
    ],
    ids=["at the end", "early"],
)
def test_the_ideal_share_ends_with_the_flows(
    tmp_path: Path, ends_s: tuple[int, int], share: list[tuple[float, float]]
) -> None:
    """Samples go on for twice as long as the flows do."""
    flows = [
        transfer(f"main/h{number}->h2", end_ns=end_s * SECOND, fct_ns=end_s * SECOND)
        for number, end_s in enumerate(ends_s)
    ]
    rows = [
        delivery(f"main/h{number}->h2", t_s * SECOND, 1000 if t_s <= end_s else 0)
        for number, end_s in enumerate(ends_s)
        for t_s in range(1, 9)
    ]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows}, ideal_goodput_bps=12e9)
    with figure_look():
        (axis,) = ThroughputOverTime().draw(Results(view.run)).axes
    (line,) = [line for line in axis.get_lines() if line.get_label() == "ideal share"]
    assert np.asarray(line.get_xydata())[[0, -1]].tolist() == [[*point] for point in share]
    assert axis.get_xlim()[1] == 8.0


@pytest.mark.parametrize("figure", [ThroughputOverTime(), RateEstimate()])
@pytest.mark.parametrize(("end_ns", "is_drawn"), [(SECOND - 1, False), (SECOND, True)])
def test_a_cell_that_was_over_before_the_first_sample_has_no_empty_panel(
    tmp_path: Path, figure: ReportFigure, end_ns: int, is_drawn: bool
) -> None:
    rows = [delivery("main/h0->h2", SECOND, 1) | {"cwnd_over_rtt_bps": 8.0}]
    view = tiny_view(tmp_path, {"flows": [transfer("main/h0->h2", end_ns=end_ns)], "throughput": rows})
    assert figure.usable(view) == is_drawn


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Results:
    sample = Sample(senders=(4, NAMES_MAX + 1), repetitions=2, seconds=1.0)
    return Results(Run(write_sample_run(tmp_path_factory.mktemp("crowd"), sample)))


def test_few_flows_are_marks_and_many_are_boxes(crowd: Results) -> None:
    assert {setting.factor_text for setting in FlowShares().shown(crowd)} == {"senders 4"}
    assert {setting.factor_text for setting in FlowSpread().shown(crowd)} == {"senders 17"}


def test_a_row_per_transport_over_all_repetitions(crowd: Results) -> None:
    with figure_look():
        (axis,) = FlowSpread().draw(crowd).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["RoGUE", "Native RoCE"]
    text = FlowSpread().describe(crowd)
    assert text.count("34 flows of all repetitions") == 2
    setting = FlowSpread().shown(crowd)[0]
    values = np.concatenate([shares(view) for view in crowd.views_of(setting)])
    assert f"median {100 * np.median(values):.1f}" in text


def test_run_of_few_flows_says_why_it_has_none(sweep: Results) -> None:
    assert FlowSpread().skipped_because(sweep) == FlowSpread().missing
    assert "more than 16 flows" in FlowSpread().missing


def test_long_and_short_transfers_have_panels_of_their_own(pairs: Results) -> None:
    with figure_look():
        titles = [axis.get_title(loc="left") for axis in CompletionTimes().draw(pairs).axes]
    assert titles == [
        "load 0.1: long transfers",
        "load 0.1: short transfers",
        "load 0.75: long transfers",
        "load 0.75: short transfers",
    ]


def test_line_ends_where_transfers_did_not_complete(pairs: Results) -> None:
    """8 of 400 transfers per repetition never end, all of them long ones: 728 and 72 in both repetitions."""
    flows = [
        view.table("flows") for view in pairs.views.values() if view.entry.id.startswith("rogue-load0.1-")
    ]
    long = [table[table["size_bytes"] > 10_000] for table in flows if table is not None]
    done = sum(int((table["status"] == "ok").sum()) for table in long) / sum(map(len, long))
    line = CompletionTimes().draw(pairs).axes[0].get_lines()[0]
    across, up = (np.asarray(data, dtype=float) for data in (line.get_xdata(), line.get_ydata()))
    assert up[np.isfinite(across)].max() == pytest.approx(done, abs=1 / 240)
    assert done < 1


def test_transfers_back_to_back_are_told_by_goodput_instead(results: Results, staggered: Results) -> None:
    for run in (results, staggered):
        assert CompletionTimes().skipped_because(run) is not None


def test_where_nothing_completes_there_is_no_line(tmp_path: Path) -> None:
    flows = [
        transfer(f"main/h{n}->h1", start_ns=n, size_bytes=10**6, end_ns=None, status="unfinished")
        for n in range(300)
    ]
    results = Results(tiny_view(tmp_path, {"flows": flows}).run)
    assert CompletionTimes().skipped_because(results) == CompletionTimes().missing


def drawn(results: Results) -> dict[str, list[tuple[list[float], list[float]]]]:
    with figure_look():
        axes = SizeSlowdowns().draw(results).axes
    return {
        axis.get_title(loc="left"): [
            (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
            for line in axis.lines
        ]
        for axis in axes
    }


def test_each_percentile_has_a_panel_with_a_point_per_class(tmp_path: Path) -> None:
    flows = sized_rows({1_000: 4.0, 20_000: 2.0, 400_000: 1.5})
    results = Results(tiny_view(tmp_path, {"flows": flows}).run)
    ((sizes, median),), ((_, p95),), ((_, p99),) = (drawn(results)[name] for name in ("p50", "p95", "p99"))
    assert (sizes, median, p95, p99) == ([*map(float, SIZES)], [4.0, 2.0, 1.5], [4.0, 2.0, 1.5], p95)
    words = SizeSlowdowns().describe(results).replace("\u202f", " ")
    assert "p50 and p95 and p99 of transfers around 1 KB 4.00, 4.00, 4.00; around 400 KB 1.50" in words


def test_a_percentile_that_did_not_complete_has_no_point(tmp_path: Path) -> None:
    flows = sized_rows({1_000: 1.0, 20_000: 1.0, 400_000: 1.0}, lost=30)
    panels = drawn(Results(tiny_view(tmp_path, {"flows": flows}).run))
    assert panels["p50"][0][1] == [1.0, 1.0, 1.0]
    assert np.isnan(panels["p95"][0][1]).tolist() == [False, False, True]


def test_lines_of_a_panel_have_the_same_classes(tmp_path: Path) -> None:
    cells = [
        (cell(f"{name}-r1", transport=name), {"flows": sized_rows(dict.fromkeys(SIZES, ratio))})
        for name, ratio in (("rogue", 9.0), ("roce", 18.0))
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "poisson"})))
    (one, other) = drawn(results)["p50"]
    assert one[0] == other[0]
    assert (one[1][0], other[1][0]) == (9.0, 18.0)


def test_few_sizes_or_few_transfers_are_no_distribution_over_sizes(tmp_path: Path) -> None:
    two = [row for row in sized_rows(dict.fromkeys(SIZES, 1.0)) if row["size_bytes"] != 1_000]
    few = sized_rows(dict.fromkeys(SIZES, 1.0))[:: 100 // (TRANSFERS_MIN - 1)]
    for number, flows in enumerate((two, few)):
        results = Results(tiny_view(tmp_path / str(number), {"flows": flows}).run)
        assert SizeSlowdowns().skipped_because(results) == SizeSlowdowns().missing


def rows(group: str, *found: float | None) -> list[dict[str, object]]:
    """Transfers that alone take a microsecond each."""
    return [
        transfer(
            f"{group}/h{number}->h9",
            group=group,
            slowdown=value,
            fct_ns=None if value is None else int(1000 * value),
            status="ok" if value else "unfinished",
        )
        for number, value in enumerate(found)
    ]


def test_each_group_has_a_panel_and_its_words(tmp_path: Path) -> None:
    flows = rows("main.web", 1.0, 2.0, 6.0) + rows("main.db", 1.5, None)
    view = tiny_view(tmp_path, {"flows": flows})
    assert {group: values.tolist() for group, values in slowdowns(view).items()} == {
        "main.web": [1.0, 2.0, 6.0], "main.db": [1.5, np.inf],
    }  # fmt: skip
    results = Results(view.run)
    with figure_look():
        assert [axis.get_title(loc="left") for axis in GroupSlowdowns().draw(results).axes] == ["db", "web"]
    words = GroupSlowdowns().describe(results).replace("\u202f", " ")
    assert "web: 3 transfers of 3 completed; completion time 3 µs on average; slowdown 2.00 at the" in words
    assert "db: 1 transfer of 2 completed; completion time none on average; slowdown 1.50 at the" in words


def test_groups_of_traffic_are_no_groups_of_a_trace(tmp_path: Path) -> None:
    results = Results(tiny_view(tmp_path, {"flows": rows("storage", 1.0) + rows("main", 2.0)}).run)
    assert GroupSlowdowns().skipped_because(results) == GroupSlowdowns().missing


def test_the_largest_groups_are_shown(tmp_path: Path) -> None:
    flows = [row for number in range(9) for row in rows(f"main.g{number}", *[1.0] * (number + 1))]
    results = Results(tiny_view(tmp_path, {"flows": flows}).run)
    assert len(GroupSlowdowns().draw(results).axes) == 6
    assert "g2:" not in GroupSlowdowns().describe(results)
    assert "g8: 9 transfers of 9" in GroupSlowdowns().describe(results)
