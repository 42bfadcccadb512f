"""Load plug-ins into this process, and switch versions between runs."""

import ast
import linecache
import logging
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from threading import Condition
from types import ModuleType
from typing import Any, Final

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.estimators import ESTIMATORS
from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource
from rogue.workloads import registration

_LOGGER: Final = logging.getLogger(__name__)

_OF_AGENT: Final[Mapping[str, MutableMapping[str, Any]]] = {
    "control": CONGESTION_CONTROLS,
    "estimator": ESTIMATORS,
}
"""Registries of the agent, which nodes also need, by the kind of their entries."""
_SHIPPED: Final = {kind: frozenset(registry) for kind, registry in _OF_AGENT.items()}
_HEADERS: Final = "rogue.harness.testbeds.simulator.compiled_controls"


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """A plug-in that has run in this process, and what it registered: `control swift`."""

    source: PluginSource
    adds: tuple[str, ...]

    @property
    def is_for_nodes(self) -> bool:
        """Return True if the agent on nodes needs it."""
        return any(each.split()[0] in _OF_AGENT for each in self.adds)


_loaded: Final[dict[tuple[str, bool], LoadedPlugin]] = {}
"""By what tells them apart."""


def loaded_plugins() -> tuple[LoadedPlugin, ...]:
    """Return all plug-ins that have run in this process, in order."""
    return tuple(_loaded.values())


def load_plugins(sources: Iterable[PluginSource]) -> tuple[LoadedPlugin, ...]:
    """Run each that has not run here yet; ConfigError says which line of which file is wrong."""
    return tuple(_loaded.get(source.identity) or _load(source) for source in sources)


def unload_plugins() -> None:
    """Take back what all plug-ins registered."""
    for plugin in _loaded.values():
        sys.modules.pop(plugin.source.module, None)
    _loaded.clear()
    _take_back()


def place_in_plugin(error: BaseException) -> str | None:
    """Return file and line of the innermost plug-in that an error came from; None if it came from none."""
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
    _LOGGER.debug("loads plug-in %s", source.file)
    before = _added()
    module = module_from_spec(ModuleSpec(source.module, _Loader(source), origin=source.file))
    module.__file__ = source.file
    linecache.clearcache()  # it may have another text of the same file
    sys.modules[source.module] = module
    try:
        _run(source, module)
        plugin = LoadedPlugin(source, tuple(each for each in _added() if each not in before))
        _check(plugin)
    except BaseException as error:
        del sys.modules[source.module]
        _take_back(before)
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


def _added() -> list[str]:
    """Return kind and name of all entries that plug-ins registered."""
    of_agent = [f"{kind} {name}" for kind, names in _OF_AGENT.items() for name in names]
    shipped = {f"{kind} {name}" for kind, names in _SHIPPED.items() for name in names}
    return [*registration.ADDED, *(each for each in of_agent if each not in shipped)]


def _take_back(kept: Collection[str] = ()) -> None:
    for added in _added():
        kind, name = added.split()
        if kind in _OF_AGENT and added not in kept:
            del _OF_AGENT[kind][name]
    registration.take_back(kept)


def _check(plugin: LoadedPlugin) -> None:
    source = plugin.source
    if not plugin.adds:
        expected = "a call of register_control, register_workload or the like"
        raise ConfigError([Problem(source.file, "", "a plug-in that adds nothing", expected, "add one")])
    if plugin.is_for_nodes:
        for line, name in _imports(source):
            if not _is_on_nodes(name):
                expected = "rogue.agent.core and the standard library beside a control or an estimator"
                advice = "put code that nodes do not need into another plug-in"
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


WAIT_LIMIT_S: Final = 3_600.0
"""How long a cell waits for cells with another version. A cell that runs for longer may hang."""


_changed: Final = Condition()
_running: Final[list[Sequence[PluginSource]]] = []
"""One entry for each cell of this process that runs with the loaded plug-ins."""
_waiting: Final[list[object]] = []
"""One entry for each cell that has not started, in the order of arrival."""


@contextmanager
def plugin_versions(sources: Sequence[PluginSource], limit_s: float = WAIT_LIMIT_S) -> Iterator[None]:
    """Load these plug-ins for the time of the block, and unload others if they conflict.

    One name means one thing in a process, so a cell that needs another version waits until no cell uses the
    first, and later cells wait behind it. After `limit_s` seconds a ConfigError says what is still in use.
    """
    turn = object()
    with _changed:
        _waiting.append(turn)
        try:
            if not _changed.wait_for(lambda: _waiting[0] is turn and _may_start(sources), limit_s):
                raise _held(sources, limit_s)
            if not _are_loaded(sources):
                unload_plugins()
                load_plugins(sources)
            _running.append(sources)
        finally:
            _waiting.remove(turn)
            _changed.notify_all()
    try:
        yield
    finally:
        with _changed:
            _running.pop()
            _changed.notify_all()


def _may_start(sources: Sequence[PluginSource]) -> bool:
    return not _running or _are_loaded(sources)


def _are_loaded(sources: Sequence[PluginSource]) -> bool:
    return {source.identity for source in sources} <= {each.source.identity for each in loaded_plugins()}


def _held(sources: Sequence[PluginSource], limit_s: float) -> ConfigError:
    place = ", ".join(source.file for source in sources) or "a cell without plug-ins"
    held = ", ".join(f"{each.source.file} ({each.source.sha256[:12]})" for each in loaded_plugins())
    cells = f"{len(_running)} cell{'s' if len(_running) != 1 else ''}"
    got = f"{held or 'no plug-in'} in use by {cells} of this worker for {limit_s:g} s"
    expected = "those cells to end, as a worker has one version of a plug-in at a time"
    return ConfigError([Problem(place, "", got, expected, "wait for the other run, or restart the worker")])


def packed_plugins() -> dict[str, str]:
    """Return the texts, by module, of the loaded plug-ins that the agent needs."""
    sources = [plugin.source for plugin in loaded_plugins() if plugin.is_for_nodes]
    return {f"plugin_{source.stem}_{source.sha256[:12]}": source.text for source in sources}
