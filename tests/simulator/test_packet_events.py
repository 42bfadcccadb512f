"""One thousand random packet events: exactly the named transmission is affected, and as asked."""

import random
from itertools import permutations
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
import pytest
from helpers.networks import MICROSECOND_PS, MILLISECOND_NS, ReferenceSimulation, Star, connect, network

from rogue.simulator import (
    IndependentLoss,
    Marking,
    NicControl,
    PacketEvent,
    Reliability,
    Simulation,
    SimulationError,
)
from rogue.simulator.packet_events import PACKET_ACTIONS, PACKET_CLASSES

HOSTS = 4
UNTIL_NS = 3 * MILLISECOND_NS
DATA = ("write", "send", "read_response")
Identity: TypeAlias = tuple[str, int, int | None, str | None, int]


def lossy_star(simulation_type: type[Simulation] = Simulation) -> tuple[Simulation, list[tuple[int, ...]]]:
    """Hosts around a switch, a flow of each kind, losses at h1; also the queue pairs of each flow."""
    links = [(f"h{i}", "s0", {"loss": IndependentLoss(0.04)} if i == 1 else {}) for i in range(HOSTS)]
    marking = Marking(kmin_bytes=2_000, kmax_bytes=9_000, pmax=0.5)
    simulation = network(links, simulation_type, switch={"marking": marking})
    simulation.record_packets(packets_max=50_000)
    settings: dict[str, Any] = {"timeout_exponent": 3, "ack_every_packets": 4}
    dcqcn = NicControl("dcqcn", {"cnp_gap_ns": 2_000, "rate_timer_ns": 3_000}, cnp_priority=0)
    reliabilities = [Reliability("irn"), Reliability("uet", {"rto_ns": 50_000, "load_balancing": 0})]
    ends = [
        connect(simulation, "h0", "h1", **settings),
        connect(simulation, "h0", "h1", **settings),
        connect(simulation, "h1", "h2", **settings),
        connect(simulation, "h3", "h1", service="uc", timeout_exponent=0),
        connect(simulation, "h0", "h1", control=dcqcn, **settings),
        *(connect(simulation, "h2", "h1", reliability=each) for each in reliabilities),
    ]
    for wr_id in range(3):
        ends[0].post_write(wr_id, 9_000, True)
        ends[1].post_send(wr_id, 5_000, True, imm=7)
        ends[2].post_read(wr_id, 7_000, True)
        for end in ends[3:]:
            end.post_write(wr_id, 8_000, True)
    flows = [(end.qp_num, end.qp_num + 1) for end in ends]
    sender, receiver = simulation.datagram_queue_pair("h3"), simulation.datagram_queue_pair("h1")
    for at_ns in range(1_000, 30_000, 3_000):
        simulation.schedule(at_ns, lambda now: sender.post_send(now, receiver, b"x" * 100))
    return simulation, [*flows, (sender.qp_num, receiver.qp_num)]


def run(*events: PacketEvent, simulation_type: type[Simulation] = Simulation) -> Simulation:
    simulation, _ = lossy_star(simulation_type)
    for event in events:
        simulation.inject_packet_event(event)
    simulation.run_until(UNTIL_NS)
    simulation.check_invariants()
    return simulation


class Row(NamedTuple):
    """A packet on a link, or lost on it."""

    t_ps: int
    port: str
    kind: str
    src: str
    dst: str
    src_qp_num: int
    psn: int | None
    flags: str | None
    bytes: int
    marked: bool
    reason: str | None

    @property
    def packet(self) -> str:
        return "data" if self.kind in DATA else self.kind

    @property
    def arrival_ps(self) -> int:
        """Return when it came to the far end."""
        return self.t_ps + (self.bytes + 20) * 800 + MICROSECOND_PS

    @property
    def identity(self) -> Identity:
        return self.kind, self.src_qp_num, self.psn, self.flags, self.bytes

    @property
    def is_corrupt(self) -> bool:
        return "corrupt" in (self.flags or "")


