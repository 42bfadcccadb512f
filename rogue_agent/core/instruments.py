"""What a laboratory can add to a connection, and no verb can: for labelled ablations only."""

from collections.abc import Callable
from typing import NamedTuple


class Instruments(NamedTuple):
    """Oracles and disturbances; the driver over verbs has none.

    random: uniform numbers in [0, 1), for RTT noise.
    left_ns: the instant at which the last byte of a signalled verb left the NIC, on the NIC's clock.
    """

    random: Callable[[], float] | None = None
    left_ns: Callable[[int], float] | None = None


NO_INSTRUMENTS = Instruments()
