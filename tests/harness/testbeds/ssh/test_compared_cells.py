from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.rack_inventory import rack_of
from helpers.switch_inventory import LOGIN

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.switches.readback import Standing
from rogue.harness.testbeds.ssh import switch_readback
from rogue.harness.testbeds.ssh.switch_readback import ComparedCells


@pytest.fixture
def compared_ids(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cells of which a comparison is made, in order."""
    made, compare_all = [], switch_readback.compare_all

    def noted(cell: Cell, *others: object) -> object:
        made.append(cell.id)
        return compare_all(cell, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(switch_readback, "compare_all", noted)
    return made


def test_a_cell_is_compared_once_however_often_it_is_asked_about(
    tmp_path: Path, compared_ids: list[str]
) -> None:
    cell, rack = cell_of(tmp_path, "transports=[dctcp]"), rack_of("eos", LOGIN, switch_may_differ=["marks"])
    compared, standing = ComparedCells(), {"tor": Standing()}
    assert compared.refusal(cell, rack, standing) is None
    facts = compared.facts(cell, rack, standing)
    assert compared.facts(cell, rack, standing) == facts
    assert facts["switches_not_compared"].startswith("of tor nobody compared")
    assert compared_ids == [cell.id]


def test_another_cell_with_its_name_is_compared_anew(tmp_path: Path, compared_ids: list[str]) -> None:
    cell, rack = cell_of(tmp_path, "transports=[dctcp]"), rack_of("eos", LOGIN)
    compared, other = ComparedCells(), replace(cell)
    for each in (cell, other, other):
        assert compared.refusal(each, rack, {"tor": Standing()}) is not None
    assert compared_ids == [cell.id, cell.id]
