"""`rogue new`, `rogue check-plugin` and `rogue import`: what users bring from outside."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.options import Plugins
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import installed_plugins, plugins_at, read_plugin
from rogue.harness.terminal import notify
from rogue.reports.reading.files import write_whole
from rogue.workloads.printable import did_you_mean, printable

if TYPE_CHECKING:
    from rogue.harness.data.formats.format import Format

DISPLAY_NAMES: Final = {
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
            "workload, topology, measure or figure; or experiment.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in experiments.")],
    directory: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Place of the files.", file_okay=False, exists=True)
    ] = Path(),
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="LANGUAGE",
            help="python, or c++ for a nic-control; switch-control and receiver-control exist only in c++.",
        ),
    ] = None,
) -> ExitCode:
    """Write an experiment, or a plug-in and its test, to start from.

    \b
      rogue new experiment mine
      rogue plan mine.yaml
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
    for file in write_start(kind, name, directory, language):
        typer.echo(file)
    return ExitCode.OK


def check_plugin(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The plug-in, which is run.", dir_okay=False)],
) -> ExitCode:
    """Test a plug-in with the contract of its kind.

    Prints each fault; the exit code is 1 if there is one.

    \b
      rogue check-plugin halve.py
    """
    from rogue.harness.plugins.contract import TIME_LIMIT_S, try_plugin

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
        typer.echo(f"{file}: {DISPLAY_NAMES.get(kind, kind)} {name} keeps the contract")
    return ExitCode.OK


def import_(
    name: Annotated[str, typer.Argument(metavar="FORMAT", help="`rogue list formats` has them.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of that format.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The new file; by default it is printed.", dir_okay=False),
    ] = None,
    is_back: Annotated[bool, typer.Option("--back", help="Convert our FILE to FORMAT instead.")] = False,
    start_unit: Annotated[
        str | None,
        typer.Option(
            "--start-unit", metavar="UNIT", help="Unit of start times in htsim-cm: ps (default) or us."
        ),
    ] = None,
    plugins: Plugins = None,
) -> ExitCode:
    """Convert a file of another simulator to a trace or a network.

    \b
      rogue import hpcc-flows flow.txt --out flows.csv
      rogue import htsim-topo leaf_spine.topo --out network.yaml
      rogue import htsim-cm permutation.cm --start-unit us --out flows.csv
      rogue import htsim-cm flows.csv --back --out flows.cm
    """
    from pydantic_core import PydanticCustomError

    from rogue.harness.data.formats import FORMATS, OURS
    from rogue.harness.data.source import data_source, read_source

    load_plugins(plugins_at(plugins or ()))
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"import: got {name!r}, expected one of {known}; {did_you_mean(name, FORMATS)}.")
    form = _in_unit(FORMATS[name], name, start_unit)
    convert = form.write if is_back else form.read
    if convert is None:
        both = ", ".join(each for each, other in FORMATS.items() if other.write)
        got = f"--back: got {name}, expected one of {both}"
        raise UsageError(f"{got}; {name} has no place for parts of our files.")
    try:
        made = convert(read_source(file, str(file)))
        if not is_back:
            OURS[form.becomes](data_source(f"what {file} becomes", made.text.encode()))
    except PydanticCustomError as error:
        context = error.context or {}
        words = f"got {context.get('got')}, expected {context.get('expected')}; {context.get('advice')}"
        raise UsageError(f"import: {words}.") from error
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


STARTS: Final = Path(__file__).parents[1] / "plugins/starts"
ONLY_COMPILED: Final = ("switch-control", "receiver-control")
"""Kinds that must be written in C++."""
COMPILED: Final = ("nic-control", *ONLY_COMPILED)
"""Kinds that may be written in C++."""
KINDS: Final = ("control", "workload", "topology", *COMPILED, "measure", "figure")
EXPERIMENT: Final = "experiment"
LANGUAGES: Final[dict[str, str]] = {"python": ".py", "c++": ".h"}
"""File suffix by language."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


def write_start(kind: str, name: str, directory: Path, language: str | None = None) -> list[Path]:
    """Write an experiment, or a plug-in and its test; UsageError if a file exists or the name is wrong.

    language: of a plug-in; Python unless the kind has C++ alone.
    """
    known = (*KINDS, EXPERIMENT)
    if kind not in known:
        expected, advice = f"one of {', '.join(known)}", did_you_mean(kind, known)
        raise UsageError(f"new: got {kind!r}, expected {expected}; {advice}.")
    if not _NAME.fullmatch(name):
        expected = "lower-case letters, digits and _, with a letter first"
        raise UsageError(f"new: got the name {name!r}, expected {expected}; choose another name.")
    if kind == EXPERIMENT:
        plugin = f"{name}.yaml"
        files = {directory / plugin: kind}
    else:
        language = language or ("c++" if kind in ONLY_COMPILED else "python")
        plugin = f"{name}{_ending(kind, language)}"
        start = kind if language == "python" else f"{kind}-compiled"
        files = {directory / plugin: start, directory / f"test_{name}.py": "test"}
    there = [file for file in files if file.exists()]
    if there:
        raise UsageError(f"new: got {there[0]}, which is there already, expected a name that is free.")
    title = "".join(part.capitalize() for part in name.split("_"))
    words = {"name": name, "file": plugin, "kind": kind.replace("-", "_"), "title": title}
    for file, start in files.items():
        file.write_text(Template((STARTS / f"{start}.txt").read_text()).substitute(words))
    return list(files)


def _ending(kind: str, language: str) -> str:
    if language not in LANGUAGES:
        expected = f"one of {', '.join(LANGUAGES)}"
        raise UsageError(
            f"new: got the language {language!r}, expected {expected}; {did_you_mean(language, LANGUAGES)}."
        )
    if language != "python" and kind not in COMPILED:
        only = f"{', '.join(COMPILED[:-1])} and {COMPILED[-1]}"
        raise UsageError(f"new: got a {kind} in {language}, expected python; only {only} may be C++.")
    if language == "python" and kind in ONLY_COMPILED:
        raise UsageError(f"new: got a {kind} in python, expected c++; leave --language out.")
    return LANGUAGES[language]
