"""Build the engine's NICs and their loss recovery."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup, first_mistake
from rogue.harness.cell.transport import ParameterError, ParameterMistake, as_written
from rogue.harness.data.nic_profile import RETRY_RULES
from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.loading import place_in_plugin
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.simulator.features import framing, receiver_control
from rogue.simulator import (
    CONTROL_PRIORITY,
    CONTROLS,
    PROFILES,
    ControlError,
    FairRates,
    NicControl,
    NicProfile,
    Reliability,
    SimulationError,
    Spraying,
    check_parameters,
    spraying_of,
)
from rogue.workloads.ideal import longest_round_trip_ns
from rogue.workloads.topologies import Topology
from rogue.workloads.topologies.nic_file import NicOfFile
from rogue.workloads.transports import BASES, TransportName
from rogue.workloads.units import RATE

BASE_RTT: Final = "base_rtt_ns"


def profile_of(topology: Topology, host: str) -> NicProfile:
    """Return the profile that the topology names, with as many limiters for flows as it states.

    One more is never programmed: it serves what has no rate, as priority 0 does on nodes.
    """
    nic = topology.nic
    profile = measured_profile(nic) if isinstance(nic, NicOfFile) else PROFILES[topology.nic_of(host)]
    if topology.nic_limiters is None:
        return profile
    return replace(profile, limiter_scope="per_priority", limiters=topology.nic_limiters + 1)


def measured_profile(nic: NicOfFile) -> NicProfile:
    """Return the profile of a file: another one with measured values."""
    like, values = PROFILES[nic.like], dict[str, Any](nic.values)
    rules = {name: values.pop(name) for name in RETRY_RULES if name in values}
    return replace(like, name=str(nic), retry_rules=replace(like.retry_rules, **rules), **values)


@dataclass(frozen=True, slots=True)
class NicSettings:
    """The parts of NICs that carry a group."""

    control: NicControl | None
    """Congestion control."""
    reliability: Reliability | None
    """Loss recovery; None: the usual go-back-N."""
    spraying: Spraying | None
    """How packets are spread over paths; None: all packets of a flow take one path."""


def nic_settings(cell: Cell, group: FlowGroup) -> NicSettings:
    """Add to a group's settings what follows from the network; ParameterError if the engine refuses them."""
    return NicSettings(_control(cell, group), _reliability(cell, group), _spraying(group))


def parameter_mistake(cell: Cell) -> ParameterMistake | None:
    """Return the first parameter that the agent, TCP, NICs or switches do not take; None if all do."""
    return first_mistake(cell.groups, cell.transport.parameters, partial(_check_group, cell))


def _check_group(cell: Cell, group: FlowGroup) -> None:
    if (tcp := group.settings.tcp) is not None:
        check_together(partial(check_parameters, tcp.transport), tcp.parameters)
    nic_settings(cell, group)
    _fair_rates(cell, group)


def _control(cell: Cell, group: FlowGroup) -> NicControl | None:
    """Return the control in NICs; a base round trip that is not stated is the network's longest one."""
    part = group.settings.control
    if part is None:
        return None
    usual: dict[str, float] = {}
    if any(parameter.name == BASE_RTT for parameter in CONTROLS[part.name].parameters):
        usual[BASE_RTT] = float(empty_round_trip(cell).round_trip_ns)

    def check(values: Mapping[str, float]) -> None:
        for rate_bps in cell.topology.host_rates_bps:
            try:
                NicControl(part.name, {**usual, **values}).check(rate_bps)
            except ControlError as error:
                raise ConfigError([_problem(part.name, error)]) from error

    check_together(check, part.values, cell.topology)
    return NicControl(part.name, {**usual, **part.values})


def _problem(name: str, error: ControlError) -> Problem:
    """Return a sentence with the place in the plug-in: no value of the experiment is to blame."""
    place = error.place or place_in_plugin(error.__cause__ or error) or _place_of(name)
    got, _, expected = str(error).partition(": expected ")
    if not expected:
        return Problem(place, "", got, "a control that can be made", "correct the line")
    expected, _, value = expected.partition(", got ")
    return Problem(place, got, value, expected, "correct it where it is set")


