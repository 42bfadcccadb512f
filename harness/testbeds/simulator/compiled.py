"""A control of NICs or receivers or a part of switches in C++, from outside: compiled once, and loaded."""

import ctypes
from collections.abc import Callable
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource
from rogue.harness.testbeds.simulator.compiler import (
    INTERFACE,
    RECEIVER_INTERFACE,
    SWITCH_INTERFACE,
    interface_of,
)
from rogue.harness.testbeds.simulator.control_cache import library_of
from rogue.harness.testbeds.simulator.plugins import (
    register_compiled_control,
    register_receiver_control,
    register_switch_control,
)
from rogue.simulator import CompiledKind, ControlError, ReceiverKind, SwitchKind

ENTRIES: Final = {
    INTERFACE: "rogue_nic_control",
    SWITCH_INTERFACE: "rogue_switch_control",
    RECEIVER_INTERFACE: "rogue_receiver_control",
}
TAKEN_IN: Final[dict[str, Callable[[int, str], None]]] = {
    INTERFACE: lambda table, file: register_compiled_control(CompiledKind(table, file)),
    SWITCH_INTERFACE: lambda table, file: register_switch_control(SwitchKind(table, file)),
    RECEIVER_INTERFACE: lambda table, file: register_receiver_control(ReceiverKind(table, file)),
}


def register_header(source: PluginSource) -> None:
    """Compile, load and register; a ConfigError names the wrong line, or what this computer misses.

    What was loaded stays until the process ends.
    """
    file, path = source.file, library_of(source.text, source.file)
    expected = _expected(interface_of(source.text))
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:  # it needs a library that is not there
        raise ConfigError([Problem(file, "", str(error), expected, f"or remove {path}")]) from error
    found = [each for each, name in ENTRIES.items() if hasattr(library, name)]
    if not found:
        raise ConfigError([Problem(file, "", "no control", expected, "add that line")])
    if len(found) > 1:
        got = " and ".join(ENTRIES[each].upper() for each in found)
        raise ConfigError([Problem(file, "", got, "one control in a file", "make two files of it")])
    [interface] = found
    entry = getattr(library, ENTRIES[interface])
    entry.restype = ctypes.c_void_p
    try:
        TAKEN_IN[interface](entry(), file)
    except ControlError as error:
        got = f"a control that {error}"
        raise ConfigError([Problem(file, "", got, _expected(interface), "correct that line")]) from error


def _expected(interface: str) -> str:
    return f"a header that ends with {ENTRIES[interface].upper()} of {interface}"
