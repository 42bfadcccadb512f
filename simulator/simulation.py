"""A simulated network of hosts and switches, and the clock that drives it."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rogue.simulator._core import Engine, QueuePair, Timer
from rogue.simulator.control import NicControl, ack_every_of
from rogue.simulator.datagram import DatagramQueuePair, Memory
from rogue.simulator.errors import SimulationError
from rogue.simulator.faults import Faults, IndependentLoss, Loss
from rogue.simulator.flow_control import PRIORITIES, FlowControls, Wait, find_deadlock
from rogue.simulator.forwarding import Forwarding, Rerouting, Spraying, with_selectors
from rogue.simulator.framing import ROCEV2, Framing
from rogue.simulator.packet_events import PacketEvents
from rogue.simulator.packets import Packets
from rogue.simulator.parameters import (
    DELAY_PS_MAX,
    INTERVAL_NS_MAX,
    MEMORY_BYTES_MAX,
    MTU_BYTES_MAX,
    RATE_BPS_MAX,
    TTL_HOPS_MAX,
    require_connection,
    require_integer,
    require_probability,
    require_timeout,
)
from rogue.simulator.plugin_controls import ReceiverControls
from rogue.simulator.profiles import NicProfile
from rogue.simulator.reliability import Reliability, service_of
from rogue.simulator.switches import Switches
from rogue.simulator.topology import Path, Topology

Table: TypeAlias = dict[str, NDArray[Any]]


@lru_cache
def _without_limiters(profile: NicProfile) -> NicProfile:
    return replace(profile, limiters=0)


class Simulation(Faults, PacketEvents, Switches, Forwarding, Packets):
    """A network of hosts and switches, built first and then run.

    The same seed and the same calls give the same bytes. Simulated time starts at 0; the host clock of every
    host is simulated time in whole nanoseconds. Host software is a set of callbacks: the engine calls them
    between two instants and never re-entrantly. A simulation belongs to one thread.
    """

    _engine_type: ClassVar[type[Engine]] = Engine

    def __init__(self, *, seed: int, framing: Framing = ROCEV2, ttl_hops: int | None = None) -> None:
        """Create an empty network. ``seed`` (0 to 2^64 - 1) starts all of its random streams.

        A packet in a loop is dropped after ``ttl_hops`` links; with None loops are refused.
        """
        self.framing = framing
        if ttl_hops is not None:
            require_integer("Simulation", "ttl_hops", ttl_hops, 1, TTL_HOPS_MAX)
        require_integer("Simulation", "seed", seed, 0, 2**64 - 1)
        framing.require_sizes("Simulation")
        self._engine = self._engine_type(seed=seed, framing=framing)
        self._topology = Topology(seed, ttl_hops, self._engine.find_route)
        self._rerouting = Rerouting(self._engine, self._topology)
        self._connected = {}
        self._paths: dict[int, Path] = {}
        self._datagram_hosts = {}
        self._flow_controls = FlowControls(framing)
        self._receiver_controls = ReceiverControls()

    def add_host(self, name: str, profile: NicProfile) -> None:
        """Add a host with one NIC."""
        self._topology.require_new("add_host", name)
        per_priority = profile.limiter_scope == "per_priority"
        self._engine.add_host(name, profile if per_priority else _without_limiters(profile))
        self._topology.add_node(name, profile)

    def add_link(  # noqa: PLR0913 - a link has that many properties, all named
        self,
        a: str,
        b: str,
        *,
        rate_bps: int,
        delay_ps: int,
        loss_probability: float = 0.0,
        loss: Loss | None = None,
    ) -> None:
        """Join two nodes by a full-duplex link.

        Each direction loses packets by the rule ``loss``, or with ``loss_probability``, which is short for
        IndependentLoss.
        """
        where = f"add_link {a}-{b}"
        ends = self._topology.node(where, a), self._topology.node(where, b)
        require_integer(where, "rate_bps", rate_bps, 1, RATE_BPS_MAX)
        require_integer(where, "delay_ps", delay_ps, 0, DELAY_PS_MAX)
        if loss_probability and require_probability(where, "loss_probability", loss_probability):
            if loss is not None:
                raise SimulationError(f"{where}: expected loss or loss_probability, got both")
            loss = IndependentLoss(loss_probability)
        rule = {} if loss is None else loss.arguments(where)
        self._topology.require_new_link(where, *ends)
        headroom_a, headroom_b = self._flow_controls.headrooms(where, *ends, rate_bps, delay_ps)
        self._engine.add_link(
            *ends,
            rate_bps=rate_bps,
            delay_ps=delay_ps,
            headroom_a_bytes=headroom_a,
            headroom_b_bytes=headroom_b,
            loss=rule,
        )
        self._topology.add_link(*ends, delay_ps, rate_bps)
        for end, headroom_bytes in zip(ends, (headroom_a, headroom_b), strict=True):
            self._flow_controls.set_aside(end, headroom_bytes)

    def connect(  # noqa: PLR0913 - a connection has that many properties, all named
        self,
        a: str,
        b: str,
        *,
        mtu_bytes: int,
        retry_count: int,
        timeout_exponent: int,
        ack_every_packets: int | None = None,
        path_seed: int = 0,
        service: Literal["rc", "uc"] = "rc",
        limiter_of: QueuePair | None = None,
        priority: int = 0,
        control: NicControl | None = None,
        reliability: Reliability | None = None,
        spraying: Spraying | None = None,
    ) -> tuple[QueuePair, QueuePair]:
        """Connect a queue pair of host a with one of host b, both ready to send.

        ``service`` is RC or UC (no acknowledgements, whole messages or nothing). The timeout is 4.096 us *
        2^timeout_exponent (0: none). Each ``ack_every_packets``-th packet and a verb's last are acknowledged.
        ``path_seed`` chooses among equal routes, ``spraying`` for each packet; ``reliability``: no go-back-N.
        """
        where = f"connect {a}-{b}"
        (host_a, profile), (host_b, _) = self._topology.host(where, a), self._topology.host(where, b)
        ack_every = ack_every_of(control, ack_every_packets, profile.ack_every_packets)
        self._flow_controls.check_mtu(where, require_integer(where, "mtu_bytes", mtu_bytes, 1, MTU_BYTES_MAX))
        require_connection(where, ack_every, retry_count, timeout_exponent, service)
        spraying = with_selectors(where, spraying, service, control) if self._selects_ports else spraying
        route_ab, route_ba, path = self._routes(where, (host_a, host_b), path_seed, spraying, control)
        round_trip_ps = require_timeout(where, timeout_exponent, path.delay_ps)
        self._check_receivers(where, (a, b), reliability)
        ends = self._engine.connect(
            a=host_a,
            b=host_b,
            route_ab=route_ab,
            route_ba=route_ba,
            mtu_bytes=mtu_bytes,
            ack_every_packets=ack_every,
            retry_count=retry_count,
            timeout_exponent=timeout_exponent,
            is_unreliable=service == "uc",
            limiter_of=self._lender(where, limiter_of, frozenset((a, b))),
            priority=require_integer(where, "priority", priority, 0, PRIORITIES - 1),
            **(control.arguments(where, service, self._base_rtts_ps(path, mtu_bytes)) if control else {}),
            **(reliability.arguments(where, service, round_trip_ps, control) if reliability else {}),
            path_seed=path_seed,
            **(spraying.arguments(where, service, control) if spraying else {}),
        )
        return self._remember(ends, (a, b), service_of(service, reliability), path)

    def path(self, qp_num: int) -> Path:
        """Return the links of a connection in both directions; sprayed packets may take others."""
        return self._paths[qp_num]

    def _check_receivers(self, where: str, hosts: tuple[str, str], reliability: Reliability | None) -> None:
        """Require one receiver control per host if senders need credit."""
        if reliability is not None and reliability.has_credits:
            self._receiver_controls.add(where, hosts, reliability.receiver)

    def datagram_queue_pair(self, host: str, *, mtu_bytes: int = 1024) -> DatagramQueuePair:
        """Create a queue pair of type UD on a host. Its messages have at most ``mtu_bytes``."""
        where = f"datagram_queue_pair {host}"
        number, _ = self._topology.host(where, host)
        require_integer(where, "mtu_bytes", mtu_bytes, 1, MTU_BYTES_MAX)
        self._flow_controls.check_mtu(where, mtu_bytes)
        self._topology.close()
        queue_pair = DatagramQueuePair(self._engine, self._topology, number, mtu_bytes)
        self._datagram_hosts[queue_pair.qp_num] = host
        return queue_pair

    def register_memory(self, host: str, size_bytes: int, *, seed: int | None = None) -> Memory:
        """Register memory of a host, full of zeros or, with ``seed``, of random bytes."""
        where = f"register_memory {host}"
        number, _ = self._topology.host(where, host)
        require_integer(where, "size_bytes", size_bytes, 1, MEMORY_BYTES_MAX)
        if seed is not None:
            require_integer(where, "seed", seed, 0, 2**64 - 1)
        return Memory(self._engine, number, size_bytes, seed)

    def schedule(self, host_ns: int, callback: Callable[[int], object], *, in_step: bool = False) -> None:
        """Call ``callback(host_ns)`` once, at that time of the host clock.

        During the callback, switches of large networks may be ahead by up to a link's delay. Hosts cannot
        observe that, but counters, queues and pauses of switches show it, and changes of switches from now on
        (cuts, storms, samples, records) may be refused. With ``in_step`` no switch is ahead.
        """
        self._engine.schedule(host_ns, callback, in_step)

    def timer(self, callback: Callable[[int], object]) -> Timer:
        """Create a timer that calls ``callback(host_ns)`` when it expires."""
        return self._engine.timer(callback)

    def sample_throughput(self, interval_ns: int) -> None:
        """Record periodically the payload bytes that each queue pair's peer accepted in order."""
        require_integer("sample_throughput", "interval_ns", interval_ns, 1, INTERVAL_NS_MAX)
        self._engine.sample_throughput(interval_ns)

    def sample_queues(self, interval_ns: int) -> None:
        """Record periodically the queue of each port of each switch."""
        require_integer("sample_queues", "interval_ns", interval_ns, 1, INTERVAL_NS_MAX)
        self._engine.sample_queues(interval_ns)

    def record_oracle_rtt(self) -> None:
        """Record when the last byte of each signalled verb left its NIC, which verbs do not report."""
        self._engine.record_oracle_rtt()

    def record_memory_writes(self) -> None:
        """Record each write of a bound queue pair's packets into a memory."""
        self._engine.record_memory_writes()

    def run_until(self, host_ns: int) -> None:
        """Run up to and including that time of the host clock; the clock then has that time.

        Ctrl-C raises KeyboardInterrupt between two instants, and exceptions of host software pass through.
        The run can continue after either; switches may then be ahead, as during a callback.
        """
        self._engine.run_until(host_ns)

    def close(self) -> None:
        """Drop the callbacks, so that the engine's memory is released once nothing refers to the simulation.

        Tables, counters and the digest can still be read; `run_until` raises SimulationError.
        """
        self._engine.close()

    @property
    def now_ns(self) -> int:
        """The host clock, in nanoseconds."""
        return self._engine.now_ns

    def throughput_table(self) -> Table:
        """Return columns qp_num, t_ns (end of the interval), interval_ns, delivered_bytes.

        A queue pair appears after the first post on it. The last row covers the time from the last sample
        until now, if there is any.
        """
        return {**self._engine.throughput_columns()}

    def queue_table(self) -> Table:
        """Return columns node, port, priority, t_ns, bytes, max_bytes, drops, marks.

        ``bytes`` is the queue at that instant, ``max_bytes`` its maximum since the last sample; ``drops`` and
        ``marks`` count packets since the last sample. Bytes are frame bytes, without the packet that is being
        sent.
        """
        columns = self._engine.queue_columns()
        return {**self._topology.senders_of(columns.pop("link")), **columns}

    def pause_table(self) -> Table:
        """Return columns node, port, priority, start_ns, duration_ns of pauses, sorted by start.

        ``port`` is the paused one. Pauses that are not over last until now.
        """
        unsorted = self._engine.pause_columns()
        order = np.lexsort([unsorted[name] for name in ("priority", "link", "start_ps")])
        columns = {name: column[order] for name, column in unsorted.items()}
        start_ns, end_ns = (columns.pop(name) // 1000 for name in ("start_ps", "end_ps"))
        senders = self._topology.senders_of(columns.pop("link"))
        return {**senders, **columns, "start_ns": start_ns, "duration_ns": end_ns - start_ns}

    def oracle_table(self) -> Table:
        """Return columns qp_num, wr_id, t_last_ps, t_comp_ps of the signalled verbs that succeeded.

        ``t_last_ps`` is when the first transmission of the verb's last packet ended at the NIC.
        """
        return {**self._engine.oracle_columns()}

    def memory_write_table(self) -> Table:
        """Return columns t_ps, qp_num, memory, offset, length_bytes: one row for each packet that landed.

        ``qp_num`` posted the verb; ``memory`` is the number of the Memory whose bytes changed.
        """
        return {**self._engine.memory_write_columns()}

    def counters(self) -> list[tuple[str, str, str, int]]:
        """Return (node, port, name, value) of all counters. Bytes are frame bytes."""
        table = self.counter_table()
        columns = (table[name].tolist() for name in ("node", "port", "name", "value"))
        return list(zip(*columns, strict=True))

    def counter_table(self) -> Table:
        """Return columns node, port, name, value of all counters; those of queue pairs are ``qp1.naks``."""
        columns, words = self._engine.counter_columns()
        names, qp_num = np.array(words, dtype=object)[columns["name"]], columns["qp_num"]
        owned = qp_num > 0
        of_queue_pairs = zip(qp_num[owned].tolist(), names[owned].tolist(), strict=True)
        names[owned] = np.array([f"qp{own}.{name}" for own, name in of_queue_pairs], dtype=object)
        return {**self._topology.senders_of(columns["link"]), "name": names, "value": columns["value"]}

    def waits(self) -> list[Wait]:
        """Return the paused ports with something to send, and the ports that they wait for."""
        name = self._topology.link_name
        waits = self._engine.waits()
        return [Wait(name(link), priority, tuple(map(name, behind))) for link, priority, behind in waits]

    def deadlock(self) -> list[str]:
        """Return a loop of ports that each wait for the next one; empty if there is none."""
        return find_deadlock(self.waits())

    def control_metrics(self) -> dict[int, dict[str, float]]:
        """Return the state of the congestion controls in NICs: by qp_num, then by name with unit."""
        return self._engine.control_metrics()

    def statistics(self) -> dict[str, int]:
        """Return the engine's counts: packet_hops, events, packets_live, packets_pool_max, verbs_done."""
        return self._engine.statistics()

    def check_invariants(self) -> None:
        """Raise InvariantViolation if packets or bytes do not add up."""
        self._engine.check_invariants()

    def digest(self) -> str:
        """Return a hash over queue pair, wr_id, status and picoseconds of all completed verbs, in order."""
        return self._engine.digest()

    def _remember(
        self, ends: tuple[QueuePair, QueuePair], hosts: tuple[str, str], service: str, path: Path
    ) -> tuple[QueuePair, QueuePair]:
        self._connected[ends[0].qp_num] = (*hosts, service)
        self._paths[ends[0].qp_num] = path
        return ends

    def _lender(self, where: str, limiter_of: QueuePair | None, hosts: frozenset[str]) -> int | None:
        if limiter_of is None:
            return None
        number = limiter_of.qp_num
        connected = self._connected.get(number) or self._connected.get(number - 1)
        if connected is None or hosts != set(connected[:2]):
            raise SimulationError(f"{where}: expected limiter_of to connect the same two hosts")
        return limiter_of.qp_num

    def _routes(
        self,
        where: str,
        hosts: tuple[int, int],
        path_seed: int,
        spraying: Spraying | None,
        control: NicControl | None,
    ) -> tuple[list[int], list[int], Path]:
        """Return the routes in both directions, which need not be the same, and the links of both.

        ``path_seed`` replaces the source port: it is hashed with both hosts and the simulation's seed.
        Sprayed packets use the first route only for its destination; acknowledgements that are not sprayed
        take the second.
        """
        if hosts[0] == hosts[1]:
            raise SimulationError(f"{where}: expected two different hosts, got the same one twice")
        require_integer(where, "path_seed", path_seed, 0, 2**63 - 1)
        self._rerouting.allow(where, control)
        if spraying is not None:
            self._topology.require_shortest_paths(where, hosts)
        there = self._topology.route(where, *hosts, path_seed)
        back = self._topology.route(where, hosts[1], hosts[0], path_seed)
        return there, back, self._topology.path(there, back)

    def _base_rtts_ps(self, path: Path, mtu_bytes: int) -> tuple[int, int]:
        """Return the base round trips of full packets from either end."""
        back = path._replace(there_bps=path.back_bps, back_bps=path.there_bps)
        return path.base_rtt_ps(self.framing, mtu_bytes), back.base_rtt_ps(self.framing, mtu_bytes)
