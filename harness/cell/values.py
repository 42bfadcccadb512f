"""Values of the parameters of NICs and switches, as an experiment file has them: with units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from rogue.harness.cell.mistakes import ParameterError, ParameterMistake
from rogue.harness.cell.parameters import as_written
from rogue.harness.experiment.choices import Scalar
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

COUNT_SUFFIXES: Final = ("_packets", "_segments", "_nacks", "paths")


class NumericParameter(Protocol):
    """A number that an experiment may set; the unit is the end of its name."""

    @property
    def name(self) -> str:
        """With its unit."""

    @property
    def value(self) -> float:
        """By default."""

    @property
    def minimum(self) -> float:
        """The smallest that can be."""

    @property
    def maximum(self) -> float:
        """The largest that can be."""

    @property
    def meaning(self) -> str:
        """In a few words."""


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
