"""Try a plug-in in a child process, so that a crash or a hang ends only that process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from signal import SIGKILL
from typing import Final

from pydantic import TypeAdapter, ValidationError

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins import sandbox_process
from rogue.harness.plugins.loading import LoadedPlugin, load_plugins, loaded_plugins
from rogue.harness.plugins.sandbox_process import LOAD, TRY, VERDICT, Verdict
from rogue.harness.plugins.source import PluginSource
from rogue.workloads.printable import printable


@contextmanager
def forked_call(work: Callable[[Connection], object]) -> Iterator[Connection]:
    """A copy of this process that does the work, and what it says; it is over at the end of the block.

    What is said ends (EOFError) when the work is done, or has failed.
    """
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        _work_and_exit(work, theirs)
    theirs.close()
    try:
        yield ours
    finally:
        os.kill(child, SIGKILL)
        os.waitpid(child, 0)
        ours.close()


def _work_and_exit(work: Callable[[Connection], object], pipe: Connection) -> None:
    """Everything that the copy does."""
    try:
        work(pipe)
    finally:
        os._exit(0)


def ends_in_child(work: Callable[[Callable[[], None]], object], silent_s: float) -> bool:
    """Whether a work in a copy of this process ends, be it with an error, and never says nothing for so long.

    It calls what it is given as often as it gets on.
    """
    with forked_call(lambda pipe: work(lambda: pipe.send_bytes(b"on"))) as pipe:
        try:
            while pipe.poll(silent_s):
                pipe.recv_bytes()
        except EOFError:
            return True
    return False


LIMIT_S: Final = 600.0
"""What is shipped takes seconds."""
PATIENCE_S: Final = 15.0
"""After so much silence whoever waits is told for what."""
LOAD_LIMIT_S: Final = 60.0
HEADER_LIMIT_S: Final = 180.0
"""A compiler may take two minutes, and says itself that it took more."""
END_LIMIT_S: Final = 5.0
"""From the end of what a process says to its own end."""
LINE_BYTES_MAX: Final = 1 << 20
_PIECE_BYTES: Final = 1 << 16
_loaded_elsewhere: Final[set[tuple[str, bool, bool]]] = set()
"""What tells those apart that were loaded by a process of their own: once is enough."""


_IS_LOADED: Final = TypeAdapter(bool)


Told = Callable[[], object]


class _SilentError(Exception):
    """A process said nothing more, or nothing that it should; the words say how."""


@dataclass(slots=True)
class _Child:
    """A process that tries a plug-in, and what it has said so far."""

    process: "subprocess.Popen[bytes]"
    pipe: int
    handle: int
    """Of the process itself: what it has started may keep its pipe open for longer."""
    said: bytearray = field(default_factory=bytearray)

    def line(self, limit_s: float, told: Told | None = None) -> bytes:
        """Return its next line; _SilentError if it ends before, TimeoutError if none comes within the limit.

        told: is called once, after PATIENCE_S without a line.
        """
        until, patient_until = (time.monotonic() + each for each in (limit_s, PATIENCE_S))
        while b"\n" not in self.said:
            next_s = until if told is None else min(until, patient_until)
            ready = wait([self.pipe, self.handle], max(0.0, next_s - time.monotonic()))
            if not ready and told is not None and next_s < until:
                told()
                told = None
                continue
            if not ready:
                raise TimeoutError
            piece = os.read(self.pipe, _PIECE_BYTES) if self.pipe in ready else b""
            if not piece:
                raise _SilentError(self._end())
            self.said += piece
            if len(self.said) > LINE_BYTES_MAX:
                raise _SilentError("a word that is longer than any")
        line, _, rest = self.said.partition(b"\n")
        self.said = rest
        return bytes(line)

    def _end(self) -> str:
        wait([self.handle], END_LIMIT_S)
        code = self.process.poll()
        if code is None:
            return "closing what it would say so through"
        return _signal_name(-code) if code < 0 else f"an exit with code {code}"


def try_plugin(
    asked: PluginSource,
    beside: Sequence[PluginSource],
    limit_s: float = LIMIT_S,
    told: Told | None = None,
) -> Verdict:
    """Load it with those beside it, and try what it registers; ConfigError if it does not load.

    told: is called once if that takes longer than PATIENCE_S.
    """
    with _child(TRY, [*beside, asked]) as child:
        try:
            verdict = VERDICT.validate_json(child.line(limit_s, told))
        except TimeoutError:
            return Verdict((), (f"it has not ended after {limit_s:g} s, expected an end of each call",))
        except _SilentError as how:
            return Verdict((), (f"it ended the process that tried it, by {how}",))
        except ValidationError:
            return Verdict((), ("it wrote into the pipe of the process that tried it",))
    if not isinstance(verdict, Verdict):
        raise ConfigError([Problem(*map(printable, astuple(each))) for each in verdict])
    return verdict


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
    with _child(LOAD, sources) as child:
        for source in sources:
            within_s = limit_s or (HEADER_LIMIT_S if source.is_header else LOAD_LIMIT_S)
            try:
                if not _IS_LOADED.validate_json(child.line(within_s), strict=True):
                    return
            except TimeoutError:
                raise _misbehaved(source, f"has not loaded after {within_s:g} s") from None
            except _SilentError as how:
                raise _misbehaved(source, f"ends the process that loads it, by {how}") from None
            except ValidationError:
                raise _misbehaved(source, "writes into the pipe of the process that loads it") from None


def _misbehaved(source: PluginSource, how: str) -> ConfigError:
    expected = "one that registers what it has, and no more"
    advice = "correct it; `rogue check-plugin` shows what it says"
    return ConfigError([Problem(source.file, "", f"a plug-in that {how}", expected, advice)])


@contextmanager
def _child(task: str, sources: Sequence[PluginSource]) -> Iterator[_Child]:
    """Start a process that gets the sources on its standard input, and says lines into a pipe of its own.

    It has no other descriptor of ours.  Its session is its own: Ctrl-C is for who waits, and kills it then,
    with all that a plug-in starts.
    """
    ours, theirs = os.pipe()
    try:
        process = _start(task, theirs)
    finally:
        os.close(theirs)
    handle = os.pidfd_open(process.pid)
    try:
        assert process.stdin is not None, "started with a pipe"
        with suppress(BrokenPipeError), process.stdin as asked:
            asked.write(sandbox_process.question(sources))
        yield _Child(process, ours, handle)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(handle)
        os.close(ours)


def _start(task: str, pipe: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-P", "-m", sandbox_process.__name__, task, str(pipe)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, pass_fds=[pipe], start_new_session=True, bufsize=0
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one of those that have no name of their own
        return f"signal {number}"
