"""What is said of cells that were over before a sample."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of

from rogue.harness.testbeds.simulator.network import SimulatedNetwork, build_network
from rogue.harness.testbeds.simulator.support import SAMPLES_MAX
from rogue.harness.testbeds.simulator.testbed import unmeasured_throughput, unsampled_queues

TEN_MS = (
    "the traffic was over before the first interval, of 10ms; "
    "state {kind: throughput, interval: %s} in measure"
)


def ended(directory: Path, until_ns: int, *settings: str) -> SimulatedNetwork:
    network = build_network(cell_of(directory, *settings, text=SMALL, index=1))
    network.simulation.run_until(until_ns)
    for flow in network.flows:
        flow.agent.finish()
    return network


def test_queues_are_sampled_rarely_where_there_are_many(tmp_path: Path) -> None:
    assert unsampled_queues(cell_of(tmp_path, "measure=[{kind: queues, interval: 9s}]", text=SMALL)) == (
        "the run was over before the first sample: 4 ports of switches are sampled each 9000 ms; "
        "state a shorter interval"
    )


@pytest.mark.parametrize(
    ("settings", "until_ns", "interval"),
    [
        (("workload.size=100KB",), 10_000_000, "10us"),  # 180 us, of a run of 10 ms
        (("workload.size=1MB",), 10_000_000, "100us"),  # 1.8 ms
    ],
)
def test_traffic_that_was_over_soon_wants_intervals_of_a_tenth_of_it_at_most(
    tmp_path: Path, settings: tuple[str, ...], until_ns: int, interval: str
) -> None:
    timing = cell_of(tmp_path, *settings, text=SMALL).timing
    assert unmeasured_throughput(ended(tmp_path, until_ns, *settings), timing) == TEN_MS % interval


@pytest.mark.parametrize(
    ("setting", "until_ns"),
    [
        ("workload.repeat_for=10ms", 20_000_000),
        ("workload.size=10MB", 20_000_000),
        ("workload.repeat_for=5ms", 5_000_000),  # the only sample covers the whole run of 5 ms
    ],
)
def test_traffic_that_fills_a_sample_is_measured(tmp_path: Path, setting: str, until_ns: int) -> None:
    timing = cell_of(tmp_path, setting, text=SMALL).timing
    assert unmeasured_throughput(ended(tmp_path, until_ns, setting), timing) is None


def test_where_so_short_an_interval_would_be_refused_a_time_limit_is_named_as_well(tmp_path: Path) -> None:
    """Two flows, and intervals of 10 us: as many samples as there may be, and one more."""
    network = ended(tmp_path, 10_000_000, "workload.size=100KB")
    timing = cell_of(tmp_path, "workload.size=100KB", text=SMALL).timing
    most = replace(timing, limit_ns=SAMPLES_MAX // 2 * 10_000)
    assert unmeasured_throughput(network, most) == TEN_MS % "10us"
    more = replace(timing, limit_ns=most.limit_ns + 10_000)
    assert unmeasured_throughput(network, more) == f"{TEN_MS % '10us'}, and time_limit: 10ms"
    assert unmeasured_throughput(network, replace(more, is_open_ended=True)) == TEN_MS % "10us"


def test_there_may_be_no_traffic_at_all(tmp_path: Path) -> None:
    network = replace(ended(tmp_path, 1_000), flows=[])
    timing = cell_of(tmp_path, text=SMALL).timing
    assert unmeasured_throughput(network, timing) == "there is no traffic but what measures latency"
