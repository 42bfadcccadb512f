from pathlib import Path

import pytest

from rogue.agent.drivers.verbs.card_facts import by_firmware, dcqcn_state


def test_what_can_be_said_of_each_driver(tmp_path: Path) -> None:
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
def test_the_firmwares_mask_says_what_the_inbox_driver_does_not(mask: str, state: str) -> None:
    assert by_firmware(INBOX, mask) == state


def test_what_ofeds_switches_say_is_not_asked_of_the_mask() -> None:
    assert by_firmware("off", "ROCE_CC_PRIO_MASK_P1 255") == "off"
    none = "none: mlx4_core does not react to marks"
    assert by_firmware(none, "ROCE_CC_PRIO_MASK_P1 255") == none
