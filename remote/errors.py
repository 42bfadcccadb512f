"""What can go wrong with nodes and machines."""


class NodeError(Exception):
    """Machines or nodes of a testbed do not do what was asked: says which, what happened and what to do."""


class RejectedError(NodeError):
    """A machine does not do what a command says, and says so; the connection goes on."""
