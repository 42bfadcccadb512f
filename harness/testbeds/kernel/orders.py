"""Writes a cell's orders before its kernel starts: the network, the agents, their roles."""

from dataclasses import replace
from hashlib import sha256
from typing import Final

from rogue.agent.node.orders import Command, Orders, RoleOrder, TimedCommand
from rogue.agent.node.wire import encode
from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.linux_switch import QUEUE_HANDLE
from rogue.harness.testbeds.ends.requests import compared_bytes, load_requests, prepare_request
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow, limited_flows
from rogue.harness.testbeds.ends.tables import ENDS
from rogue.harness.testbeds.kernel.network import (
    addresses,
    cell_ports,
    limiter_burst_bytes,
    network_commands,
    outages,
    port_interfaces,
)

LIMIT_MS: Final = 600_000
"""What a role gets for a request; no time passes there while it works."""
HUNG_AFTER_NS: Final = 10_000_000_000
"""A flow that has not ended this long after its time never will."""
TOLD_TIMES: Final = 50
LIMITER: Final = "htb"
"""Over UC, too: the agent dates what `rdma_rxe` calls sent while it waits there (verbs/departures.py)."""
DISCIPLINES: Final = "disciplines"
"""Under what name their counters stand; those of filters stand under their interfaces and ways."""
FILTERED_WAYS: Final = ("egress", "ingress")


def orders_of(cell: Cell, flows: list[NodeFlow]) -> Orders:
    """Everything that the conductor in the kernel needs to know."""
    return Orders(
        commands=network_commands(
            cell.topology, cell_ports(cell), _hosts_with_cards(flows), _crowded_hosts(cell)
        ),
        roles=[_role(cell, flow, end) for flow in flows for end in ENDS],
        ports=port_interfaces(cell.topology) if cell.experiment.measures("queues") else {},
        queue_handle=QUEUE_HANDLE,
        sample_interval_ns=cell.timing.queue_interval_ns,
        tell_every_ns=cell.timing.traffic_ns // TOLD_TIMES,
        limit_ms=LIMIT_MS,
        hung_after_ns=cell.timing.limit_ns + HUNG_AFTER_NS,
        timed=_timed(cell),
        counts=_counts(cell),
    )


def _timed(cell: Cell) -> list[TimedCommand]:
    """Cuts: a link of which one port is down carries nothing in either direction, and keeps its settings.

    What waits in its ports then is gone, and no discipline counts it: it is looked at just before.
    """
    changes: list[TimedCommand] = []
    for number, (ports, outage) in enumerate(outages(cell)):
        interfaces = [port_interfaces(cell.topology)[port] for port in ports]
        for each in interfaces:
            waiting = Command(["tc", "-s", "-j", "qdisc", "show", "dev", each])
            changes.append(TimedCommand(outage.at_ns, waiting, kept_as=f"{each} {number}"))
        for at_ns, state in ((outage.at_ns, "down"), (outage.at_ns + outage.duration_ns, "up")):
            changes.append(TimedCommand(at_ns, Command(["ip", "link", "set", "dev", interfaces[0], state])))
    return sorted(changes, key=lambda change: change.at_ns)


def _counts(cell: Cell) -> dict[str, Command]:
    """What tells the counters of all disciplines, and of the filters of ports that have one."""
    interfaces = port_interfaces(cell.topology)
    filtering = (interfaces[name] for name, port in cell_ports(cell).items() if port.lost_ip_id_mask)
    filters = {
        f"{each} {way}": Command(["tc", "-s", "-j", "filter", "show", "dev", each, way])
        for each in filtering
        for way in FILTERED_WAYS
    }
    return {DISCIPLINES: Command(["tc", "-s", "-j", "qdisc", "show"]), **filters}


def _hosts_with_cards(flows: list[NodeFlow]) -> set[str]:
    """Hosts at the ends of flows that are no TCP."""
    return {flow.host(end) for flow in flows if flow.service != "tcp" for end in ENDS}


def _crowded_hosts(cell: Cell) -> set[str]:
    """Hosts that several flows with rates leave."""
    return {host for host, flows in limited_flows(cell).items() if len(flows) > 1}


def _secret_seed(cell: Cell, role: str) -> int:
    """Nobody else is in that kernel, and the same cell is to be the same to the last byte."""
    return int.from_bytes(sha256(f"{cell.seed} {role}".encode()).digest()[:8], "big")


def _role(cell: Cell, flow: NodeFlow, end: EndName) -> RoleOrder:
    name, host = flow.role(end), flow.host(end)
    limiter = "none" if flow.service == "tcp" else LIMITER
    request = prepare_request((flow, end), addresses(cell.topology)[host], limiter, cell.timing, LIMIT_MS)
    if request.limiter == LIMITER:
        request = replace(request, limiter_burst_bytes=limiter_burst_bytes(cell.topology))
    if flow.service == "tcp":
        request = replace(request, interface=host)
    request = replace(request, secret_seed=_secret_seed(cell, name))
    loads = load_requests(flow, name, LIMIT_MS) if end == "requester" else ()
    return RoleOrder(
        name=name,
        end=end,
        peer=flow.role("responder" if end == "requester" else "requester"),
        prepare=encode(request).decode(),
        loads=[encode(each).decode() for each in loads],
        offset_ns=flow.flow.start_ns,
        run_ns=flow.run_ns,
        checked_bytes=compared_bytes(flow),
    )
