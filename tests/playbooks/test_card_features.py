"""Tests of the module `kernel_settings`: offloads, interrupt moderation, and DCBX over netlink."""

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.snapshot import drift, establish, keep, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError, System
from helpers.fake_card import FakeCardNode

PRIORITIES: dict[str, Any] = {
    "card_priorities": {"eth1": {"trust": "pcp", "dscp": 26, "priority": 3, "paused": []}}
}


def test_only_other_features_are_set(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    wanted: dict[str, Any] = {
        "features": {"eth1": {"tso": "on", "gro": "on", "adaptive-rx": "off", "rx-usecs": 3}}
    }
    assert sorted(establish(node, wanted, check=False)) == ["features eth1"]
    changing = [command for command in node.commands if " -K " in command or " -C " in command]
    assert changing == ["ethtool -K eth1 tso on", "ethtool -C eth1 adaptive-rx off rx-usecs 3"]
    assert (sorted(establish(node, wanted, check=False)), drift(node)) == ([], [])


@pytest.mark.parametrize("wanted", [{"ufo": "on"}, {"tso": "yes"}, {"rx-usecs": "-1"}, {"lro": "on; id"}])
def test_unknown_features_are_refused(tmp_path: Path, wanted: dict[str, object]) -> None:
    with pytest.raises(StateError, match=r"features of eth1: got .* expected on or off for tso, gro, lro"):
        establish(FakeCardNode(tmp_path), {"features": {"eth1": wanted}}, check=False)


@pytest.mark.skipif(not System().is_root(), reason="only root may set DCBX")
def test_interface_without_dcb_refuses_over_netlink() -> None:
    """The request is well-formed: the kernel finds the interface, which has no DCB."""
    with pytest.raises(StateError, match=r"interface lo: .* to the firmware \(Operation not supported\)"):
        System().give_dcbx_to_firmware("lo")


def test_firmware_hands_dcbx_to_the_host_and_gets_it_back(tmp_path: Path) -> None:
    """A willing firmware would take ETS and PFC from the switch."""
    node = FakeCardNode(tmp_path)
    keep(node, [], False)
    establish(node, PRIORITIES, check=False)
    assert node.dcbx == ["host", "ieee"]
    restore(node, False)
    assert "netlink: DCBX of eth1 to the firmware" in node.commands
    assert "host" not in node.dcbx


def test_firmware_that_keeps_dcbx_is_an_error(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.keeps_dcbx = True
    with pytest.raises(StateError, match=r"eth1: its firmware keeps DCBX .*Invalid argument.*mstconfig"):
        establish(node, PRIORITIES, check=False)
