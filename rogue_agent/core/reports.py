"""Reports of a lane's transfers: each once, in order, and none too early."""

from collections.abc import Iterable
from typing import Final

from rogue.agent.core.actions import Action, TransferDone

_NOBODY: Final[frozenset[int]] = frozenset()


class Reports:
    """Transfers that the application still waits for.

    A transfer with a verb that was on a queue pair when this was lost must not be reported before both ends
    of that queue pair have been reset: until then a late packet could overwrite memory which the application
    has reused. It is *held*; whatever ends after it is held as well, because verbs complete in order.
    """

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._suspect = _NOBODY
        self._held: list[TransferDone] = []

    def __contains__(self, transfer_id: int) -> bool:
        return transfer_id in self._running

    def add(self, transfer_id: int) -> None:
        """A transfer was submitted."""
        self._running.add(transfer_id)

    def suspect(self, transfer_ids: Iterable[int]) -> None:
        """Transfers had verbs on a queue pair that was lost."""
        self._suspect |= self._running.intersection(transfer_ids)

    def complete(self, transfer_id: int, size_bytes: int, actions: list[Action]) -> None:
        """Everything of a transfer has been acknowledged: report it, or hold its report."""
        done = TransferDone(transfer_id, True, size_bytes)
        if self._held or transfer_id in self._suspect:
            self._held.append(done)
        else:
            self._running.remove(transfer_id)
            actions.append(done)

    def clear_suspicion(self, actions: list[Action]) -> None:
        """Every lost queue pair has been reset on both ends: report what was held."""
        self._suspect = _NOBODY
        actions += self._held
        self._running.difference_update(done.transfer_id for done in self._held)
        self._held.clear()

    def fail(self, progress: Iterable[tuple[int, int]], sent: set[int], actions: list[Action]) -> None:
        """Report everything that runs as failed; `progress` has (id, acknowledged bytes), the first counts.

        `sent` are those that have a verb which was handed to the NIC and is not acknowledged.

        What is held has arrived, but nobody knows whether its memory is safe; it is failed as well.
        """
        acked_bytes = {done.transfer_id: done.acked_bytes for done in self._held}
        sent = sent | acked_bytes.keys()
        for transfer_id, offset_bytes in progress:
            acked_bytes.setdefault(transfer_id, offset_bytes)
        self._held.clear()
        for transfer_id, arrived_bytes in acked_bytes.items():
            if transfer_id in self._running:
                self._running.remove(transfer_id)
                is_sent = transfer_id in sent or arrived_bytes > 0
                actions.append(TransferDone(transfer_id, False, arrived_bytes, is_sent))
