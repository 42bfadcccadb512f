"""What can go wrong with virtual machines, as sentences for the person who started them."""

from rogue.remote.errors import NodeError


class VirtualTestbedError(NodeError):
    """The virtual testbed cannot do what was asked: says what, where and what to do."""


class PrerequisiteError(VirtualTestbedError):
    """The machine lacks a program that the virtual testbed needs."""
