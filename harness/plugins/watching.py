"""Calls of plug-ins that may never return: a copy of this process makes them, and can be ended."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from signal import SIGKILL


@contextmanager
def copied(work: Callable[[Connection], object]) -> Iterator[Connection]:
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


def goes_on(work: Callable[[Callable[[], None]], object], silent_s: float) -> bool:
    """Whether a work in a copy of this process ends, be it with an error, and never says nothing for so long.

    It calls what it is given as often as it gets on.
    """
    with copied(lambda pipe: work(lambda: pipe.send_bytes(b"on"))) as pipe:
        try:
            while pipe.poll(silent_s):
                pipe.recv_bytes()
        except EOFError:
            return True
    return False
