"""How long simulations should take."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator import SimulatorTestbed, estimate
from rogue.harness.testbeds.simulator.estimate import estimate_seconds, expected_packet_hops

GREEDY = "workload.repeat_for=5ms"
FAT_TREE = "topology={kind: fat_tree, k: 4, rate: 10Gbps, switch: voq, buffer: 240KB}"
POISSON = "workload={kind: poisson, load: 0.5, sizes: irn, arrive_for: 2ms, drain_for: 20ms}"
NO_PROBE = "probe=null"
ONCE = "workload={kind: permutation, shift: 2, size: 10MB}"
LARGE_PACKETS = "topology={kind: star, hosts: 4, rate: 100Gbps, mtu: 4096}"
BEYOND = "topology={kind: dumbbell, hosts_per_side: 2, rate: 10Gbps, bottleneck_rate: 2Gbps, buffer: 100KB}"
BOTH_WAYS = "workload={kind: permutation, shift: 2, size: 10MB, repeat_for: 30ms}"
OFFERED = "{kind: pairs, flows: [{source: h0, destination: h2, offered: 2Gbps}], size: 100KB, run_for: 5ms}"


@pytest.mark.parametrize(
    "settings",
    [
        ["transports=[rogue]", "workload.size=3MB"],
        ["transports=[rogue-uc]", "workload.size=3MB"],
        ["transports=[rogue]", "workload.size=3MB", "workload.verb_size=1000B"],
        ["transports=[rogue-uc]", "workload.size=3MB", "workload.verb_size=2500B"],
        ["transports=[roce+dcqcn]", GREEDY],
        ["transports=[roce+hpcc]", GREEDY],
        ["transports=[roce+pfc]", BEYOND, BOTH_WAYS, NO_PROBE],
        ["transports=[dctcp]", GREEDY],
        ["transports=[roce]", f"workload={OFFERED}", NO_PROBE],
        ["transports=[irn]", FAT_TREE, POISSON, NO_PROBE],
        ["transports=[uet]", LARGE_PACKETS, ONCE, NO_PROBE],
        ["transports=[{name: uet, sack_every: 40KB}]", LARGE_PACKETS, ONCE, NO_PROBE],
        ["transports=[uet]", LARGE_PACKETS, "workload.size=3MB", NO_PROBE],
        ["transports=[uet+rccc]", LARGE_PACKETS, ONCE, NO_PROBE],
        ["transports=[uet+rccc]", "workload.size=3MB", NO_PROBE],
        ["transports=[{name: uet+rccc, credit_packets: 1}]", LARGE_PACKETS, ONCE, NO_PROBE],
        ["transports=[dctcp]", FAT_TREE, POISSON, NO_PROBE],
    ],
)
def test_packets_and_links_are_those_of_the_run(tmp_path: Path, settings: list[str]) -> None:
    """To a tenth, where little is lost; what the probe adds is in it."""
    cell = cell_of(tmp_path, *settings)
    facts = SimulatorTestbed().run(cell, lambda _fraction: None).facts
    assert expected_packet_hops(cell) == pytest.approx(facts["packet_hops"], rel=0.1)


def test_packets_beside_those_with_telemetry_are_longer_too(tmp_path: Path) -> None:
    """Of 256 bytes, which then need 380 of the wire and not 338, in the plan as in the run."""
    bulk = (
        "{name: bulk, workload: "
        "{kind: pairs, size: 10KB, run_for: 5us, flows: [{source: h0, destination: h1}]}}"
    )
    rival = (
        "{name: rival, transport: roce, workload: "
        "{kind: pairs, size: 1MB, run_for: 5ms, flows: [{source: h2, destination: h3}]}}"
    )
    settings = ("topology={kind: star, hosts: 4, rate: 10Gbps, mtu: 256}", "workload=null", NO_PROBE)
    traffic = f"traffic=[{bulk}, {rival}]"
    plain, beside = (
        cell_of(tmp_path, *settings, traffic, f"transports=[{name}]") for name in ("roce", "roce+hpcc")
    )
    facts = SimulatorTestbed().run(beside, lambda _fraction: None).facts
    assert expected_packet_hops(beside) == pytest.approx(facts["packet_hops"], rel=0.03)
    assert expected_packet_hops(beside) == pytest.approx(expected_packet_hops(plain) * 338 / 380, rel=0.02)


def test_agents_flows_and_large_networks_cost_more(tmp_path: Path) -> None:
    """100 MB to each of two hosts: 200 MB / 64 KiB segments of 8 us, and packets of 50 ns over two links."""
    rogue, roce = (cell_of(tmp_path, "workload.size=100MB", NO_PROBE, index=index) for index in (0, 1))
    packets = 2 * 97_657
    assert expected_packet_hops(rogue) == pytest.approx(2 * packets * 65 / 64, rel=1e-4)
    assert estimate_seconds(roce) == pytest.approx(
        0.5 + 2e-4 + 191 * 8e-6 + 2 * packets * 65 / 64 * 5e-8, rel=0.01
    )
    assert estimate_seconds(rogue) - estimate_seconds(roce) == pytest.approx((3052 - 191) * 8e-6, rel=0.01)
    whole = cell_of(tmp_path, "transports=[{name: rogue, segment: 100MB}]", "workload.size=100MB", NO_PROBE)
    assert estimate_seconds(rogue) - estimate_seconds(whole) == pytest.approx((3052 - 2) * 8e-6, rel=0.01)
    large = cell_of(tmp_path, "topology.hosts=1000", "workload.size=100MB", NO_PROBE)
    assert estimate_seconds(large) - estimate_seconds(rogue) == pytest.approx(
        2 * packets * 65 / 64 * 2 * 6e-8, rel=0.01
    )


def test_small_verbs_of_an_application_cost_each(tmp_path: Path) -> None:
    """100 MB to each of two hosts in verbs of 1000 bytes: 200 000 of 4 us, as many acknowledgements."""
    verbs = cell_of(tmp_path, "workload.size=100MB", "workload.verb_size=1000B", NO_PROBE)
    assert expected_packet_hops(verbs) == pytest.approx(2 * 2 * 200_000)
    assert estimate_seconds(verbs) == pytest.approx(
        0.5 + 2e-4 + 200_000 * 4e-6 + 3052 * 8e-6 + 800_000 * 5e-8, rel=0.01
    )
    segments = cell_of(tmp_path, "workload.size=100MB", NO_PROBE)
    large = cell_of(tmp_path, "workload.size=100MB", "workload.verb_size=1MB", NO_PROBE)
    assert estimate_seconds(large) == estimate_seconds(segments), "the agent cuts them"


def test_go_back_n_repeats_unless_something_holds_it_back(tmp_path: Path) -> None:
    """Three times where hosts hear several others, half of it more where they hear one each."""

    def hops(transport: str, *settings: str) -> float:
        return expected_packet_hops(cell_of(tmp_path, f"transports=[{transport}]", *settings))

    assert hops("roce-lossy") == 3 * hops("roce-lossy+pfc") == 3 * hops("roce-lossy+timely")
    assert hops("irn") == hops("irn+pfc")
    assert hops("irn-gbn") == pytest.approx(1.1 * hops("irn"))
    alone = hops("roce-lossy", ONCE, NO_PROBE)
    assert alone == 1.5 * hops("roce-lossy+pfc", ONCE, NO_PROBE) == 1.5 * hops("irn-gbn", ONCE, NO_PROBE)


@pytest.mark.parametrize(
    ("transport", "times"), [("irn", 1.8), ("irn-nobdp", 1.8), ("irn-gbn", 1.5), ("roce-lossy", 1.0)]
)
def test_a_packet_over_a_link_is_dearer_with_what_irn_keeps(
    tmp_path: Path, transport: str, times: float
) -> None:
    """Each of a link's costs 50 ns with go-back-N."""
    cell = cell_of(tmp_path, f"transports=[{transport}]", "workload.size=100MB", NO_PROBE)
    python_seconds = 0.5 + 2e-4 + 2 * 1.5e-5 + 191 * 8e-6
    hops = expected_packet_hops(cell)
    assert estimate_seconds(cell) == pytest.approx(python_seconds + times * 5e-8 * hops, rel=1e-3)


