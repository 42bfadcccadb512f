"""`rogue doctor --card`, as it is typed."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers.nodes import rack_of

from rogue.harness.cli import app, run_guarded
from rogue.harness.provisioning import rdma_transfers
from rogue.remote.errors import NodeError

Capture = pytest.CaptureFixture[str]


def typed(*words: str) -> int:
    return int(run_guarded(lambda: app(["doctor", *words], prog_name="rogue", standalone_mode=False)))


def test_a_pipe_is_no_inventory_and_nobody_waits_for_it(tmp_path: Path, capsys: Capture) -> None:
    os.mkfifo(tmp_path / "nodes.yaml")
    assert typed(str(tmp_path / "nodes.yaml")) == 2
    assert f"got {tmp_path / 'nodes.yaml'}, expected a file" in capsys.readouterr().err


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Two hosts with cards, of which perftest and ethtool fail; who was logged in to."""
    logins: list[object] = []

    class Shell:
        def run(self, command: str, *, limit_s: float = 0.0) -> str:
            if "ethtool" in command or "ib_write_bw" in command:
                raise NodeError("h0: it failed: not found")
            where = {"device": "mlx5_0", "port": 1, "gid_index": 3, "netdev": "enp1s0"}
            return json.dumps({"card": {"hca_type": "MT4119", "uc": {"reason": "none"}}, "where": where})

        def open_session(self, command: str, *, limit_s: float = 0.0) -> "Shell":
            return self

        def close(self) -> None: ...

    @contextmanager
    def opened(login: object) -> Iterator[Any]:
        logins.append(login)
        yield Shell()

    monkeypatch.setattr(
        "rogue.harness.provisioning.inventory.load_inventory", lambda _path, is_trusted: rack_of("declared")
    )
    monkeypatch.setattr(rdma_transfers.collect_cards, "__defaults__", (opened,))
    return logins


def test_reports_of_two_cards_are_kept_in_a_new_file(
    tmp_path: Path, asked: list[object], capsys: Capture
) -> None:
    file = tmp_path / "cards.json"
    assert typed("nodes.yaml", "--card", str(file)) == 0
    assert len(asked) == 2
    assert capsys.readouterr().out == f"reports of two cards, without names and addresses: {file}\n"
    assert len(json.loads(file.read_text())["cards"]) == 2
    assert typed("nodes.yaml", "--card", str(file)) == 2


@pytest.mark.parametrize("place", ["nodes.yaml", ".", "nowhere/cards.json", "link.json"])
def test_another_place_is_refused_before_cards_are_queried(
    tmp_path: Path, asked: list[object], capsys: Capture, place: str
) -> None:
    (tmp_path / "nodes.yaml").write_text("hosts: {}\n")
    (tmp_path / "link.json").symlink_to(tmp_path / "nodes.yaml")
    assert typed("nodes.yaml", "--card", str(tmp_path / place)) == 2
    assert f"--card: got {tmp_path / place}, expected a new file" in capsys.readouterr().err
    assert (asked, (tmp_path / "nodes.yaml").read_text()) == ([], "hosts: {}\n")


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["dctcp.yaml"], "EXPERIMENT"),
        (["--cell", "a"], "--cell"),
        (["--set", "seed=1"], "--set"),
        (["dctcp.yaml", "--log", "out.log"], "EXPERIMENT, --log"),
    ],
)
def test_what_has_no_meaning_for_cards_is_refused(
    tmp_path: Path, asked: list[object], capsys: Capture, words: list[str], given: str
) -> None:
    file = tmp_path / "cards.json"
    assert typed("nodes.yaml", *words, "--card", str(file)) == 2
    assert f"got {given} with --card, expected an inventory alone; " in capsys.readouterr().err
    assert asked == []
    assert not file.exists()
