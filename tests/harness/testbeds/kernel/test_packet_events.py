"""Packet events and recorded packets in a kernel with a virtual clock."""

from pathlib import Path

import pandas as pd
import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of
from helpers.random_packet_events import check_exactly_struck, random_events, written

from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.kernel import KernelTestbed

STAR = """\
name: kernel-events
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, mtu: 1024, buffer: 9MB, alpha: 1}
workload: {kind: incast, senders: 3, size: 200KB}
transports: [roce]
measure: [{kind: throughput, interval: 1ms}, {kind: queues, interval: 100us}, packets]
"""
PACKETS = 196
"""Of each flow: 200 KB in packets of 1024 bytes."""
FLOWS = ("main/h0->h3", "main/h1->h3", "main/h2->h3")


@pytest.fixture(scope="session")
def bed() -> KernelTestbed:
    return built_testbed()


def ran(bed: KernelTestbed, directory: Path, *settings: str) -> CellResult:
    cell = cell_of(directory, *settings, text=STAR)
    assert bed.unsupported(cell) is None
    result = bed.run(cell, lambda _fraction: None)
    assert result.failure is None
    return result


def frame(result: CellResult, table: str) -> pd.DataFrame:
    found: pd.DataFrame = to_arrow(table, result.tables[table]).to_pandas()
    return found


@pytest.mark.needs("kernel")
def test_exactly_the_named_transmissions_are_struck(bed: KernelTestbed, tmp_path: Path) -> None:
    events = random_events(59, FLOWS, PACKETS)
    result = ran(bed, tmp_path, written(events))
    assert len(frame(result, "events")) == len(events)
    assert "packet_events_unmet" not in result.facts
    check_exactly_struck(events, frame(result, "packets"), [f"h{host}->s0" for host in range(3)], "s0->h3")
