"""`rogue list`: print what an experiment file can name, and runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.options import AsJson, Plugins
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.terminal import align, notify, print_document
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from rogue.reports.run_index import Entry
    from rogue.workloads.specification import Specification
    from rogue.workloads.switch_controls import SwitchControlParameter
    from rogue.workloads.transports import TransportName

Row = dict[str, Any]
"""An entry of a list: texts, and lists of texts or of parameters; its keys are those of --json."""


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
    as_json: AsJson = False,
    plugins: Plugins = None,
) -> ExitCode:
    """List what an experiment file can name, with its parameters; or runs.

    --json prints a list of objects. Each has `name` and `meaning`, and where they apply `parameters` with
    `name`, `default` (null if required) and `meaning`, `testbeds`, `service`, `becomes`, and the `plugin`
    that adds it. A run has `directory`, `run_id`, `experiment`, `title`, `testbed`, `created`, `state`, the
    numbers of cells `done`, `total` and `failed`, `verdicts`, `problem`, `size_bytes` and `report`.

    \b
      rogue list workloads
      rogue list runs
      rogue list runs elsewhere --experiment quickstart
    """
    if what == "runs":
        return print_runs(directory or DEFAULT_OUT, experiment, as_json=as_json)
    if directory is not None or experiment is not None:
        got = "a directory or --experiment"
        raise UsageError(f"list {what}: got {got}, expected neither; `rogue list runs` takes them.")
    if what not in LISTS:
        known = [*LISTS, "runs"]
        got = f"list: got {repr(what) if what else 'nothing'}, expected one of {', '.join(known)}"
        raise UsageError(f"{got}; {did_you_mean(what, known)}.")
    if what not in NOT_IN_PLUGINS:
        _load(plugins or ())
    rows = LISTS[what]()
    if as_json:
        print_document(rows)
    else:
        typer.echo("\n".join(_lines(rows)) if rows else NO_ENTRY.format(kind=what.removesuffix("s")))
    return ExitCode.OK


def _load(plugins: Sequence[Path]) -> None:
    """Load installed plug-ins and these; without any, what would load them is not imported."""
    from rogue.harness.plugins.source import plugins_at

    if sources := plugins_at(plugins):
        from rogue.harness.plugins.loading import load_plugins

        load_plugins(sources)


NO_ENTRY: Final = "none: plug-ins add them, as with --plugin FILE; `rogue new {kind} NAME` writes one"


def _lines(rows: Sequence[Row]) -> list[str]:
    """Return a line for each entry, and if entries have parameters one below for each of those."""
    if not any("parameters" in row for row in rows):
        return align([_cells(row) for row in rows])
    lines = []
    for row in rows:
        lines.append(": ".join(_cells(row)))
        lines += [f"  {line}" for line in align(list(map(_parameter_cells, row["parameters"])))]
    return lines


def _cells(row: Row) -> list[str]:
    *cells, last = (row[key] for key in ("name", "becomes", "service", "testbeds", "meaning") if key in row)
    plugin = row.get("plugin")
    texts = [", ".join(each) if isinstance(each, list) else each for each in cells]
    return [*texts, f"{last} (plug-in {plugin})" if plugin else last]


def _parameter_cells(row: Row) -> list[str]:
    default = row["default"]
    return [row["name"], "required" if default is None else f"default {default}", row["meaning"]]


HEAD: Final = ("started (UTC)", "experiment", "testbed", "status", "verdicts", "size", "directory")
STYLES: Final = {
    "complete": "green",
    "partial": "yellow",
    "running": "cyan",
    "killed": "red",
    "damaged": "red",
}


def print_runs(results: Path, experiment: str | None, *, as_json: bool = False) -> ExitCode:
    """Print the runs of a results directory, newest first: a table on a terminal, columns elsewhere."""
    from rogue.harness.results.run_directory import is_locked
    from rogue.reports.run_index import find_entries

    if not results.is_dir():
        advice = "name the directory of runs, or make one with `rogue run quickstart`"
        raise UsageError(f"list runs: got no directory {results}, expected one with runs; {advice}.")
    entries = find_entries(results, is_locked, experiment)
    if as_json:
        print_document(entries)
    elif not entries:
        of_it = f" of experiment {experiment!r}" if experiment is not None else ""
        notify(f"no run{of_it} in {results}")
    elif sys.stdout.isatty():
        _print_table(entries)
    else:
        typer.echo("\n".join(align([HEAD, *map(_row, entries)])))
    return ExitCode.OK


def _row(entry: Entry) -> Sequence[str]:
    from rogue.reports.quantities import size_text
    from rogue.reports.run_index import shown

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
    has_parameters: bool = False
    prefix: str = ""
    """First characters of the names that experiments use."""

    def entries(self) -> Mapping[str, Any]:
        """Import the registry."""
        entries: Mapping[str, Any] = getattr(import_module(f"rogue.{self.module}"), self.name)
        return entries

    def plugin(self, name: str) -> str | None:
        """Return the plug-in that an entry is from; None for our own."""
        loading = sys.modules.get("rogue.harness.plugins.loading")  # imported if there are plug-ins
        loaded = loading.loaded_plugins() if loading is not None else ()
        files = (each.source.file for each in loaded if f"{self.kind} {name}" in each.adds)
        return next(files, None)

    def rows(self) -> list[Row]:
        """Return the entries."""
        return [self._row(name, entry) for name, entry in self.entries().items()]

    def _row(self, name: str, entry: Any) -> Row:  # noqa: ANN401  (registries have no common type)
        row = {"name": self.prefix + name, "meaning": _meaning(entry), "plugin": self.plugin(name)}
        if not self.has_parameters:
            return row
        of_class = isinstance(entry, type)
        return {**row, "parameters": _keys(entry) if of_class else list(map(_parameter, entry.parameters))}


def _meaning(entry: object) -> str:
    """Return the title of an entry, its meaning, or the first line of its class."""
    for name in ("title", "meaning"):
        if isinstance(found := getattr(entry, name, None), str):
            return found
    return (entry.__doc__ or "").partition("\n")[0]


def _keys(kind: type[Specification]) -> list[Row]:
    """Return each parameter of a kind."""
    from rogue.harness.experiment.keys import REQUIRED, keys_of

    rows = [{"name": key.name, "default": key.default, "meaning": key.meaning} for key in keys_of(kind)]
    return [{**row, "default": None} if row["default"] == REQUIRED else row for row in rows]


def _parameter(parameter: SwitchControlParameter) -> Row:
    default = f"{parameter.value:g}{parameter.unit}"
    return {"name": parameter.key, "default": default, "meaning": parameter.meaning}


def _transports() -> list[Row]:
    from rogue.workloads.transports import BASES, FEATURES, TransportName

    def row(name: str, service: str, names: Iterable[TransportName], meaning: str) -> Row:
        return {"name": name, "service": service, "testbeds": places(names), "meaning": meaning}

    rows = [row(name, base.service, [TransportName(name)], base.meaning) for name, base in BASES.items()]
    for feature, meaning in FEATURES.items():
        with_it = [TransportName(name, (feature,)) for name, base in BASES.items() if feature in base.allowed]
        rows.append(row(f"+{feature}", "", with_it, meaning))
    return rows


CARD_FEATURES: Final = frozenset({"dcqcn", "pfc"})
"""Features that real cards have with native RoCE."""


def places(names: Iterable[TransportName]) -> list[str]:
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
    return found


def _experiments() -> list[Row]:
    """Return name and title of each experiment."""
    place = completion.EXPERIMENTS
    return [
        {"name": file.relative_to(place).with_suffix("").as_posix(), "meaning": _title(file)}
        for file in sorted(place.rglob("*.yaml"))
    ]


def _title(file: Path) -> str:
    """Return the title at the top level of a YAML file, of which no values are built; empty without one."""
    import yaml

    try:
        root = yaml.compose(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        return f"cannot be read: {error}".partition("\n")[0]
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    title = {key.value: value for key, value in pairs if isinstance(key, yaml.ScalarNode)}.get("title")
    if not isinstance(title, yaml.ScalarNode) or title.tag.endswith(":null"):
        return ""
    return str(title.value)


def _spaces() -> list[Row]:
    from rogue.harness.experiment.find import DIRECTORY, space_files
    from rogue.harness.search.space import Space, check_file, read_file

    rows: list[Row] = []
    for file in space_files():
        aim = check_file(read_file(str(file), "space"), Space).aim
        rows.append({"name": str(file.relative_to(DIRECTORY)), "meaning": "" if aim is None else aim.text})
    return rows


def _formats() -> list[Row]:
    registry = Registry("harness.data.formats", "FORMATS", "format")
    return [
        {"name": name, "becomes": form.becomes, "meaning": form.meaning, "plugin": registry.plugin(name)}
        for name, form in registry.entries().items()
    ]


_PARAMETERS: Final = True
LISTS: Final[Mapping[str, Callable[[], list[Row]]]] = {
    "transports": _transports,
    "controls": Registry("agent.core.cc", "CONGESTION_CONTROLS", "control").rows,
    "switch-controls": Registry(
        "workloads.switch_controls", "SWITCH_CONTROLS", "switch_control", _PARAMETERS
    ).rows,
    "receiver-controls": Registry(
        "workloads.transports", "RECEIVER_CONTROLS", "receiver_control", _PARAMETERS, prefix="uet+"
    ).rows,
    "estimators": Registry("agent.core.estimators", "ESTIMATORS", "estimator").rows,
    "workloads": Registry("workloads.traffic", "WORKLOADS", "workload", _PARAMETERS).rows,
    "sizes": Registry("workloads.flow_sizes", "FLOW_SIZES", "distribution").rows,
    "topologies": Registry("workloads.topologies", "TOPOLOGIES", "topology", _PARAMETERS).rows,
    "faults": Registry("workloads.faults", "FAULTS", "fault", _PARAMETERS).rows,
    "probes": Registry("workloads.probes", "PROBES", "probe", _PARAMETERS).rows,
    "experiments": _experiments,
    "spaces": _spaces,
    "measures": Registry("reports.metrics", "METRICS", "measure").rows,
    "formats": _formats,
    "figures": Registry("reports.figures", "FIGURES", "figure").rows,
}
NOT_IN_PLUGINS: Final = frozenset({"experiments", "spaces"})
"""Lists to which no plug-in adds."""
