"""`rogue list`: print what an experiment file can name, and runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.options import Plugins
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.terminal import align, notify
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from rogue.reports.index import Entry
    from rogue.workloads.specification import Specification
    from rogue.workloads.switch_controls import SwitchControlParameter
    from rogue.workloads.transports import TransportName

RESULTS: Final = Path("results")


def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help=f"{', '.join(completion.LISTS[:-1])} or {completion.LISTS[-1]}.",
            autocompletion=completion.lists,
            show_default=False,
        ),
    ] = "",
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Directory of the runs.", show_default="results"),
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the runs only those of this experiment.")
    ] = None,
    plugins: Plugins = None,
) -> ExitCode:
    """List what an experiment file can name, with its parameters; or runs.

    \b
      rogue list workloads
      rogue list runs
      rogue list runs elsewhere --experiment quickstart
    """
    if what == "runs":
        return print_runs(directory or RESULTS, experiment)
    if directory is not None or experiment is not None:
        got = "a directory or --experiment"
        raise UsageError(f"list {what}: got {got}, expected neither; `rogue list runs` takes them.")
    if what not in LISTS:
        known = [*LISTS, "runs"]
        got = f"list: got {repr(what) if what else 'nothing'}, expected one of {', '.join(known)}"
        raise UsageError(f"{got}; {did_you_mean(what, known)}.")
    from rogue.harness.plugins.loading import load_plugins
    from rogue.harness.plugins.source import plugins_at

    load_plugins(plugins_at(plugins or ()))
    typer.echo("\n".join(LISTS[what]()))
    return ExitCode.OK


HEAD: Final = ("started (UTC)", "experiment", "testbed", "status", "verdicts", "size", "directory")
STYLES: Final = {
    "complete": "green",
    "partial": "yellow",
    "running": "cyan",
    "killed": "red",
    "damaged": "red",
}


def print_runs(results: Path, experiment: str | None) -> ExitCode:
    """Print the runs of a results directory, newest first: a table on a terminal, columns elsewhere."""
    from rogue.harness.results.run_directory import is_locked
    from rogue.reports.index import find_entries

    if not results.is_dir():
        advice = "name the directory of runs, or make one with `rogue run quickstart`"
        raise UsageError(f"list runs: got no directory {results}, expected one with runs; {advice}.")
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


class Registry(NamedTuple):
    """A registry of the entries that a list prints."""

    module: str
    name: str
    kind: str
    """Kind of its entries in the records of plug-ins."""

    def entries(self) -> Mapping[str, Any]:
        """Import the registry."""
        entries: Mapping[str, Any] = getattr(import_module(f"rogue.{self.module}"), self.name)
        return entries

    def origin(self, name: str) -> str:
        """Return the plug-in that an entry is from; nothing for our own."""
        from rogue.harness.plugins.loading import loaded_plugins

        files = (each.source.file for each in loaded_plugins() if f"{self.kind} {name}" in each.adds)
        return next((f" (plug-in {file})" for file in files), "")

    def rows(self) -> list[str]:
        """Return a line for each entry."""
        return align(
            [(name, f"{_meaning(each)}{self.origin(name)}") for name, each in self.entries().items()]
        )

    def blocks(self, prefix: str = "") -> list[str]:
        """Return a line for each entry, and below it one for each of its parameters."""
        lines = []
        for name, each in self.entries().items():
            lines.append(f"{prefix}{name}: {_meaning(each)}{self.origin(name)}")
            rows = _keys(each) if isinstance(each, type) else list(map(_row_of, each.parameters))
            lines += [f"  {line}" for line in align(rows)]
        kind = self.kind.replace("_", "-")
        return lines or [
            f"none: plug-ins add them, as with --plugin FILE; `rogue new {kind} NAME` writes one"
        ]


def _meaning(entry: object) -> str:
    """Return the title of an entry, its meaning, or the first line of its class."""
    for name in ("title", "meaning"):
        if isinstance(found := getattr(entry, name, None), str):
            return found
    return (entry.__doc__ or "").partition("\n")[0]


def _keys(kind: type[Specification]) -> list[tuple[str, ...]]:
    """Return name, default and meaning of each parameter of a kind."""
    from rogue.harness.experiment.keys import REQUIRED, keys_of

    return [
        (key.name, key.default if key.default == REQUIRED else f"default {key.default}", key.meaning)
        for key in keys_of(kind)
    ]


def _row_of(parameter: SwitchControlParameter) -> tuple[str, ...]:
    return parameter.key, f"default {parameter.value:g}{parameter.unit}", parameter.meaning


def _transports() -> list[str]:
    from rogue.workloads.transports import BASES, FEATURES, TransportName

    rows: list[Sequence[str]] = [
        (name, base.service, places([TransportName(name)]), base.meaning) for name, base in BASES.items()
    ]
    for feature, meaning in FEATURES.items():
        with_it = [TransportName(name, (feature,)) for name, base in BASES.items() if feature in base.allowed]
        rows.append((f"+{feature}", "", places(with_it), meaning))
    return align(rows)


CARD_FEATURES: Final = frozenset({"dcqcn", "pfc"})
"""Features that real cards have with native RoCE."""


def places(names: Iterable[TransportName]) -> str:
    """Return the testbeds that can run at least one of these transports.

    The rule is that of the testbeds, which take seconds to import; a test compares the two.
    """
    from rogue.agent.core.transports import TRANSPORTS
    from rogue.workloads.transports import BASES

    found = ["simulator"]
    real = [name for name in names if name.base in TRANSPORTS or BASES[name.base].is_in_kernels]
    if any(not name.features for name in real):
        found.append("kernel")
    if any(not name.features or (name.base == "roce" and {*name.features} <= CARD_FEATURES) for name in real):
        found.append("nodes")
    return ", ".join(found)


def _experiments() -> list[str]:
    """Return name and title of each experiment; nothing else of the files is checked."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = []
    for file in sorted(completion.EXPERIMENTS.rglob("*.yaml")):
        try:
            title = yaml.load(file.read_bytes(), loader).get("title") or ""
        except (yaml.YAMLError, AttributeError) as error:
            title = f"cannot be read: {error}".partition("\n")[0]
        rows.append((file.relative_to(completion.EXPERIMENTS).with_suffix("").as_posix(), title))
    return align(rows)


