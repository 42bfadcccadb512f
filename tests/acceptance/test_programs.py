"""Test collective operations and GOAL programs against closed forms where nothing contends.

Ring all-reduce of n hosts and S bytes on a star of rate C and cables of d. A block has B = S/n bytes in P
packets, each with h bytes of headers and gaps; the first has r more (RETH). A step ends when its last packet
was stored and forwarded once. A host also acknowledges the block that it receives, with `a` bytes for every k
packets:

    t = (B + P h + r + (P / k) a) / C + (first packet) / C + 2 d,  2(n - 1) steps after the last host's start

All-to-all on the same star: max-min fair rates of all pairs, recomputed whenever a flow ends; DCTCP within 5
%. In the kernel a ring takes as long as on the simulator, to 10 %; TCP has hosts of 1 Gb/s there
(docs/explanation/testbeds.md). Source: Patarasuk and Yuan 2009; RFC 5681 for k of TCP.

GOAL: under LogGOPS with o = g = O = 0 a message of s bytes is received L + (s - 1) G after its send has
started. At 10 Gb/s over a switch and two 1 us cables: G = (1106 / 1024) 8 / C and L = 2 d + (16 + 1122) 8 / C
+ G. The programs of LogGOPSim's repository (76451de) were also run by LogGOPSim, `-o 0 -G 1 -S 100000000` (no
rendezvous); it counts whole nanoseconds, so G is 1 ns per byte there. Tolerance 1 %: starts differ by 10 us,
and acknowledgements take room. Source: Hoefler et al. 2010, section 2; LogGOPSim.cpp (6f76d10).
"""

from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of
from helpers.networks import max_min_bps

from rogue.harness.testbeds.base import Columns, Testbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.traffic.collective_algorithms import shares

RATE_BPS, DELAY_NS = 10**10, 1000
TEXT = """\
name: ring
topology: {{kind: star, hosts: {hosts}, rate: 10Gbps, delay: 1us, nic: ideal}}
workload: {{kind: collective, operation: {operation}, hosts: {hosts}, size: {size}B}}
transports: [{transport}]
"""


class Packets(NamedTuple):
    """Of a transport."""

    payload_bytes: int
    extra_bytes: int
    first_bytes: int
    acknowledgement_bytes: int
    acknowledged_every: int


ROCE = Packets(1024, 82, 16, 86, 64)
IRN = ROCE._replace(acknowledged_every=1)
TCP = Packets(1460, 78, 0, 84, 2)


def step_ns(block_bytes: int, kind: Packets = ROCE) -> float:
    packets = ceil(block_bytes / kind.payload_bytes)
    wire_bytes = block_bytes + packets * kind.extra_bytes + kind.first_bytes
    back_bytes = ceil(packets / kind.acknowledged_every) * kind.acknowledgement_bytes
    first_packet_bytes = min(block_bytes, kind.payload_bytes) + kind.extra_bytes + kind.first_bytes
    return (wire_bytes + back_bytes + first_packet_bytes) * 8e9 / RATE_BPS + 2 * DELAY_NS


def flows(
    directory: Path, hosts: int, size_bytes: int, transport: str, operation: str = "all_reduce"
) -> Columns:
    text = TEXT.format(hosts=hosts, size=size_bytes, transport=transport, operation=operation)
    result = SimulatorTestbed().run(cell_of(directory, text=text), lambda _fraction: None)
    assert result.failure is None
    table = result.tables["flows"]
    assert set(table["status"]) == {"ok"}
    return table


def taken_ns(table: Columns) -> float:
    """From the start of the last host that began to the last arrival."""
    is_first = np.asarray(table["transfer_id"]) == 1
    return float(max(table["arrived_ns"]) - max(np.asarray(table["start_ns"])[is_first]))


