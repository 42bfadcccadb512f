"""`rogue import`: its arguments and its help."""

from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line.experiments import Plugins
from rogue.harness.exit_codes import ExitCode


def import_(  # noqa: PLR0913 - as typed
    name: Annotated[str, typer.Argument(metavar="FORMAT", help="`rogue list formats` has them.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of that format.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Where it goes; by default it is printed.", dir_okay=False
        ),
    ] = None,
    is_back: Annotated[bool, typer.Option("--back", help="FILE is ours, and becomes one of FORMAT.")] = False,
    start_unit: Annotated[
        str | None,
        typer.Option("--start-unit", metavar="UNIT", help="Of htsim-cm: ps (default) or us, of each start."),
    ] = None,
    plugins: Plugins = None,
) -> ExitCode:
    """Make a trace or a network of a file of another simulator.

    \b
      rogue import hpcc-flows flow.txt --out flows.csv
      rogue import htsim-topo leaf_spine.topo --out network.yaml
      rogue import htsim-cm permutation.cm --start-unit us --out flows.csv
      rogue import htsim-cm flows.csv --back --out flows.cm
    """
    from rogue.harness.commands.importing import import_file

    return import_file(name, file, out, tuple(plugins or ()), is_back=is_back, start_unit=start_unit)
