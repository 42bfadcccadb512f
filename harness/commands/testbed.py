"""`rogue testbed`: virtual machines, and the kernel of the kernel testbed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.options import command_group
from rogue.harness.errors import ExitCode, StoppedError, UsageError, termination_as_interrupt
from rogue.harness.provisioning.named_inventory import VIRTUAL
from rogue.harness.terminal import align, call_again, inform, notify
from rogue.virtual.errors import VirtualTestbedError
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from rogue.virtual import persistent
    from rogue.virtual.network import VirtualNetwork
    from rogue.workloads.topologies import Topology


app: Final = command_group()


Name = Annotated[str, typer.Option(help="Name of the testbed; several can be up side by side.")]
_HOSTS: Final = 4
_ANY_RATE: Final = "100Mbps"  # a topology needs one, cables of machines have none
_MIB: Final = 2**20


@app.callback()
def testbed() -> None:
    """Start and stop virtual machines; build the kernel testbed.

    The machines have soft-RoCE and a switch machine between them, for users without RDMA NICs. Once they are
    up, `virtual` is their inventory in every command.

    \b
      rogue testbed up --hosts 4
      rogue testbed status
      rogue testbed down
    """


@app.command()
def up(
    experiment: Annotated[
        str, typer.Argument(help="Take the topology of this experiment; not with --topology.")
    ] = "",
    topology: Annotated[
        str, typer.Option(help="Kind of topology; see `rogue list topologies`. By default star.")
    ] = "",
    hosts: Annotated[
        int | None,
        typer.Option(min=1, help="Number of hosts, if the topology leaves a choice. By default 4."),
    ] = None,
    name: Name = "default",
) -> ExitCode:
    """Boot one machine per host and one for all switches; they stay up until `down`.

    The first call builds a Debian image, which takes a minute or two. The last line on standard output is
    the inventory.

    \b
      rogue testbed up --hosts 4
      rogue testbed up --topology dumbbell --hosts 4 --name second
      rogue testbed up experiments/virtual-incast.yaml
    """
    from rogue.virtual import persistent

    testbed = _bring_up(name, requested_network(experiment, topology, hosts))
    argument = VIRTUAL if name == persistent.DEFAULT_NAME else f"{VIRTUAL}:{name}"
    inform(f"to use it: {call_again('provision', argument)}")
    typer.echo(testbed.inventory)
    return ExitCode.OK


def bring_up_default() -> bool:
    """Bring the default testbed up, with progress, if it is not; return True if it was not."""
    from rogue.virtual import persistent

    try:
        persistent.find(persistent.DEFAULT_NAME)
    except VirtualTestbedError:
        network = requested_network("", "", None)
        inform(f"testbed default is not up: starting {len(network.hosts)} virtual machines and a switch")
        _bring_up(persistent.DEFAULT_NAME, network)
        return True
    return False


def _bring_up(name: str, network: VirtualNetwork) -> persistent.PersistentTestbed:
    from rogue.virtual import persistent, prerequisites
    from rogue.virtual.image.build import cache_directory, obtain
    from rogue.virtual.machines.assembly import choose

    try:
        with termination_as_interrupt():
            prerequisites.ensure(prerequisites.MACHINES, inform)
            cache = cache_directory()
            image = obtain(cache, inform)
            return persistent.up(name, network, image, choose(image, cache, inform), inform)
    except KeyboardInterrupt as stop:
        raise StoppedError(f"stopped; nothing of testbed {name} is left.", stop) from stop


kernel: Final = command_group()


app.add_typer(kernel, name="kernel")


@kernel.callback()
def about_kernel() -> None:
    """Build Linux as one process with a virtual clock: real verbs at the experiment's rate, without machines.

    `--testbed kernel` runs each cell in its own process.
    """


@kernel.command("build")
def build_kernel() -> ExitCode:
    """Build the kernel of `--testbed kernel`, unless it is there: eight minutes of processor time, 100 MB.

    Its source and its root folder are packages of this computer's Debian release. The last line on standard
    output is its directory.

    \b
      rogue testbed kernel build
      rogue run kernel-incast --testbed kernel
    """
    from rogue.virtual import prerequisites
    from rogue.virtual.kernel.build import cache_directory as kernel_cache
    from rogue.virtual.kernel.build import obtain as obtain_kernel

    try:
        prerequisites.ensure(prerequisites.KERNEL, inform)
        kernel = obtain_kernel(kernel_cache(), inform)
    except VirtualTestbedError as error:
        notify(*str(error).splitlines())
        return ExitCode.TESTBED
    typer.echo(kernel.directory)
    return ExitCode.OK


@app.command()
def status(
    name: Annotated[str, typer.Option(help="Show this testbed; by default all of yours.")] = "",
) -> ExitCode:
    """Print the power, replies, uptime and memory of every machine."""
    from rogue.virtual import persistent

    shown = [persistent.state_directory(name).name] if name else persistent.names()
    if not shown:
        typer.echo("no testbed is up")
    codes = [_show(each) for each in shown]
    return ExitCode.OK if all(codes) and shown else ExitCode.TESTBED


@app.command()
def down(name: Name = "default") -> ExitCode:
    """Switch the machines off and delete the testbed's files, also after a crash."""
    from rogue.virtual import persistent

    had_something = persistent.down(name, inform)
    inform(f"testbed {name}: {'down; nothing is left of it' if had_something else 'was not up'}")
    return ExitCode.OK


