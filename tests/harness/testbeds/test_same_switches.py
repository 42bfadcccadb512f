"""The same cell means the same K and pause points on each vendor's switch, or a stated refusal."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_switch import LOGIN
from helpers.nodes import rack_of

from rogue.harness.cell.cell import Cell
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.switches.change import Configuration
from rogue.harness.provisioning.switches.platform import PLATFORMS, load_platform
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables
from rogue.harness.testbeds.ssh.switch_readback import refusal
from rogue.harness.testbeds.ssh.switch_request import requested_settings

IN_NUMBERS = ("cumulus", "eos", "sonic")
"""Platforms that tell marks and pauses in numbers."""
K_OF_208_KB = "transports=[{name: dctcp, mark_above: 208KB}]"
"""A whole number of KB and of cells of 208 bytes."""
AVERAGED = (
    "transports=[{name: roce+dcqcn, kmin: 150KB, kmax: 7904KB, pmax: 1.0, average_weight: 0.002, "
    "drops_above: 1}]"
)
"""Not a whole number of cells, and not a power of two: rounded."""
HEADROOM = ("topology.pause_headroom=104KB", "topology.pause_alpha=0.5")
ASKED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("transports=[roce]",): tuple(PLATFORMS),
    ("transports=[dctcp]",): ("cumulus", "eos", "sonic"),
    (K_OF_208_KB,): ("cumulus", "eos", "onyx", "sonic"),
    (AVERAGED,): ("comware",),
    ("transports=[roce+dcqcn]",): ("cumulus", "eos", "sonic"),
    ("transports=[roce+pfc]",): ("comware", "cumulus", "eos", "onyx", "sonic"),
    ("transports=[roce+pfc]", *HEADROOM): ("sonic",),
}
"""Platforms that take the setting."""


def test_every_platform_is_covered() -> None:
    assert set(PLATFORMS) == {"comware", "cumulus", "eos", "onyx", "sonic"}


@pytest.mark.parametrize("platform", sorted(PLATFORMS))
@pytest.mark.parametrize("settings", ASKED)
def test_requested_settings_are_the_cells(tmp_path: Path, platform: str, settings: tuple[str, ...]) -> None:
    cell, rack = cell_of(tmp_path, *settings), rack_of(platform, LOGIN)
    (tor,) = rack.hardware_switches
    try:
        wanted = requested_settings(cell, rack, tor)
    except UsageError as error:
        assert platform not in ASKED[settings]
        assert "small: tor: priority 3: got " in str(error)
        return
    assert platform in ASKED[settings]
    _check(cell, wanted)
    stands = {"tor": _standing(platform, wanted)}
    assert refusal(cell, rack, stands) is None
    reason = refusal(cell_of(tmp_path, "transports=[{name: dctcp, mark_above: 416KB}]"), rack, stands)
    assert reason is not None
    if platform in IN_NUMBERS and cell.network.curves:
        assert (
            "asks for a switch that marks beyond 416000 bytes in priority 3, and as read back tor" in reason
        )


def _check(cell: Cell, wanted: HardwareSwitchVariables) -> None:
    """Check the numbers in the settings and in the text."""
    (asked,), each = cell.network.priorities.values(), wanted.switch_priorities[3]
    if asked.marks is None:
        assert each.marks is None
    else:
        assert each.marks is not None
        numbers = (each.marks.from_bytes, each.marks.to_bytes, each.marks.probability)
        assert numbers == (asked.marks.kmin_bytes, asked.marks.kmax_bytes, asked.marks.pmax)
    assert each.pauses == (asked.pauses is not None)
    if asked.pauses is not None and asked.pauses.headroom_bytes is not None:
        assert (each.headroom_bytes, each.pause_alpha) == (asked.pauses.headroom_bytes, asked.pauses.alpha)


def _standing(platform: str, wanted: HardwareSwitchVariables) -> SwitchState:
    """Return the state of a switch with these settings, read from its lines."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in load_platform(platform).lines(wanted):
        found[line.context] = (*found.get(line.context, ()), line.text)
    stands: Configuration = found
    return load_platform(platform).state(stands, "", wanted)
