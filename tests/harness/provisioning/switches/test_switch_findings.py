"""Tests:"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_agents import fake_inventory
from helpers.fake_eos import FakeEos
from helpers.fake_mlxsw import FakeMlxsw
from helpers.fake_sonic import FakeSonic
from helpers.fake_switch import LOGIN, hardware, served_switch, wanted

from rogue.harness.provisioning.inventory import HardwareSwitch, Inventory
from rogue.harness.provisioning.switches.operations import apply, open_switch
from rogue.harness.provisioning.switches.switch_findings import switch_findings

PAUSES = wanted("eos", ("Ethernet1",), switch_priorities={"3": {"pauses": True}})


def rack(*switches: HardwareSwitch) -> Inventory:
    return replace(fake_inventory(), switch=None, hardware_switches=switches)


def test_differences_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with served_switch(tmp_path / "tor", FakeEos()) as served:
        switch = hardware(PAUSES, served.login)
        assert [str(finding) for finding in switch_findings(rack(switch))] == [
            "refused: tor: interface Ethernet1: got nothing, expected `priority-flow-control on`, "
            "`priority-flow-control priority 3 no-drop`; run `rogue switch apply`, or declare what the "
            "switch does."
        ]
        with open_switch(switch) as opened:
            apply(opened, PAUSES)
        assert switch_findings(rack(switch)) == []


def test_a_switch_that_cannot_be_asked_refuses(tmp_path: Path) -> None:
    with served_switch(tmp_path / "tor", FakeEos()) as served:
        login = replace(served.login, known_hosts=(tmp_path / "nobody",))
        (finding,) = switch_findings(rack(hardware(PAUSES, login)))
    place = f"[127.0.0.1]:{login.port}"
    assert str(finding).startswith(f"refused: tor: SSH: got no host key of {place}, expected one in ")
    assert str(finding).endswith("and compare it with what the host itself shows.")


def test_what_cannot_be_restored_is_named_with_its_port(tmp_path: Path) -> None:
    foreign = FakeMlxsw()
    foreign.shown = lambda: json.dumps([{"kind": "tbf", "handle": "8:", "dev": "swp2", "root": True}])  # type: ignore[method-assign]
    with served_switch(tmp_path / "tor", foreign) as served:
        switch = hardware(wanted("mlxsw", ("swp2",)), served.login)
        (finding,) = switch_findings(rack(switch))
    assert str(finding).startswith("refused: tor: swp2: got foreign queues, tbf 8:, expected none, or ours;")


def test_a_switch_that_its_platform_cannot_set_says_what_it_is(tmp_path: Path) -> None:
    with served_switch(tmp_path / "tor", FakeSonic(asics=2)) as served:
        (finding,) = switch_findings(rack(hardware(wanted("sonic"), served.login)))
    assert str(finding) == (
        "refused: tor: the switch: got a multi-ASIC SONiC, expected one with a single chip; set it yourself, "
        "and write `switch_platform: declared`."
    )


def test_a_declared_switch_is_believed() -> None:
    assert switch_findings(rack(hardware(wanted("declared"), None))) == []


def test_a_switch_that_follows_experiments_is_not_compared_with_its_inventory() -> None:
    follows = wanted("eos", switch_follows_experiments=True, switch_priorities={"3": {"dscp": [26]}})
    assert switch_findings(rack(hardware(follows, LOGIN))) == []
