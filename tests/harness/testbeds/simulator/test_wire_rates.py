"""Tests: no transport exceeds the rate of a link on the wire."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.experiments import load_text
from helpers.sample_run import write_manifest
from helpers.small_runs import cell as entry_of
from helpers.small_runs import manifest

from rogue.harness.experiment.load import resolve
from rogue.harness.plan.plan import plan_cells
from rogue.harness.results.tables import encode
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.reports.metrics import METRICS
from rogue.reports.quantities import Unit
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.transports import BASES

RATE_BPS = 10_000_000_000
# At the edges of a window the packet of one edge may be counted in full: one of 1700 in 2 ms.
ONE_PACKET = 1.001
ALONE = """\
name: wire
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 9MB}
workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}
transports: [rogue]
measure: [{kind: throughput, interval: 100us}]
"""
BESIDE = """\
name: wire
topology: {kind: star, hosts: 6, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 9MB}
traffic:
  - {name: rdma, workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}}
  - {name: other, workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}, transport: dctcp}
transports: [rogue]
measure: [{kind: throughput, interval: 100us}]
"""


def transports() -> Iterator[str]:
    """Every base, alone and with each feature, and each feature with flow control."""
    for name, base in BASES.items():
        yield name
        for feature in base.features:
            yield f"{name}+{feature}"
            if feature != "pfc" and "pfc" in base.features:
                yield f"{name}+{feature}+pfc"


def results_of(directory: Path, text: str, transport: str) -> Results:
    """Run the one cell of an experiment and read it as a report does."""
    directory.mkdir(exist_ok=True)
    loaded = load_text(directory, text, f"transports=[{transport}]")
    (cell,) = plan_cells(loaded)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    entry = entry_of("x-r1", transport=transport, facts=result.facts)
    (directory / "cells" / "x-r1").mkdir(parents=True)
    for name, content in encode(result.tables).items():
        (directory / "cells" / "x-r1" / name).write_bytes(content)
    write_manifest(directory, manifest([entry], experiment=resolve(loaded)))
    return Results(Run(directory))


@pytest.mark.parametrize("text", [ALONE, BESIDE], ids=["alone", "beside-dctcp"])
@pytest.mark.parametrize("transport", [*transports()])
def test_no_rate_exceeds_the_link(tmp_path: Path, transport: str, text: str) -> None:
    values = results_of(tmp_path, text, transport).values["x-r1"]
    rates = {name: values[name] for name, metric in METRICS.items() if metric.unit is Unit.RATE}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    assert {"aggregate_bps", "frames_bps", "most_flow_wire_bps"} <= set(known)
    too_fast = {name: rate for name, rate in known.items() if rate > ONE_PACKET * RATE_BPS}
    assert not too_fast
    share = values["aggregate_share"]
    assert share is not None
    # Beside a TCP the ideal is that of the network's own packets, which have more around them.
    assert share <= (ONE_PACKET if text is ALONE else 1.03)


def test_a_full_port_is_full_on_the_wire_for_each_framing(tmp_path: Path) -> None:
    """RoCE, TCP and HPCC's packets fill one port alike, though their goodput differs by 5 %."""
    for transport in ("roce+pfc", "dctcp", "iwarp", "roce+hpcc+pfc"):
        values = results_of(tmp_path / transport, ALONE, transport).values["x-r1"]
        share = values["aggregate_share"]
        assert share is not None
        assert 0.85 < share <= ONE_PACKET
