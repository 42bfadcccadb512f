"""Plug-ins that were packed into the agent's archive, beside the agent."""

from importlib import import_module
from importlib.util import find_spec

PACKAGE = "rogue_plugins"


def import_plugins() -> None:
    """Import them, if there are any: each registers what it has."""
    if find_spec(PACKAGE) is not None:
        import_module(PACKAGE)
