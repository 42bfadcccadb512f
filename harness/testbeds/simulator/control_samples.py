"""What congestion controls believe while a cell runs: those of agents, and those of NICs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rogue.harness.testbeds.base import Columns
from rogue.harness.testbeds.rows import columns_of
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.simulator import Simulation
from rogue.workloads.records import ControlRow

NO_CONTROL: Final = "{transport} has no control that tells, or no flow lasted for a sample"
"""Why there is no row."""


class NicControlSamples:
    """Samples the controls in NICs at an interval, at the ends that data leaves; idle without flows."""

    def __init__(self, simulation: Simulation, flows: Sequence[RunningFlow], interval_ns: int) -> None:
        self._simulation = simulation
        self._flows = [(flow, flow.sending_qp_num) for flow in flows if flow.asked.control is not None]
        self._interval_ns = interval_ns
        self.rows: list[ControlRow] = []
        if self._flows:
            self._timer = simulation.timer(self._on_timer)
            self._timer.set(interval_ns)

    def _on_timer(self, now_ns: int) -> None:
        metrics = self._simulation.control_metrics()
        for flow, qp_num in self._flows:
            if flow.agent.transfers:
                self.rows += _rows(flow.flow_id, now_ns, metrics[qp_num])
        self._timer.set(now_ns + self._interval_ns)


def control_table(flows: Sequence[RunningFlow], nics: NicControlSamples) -> Columns:
    """What agents believed after each sample, then what NICs were found to."""
    hosts = (
        row
        for flow in flows
        for t_ns, metrics in flow.agent.control_samples
        for row in _rows(flow.flow_id, t_ns, metrics)
    )
    return columns_of(ControlRow, [*hosts, *nics.rows])


def _rows(flow_id: str, t_ns: int, metrics: Mapping[str, float]) -> Iterator[ControlRow]:
    return (ControlRow(flow_id, t_ns, name, float(value)) for name, value in metrics.items())
