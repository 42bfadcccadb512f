"""The networks and flows of the benchmark data, without any congestion control."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rogue.simulator import IDEAL, Marking, NicControl, NicProfile, PriorityFlowControl, QueuePair, Simulation

DATA = Path(__file__).parent / "data"
DELAY_PS = 1_000_000
MTU_BYTES = 1000
BUFFER_BYTES = 12_000_000
CONTROLLED_FLOW_CONTROL = PriorityFlowControl(mtu_bytes=MTU_BYTES)
CONTROLLED_RATE_BPS = 25 * 10**9
"""Thresholds of marking are 100 and 400 KB per 25 Gb/s. Source: run.py of the simulator of HPCC, 2019."""


@dataclass(frozen=True)
class Flow:
    """One transfer of the data set."""

    start_ns: int
    source: str
    destination: str
    size_bytes: int


@dataclass(frozen=True)
class Workload:
    """A data set with its network. ``fat_tree_k`` is 0 for a star."""

    name: str
    hosts: int
    rate_bps: int
    fat_tree_k: int

    def flows(self) -> Iterator[Flow]:
        """Read the flows in the order of the file."""
        with (DATA / f"{self.name.lower()}.csv").open() as file:
            for row in csv.DictReader(file):
                start_ns = int(row["start_us"]) * 1000
                yield Flow(start_ns, f"h{row['src']}", f"h{row['dst']}", int(row["size_bytes"]))

    def controlled_network(
        self,
        simulation_type: type[Simulation] = Simulation,
        flow_control: PriorityFlowControl = CONTROLLED_FLOW_CONTROL,
        loss_probability: float = 0.0,
    ) -> Simulation:
        """Build the network with flow control and marking: switches of 12 MB."""
        scale = self.rate_bps / CONTROLLED_RATE_BPS
        return self.network(
            simulation_type,
            buffer_bytes=BUFFER_BYTES,
            loss_probability=loss_probability,
            flow_control=flow_control,
            marking=Marking(kmin_bytes=round(100_000 * scale), kmax_bytes=round(400_000 * scale), pmax=0.2),
        )

    def network(  # noqa: PLR0913 - a network has that many features, all named
        self,
        simulation_type: type[Simulation] = Simulation,
        profile: NicProfile = IDEAL,
        buffer_bytes: int | None = None,
        flow_control: PriorityFlowControl | None = None,
        marking: Marking | None = None,
        loss_probability: float = 0.0,
    ) -> Simulation:
        """Build the network: all links alike, all switches alike (None = unbounded buffer)."""
        simulation = simulation_type(seed=1)
        for host in range(self.hosts):
            simulation.add_host(f"h{host}", profile)
        joined = (
            _fat_tree(self.fat_tree_k) if self.fat_tree_k else [(f"h{i}", "s0") for i in range(self.hosts)]
        )
        for name in dict.fromkeys(name for ends in joined for name in ends if not name.startswith("h")):
            simulation.add_switch(
                name, buffer_bytes=buffer_bytes, alpha=1.0, flow_control=flow_control, marking=marking
            )
        for a, b in joined:
            simulation.add_link(
                a, b, rate_bps=self.rate_bps, delay_ps=DELAY_PS, loss_probability=loss_probability
            )
        return simulation


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("W1", hosts=9, rate_bps=10 * 10**9, fat_tree_k=0),
        Workload("W2", hosts=54, rate_bps=100 * 10**9, fat_tree_k=6),
        Workload("W3", hosts=1024, rate_bps=100 * 10**9, fat_tree_k=16),
    )
}


def _fat_tree(k: int) -> list[tuple[str, str]]:
    """Return the links of a k-ary fat tree: host h is under edge switch h // (k / 2)."""
    half = k // 2
    joined = [(f"h{host}", f"e{host // half}") for host in range(k * half * half)]
    for switch in range(k * half):
        pod = switch // half
        joined += [(f"e{switch}", f"a{pod * half + i}") for i in range(half)]
        joined += [(f"a{switch}", f"c{switch % half * half + i}") for i in range(half)]
    return joined


def post(
    simulation: Simulation, flows: list[Flow], control: NicControl | None = None, timeout_exponent: int = 20
) -> list[QueuePair]:
    """Connect one queue pair per flow, and post the flow as one verb when it starts, at line rate."""
    queue_pairs = []
    for number, flow in enumerate(flows):
        queue_pair, _ = simulation.connect(
            flow.source,
            flow.destination,
            mtu_bytes=MTU_BYTES,
            retry_count=7,
            timeout_exponent=timeout_exponent,
            ack_every_packets=1,
            path_seed=number,
            control=control,
        )
        simulation.schedule(flow.start_ns, partial(_start, queue_pair, number, flow.size_bytes))
        queue_pairs.append(queue_pair)
    return queue_pairs


def _start(queue_pair: QueuePair, wr_id: int, size_bytes: int, _now_ns: int) -> None:
    queue_pair.post_write(wr_id, size_bytes, True)
