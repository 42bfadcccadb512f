"""The limiters of one card, shared by processes: each sets its own rate, and no two undo each other's.

A card takes the rates of all its traffic classes in one call. So what everybody wants stands in memory that
all share, and whoever has changed something hands over all of it.
"""

import fcntl
import mmap
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.netlink import CLASSES, DcbNetlink

PLACE = Path("/run/rogue/limiters")
"""Gone after a reboot, as the rates of a card are."""
_NO_LIMIT = 0
_UNKNOWN = 2**64 - 1
"""Stands for what the card was told while it is being told: its teller may be killed in between."""
_WORD_BYTES = 8
_ROWS = 2
"""What is wanted, and what the card was told."""


class Bank:
    """Slots 0 to 7 of one card. A slot belongs to the one process that has taken it, until that ends.

    `tell` gives the card a whole vector of rates. A wanted rate is an aligned word that only the slot's owner
    writes, or the one to whom it is lent. Between two processes stand locks of files, which the kernel opens
    when their owner is killed.
    """

    def __init__(self, directory: Path, tell: Callable[[Sequence[int]], None]) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        self._tell = tell
        self._own: dict[int, int] = {}
        self._borrowed: int | None = None
        self._lock = _opened(directory / "rates")
        size_bytes = _ROWS * CLASSES * _WORD_BYTES
        os.ftruncate(self._lock, size_bytes)
        words = memoryview(mmap.mmap(self._lock, size_bytes)).cast("Q")
        self._wanted, self._told = words[:CLASSES], words[CLASSES:]

    def take(self, slot: int) -> None:
        """Make a slot ours, without a limit; whatever the dead have left is lifted, too."""
        with self._alone():
            descriptor = self._try(slot)
            if descriptor is None:
                raise LimiterError(
                    f"limiter {slot} of {self._directory.name} is taken by another flow of this host: "
                    f"let the host send fewer flows that have rates"
                )
            self._own[slot] = descriptor
            self._wanted[slot] = _NO_LIMIT
            self._bury()
            self._hand_over()

    def borrow(self, slot: int) -> None:
        """Use only this slot, which another process lends to this flow alone."""
        self._borrowed = slot

    def set_rate(self, slot: int, rate: int) -> None:
        """Have a rate on the card when this returns.

        Those who wait meanwhile have written theirs already: the next of them hands over everybody's, and a
        process waits for two calls at most.
        """
        assert slot in self._own or slot == self._borrowed, f"slot {slot} was not taken"
        self._wanted[slot] = rate
        if self._told[slot] != rate:
            with self._alone():
                if self._told[slot] != rate:
                    self._hand_over()

    def give_back(self, slot: int) -> None:
        """Lift the limit and leave the slot to others."""
        self.set_rate(slot, _NO_LIMIT)
        os.close(self._own.pop(slot))

    def free_dead(self) -> bool:
        """Lift the limits of processes that are gone; return whether there was one."""
        with self._alone():
            self._bury()
            is_stale = list(self._wanted) != list(self._told)
            if is_stale:
                self._hand_over()
        return is_stale

    def close(self) -> None:
        """Leave the bank, and slots that are still ours as if this process had died."""
        while self._own:
            os.close(self._own.popitem()[1])
        os.close(self._lock)

    def _bury(self) -> None:
        for slot in range(CLASSES):
            if slot not in self._own and (descriptor := self._try(slot)) is not None:
                self._wanted[slot] = _NO_LIMIT
                os.close(descriptor)

    def _hand_over(self) -> None:
        rates = list(self._wanted)
        for slot, rate in enumerate(rates):
            if self._told[slot] != rate:
                self._told[slot] = _UNKNOWN
        self._tell(rates)
        for slot, rate in enumerate(rates):
            self._told[slot] = rate

    def _try(self, slot: int) -> int | None:
        """Lock a slot; None if a running process has it."""
        descriptor = _opened(self._directory / str(slot))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    @contextmanager
    def _alone(self) -> Iterator[None]:
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)


def free_dead_limiters(place: Path = PLACE) -> None:
    """Lift what processes that are gone have left on any card; said after one has ended."""
    for directory in sorted(place.iterdir()) if place.is_dir() else ():
        try:
            card = DcbNetlink(directory.name)
            bank = Bank(directory, card.set_rates)
            try:
                bank.free_dead()
            finally:
                bank.close()
                card.close()
        except (LimiterError, OSError) as error:
            sys.stderr.write(f"the limiters of {directory.name} cannot be freed: {error}\n")


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
