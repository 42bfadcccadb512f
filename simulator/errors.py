"""What can go wrong in a simulation, by whose fault it is."""


class SimulationError(ValueError):
    """A parameter makes no sense; the message says what, where, got and expected."""

    def __init__(self, message: str, expected: str | None = None, got: str | None = None) -> None:
        super().__init__(message)
        self.expected = expected
        """Of parameters of a control, a TCP or a reliability: what they should be. Otherwise None."""
        self.got = got
        """What they are instead."""


class ControlError(SimulationError):
    """A control from outside raised, or said what makes no sense."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place
        """The file that it was compiled from, with the line if that is known; empty for one in Python."""


class QueuePairError(RuntimeError):
    """A verb was posted on a queue pair that cannot take it."""


class InvariantViolation(AssertionError):  # noqa: N818 - the name says it all
    """The engine contradicts itself: a bug of ours. The message names the time and the element."""
