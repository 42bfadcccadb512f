"""Whether the simulator takes the values of a NIC's or switch's parameters beside each other."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from rogue.harness.cell.transport import ParameterError, ParameterMistake, as_written
from rogue.simulator import SimulationError
from rogue.workloads.topologies import Topology
from rogue.workloads.units import RATE

Check: TypeAlias = Callable[[Mapping[str, float]], object]
"""Raises SimulationError if there is something wrong with the values beside each other."""


def check_together(check: Check, stated: Mapping[str, float], topology: Topology | None = None) -> None:
    """Raise ParameterError that names the stated value which the simulator does not take beside the others.

    Where values follow from the topology and are wrong without a stated one, the error names its links.
    """
    try:
        check(stated)
    except SimulationError as error:
        key = as_written(_culprit(check, stated))
        found = str(error) if error.expected is None else f"{error.expected}, got {error.got}"
        if topology is not None and not _passes(check, {}):
            links = f"links of {RATE.format(min(link.rate_bps for link in topology.links()))}"
            expected = f"a rate from which the simulator can work out its values: {found}"
            raise ParameterError(ParameterMistake(key, expected, "raise it", network=links)) from error
        raise ParameterError(ParameterMistake(key, found, "correct the value")) from error


def _culprit(check: Check, stated: Mapping[str, float]) -> str:
    """The first value without which the others pass; if there is none, the first that is wrong alone."""
    for key in stated:
        if _passes(check, {other: value for other, value in stated.items() if other != key}):
            return key
    wrong = (key for key, value in stated.items() if not _passes(check, {key: value}))
    return next(wrong, "parameters")


def _passes(check: Check, values: Mapping[str, float]) -> bool:
    try:
        check(values)
    except SimulationError:
        return False
    return True
