"""Write the orders of a cell for its kernel: the network, the agents and their roles."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from ipaddress import IPv4Address
from typing import Final

from rogue.agent.node.orders import Command, Orders, RoleOrder, TimedCommand
from rogue.agent.node.wire import encode
from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.linux_switch import (
    MIN_WIRE_BYTES,
    QUEUE_HANDLE,
    WIRE_OVERHEAD_BYTES,
    PortSettings,
    port_lines,
)
from rogue.harness.testbeds.ends.packets import watch_orders
from rogue.harness.testbeds.ends.requests import compared_bytes, load_requests, prepare_request
from rogue.harness.testbeds.ends.roles import NodeFlow, Role, limited_flows
from rogue.harness.testbeds.ends.switch_ports import (
    faulty_ports,
    leads_to,
    linux_ports,
    marking_ports,
    outages,
)
from rogue.workloads.framing import TCP_SEGMENTS
from rogue.workloads.topologies import Link, Topology

LIMITER_CLASSES: Final = 7
"""Priorities from 1 have a rate limiter each, as on nodes."""
_BURST_NS: Final = 1_100
"""For how long a port may send at once: `tc` takes whole microseconds, and with none a port loses a fifth of
its rate. With 4 us packets leave idle ports so early that long paths carry more than on real switches.
Source: iproute2, tc/tc_core.c (tc_calc_xmittime)."""
_DELAY_NS_MIN: Final = 1
"""A packet that is delayed is no longer its card's."""
_LIMITER_BURST_BYTES_MIN: Final = 1_600
"""The least burst that an agent gives an htb class."""
_FIRST_ADDRESS: Final = IPv4Address("10.0.0.1")
_PREFIX: Final = 16
_NETWORK: Final = "10.0.0.0/16"
_HEADERS_BYTES: Final = 100
"""More than soft-RoCE's headers, so that the path MTU fits into the interface's."""
_IP_MTU_MIN: Final = 1500
_CARD_PACKETS_MAX: Final = 100_000
"""More than all queue pairs of a host may have waiting."""
_OF_INTERFACES: Final = {"accept_local": 1, "rp_filter": 0, "arp_ignore": 1, "arp_announce": 2}
_OF_TCP: Final = {
    "tcp_timestamps": "0",
    "tcp_rmem": "4096 131072 6291456",
    "tcp_wmem": "4096 16384 4194304",
}
"""Segments without options, as the simulator's. Buffers are Linux's own where there is memory enough: half of
the largest is the largest window that is offered. Source: Linux, net/ipv4/tcp.c, tcp_init."""
_SEGMENT_BYTES: Final = TCP_SEGMENTS.payload_bytes
LIMIT_MS: Final = 600_000
"""What a role gets for a request; no time passes there while it works."""
HUNG_AFTER_NS: Final = 10_000_000_000
"""A flow that has not ended this long after its time never will."""
PROGRESS_REPORTS: Final = 50
LIMITER: Final = "htb"
"""Also over UC: the agent dates what `rdma_rxe` calls sent while it waits there (verbs/departures.py)."""
DISCIPLINES: Final = "disciplines"
"""Name of their counters; those of filters are named by interface and direction."""
FILTERED_DIRECTIONS: Final = ("egress", "ingress")


def addresses(topology: Topology) -> dict[str, str]:
    """Return the address of each host."""
    return {host: str(_FIRST_ADDRESS + place) for place, host in enumerate(topology.host_names())}


def limiter_burst_bytes(topology: Topology) -> int:
    """Return the burst of a rate limiter: a packet. A larger burst shortens the agent's RTT."""
    packet_bytes = topology.mtu_bytes + _HEADERS_BYTES + WIRE_OVERHEAD_BYTES
    rates_bps = (link.rate_bps for host in topology.host_names() for link in topology.links_of[host].values())
    return max(_LIMITER_BURST_BYTES_MIN, packet_bytes, *map(burst_bytes, rates_bps))


def burst_bytes(rate_bps: int) -> int:
    """Return the burst of a port of that rate."""
    return rate_bps * _BURST_NS // (8 * 10**9)


def port_interfaces(topology: Topology) -> dict[str, str]:
    """Return the interface of each switch's egress port, by the port's name."""
    switches = set(topology.switch_names())
    return {
        port: f"p{number}{end}"
        for number, link in enumerate(topology.links())
        for end, port in zip("ab", link.ports, strict=True)
        if port.partition("->")[0] in switches
    }


