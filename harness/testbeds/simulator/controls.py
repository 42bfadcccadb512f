"""Congestion controls in the NICs: which one a transport asks for, and with which of its parameters."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from harness.experiment.choices import Scalar, TrafficGroup
from harness.plan.cells import Cell
from harness.testbeds.base import Fact, ParameterMistake
from harness.testbeds.parameters import ParameterError, agent_settings, as_written
from harness.testbeds.simulator.features import (
    FEATURES,
    MARKING_PARAMETERS,
    agent_transport,
    features_of,
    group_marking,
)
from harness.testbeds.simulator.reliability import (
    nic_reliability,
    refuse_retries,
    reliability_parameters,
)
from harness.testbeds.simulator.round_trip import empty_round_trip
from harness.testbeds.simulator.tcp import TCPS, tcp_settings
from harness.testbeds.simulator.values import blamed_on, values_of
from harness.testbeds.traffic import group_parameters, group_transport
from rogue_agent.core.estimators import ESTIMATORS
from rogue_agent.core.transports import TRANSPORTS
from simulator import CONTROLS, FAIR_RATE_PARAMETERS, FairRates, NicControl
from workloads.transports import parse_transport

BASE_RTT: Final = "base_rtt_ns"
VARIANT: Final = "variant"
"""A parameter beside the control's own: whose reading of it, as in `variant: ns3-rdma`."""


def nic_control(cell: Cell, transport: str, parameters: Mapping[str, Scalar]) -> NicControl | None:
    """The congestion control of the NICs, if the transport asks for one; ParameterError if it cannot be.

    A base round trip that nobody states is the network's longest one.
    """
    name = control_name(transport, parameters)
    if name is None:
        return None
    table = CONTROLS[name].parameters
    stated = values_of(table, parameters)
    values = dict(stated)
    if BASE_RTT not in values and any(parameter.name == BASE_RTT for parameter in table):
        values[BASE_RTT] = float(empty_round_trip(cell).round_trip_ns)
    control, topology = NicControl(name, values), cell.experiment.topology
    with blamed_on(stated):
        for rate_bps in {topology.host_rate_bps(host) for host in topology.host_names()}:
            control.check(rate_bps)
    return control


def control_facts(cell: Cell) -> dict[str, Fact]:
    """The base round trip that the cell's controls go by, where one does."""
    facts: dict[str, Fact] = {}
    for group in cell.experiment.groups:
        control = nic_control(cell, group_transport(cell, group), group_parameters(cell, group))
        if control is not None and BASE_RTT in control.parameters:
            facts[BASE_RTT] = control.parameters[BASE_RTT]
    return facts


def switch_fair_rates(cell: Cell) -> FairRates | None:
    """The congestion points in the switches, if a transport asks for them."""
    rates = (_fair_rates_of(cell, group) for group in cell.experiment.groups)
    return next((each for each in rates if each is not None), None)


def _fair_rates_of(cell: Cell, group: TrafficGroup) -> FairRates | None:
    features = features_of(parse_transport(group_transport(cell, group)))
    if not any(feature.has_fair_rates for feature in features):
        return None
    fair_rates = FairRates(values_of(FAIR_RATE_PARAMETERS, group_parameters(cell, group)))
    with blamed_on(fair_rates.parameters):
        for rate_bps in {link.rate_bps for link in cell.experiment.topology.links()}:
            fair_rates.check(rate_bps)
    return fair_rates


def control_name(transport: str, parameters: Mapping[str, Scalar]) -> str | None:
    """Name of that control in the simulator, with its variant."""
    features = features_of(parse_transport(transport))
    control = next((feature.control for feature in features if feature.control), None)
    if control is None or VARIANT not in parameters:
        return control
    others = {feature.control for feature in FEATURES.values()}
    known = {
        name.removeprefix(f"{control}-"): name
        for name in CONTROLS
        if name.startswith(f"{control}-") and name not in others
    }
    if parameters[VARIANT] not in known:
        expected = f"one of the variants {', '.join(known)}" if known else f"no variant of {control}"
        raise ParameterError(ParameterMistake(VARIANT, expected, "leave it out for the text of its authors"))
    return known[str(parameters[VARIANT])]


def agent_parameters(transport: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The other parameters: the agent's."""
    own = own_names(transport, parameters)
    return {key: value for key, value in parameters.items() if key not in own}


def own_names(transport: str, parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Parameters that NICs and switches take, as an experiment file has them."""
    names = reliability_parameters(transport)
    name = control_name(transport, parameters)
    if name is None:
        return names
    tables = CONTROLS[name].parameters + (FAIR_RATE_PARAMETERS if name == "rocc" else ())
    if any(feature.marking for feature in features_of(parse_transport(transport))):
        names = (*names, *(as_written(parameter.name) for parameter in MARKING_PARAMETERS))
    return (*names, *(as_written(parameter.name) for parameter in tables), VARIANT)


def parameter_mistake(cell: Cell) -> ParameterMistake | None:
    """The first parameter that neither the agent nor NICs and switches take."""
    for group in cell.experiment.groups:
        try:
            _check_group(cell, group)
        except ParameterError as error:
            is_own = group.transport is not None or error.mistake.key in group.parameters
            return replace(error.mistake, group=group.name) if is_own else error.mistake
    return None


def _check_group(cell: Cell, group: TrafficGroup) -> None:
    """ParameterError names a parameter that neither the agent nor TCP, NICs and switches take."""
    topology = cell.experiment.topology
    name, parameters = group_transport(cell, group), group_parameters(cell, group)
    base = agent_transport(name)
    if base in TCPS:
        tcp_settings(base, parameters)
    nic_control(cell, name, parameters)
    if nic_reliability(cell, name, parameters) is not None:
        refuse_retries(parameters)
    group_marking(cell, group)
    if base in TRANSPORTS:
        line_rate_bps = topology.host_rate_bps(topology.host_names()[0])
        agents_own = agent_parameters(name, parameters)
        settings = agent_settings(base, line_rate_bps, agents_own, own_names(name, parameters))
        if settings.service == "uc" and settings.estimator and ESTIMATORS[settings.estimator].is_oracle:
            expected = "one that goes by what verbs tell: NICs forget when a verb of a UC left"
            raise ParameterError(ParameterMistake("estimator", expected, "choose another estimator"))
    _fair_rates_of(cell, group)
