from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_eos import FakeEos
from helpers.fake_switch import LOGIN, PASSWORD, hardware, served_switch, wanted

from rogue.harness.provisioning.switches import operations
from rogue.harness.provisioning.switches.operations import open_switch
from rogue.remote.errors import NodeError


def test_a_password_comes_from_the_environment_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with served_switch(tmp_path / "tor", FakeEos(), has_key=False) as served:
        switch = hardware(wanted("eos"), served.login)
        with pytest.raises(NodeError, match="export the password"), open_switch(switch):
            pytest.fail("it let somebody in without")
        monkeypatch.setenv("ROGUE_SWITCH_PASSWORD", PASSWORD)
        with open_switch(switch) as opened:
            assert ("interface Ethernet1" in opened.configuration()[()], opened.node) == (True, "tor")
            assert opened.ledger.file.parent == tmp_path / "rogue" / "switches"


def test_the_same_address_behind_two_jump_hosts_is_two_switches() -> None:
    gates = [replace(LOGIN, address=name) for name in ("gate-a", "gate-b")]
    names = {operations._name(replace(LOGIN, gateway=gate)) for gate in (None, *gates)}
    assert names == {"127.0.0.1", "127.0.0.1 behind gate-a", "127.0.0.1 behind gate-b"}
