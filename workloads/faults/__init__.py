"""Faults that an experiment can name."""

from typing import Final

from workloads.faults.fault import Fault
from workloads.faults.link_cut import LinkCut
from workloads.faults.loss import Loss

FAULTS: Final[dict[str, type[Fault]]] = {
    "link_cut": LinkCut,
    "loss": Loss,
}

__all__ = ["FAULTS", "Fault", "LinkCut", "Loss"]
