"""Files of other simulators: all formats are plug-ins, and those that ship are loaded on demand."""

from collections.abc import Callable, Mapping
from typing import Final

from rogue.harness.data.formats.format import Format
from rogue.harness.data.network import read_network
from rogue.harness.data.source import DataSource
from rogue.harness.data.trace import read_trace
from rogue.harness.plugins.on_demand import OnDemand

FORMATS: Final[OnDemand[Format]] = OnDemand("formats")
OURS: Final[Mapping[str, Callable[[DataSource], object]]] = {"trace": read_trace, "network": read_network}
"""What a format may become, and who reads it."""

__all__ = ["FORMATS", "OURS", "Format"]
