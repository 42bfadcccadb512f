"""Write, check and import what users add: plug-ins and files of other simulators."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS, OURS
from rogue.harness.data.formats.format import Converted, Format
from rogue.harness.data.source import data_source, read_source
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.plugins.contract import TIME_LIMIT_S, try_plugin
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import installed_plugins, plugins_at, read_plugin
from rogue.harness.plugins.start import write_start
from rogue.harness.terminal import notify
from rogue.reports.reading.files import write_whole
from rogue.workloads.printable import did_you_mean, printable

KINDS: Final = {
    "nic_control": "NIC control",
    "switch_control": "switch control",
    "receiver_control": "receiver control",
    "switch_platform": "switch platform",
}
"""Display names of registries whose key has an underscore."""


def new_plugin(kind: str, name: str, directory: Path, language: str | None) -> ExitCode:
    """Write a start and its test; print the files."""
    for file in write_start(kind, name, directory, language):
        typer.echo(file)
    return ExitCode.OK


def check_plugin(file: Path) -> ExitCode:
    """Load a plug-in and try what it registers; print what it adds, and every fault."""

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


def import_file(  # noqa: PLR0913 - as typed
    name: str,
    file: Path,
    out: Path | None,
    plugins: Sequence[Path] = (),
    *,
    is_back: bool,
    start_unit: str | None = None,
) -> ExitCode:
    """Convert a file, print or write the result, and report what was left out."""
    load_plugins(plugins_at(plugins))
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"import: got {name!r}, expected one of {known}; {did_you_mean(name, FORMATS)}.")
    form = _in_unit(FORMATS[name], name, start_unit)
    convert = form.write if is_back else form.read
    if convert is None:
        both = ", ".join(each for each, other in FORMATS.items() if other.write)
        raise UsageError(
            f"--back: got {name}, expected one of {both}; {name} cannot say all that a file of ours does."
        )
    try:
        made = convert(read_source(file, str(file)))
        if not is_back:
            OURS[form.becomes](data_source(f"what {file} becomes", made.text.encode()))
    except PydanticCustomError as error:
        raise UsageError(_sentence(error)) from error
    _put(made, out)
    return ExitCode.OK


def _in_unit(form: Format, name: str, start_unit: str | None) -> Format:
    if start_unit is None:
        return form
    if start_unit not in form.start_units:
        expected = f"one of {', '.join(form.start_units)}" if form.start_units else "no unit"
        advice = "choose one of them" if form.start_units else "leave it out"
        raise UsageError(f"--start-unit: got {start_unit!r}, expected {expected} for {name}; {advice}.")
    return form.start_units[start_unit]


def _sentence(error: PydanticCustomError) -> str:
    context = error.context or {}
    return f"import: got {context.get('got')}, expected {context.get('expected')}; {context.get('advice')}."


def _put(made: Converted, out: Path | None) -> None:
    if out is None:
        typer.echo(made.text, nl=False)
    else:
        write_whole(out, made.text)
        typer.echo(out)
    for note in made.notes:
        notify(f"{note}.")
