"""Cases of REPS' artifact: their command lines, and what its program says."""

from pathlib import Path

import pytest
from reps_artifact import CASES, DATACENTER, Case, command, main, run, told_in

DONE = "Flow Uec_{0}_64 flowId 1 uecSrc {0} finished at {1} flowSize 4096 total packets 1\n"
TEXT = "Dropping a PKTDropping a PKT" + DONE.format(0, "857.861") + DONE.format(1, "865.5")
CABLE = "Failed a new Cable name: pipe(1us) id:{} at 1166000 for 100.000000 seconds\n"
SMALL = Case("8, 10 %", "REPS", 44, "tree", "pair")


def test_each_case_has_the_words_of_its_figures_script() -> None:
    words = {(case.figure, case.balancer): " ".join(command(case)) for case in CASES}
    assert len(words) == len(CASES) == 9
    assert "-load_balancing_algo oblivious -seed 5 -failed 1" in words["3", "OPS"]
    assert "-load_balancing_algo freezing -seed 5 -failed 42 -exit_freeze 100000000" in words["6", "REPS"]
    assert "-failures_input" not in words["8, 0 %", "REPS"]
    assert "/20_percent_failed_cables.txt -other_location" in words["8, 20 %", "REPS"]
    assert all("-sender_cc_algo mprdma" in each and "-q 100 -cwnd 151" in each for each in words.values())


def test_what_is_told_of_a_run() -> None:
    told = told_in(TEXT + CABLE.format(281) + CABLE.format(297), 2)
    assert told == (865.5, pytest.approx(861.6805), 2, ("281", "297"))
    assert told_in(TEXT, 3).tail_us == float("inf")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A program that knows one list of failed cables, and complains if it is still there."""
    (tmp_path / DATACENTER / "connection_matrices").mkdir(parents=True)
    (tmp_path / DATACENTER / "connection_matrices/pair.cm").write_text("Nodes 2\n0->64\n1->64\n")
    saved = tmp_path / "htsim/sim/failures_input/saved"
    saved.mkdir(parents=True)
    (saved / "saved_cable10_percent_failed_cables.txt").write_text("1\n")
    program = tmp_path / DATACENTER / "htsim_uec"
    program.write_text(f"#!/bin/sh\nls {saved}/* 2>/dev/null && exit 1\ncat <<'END'\n{TEXT}END\n")
    program.chmod(0o755)
    return tmp_path


def test_a_case_forgets_what_failed_before(checkout: Path) -> None:
    assert run(SMALL, checkout).tail_us == 865.5


def test_a_line_of_each_case_and_seed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("reps_artifact.CASES", (SMALL,))
    main(checkout, [5, 6])
    _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split(",865.5,")[0] for line in lines] == ['"8, 10 %",REPS,5', '"8, 10 %",REPS,6']