@pytest.mark.parametrize("hosts", [8, 64])
@pytest.mark.parametrize(("transport", "packets"), [("roce", ROCE), ("irn-nobdp", IRN), ("dctcp", TCP)])
def test_a_ring_all_reduce_takes_its_closed_form(
    hosts: int, transport: str, packets: Packets, tmp_path: Path
) -> None:
    table = flows(tmp_path, hosts, hosts * 250_000, transport)
    assert len(table["flow_id"]) == hosts * 2 * (hosts - 1)
    expected_ns = 2 * (hosts - 1) * step_ns(250_000, packets)
    assert taken_ns(table) == pytest.approx(expected_ns, rel=0.01)


@pytest.mark.parametrize("operation", ["reduce_scatter", "all_gather"])
def test_half_of_an_all_reduce_takes_half_as_long(operation: str, tmp_path: Path) -> None:
    table = flows(tmp_path, 8, 2_000_000, "roce", operation)
    assert taken_ns(table) == pytest.approx(7 * step_ns(250_000), rel=0.01)


def test_where_latency_is_all_a_step_takes_a_packet_and_an_acknowledgement(tmp_path: Path) -> None:
    """Blocks of a packet of 1122 bytes: 2 * 0.8976 us and 2 us; before it leave 86 bytes: 0.0688 us."""
    table = flows(tmp_path, 8, 8 * 1024, "roce")
    assert step_ns(1024) == pytest.approx(2 * 897.6 + 2000 + 68.8)
    assert taken_ns(table) == pytest.approx(14 * step_ns(1024), rel=0.001)


def fluid_ns(sizes_bytes: dict[tuple[int, int], int], payload_bps: float) -> float:
    """Return the end of the last flow if all have max-min fair rates all the time."""
    left = {ends: float(size) for ends, size in sizes_bytes.items()}
    now_ns = 0.0
    while left:
        ends = list(left)
        ports = {(side, rank): payload_bps for pair in ends for side, rank in enumerate(pair)}
        rates = max_min_bps(ports, [[(0, source), (1, destination)] for source, destination in ends])
        step_ns = min(left[pair] * 8e9 / rate for pair, rate in zip(ends, rates, strict=True))
        now_ns += step_ns
        for pair, rate in zip(ends, rates, strict=True):
            left[pair] -= rate * step_ns / 8e9
        left = {pair: size for pair, size in left.items() if size > 1}
    return now_ns


@pytest.mark.parametrize(("skew", "tolerance"), [(0.0, 0.03), (1.0, 0.05)])
def test_an_all_to_all_takes_as_long_as_with_max_min_fair_rates(
    skew: float, tolerance: float, tmp_path: Path
) -> None:
    hosts, size_bytes = 8, 16_000_000
    text = TEXT.format(hosts=hosts, size=size_bytes, transport="dctcp", operation="all_to_all")
    cell = cell_of(tmp_path, f"workload.skew={skew}", text=text)
    table = SimulatorTestbed().run(cell, lambda _fraction: None).tables["flows"]
    parts = shares(size_bytes, hosts, skew)
    pairs = {(a, b): parts[b] for a in range(hosts) for b in range(hosts) if a != b}
    expected_ns = fluid_ns(pairs, RATE_BPS * 1460 / 1538)
    assert max(table["end_ns"]) - min(table["start_ns"]) == pytest.approx(expected_ns, rel=tolerance)


KERNEL_TEXT = """\
name: ring
topology: {kind: star, hosts: 8, rate: 10Gbps, delay: 1us}
workload: {kind: collective, operation: all_reduce, hosts: 8, size: 8MB}
transports: [roce]
measure: [throughput]
"""
SLOW = ("topology.hosts=4", "topology.rate=1Gbps", "workload.hosts=4", "workload.size=4MB")


def flows_on(testbed: Testbed, place: Path, *settings: str) -> Columns:
    result = testbed.run(cell_of(place, *settings, text=KERNEL_TEXT), lambda _fraction: None)
    assert result.failure is None
    return result.tables["flows"]


