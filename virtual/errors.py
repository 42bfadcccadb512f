"""Errors of virtual machines and kernels; messages are for the user."""

from rogue.remote.errors import NodeError


class VirtualTestbedError(NodeError):
    """The virtual testbed cannot do the requested; the message says what, where and what to do."""


class PrerequisiteError(VirtualTestbedError):
    """The machine lacks a program that the virtual testbed needs."""
