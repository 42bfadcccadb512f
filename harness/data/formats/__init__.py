"""Formats of other simulators; plug-ins add more."""

from collections.abc import Callable, Mapping
from typing import Final

from rogue.harness.data.formats.format import Format
from rogue.harness.data.formats.hpcc import HPCC_FLOWS, HPCC_TOPOLOGY
from rogue.harness.data.formats.htsim import HTSIM_CM, HTSIM_TOPO
from rogue.harness.data.network import read_network
from rogue.harness.data.source import DataSource
from rogue.harness.data.trace import read_trace

FORMATS: Final[dict[str, Format]] = {
    "hpcc-flows": HPCC_FLOWS,
    "hpcc-topology": HPCC_TOPOLOGY,
    "htsim-cm": HTSIM_CM,
    "htsim-topo": HTSIM_TOPO,
}
OURS: Final[Mapping[str, Callable[[DataSource], object]]] = {"trace": read_trace, "network": read_network}
"""Readers of our files, by the kind that a format becomes."""

__all__ = ["FORMATS", "OURS", "Format"]
