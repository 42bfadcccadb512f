import os
import re
import subprocess
import sys

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, Host, Star, connect

from rogue.simulator import IDEAL, ROCEV2, Simulation, SimulationError, _core


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
    simulation = Simulation(seed=1)
    simulation.add_host("a", IDEAL)
    simulation.add_host("b", IDEAL)
    simulation.add_link("a", "b", rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS)
    simulation.record_oracle_rtt()
    end_a, end_b = simulation.connect("a", "b", mtu_bytes=1024, retry_count=7, timeout_exponent=14)
    end_b.post_write(1, 10**6, True)
    end_a.post_write(2, 1024, True)
    simulation.run_until(100_000)
    # a's packet arrives at 1.8976 us; b sends its third packet until .8976 + 2 * .8848 = 2.6672 us.
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
    """What a program of its own, whose limits are nobody else's, says and complains of."""
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
def test_a_limit_of_memory_says_how_many_packets_there_was_room_for() -> None:
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
    said, complaint = output_of(program)
    assert re.fullmatch(r"SimulationError no memory for more than \d+ packets under way\n", said), complaint