def _network_commands(cell: Cell, flows: list[NodeFlow]) -> list[Command]:
    """Return the commands that build the cell's network, in order.

    Only hosts with RDMA flows get a device: TCP needs none, and an agent lists 64 at most.
    """
    topology = cell.topology
    cards = {role.host for flow in flows if flow.service != "tcp" for role in flow.roles}
    devices = (
        f"link add rxe-{host} type rxe netdev {host}" for host in topology.host_names() if host in cards
    )
    return [
        _sysctls(),
        Command(["ip", "-batch", "-"], _lines(_links(topology))),
        Command(["bridge", "-batch", "-"], _lines(_known_hosts(topology))),
        Command(["rdma", "--batch", "-"], _lines(devices)),
        Command(["tc", "-batch", "-"], _lines(_trees(cell))),
    ]


def _known_hosts(topology: Topology) -> Iterator[str]:
    """Tell switches where hosts are: they flood packets to a host that sends none, such as UC's receivers."""
    interfaces = port_interfaces(topology)
    for switch in topology.switch_names():
        for host, address in addresses(topology).items():
            port = f"{switch}->{topology.path(switch, host)[0].other_end(switch)}"
            yield f"fdb add {_mac_of(address)} dev {interfaces[port]} master static"


def _sysctls() -> Command:
    interfaces = (
        f"conf.{scope}.{name}={value}"
        for name, value in _OF_INTERFACES.items()
        for scope in ("all", "default")
    )
    tcp = (f"{name}={value}" for name, value in _OF_TCP.items())
    settings = (f"net.ipv4.{setting}" for setting in (*interfaces, *tcp))
    return Command(["/bin/busybox", "sysctl", "-q", "-w", *settings])


def _links(topology: Topology) -> Iterator[str]:
    """Yield cables, switches and hosts. TCP sends single segments, as queues count packets."""
    mtu_bytes = max(_IP_MTU_MIN, topology.mtu_bytes + _HEADERS_BYTES)
    hosts, interfaces = addresses(topology), port_interfaces(topology)
    yield "link set lo up"
    for switch in topology.switch_names():
        yield f"link add {switch} type bridge"
        yield f"link set {switch} mtu {mtu_bytes} up"
    for link in topology.links():
        a, b = (interfaces.get(port, port.partition("->")[0]) for port in link.ports)
        of_a, of_b = (f"{each} {_mac(each, hosts)}mtu {mtu_bytes}" for each in (a, b))
        yield f"link add {of_a} type veth peer name {of_b}"
        for node, interface in ((link.a, a), (link.b, b)):
            master = f"master {node} " if interface != node else ""
            yield f"link set {interface} {master}up"
    for host, address in hosts.items():
        yield f"link set {host} gso_max_segs 1"
        yield f"address add {address}/{_PREFIX} dev {host} noprefixroute"
        yield f"route append {_NETWORK} dev {host} src {address} advmss {_SEGMENT_BYTES}"
        for peer in (each for each in hosts if each != host):
            yield f"neighbour add {hosts[peer]} lladdr {_mac_of(hosts[peer])} dev {host} nud permanent"


def _mac(interface: str, hosts: Mapping[str, str]) -> str:
    return f"address {_mac_of(hosts[interface])} " if interface in hosts else ""


def _mac_of(address: str) -> str:
    """Return a MAC address of our own choice, so that neighbours can be set for good.

    Otherwise Linux forgets them when a link is cut, and what it sends waits for a reply to ARP, which it asks
    for once a second. Source: Linux, net/core/neighbour.c (neigh_carrier_down, neigh_timer_handler).
    """
    return ":".join(("02", "00", *(f"{int(part):02x}" for part in address.split("."))))


def _trees(cell: Cell) -> Iterator[str]:
    ports, interfaces, limited = cell_ports(cell), port_interfaces(cell.topology), limited_flows(cell)
    for link in cell.topology.links():
        for port in link.ports:
            if port in interfaces:
                yield from port_lines(interfaces[port], ports[port])
            else:
                host = port.partition("->")[0]
                yield from _limiters(host, link, is_crowded=len(limited.get(host, ())) > 1)


