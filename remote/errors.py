"""Errors of nodes and machines."""


class NodeError(Exception):
    """A node or machine failed; the message says which one, what happened and what to do."""


class RejectedError(NodeError):
    """A machine rejected a command; the connection stays open."""
