"""Errors of the core, split by whose fault they are."""


class SettingsError(ValueError):
    """A transport or parameter that does not exist, or a value out of range."""

    def __init__(self, key: str, got: object, expected: str) -> None:
        super().__init__(f"{key}: got {got!r}, expected {expected}")
        self.key = key
        self.got = got
        self.expected = expected


class ContradictionError(SettingsError):
    """The first of two parameters is larger than the second, which is its bound."""

    def __init__(self, key: str, got: float, bound_key: str, bound: float) -> None:
        super().__init__(key, got, f"up to {bound_key}, {bound:.15g}")
        self.bound_key = bound_key
        self.bound = bound


class NicError(RuntimeError):
    """The NIC, or its driver, reported an event that verbs do not allow on a queue pair."""

    def __init__(self, qp_num: int, problem: str) -> None:
        super().__init__(f"queue pair {qp_num}: {problem}")
        self.qp_num = qp_num
        self.problem = problem


class PeerError(RuntimeError):
    """An invalid message of the other end, which is dropped."""


class LimiterError(RuntimeError):
    """A rate limiter of the node, or its driver, does not do what it was found to be able to do."""


class PostRefused(Exception):  # noqa: N818 - an outcome that the core handles, not a programming error
    """Raised by a driver's `post_send` if the queue pair does not accept the verb."""
