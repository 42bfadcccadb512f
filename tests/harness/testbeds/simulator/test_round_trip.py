"""The longest round trip, what fits into it and a full buffer's delay, by hand."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator.round_trip import RoundTrip, empty_round_trip

IRN = """\
name: x
topology: {kind: fat_tree, k: 6, rate: 40Gbps, delay: 2us, delay_spread: 0ns, buffer: 1440KB}
workload: {kind: poisson, load: 0.7, sizes: irn, arrive_for: 1ms}
transports: [irn]
"""


def test_the_network_of_irn(tmp_path: Path) -> None:
    """24 us of cables, six times 1106 and 86 bytes at 40 Gb/s: 115 packets. A buffer lasts 288 us."""
    cell = cell_of(tmp_path, text=IRN)
    assert empty_round_trip(cell) == RoundTrip(24_000 + 1_431, 115, 288_000)
    ports = cell_of(tmp_path, "topology.switch=voq", "topology.buffer=240KB", text=IRN)
    assert empty_round_trip(ports) == empty_round_trip(cell)


def test_ten_gigabit(tmp_path: Path) -> None:
    """4 us and 20 ns of cables, twice 1106 and 86 bytes: 7.4 KB, or 7 packets; 9 MB last 7.2 ms."""
    assert empty_round_trip(cell_of(tmp_path)) == RoundTrip(4_020 + 1_908, 7, 7_200_000)


def test_an_unbounded_buffer(tmp_path: Path) -> None:
    assert empty_round_trip(cell_of(tmp_path, "topology.buffer=unbounded")).full_buffer_ns is None


def test_what_waits_in_nics_of_several_ports_bounds_nothing(tmp_path: Path) -> None:
    """200 KB of a leaf last 160 us at a quarter of 40 Gb/s."""
    kind = "topology={kind: multi_plane, leaves: 1, spines: 0, rate: 40Gbps, buffer: 200KB}"
    assert empty_round_trip(cell_of(tmp_path, kind)).full_buffer_ns == 160_000
    unbounded = cell_of(tmp_path, kind, "topology.buffer=unbounded")
    assert empty_round_trip(unbounded).full_buffer_ns is None


def test_telemetry_makes_packets_longer(tmp_path: Path) -> None:
    way = empty_round_trip(cell_of(tmp_path, "transports=[roce+hpcc]"))
    assert way.round_trip_ns == 4_020 + 2_042
