"""Errors of a simulation, by who is at fault."""


class SimulationError(ValueError):
    """An invalid parameter; the message says what, where, expected and got."""

    def __init__(self, message: str, expected: str | None = None, got: str | None = None) -> None:
        super().__init__(message)
        self.expected = expected
        """Expected value of a parameter of a control or reliability; otherwise None."""
        self.got = got
        """Value that was given instead."""


class ControlError(SimulationError):
    """A plug-in control raised an exception or returned an invalid value."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place
        """Source file of a compiled control, with the line if known; empty for a control in Python."""


class QueuePairError(RuntimeError):
    """A verb was posted on a queue pair that cannot take it."""


class InvariantViolation(AssertionError):  # noqa: N818 - the established name
    """An invariant of the engine does not hold: a bug of ours. The message names the time and the element."""
