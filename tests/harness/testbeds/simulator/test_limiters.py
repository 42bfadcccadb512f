from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator.support import missing_limiters, unsupported

EXPERIMENT = """
name: limiters
topology: {kind: star, hosts: 4, rate: 10Gbps, nic: cx3pro}
traffic: [%s]
transports: [rogue]
"""
GROUP = "{name: g%d, workload: {kind: incast, senders: 1, verb: %s, size: 10KB}}"


def cell(directory: Path, readers: int, *settings: str, writers: int = 0) -> Cell:
    """Groups of one flow each between h0 and another host; h0 responds to READs."""
    groups = [GROUP % (number, "read") for number in range(readers)]
    groups += [GROUP % (number, "write") for number in range(readers, readers + writers)]
    return cell_of(directory, *settings, text=EXPERIMENT % ", ".join(groups))


def test_as_many_readers_as_limiters_are_served(tmp_path: Path) -> None:
    assert missing_limiters(cell(tmp_path, 8)) is None


@pytest.mark.parametrize("writers", [0, 1])
def test_one_reader_more_is_told_before_the_run(tmp_path: Path, writers: int) -> None:
    """A flow that writes from the same host needs a limiter, too."""
    crowded = cell(tmp_path, 9 - writers, writers=writers)
    reason = missing_limiters(crowded)
    assert reason is not None
    assert reason.startswith(f"h0 responds to the READs of {9 - writers} flows and needs 9 limiters")
    assert "has 8: let fewer hosts read from it" in reason
    assert unsupported(crowded) == reason


@pytest.mark.parametrize("transport", ["roce", "{name: rogue, nonsense: 1}"])
def test_who_sets_no_rates_needs_none_and_mistakes_are_told_elsewhere(tmp_path: Path, transport: str) -> None:
    assert missing_limiters(cell(tmp_path, 9, f"transports=[{transport}]")) is None


def test_a_card_with_a_limiter_for_each_queue_pair_serves_all(tmp_path: Path) -> None:
    assert missing_limiters(cell(tmp_path, 9, "topology.nic=cx4")) is None
