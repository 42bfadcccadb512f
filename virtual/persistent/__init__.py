"""Testbeds that stay up between commands: `up`, `status`, `down`, and finding one that is up."""

from rogue.virtual.persistent.directory import DEFAULT_NAME, StateDirectory, names, state_directory
from rogue.virtual.persistent.lifecycle import (
    MachineState,
    PersistentTestbed,
    down,
    find,
    machine_states,
    up,
)

__all__ = [
    "DEFAULT_NAME",
    "MachineState",
    "PersistentTestbed",
    "StateDirectory",
    "down",
    "find",
    "machine_states",
    "names",
    "state_directory",
    "up",
]
