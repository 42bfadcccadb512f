"""Parameters of a cell's transports that cannot be: mistakes in the experiment file."""

from dataclasses import dataclass


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
