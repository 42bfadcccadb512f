"""Whether a cluster that cells were handed to is still there: asked now and then, while they run."""

import time
from collections.abc import Callable, Mapping
from typing import Final

from rogue.harness.errors import ClusterLostError

LOOK_SECONDS: Final = 1.0
"""The scheduler is asked at most this often."""


class Lookout:
    """Asks a scheduler for its workers. One that had none for too long has lost them."""

    def __init__(
        self,
        address: str,
        threads_of_workers: Callable[[], Mapping[str, int]],
        patience_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._ask = threads_of_workers
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._looked = self._had_workers = clock()

    def look(self) -> None:
        """ClusterLostError if the scheduler is gone, or has been without a worker for too long."""
        if self._clock() - self._looked >= LOOK_SECONDS:
            self.look_now()

    def look_now(self) -> None:
        """The same, whenever it was last done."""
        try:
            threads = sum(self._ask().values())
        except Exception as error:
            raise self.lost(error) from error
        self._looked = self._clock()
        if threads:
            self._had_workers = self._looked
        elif self._looked - self._had_workers >= self._patience_seconds:
            words = f"had no worker for {self._patience_seconds:g} s"
            raise ClusterLostError(f"the Dask scheduler {self._address} {words}")

    def lost(self, error: Exception) -> ClusterLostError:
        """What to say where nothing can be had from the scheduler any more."""
        words = f"is gone ({type(error).__name__}: {error})"
        return ClusterLostError(f"the Dask scheduler {self._address} {words}")
