"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.core import TyperGroup

from rogue.harness.commands import completion
from rogue.harness.errors import UsageError
from rogue.harness.results.named_run import find_run, find_spelled_run

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

    from rogue.harness.cell.cell import Cell


class _Subcommands(TyperGroup):
    """Subcommands, each with its whole description in the help."""

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the first line of each subcommand's help."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, (each.help or "").partition("\n")[0]) for name, each in self.commands.items()]
            )


def command_group() -> typer.Typer:
    """Return an empty group of subcommands."""
    return typer.Typer(cls=_Subcommands, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


Experiment = Annotated[
    str,
    typer.Argument(
        help="File of the experiment, or the name of one in experiments/.",
        autocompletion=completion.experiments,
    ),
]
OptionalExperiment = Annotated[
    str,
    typer.Argument(
        help="File or name of the experiment; not with --resume.",
        autocompletion=completion.experiments,
    ),
]
TestbedName = Annotated[
    str, typer.Option("--testbed", help="Where to run it.", autocompletion=completion.testbeds)
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change the experiment, e.g. workload.senders=4; repeatable."
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Continue a run that was stopped; on nodes with --testbed.",
        parser=find_run,
        autocompletion=completion.runs,
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, max=1024, help="Cells at once; by default one per core.")
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="Load a plug-in (Python, or a NIC or switch control in C++); repeatable.",
        dir_okay=False,
    ),
]
TrustsPlugins = Annotated[
    bool,
    typer.Option("--trust-plugins", help="Run the code that a run keeps; read it in manifest.json first."),
]
TrustsInventory = Annotated[
    bool, typer.Option("--trust-inventory", help="Run the inventory if it is a program; read it first.")
]
Out = Annotated[
    Path | None,
    typer.Option(help="Directory in which the run's directory is made.", show_default="results"),
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run cells on the workers of this Dask scheduler.")
]


run_argument: Final = partial(
    typer.Argument,
    help="Directory or id of a run, an experiment (its newest run), or `latest`.",
    parser=find_run,
    autocompletion=completion.runs,
)
RunDirectory = Annotated[Path, run_argument(metavar="RUN")]
RunDirectories = Annotated[list[Path], run_argument(metavar="RUN...")]
SpelledRunDirectories = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Directory or full id of a run.",
        parser=find_spelled_run,
        autocompletion=completion.spelled_runs,
    ),
]
OnlyCell = Annotated[str | None, typer.Option("--only-cell", metavar="ID", help="One cell of the plan.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output; its keys do not change.")
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Replace the experiment's seed; the same as --set seed=N."),
]
Margin = Annotated[
    float,
    typer.Option(
        metavar="PART",
        min=0.0,
        max=10.0,
        help="Largest difference that does not matter, as a part of the first run's mean.",
    ),
]
AcceptsDamage = Annotated[
    bool, typer.Option("--accept-damage", help="Read runs whose files differ from their checksums.")
]
InventoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="INVENTORY",
        help="File of the inventory; `virtual` for the running testbed, `virtual:NAME` for another.",
    ),
]
ExperimentOption = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="Use the network that this experiment requests, instead of the inventory's numbers.",
        autocompletion=completion.experiments,
        show_default=False,
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write Ansible's whole output to FILE; by default below .cache."),
]
OneCell = Annotated[str | None, typer.Option("--cell", metavar="ID", help="The network of this cell.")]
_SHOWN_MAX: Final = 4


@dataclass(frozen=True, slots=True)
class NamedCells:
    """An experiment as named on the command line, and perhaps one of its cells."""

    experiment: str
    settings: tuple[str, ...] = ()
    cell: str | None = None

    def load(self, plugins: Sequence[Path]) -> list[Cell]:
        """Return the cells of the first repetition that nodes can run, or the one that is named."""
        from rogue.harness.experiment.find import load_named
        from rogue.harness.plan.plan import plan_cells
        from rogue.harness.testbeds.ssh.support import may_carry

        cells = plan_cells(load_named(self.experiment, self.settings, plugins))
        if self.cell is not None:
            return [self._named(cells)]
        first = [cell for cell in cells if cell.repetition == 1]
        runnable = [cell for cell in first if all(may_carry(group.transport) for group in cell.groups)]
        if runnable:
            return runnable
        names = ", ".join(dict.fromkeys(cell.transport.shown for cell in first))
        got = f"{self.experiment}: got {names}, expected a transport that nodes can run"
        raise UsageError(f"{got}; `rogue list transports` names the testbeds of each.")

    def _named(self, cells: Sequence[Cell]) -> Cell:
        found = next((cell for cell in cells if cell.id == self.cell), None)
        if found is not None:
            return found
        ids = [cell.id for cell in cells]
        more = f" and {len(ids) - _SHOWN_MAX} more" if len(ids) > _SHOWN_MAX else ""
        got = f"--cell: got {self.cell}, expected one of {', '.join(ids[:_SHOWN_MAX])}{more}"
        raise UsageError(f"{got}; `rogue plan {self.experiment}` lists them.")


def with_seed(settings: Sequence[str] | None, seed: int | None) -> tuple[str, ...]:
    """Return the values of --set and --seed as settings of the experiment."""
    return (*(settings or ()), *(() if seed is None else (f"seed={seed}",)))


def requested_cells(
    command: str, experiment: str, settings: list[str] | None, cell: str | None
) -> NamedCells | None:
    """Return the named cells; None without an experiment, UsageError if other options need one."""
    if experiment:
        return NamedCells(experiment, tuple(settings or ()), cell)
    if settings or cell:
        got = "--set" if settings else "--cell"
        expected = "expected both; name one after the inventory."
        raise UsageError(f"{command}: got {got} without an experiment, {expected}")
    return None
