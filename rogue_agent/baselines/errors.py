"""What can go wrong with a baseline on a node."""


class BaselineUnavailable(RuntimeError):  # noqa: N818 - a condition of the node, reported as a sentence
    """The node cannot do it: the kernel lacks a congestion control, or the peer cannot be reached."""
