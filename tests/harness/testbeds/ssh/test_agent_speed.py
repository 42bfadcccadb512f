from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.testbeds.ssh.support import SAMPLED_VERB_NS, agent_is_slow, core_full_bps


@pytest.mark.parametrize(
    ("transport", "rate", "limit_gbps"),
    [
        ("rogue", 10, 38.8),
        ("rogue-uc", 40, 38.8),
        ("rogue", 100, 155.3),
        ("roce", 100, None),
        ("dctcp", 10, None),
    ],
)
def test_a_core_is_full_by_the_verbs_that_are_sampled(
    tmp_path: Path, transport: str, rate: int, limit_gbps: float | None
) -> None:
    """Worked: 65 536 bytes in 13.5 us are 38.8 Gb/s; RoGUE has verbs of 262 144 bytes beyond 40 Gb/s."""
    assert SAMPLED_VERB_NS == 13_500
    (group,) = cell_of(tmp_path, f"transports=[{transport}]").groups
    found = core_full_bps(group, rate * 10**9)
    assert found == (None if limit_gbps is None else pytest.approx(limit_gbps * 1e9, rel=0.002))


def test_the_plan_says_so_where_the_links_are_faster(tmp_path: Path) -> None:
    fast = cell_of(tmp_path, "transports=[rogue]", "topology.rate=40Gbps")
    assert agent_is_slow(fast) == (
        "the agent takes all of a core for one flow at 39 Gb/s at the latest, and the hosts' links have 40 "
        "Gb/s: fewer flows than fill them are limited by computing, and `segment: 128KiB` would "
        "take 51% of a core (benchmarks/agent_loop.py, on an AMD EPYC)"
    )
    assert agent_is_slow(cell_of(tmp_path, "transports=[rogue]")) is None
    assert agent_is_slow(cell_of(tmp_path, "transports=[roce]", "topology.rate=100Gbps")) is None


def test_the_segment_that_is_advised_is_one_of_which_nothing_is_said(tmp_path: Path) -> None:
    """Worked: 131 072 bytes last 26.2 us at 40 Gb/s, of which 13.5 us are 51 %; 65 536 would be 103 %."""
    advised = "transports=[{name: rogue, segment: 128KiB}]"
    assert agent_is_slow(cell_of(tmp_path, advised, "topology.rate=40Gbps")) is None
    fastest = agent_is_slow(cell_of(tmp_path, "transports=[rogue]", "topology.rate=400Gbps"))
    assert fastest is not None and "`segment: 2048KiB` would take 32% of a core" in fastest
