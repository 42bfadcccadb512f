"""Packet spraying: over how many entropies a transport spreads the packets of a connection."""

from collections.abc import Mapping

from rogue.harness.cell.carrier import Carrier
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.parameters import as_written
from rogue.harness.cell.values import values_of
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.simulator.values import check_together
from rogue.simulator import SPRAYING_PARAMETERS, Spraying, spraying_of
from rogue.workloads.transports import TransportName


def nic_spraying(carrier: Carrier) -> Spraying | None:
    """How packets are sprayed; None if all take one way, ParameterError if it cannot be."""
    if not carrier.transport.is_sprayed:
        return None

    def check(values: Mapping[str, float]) -> None:
        spraying_of(values).check()

    stated = values_of(SPRAYING_PARAMETERS, carrier.parameters)
    check_together(check, stated)
    return spraying_of(stated)


def spraying_parameters(transport: TransportName) -> tuple[str, ...]:
    """Names of its parameters, as an experiment file has them."""
    table = SPRAYING_PARAMETERS if transport.is_sprayed else ()
    return tuple(as_written(parameter.name) for parameter in table)


def spraying_facts(cell: Cell) -> dict[str, Fact]:
    """How many entropies the packets of a sprayed connection have; of several groups, the last one's."""
    facts: dict[str, Fact] = {}
    for group in cell.groups:
        spraying = nic_spraying(group)
        if spraying is not None:
            facts["paths"] = spraying.paths
    return facts
