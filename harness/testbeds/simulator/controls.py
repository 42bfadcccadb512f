"""Congestion controls in the NICs: which one a transport asks for, and with which of its parameters."""

from collections.abc import Mapping
from typing import Final

from harness.experiment.choices import Scalar
from harness.plan.cells import Cell
from harness.testbeds.base import ParameterMistake
from harness.testbeds.parameters import ParameterError, agent_settings
from harness.testbeds.simulator.features import FEATURES, agent_transport, features_of
from harness.testbeds.traffic import group_parameters, group_transport
from rogue_agent.core.transports import TRANSPORTS
from simulator import CONTROLS, FAIR_RATE_PARAMETERS, ControlParameter, FairRates, NicControl
from workloads.transports import parse_transport
from workloads.units import QUANTITY_OF_SUFFIX, UnitError

VARIANT: Final = "variant"
"""A parameter beside the control's own: whose reading of it, as in `variant: ns3-rdma`."""


def nic_control(transport: str, parameters: Mapping[str, Scalar]) -> NicControl | None:
    """The congestion control of the NICs, if the transport asks for one; ParameterError if it cannot be."""
    name = control_name(transport, parameters)
    return None if name is None else NicControl(name, _values(CONTROLS[name].parameters, parameters))


def switch_fair_rates(cell: Cell) -> FairRates | None:
    """The congestion points in the switches, if a transport asks for them."""
    for group in cell.experiment.groups:
        name = group_transport(cell, group)
        if any(feature.has_fair_rates for feature in features_of(parse_transport(name))):
            return FairRates(_values(FAIR_RATE_PARAMETERS, group_parameters(cell, group)))
    return None


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
    name = control_name(transport, parameters)
    if name is None:
        return dict(parameters)
    tables = CONTROLS[name].parameters + (FAIR_RATE_PARAMETERS if name == "rocc" else ())
    own = {VARIANT, *(_as_written(parameter.name) for parameter in tables)}
    return {key: value for key, value in parameters.items() if key not in own}


def parameter_mistake(cell: Cell) -> ParameterMistake | None:
    """The first parameter that neither the agent nor NICs and switches take."""
    topology = cell.experiment.topology
    line_rate_bps = topology.host_rate_bps(topology.host_names()[0])
    try:
        for group in cell.experiment.groups:
            name, parameters = group_transport(cell, group), group_parameters(cell, group)
            nic_control(name, parameters)
            if agent_transport(name) in TRANSPORTS:
                agent_settings(agent_transport(name), line_rate_bps, agent_parameters(name, parameters))
        switch_fair_rates(cell)
    except ParameterError as error:
        return error.mistake
    return None


def _values(table: tuple[ControlParameter, ...], parameters: Mapping[str, Scalar]) -> dict[str, float]:
    known = {_as_written(parameter.name): parameter for parameter in table}
    return {known[key].name: _value(known[key], key, parameters[key]) for key in parameters if key in known}


def _value(parameter: ControlParameter, key: str, value: Scalar) -> float:
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if parameter.name.endswith(suffix):
            try:
                return _within(parameter, key, quantity.parse(value), suffix.replace("_", " "))
            except UnitError as error:
                raise ParameterError(ParameterMistake(key, error.expected, error.advice)) from error
    if isinstance(value, str):
        raise ParameterError(ParameterMistake(key, "a number", "write it without quotes and without a unit"))
    return _within(parameter, key, value, "")


def _within(parameter: ControlParameter, key: str, value: float, unit: str) -> float:
    if parameter.minimum <= value <= parameter.maximum:
        return float(value)
    expected = f"from {parameter.minimum:g} to {parameter.maximum:g}{unit}"
    raise ParameterError(ParameterMistake(key, expected, "correct the value"))


def _as_written(name: str) -> str:
    """The control's name for a parameter, as an experiment file has it."""
    for suffix in QUANTITY_OF_SUFFIX:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name
