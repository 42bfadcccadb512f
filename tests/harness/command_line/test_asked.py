import pytest

from rogue.harness.command_line.nodes import asked_cells
from rogue.harness.commands.switch import NamedCells
from rogue.harness.errors import UsageError


def test_an_experiment_with_its_cell_and_its_settings() -> None:
    assert asked_cells("switch", "small", ["seed=2"], "a-r1") == NamedCells("small", ("seed=2",), "a-r1")
    assert asked_cells("switch", "", None, None) is None


@pytest.mark.parametrize(("settings", "cell", "got"), [(["seed=2"], None, "--set"), (None, "a-r1", "--cell")])
def test_what_belongs_to_an_experiment_needs_one(
    settings: list[str] | None, cell: str | None, got: str
) -> None:
    with pytest.raises(UsageError) as told:
        asked_cells("doctor", "", settings, cell)
    expected = "expected both; name one after the inventory."
    assert str(told.value) == f"doctor: got {got} without an experiment, {expected}"