def rows_of(simulation: Simulation) -> list[Row]:
    table = simulation.packet_table()
    return [Row(*row) for row in zip(*(table[name].tolist() for name in Row._fields), strict=True)]


def sent(rows: list[Row]) -> list[Row]:
    """Return what left hosts and was not lost by chance, in the order in which it came to the switch."""
    own = (row for row in rows if row.port.endswith("->s0") and row.reason != "link")
    return sorted(own, key=lambda row: row.arrival_ps)


def keys_of(row: Row, came: list[Row], flows: list[tuple[int, ...]]) -> dict[str, Any]:
    """Return the keys that name the packet of a row."""
    numbers = next(flow for flow in flows if row.src_qp_num in flow)
    has_number = row.packet not in ("cnp", "datagram")
    matches = [
        each
        for each in came
        if each.src == row.src and each.src_qp_num in numbers and each.packet == row.packet
        if each.psn == row.psn or not has_number
    ]
    return {
        "host": row.src, "queue_pairs": numbers, "packet": row.packet,
        "psn": row.psn if has_number else None,
        "transmission": next(n for n, each in enumerate(matches, 1) if each is row),
    }  # fmt: skip


def expected(came: list[Row], here: int, event: PacketEvent) -> list[Identity]:
    """Return what the switch should send of packets that came from one host for another."""
    found = [row.identity for row in came]
    packet = found.pop(here)
    if event.action == "duplicate":
        found[here:here] = [packet] * (1 + event.packets)
    elif event.action in ("mark", "corrupt"):
        found.insert(here, packet)
    elif event.action == "delay":
        until_ps = came[here].arrival_ps + event.delay_ns * 1000
        found.insert(sum(row.arrival_ps < until_ps for row in came) - 1, packet)
    elif event.action == "reorder":
        later = [place for place in range(here, len(found)) if found[place][1] in event.queue_pairs]
        if len(later) >= event.packets:
            found.insert(later[event.packets - 1] + 1, packet)
    return found


