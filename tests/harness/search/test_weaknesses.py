"""`rogue weaknesses` from the files of findings to the page."""

from pathlib import Path

import pytest
import yaml
from helpers.searched import EXPERIMENT, Terminal, terminal

from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.errors import ExitCode
from rogue.harness.experiment.find import DIRECTORY, found_files
from rogue.harness.results.manifest import read_manifest
from rogue.harness.search.candidates import CONTROL_FREE
from rogue.harness.search.finding import MARK, read_criterion
from rogue.harness.search.space import Aim

__all__ = ["terminal"]

AIM = '# aim: {"metric": "fct_mean_ns", "direction": "most", "bound": %s, "transport": "own"}\n'


def finding(terminal: Terminal, name: str, bound: int) -> str:
    """A finding from this number of nanoseconds on; two senders take 2000 ns, with other transports 1000."""
    return terminal.write(f"{name}.yml", AIM % bound + EXPERIMENT)


def test_a_finding_holds_for_its_transport_and_not_for_another(terminal: Terminal) -> None:
    files = finding(terminal, "slow", 1500), finding(terminal, "slower", 2500)
    done = terminal.rogue("weaknesses", *files)
    bound = f"fct_mean_ns is 2 µs on 1 seed, {CONTROL_FREE}: 200 ns; a finding is at least 1.5 µs"
    assert done.lines[0] == f"slow: shares it; {bound}"
    assert done.lines[1].startswith("slower: does not share it; fct_mean_ns is 2 µs on 1 seed; a finding")
    assert done.lines[2] == "The transport of each finding on simulator, 2 findings: 1 shared, 1 not shared."
    assert done.lines[0].partition("; ")[2] in Path(done.lines[3]).read_text()
    other = terminal.rogue("weaknesses", files[0], "--transport", "irn")
    assert other.lines[0].startswith("slow: does not share it")
    assert other.lines[1].startswith("irn on simulator")
    assert Path(other.lines[2]).name == "weaknesses-irn-simulator.html"
    runs = sorted((terminal.place / "results").glob("hill/*/manifest.json"))
    assert [read_manifest(run.parent).status for run in runs] == ["complete"] * 3


def test_a_finding_without_congestion_control_as_well_is_no_weakness(terminal: Terminal) -> None:
    terminal.testbed.ns_per_sender[CONTROL_FREE] = 1000
    done = terminal.rogue("weaknesses", finding(terminal, "slow", 1500))
    assert done.lines[0].startswith(
        f"slow: is no weakness of the control; fct_mean_ns is 2 µs on 1 seed, {CONTROL_FREE}: 2 µs"
    )
    assert done.lines[1].endswith("1 finding: 1 shared without congestion control as well.")


def test_what_cannot_be_tried_is_said_finding_by_finding(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = finding(terminal, "slow", 1500), finding(terminal, "fast", 500)
    done = terminal.rogue("weaknesses", *files, "--transport", "nothing")
    assert [line.partition(";")[0] for line in done.lines[:2]] == [
        "slow: cannot be tried",
        "fast: cannot be tried",
    ]
    assert "got 'nothing'" in done.lines[0] and done.lines[2].endswith("2 findings: 2 that cannot be tried.")
    mistake = ParameterMistake("initial_rate", "no initial rate", "remove it")
    monkeypatch.setattr(type(terminal.testbed), "parameter_mistake", lambda _self, _cell: mistake)
    done = terminal.rogue("weaknesses", files[0], "--transport", "rogue")
    assert done.lines[0].startswith("slow: cannot be tried") and "no initial rate" in done.lines[0]
    assert not terminal.testbed.ran


def test_ctrl_c_ends_with_a_sentence(terminal: Terminal) -> None:
    terminal.stop_after(0)
    done = terminal.rogue("weaknesses", finding(terminal, "slow", 1500))
    assert done.code == ExitCode.INTERRUPTED and "stopped; no page was written." in done.err


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("", "got no aim"),
        (f"{MARK}{{\n", "got an aim that cannot be read"),
        (f'{MARK}{{"metric": "jain", "bounds": 1}}\n', "got an aim that cannot be read"),
        (f'{MARK}{{"metric": "jain"}}\n', "got an aim without bound"),
    ],
)
def test_a_file_that_is_no_finding_stops_it_before_anything_runs(
    terminal: Terminal, head: str, words: str
) -> None:
    mine = terminal.write("mine.yml", head + EXPERIMENT)
    refused = terminal.rogue("weaknesses", finding(terminal, "slow", 1500), mine)
    assert refused.code == ExitCode.USAGE and f"mine.yml: {words}" in refused.err
    assert not terminal.testbed.ran


@pytest.mark.parametrize("file", found_files(), ids=lambda file: file.stem)
def test_shipped_findings_have_the_aim_of_their_space(file: Path) -> None:
    space = yaml.safe_load((DIRECTORY / "found/spaces" / file.name).read_text())
    assert read_criterion(file) == Aim.model_validate(space["aim"])
