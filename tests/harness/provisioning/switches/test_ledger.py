from pathlib import Path

import pytest

from rogue.harness.provisioning.switches.change import Change
from rogue.harness.provisioning.switches.operations import Ledger, ledgers
from rogue.remote.errors import NodeError

PORT = ("interface Ethernet1",)


def test_what_was_there_at_first_stays_written_down(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "[127.0.0.1]:22")
    ledger.remember([Change(PORT, "mtu 2", "mtu 1", "no mtu"), Change((), "lldp", None, "no lldp")])
    ledger.remember([Change(PORT, "mtu 3", "mtu 2", "no mtu")])
    assert Ledger(tmp_path, "[127.0.0.1]:22").changes() == [
        Change(PORT, "mtu 3", "mtu 1", "no mtu"),
        Change((), "lldp", None, "no lldp"),
    ]
    assert Ledger(tmp_path, "elsewhere").changes() == []


@pytest.mark.parametrize("text", ["{", "[1]", '[{"after": null}]', '{"a": 1}'])
def test_a_damaged_file_is_a_sentence(tmp_path: Path, text: str) -> None:
    ledger = Ledger(tmp_path, "tor")
    ledger.file.write_text(text)
    with pytest.raises(NodeError, match=r"tor\.json: got .*, expected what was on a switch before; put"):
        ledger.changes()


def test_a_change_back_is_none(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "a")
    ledger.remember([Change((), "lldp", None, "no lldp")])
    ledger.remember([Change((), None, "lldp", "no lldp")])
    assert (ledger.changes(), ledger.file.exists()) == ([], False)


def test_it_lies_where_a_user_s_state_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert ledgers() == tmp_path / "rogue" / "switches"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert ledgers().parts[-4:] == (".local", "state", "rogue", "switches")
