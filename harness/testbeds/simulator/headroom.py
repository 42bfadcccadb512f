"""Whether switches under flow control have buffer beyond the headroom of their links, said before the run."""

from collections.abc import Sequence
from functools import cache

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator.features import flow_control, framing
from rogue.simulator import PriorityFlowControl
from rogue.workloads.topologies import Switch
from rogue.workloads.units import SIZE

PICOSECONDS = 1_000


def missing_buffer(cell: Cell) -> str | None:
    """The first switch whose buffer is too small, with the size that suffices; None if all suffice."""
    control = flow_control(cell)
    if control is None:
        return None
    rooms_bytes = _rooms_bytes(cell, control)
    for switch in cell.network.switches:
        if switch.buffer_bytes is None:
            continue
        headroom_bytes, whose = _headroom(switch, rooms_bytes[switch.name])
        if switch.buffer_bytes <= headroom_bytes:
            got = f"{switch.name} has a buffer of {SIZE.format(switch.buffer_bytes)}"
            needs = f"+pfc needs more than {headroom_bytes} bytes, the headroom of {whose}"
            return f"{got} and {needs}: raise topology.buffer, or lower topology.pause_headroom"
        room_bytes = switch.buffer_bytes - headroom_bytes
        if control.xoff_bytes is not None and control.xoff_bytes > room_bytes:
            got = f"{switch.name} would pause from {SIZE.format(control.xoff_bytes)} on"
            has = f"has {room_bytes} bytes beside the headroom of {whose}"
            return f"{got} and {has}: lower topology.pause_xoff, or raise topology.buffer"
    return None


def _rooms_bytes(cell: Cell, control: PriorityFlowControl) -> dict[str, list[int]]:
    """By switch what each of its links needs; links that are alike need the same."""
    frames, priorities = framing(cell), len(control.priorities)

    @cache
    def room_bytes(rate_bps: int, delay_ns: int) -> int:
        return priorities * control.headroom_of("a link", frames, rate_bps, delay_ns * PICOSECONDS)

    rooms_bytes: dict[str, list[int]] = {switch.name: [] for switch in cell.network.switches}
    for link in cell.network.links:
        own_bytes = room_bytes(link.rate_bps, link.delay_ns + link.delay_spread_ns)
        for end in (link.a, link.b):
            if end in rooms_bytes:
                rooms_bytes[end].append(own_bytes)
    return rooms_bytes


def _headroom(switch: Switch, rooms_bytes: Sequence[int]) -> tuple[int, str]:
    """What is set aside from the buffer, or from each of the buffers, and for what."""
    if switch.kind == "voq":
        return max(rooms_bytes), "a link"
    return sum(rooms_bytes), f"its {len(rooms_bytes)} links"
