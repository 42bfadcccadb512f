"""`rogue new` and `rogue check-plugin`: their arguments and their help."""

from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.exit_codes import ExitCode


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
