from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import drift, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_card import INTERRUPTS, FakeCardNode
from helpers.fake_node import FakeNode

WANTED = {"governor": {"all": "performance"}, "card_interrupts": {"eth1": "local"}}


def affinities(node: FakeNode) -> list[str | None]:
    return [node.read(f"/proc/irq/{number}/smp_affinity_list") for number in INTERRUPTS]


def test_interrupts_go_to_the_cards_own_processors_in_turn(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    before = node.state()
    establish(node, Ledger(node), "tuning", WANTED, False)
    assert affinities(node) == ["0\n", "1\n", "4\n"]
    assert node.read("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor") == "performance\n"
    assert not establish(node, Ledger(node), "tuning", WANTED, False)
    node.write("/proc/irq/121/smp_affinity_list", "7\n")
    assert drift(node, Ledger(node)) == ["card_interrupts eth1"]
    restore(node, Ledger(node), False)
    assert node.state() == before


def test_an_interrupt_that_is_somebody_elses_now_is_left_alone(tmp_path: Path) -> None:
    """After a reboot number 121 is a disk's."""
    node = FakeCardNode(tmp_path)
    establish(node, Ledger(node), "tuning", WANTED, False)
    node.path("/sys/class/net/eth1/device/msi_irqs/121").unlink()
    node.write("/proc/irq/121/smp_affinity_list", "7\n")
    restore(node, Ledger(node), False)
    assert node.read("/proc/irq/121/smp_affinity_list") == "7\n"


def test_a_machine_without_choices_is_left_alone(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    assert not establish(node, Ledger(node), "tuning", WANTED, False)


def test_a_card_that_belongs_to_no_node_is_named(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.write("/sys/class/net/eth1/device/local_cpulist", "\n")
    with pytest.raises(StateError, match="its card has no local_cpulist: leave tuning_interrupts out"):
        establish(node, Ledger(node), "tuning", WANTED, False)
