"""Tests of the module `kernel_settings` on a node below a directory: it sets once, and restores all of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.settings import KINDS
from ansible_collections.rogue.testbed.plugins.module_utils.snapshot import (
    BEFORE,
    LEFT,
    drift,
    establish,
    keep,
    restore,
)
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_card import INTERRUPTS, PCI, FakeCardNode
from helpers.fake_node import FakeNode

TREE = ["qdisc add dev eth1 root handle 1: htb default 10", "class add dev eth1 parent 1: classid 1:10 htb"]
ECN, MTU = "/proc/sys/net/ipv4/tcp_ecn", "/sys/class/net/eth1/mtu"
PARAMETER = f"/sys/kernel/debug/mlx5/{PCI}/cc_params/rp_ai_rate"
GOVERNOR = "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"
AFFINITY = f"/proc/irq/{INTERRUPTS[1]}/smp_affinity_list"
PATHS = [
    "/etc/modules-load.d",
    "/etc/modules-load.d/rogue.conf",
    "/etc/security/limits.d/rogue.conf",
    "/opt/rogue",
]
WANTED: dict[str, Any] = {
    "kernel_files": {ECN: 1, "/proc/sys/net/ipv4/tcp_rmem": "4096 131072 16777216", MTU: 4300},
    "soft_roce": {"eth1": "rxe0"},
    "traffic_control": {"eth1": TREE},
}
SHARES = "0:13 1:13 2:13 3:13 4:12 5:12 6:12 7:12"
ONE_TO_ONE = "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7"
ETS = "0:ets 1:ets 2:ets 3:ets 4:ets 5:ets 6:ets 7:ets"
SET_ETS = f"dcb ets set dev eth1 tc-tsa {ETS} tc-bw {SHARES} prio-tc {ONE_TO_ONE}"
TO_HOST = "dcb dcbx set dev eth1 host ieee"
LIMITED = "0:0bit 1:0bit 2:0bit 3:800Mbit 4:0bit 5:0bit 6:0bit 7:0bit"
SET_PFC = "dcb pfc set dev eth1 prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off"


def priorities(trust: str = "pcp", *paused: int) -> dict[str, Any]:
    wanted = {"trust": trust, "dscp": 26, "priority": 3, "paused": list(paused)}
    return {"card_priorities": {"eth1": wanted}}


def card_settings() -> dict[str, Any]:
    files = {PARAMETER: 20, GOVERNOR: "performance", AFFINITY: 4, MTU: 4200}
    features = {"tso": True, "adaptive-rx": "off", "rx-usecs": 3}
    return {"kernel_files": files, **priorities("dscp", 3), "features": {"eth1": features}}


def set_all(node: FakeNode, wanted: dict[str, Any], *, check: bool = False) -> list[str]:
    return sorted(establish(node, wanted, check))


def state(node: FakeNode) -> dict[str, object]:
    """Return the state of a node without blanks at the ends of its files."""
    found = node.state()
    files = found["files"]
    assert isinstance(files, dict)
    trimmed = {path: text and " ".join(text.split()) for path, text in files.items() if "before" not in path}
    return {
        **found,
        "files": {path: text for path, text in trimmed.items() if not path.startswith(("run", "var"))},
    }


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)


def act_as_the_roles(node: FakeNode) -> None:
    """Change what Ansible's own modules change: files, modules and packages."""
    node.write("/etc/modules-load.d/rogue.conf", "ib_uverbs\nrdma_rxe\n")
    node.write("/etc/security/limits.d/rogue.conf", "* soft memlock unlimited\n")
    node.write("/opt/rogue/rogue-agent/a.py", "")
    node.packages.add("perftest")
    node.load("ib_uverbs", "rdma_rxe")


def test_everything_is_set_once_and_restored(node: FakeNode) -> None:
    node.write("/etc/security/limits.d/rogue.conf", "root soft memlock 7\n")
    node.path("/opt").mkdir()
    node.load("dummy")
    before = state(node)
    assert keep(node, PATHS, True) == ["modules and packages", *PATHS]
    changes = set_all(node, WANTED, check=True)
    assert state(node) == before, "check mode changes nothing"
    keep(node, PATHS, False)
    assert keep(node, PATHS, False) == [], "a second run stores nothing"
    act_as_the_roles(node)
    assert (
        set_all(node, WANTED) == changes == sorted(f"{kind} {key}" for kind in WANTED for key in WANTED[kind])
    )
    assert (set_all(node, WANTED), set_all(node, WANTED, check=True), drift(node)) == ([], [], [])
    assert node.read(MTU) == "4300"
    assert node.rdma_links == {"rxe0": "eth1"}
    assert node.trees["eth1"] == TREE
    restored, packages_left, failures = restore(node, False)
    assert {*changes, "module rdma_rxe", "module crc32_generic", "file /opt/rogue"} <= set(restored)
    assert (packages_left, failures) == (["perftest"], [])
    node.packages.discard("perftest")
    assert state(node) == before
    assert not node.path("/var/lib/rogue").exists()
    assert restore(node, False) == ({}, [], [])


