"""K of DCTCP: by the line rate, or as the experiment says."""

from pathlib import Path

import pytest
from helpers.experiments import carrier, cell_of

from rogue.harness.cell.marking import checked_threshold, marked_above_bytes
from rogue.harness.cell.mistakes import ParameterError


@pytest.mark.parametrize(("rate", "frames"), [("1Gbps", 20), ("10Gbps", 65), ("40Gbps", 260)])
def test_it_grows_with_the_rate(tmp_path: Path, rate: str, frames: int) -> None:
    """65 frames of 1518 bytes at 10 Gb/s, and never fewer than 20."""
    topology = cell_of(tmp_path, f"topology.rate={rate}").topology
    assert marked_above_bytes(topology, carrier("dctcp")) == frames * 1518


def test_it_can_be_asked_for(tmp_path: Path) -> None:
    asked = carrier("dctcp", {"mark_above": "60KB"})
    assert marked_above_bytes(cell_of(tmp_path).topology, asked) == 60_000


@pytest.mark.parametrize("value", [True, "long", -1, 2 * 10**12])
def test_what_no_queue_can_be(value: bool | int | str) -> None:
    with pytest.raises(ParameterError) as caught:
        checked_threshold(value)
    assert caught.value.mistake.key == "mark_above"
