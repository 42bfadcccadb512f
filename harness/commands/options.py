"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.errors import UsageError

if TYPE_CHECKING:
    from rogue.harness.cell.cell import Cell

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
        help="File or name of the experiment; left out with --resume.",
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
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, max=1024, help="Cells at once; by default one per core.")
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="Load a plug-in (Python, or a control of NICs or of switches in C++); repeatable.",
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
RunDirectory = Annotated[
    Path, typer.Argument(metavar="RUN", help="Directory of a run.", autocompletion=completion.runs)
]
AcceptsDamage = Annotated[
    bool, typer.Option("--accept-damage", help="Go on although files are not as the run wrote them.")
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
        help="What this experiment asks of its network counts, instead of the inventory's numbers.",
        autocompletion=completion.experiments,
        show_default=False,
    ),
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
        """The cells that nodes can carry, of the first repetition; or the one that is named."""
        from rogue.harness.experiment.find import load_named
        from rogue.harness.plan.plan import plan_cells
        from rogue.harness.testbeds.ssh.support import may_carry

        cells = plan_cells(load_named(self.experiment, self.settings, plugins))
        if self.cell is not None:
            return [self._named(cells)]
        first = [cell for cell in cells if cell.repetition == 1]
        carried = [cell for cell in first if all(may_carry(group.transport) for group in cell.groups)]
        if carried:
            return carried
        names = ", ".join(dict.fromkeys(cell.transport.shown for cell in first))
        raise UsageError(
            f"{self.experiment}: got {names}, expected a transport that nodes carry; `rogue list transports` "
            "says where each runs."
        )

    def _named(self, cells: Sequence[Cell]) -> Cell:
        found = next((cell for cell in cells if cell.id == self.cell), None)
        if found is not None:
            return found
        ids = [cell.id for cell in cells]
        more = f" and {len(ids) - _SHOWN_MAX} more" if len(ids) > _SHOWN_MAX else ""
        raise UsageError(
            f"--cell: got {self.cell}, expected one of {', '.join(ids[:_SHOWN_MAX])}{more}; `rogue plan "
            f"{self.experiment}` lists them."
        )


def requested_cells(
    command: str, experiment: str, settings: list[str] | None, cell: str | None
) -> NamedCells | None:
    """What was named; None if nothing was, UsageError if it makes no sense."""

    if experiment:
        return NamedCells(experiment, tuple(settings or ()), cell)
    if settings or cell:
        got = "--set" if settings else "--cell"
        raise UsageError(
            f"{command}: got {got} without an experiment, expected both; name one after the inventory."
        )
    return None
