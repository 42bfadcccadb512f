from dataclasses import replace

import pytest
from helpers.fake_agents import fake_inventory
from helpers.switch_inventory import hardware, wanted

from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.switches.measured_marks import at_once, incasts


def hosts(count: int) -> list[Host]:
    own = fake_inventory().hosts[0]
    return [replace(own, login=replace(own.login, node=f"h{number}")) for number in range(count)]


def rack(*hosts_of_switches: int) -> Inventory:
    """Switches with so many hosts each, one after the other."""
    found, first = [], 0
    for number, count in enumerate(hosts_of_switches):
        ports = [
            {"bridge": f"s{number}", "interface": f"Ethernet{each}", "peer": f"h{each}"}
            for each in range(first, first + count)
        ]
        switch = hardware(wanted("declared", switch_ports=ports), None)
        found.append(replace(switch, name=f"leaf{number}"))
        first += count
    return replace(fake_inventory(), hosts=tuple(hosts(first)), hardware_switches=tuple(found))


@pytest.mark.parametrize("count", [3, 4, 5, 6, 8])
def test_every_host_receives_once_and_has_one_part_at_a_time(count: int) -> None:
    received = []
    for groups in incasts(hosts(count)):
        busy = [each.name for receiver, senders in groups for each in (receiver, *senders)]
        assert len(busy) == len(set(busy))
        received += [receiver.name for receiver, _ in groups]
    assert sorted(received) == [f"h{number}" for number in range(count)]


def test_on_one_switch_all_send_at_once_also_where_nobody_says_which_ports_they_have() -> None:
    inventory = rack(6)
    silent = replace(inventory, hardware_switches=(hardware(wanted("declared", switch_ports=[]), None),))
    for each in (inventory, silent):
        assert [len(groups) for groups in at_once(each, each.hosts)] == [2, 2, 2]


def test_on_two_switches_those_do_whose_hosts_share_one() -> None:
    """Twelve hosts are four groups; with seven on the first switch one group lies across."""
    halves, across = rack(6, 6), rack(7, 5)
    assert [len(groups) for groups in at_once(halves, halves.hosts)] == [4, 4, 4]
    assert [len(groups) for groups in at_once(across, across.hosts)] == [1, 3, 1, 3, 1, 3]


def test_where_nobody_says_who_is_where_one_group_sends_at_a_time() -> None:
    silent = replace(rack(3, 3), hardware_switches=(hardware(wanted("declared", switch_ports=[]), None),) * 2)
    assert [len(groups) for groups in at_once(silent, silent.hosts)] == [1] * 6
