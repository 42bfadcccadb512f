"""Arguments of `rogue claims` and `rogue reproduce`."""

from pathlib import Path

import pytest
from helpers.board_runs import outcome, write_run
from typer.testing import CliRunner

from rogue.harness.cli import app
from rogue.harness.commands.reproduce import ReproduceOptions


def test_claims_takes_directories_and_a_place(tmp_path: Path) -> None:
    write_run(tmp_path / "results" / "a", outcome())
    arguments = ["claims", str(tmp_path / "results"), "--out", str(tmp_path / "board.html")]
    done = CliRunner().invoke(app, arguments)
    assert done.stdout.splitlines()[-1] == str(tmp_path / "board.html")
    assert (tmp_path / "board.html").exists()


def test_reproduce_hands_its_options_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    got: list[ReproduceOptions] = []
    monkeypatch.setattr("rogue.harness.commands.reproduce.reproduce_paper", got.append)
    words = (
        f"reproduce irn --set scale=quick --set seed=2 --out {tmp_path} -j 2 --dask tcp://head:8786"
        " --again --dry-run"
    )
    CliRunner().invoke(app, words.split())
    assert got == [
        ReproduceOptions(
            "irn", ("scale=quick", "seed=2"), tmp_path, 2, "tcp://head:8786", is_again=True, is_dry=True
        )
    ]
