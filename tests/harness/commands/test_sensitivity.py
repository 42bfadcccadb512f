"""A screening from the experiment to its table, on a testbed where a number follows from one key."""

from pathlib import Path

import pytest
from helpers.searched import VARIATION, HillTestbed, hill, space_document, testbed

from rogue.harness.commands.run import RunOptions, run_experiment
from rogue.harness.commands.sensitivity import SensitivityOptions, run_sensitivity
from rogue.harness.errors import ClusterLostError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.results.comparison import compare_run
from rogue.harness.results.manifest import read_manifest

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

    monkeypatch.setattr("rogue.harness.commands.sensitivity.analyse", lost)
    with pytest.raises(ClusterLostError, match=r"gone; what was measured is kept; .* sensitivity --resume"):
        run_sensitivity(options(tmp_path))
