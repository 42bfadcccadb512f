"""A screening from the experiment to its table, on a testbed where a number follows from one key."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.searched import AIM, VARIATION, WHOLE, HillTestbed, hill, space_document, testbed

from rogue.harness.cell.cell import Cell
from rogue.harness.commands.run import RunOptions, run_experiment
from rogue.harness.commands.sensitivity import SensitivityOptions, run_sensitivity
from rogue.harness.errors import ClusterLostError, ExitCode, StoppedError, UsageError
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.verification import compare_run
from rogue.harness.search.question import Question
from rogue.harness.testbeds.base import CellResult, Progress

__all__ = ["testbed"]


def options(tmp_path: Path, text: str = VARIATION, *claims: str) -> SensitivityOptions:
    return SensitivityOptions(
        loaded=hill(tmp_path),
        vary=space_document(tmp_path, text),
        claims=claims,
        arguments=("sensitivity", "experiment.yaml"),
        out=tmp_path / "results",
        jobs=1,
    )


def test_the_key_that_moves_the_number_comes_first_and_the_others_do_nothing(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_sensitivity(options(tmp_path)) is ExitCode.OK
    title, head, first, *others, directory = capsys.readouterr().out.splitlines()
    assert title == "fct_mean_ns: 9 of 9 points have a number."
    assert head.split() == ["key", "mu*", "mu", "sigma", "turned"]
    assert first.split() == ["workload.senders", "6", "µs", "6", "µs", "0", "ns"], (
        "1000 ns for each of six more"
    )
    assert [line.split()[:3] for line in others] == [["workload.size", "0", "ns"]]
    run = Path(directory)
    assert compare_run(run, read_manifest(run)).differences == []
    assert {cell.seed for cell in read_manifest(run).cells} == {1, 2}
    assert len(testbed.ran) == len(read_manifest(run).cells) == 12, "six points; three come twice"
    assert "workload.senders" in (run / "sensitivity.html").read_text()
    again = SensitivityOptions(arguments=("sensitivity",), jobs=1, resume=run)
    assert run_sensitivity(again) is ExitCode.OK
    assert capsys.readouterr().out.splitlines()[2] == first and len(testbed.ran) == 12
    resumed = RunOptions("", None, "fake", None, (), 1, run, False, None, None, False, ())
    with pytest.raises(UsageError, match="sensitivity --resume"):
        run_experiment(resumed)


@pytest.mark.parametrize(
    ("text", "claims", "words"),
    [
        (VARIATION.replace("measures: [fct_mean_ns]\n", ""), (), "got neither measures"),
        (VARIATION.replace("fct_mean_ns", "fct_men_ns"), (), "write fct_mean_ns if that is meant"),
        (VARIATION, ("X-2-10",), "got the transport 'roce\\+dcqcn'"),
    ],
)
def test_what_cannot_be_screened_is_a_sentence(
    tmp_path: Path, testbed: HillTestbed, text: str, claims: tuple[str, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run_sensitivity(options(tmp_path, text, *claims))
    assert not (tmp_path / "results").exists()


def test_a_cluster_that_is_lost_says_how_to_go_on(
    tmp_path: Path, testbed: HillTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise ClusterLostError("the scheduler is gone")

    monkeypatch.setattr("rogue.harness.search.analysis.analyse", lost)
    with pytest.raises(ClusterLostError, match=r"gone; what was measured is kept; .* sensitivity --resume"):
        run_sensitivity(options(tmp_path))


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SensitivityOptions:
    """An analysis with all of its parts; both keys move the number, and senders turn the claim."""
    claim = Question("C-1: it is short.", AIM, lambda number: number < 5000, published=5000.0)
    monkeypatch.setattr("rogue.harness.search.question.question_of_claim", lambda _: claim)
    run_cell = HillTestbed.run

    def run(self: HillTestbed, cell: Cell, progress: Progress) -> CellResult:
        result = run_cell(self, cell, progress)
        late = sum(flow.size_bytes > 100_000 for group in cell.groups for flow in group.flows)
        result.tables["flows"]["fct_ns"] = [each + 10 * late for each in result.tables["flows"]["fct_ns"]]
        return result

    monkeypatch.setattr(HillTestbed, "run", run)
    return options(tmp_path, WHOLE.replace("count: 2", "count: 1"), "C-1")


def analysed_in(given: SensitivityOptions, capsys: pytest.CaptureFixture[str]) -> tuple[Path, list[str]]:
    assert run_sensitivity(given) is ExitCode.OK
    *lines, directory = capsys.readouterr().out.splitlines()
    return Path(directory), lines


def test_workers_change_no_cell_and_no_page(
    whole: SensitivityOptions, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    one, said = analysed_in(whole, capsys)
    assert sum("workload.senders from 2 to 5, 0.50 of its range" in line for line in said) == 1
    assert sum(line.split() == ["key", "alone", "with", "others"] for line in said) == 2, "claim and measure"
    several, again = analysed_in(replace(whole, jobs=2), capsys)
    assert said == again
    assert (one / "sensitivity.html").read_text() == (several / "sensitivity.html").read_text()
    ids = [[cell.id for cell in read_manifest(each).cells] for each in (one, several)]
    assert ids[0] == ids[1]


def test_an_analysis_that_was_stopped_goes_on_to_the_same_end(
    whole: SensitivityOptions,
    testbed: HillTestbed,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    straight, said = analysed_in(whole, capsys)
    count, run_cell = len(testbed.ran), HillTestbed.run
    for ran in (3, count - 2):
        testbed.ran.clear()

        def stops(self: HillTestbed, cell: Cell, progress: Progress, at: int = ran) -> CellResult:
            if len(self.ran) == at:
                raise KeyboardInterrupt
            return run_cell(self, cell, progress)

        monkeypatch.setattr(HillTestbed, "run", stops)
        with pytest.raises(StoppedError, match="sensitivity --resume"):
            run_sensitivity(whole)
        directory = Path(capsys.readouterr().out.splitlines()[-1])
        monkeypatch.setattr(HillTestbed, "run", run_cell)
        again = SensitivityOptions(arguments=("sensitivity",), jobs=1, resume=directory)
        assert analysed_in(again, capsys) == (directory, said)
        assert len(testbed.ran) == count, "nothing ran twice"
        assert (straight / "sensitivity.html").read_text() == (directory / "sensitivity.html").read_text()


def test_a_plan_runs_nothing(
    whole: SensitivityOptions, tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_sensitivity(replace(whole, is_plan=True)) is ExitCode.OK
    assert capsys.readouterr().out.splitlines()[-1].startswith("at most 56 cells in all, about ")
    assert not testbed.ran and not (tmp_path / "results").exists()
