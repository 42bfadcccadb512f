from collections.abc import Callable
from copy import deepcopy
from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.nodes import write_inventory

from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.provisioning import inventory_source
from rogue.harness.provisioning.inventory import interpret, load_inventory
from rogue.remote.login import Login


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return Ansible's listing of an inventory."""
    return inventory_source.list_inventory(write_inventory(tmp_path_factory.mktemp("nodes")), runs=False)


def test_hosts_switch_and_logins(tmp_path: Path) -> None:
    inventory = load_inventory(write_inventory(tmp_path))
    assert inventory.kind == "virtual"
    assert [host.name for host in inventory.hosts] == ["h0", "h1"]
    assert inventory.hosts[1].variables.experiment_address == IPv4Address("10.9.0.11")
    assert inventory.hosts[1].variables.rdma_device_kind == "soft_roce"
    assert inventory.switch is not None
    assert [port.name for port in inventory.switch.variables.ports] == ["s0->h0", "s0->h1"]
    known = tmp_path / "known_hosts"
    assert inventory.logins[0] == Login("h0", "127.0.0.1", 4001, "root", (), (known,), uses_agent=True)
    assert [login.node for login in inventory.logins] == ["h0", "h1", "fabric"]


Change = Callable[[dict[str, Any]], object]


def host(name: str, **variables: object) -> Change:
    """Give a node other variables."""
    return lambda listed: listed["_meta"]["hostvars"][name].update(variables)


def without(name: str, variable: str) -> Change:
    """Take a variable away from a node."""
    return lambda listed: listed["_meta"]["hostvars"][name].pop(variable)


