"""Arguments and help of `rogue new`, `check-plugin` and `import`."""

from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line.experiments import Plugins
from rogue.harness.errors import ExitCode


def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="control, nic-control, switch-control, receiver-control, "
            "workload, topology, measure or figure.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What experiments will call it.")],
    directory: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the files go.", file_okay=False, exists=True)
    ] = Path(),
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="LANGUAGE",
            help="python, or c++ for a nic-control; switch-control and receiver-control have c++ alone.",
        ),
    ] = None,
) -> ExitCode:
    """Write a plug-in to start from, with comments, and its test.

    \b
      rogue new control halve
      rogue check-plugin halve.py
      rogue run quickstart --plugin halve.py --set 'transports=[{name: rogue, cc: halve}]'
      rogue new nic-control cut --language c++
      rogue run quickstart --plugin cut.h --set 'transports=[roce+pfc+cut]'
      rogue new switch-control step
      rogue run quickstart --plugin step.h --set 'topology.switch_controls=[step]'
      rogue new receiver-control pull
      rogue run uet-rccc --plugin pull.h --set 'transports=[uet+rccc, {name: uet+pull, nscc: 0}]'
    """
    from rogue.harness.commands.plugins import new_plugin

    return new_plugin(kind, name, directory, language)


def check_plugin(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The plug-in, which is run.", dir_okay=False)],
) -> ExitCode:
    """Try what a plug-in registers as everything that is shipped is tried, and say what is wrong.

    Exit code 1 if something is.

    \b
      rogue check-plugin halve.py
    """
    from rogue.harness.commands.plugins import check_plugin

    return check_plugin(file)


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
    from rogue.harness.commands.plugins import import_file

    return import_file(name, file, out, tuple(plugins or ()), is_back=is_back, start_unit=start_unit)
