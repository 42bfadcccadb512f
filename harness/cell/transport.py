"""Translate a transport and its parameters from the experiment file into settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from rogue.agent.core.errors import ContradictionError, SettingsError
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import parameter_names, settings_for
from rogue.harness.cell.demand import Group
from rogue.harness.experiment.choices import Scalar
from rogue.workloads.printable import did_you_mean
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError


@dataclass(frozen=True, slots=True)
class ParameterMistake:
    """A parameter of a transport that cannot be: a mistake in the experiment file."""

    key: str
    """The parameter as the experiment file writes it."""
    expected: str
    advice: str
    group: str | None = None
    """The traffic group whose own parameter it is; None: the cell's transport's."""
    network: str | None = None
    """The links from which a wrong value follows that the experiment file does not state."""


class ParameterError(Exception):
    """A parameter that the agent does not take."""

    def __init__(self, mistake: ParameterMistake) -> None:
        super().__init__(mistake)
        self.mistake = mistake


def first_mistake(
    groups: Sequence[Group], parameters: Mapping[str, Scalar], check: Callable[[Group], None]
) -> ParameterMistake | None:
    """The first ParameterError of a check of every group, with the group if the parameter is its own.

    parameters: of the cell's transport, which carries nothing where every group has a transport of its own.
    """
    for group in groups:
        try:
            check(group)
        except ParameterError as error:
            is_own = group.states(error.mistake.key)
            return replace(error.mistake, group=group.name) if is_own else error.mistake
    if parameters and all(group.asked.transport is not None for group in groups):
        expected = "no parameter of a transport that carries nothing: every group has its own"
        return ParameterMistake(next(iter(parameters)), expected, "state it in a group's parameters")
    return None


CHOICES: Final[dict[str, tuple[Scalar, ...]]] = {
    "completions": ("event", "polling"),
    "record_inputs": (False, True),
}
"""The default comes first.

completions: waited for, or polled without pause, with the NIC's timestamps where it has some.
record_inputs: a log of all that a connection is told, from which its decisions can be replayed.
"""


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """How a flow's ends work on their nodes."""

    completions: Literal["event", "polling"] = "event"
    record_inputs: bool = False


def driver_options(parameters: Mapping[str, Scalar]) -> DriverOptions:
    """The options among a transport's parameters."""
    is_polled = parameters.get("completions") == "polling"
    return DriverOptions("polling" if is_polled else "event", parameters.get("record_inputs") is True)