@pytest.mark.needs("kernel")
@pytest.mark.long
@pytest.mark.parametrize(
    ("transport", "settings"),
    [("rogue", ()), ("roce", ()), ("roce", ("workload.verb=send",)), ("cubic", SLOW)],
)
def test_a_ring_takes_as_long_as_on_the_simulator(
    transport: str, settings: tuple[str, ...], tmp_path: Path
) -> None:
    kernel = built_testbed()
    changed = (f"transports=[{transport}]", *settings)
    measured, simulated = (flows_on(each, tmp_path, *changed) for each in (kernel, SimulatorTestbed()))
    assert taken_ns(measured) == pytest.approx(taken_ns(simulated), rel=0.1)
    for each in (measured, simulated):
        assert set(each["status"]) == {"ok"}
        waiting = np.asarray(each["transfer_id"]) > 1
        assert all(name is not None for name in np.asarray(each["waited_for_flow"])[waiting])


@pytest.mark.needs("kernel")
@pytest.mark.long
def test_what_waits_for_a_lost_flow_ends_long_before_the_time_limit(tmp_path: Path) -> None:
    """h2's link is cut for 9 of 10 s: its flows fail, and those that wait for them continue."""
    settings = (
        "transports=[{name: roce, retry_count: 1}]",
        "topology.hosts=4",
        "workload.hosts=4",
        "faults=[{kind: link_cut, target: h2, at: 3ms, duration: 9s}]",
        "time_limit=10s",
    )
    table = flows_on(built_testbed(), tmp_path, *settings)
    status = dict(zip(zip(table["flow_id"], table["transfer_id"], strict=True), table["status"], strict=True))
    assert "error" in {how for (flow, _), how in status.items() if "h2" in flow}
    assert [status["main/h3->h0", number] for number in range(1, 7)] == ["ok"] * 6
    assert max(table["end_ns"]) < 10**9


RANKS, SIZE_BYTES = 16, 2**20
G_NS = 1106 / 1024 * 0.8
L_NS = 2000 + (16 + 1122) * 0.8 + G_NS
MESSAGE_NS = L_NS + (SIZE_BYTES - 1) * G_NS
G1_RATE = "8640625Kbps"
"""G = 1106 / 1024 * 8 / C = 1 ns."""
GOAL_TEXT = """\
name: goal
topology: {{kind: star, hosts: {hosts}, rate: {rate}, delay: {delay}, nic: ideal}}
workload: {{kind: goal, file: {file}}}
transports: [{transport}]
"""


def program(ranks: list[list[str]]) -> str:
    return f"num_ranks {len(ranks)}\n" + "".join(
        "\n".join((f"rank {rank} {{", *lines, "}\n")) for rank, lines in enumerate(ranks)
    )


def dissemination() -> str:
    """In round k rank r sends to r + 2^k, when it has received what came in the round before."""
    ranks = []
    for rank in range(RANKS):
        lines = []
        for step in range(4):
            to, origin = (rank + 2**step) % RANKS, (rank - 2**step) % RANKS
            lines += [f"s{step}: send {SIZE_BYTES}b to {to} tag {step}"]
            lines += [f"r{step}: recv {SIZE_BYTES}b from {origin} tag {step}"]
            lines += [f"s{step} requires r{step - 1}"] if step else []
        ranks.append(lines)
    return program(ranks)


def binomial_reduction() -> str:
    """In round k ranks whose lowest bit is 2^k send to the one without it, when theirs have come."""
    ranks: list[list[str]] = [[] for _ in range(RANKS)]
    for step in range(4):
        for rank in range(2**step, RANKS, 2 ** (step + 1)):
            ranks[rank] += [f"s: send {SIZE_BYTES}b to {rank - 2**step}"]
            ranks[rank] += [f"s requires r{before}" for before in range(step)]
            ranks[rank - 2**step] += [f"r{step}: recv {SIZE_BYTES}b from {rank}"]
    return program(ranks)


def ring_all_reduce() -> str:
    """Of 8 ranks: 14 times an eighth to the next rank, each when the one before has come."""
    ranks = []
    for rank in range(8):
        lines = []
        for step in range(14):
            lines += [f"s{step}: send {SIZE_BYTES // 8}b to {(rank + 1) % 8} tag 0"]
            lines += [f"s{step} requires r{step - 1}"] if step else []
            lines += [f"r{step}: recv {SIZE_BYTES // 8}b from {(rank - 1) % 8} tag 0"]
        ranks.append(lines)
    return program(ranks)


