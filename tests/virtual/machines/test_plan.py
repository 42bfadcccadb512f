from rogue.virtual.machines.machine_plan import machines_of, pair
from rogue.virtual.network import network

DUMBBELL = network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")])


def test_the_two_ends_of_a_cable_name_each_others_sockets() -> None:
    first, second = pair()
    here, there = first.links[0], second.links[0]
    assert (here.socket_name, here.peer_socket_name) == (there.peer_socket_name, there.socket_name)
    assert here.socket_name != there.socket_name


def test_the_two_ends_have_their_own_addresses_in_one_network() -> None:
    links = [machine.links[0] for machine in pair(("a", "b"))]
    assert [link.address for link in links] == ["10.9.0.1/24", "10.9.0.2/24"]
    assert links[0].mac != links[1].mac


def test_the_mtu_leaves_room_for_packets_of_4096_bytes() -> None:
    assert all(machine.links[0].mtu_bytes >= 4096 + 20 + 8 + 12 + 16 + 4 for machine in pair())


def test_one_machine_holds_every_switch_and_each_host_is_one() -> None:
    fabric, *hosts = machines_of(DUMBBELL)
    assert (fabric.name, fabric.bridges, fabric.trunks) == ("fabric", ("s0", "s1"), (("s0", "s1"),))
    assert [host.name for host in hosts] == ["h0", "h1"]
    assert [link.bridge for link in fabric.links] == ["s0", "s1"]
    assert [link.address for host in hosts for link in host.links] == ["10.9.0.10/24", "10.9.0.11/24"]


def test_every_socket_is_listened_on_once_and_sent_to_once() -> None:
    links = [link for machine in machines_of(DUMBBELL) for link in machine.links]
    assert len({link.socket_name for link in links}) == len(links)
    assert {link.socket_name for link in links} == {link.peer_socket_name for link in links}
    assert len({link.mac for link in links}) == len(links)


def test_hosts_of_a_network_boot_without_soft_roce_which_provisioning_adds() -> None:
    assert not any(link.soft_roce for machine in machines_of(DUMBBELL) for link in machine.links)
    assert all(link.soft_roce for machine in pair() for link in machine.links)
