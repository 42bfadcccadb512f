"""The command line of `rogue testbed`: virtual machines that stay up between commands."""

from typing import Annotated, Final

import typer

from rogue.harness.errors import ExitCode

app: Final = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Option(help="Name of the testbed; several can be up side by side.")]


@app.callback()
def testbed() -> None:
    """Virtual machines with soft-RoCE and a switch machine between them, for everyone without RDMA NICs.

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
    from rogue.harness.commands.testbed import bring_up, network_asked_for

    return bring_up(name, network_asked_for(experiment, topology, hosts))


kernel: Final = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
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
    from rogue.harness.commands.kernel import build

    return build()


@app.command()
def status(
    name: Annotated[str, typer.Option(help="Show this testbed; by default all of yours.")] = "",
) -> ExitCode:
    """Show every machine: whether it has power and replies, since when it is up, the memory it takes."""
    from rogue.harness.commands.testbed import show_status

    return show_status(name)


@app.command()
def down(name: Name = "default") -> ExitCode:
    """Switch the machines off and delete the testbed's files, also after a crash."""
    from rogue.harness.commands.testbed import take_down

    return take_down(name)
