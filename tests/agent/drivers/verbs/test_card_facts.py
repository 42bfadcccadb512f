"""Facts of a card in a sysfs of the test's own; what tools print is in the form of the vendor's manuals."""

from pathlib import Path

from ansible_collections.rogue.testbed.plugins.module_utils.accelerations import FIELDS

from rogue.agent.drivers.verbs.card_facts import ACCELERATIONS as NAMED
from rogue.agent.drivers.verbs.card_facts import card_facts

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


def test_a_card_says_what_a_run_depends_on(tmp_path: Path) -> None:
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


def test_tools_that_know_no_current_values_tell_those_of_the_next_boot(tmp_path: Path) -> None:
    def ask(command: list[str]) -> str:
        return "" if "-e" in command else {"mlxconfig": OLD_SETTINGS}.get(command[0], "")

    facts = card_facts("mlx5_0", "mlx5_core", ask, sysfs_of_a_card(tmp_path))
    assert facts["dcqcn_mask"] == (
        "ROCE_CC_PRIO_MASK_P1 255 from the next boot on, ROCE_CC_PRIO_MASK_P2 0 from the next boot on"
    )


def test_all_off_is_none_and_silence_is_unknown(tmp_path: Path) -> None:
    sysfs = sysfs_of_a_card(tmp_path)
    off = card_facts("mlx5_0", "mlx5_core", lambda _: ACCELERATIONS.replace("0x00000001", "0x0"), sysfs)
    assert off["accelerations"] == "none"
    assert card_facts("mlx5_1", "mlx5_core", lambda _: "", sysfs) == dict.fromkeys(
        ("firmware", "pcie", "accelerations", "dcqcn_mask"), "unknown"
    )


def test_a_connectx_3_has_no_such_switches_and_software_nothing(tmp_path: Path) -> None:
    sysfs = sysfs_of_a_card(tmp_path)
    assert list(card_facts("mlx5_0", "mlx4_core", lambda _: "", sysfs)) == ["firmware", "pcie"]
    for driver in ("software", ""):
        assert card_facts("mlx5_0", driver, lambda _: "", sysfs) == {}


def test_provisioning_knows_the_same_accelerations() -> None:
    assert {f"{field}_en": words for field, words in FIELDS.items()} == NAMED
