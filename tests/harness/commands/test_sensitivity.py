"""A screening from the experiment to its table, on a testbed where a number follows from one key."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_testbed import OBSTACLE
from helpers.searched import VARIATION, HillTestbed, hill, space_document, testbed

from rogue.harness.commands.run import RunOptions, run_experiment
from rogue.harness.commands.sensitivity import SensitivityOptions, run_sensitivity
from rogue.harness.errors import ClusterLostError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.results.comparison import compare_run
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers
from rogue.remote.errors import NodeError

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
    again = SensitivityOptions(None, None, (), ("sensitivity",), jobs=1, resume=run)
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


def test_the_testbed_has_to_be_able_to_measure(
    tmp_path: Path, testbed: HillTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OBSTACLE, "a node is gone")
    with pytest.raises(NodeError, match=r"sensitivity: simulator cannot measure, .*\n  a node is gone"):
        run_sensitivity(options(tmp_path))
    assert not (tmp_path / "results").exists()


def test_no_more_cells_run_at_once_than_the_testbed_can(
    tmp_path: Path, testbed: HillTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = []

    def noted(count: int, *others: object) -> Workers:
        jobs.append(count)
        return Workers(count, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(HillTestbed, "jobs_max", 1)
    monkeypatch.setattr("rogue.harness.commands.sensitivity.Workers", noted)
    assert run_sensitivity(replace(options(tmp_path), jobs=8)) is ExitCode.OK
    assert jobs == [1]
    with pytest.raises(UsageError, match="expected a testbed whose cells need nothing but a processor"):
        run_sensitivity(replace(options(tmp_path), dask="tcp://localhost:1"))


def test_an_inventory_that_only_the_run_names_is_not_opened(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_sensitivity(options(tmp_path)) is ExitCode.OK
    directory = Path(capsys.readouterr().out.splitlines()[-1])
    run = Run(directory, read_manifest(directory))
    run.manifest.testbed = "inventory.yml"
    run.write()
    again = SensitivityOptions(None, None, (), ("sensitivity",), resume=directory)
    with pytest.raises(UsageError, match="--resume: got no --testbed, expected the inventory"):
        run_sensitivity(again)
    with pytest.raises(UsageError, match=r"got 'kernel', expected 'inventory\.yml', on which"):
        run_sensitivity(replace(again, testbed="kernel"))


def test_a_cluster_that_is_lost_says_how_to_go_on(
    tmp_path: Path, testbed: HillTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise ClusterLostError("the scheduler is gone")

    monkeypatch.setattr("rogue.harness.commands.sensitivity.screen", lost)
    with pytest.raises(ClusterLostError, match=r"gone; what was measured is kept; .* sensitivity --resume"):
        run_sensitivity(options(tmp_path))
