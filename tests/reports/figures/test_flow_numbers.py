"""The numbers of figures of flows and hosts, worked out again from the rows of the tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.figure_rows import data, run_of
from helpers.sample_kinds import SIZES, sized_rows, write_cells
from helpers.sample_run import Sample, write_sample_run
from helpers.small_runs import SECOND, cell, delivery, tiny_view, transfer

from rogue.reports.drawing.layers import POINTS_MAX
from rogue.reports.drawing.panels import figure_look
from rogue.reports.figures import FIGURES
from rogue.reports.figures.control import NAMES_MAX as QUANTITIES_MAX
from rogue.reports.figures.flows import FLOWS_MAX, NAMES_MAX, drawn_width_ns
from rogue.reports.figures.transfers import TRANSFERS_MIN
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def test_a_distribution_is_exact_at_each_of_its_points(results: Results) -> None:
    (setting, *_) = results.measured_settings
    tables = [view.table("latency") for view in results.views_of(setting)]
    raw = np.concatenate([table["rtt_ns"].to_numpy(float) for table in tables if table is not None])
    line = data("probe_latency", results, series="RoGUE")
    assert len(line) <= POINTS_MAX + 1
    assert line["latency_ns"].iloc[[0, -1]].tolist() == [np.nanmin(raw), np.nanmax(raw)]
    for at, fraction in line[["latency_ns", "fraction"]].iloc[1::40].to_numpy():
        assert (raw <= at).mean() == pytest.approx(fraction, abs=1e-9 + (raw == at).mean())


def test_transfers_that_did_not_complete_keep_a_line_below_one(pairs: Results) -> None:
    views = [view for view in pairs.views.values() if view.entry.id.startswith("rogue-load0.1-")]
    flows = pd.concat([table for view in views if (table := view.table("flows")) is not None])
    long = flows[flows["size_bytes"] > 10_000]
    line = data("completion_times", pairs, panel="load 0.1: long transfers", series="RoGUE")
    assert line["fraction"].max() == pytest.approx((long["status"] == "ok").mean())
    assert line["fraction"].max() < 1


def test_back_to_back_or_lost_transfers_have_no_completion_times(results: Results, tmp_path: Path) -> None:
    lost = [transfer(f"main/h{n}->h1", start_ns=n, end_ns=None, status="unfinished") for n in range(300)]
    for run in (results, Results(tiny_view(tmp_path, {"flows": lost}).run)):
        assert FIGURES["completion_times"]().skipped_because(run) is not None


def test_groups_of_a_trace_have_their_slowdowns(tmp_path: Path) -> None:
    found = {
        "main.web": (1.0, 2.0, 6.0),
        "main.db": (1.5, None),
        **{f"main.g{n}": (1.0,) * 3 for n in range(5)},
    }
    flows = [
        transfer(
            f"{group}/h{n}->h9", group=group, slowdown=ratio, fct_ns=ratio and int(1000 * ratio),
            status="ok" if ratio else "unfinished",
        )
        for group, ratios in found.items()
        for n, ratio in enumerate(ratios)
    ]  # fmt: skip
    results = run_of(tmp_path, {"flows": flows})
    assert data("group_slowdowns", results)["panel"].nunique() == 6, "the largest groups"
    line = data("group_slowdowns", results, panel="web")
    assert line[["slowdown", "fraction"]].to_numpy()[1:] == pytest.approx(
        np.array([[1, 1 / 3], [2, 2 / 3], [6, 1]])
    )


def test_slowdowns_by_size_are_percentiles_of_classes_that_all_lines_share(tmp_path: Path) -> None:
    cells = [
        (cell(f"{name}-r1", transport=name), {"flows": sized_rows(dict.fromkeys(SIZES, ratio), lost=lost)})
        for name, ratio, lost in (("rogue", 9.0, 0), ("roce", 18.0, 30))
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "poisson"})))
    p50, p95 = data("size_slowdowns", results, panel="p50"), data("size_slowdowns", results, panel="p95")
    assert p50["size_bytes"].tolist() == [*map(float, SIZES)] * 2
    assert p50["slowdown"].tolist() == [9.0] * 3 + [18.0] * 3
    assert np.isnan(p95["slowdown"]).tolist() == [False] * 5 + [True]


def test_few_sizes_or_few_transfers_are_no_distribution_over_sizes(tmp_path: Path) -> None:
    two = [row for row in sized_rows(dict.fromkeys(SIZES, 1.0)) if row["size_bytes"] != 1_000]
    few = sized_rows(dict.fromkeys(SIZES, 1.0))[:: 100 // (TRANSFERS_MIN - 1)]
    for number, flows in enumerate((two, few)):
        results = Results(tiny_view(tmp_path / str(number), {"flows": flows}).run)
        assert FIGURES["size_slowdowns"]().skipped_because(results) is not None


def test_queue_and_estimates_are_those_of_the_tables(results: Results) -> None:
    (setting, *_) = results.measured_settings
    views = results.views_of(setting)
    queues = pd.concat([view.bottleneck_queue for view in views if view.bottleneck_queue is not None])
    line = data("queue_distribution", results, series="RoGUE")
    assert line["queue_bytes"].max() == queues["bytes"].max()
    longest = pd.concat(
        [view.whole_bottleneck_queue for view in views if view.whole_bottleneck_queue is not None]
    )
    assert data("queue_over_time", results, series="RoGUE")["high"].max() == longest["max_bytes"].max()
    samples = pd.concat([table for view in views if (table := view.table("rtt")) is not None])
    known = samples[samples["accepted"] & samples["true_rtt_ns"].notna()]
    for mark, values in (("estimate", known["rtt_ns"]), ("truth", known["true_rtt_ns"])):
        drawn = data("rtt_estimate", results, mark=mark, series="RoGUE")["time_us"]
        assert (drawn.min(), drawn.max()) == pytest.approx((values.min() / 1e3, values.max() / 1e3))
    rates = pd.concat([view.samples for view in views if view.samples is not None])
    drawn = data("rate_estimate", results, mark="goodput at the receiver", series="RoGUE")["rate_gbps"]
    assert drawn.max() == pytest.approx(rates["goodput_bps"].max() / 1e9)


# Flows.


def test_thinned_throughput_keeps_the_bytes(tmp_path: Path) -> None:
    """1500 samples are drawn as averages over ten; the area below the line is what was delivered."""
    sample_ns = SECOND // 100
    rows = [delivery("main/h0->h1", n * sample_ns, n % 7 * 1000, sample_ns) for n in range(1, 1504)]
    flows = [transfer("main/h0->h1", end_ns=None, status="unfinished")]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows}, ideal_goodput_bps=1e6)
    assert drawn_width_ns(view) == 10 * sample_ns
    line = data("throughput", Results(view.run), mark="one flow")
    widths_s = np.append(np.full(150, 0.1), 0.03)
    delivered = sum(n % 7 * 1000 for n in range(1, 1504))
    assert (line["goodput_gbps"] * widths_s).sum() * 1e9 / 8 == pytest.approx(delivered)
    assert "Averages over 100\u202fms." in FIGURES["throughput"]().omission(Results(view.run))


@pytest.mark.parametrize("ends_s", [(4, 3), (4, 2)], ids=["at the end", "early"])
def test_the_ideal_share_ends_with_the_flows(tmp_path: Path, ends_s: tuple[int, int]) -> None:
    """Samples continue for twice as long as the flows do."""
    flows = [
        transfer(f"main/h{n}->h2", end_ns=end_s * SECOND, fct_ns=end_s * SECOND)
        for n, end_s in enumerate(ends_s)
    ]
    rows = [
        delivery(f"main/h{n}->h2", t_s * SECOND, 1000 if t_s <= end_s else 0)
        for n, end_s in enumerate(ends_s)
        for t_s in range(1, 9)
    ]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows}, ideal_goodput_bps=12e9)
    share = data("throughput", Results(view.run), mark="ideal share")
    assert share[["time_s", "goodput_gbps"]].to_numpy()[[0, -1]].tolist() == [[0.0, 6.0], [4.0, 6.0]]


def test_caption_lists_points_with_too_many_flows(tmp_path: Path) -> None:
    written = Sample(transports=("rogue",), senders=(2, FLOWS_MAX, FLOWS_MAX + 1), repetitions=1, seconds=0.2)
    results = Results(Run(write_sample_run(tmp_path, written)))
    assert len(FIGURES["throughput"]().shown(results)) == 2
    assert " Not drawn, with more than 64 flows: senders 65." in FIGURES["throughput"]().omission(results)


def test_few_flows_are_marks_and_many_are_boxes(tmp_path: Path) -> None:
    sample = Sample(senders=(4, NAMES_MAX + 1), repetitions=2, seconds=1.0)
    results = Results(Run(write_sample_run(tmp_path, sample)))
    (few, *_), (many, *_) = (FIGURES[name]().shown(results) for name in ("flow_shares", "flow_spread"))
    assert (few.factor_text, many.factor_text) == ("senders 4", "senders 17")
    marks = data("flow_shares", results, panel=few.title, mark="one repetition")
    for view in results.views_of(few):
        assert view.window is not None and view.ideal_share_bps is not None
        delivered = view.delivered_bytes_of_flows
        assert delivered is not None
        percent = 100 * delivered * 8e9 / view.window.duration_ns / view.ideal_share_bps
        own = marks[marks["repetition"] == view.entry.repetition]
        assert own["share_percent"].to_numpy() == pytest.approx(percent)
    boxes = data("flow_spread", results, series=many.style.name, mark="flows")
    assert len(boxes) == 2 * (NAMES_MAX + 1)


# Controls, hosts.


def test_each_quantity_of_a_control_has_a_panel_in_its_unit(tmp_path: Path) -> None:
    rows = [
        {"flow_id": flow, "t_ns": t, "name": "rate_bps", "value": 5e9}
        for flow in ("a", "b")
        for t in (0, SECOND)
    ]
    rows += [
        {"flow_id": "a", "t_ns": t, "name": f"q{n}", "value": n + t} for n in range(9) for t in (0, SECOND)
    ]
    results = run_of(tmp_path, {"flows": [transfer("main/h0->h1")], "control": rows})
    rates = data("control", results, panel="RoGUE: rate_bps")
    assert set(rates["unit"]) == {"Gb/s"}
    assert rates[rates["mark"] == "one flow"]["value"].tolist() == [5.0] * 4
    assert data("control", results)["panel"].nunique() == QUANTITIES_MAX
    assert " Without a panel: q7, q8." in FIGURES["control"]().omission(results)


@pytest.mark.parametrize("overruled", [[True, False, False, False], [False, False], [None, None]])
def test_window_and_limit_and_how_often_the_floor_overruled(
    tmp_path: Path, overruled: list[bool | None]
) -> None:
    start = {"flow_id": "a", "cwnd_packets": 4.0, "limiter_bps": 10**9, "accepted": True}
    rows = [start | {"t_ns": t, "overruled": each} for t, each in enumerate(overruled)]
    results = run_of(tmp_path, {"flows": [transfer("main/h0->h1")], "rtt": rows})
    assert data("window", results).groupby("panel", sort=False)["value"].first().tolist() == [4, 1]
    caption = FIGURES["window"]().omission(results)
    assert ("It was smaller after RoGUE 25.0\u202f% of the samples" in caption) == any(overruled)
    assert bool(caption) == any(overruled)


def test_processor_time_of_clients_and_servers(loaded: Results) -> None:
    """WRITE: the senders' mean is 30 %, the receiver's 10 and 20 %; the prober is neither."""
    rows = data("cpu_load", loaded, panel="verb write").set_index(["series", "end"])
    assert rows["load_percent"].tolist() == pytest.approx([30, 15, 15, 7.5])
    assert rows.loc[("RoGUE", "server"), ["low", "high"]].tolist() == pytest.approx([10, 20])


def test_recovery_has_events_and_what_was_sent_again(recovering: Results) -> None:
    events = data("recovery", recovering, panel="RoGUE, verb write: events")
    assert list(dict.fromkeys(events["event"])) == [
        "link_cut", "qp_failed", "shadow_switch", "resync_request", "link_restored", "resync_done",
    ]  # fmt: skip
    assert events["time_s"].tolist() == [0.5, 0.63, 0.63, 0.7, 0.9, 2.5, 2.6]
    assert events["mark"].tolist() == ["harm", "harm", *["step"] * 5]
    again = data("recovery", recovering, mark="sent again")
    assert again["panel"].unique().tolist() == ["RoGUE, verb write: sent again, 65.5\u202fKB in all"]
    assert set(again.loc[again["time_s"] < 0.7, "value"]) == {0}
    assert set(again.loc[again["time_s"] >= 0.7, "value"]) == {65_536}
    with figure_look():
        axes = FIGURES["recovery"]().draw(recovering).axes
    assert [axis.get_xlim() for axis in axes] == [(0, 4)] * 5, "all panels have one time"


def test_the_critical_path_is_the_chain_that_ended_last(waiting: Results) -> None:
    spans, path = (data("critical_path", waiting, mark=mark) for mark in ("transfer", "critical path"))
    assert spans["host"].tolist() == ["h1", "h2", "h3"]
    assert (1e6 * spans[["low", "high"]].to_numpy()).tolist() == [[0, 1], [1.5, 4], [0.5, 1.5]]
    assert (1e6 * path["time_s"]).tolist() == pytest.approx([0, 1, 1.5, 4])
    assert path["host"].tolist() == ["h1", "h1", "h2", "h2"]
