"""Choose loss recovery, spraying and timeouts for the NICs of a cell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup
from rogue.harness.cell.transport import ParameterError, ParameterMistake, as_written, values_of
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.simulator import uet
from rogue.harness.testbeds.simulator.features import features_of
from rogue.harness.testbeds.simulator.plugin_controls import (
    OF_GRANTING,
    receiver_control,
    receiver_parameters,
)
from rogue.harness.testbeds.simulator.round_trip import RoundTrip, empty_round_trip
from rogue.harness.testbeds.simulator.values import check_together
from rogue.simulator import (
    CONTROL_PRIORITY,
    RELIABILITIES,
    SPRAYING_PARAMETERS,
    ControlParameter,
    Reliability,
    Spraying,
    check_parameters,
    spraying_of,
)
from rogue.workloads.transports import TransportName


def nic_spraying(carrier: FlowGroup) -> Spraying | None:
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


CAP: Final = "cap_packets"
LOW: Final = "rto_low_ns"
HIGH: Final = "rto_high_ns"
RTO_LOW_NS: Final = 100_000
"""What short messages should wait at most. Source: Mittal et al., SIGCOMM 2018, section 4.1."""
USUAL_RTO_NS: Final = 67_108_864
"""Where a full buffer has no bound: 4.096 us * 2^14, a usual timeout of InfiniBand's NICs."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """What follows from the network, for one way to repair losses."""

    has_cap: bool
    has_short_timeout: bool
    """While few packets are in flight; otherwise there is one timeout, the long one."""


FITTINGS: Final = {
    "irn": Fitting(has_cap=True, has_short_timeout=True),
    "irn-gbn": Fitting(has_cap=True, has_short_timeout=True),
    "go-back-n": Fitting(has_cap=False, has_short_timeout=False),
}
"""The transports that IRN's authors compare. The others have the timeouts of their own sources."""


def nic_reliability(cell: Cell, carrier: FlowGroup) -> Reliability | None:
    """The way to repair losses; None for the usual go-back-N, ParameterError if it cannot be.

    Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, sections 3.2 and 4.1.
    """
    asked = _asked(carrier.transport)
    if asked is None:
        return None
    name, fitting = asked.name, FITTINGS.get(asked.name)
    loses = _has_losses(cell) or not carrier.transport.has_pauses

    def all_values(stated: Mapping[str, float]) -> dict[str, float]:
        given = {**asked.parameters, **stated}
        if name in uet.NAMES:
            way = empty_round_trip(cell)
            return uet.fitted_to_network(cell, way, _long_timeout_ns(way)) | given
        return _fitted(given, fitting, empty_round_trip(cell), loses=loses) if fitting else given

    is_uet = name in uet.NAMES
    written = uet.with_numbers(carrier.parameters) if is_uet else carrier.parameters
    stated = values_of(_table(carrier.transport, asked), written)
    check_together(lambda values: check_parameters(name, all_values(values)), stated, cell.topology)
    priority = CONTROL_PRIORITY if is_uet else None
    return Reliability(name, all_values(stated), priority, receiver_control(carrier))


def reliability_parameters(transport: TransportName) -> tuple[str, ...]:
    """Names of its parameters, as an experiment file has them."""
    asked = _asked(transport)
    table = () if asked is None else _table(transport, asked)
    own = (*table, *receiver_parameters(transport))
    return tuple(as_written(parameter.name) for parameter in own)


def refuse_retries(carrier: FlowGroup) -> None:
    """ParameterError for what only the usual go-back-N has."""
    for key in ("retry_count", "timeout_exponent"):
        if key in carrier.parameters:
            own = [name for name in reliability_parameters(carrier.transport) if name.startswith("rto")]
            advice = f"its {'timeout is' if len(own) == 1 else 'timeouts are'} {' and '.join(own)}"
            expected = "no such parameter where NICs try again for ever"
            raise ParameterError(ParameterMistake(key, expected, advice))


def reliability_facts(cell: Cell) -> dict[str, Fact]:
    """Parameters with which the cell's transports repair losses."""
    facts: dict[str, Fact] = {}
    for group in cell.groups:
        reliability = nic_reliability(cell, group)
        if reliability is not None:
            facts |= {name: _shown(value) for name, value in reliability.parameters.items()}
    return facts


def _table(transport: TransportName, asked: Reliability) -> tuple[ControlParameter, ...]:
    """The parameters of its kind, without those of granting where a plug-in grants."""
    table = RELIABILITIES[asked.name].parameters
    if transport.receiver_control is None:
        return table
    return tuple(each for each in table if each.name not in OF_GRANTING)


def _shown(value: float) -> Fact:
    return int(value) if value == int(value) else value


def _asked(transport: TransportName) -> Reliability | None:
    asked = [each.reliability for each in features_of(transport) if each.reliability]
    return asked[-1] if asked else None


def _fitted(given: dict[str, float], fitting: Fitting, way: RoundTrip, *, loses: bool) -> dict[str, float]:
    """The given values, and those that follow from them and from the network.

    Without losses there are no timeouts, unless somebody asks for them.
    """
    fitted = {CAP: float(way.packets)} if fitting.has_cap else {}
    if not loses and not {LOW, HIGH} & set(given):
        return fitted | {LOW: 0.0} | given
    high_ns = given.get(HIGH, max(_long_timeout_ns(way), given.get(LOW, 0.0)))
    if not fitting.has_short_timeout:
        single_ns = given.get(HIGH, given.get(LOW, high_ns))
        return fitted | {LOW: single_ns, HIGH: single_ns} | given
    low_ns = RTO_LOW_NS if way.round_trip_ns < RTO_LOW_NS <= high_ns else high_ns
    return fitted | {LOW: float(low_ns), HIGH: high_ns} | given


def _has_losses(cell: Cell) -> bool:
    """Whether the experiment itself makes links or watchdogs drop what flow control would keep."""
    network = cell.network
    is_lossy = any(link.losses for link in network.links) or network.outages
    return bool(is_lossy) or cell.topology.pause_watchdog_ns is not None


def _long_timeout_ns(way: RoundTrip) -> float:
    """The longest round trip and a wait behind one full buffer."""
    return USUAL_RTO_NS if way.full_buffer_ns is None else way.round_trip_ns + way.full_buffer_ns