def _limiters(host: str, link: Link, *, is_crowded: bool) -> Iterator[str]:
    """Yield the commands of a host's card: its line rate, and a rate limiter for each priority.

    Classes beside each other have the line rate each. Where several are used at once, a class around all of
    them has it as well, or a host would send several times what its link carries.
    A queue pair of `rdma_rxe` waits while its packets wait here, as in a card. If netem were
    first, packets would count as gone at once, and an unreliable connection would send without end.
    Source: Linux, drivers/infiniband/sw/rxe/rxe_req.c (RXE_INFLIGHT_SKBS_PER_QP_HIGH), net/sched/sch_netem.c
    (skb_orphan_partial).
    """
    burst = burst_bytes(link.rate_bps)
    shape = (
        f"htb rate {link.rate_bps}bit burst {burst} cburst {burst} quantum 10000 "
        f"overhead {WIRE_OVERHEAD_BYTES} mpu {MIN_WIRE_BYTES}"
    )
    place = "root"
    if is_crowded:
        yield f"qdisc add dev {host} root handle 2: htb default 1"
        yield f"class add dev {host} parent 2: classid 2:1 {shape}"
        place = "parent 2:1"
    yield f"qdisc add dev {host} {place} handle 1: htb default 10"
    for number in range(LIMITER_CLASSES + 1):
        yield f"class add dev {host} parent 1: classid 1:1{number} {shape}"
        yield f"qdisc add dev {host} parent 1:1{number} handle 1{number}: pfifo limit {_CARD_PACKETS_MAX}"
    for priority in range(1, LIMITER_CLASSES + 1):
        marked = f"flower ip_tos {priority << 5:#x}/0xe0"
        yield f"filter add dev {host} parent 1: protocol ip prio 1 {marked} classid 1:1{priority}"


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def cell_ports(cell: Cell) -> dict[str, PortSettings]:
    """Return settings of each port of the switches, by name."""
    requested, hosts = cell.network.ports, cell.topology.host_names()
    ports = {
        name: replace(
            port,
            delay_ns=max(_DELAY_NS_MIN, port.delay_ns),
            burst_bytes=burst_bytes(requested[name].link.rate_bps),
            loses_arriving=leads_to(hosts, name),
        )
        for name, port in linux_ports(requested, hosts).items()
    }
    return faulty_ports(cell, marking_ports(cell, ports))


def orders_of(cell: Cell, flows: list[NodeFlow]) -> Orders:
    """Return the orders for the conductor in the kernel."""
    return Orders(
        commands=_network_commands(cell, flows),
        roles=[_role_order(cell, role) for flow in flows for role in flow.roles],
        ports=port_interfaces(cell.topology) if cell.experiment.measures("queues") else {},
        queue_handle=QUEUE_HANDLE,
        sample_interval_ns=cell.timing.queue_interval_ns,
        tell_every_ns=cell.timing.traffic_ns // PROGRESS_REPORTS,
        limit_ms=LIMIT_MS,
        hung_after_ns=cell.timing.limit_ns + HUNG_AFTER_NS,
        timed=_timed(cell),
        counts=_counts(cell),
        watch=watch_orders(cell, flows, port_interfaces(cell.topology)),
    )


def _timed(cell: Cell) -> list[TimedCommand]:
    """Return the commands of cuts: one port down stops a link in both directions and keeps its settings.

    What waits in its ports then is gone, and no discipline counts it: it is looked at just before.
    """
    changes: list[TimedCommand] = []
    named = port_interfaces(cell.topology)
    for number, (ports, outage) in enumerate(outages(cell, cell.network.ports)):
        interfaces = [named[port] for port in ports]
        for each in interfaces:
            waiting = Command(["tc", "-s", "-j", "qdisc", "show", "dev", each])
            changes.append(TimedCommand(outage.at_ns, waiting, kept_as=f"{each} {number}"))
        for at_ns, state in ((outage.at_ns, "down"), (outage.at_ns + outage.duration_ns, "up")):
            changes.append(TimedCommand(at_ns, Command(["ip", "link", "set", "dev", interfaces[0], state])))
    return sorted(changes, key=lambda change: change.at_ns)


def _counts(cell: Cell) -> dict[str, Command]:
    """Return the commands that print the counters of disciplines and filters."""
    interfaces = port_interfaces(cell.topology)
    filtering = (interfaces[name] for name, port in cell_ports(cell).items() if port.lost_ip_id_mask)
    filters = {
        f"{each} {direction}": Command(["tc", "-s", "-j", "filter", "show", "dev", each, direction])
        for each in filtering
        for direction in FILTERED_DIRECTIONS
    }
    return {DISCIPLINES: Command(["tc", "-s", "-j", "qdisc", "show"]), **filters}


def _secret_seed(cell: Cell, role: Role) -> int:
    """Return a fixed seed: a kernel has no other user, and equal cells must agree to the last byte."""
    return int.from_bytes(sha256(f"{cell.seed} {role.name}".encode()).digest()[:8], "big")


def _role_order(cell: Cell, role: Role) -> RoleOrder:
    flow, is_tcp = role.flow, role.flow.service == "tcp"
    limiter = "none" if is_tcp else LIMITER
    request = prepare_request(role, addresses(cell.topology)[role.host], limiter, cell.timing, LIMIT_MS)
    request = replace(
        request,
        limiter_burst_bytes=limiter_burst_bytes(cell.topology) if request.limiter == LIMITER else None,
        interface=role.host if is_tcp else None,
        secret_seed=_secret_seed(cell, role),
    )
    loads = load_requests(role, LIMIT_MS) if role.end == "requester" else ()
    return RoleOrder(
        name=role.name,
        end=role.end,
        peer=role.other.name,
        prepare=encode(request).decode(),
        loads=[encode(each).decode() for each in loads],
        offset_ns=flow.flow.start_ns,
        run_ns=flow.run_ns,
        checked_bytes=compared_bytes(flow),
    )
