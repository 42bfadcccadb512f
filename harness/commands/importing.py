"""`rogue import`."""

from collections.abc import Sequence
from pathlib import Path

import typer
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS, OURS
from rogue.harness.data.formats.format import Converted, Format
from rogue.harness.data.source import data_source, read_source
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.plugins.installed import plugins_at
from rogue.harness.plugins.trial import load_tried
from rogue.harness.telling import tell
from rogue.reports.reading.files import write_whole
from rogue.workloads.spelling import meant


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
    load_tried(plugins_at(plugins))
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"import: got {name!r}, expected one of {known}; {meant(name, FORMATS)}.")
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
        tell(f"{note}.")
