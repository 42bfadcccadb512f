"""What each cell asks of hardware switches beside what these have: compared once, and kept."""

from collections.abc import Mapping

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches.standing import Standing
from rogue.harness.testbeds.ssh.standing_numbers import Compared, compare_all, refusal, standing_facts


class ComparedCells:
    """A cell is asked about when it is planned, when the plan is shown, and when it has run."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Cell, tuple[Compared, ...]]] = {}

    def refusal(self, cell: Cell, inventory: Inventory, standing: Mapping[str, Standing]) -> str | None:
        """The reason why switches are not what a cell asks for; None if they are, or may differ.

        inventory: as the cell asks for it.
        """
        return refusal(self._compared(cell, inventory, standing))

    def facts(self, cell: Cell, inventory: Inventory, standing: Mapping[str, Standing]) -> dict[str, str]:
        """What differs and may, and what was not compared."""
        return standing_facts(inventory, standing, self._compared(cell, inventory, standing))

    def _compared(
        self, cell: Cell, inventory: Inventory, standing: Mapping[str, Standing]
    ) -> tuple[Compared, ...]:
        """The very same cell is known; another one with its name is another experiment's."""
        known = self._known.get(cell.id)
        if known is None or known[0] is not cell:
            known = self._known[cell.id] = (cell, compare_all(cell, inventory, standing))
        return known[1]
