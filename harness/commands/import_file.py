"""`rogue import`: convert a file of another simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands.options import Plugins
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.terminal import notify
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from pydantic_core import PydanticCustomError

    from rogue.harness.data.formats.format import Format


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
    from pydantic_core import PydanticCustomError

    from rogue.harness.data.formats import FORMATS, OURS
    from rogue.harness.data.source import data_source, read_source
    from rogue.harness.plugins.loading import load_plugins
    from rogue.harness.plugins.source import plugins_at
    from rogue.reports.reading.files import write_whole

    load_plugins(plugins_at(plugins or ()))
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
    if out is None:
        typer.echo(made.text, nl=False)
    else:
        write_whole(out, made.text)
        typer.echo(out)
    for note in made.notes:
        notify(f"{note}.")
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
