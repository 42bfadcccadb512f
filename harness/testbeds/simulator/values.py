"""Values of the parameters of NICs and switches, as an experiment file has them: with units."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from rogue.harness.cell.mistakes import ParameterError, ParameterMistake
from rogue.harness.cell.parameters import as_written
from rogue.harness.experiment.choices import Scalar
from rogue.simulator import ControlParameter, SimulationError
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

Check: TypeAlias = Callable[[Mapping[str, float]], object]
"""Raises SimulationError if there is something wrong with the values beside each other."""
COUNT_SUFFIXES: Final = ("_packets", "_segments")


def values_of(table: tuple[ControlParameter, ...], parameters: Mapping[str, Scalar]) -> dict[str, float]:
    """The parameters that are in the table, by its names; ParameterError names the first that cannot be."""
    known = {as_written(parameter.name): parameter for parameter in table}
    return {known[key].name: _value(known[key], key, parameters[key]) for key in parameters if key in known}


def check_together(check: Check, stated: Mapping[str, float]) -> None:
    """ParameterError names the stated value that the simulator does not take beside the others."""
    try:
        check(stated)
    except SimulationError as error:
        key = as_written(_culprit(check, stated))
        found = str(error) if error.expected is None else f"{error.expected}, got {error.got}"
        raise ParameterError(ParameterMistake(key, found, "correct the value")) from error


def _culprit(check: Check, stated: Mapping[str, float]) -> str:
    """The first value without which the others pass; if there is none, the first that is wrong alone."""
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
