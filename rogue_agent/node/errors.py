"""Errors of the control conversation."""

from enum import Enum, unique


@unique
class ErrorKind(Enum):
    """Whose fault an error reply is."""

    PROTOCOL = "protocol"  # the other side sent something that is no message, or not now
    CONFIGURATION = "configuration"  # the experiment asks for something that does not exist
    VERBS = "verbs"  # the node or its NIC cannot do it
    OUT_OF_SPACE = "out_of_space"  # the node's disk, or its memory for files, is full
    TIMEOUT = "timeout"  # a data process did not reply in time
    BUG = "bug"  # the agent failed in a way that nobody foresaw


class MessageError(ValueError):
    """Bytes that are not a message: says what was wrong and what was expected."""


class AgentError(RuntimeError):
    """The agent replied with an error, or stopped replying."""

    def __init__(self, kind: ErrorKind, message: str, role: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.role = role
