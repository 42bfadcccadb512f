"""`rogue new` and `rogue check-plugin`: write a plug-in to start from, and check one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from rogue.harness.errors import ExitCode
from rogue.harness.terminal import notify
from rogue.workloads.printable import printable

KINDS: Final = {
    "nic_control": "NIC control",
    "switch_control": "switch control",
    "receiver_control": "receiver control",
}
"""Display names of registries whose key has an underscore."""


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
    from rogue.harness.plugins.start import write_start

    for file in write_start(kind, name, directory, language):
        typer.echo(file)
    return ExitCode.OK


def check_plugin(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The plug-in, which is run.", dir_okay=False)],
) -> ExitCode:
    """Try what a plug-in registers as everything that is shipped is tried, and say what is wrong.

    Exit code 1 if something is.

    \b
      rogue check-plugin halve.py
    """
    from rogue.harness.plugins.contract import TIME_LIMIT_S, try_plugin
    from rogue.harness.plugins.source import installed_plugins, read_plugin

    def waits() -> None:
        limit = f"{TIME_LIMIT_S / 60:g} minutes"
        notify(f"{file}: a call takes long; shipped plug-ins take seconds. We wait {limit}; Ctrl-C stops.")

    verdict = try_plugin([*installed_plugins(), read_plugin(str(file), "check-plugin")], waits)
    for fault in verdict.faults:
        typer.echo(printable(f"{file}: {fault}"))
    if verdict.faults:
        return ExitCode.CELLS_FAILED
    for added in verdict.adds:
        kind, name = added.split()
        typer.echo(f"{file}: {KINDS.get(kind, kind)} {name} keeps the contract")
    return ExitCode.OK
