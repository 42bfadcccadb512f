"""What a kernel refuses, by name."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of

from harness.testbeds.kernel.support import unsupported

CLOS = "topology={kind: two_tier, racks: 2, hosts_per_rack: 2, rate: 10Gbps}"


def test_it_has_one_card(tmp_path: Path) -> None:
    assert unsupported(cell_of(tmp_path, "topology.nic=soft_roce")) is None


def test_soft_roce_carries_the_agents_transports(tmp_path: Path) -> None:
    for transport in ("rogue", "rogue-uc", "roce", "roce-uc"):
        assert unsupported(cell_of(tmp_path, f"transports=[{transport}]")) is None


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("transports=[dctcp]", "has no dctcp; it has rogue, "),
        ("transports=[roce+pfc]", "has no roce+pfc"),
        ("transports=[{name: rogue, completions: polling}]", "set completions to event"),
        ("topology.switch=voq", "leave topology.switch out"),
        ("topology.nic=cx4", "leave topology.nic out"),
        ("topology.delay_spread=1us", "topology.delay_spread is for the simulator"),
        ("faults=[{kind: link_cut, target: s0-h2, at: 1ms, duration: 1ms}]", "such as LinkCut"),
    ],
)
def test_what_it_has_not(tmp_path: Path, setting: str, words: str) -> None:
    assert words in (unsupported(cell_of(tmp_path, setting, text=SMALL)) or "")
