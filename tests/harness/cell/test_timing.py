"""Test the duration and the sampling intervals of a cell."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell import timing as timing_module


@pytest.mark.parametrize(
    ("repeat_for", "throughput_ns", "queues_ns"),
    [
        ("20s", 10**9, 10**6),
        ("5s", 10**9, 10**6),
        ("4s", 10**8, 10**6),
        ("2s", 10**8, 10**6),
        ("1s", 10**7, 10**6),
        ("200ms", 10**7, 10**5),
        ("10ms", 10**7, 10**4),
    ],
)
def test_intervals_follow_the_duration(
    tmp_path: Path, repeat_for: str, throughput_ns: int, queues_ns: int
) -> None:
    timing = cell_of(tmp_path, f"workload.repeat_for={repeat_for}").timing
    assert timing.is_open_ended
    assert timing.limit_ns == timing.traffic_ns
    assert (timing.throughput_interval_ns, timing.queue_interval_ns) == (throughput_ns, queues_ns)


def test_drain_time_does_not_change_the_queue_interval(tmp_path: Path) -> None:
    poisson = "workload={kind: poisson, load: 0.5, size: 20KB, arrive_for: 3ms, drain_for: 1s}"
    timing = cell_of(tmp_path, poisson).timing
    assert (timing.traffic_ns, timing.queue_interval_ns) == (1_003_000_000, 10_000)


def test_many_ports_are_sampled_less_often(tmp_path: Path) -> None:
    many = ("topology.hosts=1000", "workload.senders=900", "workload.repeat_for=10s")
    assert cell_of(tmp_path, *many).timing.queue_interval_ns == 10**7
    asked = cell_of(tmp_path, *many, "measure=[{kind: queues, interval: 1ms}]")
    assert asked.timing.queue_interval_ns == 10**6


def test_many_flows_are_sampled_less_often(tmp_path: Path) -> None:
    """A hundred samples of 20 flows are too many if 1990 are allowed; those of 2 are not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing_module, "THROUGHPUT_SAMPLES_MAX", 1_990)
        many = ("topology.hosts=30", "workload.senders=20", "workload.repeat_for=1s")
        assert cell_of(tmp_path, *many).timing.throughput_interval_ns == 10**8
        few = cell_of(tmp_path, "workload.senders=2", "workload.repeat_for=1s")
        assert few.timing.throughput_interval_ns == 10**7
        asked = cell_of(tmp_path, *many, "measure=[{kind: throughput, interval: 10ms}]")
        assert asked.timing.throughput_interval_ns == 10**7


def test_requested_intervals(tmp_path: Path) -> None:
    asked = "measure=[{kind: throughput, interval: 3ms}, {kind: queues, interval: 7us}]"
    timing = cell_of(tmp_path, asked).timing
    assert (timing.throughput_interval_ns, timing.queue_interval_ns) == (3_000_000, 7_000)


def test_finite_traffic_lasts_as_long_as_its_receiver_is_busy(tmp_path: Path) -> None:
    # two times 1 MB at 10 Gb/s * 1024 / 1106
    timing = cell_of(tmp_path).timing
    assert timing.traffic_ns == pytest.approx(2e6 * 8 / (10e9 * 1024 / 1106) * 1e9, abs=1)
    assert not timing.is_open_ended
    assert timing.limit_ns == 10**9


def test_time_limit(tmp_path: Path) -> None:
    assert cell_of(tmp_path, "workload.size=1GB").timing.limit_ns == pytest.approx(17.28e9, rel=1e-2)
    assert cell_of(tmp_path, "time_limit=5ms").timing.limit_ns == 5_000_000


def test_an_open_loop_lasts_for_its_time(tmp_path: Path) -> None:
    many = "workload={kind: many_pairs, hosts: 3, load: 0.2, arrive_for: 50ms, drain_for: 10ms}"
    timing = cell_of(tmp_path, many).timing
    assert (timing.traffic_ns, timing.limit_ns, timing.is_open_ended) == (60_000_000, 60_000_000, True)


def test_traffic_is_not_over_before_the_last_arrival(tmp_path: Path) -> None:
    many = "workload={kind: many_pairs, hosts: 3, load: 0.001, arrive_for: 9s, drain_for: 1ns}"
    cell = cell_of(tmp_path, many)
    arrivals = [each.start_ns for flow in cell.groups[0].flows for each in flow.arrivals]
    assert cell.timing.traffic_ns > max(arrivals) > 1_000_000_000


def test_pings_follow_each_other(tmp_path: Path) -> None:
    """An empty network's 64-byte WRITE: 162 and 86 bytes over two links, and 4 us of delay."""
    pings = cell_of(tmp_path, "workload={kind: ping, size: 64B, verb: write, count: 100}")
    lasting_ns = pings.timing.traffic_ns - pings.groups[0].flows[0].start_ns
    assert lasting_ns == pytest.approx(100 * (4_000 + 2 * (162 + 86) * 0.8), rel=1e-3)


def test_late_large_transfer_sets_the_duration(tmp_path: Path) -> None:
    """10 MB take 8.7 ms at 10 Gb/s, from the fifth millisecond on; a larger one before is done before."""
    rows = ("0,h0,h1,12000000", "5,h2,h3,10000000", "6,h0,h1,1000")
    (tmp_path / "late.csv").write_text("\n".join(["start_ms,src,dst,size_bytes", *rows]))
    timing = cell_of(tmp_path, "workload={kind: trace, file: late.csv}", "probe=null").timing
    assert timing.traffic_ns == pytest.approx(5_000_000 + 8_640_000, rel=0.01)


def test_computation_counts_in_the_duration(tmp_path: Path) -> None:
    """Each of two hosts adds a received block in 2 s, before the reduced block goes around."""
    workload = "workload={kind: collective, hosts: 2, size: 2KB, compute: 2s}"
    timing = cell_of(tmp_path, workload).timing
    assert timing.traffic_ns == pytest.approx(2e9, rel=0.001)
    assert timing.limit_ns == 10 * timing.traffic_ns