@pytest.mark.parametrize("kind", WANTED)
def test_interrupted_run_is_restored(node: FakeNode, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(node)
    keep(node, PATHS, False)
    setter = KINDS[kind].set

    def set_and_die(*arguments: Any) -> None:
        setter(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(KINDS[kind], "set", set_and_die)
    with pytest.raises(KeyboardInterrupt):
        set_all(node, WANTED)
    monkeypatch.undo()
    restore(node, False)
    assert state(node) == before


def test_first_value_is_never_replaced(node: FakeNode) -> None:
    keep(node, PATHS, False)
    set_all(node, {"kernel_files": {ECN: 1}})
    node.write(ECN, "0\n")
    assert set_all(node, {"kernel_files": {ECN: 3}}) == [f"kernel_files {ECN}"]
    assert json.loads(node.path(BEFORE).read_text())["kernel_files"] == {ECN: "2"}


def test_reboot_is_drift_and_healed_once(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    keep(node, PATHS, False)
    set_all(node, card_settings())
    assert drift(node) == []
    node.reboot()
    node.path(LEFT).unlink()
    assert len(drift(node)) == 6
    assert "card_priorities eth1" in set_all(node, card_settings())
    assert (drift(node), set_all(node, card_settings())) == ([], [])


def test_drift_excludes_changes_by_experiments(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    keep(node, PATHS, False)
    set_all(node, card_settings())
    node.objects["maxrate"]["tc-maxrate"] = LIMITED
    assert drift(node) == []
    node.write(PARAMETER, "5\n")
    assert drift(node) == [f"kernel_files {PARAMETER}"]
    node.path("/sys/kernel/debug").rename(node.path("/sys/kernel/hidden"))
    node.is_root = lambda: False  # type: ignore[method-assign]  # as the preflight is, and debugfs is root's
    assert drift(node) == []


def test_card_settings_are_restored(tmp_path: Path) -> None:
    """mlx5 reports 100 % for each class, a sum that dcb refuses: only zeros restore that."""
    node = FakeCardNode(tmp_path)
    node.objects["maxrate"]["tc-maxrate"] = LIMITED
    before = state(node)
    keep(node, PATHS, False)
    set_all(node, card_settings())
    assert (node.trusts_dscp, node.read(AFFINITY)) == (True, "4")
    assert set(node.objects["maxrate"]["tc-maxrate"].split()) == {f"{number}:0bit" for number in range(8)}
    assert restore(node, False)[2] == []
    assert state(node) == before


def test_interrupts_are_not_restored_after_a_reboot(tmp_path: Path) -> None:
    """After a reboot the number may be that of another device."""
    node = FakeCardNode(tmp_path)
    node.write("/proc/sys/kernel/random/boot_id", "a\n")
    keep(node, [], False)
    set_all(node, {"kernel_files": {AFFINITY: 4}})
    node.write("/proc/sys/kernel/random/boot_id", "b\n")
    restore(node, False)
    assert node.read(AFFINITY) == "4"


@pytest.mark.parametrize(
    ("driver", "trust", "paused", "golden"),
    [
        ("mlx4_core", "pcp", (), [SET_ETS]),
        ("mlx4_core", "pcp", (3,), [SET_ETS, SET_PFC]),
        ("mlx5_core", "pcp", (), [TO_HOST, SET_ETS]),
        ("mlx5_core", "dscp", (3,), [TO_HOST, SET_ETS, SET_PFC, "dcb app add dev eth1 dscp-prio 26:3"]),
    ],
)
def test_commands_for_each_driver(
    tmp_path: Path, driver: str, trust: str, paused: tuple[int, ...], golden: list[str]
) -> None:
    node = FakeCardNode(tmp_path, driver)
    set_all(node, priorities(trust, *paused))
    assert [command for command in node.commands if " show " not in command] == golden


def test_shares_are_set_even_if_reported(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.objects["ets"] = {"tc-tsa": ETS, "tc-bw": SHARES, "prio-tc": ONE_TO_ONE}
    node.dcbx = ["host", "cee", "ieee"]
    set_all(node, priorities())
    assert [command for command in node.commands if " show " not in command] == [SET_ETS]
    assert node.link_toggles == 0, "pauses did not change, and the link stays up"


def test_dscp_table_is_restored(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.objects["app"]["dscp-prio"] = "24:2 48:6"
    keep(node, [], False)
    set_all(node, priorities("dscp"))
    assert node.objects["app"]["dscp-prio"] == "26:3"
    restore(node, False)
    assert node.objects["app"]["dscp-prio"] == "24:2 48:6"


def test_unsupported_card_settings_are_refused(tmp_path: Path, node: FakeNode) -> None:
    connectx3 = FakeCardNode(tmp_path / "mlx4", "mlx4_core")
    with pytest.raises(StateError, match="mlx4_core ignores the DSCP although the kernel accepts a table"):
        set_all(connectx3, priorities("dscp"))
    set_all(node, priorities())
    assert not [command for command in node.commands if " set " in command]
    with pytest.raises(StateError, match="interface eth1: its driver has no priorities"):
        set_all(node, priorities("pcp", 3))


def test_pauses_taken_from_the_switch_are_set_again(tmp_path: Path) -> None:
    """The firmware negotiated the pauses that we want, and they end with its DCBX."""
    node = FakeCardNode(tmp_path)
    node.objects["pfc"]["prio-pfc"] = "0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off"
    set_all(node, priorities("pcp", 3))
    assert [command for command in node.commands if " show " not in command] == [TO_HOST, SET_ETS, SET_PFC]


def test_dcbx_is_given_back_on_a_node_whose_first_state_lacks_it(tmp_path: Path) -> None:
    """Provisioning once did not store the owner of DCBX, and did not change it."""
    node = FakeCardNode(tmp_path)
    keep(node, [], False)
    before = state(node)
    old = KINDS["card_priorities"].observe(node, "eth1")
    del old["dcbx"]
    stored = {**json.loads(node.path(BEFORE).read_text()), "card_priorities": {"eth1": old}}
    node.path(BEFORE).write_text(json.dumps(stored))
    node.objects["ets"] = {"tc-tsa": ETS, "tc-bw": SHARES, "prio-tc": ONE_TO_ONE}
    set_all(node, priorities(), check=True)
    assert json.loads(node.path(BEFORE).read_text()) == stored
    set_all(node, priorities())
    assert node.dcbx == ["host", "ieee"]
    assert restore(node, False)[2] == []
    assert state(node) == before


def test_foreign_queueing_discipline_is_not_replaced(node: FakeNode) -> None:
    node.roots["eth1"] = "qdisc tbf 8001: root refcnt 2 rate 1Mbit\n"
    with pytest.raises(
        StateError, match="interface eth1: got `qdisc tbf 8001: root`, expected the kernel's default"
    ):
        set_all(node, {"traffic_control": {"eth1": TREE}})
    assert node.trees["eth1"] == []


def test_drift_ignores_rates_of_limiters() -> None:
    kind, rest = KINDS["traffic_control"], "class htb 1:10 root prio 0\n"
    left = f"class htb 1:11 root prio 0 rate 10Gbit overhead 24 ceil 10Gbit burst 1Mb cburst 1Mb \n{rest}"
    later = f"{rest}class htb 1:11 root prio 0 rate 20Mbit overhead 24 ceil 20Mbit burst 9b cburst 9b \n"
    assert not kind.has_drifted(later, left)
    assert kind.has_drifted(rest, left)
    assert kind.has_drifted(None, left)


def test_module_in_use_is_named_and_the_rest_restored(node: FakeNode) -> None:
    keep(node, PATHS, False)
    act_as_the_roles(node)
    set_all(node, WANTED)
    node.write("/sys/module/rdma_rxe/refcnt", "2\n")
    assert restore(node, False)[2] == ["module rdma_rxe: in use; end the programs that use it"]
    assert node.read(ECN) == "2"
    node.write("/sys/module/rdma_rxe/refcnt", "0\n")
    assert restore(node, False)[2] == []
    assert not node.path("/sys/module/rdma_rxe").exists()
    assert not node.path(BEFORE).exists()


def test_modules_that_a_driver_needs_stay_loaded(node: FakeNode) -> None:
    keep(node, PATHS, False)
    act_as_the_roles(node)
    node.write("/sys/module/mlx5_ib/drivers/auxiliary", "")
    node.write("/sys/module/ib_uverbs/holders/mlx5_ib/name", "")
    node.write("/sys/module/ib_uverbs/refcnt", "1\n")
    assert restore(node, False)[2] == []
    assert node.path("/sys/module/ib_uverbs/refcnt").exists()
    assert not node.path("/sys/module/rdma_rxe").exists()


def test_earlier_modules_and_card_drivers_stay_loaded(node: FakeNode) -> None:
    node.load("ib_uverbs")
    keep(node, PATHS, False)
    act_as_the_roles(node)
    node.write("/sys/module/mlx5_ib/refcnt", "0\n")
    node.write("/sys/module/mlx5_ib/drivers/auxiliary", "")
    node.write("/sys/module/ib_core/holders/mlx5_ib/name", "")
    restored, _, failures = restore(node, False)
    assert failures == []
    modules = {key for key in restored if key.startswith("module ")}
    assert modules == {"module rdma_rxe", "module udp_tunnel"}
    assert node.path("/sys/module/mlx5_ib/refcnt").exists()
    assert node.path("/sys/module/ib_uverbs/refcnt").exists()


def test_directory_with_files_of_others_stays(node: FakeNode) -> None:
    keep(node, PATHS, False)
    act_as_the_roles(node)
    node.write("/etc/modules-load.d/theirs.conf", "dummy\n")
    assert restore(node, False)[2] == []
    assert node.read("/etc/modules-load.d/theirs.conf") == "dummy"
    assert not node.path("/etc/modules-load.d/rogue.conf").exists()


def test_damaged_state_file_is_refused(node: FakeNode) -> None:
    node.write(BEFORE, "{")
    with pytest.raises(StateError, match=r"before\.json is damaged"):
        restore(node, False)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"kernel_files": {"/etc/passwd": "x"}}, "expected a path in /proc or /sys and one line"),
        ({"kernel_files": {"/proc/../etc/passwd": "x"}}, "expected a path in /proc or /sys and one line"),
        ({"kernel_files": {ECN: "1\n2"}}, "expected a path in /proc or /sys and one line"),
        ({"soft_roce": {"eth1": "rxe0 type siw"}}, "soft_roce_device: got 'rxe0 type siw'"),
        ({"soft_roce": {"--help": "rxe0"}}, "interface: got '--help', expected at most"),
        (
            {"traffic_control": {"eth1": ["qdisc add dev eth0 root pfifo"]}},
            "expected one line for tc about this",
        ),
        (
            {"traffic_control": {"eth1": ["qdisc add dev eth1 x\nqdisc del dev eth0 root"]}},
            "expected one line",
        ),
        ({"card_priorities": {"../eth1": {}}}, "interface: got '../eth1'"),
    ],
)
def test_unsafe_words_are_refused_before_any_change(
    node: FakeNode, wanted: dict[str, Any], message: str
) -> None:
    before = node.state()
    with pytest.raises(StateError, match=message):
        establish(
            node, {"kernel_files": {ECN: 1}, **wanted} if "kernel_files" not in wanted else wanted, False
        )
    assert (node.state(), node.commands) == (before, [])


def test_unreadable_file_has_no_value(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    """debugfs has mode 0700, and the preflight runs without root."""

    def denied(*_: object, **__: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        for look in ("stat", "read_text"):
            patch.setattr(Path, look, denied)
        assert KINDS["kernel_files"].observe(node, PARAMETER) is None


def test_unreadable_file_is_restored_without_a_change(
    node: FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(node, [], False)
    set_all(node, {"kernel_files": {ECN: 1}})
    with monkeypatch.context() as patch:
        patch.setattr(KINDS["kernel_files"], "observe", lambda *_: None)
        assert restore(node, True) == restore(node, False) == ({}, [], [])
    assert node.read(ECN) == "2"


def test_check_mode_has_no_value_for_a_missing_interface(node: FakeNode) -> None:
    wanted: dict[str, Any] = {"card_priorities": {"eth9": {}}}
    assert establish(node, wanted, check=True) == {"card_priorities eth9": (None, {})}


def test_missing_file_or_interface_is_named(node: FakeNode) -> None:
    with pytest.raises(StateError, match=r"tcp_none: this kernel has no such file; load the module"):
        set_all(node, {"kernel_files": {"/proc/sys/net/ipv4/tcp_none": 1}})
    with pytest.raises(StateError, match="interface eth9: not on this node; correct the inventory"):
        set_all(node, {"traffic_control": {"eth9": []}})
