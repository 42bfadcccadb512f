"""Tests: every warning, triggered on purpose by a real run or by rows worked by hand."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.experiments import load_text, write_experiment
from helpers.sample_kinds import write_cells
from helpers.small_runs import cell, transfer

from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.slot import InlineSlot
from rogue.harness.plan.plan import make_plan
from rogue.harness.run import Workers, start_run, work
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.reports.pages.answer import answer_of
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.warnings import warnings_of
from rogue.reports.warnings.seeds import SEEDS_MAX, seeds_needed
from rogue.reports.warnings.warning import RunWarning

INCAST = """\
name: incast
topology: {kind: star, hosts: 6, rate: 100Gbps, delay: 1us, mtu: 1024, buffer: 9MB, alpha: 1}
workload: {kind: incast, senders: 4, size: 1MB, repeat_for: 5ms}
transports: [{name: roce+pfc+dcqcn, variant: defaults, label: roce+pfc+dcqcn}, roce+pfc+hpcc]
repetitions: 2
measure: [{kind: throughput, interval: 50us}, queues, pauses]
"""
CALM = """\
name: calm
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us}
workload: {kind: permutation, size: 100KB, repeat_for: 2ms}
transports: [roce]
measure: [{kind: throughput, interval: 50us}, queues, pauses]
"""


def run_of(directory: Path, text: str, *settings: str) -> Path:
    """Run an experiment in this process, without a report."""
    plan = make_plan(load_text(directory, text, *settings), SimulatorTestbed())
    run = start_run(plan, directory / "results", ["rogue", "run"])
    work(run, plan, plan.runnable, Workers(1, InlineSlot), Watcher())
    return run.directory


def sentences(run: Path) -> list[str]:
    return [warning.sentence.replace("\u202f", " ") for warning in warnings_of(Results(Run(run)))]


def test_idle_port_and_short_run_on_terminal_and_page(tmp_path: Path) -> None:
    file, out = write_experiment(tmp_path, INCAST), str(tmp_path / "results")
    done = rogue(tmp_path, "run", file, "--out", out, ROGUE_FAKE_REPORT="real")
    outside, idle, short, *_ = sentences(done.run)
    assert outside == (
        "Defaults beyond their line rate: those of RoCE with PFC and DCQCN are published for up to 40 Gb/s"
        " (ECN or delay, CoNEXT 2016, table 1), and hosts have 100 Gb/s."
    )
    assert idle.startswith(
        "Every flow has data to send, and yet the shared port idles for much of the time: "
    )
    assert idle.endswith(" % with RoCE with PFC and DCQCN.")
    assert short.startswith("Rates still rise at the end, in the last quarter by ")
    assert "The run lasts fewer than 10 recovery times of a control: 0.3" in short
    assert short.count("RoCE with PFC and DCQCN") == 2
    page = (done.run / "report.html").read_text()
    for warning in warnings_of(Results(Run(done.run))):
        assert f"note: {warning}\n" in done.err
        sentence, remedy = (
            re.sub("`(.*?)`", r"<code>\1</code>", text) for text in (warning.sentence, warning.remedy)
        )
        assert f"<li>{sentence} <span" in page
        assert remedy in page
    assert page.count("Before you conclude") == 1


def test_idle_port_is_said_beside_its_short_queue(tmp_path: Path) -> None:
    """DCQCN's cautious defaults leave 100 Gb/s idle, so its queue is short and its port is not the best."""
    results = Results(Run(run_of(tmp_path, INCAST, "question=Are queues short?")))
    answer = answer_of(results)
    assert answer.table is not None
    first = answer.sentences[0].replace("\u202f", " ")
    assert " of the time" in first.partition("RoCE with PFC and DCQCN")[2].partition(";")[0]
    assert "leaves the port idle for " in first
    queues = [head.text for head in answer.table.head].index("Queue p50")
    idle, busy = (row[queues] for row in answer.table.rows)
    assert not idle.is_best
    assert busy.is_best


def test_flows_with_an_offered_rate_may_leave_the_port_idle(tmp_path: Path) -> None:
    flows = "[{source: h0, destination: h2, offered: 1Gbps}, {source: h1, destination: h2, offered: 1Gbps}]"
    offered = CALM.replace("{kind: permutation, size: 100KB, repeat_for: 2ms}",
                           f"{{kind: pairs, size: 1KB, run_for: 2ms, flows: {flows}}}")  # fmt: skip
    assert not any("idles" in sentence for sentence in sentences(run_of(tmp_path, offered)))


def test_p99_of_few_transfers_is_that_of_the_slowest(tmp_path: Path) -> None:
    def results(count: int) -> Results:
        rows = [transfer("main/h0->h1", fct_ns=1_000, slowdown=2.0, transfer_id=n) for n in range(count)]
        cells = [(cell(f"{name}-r1", transport=name), {"flows": rows}) for name in ("rogue", "roce")]
        place = tmp_path / str(count)
        place.mkdir()
        question = "Which control has the smallest slowdown?"
        return Results(Run(write_cells(place, cells, {"kind": "poisson"}, question=question)))

    thin, thick = results(99), results(100)
    assert "Runs have 99 transfers, so a p99 is the time of the slowest one." in [
        warning.sentence for warning in warnings_of(thin)
    ]
    assert not any("p99" in warning.sentence for warning in warnings_of(thick))
    assert answer_of(thin).sentences[0].startswith("RoGUE has a mean slowdown of 2")
    assert answer_of(thick).sentences[0].startswith("RoGUE has a p99 slowdown of 2")


