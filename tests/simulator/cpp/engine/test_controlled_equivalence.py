"""DCQCN under flow control on the benchmarks' traffic: both engines complete it at the same picoseconds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pytest
from helpers.benchmark_networks import engine_networks
from helpers.networks import MILLISECOND_NS, assert_equal_runs, counter

from rogue.simulator import NicControl, PriorityFlowControl, Simulation

WORKLOADS = engine_networks.WORKLOADS


@dataclass(frozen=True)
class Excerpt:
    """The first flows of a benchmark's data, cut to a size."""

    workload: str
    flows: int
    size_max_bytes: int = 10**12
    xoff_bytes: int | None = None
    loss_probability: float = 0.0
    timeout_exponent: int = 20

    def build(self, simulation_type: type[Simulation]) -> Simulation:
        """Build the network with DCQCN, marking and flow control, and post the flows."""
        workload = WORKLOADS[self.workload]
        changes: dict[str, Any] = {"loss_probability": self.loss_probability}
        if self.xoff_bytes is not None:
            mtu_bytes = engine_networks.MTU_BYTES
            changes["flow_control"] = PriorityFlowControl(mtu_bytes=mtu_bytes, xoff_bytes=self.xoff_bytes)
        simulation = workload.controlled_network(simulation_type, **changes)
        simulation.sample_queues(100_000)
        engine_networks.post(
            simulation, list(self._cut(workload)), NicControl("dcqcn"), timeout_exponent=self.timeout_exponent
        )
        return simulation

    def _cut(self, workload: Any) -> Iterator[Any]:
        for flow in islice(workload.flows(), self.flows):
            yield replace(flow, size_bytes=min(flow.size_bytes, self.size_max_bytes))


def run(excerpt: Excerpt, until_ms: int) -> Simulation:
    simulation = assert_equal_runs(excerpt.build, until_ms * MILLISECOND_NS)
    assert simulation.statistics()["verbs_done"] == excerpt.flows
    assert counter(simulation, "lossless_drops") == 0
    return simulation


def test_w1() -> None:
    simulation = run(Excerpt("W1", 8, size_max_bytes=600_000), until_ms=30)
    assert counter(simulation, "cnps_received") > 100


def test_w2() -> None:
    run(Excerpt("W2", 150), until_ms=30)


def test_a_network_so_large_that_the_engine_prefetches() -> None:
    run(Excerpt("W3", 60, size_max_bytes=100_000), until_ms=1)


@pytest.mark.parametrize("workload", ["W1", "W2"])
def test_thresholds_of_20_kb(workload: str) -> None:
    excerpt = Excerpt(workload, 8 if workload == "W1" else 150, size_max_bytes=600_000, xoff_bytes=20_000)
    assert counter(run(excerpt, until_ms=30), "pause_frames") > 200


@pytest.mark.parametrize("workload", ["W1", "W2"])
def test_one_packet_in_two_thousand_is_lost(workload: str) -> None:
    excerpt = Excerpt(
        workload,
        8 if workload == "W1" else 150,
        size_max_bytes=600_000,
        loss_probability=0.0005,
        timeout_exponent=10,
    )
    assert counter(run(excerpt, until_ms=100), "lost_packets") > 3


@pytest.mark.long
def test_w1_whole() -> None:
    run(Excerpt("W1", 8), until_ms=1_200)


@pytest.mark.long
def test_w2_whole() -> None:
    run(Excerpt("W2", 2_035), until_ms=200)


@pytest.mark.long
@pytest.mark.parametrize("workload", ["W1", "W2"])
def test_stress_of_flow_control(workload: str) -> None:
    excerpt = Excerpt(workload, 8 if workload == "W1" else 600, size_max_bytes=20_000_000, xoff_bytes=20_000)
    run(excerpt, until_ms=400)


@pytest.mark.long
def test_losses_on_w2() -> None:
    run(Excerpt("W2", 600, loss_probability=0.0005, timeout_exponent=10), until_ms=400)
