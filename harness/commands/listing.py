"""`rogue list`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import typer

from harness.columns import align
from harness.commands.experiments import DIRECTORY, experiment_files, load_named
from harness.errors import ConfigError, UsageError
from harness.exit_codes import ExitCode
from harness.experiment.load import load_experiment
from harness.experiment.reference import REQUIRED, keys_of
from harness.plan.cells import plan_cells
from workloads.faults import FAULTS
from workloads.probes import PROBES
from workloads.specification import Specification
from workloads.spelling import meant
from workloads.topologies import TOPOLOGIES
from workloads.traffic import WORKLOADS
from workloads.transports import BASES, FEATURES, TransportName

if TYPE_CHECKING:
    from harness.testbeds.base import Testbed

NODES: Final = "nodes"
"""Virtual machines, CloudLab's or a rack's."""
PROBE: Final = "quickstart"
"""The experiment whose transport is exchanged to see what a testbed says."""


def print_list(what: str) -> ExitCode:
    """Print one of the lists."""
    if what not in LISTS:
        known = [*LISTS, "runs"]
        got = f"list: got {what!r}, expected one of {', '.join(known)}"
        raise UsageError(f"{got}; {meant(what, known)}.")
    typer.echo("\n".join(LISTS[what]()))
    return ExitCode.OK


def _transports() -> list[str]:
    rows: list[Sequence[str]] = [
        (name, base.service, places([TransportName(name)]), base.meaning) for name, base in BASES.items()
    ]
    for feature, meaning in FEATURES.items():
        with_it = [
            TransportName(name, (feature,)) for name, base in BASES.items() if feature in base.features
        ]
        rows.append((f"+{feature}", "", places(with_it), meaning))
    return align(rows)


def places(names: Sequence[TransportName]) -> str:
    """Where at least one of these transports runs, as the testbeds themselves say."""
    from harness.testbeds import TESTBEDS
    from harness.testbeds.ssh.support import may_carry

    found = [place for place, kind in TESTBEDS.items() if any(_runs(kind(), name) for name in names)]
    if any(may_carry(name) for name in names):
        found.append(NODES)
    return ", ".join(found) or "nowhere yet"


def _runs(testbed: "Testbed", transport: TransportName) -> bool:
    loaded = load_named(PROBE, (f"transports=[{transport}]",))
    return testbed.unsupported(plan_cells(loaded)[0]) is None


def _experiments() -> list[str]:
    rows = []
    for file in experiment_files():
        try:
            title = load_experiment(str(file)).experiment.title or ""
        except ConfigError as error:
            title = f"cannot be read: {error.problems[0]}"
        rows.append((file.relative_to(DIRECTORY).with_suffix("").as_posix(), title))
    return align(rows)


def _figures() -> list[str]:
    from reports.figures import FIGURES

    return align([(name, figure.title) for name, figure in FIGURES.items()])


def _kinds(registry: Mapping[str, type[Specification]]) -> list[str]:
    """Every kind with its parameters."""
    lines = []
    for name, kind in registry.items():
        lines.append(f"{name}: {(kind.__doc__ or '').splitlines()[0]}")
        lines += [f"  {line}" for line in align(_parameters(kind))]
    return lines


def _parameters(kind: type[Specification]) -> list[tuple[str, str, str]]:
    return [
        (key.name, key.default if key.default == REQUIRED else f"default {key.default}", key.meaning)
        for key in keys_of(kind)
    ]


LISTS: Mapping[str, Callable[[], list[str]]] = {
    "transports": _transports,
    "workloads": lambda: _kinds(WORKLOADS),
    "topologies": lambda: _kinds(TOPOLOGIES),
    "faults": lambda: _kinds(FAULTS),
    "probes": lambda: _kinds(PROBES),
    "experiments": _experiments,
    "figures": _figures,
}
