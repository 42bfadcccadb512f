"""Tests: plan machines: keys, links and TCP ports."""

from pathlib import Path

import paramiko
import pytest

from rogue.virtual.machines import machine_plan
from rogue.virtual.machines.machine_plan import free_ports, machines_of, pair
from rogue.virtual.network import network


def test_ports_are_distinct_and_not_privileged() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(1024 <= port <= 65_535 for port in ports)


@pytest.fixture(scope="module")
def keys() -> machine_plan.Keys:
    return machine_plan.generate_keys(["h1", "h2"])


def test_every_machine_has_its_own_key(keys: machine_plan.Keys) -> None:
    assert len({key.get_base64() for key in (keys.client, *keys.hosts.values())}) == 3


def test_known_hosts_names_each_machine_by_port_and_key(tmp_path: Path, keys: machine_plan.Keys) -> None:
    machine_plan.write_client_files(tmp_path, keys, {"h1": 2201, "h2": 2202})
    known = paramiko.HostKeys(str(tmp_path / "known_hosts"))
    assert known.check("[127.0.0.1]:2201", keys.hosts["h1"])
    assert not known.check("[127.0.0.1]:2201", keys.hosts["h2"])
    assert not known.check("[127.0.0.1]:22", keys.hosts["h1"])


def test_only_the_owner_reads_the_client_key(tmp_path: Path, keys: machine_plan.Keys) -> None:
    machine_plan.write_client_files(tmp_path, keys, {"h1": 2201, "h2": 2202})
    assert (tmp_path / "id_ecdsa").stat().st_mode & 0o077 == 0
    assert paramiko.ECDSAKey.from_private_key_file(str(tmp_path / "id_ecdsa")) == keys.client


def test_a_seed_holds_the_machines_own_key_and_no_other(keys: machine_plan.Keys) -> None:
    first, _ = pair()
    seed = machine_plan.seed(first, keys)
    assert b"BEGIN EC PRIVATE KEY" in seed
    assert seed.count(b"PRIVATE KEY-----") == 2
    assert keys.client.get_base64().encode() in seed


def test_the_boot_script_gets_one_set_of_variables_per_link() -> None:
    first, _ = pair()
    assert machine_plan.machine_settings(first) == (
        "name=h1\nmanagement=10.0.2.15/24\nbridges=''\ntrunks=''\ntrunk_mtu=4300\n"
        "mtu_1=4300\naddress_1=10.9.0.1/24\nbridge_1=\nrxe_1=yes\n"
    )


def test_the_boot_script_of_the_switching_machine_gets_bridges_and_what_joins_them() -> None:
    two = network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")])
    settings = machine_plan.machine_settings(machines_of(two)[0]).splitlines()
    assert settings[2:5] == ["bridges='s0 s1'", "trunks='s0:s1'", "trunk_mtu=4300"]
    assert settings[5:9] == ["mtu_1=4300", "address_1=", "bridge_1=s0", "rxe_1=no"]
    assert "bridge_2=s1" in settings


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
