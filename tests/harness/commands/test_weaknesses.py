"""Known weaknesses from their files to the page, on a testbed where numbers follow from the values."""

from pathlib import Path

import pytest
from helpers.searched import EXPERIMENT, HillTestbed, testbed

from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.commands.weaknesses import WeaknessesOptions, run_weaknesses
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.results.manifest import read_manifest

__all__ = ["testbed"]

AIM = '# aim: {"metric": "fct_mean_ns", "direction": "most", "bound": %s, "transport": "own"}\n'


def find(directory: Path, name: str, bound: int) -> str:
    """A find that counts from so many nanoseconds on; two senders take 2000 ns, or 1000 for others."""
    file = directory / f"{name}.yml"
    file.write_text(AIM % bound + EXPERIMENT)
    return str(file)


def tried(
    directory: Path, capsys: pytest.CaptureFixture[str], *finds: str, transport: str | None = None
) -> list[str]:
    """The lines that are printed."""
    options = WeaknessesOptions(
        finds=finds, transport=transport, arguments=("weaknesses",), out=directory / "results", jobs=1
    )
    assert run_weaknesses(options) is ExitCode.OK
    return capsys.readouterr().out.splitlines()


def test_a_find_holds_for_its_own_transport_and_not_for_another(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    finds = find(tmp_path, "slow", 1500), find(tmp_path, "slower", 2500)
    lines = tried(tmp_path, capsys, *finds)
    assert lines[:2] == [
        "slow: shares it; fct_mean_ns is 2 µs on 1 seed; a find is at least 1.5 µs",
        "slower: does not share it; fct_mean_ns is 2 µs on 1 seed; a find is at least 2.5 µs",
    ]
    assert lines[2] == "The transport of each find on simulator, 2 finds: 1 shared, 1 not shared."
    assert "shares it" in Path(lines[3]).read_text()
    others = tried(tmp_path, capsys, finds[0], transport="rogue")
    assert others[0].startswith("slow: does not share it") and others[1].startswith("rogue on simulator")
    assert Path(others[2]).name == "weaknesses-rogue-simulator.html"
    runs = sorted((tmp_path / "results").glob("hill/*/manifest.json"))
    assert [read_manifest(run.parent).status for run in runs] == ["complete"] * 3


def test_what_cannot_be_tried_is_said_find_by_find(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    finds = find(tmp_path, "slow", 1500), find(tmp_path, "fast", 500)
    lines = tried(tmp_path, capsys, *finds, transport="nobody")
    assert [line.partition(";")[0] for line in lines[:2]] == [
        "slow: cannot be tried",
        "fast: cannot be tried",
    ]
    assert "got 'nobody'" in lines[0] and lines[2].endswith("2 finds: 2 that cannot be tried.")
    assert not testbed.ran


def test_what_a_transport_does_not_know_is_the_reason(
    tmp_path: Path,
    testbed: HillTestbed,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mistake = ParameterMistake("initial_rate", "no initial rate", "remove it")
    monkeypatch.setattr(HillTestbed, "parameter_mistake", lambda _self, _cell: mistake)
    lines = tried(tmp_path, capsys, find(tmp_path, "slow", 1500), transport="rogue")
    assert lines[0].startswith("slow: cannot be tried") and "no initial rate" in lines[0]
    assert lines[1].endswith("1 find: 1 that cannot be tried.")


def test_a_file_that_is_no_find_stops_it_before_anything_runs(tmp_path: Path, testbed: HillTestbed) -> None:
    file = tmp_path / "mine.yml"
    file.write_text(EXPERIMENT)
    options = WeaknessesOptions(finds=(find(tmp_path, "slow", 1500), str(file)), arguments=(), jobs=1)
    with pytest.raises(UsageError, match=r"mine\.yml: got no aim"):
        run_weaknesses(options)
    assert not testbed.ran
