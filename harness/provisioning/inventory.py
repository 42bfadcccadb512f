"""Load the nodes of a testbed from an Ansible inventory."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, IPvAnyAddress

from rogue.harness.errors import ConfigError, Problem, UsageError
from rogue.harness.provisioning.inventory_problems import (
    WholeNumber,
    find_problems,
    grouped,
    spelled,
    wrong_addresses,
)
from rogue.harness.provisioning.inventory_source import (
    check_static,
    distrusted,
    is_program,
    is_unverified,
    list_inventory,
    members,
)
from rogue.harness.provisioning.switches.platform import switch_problems
from rogue.harness.provisioning.switches.settings import (
    DECLARED,
    HardwareSwitch,
    HardwareSwitchVariables,
)
from rogue.remote.errors import NodeError
from rogue.remote.login import (
    HOST,
    NODE,
    PATH,
    PYTHON,
    USER,
    Destination,
    Login,
    at_home,
    resolve,
    without_config,
)

_HARDWARE: Final = "hardware_switches"
_GROUPS: Final = ("hosts", "switch", _HARDWARE)
_RESOLVED_AT_ONCE: Final = 8
_CHECKS: Final = tuple(f"ansible_{kind}host_key_checking" for kind in ("", "ssh_", "paramiko_"))
_TRUE: Final = ("1", "1.0", "on", "t", "true", "y", "yes")
"""Words that Ansible reads as true, in small letters."""
_SSH_ARGUMENTS: Final = ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args")
"""Also variables of the environment, in capitals; the inventory's have precedence."""
_STACKED: Final = re.compile(r"(?P<vlan>vlan\d*$|.*\.\d{1,4}$)|(?:bond|team)\d*$")
Interface = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,14}$")]
Named = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*$")]
PathText = Annotated[str, spelled(PATH)]


