"""Tests: the summary of a run."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.sample_run import Sample, write_manifest, write_sample_run, write_table
from helpers.small_runs import SECOND, cell, delivery, filled, manifest, tiny_view, transfer

from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.pages.factor_spread import ROWS_OPEN_MAX, spread
from rogue.reports.pages.summary import RIVALS_MAX, cards, comparison, in_brief, order
from rogue.reports.quantities import NARROW_SPACE
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def ascii_spaces(text: str) -> str:
    return text.replace("\u202f", " ")


def test_each_transport_in_a_sentence(results: Results) -> None:
    rogue, roce = cards(results)
    assert rogue.style.name == "RoGUE"
    assert ascii_spaces(rogue.sentence) == (
        "8 flows share 9.21 Gb/s (99.5 % of the ideal) evenly (Jain’s index 1.000), a probe takes 71.1 µs"
        " at the median, 90.1 KB wait in the queue and no connection failed."
    )
    assert "unevenly" in roce.sentence
    assert roce.sentence.endswith("4 of 16 connections failed.")


def test_comparison_counts_and_lists_measures(results: Results) -> None:
    (sentence,) = comparison(results)
    text = ascii_spaces(sentence)
    assert text.startswith("Against Native RoCE, RoGUE is better on 3 and level on 1 of 4 measures: ")
    assert "the median probe takes 71.1 µs instead of 3.4 ms (48 times less)" in text
    assert "0 of 24 connections fail instead of 4 of 16" in text


def test_several_factor_points_are_ranges_and_one_example(sweep: Results) -> None:
    rogue, _ = cards(sweep)
    assert rogue.sentence.startswith("2 settings;")
    assert len(rogue.details) == 2
    assert rogue.details[1].startswith("With senders 4: 4 flows share")
    (sentence,) = comparison(sweep)
    assert "of 8 measures over 2 settings. With senders 4: " in sentence


def test_brief_is_the_score_and_the_deciding_measure(results: Results, sweep: Results) -> None:
    (sentence,) = map(ascii_spaces, in_brief(results))
    assert sentence == (
        "Against Native RoCE, RoGUE is better on 3 and level on 1 of 4 measures: "
        "the slowest tenth of flow intervals gets 98.3 % of the ideal share instead of 0 %."
    )
    (sentence,) = in_brief(sweep)
    assert "of 8 measures over 2 settings. With senders 4: the slowest tenth " in sentence


def test_brief_of_a_single_transport(tmp_path: Path) -> None:
    sample = Sample(transports=("rogue",))
    results = Results(Run(write_sample_run(tmp_path, sample)))
    alone, what = in_brief(results)
    assert alone == "Only RoGUE finished, so there is nothing to compare it with."
    assert what.startswith("RoGUE: 8 flows share ")


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
        (interval(95, 5), NEVER_TWICE, "probe_p50_ns", 0),  # the one that came back was as fast
    ],
)
def test_better_worse_or_level(own: MeanInterval, other: MeanInterval, metric: str, expected: int) -> None:
    assert order(own, other, metric) == expected


def test_single_runs_are_called_so(tmp_path: Path) -> None:
    results = Results(Run(write_sample_run(tmp_path, Sample(repetitions=1, seconds=1.0))))
    assert "these are single observations" in comparison(results)[0]


def test_comparison_of_one_transport(tmp_path: Path) -> None:
    sample = Sample(transports=("rogue",), repetitions=1, seconds=1.0)
    assert comparison(Results(Run(write_sample_run(tmp_path, sample)))) == [
        "Only RoGUE finished, so there is nothing to compare it with."
    ]


def test_of_many_transports_only_some_are_compared_in_words(tmp_path: Path) -> None:
    transports = ("rogue", "roce", "roce+pfc", "irn", "irn+pfc", "iwarp", "dctcp", "cubic")
    sample = Sample(transports=transports, repetitions=1, seconds=1.0)
    *sentences, rest = comparison(Results(Run(write_sample_run(tmp_path, sample))))
    assert len(sentences) == RIVALS_MAX == 5
    assert rest == "The cards, figures and tables below have the other 2."


def test_one_rival_more_is_still_compared(tmp_path: Path) -> None:
    sample = Sample(
        transports=("rogue", "roce", "roce+pfc", "irn", "irn+pfc", "iwarp", "dctcp"),
        repetitions=1,
        seconds=1.0,
    )
    sentences = comparison(Results(Run(write_sample_run(tmp_path, sample))))
    assert len(sentences) == 6 and not any("The cards" in each for each in sentences)


def test_nothing_finished(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest([cell(status="failed")]))
    results = Results(Run(tmp_path))
    assert cards(results) == []
    assert comparison(results) == ["No cell finished, so there is nothing to compare."]


def test_missing_measures_are_left_out(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer("main/h0->h1", end_ns=SECOND)]})
    (card,) = cards(Results(view.run))
    assert card.sentence == "No connection failed."
    assert dict(card.numbers) == {"Connections failed": "0 of 1"}


def test_sentence_of_a_cell_without_tables(tmp_path: Path) -> None:
    (card,) = cards(Results(tiny_view(tmp_path, {}).run))
    assert card.sentence == "Finished, but left no table that can be read."


def test_card_of_flows_that_come_and_go(staggered: Results) -> None:
    (card,) = cards(staggered)
    assert "Jain’s index of the worst level is 0.941" in card.sentence
    assert dict(card.numbers)["Most over least, worst level"] == "1.67"


def test_card_of_many_pairs(pairs: Results) -> None:
    rogue, _ = cards(pairs)
    assert set(dict(rogue.numbers)) == {
        "Long transfers, median",
        "Short transfers, p90",
        "Not completed",
        "Connections failed",
    }
    assert "nine in ten short transfers take at most" in rogue.details[1]
    (sentence,) = comparison(pairs)
    assert "of 6 measures over 2 settings. With load 0.75: the median long transfer takes" in sentence


def test_compared_slowdowns_have_their_unit(random_transfers: Results) -> None:
    sentences = comparison(random_transfers)
    assert "transfers take 1.50 times as long as alone instead of 2.50 times" in ascii_spaces(sentences[0])


def test_flow_that_dies_at_once_does_not_win_by_its_rate(tmp_path: Path) -> None:
    """RoGUE is cut for 2 of 4 s and arrives; RoCE delivers at full rate for 1 s and dies."""
    flow = "main/h0->h1"
    done = [transfer(flow, end_ns=4 * SECOND, fct_ns=4 * SECOND)]
    dead = [transfer(flow, end_ns=SECOND, status="error")]
    cells = [
        (
            cell("rogue-r1"),
            {"flows": done, "throughput": [delivery(flow, n * SECOND, 500) for n in range(1, 5)]},
        ),
        (cell("roce-r1", transport="roce"), {"flows": dead, "throughput": [delivery(flow, SECOND, 1000)]}),
    ]
    run = write_cells(tmp_path, cells, {"kind": "incast"}, faults=[{"kind": "link_cut"}])
    (sentence,) = comparison(Results(Run(run)))
    text = ascii_spaces(sentence)
    assert text.startswith(
        "Against Native RoCE, RoGUE is better on 2 of 2 measures: 0 % of the transfers do not"
    )
    said = "the mean transfer takes 4 s (with Native RoCE it is not completed, as 100.0 % are)"
    assert said in text
    assert "and 0 of 1 connections fail instead of 1 of 1" in text


@pytest.mark.parametrize(
    ("large", "times"),
    [(35e6, "350 times more"), (2e5, "2 times more"), (1e5, "the median probe takes 100 µs with both")],
)
def test_ratio_in_a_comparison(tmp_path: Path, large: float, times: str) -> None:
    cells = [
        (cell("rogue-r1"), {"latency": [{"t_ns": 1, "rtt_ns": int(large), "status": "ok"}]}),
        (cell("roce-r1", transport="roce"), {"latency": [{"t_ns": 1, "rtt_ns": 100_000, "status": "ok"}]}),
    ]
    (sentence,) = comparison(Results(Run(write_cells(tmp_path, cells, {"kind": "incast"}))))
    assert times in ascii_spaces(sentence)


def pings(directory: Path, times_us: dict[str, list[int | None]]) -> Results:
    """Single transfers, a factor point per key and a run per time; None is a transfer that never ended."""
    cells = []
    for point, times in times_us.items():
        for repetition, time_us in enumerate(times, start=1):
            entry = cell(
                f"rogue-size{point}-r{repetition}",
                factors={"workload.size": point, "workload.verb": "read"},
                repetition=repetition,
                seed=repetition,
            )
            cells.append(entry)
            row = transfer("main/h0->h1", end_ns=None, fct_ns=None, status="unfinished")
            if time_us is not None:
                row = transfer("main/h0->h1", end_ns=time_us * 1000, fct_ns=time_us * 1000)
            folder = directory / "cells" / str(entry["id"])
            write_table(folder / "flows.parquet", "flows", filled("flows", [row]))
    experiment = {"name": "kinds", "workload": {"kind": "ping"}}
    write_manifest(directory, manifest(cells, experiment=experiment))
    return Results(Run(directory))


def plain(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text.replace(NARROW_SPACE, " ") for text in texts)


def test_rivals_are_compared_with_each_other_instead(results: Results, sweep: Results) -> None:
    assert spread(results) is None
    assert spread(sweep) is None


def test_one_point_has_no_spread(tmp_path: Path) -> None:
    assert spread(pings(tmp_path, {"1KB": [10, 11]})) is None


def test_worked_example_least_and_most_and_how_many_times(tmp_path: Path) -> None:
    found = spread(pings(tmp_path, {"1MB": [900, 1000], "1KB": [9, 11], "64KB": [90, 110]}))
    assert found is not None
    assert found.opening == "RoGUE at 3 points: size 1MB, 1KB and 64KB."
    assert plain(found.sentences) == (
        "Completion, mean: 10 µs (size 1KB, verb read) to 950 µs (size 1MB, verb read), 95 times as much.",
        "Connections failed: 0 of 6.",
    )
    assert found.head == ("Completion, mean",)
    assert [plain(row) for row in found.rows] == [
        ("size 1MB, verb read", "950 µs"),
        ("size 1KB, verb read", "10 µs"),
        ("size 64KB, verb read", "100 µs"),
    ]


def test_touching_intervals_are_level(tmp_path: Path) -> None:
    found = spread(pings(tmp_path, {"1KB": [10, 20, 30], "2KB": [12, 22, 32]}))
    assert found is not None
    assert plain(found.sentences)[0] == "Level at all points: mean completion (20 µs to 22 µs)."


def test_infinite_mean_is_the_largest(tmp_path: Path) -> None:
    found = spread(pings(tmp_path, {"1KB": [None, None], "2KB": [10, 11]}))
    assert found is not None
    assert plain(found.sentences)[0].startswith("Completion, mean: 10.5 µs (size 2KB, verb read) to none")
    assert "times" not in found.sentences[0]


@pytest.mark.parametrize(("points", "is_long"), [(ROWS_OPEN_MAX, False), (ROWS_OPEN_MAX + 1, True)])
def test_many_points_are_folded(tmp_path: Path, points: int, is_long: bool) -> None:
    found = spread(pings(tmp_path, {f"{n}KB": [n * 10] for n in range(1, points + 1)}))
    assert found is not None
    assert found.is_long == is_long
    assert f"size 1KB, 2KB … {points}KB ({points} values)" in found.opening


def test_sample_sweep_of_one_transport(tmp_path: Path) -> None:
    sample = Sample(transports=("rogue",), senders=(2, 4), repetitions=2, seconds=1.0)
    found = spread(Results(Run(write_sample_run(tmp_path / "run", sample))))
    assert found is not None
    assert found.opening == "RoGUE at 2 points: senders 2 and 4."
    assert len(found.rows) == 2
    assert all(len(row) == 1 + len(found.head) for row in found.rows)