def _place_of(name: str) -> str:
    prototype = CONTROLS[name].prototype
    assert prototype is not None, f"{name} raised, and is the engine's"
    code = prototype.__init__.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def _reliability(cell: Cell, group: FlowGroup) -> Reliability | None:
    part = group.settings.recovery
    if part is None:
        return None
    all_values = partial(recovery_values, cell, group.transport)
    check_together(lambda values: check_parameters(part.name, all_values(values)), part.values, cell.topology)
    priority = CONTROL_PRIORITY if group.transport.base == "uet" else None
    return Reliability(part.name, all_values(part.values), priority, receiver_control(group))


def _spraying(group: FlowGroup) -> Spraying | None:
    values = group.settings.spraying
    if values is None:
        return None
    check_together(lambda stated: spraying_of(stated).check(), values)
    return spraying_of(values)


def switch_fair_rates(cell: Cell) -> FairRates | None:
    """Return the congestion points in the switches, if a transport requests them."""
    rates = (_fair_rates(cell, group) for group in cell.groups)
    return next((each for each in rates if each is not None), None)


def _fair_rates(cell: Cell, group: FlowGroup) -> FairRates | None:
    stated = group.settings.fair_rates
    if stated is None:
        return None
    rates_bps = {link.rate_bps for link in cell.topology.links()}

    def check(values: Mapping[str, float]) -> None:
        for rate_bps in rates_bps:
            FairRates(values).check(rate_bps)

    check_together(check, stated, cell.topology)
    return FairRates(stated)


def nic_facts(cell: Cell) -> dict[str, Fact]:
    """Return loss recovery, paths, base round trip and plug-in of the last group that has them."""
    facts: dict[str, Fact] = {}
    for group in cell.groups:
        nics = nic_settings(cell, group)
        if nics.reliability is not None:
            facts |= {name: _shown(value) for name, value in nics.reliability.parameters.items()}
        if nics.spraying is not None:
            facts["paths"] = nics.spraying.paths
        if nics.control is not None and BASE_RTT in nics.control.parameters:
            facts[BASE_RTT] = nics.control.parameters[BASE_RTT]
        if group.transport.outside is not None:
            facts["outside_control"] = ", ".join(group.transport.outside)
    return facts


def _shown(value: float) -> Fact:
    return int(value) if value == int(value) else value


Check: TypeAlias = Callable[[Mapping[str, float]], object]
"""Raises SimulationError if values contradict each other."""


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
    """Return the first value without which the others pass, or else the first that is wrong alone."""
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


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The longest path of the empty network, for a full packet and its acknowledgement."""

    round_trip_ns: int
    packets: int
    """How many packets at the hosts' line rate fill the round trip."""
    full_buffer_ns: int | None
    """How long a packet waits at most behind everything that a switch can hold; None: there is no bound."""


