"""Tests: let a TCP connection of the simulator follow a schedule."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.nics import parameter_mistake
from rogue.harness.testbeds.simulator.support import unsupported
from rogue.simulator import RELIABILITIES
from rogue.workloads.transports import BASES

INCAST = """\
name: streams
topology: {kind: star, hosts: 6, rate: 10Gbps, buffer: 9MB}
workload: {kind: incast, senders: 4, size: 2MB, verb: read}
probe: {kind: write0, interval: 100us}
transports: [dctcp, cubic, reno, iwarp]
measure: [{kind: throughput, interval: 1ms}, latency, queues]
"""
BESIDE = """\
name: beside
topology: {kind: star, hosts: 6, rate: 10Gbps, buffer: 9MB}
traffic:
  - {name: rdma, workload: {kind: incast, senders: 2, size: 1MB}}
  - {name: streams, workload: {kind: incast, senders: 2, size: 1MB}, transport: dctcp, priority: 3}
transports: [rogue]
"""


def run(tmp_path: Path, text: str = INCAST, index: int = 0, *settings: str) -> CellResult:
    result = SimulatorTestbed().run(
        cell_of(tmp_path, *settings, text=text, index=index), lambda _fraction: None
    )
    assert result.failure is None
    return result


def test_every_tcp_has_a_name_and_packets() -> None:
    tcps = {name for name, kind in RELIABILITIES.items() if kind.controls_window}
    assert tcps == {name for name, base in BASES.items() if base.service == "tcp"}
    assert all((base.packets is not None) is (base.service == "tcp") for base in BASES.values())


@pytest.mark.parametrize("index", range(4))
def test_an_incast_fills_the_port(tmp_path: Path, index: int) -> None:
    """Reads become writes in the same direction; the last ends when the port can have carried them all."""
    cell = cell_of(tmp_path, text=INCAST, index=index)
    assert unsupported(cell) is None
    result = run(tmp_path, INCAST, index)
    flows = result.tables["flows"]
    assert set(flows["status"]) == {"ok"}
    assert set(flows["service"]) == {"tcp"}
    assert set(flows["verb"]) == {"write"}
    assert set(flows["dst"]) == {"h5"}
    stream = cell.transport.name.packets
    assert stream is not None
    assert result.facts["ideal_goodput_bps"] == pytest.approx(10e9 * float(stream.payload_fraction))
    assert all(slowdown > 1 for slowdown in flows["slowdown"])
    all_of_it_ns = 4 * 2_000_000 * 8 / 10 / float(stream.payload_fraction)
    assert all_of_it_ns < max(flows["end_ns"]) < 1.5 * all_of_it_ns
    assert "has no read: write" in str(result.facts["replaced_verbs"])


def test_transfers_repeat(tmp_path: Path) -> None:
    flows = run(tmp_path, INCAST, 0, "workload.repeat_for=20ms").tables["flows"]
    assert len(flows["status"]) > 8
    assert set(flows["retransmitted_bytes"]) == {0} | (
        {None} if None in flows["retransmitted_bytes"] else set()
    )


def test_rdma_and_tcp_share_a_network(tmp_path: Path) -> None:
    result = run(tmp_path, BESIDE)
    flows = result.tables["flows"]
    services = dict(zip(flows["group"], flows["service"], strict=True))
    assert services == {"rdma": "rc", "streams": "tcp"}
    assert set(flows["status"]) == {"ok"}


@pytest.mark.parametrize(
    ("transport", "key", "expected"),
    [
        ("{name: dctcp, g: 2}", "g", "g from 1e-09 to 1, got 2"),
        ("{name: reno, delayed_ack: 300ms}", "delayed_ack", "delayed_ack_ns below rto_min_ns"),
    ],
)
def test_parameters_that_cannot_be(tmp_path: Path, transport: str, key: str, expected: str) -> None:
    mistake = parameter_mistake(cell_of(tmp_path, f"transports=[{transport}]", text=INCAST))
    assert mistake is not None
    assert mistake.key == key
    assert expected in mistake.expected
