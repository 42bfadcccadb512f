"""Loads plug-ins into this process: each runs once, and its registrations are kept or taken back."""

import ast
import linecache
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Final

from rogue.agent.core import plugins as agent
from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource
from rogue.workloads import registration

NODE_KINDS: Final = ("control", "estimator")
"""What the agent needs on nodes, too."""
_HEADERS: Final = "rogue.harness.testbeds.simulator.compiled"


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """A plug-in that has run in this process, and what it registered: `control swift`."""

    source: PluginSource
    adds: tuple[str, ...]

    @property
    def is_for_nodes(self) -> bool:
        """Whether the agent cannot do without it."""
        return any(each.split()[0] in NODE_KINDS for each in self.adds)


_loaded: Final[dict[tuple[str, bool, bool], LoadedPlugin]] = {}
"""By what tells them apart."""


def loaded_plugins() -> tuple[LoadedPlugin, ...]:
    """All that have run in this process, in order, but for those that ship with this package."""
    return tuple(plugin for plugin in _loaded.values() if not plugin.source.is_shipped)


def load_plugins(sources: Iterable[PluginSource]) -> tuple[LoadedPlugin, ...]:
    """Run each that has not run here yet; ConfigError says which line of which file is wrong."""
    return tuple(_loaded.get(source.identity) or _load(source) for source in sources)


def unload_plugins() -> None:
    """Take back what all plug-ins registered."""
    for plugin in _loaded.values():
        sys.modules.pop(plugin.source.module, None)
    _loaded.clear()
    _take_back(0, 0)


def place_in_plugin(error: BaseException) -> str | None:
    """Return file and line of the plug-in that an error came from, the innermost; None if it came from none.

    Plug-ins that ship with this package do not count: their errors are ours.
    """
    files = {plugin.source.file for plugin in loaded_plugins()}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None


def plugin_sentence(error: BaseException) -> str | None:
    """Return what a plug-in raised and where, without a full stop; None if the error came from none."""
    place = place_in_plugin(error)
    if place is None:
        return None
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"the plug-in raised at {place}: {what}; correct the line"


def _load(source: PluginSource) -> LoadedPlugin:
    before, loaded_before = (len(registration.ADDED), len(agent.ADDED)), set(_loaded)
    module = module_from_spec(ModuleSpec(source.module, _Loader(source), origin=source.file))
    module.__file__ = source.file
    linecache.clearcache()  # it may have another text of the same file
    sys.modules[source.module] = module
    try:
        _run(source, module)
        added = [*registration.ADDED[before[0] :], *agent.ADDED[before[1] :]]
        asked_for = {each for inner in set(_loaded) - loaded_before for each in _loaded[inner].adds}
        plugin = LoadedPlugin(source, tuple(str(each) for each in added if str(each) not in asked_for))
        _check(plugin)
    except BaseException as error:
        del sys.modules[source.module]
        for inner in set(_loaded) - loaded_before:  # those that it asked for are taken back with it
            del sys.modules[_loaded.pop(inner).source.module]
        _take_back(*before)
        if isinstance(error, Exception) and not isinstance(error, ConfigError):
            raise ConfigError([_problem(source, error)]) from error
        if isinstance(error, SystemExit):
            got, expected = "a plug-in that ends the program", "one that registers what it has"
            raise ConfigError([Problem(source.file, "", got, expected, "take the exit away")]) from error
        raise
    _loaded[source.identity] = plugin
    return plugin


class _Loader(InspectLoader):
    """Give tracebacks and `inspect` the text of a plug-in whose file may be on another computer."""

    def __init__(self, source: PluginSource) -> None:
        self._source = source

    def get_source(self, fullname: str) -> str:
        """Return the text."""
        return self._source.text


def _run(source: PluginSource, module: ModuleType) -> None:
    if source.is_header:  # a plug-in in Python imports what it adds to; for one in C++ we do
        import_module(_HEADERS).register_header(source)
    else:
        exec(compile(source.text, source.file, "exec", dont_inherit=True), module.__dict__)


def _take_back(workloads: int, agents: int) -> None:
    for added, count in ((registration.ADDED, workloads), (agent.ADDED, agents)):
        for each in added[count:]:
            each.remove()
        del added[count:]


def _check(plugin: LoadedPlugin) -> None:
    source = plugin.source
    if not plugin.adds:
        expected = "a call of register_control, register_workload or the like"
        raise ConfigError([Problem(source.file, "", "a plug-in that adds nothing", expected, "add one")])
    if plugin.is_for_nodes:
        for line, name in _imports(source):
            if not _is_on_nodes(name):
                expected = "rogue.agent.core and the standard library beside a control or an estimator"
                advice = "put what is not for nodes into a plug-in of its own"
                raise ConfigError([Problem(f"{source.file}:{line}", "", f"import {name}", expected, advice)])


def _imports(source: PluginSource) -> Iterable[tuple[int, str]]:
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or "."


def _is_on_nodes(name: str) -> bool:
    box = name.partition(".")[0]
    return box in sys.stdlib_module_names or f"{name}.".startswith("rogue.agent.core.")


def _problem(source: PluginSource, error: Exception) -> Problem:
    """A sentence with the line of the plug-in that went wrong."""
    if isinstance(error, SyntaxError) and error.filename == source.file:
        return Problem(f"{source.file}:{error.lineno}", "", error.msg, "Python", "correct the line")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source.file]
    place = f"{source.file}:{frames[-1].lineno}" if frames else source.file
    got, _, expected = str(error).partition(", expected ")
    if isinstance(error, ValueError) and expected:
        return Problem(place, "", got, expected, "correct the call")
    first = str(error).splitlines()[0] if str(error) else "no words"
    got = f"{type(error).__name__}: {first}"
    return Problem(place, "", got, "a plug-in that loads without an error", "correct the line")
