"""Tries a plug-in in a process of its own, so that what crashes or never ends there does so alone."""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.contract import contract_faults
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import PluginSource
from rogue.start_up import safe_path

LIMIT_S: Final = 600.0
"""What is shipped takes seconds."""
_CONTEXT: Final = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a plug-in registers, and what is wrong with it."""

    adds: tuple[str, ...]
    faults: tuple[str, ...]


def try_plugin(asked: PluginSource, beside: Sequence[PluginSource], limit_s: float = LIMIT_S) -> Verdict:
    """Load it with those beside it, and try what it registers; ConfigError if it does not load."""
    with _process(asked, beside) as (process, pipe):
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


@contextmanager
def _process(asked: PluginSource, beside: Sequence[PluginSource]) -> Iterator[tuple[BaseProcess, Connection]]:
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_try, args=(theirs, asked, beside), daemon=True)
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who waits, and kills us
    try:
        loaded = load_plugins([*beside, asked])[-1]
        pipe.send(Verdict(loaded.adds, tuple(contract_faults(loaded))))
    except ConfigError as error:
        pipe.send(error.problems)


def _how(exit_code: int | None) -> str:
    """A process's end in words; multiprocessing has signals as negative numbers."""
    if exit_code is not None and exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"an exit with code {exit_code}"
