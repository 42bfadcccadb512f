"""Whose parameter a mistake is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Group
from rogue.harness.cell.transport import ParameterError, ParameterMistake, first_mistake
from rogue.harness.experiment.choices import TrafficGroup

WORKLOAD = "workload: {kind: incast, senders: 2, size: 1MB}"


def mistake_of(cell: Cell, check: Callable[[Group], None] = lambda _group: None) -> ParameterMistake | None:
    return first_mistake(cell.groups, cell.transport.parameters, check)


@pytest.mark.parametrize(
    ("more", "group"),
    [
        ("", None),
        (", parameters: {segment: 1MB}", None),
        (", parameters: {alpha: 1}", "own"),
        (", transport: roce", "own"),
    ],
)
def test_it_is_the_groups_if_the_group_states_it_or_has_its_own_transport(
    tmp_path: Path, more: str, group: str | None
) -> None:
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{{name: own, {WORKLOAD}{more}}}]")

    def check(_group: TrafficGroup) -> None:
        raise ParameterError(ParameterMistake("alpha", "another", "correct it"))

    assert mistake_of(cell, check) == ParameterMistake("alpha", "another", "correct it", group)


def test_a_parameter_of_a_transport_that_carries_nothing(tmp_path: Path) -> None:
    traffic = f"traffic=[{{name: own, {WORKLOAD}, transport: roce}}]"
    transports = "transports=[{name: rogue, alpha_packets: 1}]"
    mistake = mistake_of(cell_of(tmp_path, "workload=null", traffic, transports))
    assert mistake is not None
    assert (mistake.key, mistake.group) == ("alpha_packets", None)
    assert "every group has its own" in mistake.expected
    assert mistake_of(cell_of(tmp_path, "workload=null", traffic)) is None


def test_no_mistake(tmp_path: Path) -> None:
    assert mistake_of(cell_of(tmp_path)) is None
