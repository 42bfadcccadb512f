"""Print the lists of `rogue list`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.options import Plugins
from rogue.harness.errors import ConfigError, ExitCode, UsageError
from rogue.harness.terminal import align, notify
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from rogue.harness.testbeds.base import Testbed
    from rogue.reports.index import Entry
    from rogue.workloads.specification import Specification
    from rogue.workloads.switch_controls import SwitchControlParameter
    from rogue.workloads.transports import TransportName


def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="transports, controls, switch-controls, receiver-controls, estimators, workloads, sizes, "
            "topologies, faults, probes, experiments, spaces, measures, formats, figures or runs.",
            autocompletion=completion.lists,
            show_default=False,
        ),
    ] = "",
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Where the runs are.", show_default="results"),
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the runs only those of this experiment.")
    ] = None,
    plugins: Plugins = None,
) -> ExitCode:
    """List what an experiment file can name, with its parameters; or the runs that are there.

    \b
      rogue list workloads
      rogue list runs
      rogue list runs elsewhere --experiment quickstart
    """
    if what == "runs":
        return print_runs(directory, experiment)
    if directory is not None or experiment is not None:
        got = "a directory or --experiment"
        raise UsageError(f"list {what}: got {got}, expected neither; `rogue list runs` takes them.")

    return print_list(what, tuple(plugins or ()))


RESULTS: Final = Path("results")
HEAD: Final = ("started (UTC)", "experiment", "testbed", "status", "verdicts", "size", "directory")
STYLES: Final = {
    "complete": "green",
    "partial": "yellow",
    "running": "cyan",
    "killed": "red",
    "damaged": "red",
}


def print_runs(directory: Path | None, experiment: str | None) -> ExitCode:
    """Print the runs of a results directory, newest first: a table on a terminal, columns elsewhere."""
    from rogue.harness.results.run_directory import is_locked

    results = directory or RESULTS
    if not results.is_dir():
        advice = "name the directory of runs, or make one with `rogue run quickstart`"
        raise UsageError(f"list runs: got no directory {results}, expected one with runs; {advice}.")
    from rogue.reports.index import find_entries

    entries = find_entries(results, is_locked, experiment)
    if not entries:
        of_it = f" of experiment {experiment!r}" if experiment is not None else ""
        notify(f"no run{of_it} in {results}")
    elif sys.stdout.isatty():
        _print_table(entries)
    else:
        typer.echo("\n".join(align([HEAD, *map(_row, entries)])))
    return ExitCode.OK


def _row(entry: Entry) -> Sequence[str]:
    from rogue.reports.index.run_entries import shown
    from rogue.reports.quantities import size_text

    size = size_text(entry.size_bytes).replace("\u202f", " ") if entry.size_bytes else ""
    where = shown(entry.directory) + (f": {entry.problem}" if entry.problem else "")
    return entry.created, entry.experiment, entry.testbed, entry.status, entry.verdicts, size, where


def _print_table(entries: Sequence[Entry]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in HEAD:
        table.add_column(name, justify="right" if name == "size" else "left", overflow="fold")
    for entry in entries:
        cells = [Text(text) for text in _row(entry)]
        cells[3].stylize(STYLES.get(entry.state.value, ""))
        table.add_row(*cells)
    Console().print(table)


NODES: Final = "nodes"
"""Virtual machines, CloudLab's or a rack's."""
PROBE: Final = "quickstart"
"""The experiment whose transport is exchanged to see what a testbed says."""


def print_list(what: str, plugins: Sequence[Path] = ()) -> ExitCode:
    """Print one of the lists, with what plug-ins add: installed ones, and these files."""
    from rogue.harness.plugins.loading import load_plugins
    from rogue.harness.plugins.source import plugins_at

    if what not in LISTS:
        known = [*LISTS, "runs"]
        got = f"list: got {repr(what) if what else 'nothing'}, expected one of {', '.join(known)}"
        raise UsageError(f"{got}; {did_you_mean(what, known)}.")
    load_plugins(plugins_at(plugins))
    typer.echo("\n".join(LISTS[what]()))
    return ExitCode.OK


def _transports() -> list[str]:
    from rogue.workloads.transports import BASES, FEATURES, TransportName

    rows: list[Sequence[str]] = [
        (name, base.service, places([TransportName(name)]), base.meaning) for name, base in BASES.items()
    ]
    for feature, meaning in FEATURES.items():
        with_it = [TransportName(name, (feature,)) for name, base in BASES.items() if feature in base.allowed]
        rows.append((f"+{feature}", "", places(with_it), meaning))
    return align(rows)


def places(names: Sequence[TransportName]) -> str:
    """Where at least one of these transports runs, as the testbeds themselves say."""
    from rogue.harness.testbeds import TESTBEDS
    from rogue.harness.testbeds.ssh.support import may_carry

    found = [place for place, kind in TESTBEDS.items() if any(_runs(kind(), name) for name in names)]
    if any(may_carry(name) for name in names):
        found.append(NODES)
    return ", ".join(found) or "nowhere yet"


def _runs(testbed: Testbed, transport: TransportName) -> bool:
    from rogue.harness.experiment.find import load_named
    from rogue.harness.plan.plan import plan_cells

    loaded = load_named(PROBE, (f"transports=[{transport}]",))
    return testbed.unsupported(plan_cells(loaded)[0]) is None


def _experiments() -> list[str]:
    from rogue.harness.experiment.find import DIRECTORY, experiment_files
    from rogue.harness.experiment.load import load_experiment

    rows = []
    for file in experiment_files():
        try:
            title = load_experiment(str(file)).experiment.title or ""
        except ConfigError as error:
            title = f"cannot be read: {error.problems[0]}"
        rows.append((file.relative_to(DIRECTORY).with_suffix("").as_posix(), title))
    return align(rows)


def _spaces() -> list[str]:
    from rogue.harness.experiment.find import DIRECTORY, space_files
    from rogue.harness.search.space import Space, check_file, read_file

    rows = []
    for file in space_files():
        aim = check_file(read_file(str(file), "space"), Space).aim
        rows.append((str(file.relative_to(DIRECTORY)), "" if aim is None else aim.text))
    return align(rows)


def _figures() -> list[str]:
    from rogue.reports.figures import FIGURES

    return align([(name, f"{figure.title}{_origin('figure', name)}") for name, figure in FIGURES.items()])


def _formats() -> list[str]:
    from rogue.harness.data.formats import FORMATS

    rows = [
        (name, form.becomes, f"{form.meaning}{_origin('format', name)}") for name, form in FORMATS.items()
    ]
    return align(rows)


def _measures() -> list[str]:
    from rogue.reports.metrics import METRICS

    return align([(name, f"{metric.title}{_origin('measure', name)}") for name, metric in METRICS.items()])


def _classes(kind: str, registry: Mapping[str, type]) -> list[str]:
    return align([(name, f"{_meaning(entry)}{_origin(kind, name)}") for name, entry in registry.items()])


def _sizes() -> list[str]:
    from rogue.workloads.flow_sizes import FLOW_SIZES

    rows = [(name, f"{sizes.meaning}{_origin('distribution', name)}") for name, sizes in FLOW_SIZES.items()]
    return align(rows)


def _meaning(entry: type) -> str:
    return (entry.__doc__ or "").partition("\n")[0]


def _origin(kind: str, name: str) -> str:
    """Where an entry is from, if not from here."""
    from rogue.harness.plugins.loading import loaded_plugins

    for plugin in loaded_plugins():
        if f"{kind} {name}" in plugin.adds:
            return f" (plug-in {plugin.source.file})"
    return ""


def _kinds(what: str, registry: Mapping[str, type[Specification]]) -> list[str]:
    """Every kind with its parameters."""
    lines = []
    for name, kind in registry.items():
        lines.append(f"{name}: {_meaning(kind)}{_origin(what, name)}")
        lines += [f"  {line}" for line in align(_parameters(kind))]
    return lines


def _parameters(kind: type[Specification]) -> list[tuple[str, str, str]]:
    from rogue.harness.experiment.keys import REQUIRED, keys_of

    return [
        (key.name, key.default if key.default == REQUIRED else f"default {key.default}", key.meaning)
        for key in keys_of(kind)
    ]


def _switch_controls() -> list[str]:
    """Each with its parameters as an experiment writes them."""
    from rogue.workloads.switch_controls import SWITCH_CONTROLS

    lines = []
    for name, entry in SWITCH_CONTROLS.items():
        lines += _with_parameters(
            f"{name}: {entry.meaning}{_origin('switch_control', name)}", entry.parameters
        )
    return lines or [_none_of("switch-control")]


def _receiver_controls() -> list[str]:
    """The same, as words of transports."""
    from rogue.workloads.transports import RECEIVER_CONTROLS

    lines = []
    for name, entry in RECEIVER_CONTROLS.items():
        title = f"uet+{name}: {entry.meaning}{_origin('receiver_control', name)}"
        lines += _with_parameters(title, entry.parameters)
    return lines or [_none_of("receiver-control")]


def _with_parameters(title: str, parameters: Sequence[SwitchControlParameter]) -> list[str]:
    rows = [(each.key, f"default {each.value:g}{each.unit}", each.meaning) for each in parameters]
    return [title, *(f"  {line}" for line in align(rows))]


def _none_of(kind: str) -> str:
    return f"none: plug-ins bring them, as with --plugin FILE; `rogue new {kind} NAME` writes one"


def _controls() -> list[str]:
    from rogue.agent.core.cc import CONGESTION_CONTROLS

    return _classes("control", CONGESTION_CONTROLS)


def _estimators() -> list[str]:
    from rogue.agent.core.estimators import ESTIMATORS

    return _classes("estimator", ESTIMATORS)


def _workloads() -> list[str]:
    from rogue.workloads.traffic import WORKLOADS

    return _kinds("workload", WORKLOADS)


def _topologies() -> list[str]:
    from rogue.workloads.topologies import TOPOLOGIES

    return _kinds("topology", TOPOLOGIES)


def _faults() -> list[str]:
    from rogue.workloads.faults import FAULTS

    return _kinds("fault", FAULTS)


def _probes() -> list[str]:
    from rogue.workloads.probes import PROBES

    return _kinds("probe", PROBES)


LISTS: Mapping[str, Callable[[], list[str]]] = {
    "transports": _transports,
    "controls": _controls,
    "switch-controls": _switch_controls,
    "receiver-controls": _receiver_controls,
    "estimators": _estimators,
    "workloads": _workloads,
    "sizes": _sizes,
    "topologies": _topologies,
    "faults": _faults,
    "probes": _probes,
    "experiments": _experiments,
    "spaces": _spaces,
    "measures": _measures,
    "formats": _formats,
    "figures": _figures,
}
