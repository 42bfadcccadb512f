"""Controls of receivers in C++ that tests load, and networks in which they have something to do."""

from collections.abc import Iterator
from contextlib import contextmanager

from helpers.networks import GBPS, connect, network
from helpers.plugin_files import FOLDER

from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.simulator import (
    IndependentLoss,
    Marking,
    ReceiverControl,
    Reliability,
    Simulation,
    Spraying,
    Trimming,
)
from rogue.simulator.framing import UEC

RECEIVERS = FOLDER / "receivers"
NAMES = ("rccc", "ndp", "eqds")
PAYLOAD, HEADER = 4096, 64
RATE_BPS = 100 * GBPS
RTT_NS = 4_700
NUMBERS = {
    "line_rate_bps": 100e9,
    "base_rtt_ns": RTT_NS,
    "target_delay_ns": 3_500,
    "rto_ns": 60_000,
    "header_bytes": HEADER,
}


@contextmanager
def loaded(*names: str) -> Iterator[None]:
    """Have these controls, by the names of their files."""
    load_plugins([read_plugin(str(RECEIVERS / f"{name}.h"), "") for name in names])
    yield
    unload_plugins()


def with_credits(control: ReceiverControl | None = None, **numbers: float) -> Reliability:
    """Ultra Ethernet with credits, which a control from outside grants or the engine."""
    return Reliability("uet-rccc", {**NUMBERS, **numbers}, 7, control)


def star(
    kind: type[Simulation],
    reliability: Reliability,
    pairs: list[tuple[int, int]],
    size_bytes: int = 1_000_000,
    trim_above_bytes: int | None = 100_000,
    loss: float = 0.0,
    marking: Marking | None = None,
) -> Simulation:
    """Hosts at one switch; each pair is a connection with a transfer."""
    trimming = None if trim_above_bytes is None else Trimming(trim_above_bytes)
    simulation = network(
        [(f"h{host}", "s0") for host in range(1 + max(max(pair) for pair in pairs))],
        kind,
        switch={"buffer_bytes": 400_000, "alpha": 8.0, "trimming": trimming, "marking": marking},
        settings={"framing": UEC},
        rate_bps=RATE_BPS,
        loss=IndependentLoss(loss) if loss else None,
    )
    simulation.sample_queues(2_000)
    _connect(simulation, reliability, pairs, size_bytes)
    return simulation


def fabric(
    kind: type[Simulation], reliability: Reliability, pairs: list[tuple[int, int]], size_bytes: int = 400_000
) -> Simulation:
    """Two leaves of four hosts and two spines, half of what the hosts could fill. Packets are sprayed."""
    downlinks = [(f"h{host}", f"leaf{host // 4}") for host in range(8)]
    simulation = network(
        [*downlinks, *((f"leaf{leaf}", f"spine{spine}") for leaf in range(2) for spine in range(2))],
        kind,
        switch={"buffer_bytes": 2_000_000, "alpha": 8.0, "trimming": Trimming(60_000)},
        settings={"seed": 2, "framing": UEC},
        rate_bps=RATE_BPS,
        delay_ps=500_000,
    )
    simulation.sample_queues(2_000)
    _connect(simulation, reliability, pairs, size_bytes, Spraying(paths=16))
    return simulation


def _connect(
    simulation: Simulation,
    reliability: Reliability,
    pairs: list[tuple[int, int]],
    size_bytes: int,
    spraying: Spraying | None = None,
) -> None:
    for number, (source, destination) in enumerate(pairs):
        queue_pair = connect(
            simulation,
            f"h{source}",
            f"h{destination}",
            mtu_bytes=PAYLOAD,
            path_seed=number,
            reliability=reliability,
            spraying=spraying,
        )
        queue_pair.post_write(1, size_bytes, True)
