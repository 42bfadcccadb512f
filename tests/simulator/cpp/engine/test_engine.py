"""Order of events, shares of buffers, limits of size, and losses that controls hear of."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from operator import sub

import pytest
from helpers.networks import MILLISECOND_NS, Host, ReferenceSimulation, Star, connect, counter, direct

from rogue.simulator import (
    CONTROLS,
    ROCEV2,
    ControlKind,
    NicControl,
    PrototypeControl,
    QueuePair,
    Reliability,
    Simulation,
    SimulationError,
    _core,
)


def test_more_links_than_sixteen_bits_count() -> None:
    simulation = Star(hosts=33_000).build()
    host = Host(connect(simulation, "h0", "h32999"))
    host.queue_pair.post_write(1, 10**6, True)
    simulation.run_until(2 * MILLISECOND_NS)
    assert host.statuses == [(1, 0)]
    assert simulation.statistics()["packet_hops"] == 2 * (977 + 16)


def test_more_links_than_the_tree_has_places_for_are_refused() -> None:
    engine = _core.Engine(seed=1, framing=ROCEV2)
    nodes = [engine.add_switch(name=name, buffer_bytes=None, alpha=1.0) for name in "ab"]
    with pytest.raises(SimulationError, match="too many links: at most 524287"):
        for _ in range(2**19):
            engine.add_link(a=nodes[0], b=nodes[1], rate_bps=1, delay_ps=0)


def test_an_idle_line_takes_the_first_verb_posted() -> None:
    simulation = Star(hosts=2).build()
    simulation.record_oracle_rtt()
    queue_pairs = [connect(simulation, "h0", "h1") for _ in range(3)]
    for queue_pair in reversed(queue_pairs):
        queue_pair.post_write(queue_pair.qp_num, 1024, True)
    simulation.run_until(MILLISECOND_NS)
    # The last one is on the line already when the others become ready, at one instant: numbers decide.
    last, first, second = (queue_pairs[i].qp_num for i in (2, 0, 1))
    assert simulation.oracle_table()["wr_id"].tolist() == [last, first, second]


def test_acknowledgements_leave_before_data() -> None:
    """b is busy with its own data; the acknowledgement of a's packet waits for one packet only."""
    simulation = direct()
    simulation.record_oracle_rtt()
    end_a, end_b = simulation.connect("a", "b", mtu_bytes=1024, retry_count=7, timeout_exponent=14)
    end_b.post_write(1, 10**6, True)
    end_a.post_write(2, 1024, True)
    simulation.run_until(100_000)
    # a's packet arrives at 1.8976 us; b sends its third packet until 0.8976 + 2 * 0.8848 = 2.6672 us.
    assert simulation.oracle_table()["t_comp_ps"].tolist() == [2_667_200 + 68_800 + 1_000_000]


@pytest.mark.parametrize(
    ("alpha", "most_bytes"),
    # One congested port holds alpha / (1 + alpha) of the buffer; it may be over it by one frame.
    [(1.0, 500_000), (0.5, 333_333), (1 / 16, 58_823), (8.0, 888_888)],
)
def test_one_port_gets_its_share_of_the_buffer(alpha: float, most_bytes: int) -> None:
    simulation = Star(hosts=9, buffer_bytes=1_000_000, alpha=alpha).build()
    simulation.sample_queues(MILLISECOND_NS)
    for i in range(8):
        connect(simulation, f"h{i}", "h8").post_write(1, 10**6, True)
    simulation.run_until(MILLISECOND_NS)
    peak = simulation.queue_table()["max_bytes"].max()
    assert most_bytes <= peak <= most_bytes + 1102


@pytest.mark.parametrize(("alpha", "ports"), [(1.0, 2), (0.25, 4)])
def test_congested_ports_share_the_buffer_evenly(alpha: float, ports: int) -> None:
    simulation = Star(hosts=3 * ports, buffer_bytes=1_000_000, alpha=alpha).build()
    for i in range(2 * ports):
        connect(simulation, f"h{i}", f"h{2 * ports + i % ports}").post_write(1, 10**7, True)
    simulation.sample_queues(4 * MILLISECOND_NS)
    simulation.run_until(4 * MILLISECOND_NS)
    table = simulation.queue_table()
    depths = table["bytes"][table["bytes"] > 0].tolist()
    assert depths == pytest.approx([1_000_000 * alpha / (1 + ports * alpha)] * ports, rel=0.02)
    simulation.check_invariants()


def test_a_packet_that_finds_its_port_idle_needs_no_buffer() -> None:
    simulation = Star(hosts=2, buffer_bytes=1).build()
    host = Host(connect(simulation, "h0", "h1"))
    for wr_id in range(3):
        host.queue_pair.post_write(wr_id, 1024, True)  # equal packets: each one leaves as the next one comes
    simulation.run_until(MILLISECOND_NS)
    assert host.statuses == [(0, 0), (1, 0), (2, 0)]


def output_of(program: str) -> tuple[str, str]:
    """Return stdout and stderr of a program in a separate process with its own limits."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


# Sanitizers set aside far more addresses, and memory, than the limits.
unsanitized = pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""), reason="the engine is sanitized"
)


@unsanitized
def test_a_limit_of_addresses_leaves_room_for_many_simulations() -> None:
    program = """
import resource

