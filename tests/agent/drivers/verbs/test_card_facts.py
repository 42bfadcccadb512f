"""Tests: facts and counters of an RDMA card."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_verbs import fake_sysfs
from helpers.verbs_ends import PORT

from rogue import agent
from rogue.agent.drivers.verbs.card_facts import by_firmware, card_facts, dcqcn_state, read_counters

ACCELERATIONS = (
    "roce_adp_retrans_en | 0x00000001\nroce_tx_window_en | 0x0\nroce_slow_restart_en | 0x00000001\n"
)
SETTINGS = (
    "Configurations:                  Default         Current         Next Boot\n"
    "*        ROCE_CC_PRIO_MASK_P1    255             0               255\n"
    "         ROCE_CC_PRIO_MASK_P2    255             255             255\n"
    "         SRIOV_EN                False(0)        False(0)        False(0)\n"
)
OLD_SETTINGS = "  ROCE_CC_PRIO_MASK_P1        255\n  ROCE_CC_PRIO_MASK_P2        0\n  SRIOV_EN  False(0)\n"


def sysfs_of_a_card(directory: Path) -> Path:
    pci, device = directory / "0000:03:00.0", directory / "infiniband" / "mlx5_0"
    pci.mkdir()
    device.mkdir(parents=True)
    (device / "device").symlink_to(pci)
    (device / "fw_ver").write_text("16.35.4030\n")
    (pci / "current_link_speed").write_text("8.0 GT/s PCIe\n")
    (pci / "current_link_width").write_text("8\n")
    return device.parent


def test_facts_of_a_card(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def ask(command: list[str]) -> str:
        asked.append(command)
        return {"mlxreg": ACCELERATIONS, "mstconfig": SETTINGS}.get(command[0], "")

    assert card_facts("mlx5_0", "mlx5_core", ask, sysfs_of_a_card(tmp_path)) == {
        "firmware": "16.35.4030",
        "pcie": "8.0 GT/s PCIe x8",
        "accelerations": "adaptive retransmission, slow restart",
        "dcqcn_mask": "ROCE_CC_PRIO_MASK_P1 0, ROCE_CC_PRIO_MASK_P2 255",
    }
    register = ["-d", "0000:03:00.0", "--yes", "--reg_name", "ROCE_ACCL", "--get"]
    assert asked == [
        ["mstreg", *register],
        ["mlxreg", *register],
        ["mstconfig", "-d", "0000:03:00.0", "-e", "query"],
    ]


def test_old_tools_report_the_values_of_the_next_boot(tmp_path: Path) -> None:
    def ask(command: list[str]) -> str:
        return "" if "-e" in command else {"mlxconfig": OLD_SETTINGS}.get(command[0], "")

    facts = card_facts("mlx5_0", "mlx5_core", ask, sysfs_of_a_card(tmp_path))
    assert facts["dcqcn_mask"] == (
        "ROCE_CC_PRIO_MASK_P1 255 from the next boot on, ROCE_CC_PRIO_MASK_P2 0 from the next boot on"
    )


def test_all_off_is_none_and_no_output_is_unknown(tmp_path: Path) -> None:
    sysfs = sysfs_of_a_card(tmp_path)
    off = card_facts("mlx5_0", "mlx5_core", lambda _: ACCELERATIONS.replace("0x00000001", "0x0"), sysfs)
    assert off["accelerations"] == "none"
    assert card_facts("mlx5_1", "mlx5_core", lambda _: "", sysfs) == dict.fromkeys(
        ("firmware", "pcie", "accelerations", "dcqcn_mask"), "unknown"
    )


def test_a_connectx_3_has_fewer_facts_and_software_none(tmp_path: Path) -> None:
    sysfs = sysfs_of_a_card(tmp_path)
    assert list(card_facts("mlx5_0", "mlx4_core", lambda _: "", sysfs)) == ["firmware", "pcie"]
    for driver in ("software", ""):
        assert card_facts("mlx5_0", driver, lambda _: "", sysfs) == {}


def test_numeric_counters_are_read(tmp_path: Path) -> None:
    fake_sysfs(tmp_path, PORT.gid)
    (tmp_path / "rxe0" / "ports" / "1" / "hw_counters" / "broken").write_text("n/a\n")
    assert read_counters(tmp_path, PORT) == {"sent_pkts": 17}


MLX5 = """NIC statistics:
     rx_packets: 5
     rx0_packets: 5
     rx_out_of_buffer: 2
     rx_prio3_bytes: 900
     rx_prio3_pause: 4
     rx_prio3_pause_duration: 77
     tx_prio3_pause: 3
     rx_prio3_marked: 6
     rx_prio3_buf_discard: 1