def empty_round_trip(cell: Cell) -> RoundTrip:
    """Return the longest round trip; all hosts get the bandwidth-delay product of the fastest one."""
    topology, frames = cell.topology, framing(cell)
    data_bytes = frames.wire_bytes(frames.write_frame_bytes(topology.mtu_bytes, is_first=False))
    ack_bytes = frames.wire_bytes(frames.ack_frame_bytes)
    round_trip_ns = longest_round_trip_ns(topology, data_bytes, ack_bytes)
    rate_bps = topology.host_rate_max_bps
    packet_ns_bps = data_bytes * 8 * 10**9
    return RoundTrip(round_trip_ns, -(-round_trip_ns * rate_bps // packet_ns_bps), _full_buffer_ns(topology))


def _full_buffer_ns(topology: Topology) -> int | None:
    """Return the time to send a full buffer over the slowest link of a switch.

    Packets that wait in NICs are not sent yet.
    """
    waits_ns = [0]
    for switch in topology.switches():
        if switch.is_nic:
            continue
        if switch.buffer_bytes is None:
            return None
        links = topology.links_of[switch.name].values()
        buffers = len(links) if switch.kind == "voq" else 1
        rate_bps = min(link.rate_bps for link in links)
        waits_ns.append(-(-switch.buffer_bytes * buffers * 8 * 10**9 // rate_bps))
    return max(waits_ns)


CAP: Final = "cap_packets"
LOW: Final = "rto_low_ns"
HIGH: Final = "rto_high_ns"
RTO_LOW_NS: Final = 100_000
"""The longest wait of short messages. Source: Mittal et al., SIGCOMM 2018, section 4.1."""
USUAL_RTO_NS: Final = 67_108_864
"""Where a full buffer has no bound: 4.096 us * 2^14, a usual timeout of InfiniBand's NICs."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """The values of a loss recovery that follow from the network."""

    has_cap: bool
    has_short_timeout: bool
    """While few packets are in flight; otherwise there is one timeout, the long one."""


FITTINGS: Final = {
    "irn": Fitting(has_cap=True, has_short_timeout=True),
    "irn-gbn": Fitting(has_cap=True, has_short_timeout=True),
    "go-back-n": Fitting(has_cap=False, has_short_timeout=False),
}
"""The transports that IRN's authors compare. The others have the timeouts of their sources."""


def recovery_values(cell: Cell, transport: TransportName, stated: Mapping[str, float]) -> dict[str, float]:
    """Return the stated parameters of a transport's loss recovery and those that follow from the network.

    Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, sections 3.2 and 4.1.
    """
    given = {**dict(BASES[transport.base].recovery_values), **stated}
    if transport.base == "uet":
        return _fitted_uet(cell, empty_round_trip(cell)) | given
    fitting = FITTINGS.get(transport.recovery or "")
    if fitting is None:
        return given
    loses = _has_losses(cell) or not transport.has_pauses
    return _fitted(given, fitting, empty_round_trip(cell), loses=loses)


def _fitted(given: dict[str, float], fitting: Fitting, path: RoundTrip, *, loses: bool) -> dict[str, float]:
    """Return the given values, and those that follow from them and from the network.

    Without losses there are no timeouts unless one is given.
    """
    fitted = {CAP: float(path.packets)} if fitting.has_cap else {}
    if not loses and not {LOW, HIGH} & set(given):
        return fitted | {LOW: 0.0} | given
    high_ns = given.get(HIGH, max(_long_timeout_ns(path), given.get(LOW, 0.0)))
    if not fitting.has_short_timeout:
        single_ns = given.get(HIGH, given.get(LOW, high_ns))
        return fitted | {LOW: single_ns, HIGH: single_ns} | given
    low_ns = RTO_LOW_NS if path.round_trip_ns < RTO_LOW_NS <= high_ns else high_ns
    return fitted | {LOW: float(low_ns), HIGH: high_ns} | given


def _has_losses(cell: Cell) -> bool:
    """True if the experiment makes links or watchdogs drop what flow control would keep."""
    network = cell.network
    is_lossy = network.losses or network.outages
    return bool(is_lossy) or cell.topology.pause_watchdog_ns is not None


def _long_timeout_ns(path: RoundTrip) -> float:
    return USUAL_RTO_NS if path.full_buffer_ns is None else path.round_trip_ns + path.full_buffer_ns


TARGET_OF_ROUND_TRIP: Final = 0.75
"""With trimming; without it windows aim at a whole round trip. Source: uet-htsim, `initNsccParams`."""
TIMEOUT_NS: Final = 15_000
TIMEOUT_QUEUES: Final = 6
"""With trimming: 15 us and as long as six full queues take. Source: uet-htsim, datacenter/main_uec.cpp."""


def _fitted_uet(cell: Cell, path: RoundTrip) -> dict[str, float]:
    """Return UET's values; without trimming its timeout is the long one of other transports."""
    topology, round_trip_ns = cell.topology, float(path.round_trip_ns)
    rate_bps = topology.host_rate_max_bps
    queue_bytes = topology.trim_above_bytes
    target, timeout_ns = 1.0, _long_timeout_ns(path)
    if queue_bytes is not None:
        target = TARGET_OF_ROUND_TRIP
        timeout_ns = float(TIMEOUT_NS + -(-TIMEOUT_QUEUES * queue_bytes * 8 * 10**9 // rate_bps))
    return {
        "base_rtt_ns": round_trip_ns,
        "line_rate_bps": float(rate_bps),
        "header_bytes": float(framing(cell).data_overhead_bytes),
        "target_delay_ns": float(int(round_trip_ns * target)),
        "rto_ns": max(timeout_ns, round_trip_ns),
    }
