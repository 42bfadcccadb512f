"""Tests: name a run by path, id, experiment or as the latest."""

from pathlib import Path

import pytest
from helpers.small_runs import write_run

import rogue
from rogue.harness.cli import app, run_guarded
from rogue.harness.errors import UsageError
from rogue.harness.results.named_run import find_run, find_spelled_run

OLD, NEW, OTHER = "20261120T101500Z-3f9a1c", "20261121T093000Z-77d02e", "20261122T093000Z-000001"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for experiment, name in (("incast", OLD), ("incast", NEW), ("shuffle", OTHER)):
        write_run(tmp_path / "results" / experiment / name)
    (tmp_path / "results/reports/20261123T093000Z-000002").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("latest", f"shuffle/{OTHER}"),
        ("incast", f"incast/{NEW}"),
        (OLD, f"incast/{OLD}"),
        ("20261120", f"incast/{OLD}"),
        (f"results/incast/{OLD}", f"incast/{OLD}"),
    ],
)
def test_names_of_a_run(named: str, found: str) -> None:
    assert find_run(named) == Path("results") / found


def test_existing_path_precedes_a_name(place: Path) -> None:
    (place / "incast").mkdir()
    assert find_run("incast") == Path("incast")
    assert find_run("elsewhere/run") == Path("elsewhere/run"), "whose reader reports that it does not exist"


def test_ambiguous_and_unknown_names_list_candidates() -> None:
    with pytest.raises(UsageError) as error:
        find_run("2026112")
    assert error.value.lines == (
        "2026112: got the beginning of 3 ids, expected one; write more of it; they are:",
        f"  results/shuffle/{OTHER}",
        f"  results/incast/{NEW}",
        f"  results/incast/{OLD}",
    )
    with pytest.raises(UsageError) as error:
        find_run("incats")
    assert error.value.lines[0].endswith("write incast if that is meant; the newest are:")
    assert error.value.lines[1] == f"  results/shuffle/{OTHER}"


def test_path_and_full_id_are_spelled_out() -> None:
    assert find_spelled_run(OLD) == Path("results/incast") / OLD
    assert find_spelled_run("elsewhere/run") == Path("elsewhere/run")


@pytest.mark.parametrize(
    ("named", "said", "runs"),
    [
        ("latest", "matches 1 run,", [f"shuffle/{OTHER}"]),
        ("incast", "matches 2 runs,", [f"incast/{NEW}", f"incast/{OLD}"]),
        (OLD[:-1], "matches 1 run,", [f"incast/{OLD}"]),
        ("nothing", "`rogue list runs`", []),
    ],
)
def test_other_names_of_a_run_are_refused_with_their_paths(named: str, said: str, runs: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        find_spelled_run(named)
    first, *rest = error.value.lines
    assert first.startswith(f"{named}: got no path and no full id of one run") and said in first
    assert rest == [f"  results/{run}" for run in runs]


def test_short_name_deletes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for named in ("latest", "incast", OLD[:-1]):
        code = run_guarded(lambda n=named: app(["rm", n, "--yes"], prog_name="rogue", standalone_mode=False))
        assert code == 2
        assert "got no path and no full id" in capsys.readouterr().err
    assert len(list(place.glob("results/*/*/manifest.json"))) == 3


def test_commands_and_python_take_names(capsys: pytest.CaptureFixture[str]) -> None:
    run_guarded(lambda: app(["verify", "incast"], prog_name="rogue", standalone_mode=False))
    assert capsys.readouterr().out.startswith(f"results/incast/{NEW}/")
    assert rogue.load("latest").manifest.run_id == rogue.load(f"results/shuffle/{OTHER}").manifest.run_id
