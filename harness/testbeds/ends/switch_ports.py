"""Set up ports of Linux switches: rates, queues, marks, losses and outages."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import chain
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup
from rogue.harness.cell.marking import MARK_ABOVE, MarkingCurve
from rogue.harness.cell.network import OutageSpec, SwitchPort
from rogue.harness.cell.transport import ParameterError, ParameterMistake, as_written
from rogue.harness.provisioning.linux_switch import PROMPT_RED_BYTES_MIN, PortSettings
from rogue.harness.testbeds.ends.packet_events import unsupported_events
from rogue.workloads.faults import Fault, LinkCut, Loss
from rogue.workloads.topologies import Switch

_UNBOUNDED_BYTES: Final = 1_000_000_000


def linux_ports(requested: Mapping[str, SwitchPort], hosts: Collection[str]) -> dict[str, PortSettings]:
    """Return settings by port, without bursts and the shortest delay, which differ by testbed.

    A port to a host delays for a sender's cable and the receiver's, which are alike: hosts delay nothing.

    Deviation: a Linux switch has no buffer that its ports share. Each port gets what it could hold alone,
    alpha / (1 + alpha) of the buffer, which is where a single congested port settles.
    """
    return {
        name: PortSettings(
            rate_bps=port.link.rate_bps,
            queue_bytes=_queue_bytes(port.switch),
            delay_ns=(2 if leads_to(hosts, name) else 1) * port.link.delay_ns,
        )
        for name, port in requested.items()
    }


def leads_to(hosts: Collection[str], port: str) -> bool:
    """True if an egress leads to a host."""
    return port.partition("->")[2] in hosts


def uneven_delays(cell: Cell) -> str | None:
    """Return why ports cannot delay for the cables of hosts; None if all are equal."""
    hosts = cell.topology.host_names()
    delays_ns = {link.delay_ns for link in cell.network.links if link.a in hosts or link.b in hosts}
    if len(delays_ns) > 1:
        return "a Linux switch gives the cables of all hosts one delay: give their links the same delay"
    return None


def _queue_bytes(switch: Switch) -> int:
    if switch.buffer_bytes is None:
        return _UNBOUNDED_BYTES
    return max(1, int(switch.buffer_bytes * switch.alpha / (1 + switch.alpha)))


def unsupported_marking(cell: Cell) -> str | None:
    """Return why ports of Linux switches cannot mark as a cell asks; None if they can."""
    if len(_curves(cell)) > 1:
        return f"the switches have one traffic class: give all groups the same {as_written(MARK_ABOVE)}"
    return None


def check_marking(group: FlowGroup) -> None:
    """Raise ParameterError if a transport requests marks above a queue too short for RED."""
    curve = group.settings.marking if group.transport.wants_marks else None
    if curve is not None and curve.kmin_bytes <= PROMPT_RED_BYTES_MIN:
        expected = f"more than {PROMPT_RED_BYTES_MIN} bytes, as Linux's RED marks"
        raise ParameterError(ParameterMistake(as_written(MARK_ABOVE), expected, "raise it"))


def marking_ports(cell: Cell, ports: Mapping[str, PortSettings]) -> dict[str, PortSettings]:
    """Return the ports with the marking of the cell's network."""
    curve = next(iter(_curves(cell)), None)
    return {name: port if curve is None else _marking(port, curve) for name, port in ports.items()}


def _curves(cell: Cell) -> list[MarkingCurve]:
    requested = cell.network.priorities.values()
    return list(dict.fromkeys(curve for priority in requested for curve in priority.curves))


def _marking(port: PortSettings, curve: MarkingCurve) -> PortSettings:
    """Mark every packet that finds more than K in the queue.

    Deviation: RED's mean is of the queue as the last packets found it, half of it the last one's. A port
    that holds less than K never marks; there the last byte that it holds marks, and what comes is dropped.
    """
    assert curve.kmin_bytes == curve.kmax_bytes, "a card's control, which no Linux switch marks for"
    most_bytes = min(curve.kmax_bytes, port.queue_bytes)
    return replace(port, red_min_bytes=most_bytes - 1, red_max_bytes=most_bytes, red_is_prompt=True)


NO_DIRECTION: Final = "only the simulator cuts one direction of a link: leave one_way out"
NO_REROUTING: Final = "only the simulator's switches forward around a link: leave reroute_after out"


def unsupported_fault(cell: Cell) -> str | None:
    """Return why ports of Linux switches cannot carry out a fault; None if they can."""
    reasons = (_unsupported_loss(loss) for losses in cell.network.losses.values() for loss in losses)
    broken = (f"a Linux switch has no {type(fault).__name__}" for fault in cell.network.breakages)
    rerouted = (NO_REROUTING for outage in cell.network.outages if outage.reroute_after_ns is not None)
    halved = (NO_DIRECTION for outage in cell.network.outages if outage.one_way)
    found = chain(reasons, rerouted, halved, broken, (unsupported_events(cell),))
    return next((reason for reason in found if reason is not None), None)


def first_fault(cell: Cell, *, with_losses: bool = True) -> str | None:
    """Return the kind of a fault; None if there is none."""
    network = cell.network
    losses = (type(loss).__name__ for found in network.losses.values() for loss in found if with_losses)
    cuts = (LinkCut.__name__ for _ in network.outages)
    broken = (type(fault).__name__ for fault in _others(cell))
    return next(chain(losses, cuts, broken), None)


def _others(cell: Cell) -> tuple[Fault, ...]:
    return (*cell.network.breakages, *cell.network.packet_events)


def _unsupported_loss(loss: Loss) -> str | None:
    if loss.model == "burst":
        return "the switch loses packets independently or by IP ID; choose another model"
    if loss.from_ns or loss.until_ns is not None:
        return "the switch loses packets from beginning to end; leave from and until out"
    return None


def faulty_ports(cell: Cell, ports: Mapping[str, PortSettings]) -> dict[str, PortSettings]:
    """Return settings by port, with the losses of their links.

    Deviation: what a host sends is lost only behind the first switch, for a host's own egress is not the
    switch's; losses of a host's link strike what comes to it.
    """
    faulty = dict(ports)
    for link, losses in cell.network.losses.items():
        for loss in losses:
            for name in _here(link.ports, ports):
                faulty[name] = _losing(loss, faulty[name])
    return faulty


def outages(cell: Cell, ports: Collection[str]) -> list[tuple[list[str], OutageSpec]]:
    """Return the outages, each with the affected ones of these egress ports."""
    return [(_here(outage.ports, ports), outage) for outage in cell.network.outages]


def _here(directions: Collection[str], ports: Collection[str]) -> list[str]:
    return [name for name in directions if name in ports]


def _losing(loss: Loss, port: PortSettings) -> PortSettings:
    if loss.mean_probability == 0:
        return port
    if loss.model == "identification":
        return replace(port, lost_ip_id_mask=round(1 / loss.mean_probability) - 1)
    return replace(port, loss_probability=loss.mean_probability)
