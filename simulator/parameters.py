"""Checks of arguments; each error says what, where, expected and got."""

import math
from dataclasses import dataclass
from numbers import Real

from rogue.simulator.errors import SimulationError

TTL_HOPS_MAX = 255
RATE_BPS_MAX = 10**13
DELAY_PS_MAX = 10**13
BUFFER_BYTES_MAX = 10**13
MTU_BYTES_MAX = 9216
MEMORY_BYTES_MAX = 2**32
INTERVAL_NS_MAX = 10**15


@dataclass(frozen=True, slots=True)
class ControlParameter:
    """A parameter of a congestion control; the unit is the end of its name."""

    name: str
    value: float
    minimum: float
    maximum: float
    meaning: str


def require_integer(where: str, name: str, value: object, minimum: int, maximum: int) -> int:
    """Return ``value`` if it is an integer from minimum to maximum."""
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise SimulationError(
            f"{where}: expected {name} as an integer from {minimum} to {maximum}, got {value!r}"
        )
    return value


def require_probability(where: str, name: str, value: object) -> float:
    """Return ``value`` if it is a probability below 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) < 1.0:
        raise SimulationError(f"{where}: expected {name} from 0 to less than 1, got {value!r}")
    return float(value)


def require_positive(where: str, name: str, value: object) -> float:
    """Return ``value`` if it is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise SimulationError(f"{where}: expected {name} as a finite number above 0, got {value!r}")
    return float(value)


def require_one_of(where: str, name: str, value: object, known: tuple[str, ...]) -> object:
    """Return ``value`` if it is one of the known words."""
    if value not in known:
        raise SimulationError(f"{where}: expected {name} as one of {', '.join(known)}, got {value!r}")
    return value


def require_connection(
    where: str, ack_every_packets: object, retry_count: object, timeout_exponent: object, service: str
) -> None:
    """Refuse invalid parameters of a connection."""
    require_integer(where, "ack_every_packets", ack_every_packets, 1, 2**31 - 1)
    require_integer(where, "retry_count", retry_count, 0, 7)
    require_integer(where, "timeout_exponent", timeout_exponent, 0, 31)
    require_one_of(where, "service", service, ("rc", "uc"))


def require_timeout(where: str, timeout_exponent: int, round_trip_ps: int) -> int:
    """Return ``round_trip_ps``; raise SimulationError if the timeout is not longer."""
    timeout_ps = 4_096_000 << timeout_exponent
    if timeout_exponent > 0 and timeout_ps <= round_trip_ps:
        raise SimulationError(
            f"{where}: expected a timeout above the delay of the round trip, {round_trip_ps} ps, "
            f"got timeout_exponent {timeout_exponent}, which is {timeout_ps} ps; raise it"
        )
    return round_trip_ps
