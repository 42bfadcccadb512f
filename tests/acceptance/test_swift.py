"""Swift as a plug-in outside the package: its formulas by hand, and one file on simulator and kernel.

Source: Kumar et al., SIGCOMM 2020, algorithm 1 and section 3.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.networks import SEGMENTS
from helpers.paper_runs import ExperimentRun
from helpers.plugin_files import FOLDER, SWIFT

from rogue.agent.core.cc import CONGESTION_CONTROLS, CongestionControl, Sample
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.harness.results.manifest import read_manifest

FIXED_NS = 20_000 + 2 * 3_053
"""Base target and two hops."""


@pytest.fixture(autouse=True)
def loaded() -> Iterator[None]:
    load_plugins([read_plugin(str(SWIFT), "")])
    yield
    unload_plugins()


def swift(cwnd_packets: float) -> CongestionControl:
    control = CONGESTION_CONTROLS["swift"].for_line_rate(10**10).build(LinkFacts(10**10, 1024), SEGMENTS)
    control.cwnd_packets = cwnd_packets
    return control


def sample(rtt_ns: float, now_ns: int, acked_packets: int = 64) -> Sample:
    return Sample(rtt_ns, HostNs(now_ns), acked_packets * 1024, 0)


@pytest.mark.parametrize(
    ("cwnd_packets", "target_ns"),
    [
        (100, FIXED_NS),  # flow scaling ends here
        (400, FIXED_NS),
        (0.1, FIXED_NS + 100_000),  # all of its range
        (0.01, FIXED_NS + 100_000),
        (1, FIXED_NS + 29_390),  # alpha = 100 us / (1/sqrt(.1) - 1/sqrt(100)) = 32 655 ns; times 1 - .1
    ],
)
def test_the_target_scales_with_hops_and_flows(cwnd_packets: float, target_ns: float) -> None:
    control = swift(cwnd_packets)
    control.on_sample(sample(1, 0, acked_packets=0))
    assert control.metrics()["target_delay_ns"] == pytest.approx(target_ns, abs=1)


def test_growth_is_one_packet_per_window_acknowledged() -> None:
    """64 packets of a window of 10: 10 + 64/10. Below one packet each adds one."""
    control = swift(10)
    control.on_sample(sample(10_000, 0))
    assert control.cwnd_packets == pytest.approx(16.4)
    control = swift(0.5)
    control.on_sample(sample(10_000, 0, acked_packets=1))
    assert control.cwnd_packets == pytest.approx(1.5)


def test_a_decrease_is_by_the_excess_and_once_per_round_trip() -> None:
    """At twice the target: .8 * 1/2 = 40 % less; the next one only an RTT later; never more than half."""
    control = swift(100)
    control.on_sample(sample(2 * FIXED_NS, 1_000_000))
    assert control.cwnd_packets == pytest.approx(60)
    control.on_sample(sample(90 * FIXED_NS, 1_000_000 + 2 * FIXED_NS))
    assert control.cwnd_packets == pytest.approx(60), "its own RTT has not passed"
    control.on_sample(sample(90 * FIXED_NS, 1_000_000 + 90 * FIXED_NS))
    assert control.cwnd_packets == pytest.approx(30)


def test_half_a_packet_per_round_trip_is_a_packet_every_two() -> None:
    """1106 bytes on the wire every 100 us: 88.48 Mb/s."""
    control = swift(0.5)
    control.on_sample(sample(50_000, 0, acked_packets=0))
    assert control.target_rate_bps == pytest.approx(88.48e6)


def test_five_timeouts_in_a_row_fall_to_the_minimum() -> None:
    control = swift(100)
    for _ in range(4):
        control.on_timeout()
    assert control.cwnd_packets == pytest.approx(50), "one decrease per round trip"
    control.on_timeout()
    assert control.cwnd_packets == 0.001


def run_on(testbed: str, place: Path) -> ExperimentRun:
    for file in (SWIFT, FOLDER / "swift.yaml"):
        shutil.copy(file, place)
    done = rogue(place, "run", "swift.yaml", "--testbed", testbed)
    assert done.code == 0, done.err
    manifest = read_manifest(place / done.run)
    assert manifest.plugins[0].text == SWIFT.read_text()
    return ExperimentRun(place / done.run, [cell.model_dump() for cell in manifest.cells])


def check(run: ExperimentRun) -> None:
    """Four flows fill the link, and the window moves about a target that is held to within its scaling."""
    delivered_bytes = run.table("throughput", "Swift").delivered_bytes.sum()
    assert 0.8 < delivered_bytes * 8 / 20e-3 / 10e9 < 1
    rtt = run.table("rtt", "Swift")
    assert 40_000 < rtt[rtt.accepted].rtt_ns.median() < 160_000
    assert rtt.cwnd_packets.nunique() > 10


def test_it_runs_on_the_simulator(tmp_path: Path) -> None:
    check(run_on("simulator", tmp_path))


@pytest.mark.needs("kernel")
@pytest.mark.long
def test_the_same_file_runs_in_the_kernel(tmp_path: Path) -> None:
    check(run_on("kernel", tmp_path))
