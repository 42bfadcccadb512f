"""ROCE_ACCL, in the form of the vendor's sample usage; a double of the tool, for no card was there."""

from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.accelerations import accelerations
from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError
from helpers.fake_card import PCI, FakeCardNode

SAID = """\
Sending access register...

Field Name                     | Data
============================================================
roce_adp_retrans_field_select  | 0x00000001
roce_slow_restart_field_select | 0x00000001
roce_adp_retrans_en            | 0x0000000{adaptive}
roce_tx_window_en              | 0x00000000
roce_slow_restart_en           | 0x0000000{slow}
roce_slow_restart_idle_en      | 0x00000000
min_ack_timeout_limit_disabled | 0x00000001
"""


class Card(FakeCardNode):
    """A card with one of the tools, or none."""

    def __init__(self, root: Path, tools: dict[str, str], driver: str = "mlx5_core") -> None:
        super().__init__(root, driver)
        self.tools = tools

    def run(self, command: list[str], text: str = "") -> str:
        words = command[2:] if command[0] == "sudo" else command
        if words[0] not in {"mstreg", "mlxreg"}:
            return super().run(command, text)
        self.commands.append(" ".join(command))
        if words[0] not in self.tools:
            raise CommandError(command, f"{words[0]} is not installed")
        if not (said := self.tools[words[0]]).startswith("Sending"):
            raise CommandError(command, said)
        return said


def test_what_is_on_is_named_with_the_command_that_resets_it(tmp_path: Path) -> None:
    node = Card(tmp_path, {"mstreg": SAID.format(adaptive=1, slow=1)})
    told = accelerations(node, "eth1")
    assert told == {
        "on": ["adaptive retransmission", "slow restart"],
        "reason": "",
        "reset": f"mstreg -d {PCI} --yes --reg_name ROCE_ACCL --set "
        '"roce_adp_retrans_field_select=0x1,roce_adp_retrans_en=0x0,'
        'roce_slow_restart_field_select=0x1,roce_slow_restart_en=0x0"',
    }
    assert node.commands == [f"mstreg -d {PCI} --yes --reg_name ROCE_ACCL --get"], "it only looks"


def test_the_vendors_own_tool_will_do(tmp_path: Path) -> None:
    node = Card(tmp_path, {"mlxreg": SAID.format(adaptive=0, slow=0)})
    assert accelerations(node, "eth1") == {"on": [], "reset": "", "reason": ""}


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ({}, "mstreg is not installed"),
        ({"mstreg": "-E- Access Register is\nnot supported"}, "-E- Access Register is not supported"),
        ({"mstreg": "-E- Device not found"}, "-E- Device not found"),
        ({"mstreg": "Sending"}, "mstreg shows no field of ROCE_ACCL"),
        ({"mstreg": "sudo: mstreg: command not found"}, "mstreg is not installed"),
    ],
)
def test_what_nobody_can_say_has_a_reason(tmp_path: Path, tools: dict[str, str], reason: str) -> None:
    assert accelerations(Card(tmp_path, tools), "eth1") == {"on": [], "reset": "", "reason": reason}


def test_who_is_not_root_asks_sudo_without_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Card(tmp_path, {"mstreg": "sudo: a password is required"})
    monkeypatch.setattr(node, "is_root", lambda: False)
    told = accelerations(node, "eth1")
    assert told is not None
    assert told["reason"] == "sudo: a password is required"
    assert node.commands[0].startswith("sudo -n mstreg ")


def test_a_connectx_3_has_none(tmp_path: Path) -> None:
    node = Card(tmp_path, {}, "mlx4_core")
    assert (accelerations(node, "eth1"), accelerations(node, "eth0"), node.commands) == (None, None, [])