def without_options(parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters that are the transport's own."""
    return {key: value for key, value in parameters.items() if key not in CHOICES}


def option_mistake(parameters: Mapping[str, Scalar]) -> ParameterMistake | None:
    """The first option with a value that it does not take."""
    for key, values in CHOICES.items():
        value = parameters.get(key, values[0])
        if not any(value is each or (isinstance(each, str) and value == each) for each in values):
            shown = " or ".join(str(each).lower() for each in values)
            return ParameterMistake(key, shown, "choose one of them")
    return None


def agent_settings(
    name: str, line_rate_bps: int, parameters: Mapping[str, Scalar], others: tuple[str, ...] = ()
) -> TransportSettings:
    """Settings of a transport; ParameterError names the first parameter that does not fit.

    A parameter has its unit in the value, not in the key: `base_rtt_floor: 25us` is the agent's
    `base_rtt_floor_ns`. The error also names `others`, which somebody else takes.
    """
    try:
        return settings_for(name, line_rate_bps, agent_overrides(name, line_rate_bps, parameters, others))
    except ContradictionError as error:
        raise ParameterError(_contradiction(error, parameters)) from error
    except SettingsError as error:
        key = as_written(error.key)
        raise ParameterError(ParameterMistake(key, error.expected, "correct the value")) from error


def _contradiction(error: ContradictionError, parameters: Mapping[str, Scalar]) -> ParameterMistake:
    """Blames the one of two parameters that the file states."""
    key, bound_key = as_written(error.key), as_written(error.bound_key)
    if key in parameters:
        expected = f"up to {bound_key}, {_with_unit(error.bound_key, error.bound)}"
        return ParameterMistake(key, expected, f"lower it, or raise {bound_key}")
    expected = f"at least {key}, {_with_unit(error.key, error.got)}"
    return ParameterMistake(bound_key, expected, f"raise it, or lower {key}")


def _with_unit(name: str, value: object) -> str:
    return f"{value:.15g}{name.removeprefix(as_written(name)).replace('_', ' ')}"


def agent_overrides(
    name: str, line_rate_bps: int, parameters: Mapping[str, Scalar], others: tuple[str, ...] = ()
) -> dict[str, Scalar]:
    """The same parameters by the agent's own names, in base units; without options of its driver."""
    own = without_options(parameters)
    choosing: dict[str, Scalar] = {key: own[key] for key in ("cc", "estimator") if key in own}
    known = (*others, *parameter_names(settings_for(name, line_rate_bps, choosing)))
    rest = {key: value for key, value in own.items() if key not in choosing}
    return {**choosing, **dict(translated(key, value, known) for key, value in rest.items())}


def translated(key: str, value: Scalar, known: tuple[str, ...]) -> tuple[str, Scalar]:
    """Name and value as the agent wants them."""
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if key + suffix in known:
            try:
                return key + suffix, quantity.parse(value)
            except UnitError as error:
                raise ParameterError(ParameterMistake(key, error.expected, error.advice)) from error
    if key not in known or as_written(key) != key:
        names = [as_written(name) for name in known]
        expected = f"one of the parameters {', '.join(names)}"
        raise ParameterError(ParameterMistake(key, expected, did_you_mean(key, names)))
    return key, value


def as_written(name: str) -> str:
    """The agent's name for a parameter, as an experiment file has it."""
    for suffix in QUANTITY_OF_SUFFIX:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


COUNT_SUFFIXES: Final = ("_packets", "_segments", "_nacks", "paths")


class NumericParameter(Protocol):
    """A number that an experiment may set; the unit is the end of its name."""

    @property
    def name(self) -> str:
        """Return the name, which ends with the unit."""

    @property
    def value(self) -> float:
        """Return the default value."""

    @property
    def minimum(self) -> float:
        """Return the smallest permitted value."""

    @property
    def maximum(self) -> float:
        """Return the largest permitted value."""

    @property
    def meaning(self) -> str:
        """Return the meaning in a few words."""


@dataclass(frozen=True, slots=True)
class SwitchParameter:
    """A number that an experiment may set of switches."""

    name: str
    value: float
    minimum: float
    maximum: float
    meaning: str


def values_of(table: tuple[NumericParameter, ...], parameters: Mapping[str, Scalar]) -> dict[str, float]:
    """The parameters that are in the table, by its names; ParameterError names the first that cannot be."""
    known = {as_written(parameter.name): parameter for parameter in table}
    return {known[key].name: _value(known[key], key, parameters[key]) for key in parameters if key in known}


def _value(parameter: NumericParameter, key: str, value: Scalar) -> float:
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if parameter.name.endswith(suffix):
            try:
                return _within(parameter, key, quantity.parse(value), suffix.replace("_", " "))
            except UnitError as error:
                raise ParameterError(ParameterMistake(key, error.expected, error.advice)) from error
    if isinstance(value, str):
        raise ParameterError(ParameterMistake(key, "a number", "write it without quotes and without a unit"))
    is_counted = parameter.name.endswith(COUNT_SUFFIXES) and parameter.minimum == int(parameter.minimum)
    if is_counted and value != int(value):  # a least part of a packet says that parts mean something
        raise ParameterError(ParameterMistake(key, "a whole number", "round it"))
    return _within(parameter, key, value, "")


def _within(parameter: NumericParameter, key: str, value: float, unit: str) -> float:
    if parameter.minimum <= value <= parameter.maximum:
        return float(value)
    expected = f"from {parameter.minimum:g} to {parameter.maximum:g}{unit}"
    raise ParameterError(ParameterMistake(key, expected, "correct the value"))
