"""Test the expected time and work of simulations."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.estimate import estimate_seconds, expected_packet_hops

GREEDY = "workload.repeat_for=5ms"
FAT_TREE = "topology={kind: fat_tree, k: 4, rate: 10Gbps, switch: voq, buffer: 240KB}"
POISSON = "workload={kind: poisson, load: 0.5, sizes: irn, arrive_for: 2ms, drain_for: 20ms}"
NO_PROBE = "probe=null"
LARGE_PACKETS = "topology={kind: star, hosts: 4, rate: 100Gbps, mtu: 4096}"
BEYOND = "topology={kind: dumbbell, hosts_per_side: 2, rate: 10Gbps, bottleneck_rate: 2Gbps, buffer: 100KB}"
BOTH_WAYS = "workload={kind: permutation, shift: 2, size: 10MB, repeat_for: 30ms}"
OFFERED = "{kind: pairs, flows: [{source: h0, destination: h2, offered: 2Gbps}], size: 100KB, run_for: 5ms}"


@pytest.mark.parametrize(
    "settings",
    [
        ["transports=[rogue]", "workload.size=3MB"],
        ["transports=[rogue-uc]", "workload.size=3MB", "workload.verb_size=2500B"],
        ["transports=[roce+dcqcn]", GREEDY],
        ["transports=[roce+hpcc]", GREEDY],
        ["transports=[roce+pfc]", BEYOND, BOTH_WAYS, NO_PROBE],
        ["transports=[roce]", f"workload={OFFERED}", NO_PROBE],
        ["transports=[irn]", FAT_TREE, POISSON, NO_PROBE],
        ["transports=[uet]", LARGE_PACKETS, "workload.size=3MB", NO_PROBE],
        ["transports=[dctcp]", FAT_TREE, POISSON, NO_PROBE],
    ],
)
def test_estimated_packet_hops_are_those_of_the_run(tmp_path: Path, settings: list[str]) -> None:
    """To a tenth, where little is lost; what the probe adds is in it."""
    cell = cell_of(tmp_path, *settings)
    facts = SimulatorTestbed().run(cell, lambda _fraction: None).facts
    assert expected_packet_hops(cell) == pytest.approx(facts["packet_hops"], rel=0.1)


@pytest.mark.parametrize(
    ("more", "less", "seconds"),
    [
        # 3052 segments of 64 KiB against 191 of 1 MiB, of 8 us each
        (["transports=[rogue]"], ["transports=[roce]"], (3052 - 191) * 8e-6),
        # 200 000 verbs with an acknowledgement each, in place of segments; 406 904 more packets over links
        (["workload.verb_size=1000B"], [], (200_000 - 3052) * 8e-6 + (800_000 - 396_730) * 5e-8),
        (["workload.verb_size=1MB"], [], 0),
        # two links of each packet in a network a hundred times as large
        (["topology.hosts=1000"], [], 2 * 2 * 97_657 * 65 / 64 * 2 * 6e-8),
        (["transports=[irn]"], ["transports=[{name: irn-nobdp}]"], 0),
    ],
)  # fmt: skip
def test_segments_verbs_and_large_networks_cost_more(
    tmp_path: Path, more: list[str], less: list[str], seconds: float
) -> None:
    dear, cheap = (
        estimate_seconds(cell_of(tmp_path, "workload.size=100MB", NO_PROBE, *each)) for each in (more, less)
    )
    assert dear - cheap == pytest.approx(seconds, rel=0.02, abs=1e-3)


def test_uncontrolled_lossy_transport_repeats_packets(tmp_path: Path) -> None:
    def hops(transport: str) -> float:
        return expected_packet_hops(cell_of(tmp_path, f"transports=[{transport}]"))

    assert hops("roce-lossy") == 3 * hops("roce-lossy+pfc") == 3 * hops("roce-lossy+timely")
    assert hops("irn") == hops("irn+pfc")


def test_transfers_and_waiting_transfers_cost_time(tmp_path: Path) -> None:
    """A ring of 16 hosts has 2 x 15 x 16 transfers of 15 us; all but the first 16 wait, which costs 25 us."""
    ring = "workload={kind: collective, hosts: 16, size: 16KB}"
    settings = (ring, "topology={kind: star, hosts: 16, rate: 10Gbps}", "transports=[roce]", NO_PROBE)
    seconds = 0.5 + 16 * 1e-4 + 16 * 2 * 15 * 40e-6 - 16 * 25e-6
    assert estimate_seconds(cell_of(tmp_path, *settings)) == pytest.approx(seconds, rel=0.01)
