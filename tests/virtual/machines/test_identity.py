from pathlib import Path

import paramiko
import pytest

from rogue.virtual.machines import machine_plan
from rogue.virtual.machines.machine_plan import machines_of, pair
from rogue.virtual.network import network


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
