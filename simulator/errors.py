"""What can go wrong in a simulation, by whose fault it is."""


class SimulationError(ValueError):
    """A parameter makes no sense; the message says what, where, got and expected."""

    @property
    def expected(self) -> str:
        """Return what the message says after that word; all of it if it does not say it."""
        return str(self).partition("expected ")[2] or str(self)


class QueuePairError(RuntimeError):
    """A verb was posted on a queue pair that cannot take it."""


class InvariantViolation(AssertionError):  # noqa: N818 - the name says it all
    """The engine contradicts itself: a bug of ours. The message names the time and the element."""