def recursive_doubling() -> str:
    """Of 8 ranks: halves, quarters and eighths are exchanged, and all of them back again."""
    ranks = []
    for rank in range(8):
        lines = []
        for step, bit in enumerate((1, 2, 4, 4, 2, 1)):
            size_bytes = SIZE_BYTES // (2 * bit)
            lines += [f"s{step}: send {size_bytes}b to {rank ^ bit} tag 0"]
            lines += [f"s{step} requires r{step - 1}"] if step else []
            lines += [f"r{step}: recv {size_bytes}b from {rank ^ bit} tag 0"]
        ranks.append(lines)
    return program(ranks)


def binomial_broadcast() -> str:
    """Of 32 ranks: who has the byte sends it to those a power of two further that have not."""
    ranks: list[list[str]] = [[] for _ in range(32)]
    for rank in range(32):
        children = [rank + 2**step for step in range(5) if 2**step > rank]
        parent = rank - 2 ** (rank.bit_length() - 1) if rank else None
        ranks[rank] += [f"r: recv 1b from {parent} tag 0"] if parent is not None else []
        for child in children:
            ranks[rank] += [f"s{child}: send 1b to {child} tag 0"]
            ranks[rank] += [f"s{child} requires r"] if parent is not None else []
    return program(ranks)


def token() -> str:
    """Each rank computes for a millisecond before it sends the token on; it comes back to rank 0."""
    ranks = [[f"s: send {SIZE_BYTES}b to 1", f"r: recv {SIZE_BYTES}b from {RANKS - 1}"]]
    for rank in range(1, RANKS):
        ranks.append(
            [
                f"r: recv {SIZE_BYTES}b from {rank - 1}",
                "c: calc 1000000",
                f"s: send {SIZE_BYTES}b to {(rank + 1) % RANKS}",
                "c requires r",
                "s requires c",
            ]
        )
    return program(ranks)


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        (dissemination(), 4 * MESSAGE_NS),
        (binomial_reduction(), 4 * MESSAGE_NS),
        (token(), 16 * MESSAGE_NS + 15e6),
    ],
    ids=["dissemination", "reduction", "token"],
)
def test_it_takes_as_long_as_the_model_says(text: str, expected_ns: float, tmp_path: Path) -> None:
    taken_ns = time_of(text, tmp_path)
    assert taken_ns == pytest.approx(expected_ns, rel=0.01)


@pytest.mark.parametrize(
    ("text", "hosts", "delay", "loggopsim_ns"),
    [
        (dissemination(), 16, "1us", 4_206_520),  # -L 3055 -g 0
        (ring_all_reduce(), 8, "1us", 1_877_764),
        (binomial_broadcast(), 32, "10us", 100_915),  # -L 20183 -g 92: a packet of one byte
    ],
    ids=["dissemination", "ring", "binary_tree_32"],
)
def test_it_takes_as_long_as_in_loggopsim(
    text: str, hosts: int, delay: str, loggopsim_ns: int, tmp_path: Path
) -> None:
    taken_ns = time_of(text, tmp_path, hosts, G1_RATE, delay)
    assert taken_ns == pytest.approx(loggopsim_ns, rel=0.01)


def time_of(text: str, tmp_path: Path, hosts: int = RANKS, rate: str = "10Gbps", delay: str = "1us") -> float:
    """From the first start to the last arrival, of RoCE WRITEs, in nanoseconds."""
    file = tmp_path / "program.goal"
    file.write_text(text)
    words = GOAL_TEXT.format(hosts=hosts, rate=rate, delay=delay, file=file.name, transport="roce")
    cell = cell_of(tmp_path, text=words)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    assert result.failure is None
    flows = result.tables["flows"]
    return float(max(flows["arrived_ns"]) - min(flows["start_ns"]))
