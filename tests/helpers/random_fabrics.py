"""Random fabrics of two tiers with hundreds of flows, by their seed: larger than Hypothesis can draw."""

import random
from dataclasses import dataclass, replace
from typing import Any, Literal

from helpers.networks import Builder
from helpers.random_features import (
    CONTROLS,
    LOSSES,
    MTUS_BYTES,
    RELIABILITIES,
    SPRAYINGS,
    TRIMMINGS,
    SlowReceiver,
    Storm,
    sprayed,
)
from helpers.random_networks import KINDS, PROFILES

from rogue.simulator import (
    FairRates,
    Marking,
    NicControl,
    PriorityFlowControl,
    QueuePair,
    Reliability,
    Simulation,
)

RATES_BPS = (10**10, 25 * 10**9, 10**11)
SIZES_BYTES = (0, 1, 1_000, 20_000, 20_000, 300_000)
STARTS_NS = (0, 0, 1_000, 500_000)
PRIORITIES = (0, 0, 3, 6)


@dataclass(frozen=True)
class Fabric:
    """Each leaf has hosts and is joined to each spine."""

    stream: random.Random
    simulation: Simulation
    leaves: int
    spines: int
    hosts: int

    def build(self) -> None:
        """All links of a kind may be alike, so that much happens at the same instant."""
        stream, simulation = self.stream, self.simulation
        switches = self._switch_features()
        profile = stream.choice(PROFILES)
        for name in [f"l{i}" for i in range(self.leaves)] + [f"s{i}" for i in range(self.spines)]:
            simulation.add_switch(name, kind=stream.choice(KINDS), **switches)
        for i in range(self.hosts):
            simulation.add_host(f"h{i}", profile)
            self._link(f"h{i}", f"l{i % self.leaves}", stream.choice(RATES_BPS[:2]))
        uplink_bps = stream.choice(RATES_BPS)
        for leaf in range(self.leaves):
            for spine in range(self.spines):
                self._link(f"l{leaf}", f"s{spine}", uplink_bps)
        if switches["flow_control"] is not None:
            self._break_pauses()
        simulation.sample_queues(50_000)
        simulation.sample_throughput(100_000)
        simulation.record_oracle_rtt()

    def start_flows(self, flows: int) -> None:
        """A third of them to one host."""
        stream, simulation = self.stream, self.simulation
        is_reliable = stream.random() < 0.8
        for number in range(flows):
            source, destination = stream.sample(range(self.hosts), 2)
            if source != 0 and stream.random() < 0.3:
                destination = 0
            control, reliability = self._transport()
            service: Literal["rc", "uc"] = "rc" if is_reliable or control or reliability else "uc"
            queue_pair, _ = simulation.connect(
                f"h{source}",
                f"h{destination}",
                mtu_bytes=stream.choice(MTUS_BYTES),
                retry_count=7,
                timeout_exponent=stream.choice((4, 6, 8)),
                ack_every_packets=stream.choice((1, 1, 4, 64)),
                path_seed=number,
                service=service,
                priority=stream.choice(PRIORITIES),
                control=control,
                reliability=reliability,
                spraying=sprayed(stream.choice((None, None, *SPRAYINGS)), service, control),
            )
            for wr_id in range(stream.choice((1, 1, 4))):
                start_ns = stream.randrange(1 + stream.choice(STARTS_NS))
                simulation.schedule(start_ns, _Post(queue_pair, wr_id, stream.choice(SIZES_BYTES)))

    def _switch_features(self) -> dict[str, Any]:
        stream = self.stream
        marking = Marking(
            kmin_bytes=5_000, kmax_bytes=100_000, pmax=0.2, at=stream.choice(("departure", "arrival"))
        )
        fair_rates = stream.choice((None, None, FairRates({"period_ns": 10_000})))
        # A switch cannot be paused: its messages to sources need a lossy priority.
        priorities = ((0,),) if fair_rates else ((0,), (0, 3), (6, 0, 3))
        flow_control = PriorityFlowControl(
            priorities=stream.choice(priorities),
            xoff_bytes=stream.choice((None, 20_000)),
            mtu_bytes=max(MTUS_BYTES),
            pause_ns=stream.choice((None, 60_000)),
            watchdog_ns=stream.choice((None, 20_000, 100_000)),
            watchdog_restore_ns=200_000,
        )
        features: dict[str, Any] = {
            "buffer_bytes": stream.choice((1_000_000, 4_000_000)),
            "alpha": stream.choice((0.5, 8.0)),
            "flow_control": stream.choice((None, flow_control, flow_control)),
            "marking": stream.choice((None, marking)),
            "weights": stream.choice((None, None, {0: 1, 3: 3})),
            "fair_rates": fair_rates,
            "has_telemetry": stream.random() < 0.2,
            "trimming": stream.choice(TRIMMINGS),
            "thresholds_at_bps": stream.choice((None, max(RATES_BPS))),
        }
        trimming = features["trimming"]
        if trimming is not None and trimming.priority in flow_control.priorities:
            # To pause that priority stops no packet that only gets it here: no headroom would be enough.
            features["trimming"] = replace(trimming, priority=7)
        return features

    def _break_pauses(self) -> None:
        stream = self.stream
        for _ in range(stream.choice((0, 1, 2))):
            host, start_ns = stream.randrange(self.hosts), stream.randrange(300_000)
            storm = Storm(host, start_ns, stream.choice((1_000, 600_000)), stream.choice((None, 30_000)))
            slow = SlowReceiver(host, start_ns, 500_000, stream.choice(RATES_BPS) // 7, 50_000)
            stream.choice((storm, slow)).apply(self.simulation)

    def _transport(self) -> tuple[NicControl | None, Reliability | None]:
        stream = self.stream
        kind = stream.randrange(4)
        if kind == 0:
            return stream.choice(CONTROLS), None
        if kind == 1:
            return None, stream.choice(RELIABILITIES)
        return None, None

    def _link(self, a: str, b: str, rate_bps: int) -> None:
        delay_ps = self.stream.choice((1_000_000, 1_000_000, 1_234_567))
        loss = self.stream.choice(LOSSES) if self.stream.random() < 0.05 else None
        self.simulation.add_link(a, b, rate_bps=rate_bps, delay_ps=delay_ps, loss=loss)


@dataclass(frozen=True)
class _Post:
    queue_pair: QueuePair
    wr_id: int
    length_bytes: int

    def __call__(self, _now_ns: int) -> None:
        if self.queue_pair.state == 3:
            self.queue_pair.post_write(self.wr_id, self.length_bytes, True)


def fabric(seed: int, flows: int) -> Builder:
    """The fabric with that seed."""

    def build(simulation_type: type[Simulation]) -> Simulation:
        stream = random.Random(seed)
        simulation = simulation_type(seed=seed)
        leaves, spines = stream.randint(2, 4), stream.randint(1, 4)
        each = Fabric(stream, simulation, leaves, spines, hosts=leaves * stream.randint(2, 6))
        each.build()
        each.start_flows(flows)
        return simulation

    return build