from helpers.networks import MILLISECOND_NS, connect, direct

resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
simulations = [direct() for _ in range(100)]
for simulation in simulations:
    connect(simulation, "a", "b").post_write(1, 10**6, True)
    simulation.run_until(10 * MILLISECOND_NS)
print(sum(simulation.statistics()["verbs_done"] for simulation in simulations))
"""
    assert output_of(program) == ("100\n", "")


@unsanitized
def test_a_limit_of_memory_reports_the_number_of_packets() -> None:
    program = """
import resource

from helpers.networks import MILLISECOND_NS, Star, connect

simulation = Star(hosts=9).build()
for i in range(1, 9):
    connect(simulation, f"h{i}", "h0").post_write(1, 10**8, True)
soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
resource.setrlimit(resource.RLIMIT_DATA, (2**20, hard))
try:
    simulation.run_until(100 * MILLISECOND_NS)
except Exception as error:
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    print(type(error).__name__, error)
"""
    number_from, complaint = output_of(program)
    assert re.fullmatch(r"SimulationError no memory for more than \d+ packets under way\n", number_from), (
        complaint
    )


ROUNDS = 400
FIVE_SIGMA = 50


def wins(seed: int) -> list[int]:
    """Return how often each of four hosts won the port when two sent at once and one fitted."""
    simulation = Star(hosts=5, buffer_bytes=1).build(seed=seed)
    first_try_only = {"timeout_exponent": 0}
    queue_pairs = [
        [connect(simulation, f"h{host}", "h4", **first_try_only) for host in ((0, 1), (2, 3))[number % 2]]
        for number in range(2 * ROUNDS)
    ]
    for number, pair in enumerate(queue_pairs):
        for queue_pair in pair:
            simulation.schedule(number * 10_000, lambda now, q=queue_pair: q.post_write(1, 1024, True))
    simulation.run_until(10 * MILLISECOND_NS)
    assert all(sum(q.delivered_bytes for q in pair) == 1024 for pair in queue_pairs)
    return [
        sum(pair[i].delivered_bytes for pair in queue_pairs[j::2]) // 1024 for j in (0, 1) for i in (0, 1)
    ]


def keep_two_verbs_posted(queue_pair: QueuePair) -> None:
    queue_pair.attach(
        lambda now, completions: [queue_pair.post_write(0, 65536, True) for _ in completions] and None,
        lambda now, state: None,
    )
    for _ in range(2):
        queue_pair.post_write(0, 65536, True)


@pytest.mark.parametrize("seed", [1, 2])
def test_each_tie_is_decided_independently(seed: int) -> None:
    assert wins(seed) == pytest.approx([ROUNDS / 2] * 4, abs=FIVE_SIGMA)


def test_no_sender_of_a_symmetric_incast_is_favoured() -> None:
    """Eight hosts in lockstep into a small buffer: who gets how much is chance, not the number."""
    delivered = [0] * 8
    for seed in range(20):
        simulation = Star(hosts=9, buffer_bytes=400_000).build(seed=seed)
        queue_pairs = [connect(simulation, f"h{i}", "h8", timeout_exponent=8) for i in range(8)]
        for queue_pair in queue_pairs:
            keep_two_verbs_posted(queue_pair)
        simulation.run_until(30 * MILLISECOND_NS)
        delivered = [
            sum(pair) for pair in zip(delivered, (q.delivered_bytes for q in queue_pairs), strict=True)
        ]
    jain = sum(delivered) ** 2 / (8 * sum(share**2 for share in delivered))
    assert jain >= 0.99
    assert sum(delivered[:4]) == pytest.approx(sum(delivered[4:]), rel=0.05)


class Losing(PrototypeControl):
    """Sends at line rate, and notes how often its sender has begun to repeat."""

    wants_acknowledgements = True
    recoveries: list[list[int]] = []  # noqa: RUF012 - of the test's

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        self._told: list[int] = []
        self.recoveries.append(self._told)

    def on_acknowledgement(self, *told: object) -> None:
        self._told.append(int(told[4]))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("reliability", "recoveries"), [(None, [1, 1]), ("irn", [1, 2]), ("go-back-n", [6, 11]), ("uet", [0, 0])]
)
@pytest.mark.parametrize("simulation_type", [Simulation, ReferenceSimulation])
def test_recoveries_are_reported_with_the_acknowledgement_that_begins_them(
    simulation_type: type[Simulation],
    reliability: str | None,
    recoveries: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A switch of 40 KB drops. Each recovery has had its NAK; timeouts, all that UET knows here, are none."""
    kind = ControlKind("losing", "of a test", (), True, False, Losing)
    monkeypatch.setitem(CONTROLS, "losing", kind)
    Losing.recoveries.clear()
    simulation = Star(3, buffer_bytes=40_000).build(simulation_type)
    for sender in ("h0", "h1"):
        repair = Reliability(reliability) if reliability else None
        pair = connect(simulation, sender, "h2", control=NicControl("losing"), reliability=repair)
        pair.post_write(1, 300_000, True)
    simulation.run_until(2 * MILLISECOND_NS)
    told = [each for each in Losing.recoveries if each]
    assert [each[-1] for each in told] == recoveries
    assert counter(simulation, "naks") >= sum(recoveries)
    for each in told:
        assert set(map(sub, each[1:], each)) <= {0, 1}
