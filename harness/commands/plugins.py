"""`rogue new` and `rogue check-plugin`."""

from pathlib import Path
from typing import Final

import typer

from rogue.harness.exit_codes import ExitCode
from rogue.harness.plugins.installed import installed_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.harness.plugins.start import write_start
from rogue.harness.plugins.trial import LIMIT_S, try_plugin
from rogue.harness.telling import tell
from rogue.workloads.printable import printable

KINDS: Final = {
    "nic_control": "NIC control",
    "switch_control": "switch control",
    "receiver_control": "receiver control",
    "switch_platform": "switch platform",
}
"""Of registries whose word is no English."""


def new_plugin(kind: str, name: str, directory: Path, language: str | None) -> ExitCode:
    """Write a start and its test; print the files."""
    for file in write_start(kind, name, directory, language):
        typer.echo(file)
    return ExitCode.OK


def check_plugin(file: Path) -> ExitCode:
    """Load a plug-in and try what it registers; print what it adds, and every fault."""

    def waits() -> None:
        text = (
            f"{file}: still trying what it registers, for {LIMIT_S / 60:g} minutes at most; Ctrl-C stops it"
        )
        tell(f"{text}. What is shipped takes seconds: a call that never ends looks like this.")

    verdict = try_plugin(read_plugin(str(file), "check-plugin"), installed_plugins(), told=waits)
    for fault in verdict.faults:
        typer.echo(printable(f"{file}: {fault}"))
    if verdict.faults:
        return ExitCode.CELLS_FAILED
    for added in verdict.adds:
        kind, name = added.split()
        typer.echo(f"{file}: {KINDS.get(kind, kind)} {name} keeps the contract")
    return ExitCode.OK
