"""Marks at ports of Linux switches: one curve for all packets, put into effect by RED."""

from collections.abc import Mapping
from dataclasses import replace

from rogue.harness.cell.carrier import Carrier
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MARK_ABOVE, MarkingCurve, marked_above_bytes
from rogue.harness.cell.mistakes import ParameterError, ParameterMistake
from rogue.harness.cell.parameters import as_written
from rogue.harness.provisioning.ports import PROMPT_RED_BYTES_MIN, PortSettings


def unsupported_marking(cell: Cell) -> str | None:
    """Why ports of Linux switches cannot mark as a cell asks; None if they can."""
    if len(_curves(cell)) > 1:
        return f"the switches have one traffic class: give all groups the same {as_written(MARK_ABOVE)}"
    return None


def check_marking(cell: Cell, carrier: Carrier) -> None:
    """ParameterError if a transport asks for marks above a queue that is shorter than RED can tell."""
    if carrier.transport.wants_marks and marked_above_bytes(cell.topology, carrier) <= PROMPT_RED_BYTES_MIN:
        expected = f"more than {PROMPT_RED_BYTES_MIN} bytes, as Linux's RED marks"
        raise ParameterError(ParameterMistake(as_written(MARK_ABOVE), expected, "raise it"))


def marking_ports(cell: Cell, ports: Mapping[str, PortSettings]) -> dict[str, PortSettings]:
    """The same ports, which mark as the cell's network asks."""
    curve = next(iter(_curves(cell)), None)
    return {name: port if curve is None else _marking(port, curve) for name, port in ports.items()}


def _curves(cell: Cell) -> list[MarkingCurve]:
    """Each that some group asks for, once."""
    asked = cell.network.priorities.values()
    return list(dict.fromkeys(curve for priority in asked for curve in priority.curves))


def _marking(port: PortSettings, curve: MarkingCurve) -> PortSettings:
    """Every packet is marked that finds more than K waiting.

    Deviation: RED's mean is of the queue as the last packets found it, half of it the last one's. A port
    that holds less than K never marks; there the last byte that it holds marks, and what comes is dropped.
    """
    assert curve.kmin_bytes == curve.kmax_bytes, "a card's control, which no Linux switch marks for"
    most_bytes = min(curve.kmax_bytes, port.queue_bytes)
    return replace(port, red_min_bytes=most_bytes - 1, red_max_bytes=most_bytes, red_is_prompt=True)