class _Variables(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class HostVariables(_Variables):
    """Variables of a host, other than its login."""

    experiment_address: IPvAnyAddress
    """Address on the measured network, never the one that SSH uses; all hosts have one family."""
    experiment_interface: Interface | None = None
    """None: the interface with `experiment_mac`, which the node finds."""
    experiment_mac: Annotated[str | None, Field(pattern=r"^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$")] = None
    experiment_mtu: Annotated[int, Field(ge=576, le=65_535)]
    rdma_device_kind: Literal["soft_roce", "card"]
    experiment_dscp: Annotated[WholeNumber, Field(ge=0, le=63)] = 26
    """DSCP of all packets of a card; vendors' guides use 26 for RoCE."""

    @property
    def dscp(self) -> int | None:
        """Return the DSCP; None with soft-RoCE, whose limiters identify packets by their class selector."""
        return self.experiment_dscp if self.rdma_device_kind == "card" else None


class SwitchPort(_Variables):
    """One egress port of the switch machine."""

    bridge: Named
    interface: Interface
    peer: Named

    @property
    def name(self) -> str:
        """Return the port's name in the simulator's tables, such as `s0->h1`."""
        return f"{self.bridge}->{self.peer}"


class SwitchVariables(_Variables):
    """Variables of a machine that switches."""

    switch_platform: Literal["linux"] = "linux"
    ports: tuple[SwitchPort, ...]
    experiment_mtu: Annotated[int, Field(ge=576, le=65_535)]


class AllocatedSwitch(_Variables):
    """A switch of the experiment that this project does not configure."""

    name: str
    hardware: str


class LabVariables(_Variables):
    """Variables of all nodes."""

    testbed_kind: str = "nodes"
    allocated_switches: tuple[AllocatedSwitch, ...] = ()


class LoginVariables(_Variables):
    """Variables for the login to a node; the user's SSH configuration has the rest."""

    ansible_host: Annotated[str, spelled(HOST)] | None = None
    ansible_port: Annotated[WholeNumber, Field(ge=1, le=65_535)] | None = None
    ansible_user: Annotated[str, spelled(USER)] | None = None
    ansible_ssh_private_key_file: PathText | None = None
    known_hosts_file: PathText | None = None
    ansible_become_method: Annotated[str, spelled(NODE)] = "sudo"
    ansible_become_user: Annotated[str, spelled(USER)] = "root"
    ansible_python_interpreter: Annotated[str, spelled(PYTHON)] = "auto"
    ansible_ssh_args: str = ""
    ansible_ssh_common_args: str = ""
    ansible_ssh_extra_args: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """A node that runs the agent."""

    login: Login
    variables: HostVariables

    @property
    def name(self) -> str:
        """Return the name in the topology: h0, h1, ..."""
        return self.login.node


@dataclass(frozen=True, slots=True)
class SwitchNode:
    """A machine that implements every switch of the topology."""

    login: Login
    variables: SwitchVariables

    @property
    def name(self) -> str:
        """Return the name in the inventory."""
        return self.login.node

    @property
    def interfaces(self) -> dict[str, str]:
        """Return the interface of each port, by the port's name."""
        return {port.name: port.interface for port in self.variables.ports}


@dataclass(frozen=True, slots=True)
class Inventory:
    """All nodes."""

    path: Path
    kind: str
    """`testbed_kind` of the inventory; `nodes` by default."""
    hosts: tuple[Host, ...]
    switch: SwitchNode | None
    allocated_switches: tuple[AllocatedSwitch, ...] = ()
    destinations: tuple[Destination, ...] = ()
    """SSH arguments of each node, for Ansible."""
    hardware_switches: tuple[HardwareSwitch, ...] = ()

    @property
    def logins(self) -> tuple[Login, ...]:
        """Return the logins of all nodes; hardware switches are no nodes."""
        return tuple(machine.login for machine in self.machines)

    @property
    def machines(self) -> tuple[Host | SwitchNode, ...]:
        """Return the hosts, and the switch machine if there is one."""
        return self.hosts if self.switch is None else (*self.hosts, self.switch)


def load_inventory(path: Path, *, is_trusted: bool = False) -> Inventory:
    """Read and check an inventory; ConfigError has a sentence for each mistake.

    is_trusted: the command line allows that it is a program.
    """
    if not path.is_file():
        raise UsageError(
            f"inventory: got {path}, expected a file; `rogue testbed up` writes one, and inventory/example "
            "shows how one is written by hand."
        )
    if not is_trusted:
        check_static(path)
    return interpret(path, list_inventory(path, runs=is_trusted and is_program(path)))


def interpret(path: Path, listing: Mapping[str, Any]) -> Inventory:
    """Check the output of `ansible-inventory --list` and return the inventory."""
    variables: Mapping[str, Mapping[str, Any]] = listing.get("_meta", {}).get("hostvars", {})
    names = {group: members(listing, group) for group in _GROUPS}
    problems = _problems_of_groups(path, names)
    kinds: dict[str, type[BaseModel]] = dict.fromkeys(names["hosts"], HostVariables)
    kinds |= dict.fromkeys(names["switch"], SwitchVariables)
    kinds |= dict.fromkeys(names[_HARDWARE], HardwareSwitchVariables)
    for name, kind in kinds.items():
        problems += _problems_of_node(path, name, kind, variables.get(name, {}))
    for name, own in variables.items():
        problems += [each for each in distrusted(path, name, own) if each not in problems]
    variables = {name: _with_folder(path, own) for name, own in variables.items()}
    for name in names[_HARDWARE] if not problems else ():
        problems += switch_problems(path, name, variables[name])
    problems += wrong_addresses(path, names["hosts"], variables)
    for name in names["hosts"][:1]:
        problems += find_problems(path, name, LabVariables, variables.get(name, {}))
    if problems:
        raise ConfigError(grouped(problems, [*kinds, *(name for name in variables if name not in kinds)]))
    declared = {name for name in names[_HARDWARE] if variables[name]["switch_platform"] == DECLARED}
    try:
        destinations = {name: _destination(name, variables[name]) for name in kinds if name not in declared}
        logins = _logins(destinations.values())
    except NodeError as error:
        raise UsageError(f"inventory {path}: {error}") from error
    of_nodes = tuple(
        replace(each, user=logins[name].user)
        for name, each in destinations.items()
        if name not in names[_HARDWARE]
    )
    switches = [
        SwitchNode(logins[name], SwitchVariables.model_validate(variables[name])) for name in names["switch"]
    ]
    lab = LabVariables.model_validate(variables[names["hosts"][0]])
    return Inventory(
        path,
        lab.testbed_kind,
        tuple(Host(logins[name], HostVariables.model_validate(variables[name])) for name in names["hosts"]),
        switches[0] if switches else None,
        lab.allocated_switches,
        of_nodes,
        tuple(
            HardwareSwitch(name, HardwareSwitchVariables.model_validate(variables[name]), logins.get(name))
            for name in names[_HARDWARE]
        ),
    )


def _with_folder(path: Path, own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the variables of a switch; the folder of its platform is relative to the inventory."""
    platform = own.get("switch_platform")
    if not isinstance(platform, str) or "/" not in platform:
        return own
    return {**own, "switch_platform": str((path.parent / at_home(platform)).resolve())}


def _problems_of_groups(path: Path, names: Mapping[str, list[str]]) -> list[Problem]:
    place, problems = str(path), []
    if not names["hosts"]:
        got, expected = "no host in it", "the nodes that run the agent"
        problems.append(Problem(place, "hosts", got, expected, "write the group, as inventory/example does"))
    if names["switch"] and names[_HARDWARE]:
        expected = "none beside the Linux machine of the group `switch`"
        got, advice = ", ".join(names[_HARDWARE]), "keep those that packets of experiments pass through"
        problems.append(Problem(place, _HARDWARE, got, expected, advice))
    if len(names["switch"]) > 1:
        got = f"{len(names['switch'])} machines"
        expected = "one machine that stands for all switches"
        problems.append(Problem(place, "switch", got, expected, "put every bridge on one machine"))
    return problems


def _problems_of_node(
    path: Path, name: str, kind: type[BaseModel], own: Mapping[str, Any]
) -> Iterator[Problem]:
    if not NODE.fits(name):  # it is a word of commands, and the default of `ansible_host`
        yield Problem(str(path), ascii(name), "this name of a node", NODE.meaning, "give it another one")
    yield from find_problems(path, name, kind, own)
    yield from find_problems(path, name, LoginVariables, own)
    arguments = " ".join(str(own.get(key, "")) for key in _SSH_ARGUMENTS)
    unchecked = [key for key in _CHECKS if str(own.get(key, True)).strip().lower() not in _TRUE]
    if is_unverified(arguments) or unchecked:
        expected = "host keys that are verified"
        advice = "put the node's key into known_hosts_file with ssh-keyscan, and compare it"
        yield Problem(str(path), name, "host keys that are not verified", expected, advice)
    if kind is HostVariables:
        yield from _problems_of_interface(str(path), f"{name}.experiment_interface", own)


def _problems_of_interface(path: str, key: str, own: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for no interface, or for a bond, team or VLAN, because limiters need one card."""
    if not {"experiment_interface", "experiment_mac"} & set(own):
        yield Problem(path, key, "nothing", "a value, or experiment_mac", "`ip address` shows both")
    interface = str(own.get("experiment_interface", ""))
    if found := _STACKED.match(interface):
        got = f"{interface}, {'a VLAN' if found['vlan'] else 'a bond or a team'}"
        advice = "give the address to a port of the card itself"
        yield Problem(path, key, got, "one port of one card", advice)


def _destination(name: str, variables: Mapping[str, Any]) -> Destination:
    checked = LoginVariables.model_validate(variables)
    arguments = [
        shlex.split(str(variables.get(key, os.environ.get(key.upper(), "")))) for key in _SSH_ARGUMENTS
    ]
    first, config_of_first = without_config(arguments[0])
    others, config = without_config([*arguments[1], *arguments[2]])
    key_file, known_hosts = checked.ansible_ssh_private_key_file, checked.known_hosts_file
    return Destination(
        name,
        checked.ansible_host or name,
        checked.ansible_port,
        checked.ansible_user,
        at_home(key_file) if key_file else None,
        at_home(known_hosts) if known_hosts else None,
        first,
        others,
        config or config_of_first,
    )


def _logins(destinations: Iterable[Destination]) -> dict[str, Login]:
    """Resolve the login of each destination, by node; NodeError has a line for each failure."""
    with ThreadPoolExecutor(_RESOLVED_AT_ONCE) as pool:
        replies = [pool.submit(resolve, destination) for destination in destinations]
    failures = [str(error) for each in replies if isinstance(error := each.exception(), NodeError)]
    if failures:
        raise NodeError("\n  ".join(failures))
    return {login.node: login for login in (each.result() for each in replies)}
