"""Plug-ins that come with installed packages: modules named by entry points of the group `rogue.plugins`."""

from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource, each_once, read_plugin

GROUP: Final = "rogue.plugins"


def plugins_at(files: Sequence[Path]) -> list[PluginSource]:
    """What is installed, and what a person names with `--plugin`."""
    named = [read_plugin(str(file), f"--plugin {file}") for file in files]
    return each_once([*installed_plugins(), *named])


def installed_plugins() -> list[PluginSource]:
    """Their texts, by name; ConfigError says which package names something that is not there."""
    points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return [_source(point) for point in points]


def _source(point: metadata.EntryPoint) -> PluginSource:
    package = point.dist.name if point.dist else "a package"
    place = f"{package}, entry point {GROUP} {point.name}"
    try:
        found = util.find_spec(point.module)
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin is None or not found.has_location:
        advice = f"uninstall {package}, or install a version that has it"
        raise ConfigError([Problem(place, "", point.value, "a module that is one Python file", advice)])
    return read_plugin(found.origin, place, is_installed=True)
