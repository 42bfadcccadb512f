"""The limiters of one card, shared by processes, each of which sets its own rate.

A card takes the rates of all its traffic classes in one call. All requested rates are therefore in shared
memory, and a process that changes one sets all of them.
"""

import fcntl
import mmap
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.netlink import CLASSES, DcbNetlink

PLACE = Path("/run/rogue/limiters")
"""On tmpfs: a reboot removes it, as it resets the rates of a card."""
_NO_LIMIT = 0
_UNKNOWN = 2**64 - 1
"""Marks a rate that is being set, because the process may be killed meanwhile."""
_WORD_BYTES = 8
_ROWS = 2
"""Requested rates, and rates that were set."""


class Bank:
    """Slots 0 to 7 of one card; a slot belongs to the process that has taken it, until that ends.

    `set_rates` sets the card's whole vector of rates. A requested rate is an aligned word that only the
    slot's owner or borrower writes. File locks separate processes; the kernel releases them when their owner
    is killed.
    """

    def __init__(self, directory: Path, set_rates: Callable[[Sequence[int]], None]) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        self._set_rates = set_rates
        self._own: dict[int, int] = {}
        self._borrowed: int | None = None
        self._lock = _opened(directory / "rates")
        size_bytes = _ROWS * CLASSES * _WORD_BYTES
        os.ftruncate(self._lock, size_bytes)
        words = memoryview(mmap.mmap(self._lock, size_bytes)).cast("Q")
        self._wanted, self._applied = words[:CLASSES], words[CLASSES:]

    def take(self, slot: int) -> None:
        """Take a slot, without a limit, and lift the limits of processes that have ended."""
        with self._locked():
            descriptor = self._try(slot)
            if descriptor is None:
                raise LimiterError(
                    f"limiter {slot} of {self._directory.name} is taken by another flow of this host: "
                    f"let the host send fewer flows that have rates"
                )
            self._own[slot] = descriptor
            self._wanted[slot] = _NO_LIMIT
            self._lift_dead()
            self._set_all()

    def borrow(self, slot: int) -> None:
        """Use only this slot, which another process lends to this flow."""
        self._borrowed = slot

    def set_rate(self, slot: int, rate: int) -> None:
        """Set a rate; the card has it when this returns.

        Waiting processes have written theirs already, and the next one sets all of them, so a process waits
        for at most two calls.
        """
        assert slot in self._own or slot == self._borrowed, f"slot {slot} was not taken"
        self._wanted[slot] = rate
        if self._applied[slot] != rate:
            with self._locked():
                if self._applied[slot] != rate:
                    self._set_all()

    def give_back(self, slot: int) -> None:
        """Lift the limit and release the slot."""
        self.set_rate(slot, _NO_LIMIT)
        os.close(self._own.pop(slot))

    def free_dead(self) -> bool:
        """Lift the limits of processes that have ended; return True if there was one."""
        with self._locked():
            self._lift_dead()
            is_stale = list(self._wanted) != list(self._applied)
            if is_stale:
                self._set_all()
        return is_stale

    def close(self) -> None:
        """Close the bank, and leave our slots as if this process had been killed."""
        while self._own:
            os.close(self._own.popitem()[1])
        os.close(self._lock)

    def _lift_dead(self) -> None:
        for slot in range(CLASSES):
            if slot not in self._own and (descriptor := self._try(slot)) is not None:
                self._wanted[slot] = _NO_LIMIT
                os.close(descriptor)

    def _set_all(self) -> None:
        rates = list(self._wanted)
        for slot, rate in enumerate(rates):
            if self._applied[slot] != rate:
                self._applied[slot] = _UNKNOWN
        self._set_rates(rates)
        for slot, rate in enumerate(rates):
            self._applied[slot] = rate

    def _try(self, slot: int) -> int | None:
        """Lock a slot; return None if a running process has it."""
        descriptor = _opened(self._directory / str(slot))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)


def free_dead_limiters(place: Path = PLACE) -> None:
    """Lift limits that ended processes have left on any card; called after a process has ended."""
    for directory in sorted(place.iterdir()) if place.is_dir() else ():
        try:
            with (
                closing(DcbNetlink(directory.name)) as card,
                closing(Bank(directory, card.set_rates)) as bank,
            ):
                bank.free_dead()
        except (LimiterError, OSError) as error:
            sys.stderr.write(f"the limiters of {directory.name} cannot be freed: {error}\n")


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
