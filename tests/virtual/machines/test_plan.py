from virtual.machines.plan import pair


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
