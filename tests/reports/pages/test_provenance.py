"""Status and provenance in words."""

from pathlib import Path

import pytest
import yaml
from helpers.sample_run import write_manifest
from helpers.small_runs import cell, manifest, session

from rogue.reports.pages import provenance
from rogue.reports.reading.files import read_manifest
from rogue.reports.results import Results
from rogue.workloads.manifest import Manifest


def read(directory: Path, *cells: dict[str, object], **changes: object) -> Manifest:
    write_manifest(directory, manifest(list(cells), **changes))
    return read_manifest(directory)


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
    (row,) = provenance.status_rows(read(tmp_path, cell(failed_attempts=["rogue-r1.failed-1"])))
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
def test_what_is_offered_is_what_can_be_done(
    tmp_path: Path, statuses: list[str], commands: list[str]
) -> None:
    """Failed cells alone are tried again by --only-failed, and what cannot run is not offered at all."""
    cells = [cell(f"c{n}", status=status) for n, status in enumerate(statuses)]
    ways = provenance.ways_on(read(tmp_path, *cells), "my results/x")
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
    sentence = provenance.partial_because(read(tmp_path, *cells, status=run_status), problems)
    if words is None:
        assert sentence is None
    else:
        assert sentence is not None
        assert sentence.startswith("Partial: ")
        assert words in sentence


def test_what_was_not_measured_is_said_once(tmp_path: Path) -> None:
    gap = {"cpu": "the simulator has no model of processors"}
    cells = [cell(f"c{n}", not_measured=gap) for n in range(3)]
    assert provenance.not_measured(read(tmp_path, *cells)) == [
        "cpu: the simulator has no model of processors (3 cells)."
    ]


def test_uncommitted_changes_are_said(tmp_path: Path) -> None:
    facts = dict(provenance.code_facts(read(tmp_path, cell(), git={"commit": "abc", "dirty": True})))
    assert facts["Commit"] == "abc with uncommitted changes"
    clean = dict(provenance.code_facts(read(tmp_path, cell(), git={"commit": "abc", "dirty": False})))
    assert clean["Commit"] == "abc, no uncommitted changes"
    unknown = dict(provenance.code_facts(read(tmp_path, cell())))
    assert unknown["Commit"] == "not recorded"


def test_the_kernel_is_the_one_that_was_measured(tmp_path: Path) -> None:
    host = {"cpu": "x", "cores": 2, "memory_bytes": 1, "kernel": "Linux 6.18.44"}
    plain = dict(provenance.code_facts(read(tmp_path, cell(), host=host)))
    assert (plain["Kernel"], "Kernel of the harness" in plain) == ("Linux 6.18.44", False)
    nodes = [cell(f"c{n}", facts={"node_kernel": "6.1.192"}) for n in range(2)]
    measured = dict(provenance.code_facts(read(tmp_path, *nodes, host=host)))
    assert (measured["Kernel"], measured["Kernel of the harness"]) == ("Linux 6.1.192", "Linux 6.18.44")


def test_run_resumed_with_other_code_is_said(tmp_path: Path) -> None:
    sessions = [session(commit) for commit in ("aaa", "aaa", "bbb")]
    mixed = provenance.mixed_commits(read(tmp_path, cell(), sessions=sessions))
    assert mixed is not None
    assert mixed.endswith("In order: aaa, no uncommitted changes; bbb, no uncommitted changes.")
    assert provenance.mixed_commits(read(tmp_path, cell(), sessions=sessions[:2])) is None


def test_experiment_file_and_what_was_set(tmp_path: Path) -> None:
    source = {"file": "x.yaml", "sha256": "abc", "set": ["repetitions=1"], "data": {}}
    facts = dict(provenance.code_facts(read(tmp_path, cell(), source=source)))
    assert facts["Experiment file"] == "x.yaml, SHA-256 abc"
    assert facts["Changed by --set"] == "repetitions=1"


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
    facts = dict(provenance.cell_facts(read(tmp_path, *cells)))
    assert facts["Packet hops"] == "1, 2, 3, 4 and 2 more"
    assert "Base RTT floor" not in facts


def test_parameters_are_the_resolved_experiment(results: Results) -> None:
    text = provenance.parameters_text(results.run.manifest)
    assert yaml.safe_load(text) == results.run.manifest.experiment


def test_each_cell_has_its_command(results: Results) -> None:
    rows = {row[0]: row for row in provenance.reproduce_rows(results.run.manifest)}
    assert rows["rogue-r2"] == (
        "rogue-r2",
        "2",
        "1.8",
        "rogue run experiments/quickstart.yaml --only-cell rogue-r2",
    )
    assert rows["roce+dcqcn-r1"][3] == "not recorded"


def test_many_cells_with_one_fate_are_one_row(tmp_path: Path) -> None:
    cells = [cell(f"dctcp-r{n}", status="unsupported", message="no TCP here") for n in range(1, 41)]
    (row,) = provenance.status_rows(read(tmp_path, *cells))
    assert row.cells == "dctcp-r1, dctcp-r2, dctcp-r3 and 37 more"
