"""A control of NICs in C++, from a file outside this tree: compiled once, loaded, and known by its name."""

import ctypes
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.source import PluginSource
from rogue.harness.testbeds.simulator.compiler import INTERFACE
from rogue.harness.testbeds.simulator.control_cache import library_of
from rogue.harness.testbeds.simulator.plugins import register_compiled_control
from rogue.simulator import CompiledKind, ControlError

ENTRY: Final = "rogue_nic_control"


def register_header(source: PluginSource) -> None:
    """Compile, load and register; a ConfigError names the wrong line, or what this computer misses."""
    register_compiled_control(_kind(library_of(source.text, source.file), source.file))


def _kind(library: Path, file: str) -> CompiledKind:
    """What a library has; it stays loaded until the process ends."""
    expected = f"a header that ends with ROGUE_NIC_CONTROL of {INTERFACE}"
    try:
        entry = getattr(ctypes.CDLL(str(library)), ENTRY)
        entry.restype = ctypes.c_void_p
        return CompiledKind(entry(), file)
    except AttributeError as error:
        raise ConfigError([Problem(file, "", "no control", expected, "add that line")]) from error
    except ControlError as error:
        raise ConfigError(
            [Problem(file, "", f"a control that {error}", expected, "correct that line")]
        ) from error
    except OSError as error:  # it needs a library that is not there
        raise ConfigError([Problem(file, "", str(error), expected, f"or remove {library}")]) from error
