"""What stands first besides the numbers: verdicts, what the numbers rest on, and what has none."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import SOURCE, cell, manifest, session

from rogue.reports.claims import Verdict, evaluate, read_claims
from rogue.reports.claims.words import is_headline
from rogue.reports.pages.first_screen import (
    REASON_LENGTH_MAX,
    Chip,
    failures,
    not_run,
    provenance_facts,
    verdict_chips,
)
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.templates.environment import TEMPLATES


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


def test_trust_says_runs_seeds_cells_and_commit(results: Results) -> None:
    facts = dict(provenance_facts(results))
    assert facts["Runs"] == "2 to 3 of each setting, seeds 1 to 3"
    assert facts["Cells"] == "5 of 9 finished"
    assert facts["Commit"] == "e82d7a3c0ffe"
    assert facts["Started"] == "2026-11-20 10:15 UTC"
    assert not {"Changed by --set", "Scale"} & set(facts)


def test_trust_says_whose_clock_it_was(tmp_path: Path) -> None:
    facts = {"clock": "virtual: computing takes no time"}
    results = read(tmp_path, *cells_of("rogue", "ok", 2, facts=facts), testbed="kernel")
    assert dict(provenance_facts(results))["Testbed"] == "kernel; clock virtual: computing takes no time"


def test_trust_says_what_weakens_it(tmp_path: Path) -> None:
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


def test_transport_that_failed_everywhere_is_named_with_its_failure(tmp_path: Path) -> None:
    failed = cells_of("roce", "failed", 3, failure_kind="timeout", message="no answer after 30 s.\nmore\n")
    results = read(tmp_path, *cells_of("rogue", "ok", 3), *failed)
    assert failures(results) == [
        "Native RoCE failed everywhere, in all 3 cells (timeout): no answer after 30 s."
    ]


def test_transport_that_failed_somewhere_is_named_too(results: Results) -> None:
    assert failures(results) == [
        "Native RoCE failed in 1 of 3 cells (bug): ZeroDivisionError: division by zero."
    ]


def test_many_failures_are_cut(tmp_path: Path) -> None:
    cells = [cell for n in range(6) for cell in cells_of(f"t{n}", "failed", 1, message="x" * 500)]
    sentences = failures(read(tmp_path, *cells))
    assert len(sentences) == 4
    assert sentences[-1] == "Cells of 3 more transports failed."
    assert all(len(sentence) < REASON_LENGTH_MAX + 50 for sentence in sentences)


def test_nothing_failed(tmp_path: Path) -> None:
    results = read(tmp_path, *cells_of("rogue", "ok", 2))
    assert failures(results) == []
    assert not_run(results) is None


def test_what_was_not_run_is_one_line(tmp_path: Path) -> None:
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


def test_transport_not_run_at_some_points_says_at_how_many(tmp_path: Path) -> None:
    entries = cells_of("rogue", "unsupported", 3, message="too fast")
    entries[0]["status"] = "ok"
    assert not_run(read(tmp_path, *entries)) == "Not run: RoGUE in 2 of 3 cells (too fast)."


def test_many_reasons_are_cut(tmp_path: Path) -> None:
    cells = [cell for n in range(5) for cell in cells_of(f"t{n}", "unsupported", 1, message=f"reason {n}")]
    line = not_run(read(tmp_path, *cells))
    assert line is not None
    assert line.endswith("t2 (reason 2) and 2 more for other reasons.")
