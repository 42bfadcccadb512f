"""The nodes of a testbed, as Ansible reads them from an inventory."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import ConfigError, Problem, UsageError

_TIME_LIMIT_S: Final = 60.0
_UNVERIFIED: Final = (
    "stricthostkeychecking=no",
    "stricthostkeychecking=accept-new",
    "stricthostkeychecking=off",
)
_KNOWN_HOSTS: Final = "~/.ssh/known_hosts"
_SSH_ARGUMENTS: Final = ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args")


class _Variables(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


_V = TypeVar("_V", bound=_Variables)


class HostVariables(_Variables):
    """What the inventory says about a host, beyond how to reach it."""

    experiment_address: IPv4Address
    """On the network that is measured; never the one that SSH uses."""
    experiment_interface: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,15}$")]
    experiment_mtu: Annotated[int, Field(ge=576, le=65_535)]
    rdma_device_kind: Literal["soft_roce", "card"]


class SwitchPort(_Variables):
    """One egress of the switch machine."""

    bridge: str
    interface: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,15}$")]
    peer: str

    @property
    def name(self) -> str:
        """As in the simulator's tables: `s0->h1`."""
        return f"{self.bridge}->{self.peer}"


class SwitchVariables(_Variables):
    """What the inventory says about a machine that switches."""

    switch_platform: Literal["linux"] = "linux"
    ports: tuple[SwitchPort, ...]
    experiment_mtu: Annotated[int, Field(ge=576, le=65_535)]


@dataclass(frozen=True, slots=True)
class Login:
    """How to reach a node by SSH; its host key must stand in `known_hosts`."""

    node: str
    address: str
    port: int
    user: str
    key_file: Path | None
    known_hosts: Path


@dataclass(frozen=True, slots=True)
class Host:
    """A node that runs the agent."""

    login: Login
    variables: HostVariables

    @property
    def name(self) -> str:
        """As in the topology: h0, h1, ..."""
        return self.login.node


@dataclass(frozen=True, slots=True)
class SwitchNode:
    """A machine that stands for every switch of the topology."""

    login: Login
    variables: SwitchVariables


@dataclass(frozen=True, slots=True)
class Inventory:
    """All nodes."""

    path: Path
    kind: str
    """`virtual`, or what the inventory's `testbed_kind` says; `nodes` by default."""
    hosts: tuple[Host, ...]
    switch: SwitchNode | None

    @property
    def logins(self) -> tuple[Login, ...]:
        """Of every node."""
        switch = () if self.switch is None else (self.switch.login,)
        return (*(host.login for host in self.hosts), *switch)


def load_inventory(path: Path) -> Inventory:
    """Read and check an inventory; ConfigError names what is wrong with it, one sentence each."""
    if not path.is_file():
        raise UsageError(
            f"inventory: got {path}, expected a file; `rogue testbed up` writes one, and inventory/example "
            "shows how one is written by hand."
        )
    return interpret(path, _listed(path))


def interpret(path: Path, listed: Mapping[str, Any]) -> Inventory:
    """Check what `ansible-inventory --list` says about the file."""
    variables: Mapping[str, Mapping[str, Any]] = listed.get("_meta", {}).get("hostvars", {})
    names = {group: listed.get(group, {}).get("hosts", []) for group in ("hosts", "switch")}
    problems = _problems_of_groups(path, names)
    hosts, switches = [], []
    for name in names["hosts"]:
        checked = _checked(path, name, HostVariables, variables.get(name, {}), problems)
        if checked is not None:
            hosts.append(Host(_login(path, name, variables[name], problems), checked))
    for name in names["switch"]:
        checked_switch = _checked(path, name, SwitchVariables, variables.get(name, {}), problems)
        if checked_switch is not None:
            switches.append(SwitchNode(_login(path, name, variables[name], problems), checked_switch))
    if problems:
        raise ConfigError(problems)
    kind = str(variables[names["hosts"][0]].get("testbed_kind", "nodes"))
    return Inventory(path, kind, tuple(hosts), switches[0] if switches else None)


def _listed(path: Path) -> dict[str, Any]:
    """What Ansible itself makes of the file."""
    program = Path(sys.executable).with_name("ansible-inventory")
    environment = {**os.environ, "ANSIBLE_INVENTORY_UNPARSED_FAILED": "1", "ANSIBLE_NOCOLOR": "1"}
    command = [str(program), "--inventory", str(path), "--list"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=_TIME_LIMIT_S, check=False
    )
    if done.returncode != 0:
        words = " ".join(done.stderr.split()).removeprefix("ERROR! ")
        raise UsageError(f"inventory {path}: Ansible cannot read it: {words}")
    listed = json.loads(done.stdout)
    assert isinstance(listed, dict)
    return listed


def _problems_of_groups(path: Path, names: Mapping[str, list[str]]) -> list[Problem]:
    place, problems = str(path), []
    if not names["hosts"]:
        got, expected = "no host in it", "the nodes that run the agent"
        problems.append(Problem(place, "hosts", got, expected, "write the group, as inventory/example does"))
    if len(names["switch"]) > 1:
        got = f"{len(names['switch'])} machines"
        expected = "one machine that stands for all switches"
        problems.append(Problem(place, "switch", got, expected, "put every bridge on one machine"))
    return problems


def _checked(
    path: Path, name: str, kind: type[_V], variables: Mapping[str, Any], problems: list[Problem]
) -> _V | None:
    try:
        return kind.model_validate(variables)
    except ValidationError as error:
        for mistake in error.errors():
            key = ".".join(str(part) for part in (name, *mistake["loc"]))
            is_missing = mistake["type"] == "missing"
            got = "nothing" if is_missing else repr(mistake["input"])
            expected = "a value" if is_missing else mistake["msg"][0].lower() + mistake["msg"][1:]
            problems.append(Problem(str(path), key, got, expected, "inventory/example explains it"))
        return None


def _login(path: Path, name: str, variables: Mapping[str, Any], problems: list[Problem]) -> Login:
    arguments = " ".join(str(variables.get(key, "")) for key in _SSH_ARGUMENTS)
    written = arguments.lower().replace(" ", "=")
    if any(word in written for word in _UNVERIFIED) or variables.get("ansible_host_key_checking") is False:
        expected = "host keys that are verified"
        advice = "put the node's key into known_hosts_file with ssh-keyscan, and compare it"
        problems.append(Problem(str(path), name, "host keys that are not verified", expected, advice))
    known_hosts = str(variables.get("known_hosts_file", _KNOWN_HOSTS))
    if known_hosts != _KNOWN_HOSTS and known_hosts not in arguments:
        expected = "the same file in ansible_ssh_common_args, for SSH"
        advice = f"write ansible_ssh_common_args: -o UserKnownHostsFile={known_hosts}"
        problems.append(Problem(str(path), f"{name}.known_hosts_file", known_hosts, expected, advice))
    key_file = variables.get("ansible_ssh_private_key_file")
    return Login(
        name,
        str(variables.get("ansible_host", name)),
        int(variables.get("ansible_port", 22)),
        str(variables.get("ansible_user", os.environ.get("USER", "root"))),
        Path(key_file).expanduser() if key_file else None,
        Path(known_hosts).expanduser(),
    )
