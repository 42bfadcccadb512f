"""Congestion controls by name; a new one is a file here and a line in the registry."""

from rogue.agent.core.cc.base import CongestionControl, CongestionControlParameters, Sample, Segments
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.cc.vegas import VegasParameters

__all__ = ["CONGESTION_CONTROLS", "CongestionControl", "CongestionControlParameters", "Sample", "Segments"]

CONGESTION_CONTROLS: dict[str, type[CongestionControlParameters]] = {
    "fixed": FixedParameters,
    "vegas": VegasParameters,
}
