"""Whether switches under flow control have buffer beyond the headroom of their links, said before the run."""

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
    for switch in cell.network.switches:
        if switch.buffer_bytes is None:
            continue
        headroom_bytes, whose = _headroom(cell, control, switch)
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


def _headroom(cell: Cell, control: PriorityFlowControl, switch: Switch) -> tuple[int, str]:
    """What is set aside from the buffer, or from each of the buffers, and for what."""
    rooms_bytes = [
        len(control.priorities)
        * control.headroom_of(
            switch.name,
            framing(cell),
            link.rate_bps,
            (link.delay_ns + link.delay_spread_ns) * PICOSECONDS,
        )
        for link in cell.network.links
        if switch.name in (link.a, link.b)
    ]
    if switch.kind == "voq":
        return max(rooms_bytes), "a link"
    return sum(rooms_bytes), f"its {len(rooms_bytes)} links"
