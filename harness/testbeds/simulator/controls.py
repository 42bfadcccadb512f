"""Congestion controls in the NICs: which one a transport asks for, and with which of its parameters."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup
from rogue.harness.cell.marking import requested_marking
from rogue.harness.cell.transport import (
    ParameterError,
    ParameterMistake,
    agent_settings,
    as_written,
    first_mistake,
    values_of,
)
from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment.choices import Scalar
from rogue.harness.plugins.loading import place_in_plugin
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.simulator.features import (
    FEATURES,
    agent_transport,
    features_of,
)
from rogue.harness.testbeds.simulator.reliability import (
    nic_reliability,
    nic_spraying,
    refuse_retries,
    reliability_parameters,
    spraying_parameters,
)
from rogue.harness.testbeds.simulator.round_trip import empty_round_trip
from rogue.harness.testbeds.simulator.tcp import TCPS, tcp_settings
from rogue.harness.testbeds.simulator.values import check_together
from rogue.simulator import CONTROLS, FAIR_RATE_PARAMETERS, ControlError, FairRates, NicControl

BASE_RTT: Final = "base_rtt_ns"
VARIANT: Final = "variant"
"""A parameter beside the control's own: whose reading of it, as in `variant: ns3-rdma`."""


def nic_control(cell: Cell, carrier: FlowGroup) -> NicControl | None:
    """The congestion control of the NICs, if the transport asks for one; ParameterError if it cannot be.

    A base round trip that nobody states is the network's longest one.
    """
    name = control_name(carrier)
    if name is None:
        return None
    table = CONTROLS[name].parameters
    usual: dict[str, float] = {}
    if any(parameter.name == BASE_RTT for parameter in table):
        usual[BASE_RTT] = float(empty_round_trip(cell).round_trip_ns)
    rates_bps = {cell.topology.host_rate_bps(host) for host in cell.topology.host_names()}

    def check(values: Mapping[str, float]) -> None:
        for rate_bps in rates_bps:
            try:
                NicControl(name, {**usual, **values}).check(rate_bps)
            except ControlError as error:
                raise ConfigError([_problem(name, error)]) from error

    stated = values_of(table, carrier.parameters)
    check_together(check, stated, cell.topology)
    return NicControl(name, {**usual, **stated})


def _problem(name: str, error: ControlError) -> Problem:
    """A sentence with the place in the plug-in: no value of the experiment is to blame."""
    place = error.place or place_in_plugin(error.__cause__ or error) or _place_of(name)
    got, _, expected = str(error).partition(": expected ")
    if not expected:
        return Problem(place, "", got, "a control that can be made", "correct the line")
    expected, _, value = expected.partition(", got ")
    return Problem(place, got, value, expected, "correct it where it is set")


def _place_of(name: str) -> str:
    """Where a prototype is made."""
    prototype = CONTROLS[name].prototype
    assert prototype is not None, f"{name} raised, and is the engine's"
    code = prototype.__init__.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def control_facts(cell: Cell) -> dict[str, Fact]:
    """The base round trip that the cell's controls go by, where one does, and which one is a plug-in's."""
    facts: dict[str, Fact] = {}
    for group in cell.groups:
        control = nic_control(cell, group)
        if control is not None and BASE_RTT in control.parameters:
            facts[BASE_RTT] = control.parameters[BASE_RTT]
        if group.transport.outside is not None:
            facts["outside_control"] = ", ".join(group.transport.outside)
    return facts


def switch_fair_rates(cell: Cell) -> FairRates | None:
    """The congestion points in the switches, if a transport asks for them."""
    rates = (_fair_rates_of(cell, group) for group in cell.groups)
    return next((each for each in rates if each is not None), None)


def _fair_rates_of(cell: Cell, carrier: FlowGroup) -> FairRates | None:
    features = features_of(carrier.transport)
    if not any(feature.has_fair_rates for feature in features):
        return None
    rates_bps = {link.rate_bps for link in cell.topology.links()}

    def check(values: Mapping[str, float]) -> None:
        for rate_bps in rates_bps:
            FairRates(values).check(rate_bps)

    stated = values_of(FAIR_RATE_PARAMETERS, carrier.parameters)
    check_together(check, stated, cell.topology)
    return FairRates(stated)


def control_name(carrier: FlowGroup) -> str | None:
    """Name of that control in the simulator, with its variant."""
    features = features_of(carrier.transport)
    control = next((feature.control for feature in features if feature.control), None)
    if control is None or VARIANT not in carrier.parameters:
        return control
    others = {feature.control for feature in FEATURES.values()}
    known = {
        name.removeprefix(f"{control}-"): name
        for name in CONTROLS
        if name.startswith(f"{control}-") and name not in others
    }
    if carrier.parameters[VARIANT] not in known:
        expected = f"one of the variants {', '.join(known)}" if known else f"no variant of {control}"
        raise ParameterError(ParameterMistake(VARIANT, expected, "leave it out for the text of its authors"))
    return known[str(carrier.parameters[VARIANT])]


def agent_parameters(carrier: FlowGroup) -> dict[str, Scalar]:
    """The other parameters: the agent's."""
    own = own_names(carrier)
    return {key: value for key, value in carrier.parameters.items() if key not in own}


def own_names(carrier: FlowGroup) -> tuple[str, ...]:
    """Parameters that NICs and switches take, as an experiment file has them."""
    features = features_of(carrier.transport)
    switches_own = (parameter for feature in features for parameter in feature.switch_parameters)
    names = (
        *reliability_parameters(carrier.transport),
        *spraying_parameters(carrier.transport),
        *(as_written(parameter.name) for parameter in switches_own),
    )
    name = control_name(carrier)
    if name is None:
        return names
    return (*names, *(as_written(parameter.name) for parameter in CONTROLS[name].parameters), VARIANT)


def parameter_mistake(cell: Cell) -> ParameterMistake | None:
    """The first parameter that neither the agent nor NICs and switches take."""
    return first_mistake(cell.groups, cell.transport.parameters, partial(_check_group, cell))


def _check_group(cell: Cell, group: FlowGroup) -> None:
    """ParameterError names a parameter that neither the agent nor TCP, NICs and switches take."""
    topology, base = cell.topology, agent_transport(group.transport)
    if base in TCPS:
        tcp_settings(base, group.parameters)
    nic_control(cell, group)
    nic_spraying(group)
    if nic_reliability(cell, group) is not None:
        refuse_retries(group)
    requested_marking(topology, group)
    if base in TRANSPORTS:
        line_rate_bps = topology.host_rate_bps(topology.host_names()[0])
        settings = agent_settings(base, line_rate_bps, agent_parameters(group), own_names(group))
        if settings.service == "uc" and settings.estimator and ESTIMATORS[settings.estimator].is_oracle:
            expected = "one that goes by what verbs tell: NICs forget when a verb of a UC left"
            raise ParameterError(ParameterMistake("estimator", expected, "choose another estimator"))
    _fair_rates_of(cell, group)
