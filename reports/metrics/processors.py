"""Processor time at both ends of the flows, as a share of one core.

All processes of a host count: the agent, the kernel, and dool, which records. Source of the measure: RoGUE
(SoCC 2018), section 5.1, which runs `dstat` at client and server.
"""

from typing import Final

from rogue.reports.cells.view import CellView, loads_by_role
from rogue.reports.metrics.metric import Metric, metric
from rogue.reports.quantities import Unit

METRICS: Final[list[Metric]] = []
_NEEDS: Final = ("cpu", "flows")


@metric(METRICS, "client_cpu_share", "Client CPU", Unit.PERCENT, needs=_NEEDS)
def client_cpu_share(view: CellView, _interval_ns: int) -> float | None:
    """Processor time of the hosts that post the verbs, as a share of one core; mean over these hosts."""
    return _mean_cores(view, "client")


@metric(METRICS, "server_cpu_share", "Server CPU", Unit.PERCENT, needs=_NEEDS)
def server_cpu_share(view: CellView, _interval_ns: int) -> float | None:
    """Processor time of the hosts at the other end, as a share of one core; mean over these hosts."""
    return _mean_cores(view, "server")


def _mean_cores(view: CellView, role: str) -> float | None:
    busy_cores = loads_by_role(view)[role]
    return float(busy_cores.mean()) if busy_cores.size else None
