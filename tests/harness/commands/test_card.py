"""`rogue doctor --card`, as it is typed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers.rack_inventory import rack_of

from rogue.harness.cli import app, run_guarded
from rogue.harness.commands import opened_inventory
from rogue.harness.provisioning import card_bundle
from rogue.remote.errors import NodeError

SENT = Path(__file__).parents[1] / "provisioning/card_bundles/invented.json"
Capture = pytest.CaptureFixture[str]


def typed(*words: str) -> int:
    return int(run_guarded(lambda: app(["doctor", *words], prog_name="rogue", standalone_mode=False)))


def test_a_file_that_was_sent_is_told(capsys: Capture) -> None:
    assert typed(str(SENT)) == 0
    assert capsys.readouterr().out == SENT.with_suffix(".txt").read_text()


def test_two_cards_are_asked_and_what_they_say_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
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
    def opened(_login: object) -> Iterator[Any]:
        yield Shell()

    monkeypatch.setattr(opened_inventory, "load_inventory", lambda _path, is_trusted: rack_of("declared"))
    monkeypatch.setattr(card_bundle.ask_cards, "__defaults__", (opened,))
    file = tmp_path / "cards.json"
    assert typed("nodes.yaml", "--card", str(file)) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == f"all of it, without names and addresses: {file}"
    assert typed(str(file)) == 0
    assert capsys.readouterr().out.splitlines() == told[:-1]
