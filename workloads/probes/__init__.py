"""Latency probes that an experiment can name."""

from typing import Final

from workloads.probes.probe import Probe
from workloads.probes.write0 import Write0

PROBES: Final[dict[str, type[Probe]]] = {
    "write0": Write0,
}

__all__ = ["PROBES", "Probe"]
