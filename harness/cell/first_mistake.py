"""Every group of a cell is checked, and one parameter is named that cannot be."""

from collections.abc import Callable
from dataclasses import replace

from rogue.harness.cell.carrier import Group
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.mistakes import ParameterError, ParameterMistake


def first_mistake(cell: Cell, check: Callable[[Group], None]) -> ParameterMistake | None:
    """The first ParameterError of a check of every group, with the group if the parameter is its own."""
    for group in cell.groups:
        try:
            check(group)
        except ParameterError as error:
            is_own = group.states(error.mistake.key)
            return replace(error.mistake, group=group.name) if is_own else error.mistake
    if all(group.asked.transport is not None for group in cell.groups):
        return _nobodys(cell)
    return None


def _nobodys(cell: Cell) -> ParameterMistake | None:
    """A parameter of the cell's transport, which no group has."""
    for key in cell.transport.parameters:
        expected = "no parameter of a transport that carries nothing: every group has its own"
        return ParameterMistake(key, expected, "state it in a group's parameters")
    return None
