"""Parameters of a cell's transports that cannot be: mistakes in the experiment file."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rogue.harness.cell.carrier import Group

if TYPE_CHECKING:
    from rogue.harness.cell.cell import Cell


@dataclass(frozen=True, slots=True)
class ParameterMistake:
    """A parameter of a transport that cannot be: a mistake in the experiment file."""

    key: str
    """The parameter as the experiment file writes it."""
    expected: str
    advice: str
    group: str | None = None
    """The traffic group whose own parameter it is; None: the cell's transport's."""


class ParameterError(Exception):
    """A parameter that the agent does not take."""

    def __init__(self, mistake: ParameterMistake) -> None:
        super().__init__(mistake)
        self.mistake = mistake


def first_mistake(cell: "Cell", check: Callable[[Group], None]) -> ParameterMistake | None:
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


def _nobodys(cell: "Cell") -> ParameterMistake | None:
    """A parameter of the cell's transport, which no group has."""
    for key in cell.transport.parameters:
        expected = "no parameter of a transport that carries nothing: every group has its own"
        return ParameterMistake(key, expected, "state it in a group's parameters")
    return None
