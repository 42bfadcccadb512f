"""Files of other simulators. Each format is one file and one line here."""

from typing import Final

from rogue.harness.data.formats.format import Format
from rogue.harness.data.formats.hpcc_flows import HPCC_FLOWS
from rogue.harness.data.formats.hpcc_topology import HPCC_TOPOLOGY
from rogue.harness.data.formats.htsim_cm import HTSIM_CM
from rogue.harness.data.formats.htsim_topo import HTSIM_TOPO

FORMATS: Final[dict[str, Format]] = {
    "hpcc-flows": HPCC_FLOWS,
    "hpcc-topology": HPCC_TOPOLOGY,
    "htsim-cm": HTSIM_CM,
    "htsim-topo": HTSIM_TOPO,
}

__all__ = ["FORMATS", "Format"]
