"""The experiment whose network is asked of hardware switches, for `rogue switch` and `rogue doctor`."""

from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.command_line import completion
from rogue.harness.errors import UsageError

if TYPE_CHECKING:
    from rogue.harness.commands.asked_network import NamedCells

AskedExperiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="What this experiment asks of its network counts, instead of the inventory's numbers.",
        autocompletion=completion.experiments,
        show_default=False,
    ),
]
OneCell = Annotated[str | None, typer.Option("--cell", metavar="ID", help="The network of this cell.")]


def asked_cells(
    command: str, experiment: str, settings: list[str] | None, cell: str | None
) -> "NamedCells | None":
    """What was named; None if nothing was, UsageError if it makes no sense."""
    from rogue.harness.commands.asked_network import NamedCells

    if experiment:
        return NamedCells(experiment, tuple(settings or ()), cell)
    if settings or cell:
        got = "--set" if settings else "--cell"
        raise UsageError(
            f"{command}: got {got} without an experiment, expected both; name one after the inventory."
        )
    return None