def test_a_packet_over_a_link_is_dearer_with_ultra_ethernet(tmp_path: Path) -> None:
    """Two and a half times."""

    def seconds(size: str) -> float:
        settings = ("transports=[uet]", f"workload.size={size}", NO_PROBE)
        return estimate_seconds(cell_of(tmp_path, *settings))

    hops = expected_packet_hops(cell_of(tmp_path, "transports=[uet]", "workload.size=100MB", NO_PROBE))
    assert seconds("100MB") - seconds("1B") == pytest.approx(2.5 * 5e-8 * hops + 190 * 8e-6, rel=0.01)


def test_a_segment_is_dearer_where_the_peers_library_acknowledges_it(tmp_path: Path) -> None:
    """100 MB to each of two hosts in 3052 segments, each 2.3 times 8 us and not 8."""
    cell = cell_of(tmp_path, "transports=[rogue-uc]", "workload.size=100MB", NO_PROBE)
    python_seconds = 0.5 + 2e-4 + 2 * 1.5e-5 + 3052 * 2.3 * 8e-6
    assert estimate_seconds(cell) == pytest.approx(
        python_seconds + 5e-8 * expected_packet_hops(cell), rel=0.01
    )


def test_transfers_of_a_single_packet_have_an_acknowledgement_each(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "workload={kind: ping, size: 64B, count: 50}", "transports=[roce]", NO_PROBE)
    assert expected_packet_hops(cell) == 50 * 2 * 2


def test_transfers_cost_more_than_their_bytes_and_those_that_wait_even_more(tmp_path: Path) -> None:
    """1000 pings of 64 bytes cost 15 us each; so do a ring's 2 x 15 x 16, and all but 16 of them 25 more."""
    ping = "workload={{kind: ping, size: 64B, count: {}}}"
    one, many = (
        estimate_seconds(cell_of(tmp_path, ping.format(count), "transports=[roce]", NO_PROBE))
        for count in (1, 1001)
    )
    assert many - one == pytest.approx(1000 * (15e-6 + 2 * 2 * 5e-8 + 64 / 2**20 * 8e-6), rel=0.01)
    ring = "workload={kind: collective, hosts: 16, size: 16KB}"
    settings = (ring, "topology={kind: star, hosts: 16, rate: 10Gbps}", "transports=[roce]", NO_PROBE)
    transfers = 16 * 2 * 15
    whole = 0.5 + 16 * 1e-4 + transfers * 40e-6 - 16 * 25e-6
    assert estimate_seconds(cell_of(tmp_path, *settings)) == pytest.approx(whole, rel=0.01)


def test_what_python_touches_is_further_away_with_many_transfers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1000 transfers a tenth is few: .35 more."""
    cell = cell_of(tmp_path, "workload={kind: ping, size: 64B, count: 1000}", "transports=[roce]", NO_PROBE)
    near = estimate_seconds(cell)
    monkeypatch.setattr(estimate, "FEW_TRANSFERS", 100)
    python_seconds = 1e-4 + 1000 * (15e-6 + 64 / 2**20 * 8e-6)
    assert estimate_seconds(cell) - near == pytest.approx(0.35 * python_seconds, rel=0.01)
