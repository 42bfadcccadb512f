"""`rogue testbed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.errors import ExitCode, StoppedError, UsageError, termination_as_interrupt
from rogue.harness.provisioning.named_inventory import VIRTUAL
from rogue.harness.terminal import align, call_again, notify
from rogue.virtual.errors import VirtualTestbedError
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from rogue.virtual import persistent
    from rogue.virtual.network import VirtualNetwork
    from rogue.workloads.topologies import Topology


app: Final = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


Name = Annotated[str, typer.Option(help="Name of the testbed; several can be up side by side.")]
_HOSTS: Final = 4
_ANY_RATE: Final = "100Mbps"  # a topology has one; cables do without
_MIB: Final = 2**20


@app.callback()
def testbed() -> None:
    """Start and stop virtual machines; build the kernel testbed.

    Once up, `virtual` names them wherever a command asks for an inventory.

    \b
      rogue testbed up --hosts 4
      rogue testbed status
      rogue testbed down
    """


@app.command()
def up(
    experiment: Annotated[
        str, typer.Argument(help="Take the topology of this experiment; left out with --topology.")
    ] = "",
    topology: Annotated[
        str, typer.Option(help="Kind of topology; see `rogue list topologies`. By default star.")
    ] = "",
    hosts: Annotated[
        int | None,
        typer.Option(min=1, help="How many hosts, where one can choose. By default 4."),
    ] = None,
    name: Name = "default",
) -> ExitCode:
    """Boot one machine per host and one that holds every switch; they stay up until `down`.

    The first time, a Debian image is built, which takes a minute or two. The last line on standard output is
    the inventory.

    \b
      rogue testbed up --hosts 4
      rogue testbed up --topology dumbbell --hosts 4 --name second
      rogue testbed up experiments/virtual-incast.yaml
    """
    from rogue.virtual import persistent

    testbed = _bring_up(name, network_asked_for(experiment, topology, hosts))
    argument = VIRTUAL if name == persistent.DEFAULT_NAME else f"{VIRTUAL}:{name}"
    _tell(f"to use it: {call_again('provision', argument)}")
    typer.echo(testbed.inventory)
    return ExitCode.OK


def bring_up_default() -> bool:
    """Bring the default testbed up, with progress, if it is not; return True if it was not."""
    from rogue.virtual import persistent

    try:
        persistent.find(persistent.DEFAULT_NAME)
    except VirtualTestbedError:
        network = network_asked_for("", "", None)
        _tell(f"testbed default is not up: bringing up {len(network.hosts)} virtual machines and a switch")
        _bring_up(persistent.DEFAULT_NAME, network)
        return True
    return False


def _bring_up(name: str, network: VirtualNetwork) -> persistent.PersistentTestbed:
    from rogue.virtual import persistent, prerequisites
    from rogue.virtual.image.build import cache_directory, obtain
    from rogue.virtual.machines.assembly import choose

    try:
        with termination_as_interrupt():
            prerequisites.ensure(prerequisites.MACHINES, _tell)
            cache = cache_directory()
            image = obtain(cache, _tell)
            return persistent.up(name, network, image, choose(image, cache, _tell), _tell)
    except KeyboardInterrupt as stop:
        raise StoppedError(f"stopped; nothing of testbed {name} is left.", stop) from stop


kernel: Final = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


app.add_typer(kernel, name="kernel")


@kernel.callback()
def about_kernel() -> None:
    """Linux as one process with a virtual clock: real verbs at the experiment's rate, without machines.

    `--testbed kernel` runs each cell in one of its own.
    """


@kernel.command("build")
def build_kernel() -> ExitCode:
    """Build the kernel of `--testbed kernel`, unless it is there: eight minutes of processor time, 100 MB.

    Its source and its root folder are packages of this computer's Debian release. The last line on standard
    output is where it is.

    \b
      rogue testbed kernel build
      rogue run kernel-incast --testbed kernel
    """
    from rogue.virtual import prerequisites
    from rogue.virtual.kernel.build import cache_directory as kernel_cache
    from rogue.virtual.kernel.build import obtain as obtain_kernel

    try:
        prerequisites.ensure(prerequisites.KERNEL, _tell)
        kernel = obtain_kernel(kernel_cache(), _tell)
    except VirtualTestbedError as error:
        notify(*str(error).splitlines())
        return ExitCode.TESTBED
    typer.echo(kernel.directory)
    return ExitCode.OK


@app.command()
def status(
    name: Annotated[str, typer.Option(help="Show this testbed; by default all of yours.")] = "",
) -> ExitCode:
    """Show every machine: whether it has power and replies, since when it is up, the memory it takes."""
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

    had_something = persistent.down(name, _tell)
    _tell(f"testbed {name}: {'down; nothing is left of it' if had_something else 'was not up'}")
    return ExitCode.OK


def network_asked_for(experiment: str, topology: str, hosts: int | None) -> VirtualNetwork:
    """The network of an experiment's topology, or of a kind of topology with so many hosts."""
    from rogue.harness.experiment.find import load_named

    if not experiment:
        return network_of(_topology(topology or "star", hosts))
    if topology or hosts is not None:
        raise UsageError(
            "testbed up: got an experiment and --topology or --hosts, expected one of both; leave one out."
        )
    return network_of(load_named(experiment, ()).experiment.topology)


def network_of(topology: Topology) -> VirtualNetwork:
    """Translate: same names, same cables; rates, delays and buffers are the switch's business."""
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
        known = ", ".join(TOPOLOGIES)
        raise UsageError(
            f"--topology: got {kind!r}, expected one of {known}; {did_you_mean(kind, TOPOLOGIES)}."
        )
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
    return UsageError(
        f"--hosts: got {hosts}, expected a number of hosts that a {kind} can have ({why}); "
        "change it or leave it out."
    )


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
        _or_dash(state.uptime_s, lambda seconds: f"{seconds:.0f} s"),
        f"{state.host_memory_bytes / _MIB:.0f} MiB" if state.pid else "-",
        _or_dash(state.free_memory_bytes, lambda free: f"{free / _MIB:.0f} MiB"),
    )


def _or_dash(value: float | None, text: Callable[[float], str]) -> str:
    return "-" if value is None else text(value)


def _tell(text: str) -> None:
    typer.echo(text, err=True)