MISTAKES: dict[str, Change] = {
    "h1.experiment_address: got '10.9.0.256', expected": host("h1", experiment_address="10.9.0.256"),
    "h0.experiment_interface: got nothing, expected a value, or experiment_mac": without(
        "h0", "experiment_interface"
    ),
    "h0.experiment_interface: got bond0, a bond or a team, expected one port of one card; give": host(
        "h0", experiment_interface="bond0"
    ),
    "h1.experiment_interface: got enp3s0f0.100, a VLAN, expected one port": host(
        "h1", experiment_interface="enp3s0f0.100"
    ),
    "h1.experiment_interface: got vlan7, a VLAN, expected": host("h1", experiment_interface="vlan7"),
    "h1.experiment_interface: got team1, a bond or a team": host("h1", experiment_interface="team1"),
    "h0.allocated_switches.0.name: got nothing, expected a value": host("h0", allocated_switches=[{}]),
    "h0.rdma_device_kind: got 'mellanox', expected 'soft_roce' or 'card'; inv": host(
        "h0", rdma_device_kind="mellanox"
    ),
    "h0.experiment_mtu: got 'jumbo', expected a whole number; inv": host("h0", experiment_mtu="jumbo"),
    "h0.experiment_mtu: got 70000, expected a number of at most 65535": host("h0", experiment_mtu=70_000),
    "h0.experiment_interface: got 7, expected text, in quotes where YAML": host("h0", experiment_interface=7),
    "h0.experiment_interface: got 'a b', expected the name of a network": host(
        "h0", experiment_interface="a b"
    ),
    "h0.experiment_mac: got '14:58', expected a MAC address such as 14:58:d0": host(
        "h0", experiment_mac="14:58"
    ),
    "fabric.experiment_mtu: got 20, expected": host("fabric", experiment_mtu=20),
    "fabric.ports.0.interface: got nothing": host("fabric", ports=[{"bridge": "s0", "peer": "h0"}]),
    "h0: got host keys that are not verified, expected": host(
        "h0", ansible_ssh_extra_args="-o StrictHostKeyChecking=no"
    ),
    "h1: got host keys that are not verified": host(
        "h1", ansible_ssh_common_args="-o 'StrictHostKeyChecking accept-new'"
    ),
    "fabric: got host keys that are not verified": host("fabric", ansible_host_key_checking=False),
    "h0.ansible_port: got 'abc', expected a whole number; inventory/example": host("h0", ansible_port="abc"),
    "h0.ansible_port: got 70000, expected a number of at most 65535": host("h0", ansible_port=70_000),
    "h1.ansible_port: got 0, expected a number of at least 1": host("h1", ansible_port=0),
    "fabric.ansible_port: got '{{ base + 3 }}', expected a value; templates are not resolved": host(
        "fabric", ansible_port="{{ base + 3 }}"
    ),
    "fabric.ports.0.peer: got '{{ peer }}', expected a value; templates": host(
        "fabric", ports=[{"bridge": "s0", "interface": "eth1", "peer": "{{ peer }}"}]
    ),
    "h0.experiment_address: got '10.9', expected an IP address; invent": host(
        "h0", experiment_address="10.9"
    ),
    "h1.experiment_address: got 10.9.0.10, which h0 has, expected a different address; give": host(
        "h1", experiment_address="10.9.0.10"
    ),
    "experiment_interface of h0, h1: got bond0, a bond": lambda listed: [
        listed["_meta"]["hostvars"][name].update(experiment_interface="bond0") for name in ("h0", "h1")
    ],
    "hosts: got no host in it": lambda listed: listed.pop("hosts"),
    "switch: got 2 machines, expected one": lambda listed: listed["switch"]["hosts"].append("h0"),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes(listed: dict[str, Any], sentence: str) -> None:
    changed = deepcopy(listed)
    MISTAKES[sentence](changed)
    with pytest.raises(ConfigError) as caught:
        interpret(Path("nodes.yaml"), changed)
    assert f"nodes.yaml: {sentence}" in str(caught.value)


@pytest.mark.parametrize(
    "variables",
    [
        {"ansible_ssh_host_key_checking": False},
        {"ansible_ssh_host_key_checking": "no"},
        {"ansible_host_key_checking": "False"},
        {"ansible_host_key_checking": "off"},
        {"ansible_host_key_checking": 0},
        {"ansible_host_key_checking": "{{ strict }}"},
        {"ansible_paramiko_host_key_checking": "n"},
        {"ansible_ssh_args": "-oStrictHostKeyChecking=false"},
        {"ansible_ssh_args": '-o "StrictHostKeyChecking = No"'},
        {"ansible_ssh_args": "-o StrictHostKeyChecking=n''o"},
    ],
)
def test_no_way_around_host_keys(listed: dict[str, Any], variables: dict[str, object]) -> None:
    changed = deepcopy(listed)
    host("h0", **variables)(changed)
    with pytest.raises(ConfigError, match=r"nodes\.yaml: h0: got host keys that are not verified"):
        interpret(Path("nodes.yaml"), changed)


@pytest.mark.parametrize("checked", [True, "yes", "True", 1])
def test_host_keys_may_be_verified_explicitly(listed: dict[str, Any], checked: object) -> None:
    changed = deepcopy(listed)
    host("h0", ansible_host_key_checking=checked, ansible_ssh_args="-o StrictHostKeyChecking=yes")(changed)
    assert interpret(Path("nodes.yaml"), changed).hosts


def test_ssh_configuration_completes_the_inventory(
    listed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory_source, "_CONFIGURATIONS", (str(tmp_path),))
    config = tmp_path / "config"
    config.write_text("Host lab-1\n  HostName 10.0.0.1\n  User bob\n  Port 2222\n  ProxyJump gate\n")
    changed = deepcopy(listed)
    for variable in ("ansible_port", "ansible_user", "known_hosts_file"):
        without("h0", variable)(changed)
    host("h0", ansible_host="lab-1", ansible_ssh_args="-C", ansible_ssh_common_args=f"-F {config} -4")(
        changed
    )
    inventory = interpret(Path("nodes.yaml"), changed)
    login, destination = inventory.logins[0], inventory.destinations[0]
    assert (login.address, login.port, login.user) == ("10.0.0.1", 2222, "bob")
    assert login.gateway is not None
    assert (destination.first_arguments, destination.arguments) == (("-C",), ("-4",))
    assert (destination.config, destination.user) == (str(config), "bob"), "Ansible goes in as the same"


def test_ssh_arguments_of_the_environment_are_the_default(
    listed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_SSH_ARGS", "-J gate")
    gateway = interpret(Path("nodes.yaml"), listed).logins[0].gateway
    assert gateway is not None
    assert gateway.address == "gate"


def test_unusable_route_is_an_error(listed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_SSH_ARGS", "-o ProxyCommand=nc")
    with pytest.raises(UsageError, match=r"inventory nodes\.yaml: h0: got ProxyCommand 'nc' in the SSH"):
        interpret(Path("nodes.yaml"), listed)


def test_quotes_in_the_environment_are_refused(
    listed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "it-ran"
    monkeypatch.setenv("ANSIBLE_SSH_ARGS", f'-F \'/tmp/a"\nMatch exec "touch {mark}"\'')
    with pytest.raises(
        UsageError, match=r"inventory nodes\.yaml: h0: configuration: got .*, expected a path"
    ):
        interpret(Path("nodes.yaml"), listed)
    assert not mark.exists()


def test_switch_is_optional(listed: dict[str, Any]) -> None:
    alone = deepcopy(listed)
    del alone["switch"]
    for variables in alone["_meta"]["hostvars"].values():
        del variables["testbed_kind"]
    inventory = interpret(Path("nodes.yaml"), alone)
    assert (inventory.kind, inventory.switch) == ("nodes", None)


def test_missing_or_invalid_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a file; `rogue testbed up` writes one"):
        load_inventory(tmp_path / "nowhere.yaml")
    (tmp_path / "broken.yaml").write_text("all: [")
    with pytest.raises(UsageError, match="Ansible cannot read it"):
        load_inventory(tmp_path / "broken.yaml")


def with_tor(listed: dict[str, Any], **variables: object) -> dict[str, Any]:
    """Return a listing with a hardware switch instead of the Linux machine."""
    changed = deepcopy(listed)
    del changed["switch"]
    changed["hardware_switches"] = {"hosts": ["tor"]}
    changed["_meta"]["hostvars"]["tor"] = {
        "ansible_host": "127.0.0.9",
        "switch_platform": "eos",
        "switch_ports": [{"bridge": "s0", "interface": "Ethernet1", "peer": "h0"}],
        "switch_priorities": {"3": {"pauses": True}},
        **variables,
    }
    return changed


def test_hardware_switch_has_a_login_and_is_not_a_node(listed: dict[str, Any]) -> None:
    inventory = interpret(Path("nodes.yaml"), with_tor(listed))
    (switch,) = inventory.hardware_switches
    assert switch.login is not None
    assert (switch.login.address, switch.variables.pausing) == ("127.0.0.9", (3,))
    assert [login.node for login in inventory.logins] == ["h0", "h1"]
    assert [each.node for each in inventory.destinations] == ["h0", "h1"], "Ansible does not go there"


def test_declared_switch_has_no_login(listed: dict[str, Any]) -> None:
    (switch,) = interpret(Path("nodes.yaml"), with_tor(listed, switch_platform="declared")).hardware_switches
    assert (switch.login, switch.variables.pausing) == (None, (3,))


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"switch_priorities": {"8": {}}}, "got '8', expected a number of at most 7"),
        ({"ansible_host_key_checking": False}, "tor: got host keys that are not verified"),
        (
            {"switch_priorities": {"3": {"headroom_bytes": 9}}},
            "tor.switch_priorities, priority 3: got headroom_bytes, expected none",
        ),
    ],
)
def test_mistakes_of_hardware_switches(
    listed: dict[str, Any], variables: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        interpret(Path("nodes.yaml"), with_tor(listed, **variables))
    assert sentence in str(raised.value)


def test_linux_and_hardware_switch_exclude_each_other(listed: dict[str, Any]) -> None:
    both = {**with_tor(listed), "switch": listed["switch"]}
    with pytest.raises(ConfigError, match="hardware_switches: got tor, expected none beside the Linux"):
        interpret(Path("nodes.yaml"), both)


def inventory_of_aliases(directory: Path, levels: int) -> Path:
    """Write an inventory of some hundred bytes that holds 8**levels values."""
    names = [f"a{level}" for level in range(levels)]
    lines = ["    a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"    {name}: &{name} [{', '.join([f'*{below}'] * 8)}]" for below, name in pairwise(names)]
    path = directory / "nodes.yaml"
    path.write_text("\n".join(["hosts:", "  hosts: {h0: {}}", "  vars:", *lines, ""]))
    return path


def test_memory_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = ("sh", "-c", 'ulimit -v 180000; exec "$@"', "sh")
    monkeypatch.setattr(inventory_source, "_LIMITED", limited)
    with pytest.raises(
        UsageError, match=r"^inventory .*: (Ansible cannot read it: |got one that takes longer)"
    ):
        load_inventory(inventory_of_aliases(tmp_path, 10))


def test_variables_of_the_working_directory_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, here = write_inventory(tmp_path), tmp_path / "here"
    (here / "group_vars").mkdir(parents=True)
    (here / "group_vars" / "hosts.yml").write_text("ansible_host: strange.example\n")
    monkeypatch.chdir(here)
    assert "strange" not in str(load_inventory(file))


def test_hosts_of_nested_groups(tmp_path: Path) -> None:
    file = write_inventory(tmp_path)
    document = yaml.safe_load(file.read_text())
    rack = {"hosts": document["all"]["children"]["hosts"].pop("hosts")}
    document["all"]["children"]["hosts"]["children"] = {"rack": rack}
    file.write_text(yaml.safe_dump(document))
    assert [host.name for host in load_inventory(file).hosts] == ["h0", "h1"]
