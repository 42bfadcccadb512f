"""What a switch has in other numbers than a cell asks for; K is 98 670 bytes at 10 Gb/s."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.network import SwitchPort
from rogue.harness.provisioning.switches.readback import PortState, marking_reported, priority_reported
from rogue.harness.provisioning.switches.settings import PrioritySettings
from rogue.harness.testbeds.ssh.switch_request import Mismatch, of_buffer, of_port, of_priority
from rogue.workloads.topologies import Link, Switch

DCTCP, ROCE, PFC = "transports=[dctcp]", "transports=[roce]", "transports=[roce+pfc]"
NOTHING = priority_reported()
K = priority_reported(marks=marking_reported(98_670, 98_670, 7))
PAUSES = priority_reported(pauses=True)
ALPHA, HEADROOM = "topology.pause_alpha=0.5", "topology.pause_headroom=50KB"


@pytest.mark.parametrize(
    ("settings", "stands", "words"),
    [
        ((DCTCP,), K, None),
        ((ROCE,), NOTHING, None),
        ((PFC,), PAUSES, None),
        ((PFC,), priority_reported(pauses=True, pause_alpha=2.0, headroom_bytes=9), None),
        ((PFC, ALPHA, HEADROOM), PAUSES, None),
        ((PFC, ALPHA), priority_reported(pauses=True, pause_alpha=0.5), None),
        (
            (DCTCP,),
            NOTHING,
            "a switch that marks beyond 98670 bytes in priority 3, and as read back tor marks nothing",
        ),
        (
            (DCTCP,),
            priority_reported(marks=marking_reported(150_000, 1_500_000, 10)),
            "a switch that marks beyond 98670 bytes in priority 3, and as read back tor marks from 150000 to "
            "1500000 bytes, then with 0.1",
        ),
        (
            (ROCE,),
            K,
            "a switch that marks nothing in priority 3, and as read back tor marks beyond 98670 bytes",
        ),
        ((PFC,), NOTHING, "pauses in priority 3, and as read back tor pauses nothing"),
        ((ROCE,), PAUSES, "no pauses in priority 3, and as read back tor pauses"),
        (
            (PFC, ALPHA),
            priority_reported(pauses=True, pause_alpha=2.0),
            "pauses beyond 0.5 times what is free in priority 3, and as read back tor pauses beyond 2 times "
            "that",
        ),
        (
            (PFC, HEADROOM),
            priority_reported(pauses=True, headroom_bytes=9),
            "50000 bytes of headroom in priority 3, and as read back tor keeps 9 bytes",
        ),
    ],
)
def test_marks_and_pauses(
    tmp_path: Path, settings: tuple[str, ...], stands: PrioritySettings, words: str | None
) -> None:
    found = [other.words("tor", []) for other in of_priority(cell_of(tmp_path, *settings), 3, stands)]
    assert found == ([] if words is None else [f"the experiment asks for {words}"])


def test_rate_and_mtu_of_a_port() -> None:
    """The first packet of a WRITE with MTU 1024 is 1024 + 60 bytes of IP."""
    asked = SwitchPort(Switch("s0", 9_000_000, 1.0, "shared"), Link("s0", "h0", 10**10, 1_000))
    assert list(of_port(asked, 1084, PortState())) == []
    assert list(of_port(asked, 1084, PortState(rate_bps=10**10, mtu_bytes=1084))) == []
    found = list(of_port(asked, 1084, PortState(rate_bps=25 * 10**9, mtu_bytes=1083)))
    assert found == [
        Mismatch("rate", "10 Gb/s", "has 25 Gb/s"),
        Mismatch("mtu", "packets of 1084 bytes", "takes 1083 bytes"),
    ]


def test_a_buffer(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "topology.buffer=3MB")
    assert [list(of_buffer(cell, told)) for told in (None, 3_000_000)] == [[], []]
    (other,) = of_buffer(cell, 12_000_000)
    assert other == Mismatch("buffer", "a buffer of 3000000 bytes", "has one of 12000000 bytes")
    (other,) = of_buffer(cell_of(tmp_path, "topology.buffer=unbounded"), 12_000_000)
    assert other.asked == "an unbounded buffer"


def test_where_it_is() -> None:
    words = Mismatch("rate", "10 Gb/s", "has 25 Gb/s").words("tor", ["Ethernet1", "Ethernet2"])
    assert words.endswith("as read back tor has 25 Gb/s at Ethernet1, Ethernet2")
