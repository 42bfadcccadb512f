"""Values of the parameters of NICs and switches, as an experiment file has them: with units."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from harness.experiment.choices import Scalar
from harness.testbeds.base import ParameterMistake
from harness.testbeds.parameters import ParameterError, as_written
from simulator import ControlParameter, SimulationError, check_parameters
from workloads.units import QUANTITY_OF_SUFFIX, UnitError

COUNT_SUFFIXES: Final = ("_packets", "_segments")


def values_of(table: tuple[ControlParameter, ...], parameters: Mapping[str, Scalar]) -> dict[str, float]:
    """The parameters that are in the table, by its names; ParameterError names the first that cannot be."""
    known = {as_written(parameter.name): parameter for parameter in table}
    return {known[key].name: _value(known[key], key, parameters[key]) for key in parameters if key in known}


@contextmanager
def blamed_on(values: Mapping[str, float]) -> Iterator[None]:
    """ParameterError names the value that the simulator does not take beside the others."""
    try:
        yield
    except SimulationError as error:
        words = set(re.findall(r"\w+", str(error)))
        key = next((key for key in values if key in words), "parameters")
        expected = str(error).partition("expected ")[2] or str(error)
        raise ParameterError(ParameterMistake(as_written(key), expected, "correct the value")) from error


def check_values(name: str, values: Mapping[str, float]) -> None:
    """ParameterError names the value that a way to repair losses does not take beside the others."""
    with blamed_on(values):
        check_parameters(name, values)


def _value(parameter: ControlParameter, key: str, value: Scalar) -> float:
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if parameter.name.endswith(suffix):
            try:
                return _within(parameter, key, quantity.parse(value), suffix.replace("_", " "))
            except UnitError as error:
                raise ParameterError(ParameterMistake(key, error.expected, error.advice)) from error
    if isinstance(value, str):
        raise ParameterError(ParameterMistake(key, "a number", "write it without quotes and without a unit"))
    if parameter.name.endswith(COUNT_SUFFIXES) and value != int(value):
        raise ParameterError(ParameterMistake(key, "a whole number", "round it"))
    return _within(parameter, key, value, "")


def _within(parameter: ControlParameter, key: str, value: float, unit: str) -> float:
    if parameter.minimum <= value <= parameter.maximum:
        return float(value)
    expected = f"from {parameter.minimum:g} to {parameter.maximum:g}{unit}"
    raise ParameterError(ParameterMistake(key, expected, "correct the value"))
