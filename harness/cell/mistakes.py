"""Parameters of a cell's transports that cannot be: mistakes in the experiment file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rogue.harness.cell.carrier import Group
from rogue.harness.experiment.choices import Scalar


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