"""
MLX4 = """NIC statistics:
     rx_pause_prio_3: 4
     rx_pause_duration_prio_3: 77
     tx_pause_transition_prio_3: 1
     rx_prio_3_packets: 9
     tx_prio_3_bytes: 800
     rx_prio_8_packets: 1
     tx0_packets: 3
"""


@pytest.mark.parametrize(
    ("driver", "shown", "names"),
    [
        (
            "mlx5_core",
            MLX5,
            "rx_out_of_buffer rx_prio3_bytes rx_prio3_pause rx_prio3_pause_duration tx_prio3_pause "
            "rx_prio3_marked rx_prio3_buf_discard",
        ),
        (
            "mlx4_core",
            MLX4,
            "rx_pause_prio_3 rx_pause_duration_prio_3 tx_pause_transition_prio_3 rx_prio_3_packets "
            "tx_prio_3_bytes rx_prio_8_packets",
        ),
    ],
)
def test_pauses_marks_and_losses_are_read_by_priority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: str, shown: str, names: str
) -> None:
    program = tmp_path / "ethtool"
    program.write_text(f"#!/bin/sh\n[ \"$1 $2\" = '-S eth1' ] && echo '{shown}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    card = replace(PORT, driver=driver, netdev="eth1")
    assert list(read_counters(tmp_path, card)) == [f"ethtool_{name}" for name in names.split()]
    monkeypatch.setenv("PATH", "")
    assert read_counters(tmp_path, card) == {}, "a node without ethtool has none of them"


def test_counters_of_the_whole_device_have_a_prefix(tmp_path: Path) -> None:
    """mlx4 has some of its counters once per device."""
    assert read_counters(tmp_path, PORT) == {}
    directory = tmp_path / PORT.device / "hw_counters"
    directory.mkdir(parents=True)
    (directory / "rq_num_oos").write_text("3\n")
    assert read_counters(tmp_path, PORT) == {"device_rq_num_oos": 3}


def test_only_the_supervisor_forks() -> None:
    """A fork would copy registered memory. These arguments keep `subprocess` from `vfork`."""
    forking = {"preexec_fn", "user", "group", "extra_groups"}
    own, forkers = Path(agent.__path__[0]), set[str]()
    for file in sorted(own.rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)):
            assert not forking & {word.arg for word in call.keywords}, f"{file}:{call.lineno}"
            if ast.unparse(call.func) in ("os.fork", "os.system", "os.popen", "multiprocessing.Process"):
                forkers.add(str(file.relative_to(own)))
    assert forkers == {"node/processes.py", "node/serve.py"}


def test_the_state_of_dcqcn_by_driver(tmp_path: Path) -> None:
    assert dcqcn_state("eth1", "mlx5_core", tmp_path).startswith("not controllable: the inbox driver")
    for point in ("roce_np", "roce_rp"):
        directory = tmp_path / "eth1" / "ecn" / point / "enable"
        directory.mkdir(parents=True)
        for priority in range(8):
            (directory / str(priority)).write_text("1\n")
    assert dcqcn_state("eth1", "mlx5_core", tmp_path) == "on"
    (directory / "3").write_text("0\n")
    assert dcqcn_state("eth1", "mlx5_core", tmp_path) == "on for some priorities"
    for path in tmp_path.rglob("enable/*"):
        path.write_text("0\n")
    assert dcqcn_state("eth1", "mlx5_core", tmp_path) == "off"
    assert dcqcn_state("eth1", "mlx4_core", tmp_path) == "none: mlx4_core does not react to marks"


INBOX = "not controllable: the inbox driver has no switch, and the firmware's default is on"


@pytest.mark.parametrize(
    ("mask", "state"),
    [
        ("ROCE_CC_PRIO_MASK_P1 0", "off"),
        ("ROCE_CC_PRIO_MASK_P1 255, ROCE_CC_PRIO_MASK_P2 255", "on"),
        ("ROCE_CC_PRIO_MASK_P1 255, ROCE_CC_PRIO_MASK_P2 0", INBOX),
        ("ROCE_CC_PRIO_MASK_P1 8", INBOX),
        ("ROCE_CC_PRIO_MASK_P1 0 from the next boot on", INBOX),
        ("unknown", INBOX),
        ("", INBOX),
    ],
)
def test_the_firmware_mask_gives_the_state_of_the_inbox_driver(mask: str, state: str) -> None:
    assert by_firmware(INBOX, mask) == state


@pytest.mark.parametrize("state", ["off", "none: mlx4_core does not react to marks"])
def test_a_known_state_does_not_depend_on_the_mask(state: str) -> None:
    assert by_firmware(state, "ROCE_CC_PRIO_MASK_P1 255") == state
