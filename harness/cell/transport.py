"""Read parameters of transports: their names, units and bounds, and the mistakes in them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Union

from rogue.harness.experiment.choices import Scalar
from rogue.workloads.printable import did_you_mean
from rogue.workloads.units import QUANTITY_OF_SUFFIX, Quantity, UnitError

if TYPE_CHECKING:
    from rogue.simulator import ControlParameter


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
    """A parameter of a transport that cannot be."""

    def __init__(self, mistake: ParameterMistake) -> None:
        super().__init__(mistake)
        self.mistake = mistake


def translated(key: str, value: Scalar, known: tuple[str, ...]) -> tuple[str, Scalar]:
    """Return name and value in base units; ParameterError if the name is unknown or the unit is wrong."""
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if key + suffix in known:
            return key + suffix, _parsed(quantity, key, value)
    if key not in known or as_written(key) != key:
        raise unknown_parameter(key, known)
    return key, value


def _parsed(quantity: Quantity, key: str, value: Scalar) -> int:
    try:
        return quantity.parse(value)
    except UnitError as error:
        raise ParameterError(ParameterMistake(key, error.expected, error.advice)) from error


def unknown_parameter(key: str, known: Iterable[str]) -> ParameterError:
    """Return the error for a key that is none of the known parameters."""
    names = [as_written(name) for name in known]
    expected = f"one of the parameters {', '.join(names)}"
    return ParameterError(ParameterMistake(key, expected, did_you_mean(key, names)))


def as_written(name: str) -> str:
    """Return a parameter's name as an experiment file has it: without its unit."""
    for suffix in QUANTITY_OF_SUFFIX:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


COUNT_SUFFIXES: Final = ("_packets", "_segments", "_nacks", "paths")


@dataclass(frozen=True, slots=True)
class SwitchParameter:
    """A number that an experiment may set of switches; the unit is the end of its name."""

    name: str
    value: float
    minimum: float
    maximum: float
    meaning: str


NumericParameter = Union[SwitchParameter, "ControlParameter"]


def values_of(table: tuple[NumericParameter, ...], parameters: Mapping[str, Scalar]) -> dict[str, float]:
    """Return the parameters that are in the table, by its names; ParameterError names the first bad one."""
    known = {as_written(parameter.name): parameter for parameter in table}
    return {known[key].name: _value(known[key], key, parameters[key]) for key in parameters if key in known}


def _value(parameter: NumericParameter, key: str, value: Scalar) -> float:
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if parameter.name.endswith(suffix):
            return _within(parameter, key, _parsed(quantity, key, value), suffix.replace("_", " "))
    if isinstance(value, str):
        raise ParameterError(ParameterMistake(key, "a number", "write it without quotes and without a unit"))
    is_counted = parameter.name.endswith(COUNT_SUFFIXES) and parameter.minimum == int(parameter.minimum)
    if is_counted and value != int(value):  # a fractional minimum means that fractions are meaningful
        raise ParameterError(ParameterMistake(key, "a whole number", "round it"))
    return _within(parameter, key, value, "")


def _within(parameter: NumericParameter, key: str, value: float, unit: str) -> float:
    if parameter.minimum <= value <= parameter.maximum:
        return float(value)
    expected = f"from {parameter.minimum:g} to {parameter.maximum:.15g}{unit}"
    raise ParameterError(ParameterMistake(key, expected, "correct the value"))


LOAD_BALANCING: Final = "load_balancing"  # of Ultra Ethernet
BALANCERS: Final = ("oblivious", "bitmap", "reps", "mixed")
"""By the numbers of the engine's parameter. Source: uet-htsim, uec_mp.cpp."""
OF_REPS: Final = ("freeze", "explored_paths")
"""Parameters of REPS alone."""
OF_SMARTT: Final = ("fair_gain", "delay_gain")
"""Parameters of SMaRTT's window alone."""
WINDOWS: Final = ("mprdma", "smartt")
"""Windows that replace NSCC."""


def with_numbers(parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the parameters with `load_balancing` as the engine's number; ParameterError for mistakes."""
    _check_together(parameters)
    if LOAD_BALANCING not in parameters:
        return dict(parameters)
    requested = parameters[LOAD_BALANCING]
    if requested not in BALANCERS:
        expected = f"one of {', '.join(BALANCERS)}"
        raise ParameterError(ParameterMistake(LOAD_BALANCING, expected, "choose one of them"))
    return {**parameters, LOAD_BALANCING: BALANCERS.index(str(requested))}


def _check_together(parameters: Mapping[str, Scalar]) -> None:
    """Raise ParameterError for a parameter that has no effect beside the rest."""
    for key in OF_REPS:
        if key in parameters and parameters.get(LOAD_BALANCING) != "reps":
            expected = f"{LOAD_BALANCING}: reps beside it"
            raise ParameterError(ParameterMistake(key, expected, f"state that, or leave {key} out"))
    for key in OF_SMARTT:
        if key in parameters and not parameters.get("smartt"):
            raise ParameterError(
                ParameterMistake(key, "smartt: 1 beside it", f"state that, or leave {key} out")
            )
    windows = [key for key in WINDOWS if parameters.get(key)]
    if windows and parameters.get("nscc") == 0:
        expected = f"1 beside {windows[0]}, which replaces NSCC"
        raise ParameterError(ParameterMistake("nscc", expected, "leave one of them out"))
    if len(windows) > 1:
        expected = "0 beside mprdma: a sender has one window"
        raise ParameterError(ParameterMistake("smartt", expected, "leave one of them out"))