def check(event: PacketEvent, before: list[Row], struck: Row, simulation: Simulation) -> None:
    at_ps = struck.arrival_ps
    assert simulation.packet_event_times_ns() == [at_ps // 1000]
    after = rows_of(simulation)
    came = sent(after)
    # Until then only the packet itself may differ.
    earlier = [
        [row for row in rows if row.arrival_ps < at_ps and row.t_ps != struck.t_ps]
        for rows in (before, after)
    ]
    assert earlier[0] == earlier[1]
    same = [row for row in came if (row.t_ps, row.port) == (struck.t_ps, struck.port)]
    assert [row for row in came if row.reason == "event"] == same * (event.action == "drop")
    assert [row for row in came if row.is_corrupt] == same * (event.action == "corrupt")
    assert [row for row in came if row.marked] == same * (event.action == "mark")
    for source, destination in permutations(map("h{}".format, range(HOSTS)), 2):
        own = [row for row in came if (row.src, row.dst) == (source, destination)]
        wanted = expected(own, own.index(same[0]), event) if same[0] in own else [row.identity for row in own]
        port = f"s0->{destination}"
        assert [row.identity for row in after if row.port == port and row.src == source] == wanted, event


def drawn(stream: random.Random, keys: dict[str, Any]) -> PacketEvent:
    action = stream.choice(PACKET_ACTIONS)
    return PacketEvent(
        **keys, action=action, delay_ns=stream.randrange(1, 40_000), packets=stream.randrange(1, 5)
    )


@pytest.fixture(scope="module")
def base() -> tuple[list[Row], list[Row], list[tuple[int, ...]]]:
    """Return all packets without an event, those that came to the switch, and the flows."""
    simulation, flows = lossy_star()
    simulation.run_until(UNTIL_NS)
    rows = rows_of(simulation)
    return rows, sent(rows), flows


Base: TypeAlias = tuple[list[Row], list[Row], list[tuple[int, ...]]]


@pytest.mark.parametrize("part", range(10))
def test_a_hundred_random_events_each_affect_the_named_transmission_only(base: Base, part: int) -> None:
    stream, (before, came, flows) = random.Random(part), base
    for _ in range(100):
        struck = stream.choice([row for row in came if row.psn != -1])
        event = drawn(stream, keys_of(struck, came, flows))
        check(event, before, struck, run(event))


def test_the_random_events_reach_every_kind_of_packet_and_retransmissions(base: Base) -> None:
    _, came, flows = base
    found = [keys_of(row, came, flows) for row in came]
    assert {keys["packet"] for keys in found} == set(PACKET_CLASSES)
    assert max(keys["transmission"] for keys in found if keys["psn"] is not None) >= 3


@pytest.mark.parametrize("seed", range(10))
def test_the_eager_engine_agrees(base: Base, seed: int) -> None:
    """Three events at once."""
    stream, (_, came, flows) = random.Random(seed), base
    rows = [row for row in came if row.psn != -1]
    events = [drawn(stream, keys_of(stream.choice(rows), came, flows)) for _ in range(3)]
    lazy, eager = (run(*events, simulation_type=each) for each in (Simulation, ReferenceSimulation))
    assert lazy.digest() == eager.digest()
    assert lazy.packet_event_times_ns() == eager.packet_event_times_ns()
    assert rows_of(lazy) == rows_of(eager)


def two_hosts(**event: Any) -> pd.DataFrame:
    """A WRITE of five packets from h0 to h1, with an event of its packet 2; what the switch sends to h1."""
    simulation = Star(hosts=2).build()
    simulation.record_packets()
    end = connect(simulation, "h0", "h1", timeout_exponent=3)
    simulation.inject_packet_event(PacketEvent(host="h0", queue_pairs=[end.qp_num], psn=2, **event))
    end.post_write(1, 5 * 1024, True)
    simulation.run_until(MILLISECOND_NS)
    rows = pd.DataFrame(simulation.packet_table())
    return rows[rows["port"] == "s0->h1"]


@pytest.mark.parametrize(
    ("event", "numbers"),
    [
        ({"action": "drop"}, [0, 1, 3, 4, 2, 3, 4]),
        ({"action": "corrupt"}, [0, 1, 2, 3, 4, 2, 3, 4]),
        ({"action": "mark"}, [0, 1, 2, 3, 4]),
        ({"action": "duplicate", "packets": 2}, [0, 1, 2, 2, 2, 3, 4]),
        ({"action": "reorder", "packets": 2}, [0, 1, 3, 4, 2, 2, 3, 4]),
        ({"action": "delay", "delay_ns": 1_000}, [0, 1, 3, 2, 4, 2, 3, 4, 3, 4]),
        ({"action": "drop", "transmission": 2}, [0, 1, 2, 3, 4]),
    ],
)
def test_what_follows_from_each_event(event: dict[str, Any], numbers: list[int]) -> None:
    """A receiver that misses packet 2 sends one NAK, and the sender goes back to it."""
    assert list(two_hosts(**event)["psn"]) == numbers


def test_an_end_of_tcp_is_refused() -> None:
    simulation = Star(hosts=2).build()
    end = connect(simulation, "h0", "h1", reliability=Reliability("cubic"))
    event = PacketEvent(host="h0", queue_pairs=[end.qp_num], psn=0, action="drop")
    with pytest.raises(SimulationError, match="expected queue pairs of RDMA, got 2, an end of TCP"):
        simulation.inject_packet_event(event)


def test_large_networks_run_ahead_around_a_delayed_packet() -> None:
    def digest(ports: int) -> str:
        simulation, flows = lossy_star()
        simulation._engine.run_ahead_from(ports)
        event = PacketEvent(host="h0", queue_pairs=flows[0], psn=3, action="delay", delay_ns=5_000)
        simulation.inject_packet_event(event)
        simulation.run_until(UNTIL_NS)
        return simulation.digest()

    assert digest(0) == digest(1_000)