def test_plan_names_recovery_times_and_single_runs(tmp_path: Path) -> None:
    file = write_experiment(tmp_path, INCAST)
    planned = rogue(tmp_path, "plan", file, "--set", "repetitions=1").out
    assert "note: the run lasts fewer than 10 recovery times of a control (0.3" in planned
    assert "note: one run of each transport says nothing about chance" in planned
    longer = rogue(tmp_path, "plan", file, "--set", "workload.repeat_for=1s").out
    assert "recovery" not in longer
    assert "chance" not in longer


def test_transfers_that_end_by_themselves_are_not_too_short(tmp_path: Path) -> None:
    text = INCAST.replace(", repeat_for: 5ms", "")
    assert not any("recovery times" in sentence for sentence in sentences(run_of(tmp_path, text)))


def test_network_without_congestion(tmp_path: Path) -> None:
    (calm,) = sentences(run_of(tmp_path, CALM))
    assert calm == (
        "No switch queues, marks, drops or pauses anything, so no control has anything to react to."
    )


def test_identical_tables(tmp_path: Path) -> None:
    transports = "transports=[roce+pfc+hpcc, {name: roce+pfc+hpcc, label: copy}, roce+pfc]"
    (same,) = sentences(run_of(tmp_path, INCAST, transports))
    assert same == "Identical results to the nanosecond: RoCE with PFC and HPCC and copy."


def test_single_run_of_each_transport(tmp_path: Path) -> None:
    (single,) = sentences(run_of(tmp_path, INCAST, "transports=[roce+pfc+hpcc, roce+pfc]", "repetitions=1"))
    assert single == "Each number is from one run, so any difference may be chance."


Written = Callable[[list[int], list[int]], list[str]]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return the warnings about two transports whose single transfers take so long (ns), one per seed."""

    def write(*times_ns: list[int]) -> list[str]:
        cells = [
            (
                cell(f"{name}-r{seed}", transport=name, repetition=seed, seed=seed),
                {"flows": [transfer("main/h0->h1", end_ns=time_ns, fct_ns=time_ns)]},
            )
            for name, times in zip(("rogue", "roce"), times_ns, strict=True)
            for seed, time_ns in enumerate(times, start=1)
        ]
        return sentences(write_cells(tmp_path, cells, {"kind": "ping"}))

    return write


def test_difference_smaller_than_that_of_seeds(written: Written) -> None:
    same = "the intervals of RoGUE overlap those of Native RoCE without PFC (mean completion time)."
    headline = f"With 4 seeds, {same}"
    assert headline in written([1000, 1400, 1000, 1400], [1100, 1500, 1100, 1500])
    assert headline not in written([1000, 1400, 1000, 1400], [2000, 2400, 2000, 2400])
    assert headline not in written([1000, 1400, 1000, 1400], [1001, 1401, 1001, 1401])


def overlap(
    directory: Path,
    question: str | None = None,
    points: int = 1,
    seeds: tuple[int, int] = (4, 4),
    later_ns: int = 200,
) -> RunWarning:
    """Return the warning about two transports whose means differ by later_ns at the first factor point."""
    cells = [
        (
            cell(
                f"{name}-{point}-r{seed}",
                transport=name,
                repetition=seed,
                seed=seed,
                factors={"workload.senders": point} if points > 1 else {},
            ),
            {"flows": [transfer("main/h0->h1", end_ns=time_ns, fct_ns=time_ns)]},
        )
        for name, number, more_ns in zip(("rogue", "roce"), seeds, (0, later_ns), strict=True)
        for point in range(points)
        for seed in range(1, number + 1)
        for time_ns in [1_000 + 400 * (seed % 2) + (more_ns if point == 0 else 0)]
    ]
    run = write_cells(directory, cells, {"kind": "ping"}, **({"question": question} if question else {}))
    (found,) = (each for each in warnings_of(Results(Run(run))) if "intervals of" in each.sentence)
    return found


def test_overlap_is_counted_by_point(tmp_path: Path) -> None:
    assert "(mean completion time at 1 of 3 points)" in overlap(tmp_path, points=3).sentence


def test_overlap_is_of_the_transport_that_the_question_names(tmp_path: Path) -> None:
    warning = overlap(tmp_path, "Is native RoCE slower?")
    assert "the intervals of Native RoCE without PFC overlap those of RoGUE" in warning.sentence


def test_seeds_needed_are_more_than_there_are(tmp_path: Path) -> None:
    """Four seeds of one transport have a wide interval, although the deviation asks for 11 of each."""
    assert seeds_needed([1_000, 1_400] * 6, [1_280, 1_680] * 2) <= 12
    assert "about 13 seeds" in overlap(tmp_path, seeds=(12, 4), later_ns=280).remedy


@pytest.mark.parametrize(("effect", "seeds"), [(0.5, 64), (0.8, 26), (1.0, 17)])
def test_seeds_for_a_difference_in_deviations(effect: float, seeds: int) -> None:
    """Source: Cohen, A power primer, Psychological Bulletin 112, 1992, table 2, alpha 0.05."""
    one = [-1.0, 0.0, 1.0]
    assert seeds_needed(one, [value + effect for value in one]) == seeds


def test_more_seeds_than_anybody_runs() -> None:
    assert seeds_needed([-1.0, 0.0, 1.0], [-0.9, 0.1, 1.1]) == SEEDS_MAX + 1


def test_quickstart_has_no_warning(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "experiments/quickstart.yaml").read_text()
    measures = "measure=[queues, latency, {kind: throughput, interval: 10ms}]"
    assert sentences(run_of(tmp_path, text, "workload.repeat_for=500ms", "repetitions=2", measures)) == []
