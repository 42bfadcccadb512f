"""Tries a plug-in in a process of its own, so that what crashes or never ends there does so alone."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.loading import LoadedPlugin, load_plugins, loaded_plugins
from rogue.harness.plugins.source import PluginSource
from rogue.start_up import safe_path

LIMIT_S: Final = 600.0
"""What is shipped takes seconds."""
LOAD_LIMIT_S: Final = 60.0
HEADER_LIMIT_S: Final = 180.0
"""A compiler may take two minutes, and says itself that it took more."""
_CONTEXT: Final = multiprocessing.get_context("spawn")
_loaded_elsewhere: Final[set[tuple[str, bool]]] = set()
"""What tells those apart that were loaded by a process of their own: once is enough."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a plug-in registers, and what is wrong with it."""

    adds: tuple[str, ...]
    faults: tuple[str, ...]


def try_plugin(asked: PluginSource, beside: Sequence[PluginSource], limit_s: float = LIMIT_S) -> Verdict:
    """Load it with those beside it, and try what it registers; ConfigError if it does not load."""
    with _process(_try, asked, beside) as (process, pipe):
        if not pipe.poll(limit_s):
            return Verdict((), (f"it has not ended after {limit_s:g} s, expected an end of each call",))
        try:
            answer: Verdict | tuple[Problem, ...] = pipe.recv()
        except EOFError:
            process.join()
            return Verdict((), (f"it ended the process that tried it, by {_how(process.exitcode)}",))
    if not isinstance(answer, Verdict):
        raise ConfigError(answer)
    return answer


def load_tried(sources: Sequence[PluginSource], limit_s: float | None = None) -> tuple[LoadedPlugin, ...]:
    """Load each as `load_plugins` does, after another process could; ConfigError if that crashed or hung.

    Who has installed packages alone does not wait for a process.
    """
    known = _loaded_elsewhere | {each.source.identity for each in loaded_plugins()}
    if any(source.identity not in known and not source.is_installed for source in sources):
        _load_elsewhere(sources, limit_s)
        _loaded_elsewhere.update(source.identity for source in sources)
    return load_plugins(sources)


def _load_elsewhere(sources: Sequence[PluginSource], limit_s: float | None) -> None:
    """What is wrong in any other way is told by whoever loads it next, with its line."""
    with _process(_load, sources) as (process, pipe):
        try:
            for source in sources:
                within_s = limit_s or (HEADER_LIMIT_S if source.is_header else LOAD_LIMIT_S)
                if not pipe.poll(within_s):
                    raise _misbehaved(source, f"has not loaded after {within_s:g} s")
                if not pipe.recv():
                    return
        except EOFError:
            process.join()
            raise _misbehaved(
                source, f"ends the process that loads it, by {_how(process.exitcode)}"
            ) from None


def _misbehaved(source: PluginSource, how: str) -> ConfigError:
    expected = "one that registers what it has, and no more"
    advice = "correct it; `rogue check-plugin` shows what it says"
    return ConfigError([Problem(source.file, "", f"a plug-in that {how}", expected, advice)])


@contextmanager
def _process(target: Callable[..., None], *arguments: object) -> Iterator[tuple[BaseProcess, Connection]]:
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=target, args=(theirs, *arguments), daemon=True)
    with safe_path():
        process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()
        ours.close()


def _try(pipe: Connection, asked: PluginSource, beside: Sequence[PluginSource]) -> None:
    from rogue.harness.plugins.contract import contract_faults

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who waits, and kills us
    try:
        loaded = load_plugins([*beside, asked])[-1]
        pipe.send(Verdict(loaded.adds, tuple(contract_faults(loaded))))
    except ConfigError as error:
        pipe.send(error.problems)


def _load(pipe: Connection, sources: Sequence[PluginSource]) -> None:
    """Say of each whether it could be loaded, up to the first that could not; what they print is not ours."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    for source in sources:
        try:
            load_plugins([source])
        except Exception:
            pipe.send(False)
            return
        pipe.send(True)


def _how(exit_code: int | None) -> str:
    """A process's end in words; multiprocessing has signals as negative numbers."""
    if exit_code is not None and exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"an exit with code {exit_code}"
