"""Collectives on the simulator against their closed forms, where nothing contends.

Ring all-reduce of n hosts and S bytes on a star of rate C and cables of d, fixed before the first run. A
block has B = S/n bytes in P packets, each with h bytes of headers and gaps; the first has r more (RETH). A
step is over when its last packet has been stored and forwarded once. On the cable on which a host sends a
block it also acknowledges the one that comes meanwhile, with `a` bytes for every k packets:

    t = (B + P h + r + (P / k) a) / C + (first packet) / C + 2 d

and 2(n - 1) steps follow the last host's start.

    RoCE  1024 bytes per packet, h = 62 + 20, r = 16, a = 66 + 20, k = 64
    IRN   the same with k = 1, without the cap, which assumes that nothing goes the other way
    TCP   1460 bytes per packet, h = 58 + 20, r = 0, a = 64 + 20, k = 2

All-to-all on the same star: max-min fair rates (helpers/networks.py) of all pairs; as flows end the rates of
the others are worked out again. Equal parts: C / (n - 1) each, all end together. With skew the ports of the
ranks that are sent most hold their senders up; DCTCP shares them, to 5 %.

Pipeline of p stages, M micro-batches, f and b of computing, and transfers of t < f, b: from the start of the
first transfer to the last arrival pass (M + p - 2) (f + b) + 2 (p - 1) t.

Source: Patarasuk and Yuan 2009 for the steps, workloads/framing.py for the bytes, RFC 5681 for k of
TCP.
"""

from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers.experiments import cell_of
from helpers.networks import max_min_bps

from rogue.harness.testbeds.base import Columns
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
    """Blocks of a packet of 1122 bytes: 2 * .8976 us and 2 us; before it leave 86 bytes: .0688 us."""
    table = flows(tmp_path, 8, 8 * 1024, "roce")
    assert step_ns(1024) == pytest.approx(2 * 897.6 + 2000 + 68.8)
    assert taken_ns(table) == pytest.approx(14 * step_ns(1024), rel=0.001)


def fluid_ns(sizes_bytes: dict[tuple[int, int], int], payload_bps: float) -> float:
    """When the last flow ends if all have max-min fair rates all the time."""
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


def test_a_pipeline_is_filled_and_emptied(tmp_path: Path) -> None:
    stages, batches, forward_ns, backward_ns = 4, 8, 500_000, 900_000
    workload = f"{{kind: pipeline, stages: {stages}, microbatches: {batches}, size: 250KB"
    workload += f", forward: {forward_ns}ns, backward: {backward_ns}ns}}"
    text = TEXT.format(hosts=stages, size=1000, transport="roce", operation="all_reduce")
    cell = cell_of(tmp_path, f"workload={workload}", text=text)
    table = SimulatorTestbed().run(cell, lambda _fraction: None).tables["flows"]
    computed_ns = (batches + stages - 2) * (forward_ns + backward_ns)
    expected_ns = computed_ns + 2 * (stages - 1) * step_ns(250_000)
    assert max(table["arrived_ns"]) - min(table["start_ns"]) == pytest.approx(expected_ns, rel=0.01)
