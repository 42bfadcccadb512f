"""The one network that the cells of an experiment ask of hardware switches, for `rogue switch`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.mistakes import ParameterError
from rogue.harness.commands.experiments import load_named
from rogue.harness.errors import UsageError
from rogue.harness.plan.cells import plan_cells
from rogue.harness.provisioning.inventory import HardwareSwitch, Inventory
from rogue.harness.provisioning.switches.connection import open_switch
from rogue.harness.testbeds.ssh.asked_of_switch import not_told, settings_asked
from rogue.harness.testbeds.ssh.standing_numbers import Compared, compare
from rogue.harness.testbeds.ssh.support import may_carry

_TRANSPORTS: Final = "transports"
_SHOWN_MAX: Final = 4


@dataclass(frozen=True, slots=True)
class AskedBy:
    """A cell that asks, and who the hosts are."""

    cell: Cell
    inventory: Inventory


@dataclass(frozen=True, slots=True)
class AskedSwitch:
    """A switch with the settings that cells ask of it, and what nobody here sets."""

    switch: HardwareSwitch
    not_told: tuple[str, ...] = ()
    by: AskedBy | None = field(default=None, compare=False)
    """None: the inventory itself asks for it."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """All that is asked."""
        return str(self.switch.variables), *self.not_told


@dataclass(frozen=True, slots=True)
class NamedCells:
    """An experiment as named on the command line, and perhaps one of its cells."""

    experiment: str
    settings: tuple[str, ...] = ()
    cell: str | None = None

    def load(self, plugins: Sequence[Path]) -> list[Cell]:
        """The cells that nodes can carry, of the first repetition; or the one that is named."""
        cells = plan_cells(load_named(self.experiment, self.settings, plugins))
        if self.cell is not None:
            return [self._named(cells)]
        first = [cell for cell in cells if cell.repetition == 1]
        carried = [cell for cell in first if all(may_carry(group.transport) for group in cell.groups)]
        if carried:
            return carried
        names = ", ".join(dict.fromkeys(cell.transport.shown for cell in first))
        raise UsageError(
            f"{self.experiment}: got {names}, expected a transport that nodes carry; `rogue list transports` "
            "says where each runs."
        )

    def _named(self, cells: Sequence[Cell]) -> Cell:
        found = next((cell for cell in cells if cell.id == self.cell), None)
        if found is not None:
            return found
        ids = [cell.id for cell in cells]
        more = f" and {len(ids) - _SHOWN_MAX} more" if len(ids) > _SHOWN_MAX else ""
        raise UsageError(
            f"--cell: got {self.cell}, expected one of {', '.join(ids[:_SHOWN_MAX])}{more}; `rogue plan "
            f"{self.experiment}` lists them."
        )


def asked_switch(cells: Sequence[Cell], inventory: Inventory, switch: HardwareSwitch) -> AskedSwitch:
    """What all cells ask of a switch; UsageError names what differs, if they do not ask the same."""
    asked = [_asked(cell, inventory, switch) for cell in cells]
    other = next((index for index, each in enumerate(asked) if each != asked[0]), None)
    if other is None:
        return asked[0]
    told = [_apart(mine, theirs) for mine, theirs in permutations((asked[0], asked[other]))]
    keys = " and ".join(_keys_that_differ(cells, asked))
    raise UsageError(
        f"{cells[0].experiment.name}: got cells that ask different things of {switch.name}, by {keys}: "
        f"{cells[0].id} asks for {told[0]}, and {cells[other].id} for {told[1]}; expected one network: name "
        "a cell with --cell, or take the others away with --set."
    )


def compared_switch(each: AskedSwitch) -> Compared:
    """What a switch has beside what a cell asks of it; NodeError if it does not reply."""
    assert each.by is not None, "a switch of which no cell asks anything"
    with open_switch(each.switch) as opened:
        standing = opened.standing(each.switch.variables)
    return compare(each.by.cell, each.by.inventory, each.switch, standing)


def _apart(mine: AskedSwitch, theirs: AskedSwitch) -> str:
    """What one asks for and the other does not."""
    return "; ".join(words for words in mine.phrases if words not in theirs.phrases)


def _asked(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> AskedSwitch:
    try:
        wanted = settings_asked(cell, inventory, switch)
    except ParameterError as error:
        mistake = error.mistake
        words = f"{mistake.key}: expected {mistake.expected}; {mistake.advice}."
        raise UsageError(f"{cell.experiment.name}: {cell.id}: {words}") from error
    return AskedSwitch(
        replace(switch, variables=wanted), tuple(not_told(cell, switch)), AskedBy(cell, inventory)
    )


def _keys_that_differ(cells: Sequence[Cell], asked: Sequence[AskedSwitch]) -> list[str]:
    """Keys of the experiment that alone make a difference; all that differ, where none does alone."""
    values = [{_TRANSPORTS: cell.transport.shown, **cell.factors} for cell in cells]
    differ = [
        {key for key in values[a] if values[a][key] != values[b][key]}
        for a, b in combinations(range(len(cells)), 2)
        if asked[a] != asked[b]
    ]
    alone = set().union(*(keys for keys in differ if len(keys) == 1))
    return sorted(alone or set().union(*differ))