def _spaces() -> list[str]:
    from rogue.harness.experiment.find import DIRECTORY, space_files
    from rogue.harness.search.space import Space, check_file, read_file

    rows = []
    for file in space_files():
        aim = check_file(read_file(str(file), "space"), Space).aim
        rows.append((str(file.relative_to(DIRECTORY)), "" if aim is None else aim.text))
    return align(rows)


def _formats() -> list[str]:
    registry = Registry("harness.data.formats", "FORMATS", "format")
    rows = [
        (name, form.becomes, f"{form.meaning}{registry.origin(name)}")
        for name, form in registry.entries().items()
    ]
    return align(rows)


def _receiver_controls() -> list[str]:
    return Registry("workloads.transports", "RECEIVER_CONTROLS", "receiver_control").blocks("uet+")


LISTS: Final[Mapping[str, Callable[[], list[str]]]] = {
    "transports": _transports,
    "controls": Registry("agent.core.cc", "CONGESTION_CONTROLS", "control").rows,
    "switch-controls": Registry("workloads.switch_controls", "SWITCH_CONTROLS", "switch_control").blocks,
    "receiver-controls": _receiver_controls,
    "estimators": Registry("agent.core.estimators", "ESTIMATORS", "estimator").rows,
    "workloads": Registry("workloads.traffic", "WORKLOADS", "workload").blocks,
    "sizes": Registry("workloads.flow_sizes", "FLOW_SIZES", "distribution").rows,
    "topologies": Registry("workloads.topologies", "TOPOLOGIES", "topology").blocks,
    "faults": Registry("workloads.faults", "FAULTS", "fault").blocks,
    "probes": Registry("workloads.probes", "PROBES", "probe").blocks,
    "experiments": _experiments,
    "spaces": _spaces,
    "measures": Registry("reports.metrics", "METRICS", "measure").rows,
    "formats": _formats,
    "figures": Registry("reports.figures", "FIGURES", "figure").rows,
}