def requested_network(experiment: str, topology: str, hosts: int | None) -> VirtualNetwork:
    """Return the network of an experiment's topology, or of a kind of topology with this number of hosts."""
    from rogue.harness.experiment.find import load_named

    if not experiment:
        return _network_of(_topology(topology or "star", hosts))
    if topology or hosts is not None:
        got = "testbed up: got an experiment and --topology or --hosts"
        raise UsageError(f"{got}, expected one of both; leave one out.")
    return _network_of(load_named(experiment, ()).experiment.topology)


def _network_of(topology: Topology) -> VirtualNetwork:
    """Return a network with the same names and cables; the switch machine has rates, delays and buffers."""
    from rogue.virtual.network import network

    cables = [(link.a, link.b) for link in topology.links()]
    try:
        return network(topology.host_names(), topology.switch_names(), cables)
    except VirtualTestbedError as error:
        raise UsageError(f"{error}.") from error


def _topology(kind: str, hosts: int | None) -> Topology:
    from pydantic import ValidationError

    from rogue.workloads.topologies import TOPOLOGIES

    if kind not in TOPOLOGIES:
        expected = f"one of {', '.join(TOPOLOGIES)}"
        advice = did_you_mean(kind, TOPOLOGIES)
        raise UsageError(f"--topology: got {kind!r}, expected {expected}; {advice}.")
    fields = TOPOLOGIES[kind].model_fields
    if "file" in fields:
        advice = "name an experiment that names the file"
        raise UsageError(f"--topology: got {kind}, expected one that needs no file; {advice}.")
    settings: dict[str, object] = {
        field.alias or name: _ANY_RATE for name, field in fields.items() if name.endswith("rate_bps")
    }
    count = _HOSTS if hosts is None else hosts
    if "hosts" in fields:
        settings["hosts"] = count
    if "hosts_per_side" in fields:
        settings["hosts_per_side"] = -(-count // 2)
    try:
        topology = TOPOLOGIES[kind].model_validate(settings)
    except ValidationError as error:
        raise _wrong_number(kind, count, error.errors()[0]["msg"]) from error
    if hosts is not None and len(topology.host_names()) != hosts:
        raise _wrong_number(kind, hosts, f"it would have {len(topology.host_names())}")
    return topology


def _wrong_number(kind: str, hosts: int, why: str) -> UsageError:
    expected = f"a number of hosts that a {kind} can have ({why})"
    return UsageError(f"--hosts: got {hosts}, expected {expected}; change it or leave it out.")


def _show(name: str) -> bool:
    from rogue.virtual import persistent

    try:
        testbed = persistent.find(name)
    except VirtualTestbedError as error:
        typer.echo(str(error))
        return False
    states = persistent.machine_states(testbed)
    replying = sum(state.is_well for state in states)
    typer.echo(f"testbed {name}: {replying} of {len(states)} machines reply; inventory {testbed.inventory}")
    rows = [("machine", "process", "replies", "up for", "memory here", "free inside")]
    typer.echo("\n".join(f"  {line}" for line in align([*rows, *map(_row, states)])))
    return replying == len(states)


def _row(state: persistent.MachineState) -> tuple[str, ...]:
    return (
        state.machine,
        str(state.pid or "-"),
        f"no: {state.problem}" if state.problem else "yes",
        "-" if state.uptime_s is None else f"{state.uptime_s:.0f} s",
        f"{state.host_memory_bytes / _MIB:.0f} MiB" if state.pid else "-",
        "-" if state.free_memory_bytes is None else f"{state.free_memory_bytes / _MIB:.0f} MiB",
    )
