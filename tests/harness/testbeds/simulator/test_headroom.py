"""Buffers that are too small for flow control."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator.support import missing_buffer, unbuildable

PFC = "transports=[roce+pfc]"
LINK_BYTES = 3 * (1024 + 62 + 16 + 4 + 20) + 84 + 2513
"""Three of the largest frames, a pause frame, and what is on 1.005 us of cable there and back at 10 Gb/s."""


@pytest.mark.parametrize(("switch", "links", "whose"), [("shared", 4, "its 4 links"), ("voq", 1, "a link")])
def test_the_sentence_names_what_is_enough(tmp_path: Path, switch: str, links: int, whose: str) -> None:
    """One byte more than the headroom can be built, and is not refused."""
    kind = f"topology.switch={switch}"
    needed_bytes = links * LINK_BYTES
    refused = cell_of(tmp_path, PFC, kind, f"topology.buffer={needed_bytes}B")
    assert missing_buffer(refused) == (
        f"s0 has a buffer of {needed_bytes}B and +pfc needs more than {needed_bytes} bytes, the headroom of "
        f"{whose}: raise topology.buffer, or lower topology.pause_headroom"
    )
    taken = cell_of(tmp_path, PFC, kind, f"topology.buffer={needed_bytes + 1}B")
    assert missing_buffer(taken) is None
    assert unbuildable(taken) is None


def test_a_threshold_leaves_room_for_the_headroom(tmp_path: Path) -> None:
    settings = (PFC, "topology.buffer=100KB", "topology.pause_headroom=20KB")
    assert missing_buffer(cell_of(tmp_path, *settings, "topology.pause_xoff=20KB")) is None
    assert missing_buffer(cell_of(tmp_path, *settings, "topology.pause_xoff=20001B")) == (
        "s0 would pause from 20001B on and has 20000 bytes beside the headroom of its 4 links: "
        "lower topology.pause_xoff, or raise topology.buffer"
    )


def test_without_flow_control_or_bounds_there_is_none(tmp_path: Path) -> None:
    assert missing_buffer(cell_of(tmp_path, "topology.buffer=1B")) is None
    assert missing_buffer(cell_of(tmp_path, PFC, "topology.buffer=unbounded")) is None
