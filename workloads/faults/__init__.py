"""Faults that an experiment can name."""

from typing import Final

from workloads.faults.fault import Fault
from workloads.faults.link_cut import LinkCut
from workloads.faults.loss import Loss
from workloads.faults.misrouting import Flooding, Misrouting
from workloads.faults.pause_storm import PauseStorm
from workloads.faults.slow_receiver import SlowReceiver

FAULTS: Final[dict[str, type[Fault]]] = {
    "link_cut": LinkCut,
    "loss": Loss,
    "pause_storm": PauseStorm,
    "slow_receiver": SlowReceiver,
    "misrouting": Misrouting,
    "flooding": Flooding,
}

__all__ = ["FAULTS", "Fault", "Flooding", "LinkCut", "Loss", "Misrouting", "PauseStorm", "SlowReceiver"]
