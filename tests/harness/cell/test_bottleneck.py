"""The port that limits the flows of a cell."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import bottleneck_facts


@pytest.mark.parametrize(
    ("settings", "port", "ideal_bps"),
    [
        ((), "s0->h3", 10e9 * 1024 / 1106),
        (
            ("topology={kind: dumbbell, hosts_per_side: 4, rate: 10Gbps, bottleneck_rate: 4Gbps}",),
            "s0->s1",
            4e9 * 1024 / 1106,
        ),
        (
            ("topology={kind: parking_lot, rate: 10Gbps}", "workload.senders=4"),
            "s2->h5",
            10e9 * 1024 / 1106,
        ),
        (
            ("topology={kind: two_tier, hosts_per_rack: 2, rate: 10Gbps, uplink_rate: 1Gbps}",),
            "s1->h3",
            10e9 * 1024 / 1106,
        ),
        (
            ("topology={kind: multi_plane, leaves: 1, spines: 0, rate: 10Gbps}",),
            "s3->h3",
            10e9 * 1024 / 1106,
        ),
    ],
)
def test_the_slowest_port_that_all_flows_share(
    tmp_path: Path, settings: tuple[str, ...], port: str, ideal_bps: float
) -> None:
    assert bottleneck_facts(cell_of(tmp_path, *settings)) == {
        "bottleneck_port": port,
        "ideal_goodput_bps": ideal_bps,
    }


def test_flows_to_several_receivers_share_none(tmp_path: Path) -> None:
    many = "workload={kind: many_pairs, hosts: 3, load: 0.9, arrive_for: 10ms}"
    assert bottleneck_facts(cell_of(tmp_path, many)) == {}
