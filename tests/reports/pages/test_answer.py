"""Tests: the answer to the experiment's question."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.sample_run import Sample, write_manifest, write_sample_run
from helpers.small_runs import SECOND, cell, delivery, manifest, tiny_view, transfer

from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.pages.answer import answer_of
from rogue.reports.pages.answer_table import ROWS_MAX, order
from rogue.reports.pages.tables import ReportTable
from rogue.reports.quantities import NARROW_SPACE
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.results.headlines import subject_of

QUEUES = "Does RoGUE keep queues short?"
Values = dict[str, Sequence[float | None]]


def queues(
    directory: Path,
    kilobytes: Values,
    question: str = QUEUES,
    points: Sequence[int] = (8,),
    per_sender: Mapping[str, int] | None = None,
    facts: Mapping[str, Mapping[str, str]] | None = None,
) -> Results:
    """A cell per transport, factor point and value, whose queue holds that many KB all the time.

    per_sender: KB more for each sender, by transport. facts: by transport.
    """
    cells = []
    for transport, values in kilobytes.items():
        for senders in points:
            for repetition, value in enumerate(values, start=1):
                entry = cell(
                    f"{transport}-{senders}-r{repetition}",
                    transport=transport,
                    factors={"workload.senders": senders} if len(points) > 1 else {},
                    repetition=repetition,
                    facts={"bottleneck": "s0:0", **(facts or {}).get(transport, {})},
                )
                held_bytes = int(1000 * ((value or 0) + (per_sender or {}).get(transport, 0) * senders))
                rows = [
                    {"node": "s0", "port": "0", "t_ns": n * SECOND, "bytes": held_bytes} for n in range(1, 5)
                ]
                flow = delivery("main/h0->h1", 4 * SECOND, 500)
                tables = {"throughput": [flow], **({"queues": rows} if value is not None else {})}
                cells.append((entry, tables))
    return Results(Run(write_cells(directory, cells, {"kind": "incast"}, question=question)))


def said(results: Results) -> list[str]:
    return [sentence.replace(NARROW_SPACE, " ") for sentence in answer_of(results).sentences]


def table_of(results: Results) -> ReportTable:
    table = answer_of(results).table
    assert table is not None
    return table


def bold(results: Results, column: int = 1) -> list[str]:
    return [row[0].text for row in table_of(results).rows if row[column].is_best]


def test_winner_and_losers_have_their_numbers(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [105, 106, 107], "roce": [3850, 3840, 3860], "dctcp": [94, 94, 95]})
    assert said(results) == [
        "RoGUE has a median queue of 106 KB; DCTCP is better with 94.3 KB; Native RoCE without PFC is worse"
        " with 3.85 MB."
    ]
    assert bold(results) == ["DCTCP"]
    assert answer_of(results).figures[0] == "probe_latency"


def test_overlapping_spans_are_level_and_both_are_bold(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [90, 100, 110], "dctcp": [80, 95, 105], "roce": [900, 901, 902]})
    assert said(results)[0].startswith("RoGUE has a median queue of 100 KB; DCTCP is level with 93.3 KB; ")
    assert bold(results) == ["RoGUE", "DCTCP"]


def test_nothing_is_bold_where_all_are_level(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [90, 110], "dctcp": [80, 105]})
    assert said(results) == ["RoGUE has a median queue of 100 KB; DCTCP is level with 92.5 KB."]
    assert bold(results) == []


def test_difference_of_single_runs_may_be_chance(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [100], "dctcp": [90]})
    assert table_of(results).caption.startswith("One run each: there is no interval.")


def test_question_names_the_transport_that_others_are_compared_with(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [100, 101], "dctcp": [90, 91]}, "Does DCTCP keep queues shorter?")
    assert said(results) == ["DCTCP has a median queue of 90.5 KB; RoGUE is worse with 100 KB."]


def test_of_many_transports_the_extremes_are_said_and_all_are_in_the_table(tmp_path: Path) -> None:
    names = ("rogue", "roce", "roce+pfc", "irn", "irn+pfc", "iwarp", "dctcp", "cubic")
    results = queues(
        tmp_path, {name: [100 * place, 100 * place + 1] for place, name in enumerate(names, start=1)}
    )
    assert said(results) == [
        "RoGUE has a median queue of 100 KB; 7 are worse, from Native RoCE without PFC (200 KB) to"
        " cubic (800 KB)."
    ]
    assert len(table_of(results).rows) == len(names)


def test_factor_points_are_counted(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [100, 101], "dctcp": [90, 91]}, points=(2, 4))
    assert said(results) == [
        "RoGUE has a median queue of 100 KB over 2 points (senders 2 and 4); DCTCP is better with 90.5 KB."
    ]
    table = table_of(results)
    assert [head.text for head in table.head[:3]] == ["Transport", "Senders", "Queue p50"]
    assert len(table.rows) == 4


def test_many_points_are_a_row_per_transport(tmp_path: Path) -> None:
    points = range(1, ROWS_MAX // 2 + 2)
    results = queues(tmp_path, {"rogue": [100, 101], "dctcp": [90, 91]}, points=points)
    rows = [[value.text for value in row[:2]] for row in table_of(results).rows]
    assert rows == [["RoGUE", "100"], ["DCTCP", "90.5"]]
    assert table_of(results).rows[1][1].note == f"best at {len(points)} of {len(points)}"
    assert bold(results) == ["DCTCP"]


def test_rival_that_is_better_at_some_points_has_the_range_of_all(tmp_path: Path) -> None:
    kilobytes: Values = {"rogue": [100, 101], "dctcp": [70, 71]}
    results = queues(tmp_path, kilobytes, points=(2, 4), per_sender={"dctcp": 10})
    (sentence,) = said(results)
    assert sentence.endswith(
        "; DCTCP, with 90.5 KB to 110 KB in all, is better at 1 and worse at 1 of 2 points."
    )


def test_each_is_best_at_a_point_where_all_are_level(tmp_path: Path) -> None:
    points = range(1, ROWS_MAX // 2 + 2)
    kilobytes: Values = {"rogue": [100, 101], "dctcp": [90, 91]}
    results = queues(tmp_path, kilobytes, points=points, per_sender={"dctcp": 10})
    notes = [row[1].note for row in table_of(results).rows]
    assert notes == [f"best at {len(points)} of {len(points)}", f"best at 1 of {len(points)}"]
    assert bold(results) == ["RoGUE"]
    assert table_of(results).caption.endswith("Level: intervals that touch, or means within 1 %.")


def test_no_transport_is_bold_in_a_column_that_is_level_at_every_point(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [100, 101], "dctcp": [100, 101]}, points=range(ROWS_MAX // 2 + 2))
    assert bold(results) == []


def test_defaults_beyond_their_line_rate_are_in_the_answer(tmp_path: Path) -> None:
    beyond = {"dctcp": {"unpublished_parameters": "published for up to 10 Gb/s"}}
    results = queues(tmp_path, {"rogue": [100, 101], "dctcp": [900, 901]}, facts=beyond)
    assert said(results)[1:] == [
        "DCTCP has defaults beyond its published line rate, and may do better with others."
    ]


def test_one_transport_has_no_rival(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [100, 101]})
    assert said(results) == ["RoGUE has a median queue of 100 KB."]
    assert bold(results) == []


def test_measure_that_a_transport_lacks_is_no_loss(tmp_path: Path) -> None:
    results = queues(tmp_path, {"rogue": [100, 101], "dctcp": [None, None]})
    assert said(results) == ["RoGUE has a median queue of 100 KB."]
    assert [row[1].text for row in table_of(results).rows] == ["100", "–"]


def test_losses_and_a_measure_that_contradicts_are_said(results: Results) -> None:
    assert said(results) == [
        "RoGUE has a median queue of 90.1 KB and leaves 16.7 % of its transfers unfinished; Native RoCE"
        " without PFC is worse with 4.2 MB, leaves 16.5 % of its transfers unfinished and loses 25.0 % of"
        " its queue pairs."
    ]


def test_void_measure_says_what_is_missing(tmp_path: Path) -> None:
    """RoGUE is cut for 2 of 4 s and arrives; RoCE delivers at full rate for 1 s and dies."""
    flow = "main/h0->h1"
    done = [transfer(flow, end_ns=4 * SECOND, fct_ns=4 * SECOND)]
    dead = [transfer(flow, end_ns=SECOND, status="error")]
    rates = [delivery(flow, n * SECOND, 500) for n in range(1, 5)]
    cells = [
        (cell("rogue-r1"), {"flows": done, "throughput": rates}),
        (cell("roce-r1", transport="roce"), {"flows": dead, "throughput": [delivery(flow, SECOND, 1000)]}),
    ]
    question = "Does a native RoCE transfer take longer?"
    run = write_cells(tmp_path, cells, {"kind": "incast"}, faults=[{"kind": "link_cut"}], question=question)
    first, *_ = said(Results(Run(run)))
    assert first.startswith("Native RoCE without PFC has no mean completion time (")
    assert "RoGUE is better with 4 s" in first


def test_void_mean_says_how_to_get_it(tmp_path: Path) -> None:
    """Of 50 transfers 10 are under way when the run ends: a mean would be that of the short ones."""
    flow = "main/h0->h1"
    rows = [transfer(flow, fct_ns=1_000, slowdown=2.0, transfer_id=n) for n in range(40)]
    late = {"fct_ns": None, "end_ns": None, "status": "unfinished"}
    rows += [transfer(flow, transfer_id=n, **late) for n in range(40, 50)]
    results = Results(Run(write_cells(tmp_path, [(cell("rogue-r1"), {"flows": rows})], {"kind": "poisson"})))
    first, *_, last = said(results)
    assert first.startswith("RoGUE has no mean completion time (10 of 50 unfinished) and leaves 20.0 % of ")
    assert last == (
        "A mean needs 99.0 % of the transfers (10 of 50 unfinished); a longer drain_for lets more of them"
        " finish."
    )
    assert [row[1].note for row in table_of(results).rows] == ["10 of 50 unfinished"]


Completed = dict[str, Sequence[int]]


def completions(
    directory: Path, completed: Completed, kind: str = "poisson", question: str = "", runs: int = 1
) -> Results:
    """Cells in which so many of 50 transfers complete: a number per transport and factor point."""
    flow, late = "main/h0->h1", {"fct_ns": None, "end_ns": None, "status": "unfinished"}
    cells = []
    for transport, numbers in completed.items():
        for point, number in enumerate(numbers, start=1):
            rows = [transfer(flow, fct_ns=1_000 * point, slowdown=2.0, transfer_id=n) for n in range(number)]
            rows += [transfer(flow, transfer_id=n, **late) for n in range(number, 50)]
            factors = {"workload.senders": point} if len(numbers) > 1 else {}
            cells += [
                (
                    cell(f"{transport}-{point}-r{run}", transport=transport, factors=factors, repetition=run),
                    {"flows": rows},
                )
                for run in range(1, runs + 1)
            ]
    return Results(Run(write_cells(directory, cells, {"kind": kind}, question=question)))


def test_void_points_are_counted(tmp_path: Path) -> None:
    first, *_ = said(completions(tmp_path, {"rogue": [50, 50, 40], "dctcp": [50, 40, 50]}))
    assert first.startswith(
        "RoGUE has a mean completion time of 1 µs to 2 µs at 2 of 3 points (senders 1, 2 and 3), and none at"
        " 1 (10 of 50 unfinished)"
    )
    assert "with 1 µs to 3 µs (none at 1 of 3 points)" in first


def test_two_void_means_are_not_comparable(tmp_path: Path) -> None:
    first, *_ = said(completions(tmp_path, {"rogue": [40], "dctcp": [30]}))
    assert "; DCTCP, with none (20 of 50 unfinished), is not comparable" in first


def test_many_transports_with_losses_are_counted(tmp_path: Path) -> None:
    names = ("rogue", "roce", "roce+pfc", "irn", "irn+pfc", "iwarp", "dctcp", "cubic")
    first, *_ = said(completions(tmp_path, {name: [40] for name in names}))
    assert first.endswith("; 7 others also lose probes, transfers or queue pairs, or leave the port idle.")


def test_other_measures_answer_where_those_of_the_kind_are_missing(tmp_path: Path) -> None:
    first, *_ = said(completions(tmp_path, {"rogue": [40]}, kind="incast"))
    assert first.startswith("RoGUE has no mean completion time (10 of 50 unfinished)")


def test_few_and_many_runs_are_told_apart(tmp_path: Path) -> None:
    table = table_of(queues(tmp_path, {"rogue": [100, 101, 102, 103], "dctcp": [90, 91, 92]}))
    assert table.caption.startswith(
        "Mean over 3 to 4 runs; below it the 95 % interval (up to 3 runs: the least and the largest of them)."
    )


def test_void_points_of_many_are_in_the_note(tmp_path: Path) -> None:
    points = ROWS_MAX + 1
    results = completions(tmp_path, {"rogue": [*[50] * (points - 2), 40, 40]})
    (value,) = [row[1] for row in table_of(results).rows]
    assert (value.text, value.note) == ("1.00 to 15.0", f"none at 2 of {points}")


def test_percentile_among_the_unfinished_is_bounded_over_many_points(tmp_path: Path) -> None:
    results = completions(tmp_path, {"rogue": [40] * (ROWS_MAX + 1)}, question="How long is the tail?")
    (value,) = [row[1] for row in table_of(results).rows]
    assert (value.text.replace(NARROW_SPACE, " "), value.note) == ("≥ 2.00", "")


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Does a long queue harm DCTCP?", "DCTCP"),
        ("Does A harm DCTCP?", "A"),
        ("Does RoGUE over UC keep queues short?", "RoGUE over UC"),
        ("Is dctcp better than RoGUE?", "DCTCP"),
        ("Is it better?", "A"),
    ],
)
def test_subject_is_a_whole_name(tmp_path: Path, question: str, subject: str) -> None:
    names = ("A", "RoGUE", "RoGUE over UC", "DCTCP")
    cells = [
        (cell(f"c{n}-r1", transport=name, transport_name="rogue"), {"flows": [transfer("main/h0->h1")]})
        for n, name in enumerate(names)
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "ping"}, question=question)))
    assert subject_of(results) == subject


def test_nothing_finished(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest([cell(status="failed")]))
    answer = answer_of(Results(Run(tmp_path)))
    assert answer.sentences == ("No cell finished, so there is nothing to compare.",)
    assert answer.table is None


def test_cell_without_tables(tmp_path: Path) -> None:
    answer = answer_of(Results(tiny_view(tmp_path, {}).run))
    assert answer.sentences == ("The finished cells have none of the measures that the question needs.",)


@pytest.mark.parametrize("kind", ["staggered", "pairs", "random_transfers", "waiting", "pings", "sweep"])
def test_every_kind_of_run_has_an_answer(kind: str, request: pytest.FixtureRequest) -> None:
    results = request.getfixturevalue(kind)
    answer = answer_of(results)
    assert answer.table is not None
    assert all(sentence.endswith(".") and " nan" not in sentence for sentence in answer.sentences)
    transports = {setting.style.name for setting in results.measured_settings}
    assert {row[0].text for row in answer.table.rows} == transports


def test_same_answer_of_the_sample_written_again(tmp_path: Path) -> None:
    runs = [write_sample_run(tmp_path / name, Sample(repetitions=1, seconds=1.0)) for name in ("a", "b")]
    first, second = (answer_of(Results(Run(run))) for run in runs)
    assert first == second


def interval(mean: float, half: float) -> MeanInterval:
    return MeanInterval(mean, mean - half, mean + half, 3)


NEVER_TWICE = MeanInterval(math.inf, 90, math.inf, 3, (90, math.inf, math.inf))


@pytest.mark.parametrize(
    ("own", "other", "metric", "expected"),
    [
        (interval(70, 5), interval(100, 5), "probe_p50_ns", 1),
        (interval(100, 5), interval(70, 5), "probe_p50_ns", -1),
        (interval(100, 5), interval(70, 5), "aggregate_bps", 1),
        (interval(70, 20), interval(100, 20), "probe_p50_ns", 0),  # the intervals touch
        (interval(100.0, 0.1), interval(100.9, 0.1), "probe_p50_ns", 0),  # apart, but by less than 1 %
        (MeanInterval(70, None, None, 1), MeanInterval(100, None, None, 1), "probe_p50_ns", 1),
        (interval(0, 0), interval(0, 0), "interval_goodput_p10_share", 0),
        (interval(70, 5), NEVER_TWICE, "probe_p50_ns", 1),
        (NEVER_TWICE, interval(70, 5), "probe_p50_ns", -1),
        (NEVER_TWICE, NEVER_TWICE, "probe_p50_ns", 0),
        (interval(95, 5), NEVER_TWICE, "probe_p50_ns", 1),  # although one of its runs was as fast
        (NEVER_TWICE, interval(95, 5), "probe_p50_ns", -1),
    ],
)
def test_better_worse_or_level(own: MeanInterval, other: MeanInterval, metric: str, expected: int) -> None:
    assert order(own, other, metric) == expected
