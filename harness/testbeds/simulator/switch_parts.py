"""What a cell's switches are made with, and switches that stand for the ports of NICs."""

from dataclasses import replace
from typing import Any, Final

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator.controls import switch_fair_rates
from rogue.harness.testbeds.simulator.features import (
    flow_control,
    has_telemetry,
    marking,
    thresholds_at_bps,
)
from rogue.harness.testbeds.simulator.switch_controls import judge_of, switch_controls
from rogue.simulator import Marking
from rogue.workloads.faults import SlowReceiver

NIC_XOFF_BYTES: Final = SlowReceiver.model_fields["xoff_bytes"].default
NEVER: Final = Marking(kmin_bytes=10**12, kmax_bytes=10**12, pmax=1.0)
"""More than ever waits."""

Parts = dict[str, Any]
"""Keyword arguments of `Simulation.add_switch`."""


def switch_parts(cell: Cell) -> Parts:
    """All that the switches of a cell have in common."""
    return {
        "flow_control": flow_control(cell),
        "marking": marking(cell),
        "fair_rates": switch_fair_rates(cell),
        "has_telemetry": has_telemetry(cell),
        "weights": cell.network.weights,
        "controls": switch_controls(cell),
        "thresholds_at_bps": thresholds_at_bps(cell),
    }


def nic_parts(cell: Cell) -> Parts:
    """Traffic classes like those of switches, and pauses at a fixed threshold: packets carry nothing away."""
    pauses = flow_control(cell)
    if pauses is not None:
        pauses = replace(pauses, xoff_bytes=pauses.xoff_bytes or NIC_XOFF_BYTES)
    has_classes = judge_of(cell) is not None or bool(marking(cell))
    return {
        "flow_control": pauses,
        "marking": dict.fromkeys(cell.network.priorities, NEVER) if has_classes else {},
        "weights": cell.network.weights,
    }
