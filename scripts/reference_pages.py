"""Generate reference pages: the command line and the Python API."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from typer import Context
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from rogue.harness.cli import app

WIDTH = 100
"""Characters of a line of help."""


def commands_page() -> str:
    """Return the page: the help of `rogue`, then that of each command and subcommand."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    parts = ["# Command line\n", "`rogue COMMAND --help` prints the same text.\n", *_helps(root, "rogue")]
    return "\n".join(parts)


def _helps(command: TyperCommand | TyperGroup, path: str) -> Iterator[str]:
    context = Context(command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH)
    heading = "#" * min(3, path.count(" ") + 2)
    yield f"{heading} {path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, TyperGroup):
        for name in command.list_commands(context):
            _, found, _ = command.resolve_command(context, [name])
            if isinstance(found, TyperCommand | TyperGroup):
                yield from _helps(found, f"{path} {name}")


MODULES: Final = {
    "rogue": "Run experiments and read runs",
    "rogue.simulator": "The simulator as a library",
    "rogue.agent.core.plugins": "Register controls of hosts and RTT estimators",
    "rogue.workloads.plugins": "Register traffic, topologies and flow sizes",
    "rogue.reports.plugins": "Register measures and figures",
    "rogue.harness.data.plugins": "Register file formats",
    "rogue.harness.testbeds.simulator.plugins": "Register congestion controls of NICs",
}
"""Public modules, each with the title of its section."""
BASES: Final = (
    "rogue.agent.core.cc.base.CongestionControl",
    "rogue.agent.core.estimators.base.RttEstimator",
    "rogue.workloads.traffic.workload.Workload",
    "rogue.workloads.topologies.topology.Topology",
    "rogue.workloads.flow_sizes.FlowSizes",
    "rogue.reports.metrics.metric.Metric",
    "rogue.reports.figures.figure.Plot",
    "rogue.harness.data.formats.format.Format",
)
"""Classes that plug-ins derive from or fill in, beside those of the modules above."""
COMPILED: Final = "rogue.simulator._core"


def python_page() -> str:
    """Return the page; a public name without a docstring is an error."""
    parts = [
        "# Python API",
        "Names end in their unit. Names that are not on this page may change at any time.",
    ]
    for module, title in MODULES.items():
        loaded = import_module(module)
        parts += [f"## {title}", f"`import {module}`"]
        own = [name for name, each in vars(loaded).items() if getattr(each, "__module__", "") == module]
        names = getattr(loaded, "__all__", None) or [name for name in own if not name.startswith("_")]
        parts += [_entry(name, getattr(loaded, name)) for name in sorted(names)]
    parts.append("## Base classes of plug-ins")
    parts += [_entry(place.rpartition(".")[2], _at(place)) for place in BASES]
    return "\n\n".join(part for part in parts if part) + "\n"


def _entry(name: str, found: object) -> str:
    """Return a directive for Python, a docstring for compiled classes, and nothing for plain constants."""
    if not (inspect.isclass(found) or inspect.isfunction(found)):
        return ""
    text = inspect.getdoc(found)
    if not text:
        raise LookupError(f"{found.__module__}.{name} has no docstring")
    if found.__module__ != COMPILED:
        return f"::: {found.__module__}.{found.__qualname__}"
    public = {key: inspect.getdoc(each) or "" for key, each in vars(found).items() if not key.startswith("_")}
    members = [text if text.startswith(key) else key for key, text in public.items()]
    return "\n".join([f"### {name}\n", f"{text}\n", "```text", *members, "```"])


def _at(place: str) -> object:
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)
