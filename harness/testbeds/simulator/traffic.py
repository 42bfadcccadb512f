"""Who sends what to whom in a cell, by which transport, with which verb."""

from dataclasses import replace

from harness.experiment.choices import TrafficGroup
from harness.plan.cells import Cell
from workloads.traffic import Flow
from workloads.transports import parse_transport


def group_transport(cell: Cell, group: TrafficGroup) -> str:
    """Name of the transport that carries a group: its own, or the cell's."""
    return group.transport or cell.transport.name


def cell_flows(cell: Cell) -> dict[str, tuple[Flow, ...]]:
    """Flows of each group, without the probe's; a verb that its transport lacks is replaced."""
    flows = {}
    for group in cell.experiment.groups:
        transport = parse_transport(group_transport(cell, group))
        flows[group.name] = tuple(
            replace(flow, verb=transport.carried(flow.verb))
            for flow in group.workload.flows(cell.experiment.placement, cell.seed)
        )
    return flows


def replaced_verbs(cell: Cell) -> str | None:
    """What moves the bytes instead of what was asked for; None if nothing had to be replaced."""
    sentences = set()
    for group in cell.experiment.groups:
        name = group_transport(cell, group)
        transport = parse_transport(name)
        for flow in group.workload.flows(cell.experiment.placement, cell.seed):
            carried = transport.carried(flow.verb)
            if carried != flow.verb:
                sentences.add(f"{name} has no {flow.verb}: {carried} in the same direction of data")
    return "; ".join(sorted(sentences)) or None


def receivers(cell: Cell) -> dict[str, int]:
    """Every host that flows end at, with how many do."""
    found: dict[str, int] = {}
    for flows in cell_flows(cell).values():
        for flow in flows:
            found[flow.destination] = found.get(flow.destination, 0) + 1
    return found


def busiest_receiver(cell: Cell) -> str:
    """The host that most flows end at; of several the first."""
    counts = receivers(cell)
    return max(counts, key=lambda host: counts[host])
