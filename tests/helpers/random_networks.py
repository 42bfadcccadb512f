"""Random small networks with random host software, for Hypothesis."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from helpers.random_features import (
    CONTROLS,
    LOSSES,
    MTUS_BYTES,
    RELIABILITIES,
    SPRAYINGS,
    TRIMMINGS,
    Cut,
    Misrouting,
    PauseFault,
    cuts,
    fair_rates,
    flow_controls,
    markings,
    misroutings,
    sprayed,
)
from hypothesis import strategies as st

from rogue.simulator import (
    CX3PRO,
    CX4,
    IDEAL,
    DatagramQueuePair,
    Loss,
    NicProfile,
    PacketEvent,
    PriorityFlowControl,
    QueuePair,
    QueuePairError,
    Simulation,
    SimulationError,
)
from rogue.simulator.framing import ROCEV2
from rogue.simulator.packet_events import PACKET_ACTIONS, PACKET_CLASSES
from rogue.simulator.profiles import RetryRules
from rogue.simulator.switches import SwitchKind

PROFILES = (
    IDEAL,
    replace(CX3PRO, withholds_next_verb=True, pci_rc_ns=2_000, pci_late_ns=2_000, pci_late_probability=0.125),
    CX3PRO,
    CX4,
    replace(CX3PRO, limiters=1),
    replace(IDEAL, limiter_scope="per_priority", limiters=2),
    replace(IDEAL, unacknowledged_packets_max=5),
    replace(IDEAL, unacknowledged_packets_max=9, packets_after_nak_max=4, ack_every_packets=4,
            retry_rules=RetryRules(keeps_ack_count=True)),
    replace(IDEAL, nak_delay_ns=3_000, resend_delay_ns=2_000, cnp_delay_ns=1_500, cnp_interval_ns=4_000,
            cnp_scope="per_ip", retry_rules=RetryRules(True, True, True, True)),
    replace(CX4, nak_delay_ns=1, cnp_delay_ns=9_000, cnp_scope="per_port", cnp_with_nak=True,
            timeout_min_ns=400_000),
)  # fmt: skip
KINDS: tuple[SwitchKind, ...] = ("shared", "shared", "voq")
RATES_BPS = (10**9, 3 * 10**9, 10**10, 10**11)


@dataclass(frozen=True)
class Link:
    rate_bps: int
    delay_ps: int
    loss: Loss | None


@dataclass(frozen=True)
class Verb:
    kind: str  # write, send, read
    length_bytes: int
    is_signaled: bool
    imm: int | None

    def post(self, queue_pair: QueuePair, wr_id: int) -> None:
        if self.kind == "read":
            queue_pair.post_read(wr_id, self.length_bytes, self.is_signaled)
        elif self.kind == "send":
            queue_pair.post_send(wr_id, self.length_bytes, self.is_signaled, imm=self.imm)
        else:
            queue_pair.post_write(wr_id, self.length_bytes, self.is_signaled, imm=self.imm)


@dataclass(frozen=True)
class Flow:
    """A connection, and host software that follows a completion with the next verb and a new rate."""

    source: int
    destination: int
    connection: dict[str, Any]
    starts_ns: int
    verbs: tuple[Verb, ...]
    reply: Verb | None  # that the other end posts for each receive
    rates_bps: tuple[int, ...]
    is_closed_loop: bool
    is_bound: bool  # to memories
    moves_ns: tuple[int, ...]  # to limiters 0, 1, ... at these times, if it is idle
    resets_ns: tuple[int, ...]  # both ends, or only the first one, at these times
    sends_datagrams: bool
    events: tuple[dict[str, Any], ...] = ()  # of packets that leave the first or the second end


@dataclass(frozen=True)
class RandomNetwork:
    profile: NicProfile
    buffers_bytes: tuple[int | None, ...]  # one per switch of a chain
    kinds: tuple[SwitchKind, ...]  # of the switches
    flow_control: PriorityFlowControl | None
    features: dict[str, Any]  # of each switch
    trunks: tuple[Link, ...]
    hosts: tuple[tuple[int, Link], ...]  # switch and link of each
    flows: tuple[Flow, ...]
    cuts: tuple[Cut, ...]
    misroutings: tuple[Misrouting, ...]
    ttl_hops: int
    seed: int
    pause_faults: tuple[PauseFault, ...] = ()

    def build(self, simulation_type: type[Simulation]) -> Simulation:
        simulation = simulation_type(seed=self.seed, ttl_hops=self.ttl_hops)
        for i, buffer_bytes in enumerate(self.buffers_bytes):
            whole_bytes = None if buffer_bytes is None else self.buffer_with_headroom(i, buffer_bytes)
            features = {"kind": self.kinds[i], "flow_control": self.flow_control, **self.features}
            simulation.add_switch(f"s{i}", buffer_bytes=whole_bytes, **features)
        for i in range(len(self.hosts)):
            simulation.add_host(f"h{i}", self.profile)
        joined = [(f"s{i}", f"s{i + 1}", trunk) for i, trunk in enumerate(self.trunks)]
        joined += [(f"h{i}", f"s{switch}", link) for i, (switch, link) in enumerate(self.hosts)]
        for a, b, link in joined:
            simulation.add_link(a, b, rate_bps=link.rate_bps, delay_ps=link.delay_ps, loss=link.loss)
        simulation.sample_throughput(50_000)
        simulation.sample_queues(30_000)
        simulation.record_oracle_rtt()
        simulation.record_memory_writes()
        for cut in self.cuts:
            ends = f"h{cut.host}", f"s{self.hosts[cut.host][0]}"
            simulation.cut_link(*ends, start_ns=cut.start_ns, duration_ns=cut.duration_ns)
        for fault in (*self.misroutings, *self.pause_faults):
            fault.apply(simulation)
        shadowed: dict[frozenset[int], QueuePair] = {}
        for flow in self.flows:
            hosts = frozenset((flow.source, flow.destination))
            if hosts & {fault.host for fault in self.misroutings}:
                flow = replace(flow, connection={**flow.connection, "spraying": None})  # noqa: PLW2901
            if self.misroutings:
                flow = replace(flow, events=())  # noqa: PLW2901
            application = _Application(simulation, flow, shadowed.get(hosts))
            if flow.connection["control"] is None:
                shadowed[hosts] = application.ends[0]
        return simulation

    def buffer_with_headroom(self, switch: int, buffer_bytes: int) -> int:
        """Besides that buffer what the links of a switch need, or the link that needs most."""
        if self.flow_control is None:
            return buffer_bytes
        links = self.links_of(switch)
        each = [self.flow_control.headroom_of("", ROCEV2, link.rate_bps, link.delay_ps) for link in links]
        room_bytes = max(buffer_bytes, self.flow_control.xoff_bytes or 0)
        if self.kinds[switch] == "shared":
            return room_bytes + sum(each) * len(self.flow_control.priorities)
        return room_bytes + max(each, default=0) * len(self.flow_control.priorities)

    def capacity_bytes(self, switch: int, buffer_bytes: int) -> int:
        """Return the capacity of all buffers of a switch."""
        buffers = 1 if self.kinds[switch] == "shared" else len(self.links_of(switch))
        return buffers * self.buffer_with_headroom(switch, buffer_bytes)

    def links_of(self, switch: int) -> list[Link]:
        links = [link for its_switch, link in self.hosts if its_switch == switch]
        return links + [trunk for i, trunk in enumerate(self.trunks) if switch in (i, i + 1)]


class _Application:
    def __init__(self, simulation: Simulation, flow: Flow, limiter_of: QueuePair | None) -> None:
        connection = dict(flow.connection)
        connection["spraying"] = sprayed(connection["spraying"], connection["service"], connection["control"])
        self.ends = simulation.connect(
            f"h{flow.source}", f"h{flow.destination}", limiter_of=limiter_of, **connection
        )
        self._queue_pair = self.ends[0]
        if flow.is_bound:
            memories = [
                simulation.register_memory(f"h{host}", 65_536, seed=host)
                for host in (flow.source, flow.destination)
            ]
            self._queue_pair.bind(*memories)
        for event in flow.events:
            host = f"h{(flow.source, flow.destination)[event['end']]}"
            keys = {name: value for name, value in event.items() if name != "end"}
            simulation.inject_packet_event(
                PacketEvent(host=host, queue_pairs=[end.qp_num for end in self.ends], **keys)
            )
        self._verbs = list(enumerate(flow.verbs))
        self._is_controlled = flow.connection["control"] is not None
        self._rates_bps = [] if self._is_controlled else list(flow.rates_bps)
        self._at_once = 1 if flow.is_closed_loop else len(self._verbs)
        # Host software that depends on timestamps: they are not in the digest.
        self._queue_pair.attach(
            lambda now, completions: self._go_on(now, completions[-1][2] % 1000), lambda now, state: None
        )
        self._timer = simulation.timer(self._go_on)
        self.ends[1].attach(
            lambda now, completions: None, lambda now, state: None, lambda now, receives: self._reply(now)
        )
        self._reply_with = flow.reply
        simulation.schedule(flow.starts_ns, self._go_on)
        for limiter, move_ns in enumerate(flow.moves_ns):
            simulation.schedule(move_ns, partial(self._move, limiter))
        for number, reset_ns in enumerate(flow.resets_ns):
            simulation.schedule(reset_ns, partial(self._reset, number))
        if flow.sends_datagrams:
            sender, receiver = (
                simulation.datagram_queue_pair(f"h{host}") for host in (flow.source, flow.destination)
            )
            receiver.attach(lambda now, datagrams: receiver.post_send(now, sender, datagrams[0][2]))
            for wr_id in range(4):
                simulation.schedule(1_700 * wr_id, partial(_send, sender, receiver, wr_id))

    def _reply(self, now_ns: int) -> None:
        if self._reply_with is not None and self.ends[1].state == 3:
            if not self._is_controlled:
                self.ends[1].set_rate(10**9 * (1 + now_ns % 5))
            self._reply_with.post(self.ends[1], now_ns)

    def _move(self, limiter: int, _now_ns: int) -> None:
        """Move to a limiter that may not exist, whether idle or not."""
        with suppress(QueuePairError, SimulationError):
            self._queue_pair.use_limiter(limiter)

    def _reset(self, number: int, _now_ns: int) -> None:
        """Reset one end or both in turn, and start again with numbers that agree if both were reset."""
        ends = self.ends[: 1 + number % 2]
        for end in ends:
            end.reset()
        self.ends[0].ready(sq_psn=1000 * number, rq_psn=2**24 - 1)
        if len(ends) == 2:
            ends[1].ready(sq_psn=2**24 - 1, rq_psn=1000 * number)

    def _go_on(self, now_ns: int, pause_ns: int = 0) -> None:
        try:
            if self._rates_bps:
                self._queue_pair.set_rate(self._rates_bps.pop())
            for wr_id, verb in self._verbs[: self._at_once]:
                verb.post(self._queue_pair, wr_id)
        except QueuePairError:
            return
        del self._verbs[: self._at_once]
        if self._verbs:
            self._timer.set(now_ns + 20_000 + pause_ns)  # continues even if the verb was not signalled


def _send(sender: DatagramQueuePair, receiver: DatagramQueuePair, wr_id: int, _now_ns: int) -> None:
    sender.post_send(wr_id, receiver, bytes(100 * wr_id))


def links() -> st.SearchStrategy[Link]:
    return st.builds(
        Link,
        rate_bps=st.sampled_from(RATES_BPS),
        delay_ps=st.sampled_from((0, 1, 500_000, 1_000_000, 3_333_333)),
        loss=st.none() | st.none() | st.none() | st.sampled_from(LOSSES),
    )


CONNECTION: dict[str, st.SearchStrategy[Any]] = {
    "mtu_bytes": st.sampled_from(MTUS_BYTES),
    "ack_every_packets": st.sampled_from((1, 3, 64)),
    "retry_count": st.sampled_from((0, 1, 3, 7)),
    "timeout_exponent": st.sampled_from((4, 5, 7)),
    "service": st.sampled_from(("rc", "rc", "uc")),
    "priority": st.sampled_from((0, 0, 3, 6)),
    "control": st.none() | st.sampled_from(CONTROLS),
    "reliability": st.none() | st.none() | st.sampled_from(RELIABILITIES),
    "spraying": st.none() | st.sampled_from(SPRAYINGS),
}
FEATURES: dict[str, st.SearchStrategy[Any]] = {
    "alpha": st.sampled_from((0.5, 1.0, 8.0)),
    "marking": st.none() | markings() | st.dictionaries(st.sampled_from((0, 3)), markings(), min_size=1),
    "weights": st.none() | st.sampled_from(({0: 1, 3: 3}, {0: 2, 3: 1, 6: 1})),
    "fair_rates": st.none() | fair_rates(),
    "has_telemetry": st.booleans(),
    "trimming": st.sampled_from(TRIMMINGS),
    "thresholds_at_bps": st.none() | st.just(40_000_000_000),
}


EVENTS: dict[str, st.SearchStrategy[Any]] = {
    "end": st.sampled_from((0, 0, 1)),
    "packet": st.sampled_from(PACKET_CLASSES),
    "psn": st.none() | st.integers(0, 9),
    "transmission": st.sampled_from((1, 1, 2, 3)),
    "action": st.sampled_from(PACKET_ACTIONS),
    "delay_ns": st.sampled_from((1, 1_000, 12_345)),
    "packets": st.sampled_from((1, 3)),
}
"""Of packets of a flow."""


def flows(hosts: int, *, has_events: bool) -> st.SearchStrategy[Flow]:
    events = st.lists(st.fixed_dictionaries(EVENTS), max_size=3) if has_events else st.just([])
    return st.builds(
        _flow_between,
        st.permutations(range(hosts)),
        st.builds(
            Flow,
            source=st.just(0),
            destination=st.just(1),
            connection=st.fixed_dictionaries(CONNECTION),
            starts_ns=st.integers(0, 20_000),
            verbs=st.lists(verbs(), min_size=1, max_size=24).map(tuple),
            reply=st.none() | verbs(),
            rates_bps=st.lists(st.sampled_from((0, 10**8, 333_333_333, 5 * 10**9, 10**11)), max_size=4).map(
                tuple
            ),
            is_closed_loop=st.booleans(),
            is_bound=st.booleans(),
            moves_ns=st.lists(st.integers(0, 50_000), max_size=3).map(tuple),
            resets_ns=st.just(()) | st.lists(st.integers(1_000, 100_000), max_size=3).map(tuple),
            sends_datagrams=st.booleans(),
            events=events.map(tuple),
        ),
    )


def verbs() -> st.SearchStrategy[Verb]:
    return st.builds(
        Verb,
        kind=st.sampled_from(("write", "write", "send", "read")),
        length_bytes=st.sampled_from((0, 1, 1024, 5_000, 65_536)),
        is_signaled=st.booleans(),
        imm=st.sampled_from((None, None, 0, 2**32 - 1)),
    )


def _flow_between(order: list[int], flow: Flow) -> Flow:
    """Put the flow between two hosts; type UC has no READ and no replies."""
    flow = replace(flow, source=order[0], destination=order[1])
    if flow.connection["reliability"] is not None:
        return _with_plain_writes(flow)
    if flow.connection["service"] == "rc":
        return flow
    reply = None if flow.reply is None else _unreliable(flow.reply)
    control = flow.connection["control"]
    if control is not None and control.wants_acknowledgements:
        control = None
    connection = {**flow.connection, "control": control}
    return replace(flow, verbs=tuple(map(_unreliable, flow.verbs)), reply=reply, connection=connection)


def _with_plain_writes(flow: Flow) -> Flow:
    """TCP besides controls its own window, so that no NIC may control its rate."""
    verbs = tuple(replace(verb, kind="write", imm=None) for verb in flow.verbs)
    connection = {**flow.connection, "service": "rc"}
    if connection["reliability"].controls_window:
        connection["control"] = None
        flow = replace(flow, events=())
    return replace(flow, connection=connection, verbs=verbs, reply=None, is_bound=False, resets_ns=())


def _unreliable(verb: Verb) -> Verb:
    return replace(verb, kind="write") if verb.kind == "read" else verb


@st.composite
def networks(
    draw: st.DrawFn,
    flow_control: st.SearchStrategy[PriorityFlowControl | None] | None = None,
    *,
    has_events: bool = False,
) -> RandomNetwork:
    switches = draw(st.integers(1, 3))
    hosts = draw(st.lists(st.tuples(st.integers(0, switches - 1), links()), min_size=2, max_size=5))
    buffers = st.sampled_from((None, 3_000, 20_000, 100_000))
    control = draw(st.none() | flow_controls() if flow_control is None else flow_control)
    if control is not None and control.xoff_bytes is None:
        buffers = st.sampled_from((3_000, 20_000, 100_000))
    return RandomNetwork(
        profile=draw(st.sampled_from(PROFILES)),
        buffers_bytes=draw(st.tuples(*[buffers] * switches)),
        kinds=draw(st.tuples(*[st.sampled_from(KINDS)] * switches)),
        flow_control=control,
        features=draw(st.fixed_dictionaries(FEATURES)),
        trunks=draw(st.tuples(*[links()] * (switches - 1))),
        hosts=tuple(hosts),
        flows=tuple(draw(st.lists(flows(len(hosts), has_events=has_events), min_size=1, max_size=6))),
        cuts=tuple(draw(st.just([]) | st.lists(cuts(len(hosts)), max_size=3))),
        misroutings=tuple(draw(st.just([]) | st.just([]) | misroutings(switches, len(hosts)))),
        ttl_hops=draw(st.sampled_from((2, 5, 8))),
        seed=draw(st.integers(0, 2**64 - 1)),
    )
