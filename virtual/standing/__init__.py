"""Testbeds that stay up between commands: `up`, `status`, `down`, and finding one that is up."""

from rogue.virtual.standing.directory import DEFAULT_NAME, StateDirectory, names, state_directory
from rogue.virtual.standing.lifecycle import StandingTestbed, down, find, up
from rogue.virtual.standing.state import MachineState, machine_states

__all__ = [
    "DEFAULT_NAME",
    "MachineState",
    "StandingTestbed",
    "StateDirectory",
    "down",
    "find",
    "machine_states",
    "names",
    "state_directory",
    "up",
]
