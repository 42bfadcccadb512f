"""`rogue new` and `rogue check-plugin`."""

from pathlib import Path
from typing import Final

import typer

from rogue.harness.exit_codes import ExitCode
from rogue.harness.plugins.contract import contract_faults
from rogue.harness.plugins.installed import plugins_at
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.harness.plugins.start import write_start
from rogue.workloads.printable import printable

KINDS: Final = {"nic_control": "NIC control"}
"""Of registries whose word is no English."""


def new_plugin(kind: str, name: str, directory: Path, language: str) -> ExitCode:
    """Write a start and its test; print the files."""
    for file in write_start(kind, name, directory, language):
        typer.echo(file)
    return ExitCode.OK


def check_plugin(file: Path) -> ExitCode:
    """Load a plug-in and try what it registers; print what it adds, and every fault."""
    asked = read_plugin(str(file), "check-plugin")
    (plugin,) = (each for each in load_plugins(plugins_at([file])) if each.source.identity == asked.identity)
    faults = contract_faults(plugin)
    for fault in faults:
        typer.echo(printable(f"{file}: {fault}"))
    if faults:
        return ExitCode.CELLS_FAILED
    for added in plugin.adds:
        kind, name = added.split()
        typer.echo(f"{file}: {KINDS.get(kind, kind)} {name} keeps the contract")
    return ExitCode.OK
