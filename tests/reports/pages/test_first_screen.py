"""Tests: the first screen, and provenance."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import SOURCE, cell, manifest, session

from rogue.reports.claims import Verdict, evaluate, read_claims
from rogue.reports.claims.words import is_headline
from rogue.reports.pages import provenance
from rogue.reports.pages.first_screen import Chip, failures, not_run, provenance_facts, verdict_chips
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.templates.environment import TEMPLATES
from rogue.workloads.manifest import Manifest


def read(directory: Path, *cells: dict[str, object], **changes: object) -> Results:
    write_manifest(directory, manifest(list(cells), **changes))
    return Results(Run(directory))


def cells_of(transport: str, status: str, count: int, **changes: object) -> list[dict[str, object]]:
    return [
        cell(f"{transport}-r{n}", transport=transport, repetition=n, seed=n, status=status, **changes)
        for n in range(1, count + 1)
    ]


def test_chips_count_the_verdicts_the_best_first(results: Results) -> None:
    judged = [outcome for outcome in evaluate(read_claims(), results) if outcome.verdict.is_judged]
    found = verdict_chips(judged)
    assert sum(int(chip.text.split()[0]) for chip in found) == len(judged) > 0
    order = [*(verdict.css_class for verdict in Verdict), "badged"]
    assert [order.index(chip.kind) for chip in found] == sorted(order.index(chip.kind) for chip in found)
    assert verdict_chips([]) == []
    badged = [outcome for outcome in judged if not is_headline(outcome.claim)]
    assert found[-1] == Chip(f"{len(badged)} with badges", "badged")
    assert [chip.kind for chip in verdict_chips(badged)] == ["badged"]


def test_every_verdict_that_is_judged_has_a_colour_on_its_chip() -> None:
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    coloured = [
        verdict for verdict in Verdict if verdict.is_judged and verdict is not Verdict.OTHER_CONDITIONS
    ]
    assert [verdict for verdict in coloured if f".chip.{verdict.css_class}" not in style] == []


def test_facts_have_runs_seeds_cells_and_commit(results: Results) -> None:
    facts = dict(provenance_facts(results))
    assert facts["Runs"] == "2 to 3 of each setting, seeds 1 to 3"
    assert facts["Cells"] == "5 of 9 finished"
    assert facts["Commit"] == "e82d7a3c0ffe"
    assert facts["Started"] == "2026-11-20 10:15 UTC"
    assert not {"Changed by --set", "Scale"} & set(facts)


def test_facts_have_the_clock(tmp_path: Path) -> None:
    facts = {"clock": "virtual: computing takes no time"}
    results = read(tmp_path, *cells_of("rogue", "ok", 2, facts=facts), testbed="kernel")
    assert dict(provenance_facts(results))["Testbed"] == "kernel; clock virtual: computing takes no time"


def test_facts_have_changes_and_scale(tmp_path: Path) -> None:
    results = read(
        tmp_path,
        *cells_of("rogue", "ok", 1),
        git={"commit": "a" * 40, "dirty": True},
        sessions=[session("b" * 40)],
        source={**SOURCE, "set": ["repetitions=1", "seed=9"]},
        created_utc="soon",
        experiment={"name": "tiny", "scale": "quick"},
    )
    facts = dict(provenance_facts(results))
    assert facts["Runs"] == "1 of each setting, seed 1"
    assert facts["Commit"] == "aaaaaaaaaaaa and 1 other, with uncommitted changes"
    assert facts["Changed by --set"] == "repetitions=1, seed=9"
    assert facts["Started"] == "soon"
    assert facts["Scale"] == "quick"


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ([7], "seed 7"),
        ([1, 2], "seeds 1 and 2"),
        ([1, 2, 3, 4, 5, 6, 7], "seeds 1 to 7"),
        ([1, 3, 9], "seeds 1, 3 and 9"),
        ([1, 3, 5, 7, 9, 11], "6 seeds"),
    ],
)
def test_seeds_in_words(tmp_path: Path, seeds: list[int], words: str) -> None:
    cells = [cell(f"rogue-r{n}", repetition=n, seed=seed) for n, seed in enumerate(seeds, start=1)]
    assert dict(provenance_facts(read(tmp_path, *cells)))["Runs"] == f"{len(seeds)} of each setting, {words}"


def test_transport_that_failed_everywhere(tmp_path: Path) -> None:
    failed = cells_of("roce", "failed", 3, failure_kind="timeout", message="no answer after 30 s.\nmore\n")
    results = read(tmp_path, *cells_of("rogue", "ok", 3), *failed)
    assert failures(results) == [
        "Native RoCE without PFC failed everywhere, in all 3 cells (timeout): no answer after 30 s."
    ]


def test_cells_not_run_are_one_sentence(tmp_path: Path) -> None:
    results = read(
        tmp_path,
        *cells_of("rogue", "ok", 2),
        *cells_of("dctcp", "unsupported", 2, message="no TCP here."),
        *cells_of("cubic", "unsupported", 2, message="no TCP here."),
        *cells_of("irn", "unsupported", 1, message="no IRN here"),
        *cells_of("roce", "pending", 2),
    )
    assert not_run(results) == (
        "Not run: DCTCP and cubic (no TCP here), IRN (no IRN here) and 2 cells still pending."
    )


def test_transport_not_run_at_some_points(tmp_path: Path) -> None:
    entries = cells_of("rogue", "unsupported", 3, message="too fast")
    entries[0]["status"] = "ok"
    assert not_run(read(tmp_path, *entries)) == "Not run: RoGUE in 2 of 3 cells (too fast)."


def manifest_of(directory: Path, *cells: dict[str, object], **changes: object) -> Manifest:
    return read(directory, *cells, **changes).run.manifest


def test_cells_without_a_result_say_why(results: Results) -> None:
    rows = {row.cells: row for row in provenance.status_rows(results.run.manifest)}
    assert rows["roce-r3"].status == "failed"
    assert rows["roce-r3"].kind == "bug"
    assert rows["roce-r3"].reason == "ZeroDivisionError: division by zero"
    alike = rows["roce+dcqcn-r1, roce+dcqcn-r2 and roce+dcqcn-r3"]
    assert alike.reason == "the simulator has no roce+dcqcn yet"
    assert len(rows) == 2
    assert provenance.counts_by_status(results.run.manifest) == [
        ("ok", "5"),
        ("failed", "1"),
        ("unsupported", "3"),
    ]


def test_failed_attempt_before_a_good_one_is_not_hidden(tmp_path: Path) -> None:
    (row,) = provenance.status_rows(manifest_of(tmp_path, cell(failed_attempts=["rogue-r1.failed-1"])))
    assert row.status == "ok"
    assert row.reason == "finished after 1 failed attempt, which are kept"


@pytest.mark.parametrize(
    ("statuses", "commands"),
    [
        (["ok", "unsupported"], []),
        (["ok", "pending", "unsupported"], ["rogue run --resume 'my results/x'"]),
        (["ok", "failed"], ["rogue run --resume 'my results/x' --only-failed"]),
        (
            ["failed", "pending"],
            ["rogue run --resume 'my results/x'", "rogue run --resume 'my results/x' --only-failed"],
        ),
    ],
)
def test_next_commands(tmp_path: Path, statuses: list[str], commands: list[str]) -> None:
    """Failed cells alone are tried again by --only-failed, and what cannot run is not offered at all."""
    cells = [cell(f"c{n}", status=status) for n, status in enumerate(statuses)]
    ways = provenance.next_commands(manifest_of(tmp_path, *cells), "my results/x")
    assert [command for _, command in ways] == commands


@pytest.mark.parametrize(
    ("statuses", "run_status", "problems", "words"),
    [
        (["ok", "ok"], "complete", [], None),
        (["ok", "pending"], "running", [], "had not ended"),
        (["ok", "failed"], "partial", [], "1 of 2 cells have a result"),
        (["ok", "unsupported"], "complete", [], "1 of 2 cells have a result"),
        (["ok", "ok"], "complete", ["x is gone"], "1 file could not be used"),
    ],
)
def test_banner(
    tmp_path: Path, statuses: list[str], run_status: str, problems: list[str], words: str | None
) -> None:
    cells = [cell(f"c{n}", status=status) for n, status in enumerate(statuses)]
    sentence = provenance.partial_because(manifest_of(tmp_path, *cells, status=run_status), problems)
    if words is None:
        assert sentence is None
    else:
        assert sentence is not None
        assert sentence.startswith("Partial: ")
        assert words in sentence


def test_missing_measurement_is_listed_once(tmp_path: Path) -> None:
    gap = {"cpu": "the simulator has no model of processors"}
    cells = [cell(f"c{n}", not_measured=gap) for n in range(3)]
    assert provenance.not_measured(manifest_of(tmp_path, *cells)) == [
        "cpu: the simulator has no model of processors (3 cells)."
    ]


def test_uncommitted_changes_are_listed(tmp_path: Path) -> None:
    facts = dict(provenance.code_facts(manifest_of(tmp_path, cell(), git={"commit": "abc", "dirty": True})))
    assert facts["Commit"] == "abc with uncommitted changes"
    clean = dict(provenance.code_facts(manifest_of(tmp_path, cell(), git={"commit": "abc", "dirty": False})))
    assert clean["Commit"] == "abc, no uncommitted changes"
    unknown = dict(provenance.code_facts(manifest_of(tmp_path, cell())))
    assert unknown["Commit"] == "not recorded"


def test_kernel_is_that_of_the_measured_nodes(tmp_path: Path) -> None:
    host = {"cpu": "x", "cores": 2, "memory_bytes": 1, "kernel": "Linux 6.18.44"}
    plain = dict(provenance.code_facts(manifest_of(tmp_path, cell(), host=host)))
    assert (plain["Kernel"], "Kernel of the harness" in plain) == ("Linux 6.18.44", False)
    nodes = [cell(f"c{n}", facts={"node_kernel": "6.1.192"}) for n in range(2)]
    measured = dict(provenance.code_facts(manifest_of(tmp_path, *nodes, host=host)))
    assert (measured["Kernel"], measured["Kernel of the harness"]) == ("Linux 6.1.192", "Linux 6.18.44")


def test_run_resumed_with_other_code_has_a_warning(tmp_path: Path) -> None:
    sessions = [session(commit) for commit in ("aaa", "aaa", "bbb")]
    mixed = provenance.mixed_commits(manifest_of(tmp_path, cell(), sessions=sessions))
    assert mixed is not None
    assert mixed.endswith("In order: aaa, no uncommitted changes; bbb, no uncommitted changes.")
    assert provenance.mixed_commits(manifest_of(tmp_path, cell(), sessions=sessions[:2])) is None


def test_facts_of_the_cells(results: Results) -> None:
    facts = dict(provenance.cell_facts(results.run.manifest))
    assert facts["Seeds"] == "1, 2, 3"
    assert facts["NIC profile"] == "cx3pro"
    assert facts["NIC profile revision"] == "1"
    assert facts["Framing"] == "rocev2"
    assert facts["MTU"] == "1024 B"
    assert facts["Ideal goodput"] == "9.259 Gb/s"


def test_facts_that_differ_are_listed(tmp_path: Path) -> None:
    cells = [cell(f"c{n}", facts={"packet_hops": n, "base_rtt_floor_ns": None}) for n in range(1, 7)]
    facts = dict(provenance.cell_facts(manifest_of(tmp_path, *cells)))
    assert facts["Packet hops"] == "1, 2, 3, 4 and 2 more"
    assert "Base RTT floor" not in facts


def test_each_cell_has_its_command(results: Results) -> None:
    rows = {row[0]: row for row in provenance.reproduce_rows(results.run.manifest)}
    assert rows["rogue-r2"] == (
        "rogue-r2",
        "2",
        "1.8",
        "rogue run experiments/quickstart.yaml --only-cell rogue-r2",
    )
    assert rows["roce+dcqcn-r1"][3] == "not recorded"


def test_many_cells_with_the_same_reason_share_a_row(tmp_path: Path) -> None:
    cells = [cell(f"dctcp-r{n}", status="unsupported", message="no TCP here") for n in range(1, 41)]
    (row,) = provenance.status_rows(manifest_of(tmp_path, *cells))
    assert row.cells == "dctcp-r1, dctcp-r2, dctcp-r3 and 37 more"
