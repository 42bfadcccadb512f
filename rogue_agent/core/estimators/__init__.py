"""RTT estimators by name: a new one is a file here and a line in the registry."""

from rogue_agent.core.estimators.base import RttEstimator
from rogue_agent.core.estimators.drained import Drained
from rogue_agent.core.estimators.literal import Literal

__all__ = ["ESTIMATORS", "RttEstimator"]

ESTIMATORS: dict[str, type[RttEstimator]] = {
    "drained": Drained,
    "literal": Literal,
}
