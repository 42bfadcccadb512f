"""A control of NICs or a part of switches in C++, from outside this tree: compiled once, and loaded."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource
from rogue.harness.testbeds.simulator.compiler import INTERFACE, SWITCH_INTERFACE, interface_of
from rogue.harness.testbeds.simulator.control_cache import library_of
from rogue.harness.testbeds.simulator.plugins import register_compiled_control, register_switch_control
from rogue.simulator import CompiledKind, ControlError, SwitchKind

Kind = TypeVar("Kind")
ENTRIES: Final = {INTERFACE: "rogue_nic_control", SWITCH_INTERFACE: "rogue_switch_control"}


def register_header(source: PluginSource) -> None:
    """Compile, load and register; a ConfigError names the wrong line, or what this computer misses."""
    library = library_of(source.text, source.file)
    if interface_of(source.text) == SWITCH_INTERFACE:
        register_switch_control(_kind(library, source.file, SWITCH_INTERFACE, SwitchKind))
    else:
        register_compiled_control(_kind(library, source.file, INTERFACE, CompiledKind))


def _kind(library: Path, file: str, interface: str, make: Callable[[int, str], Kind]) -> Kind:
    """What a library has; it stays loaded until the process ends."""
    entry_name = ENTRIES[interface]
    expected = f"a header that ends with {entry_name.upper()} of {interface}"
    try:
        entry = getattr(ctypes.CDLL(str(library)), entry_name)
        entry.restype = ctypes.c_void_p
        return make(entry(), file)
    except AttributeError as error:
        raise ConfigError([Problem(file, "", "no control", expected, "add that line")]) from error
    except ControlError as error:
        raise ConfigError(
            [Problem(file, "", f"a control that {error}", expected, "correct that line")]
        ) from error
    except OSError as error:  # it needs a library that is not there
        raise ConfigError([Problem(file, "", str(error), expected, f"or remove {library}")]) from error
