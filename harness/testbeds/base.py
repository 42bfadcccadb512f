"""What every testbed can be asked."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.errors import ExitCode, HarnessError
from rogue.workloads.records import FailureKind

if TYPE_CHECKING:
    import numpy as np

Columns = Mapping[str, "Sequence[object] | np.ndarray"]
Fact = str | int | float | bool | None
Progress = Callable[[float], None]
"""Called with the fraction of a cell that is done, 0 to 1."""


class TestbedError(HarnessError):
    """A cell failed for a reason that the testbed knows."""

    __test__ = False  # pytest: not a test class
    exit_code = ExitCode.TESTBED

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(*message.splitlines())
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell has no result."""

    kind: FailureKind
    message: str


@dataclass(slots=True)
class CellResult:
    """What a cell measured: tables by the names of `rogue.workloads.records`, columns in any order."""

    tables: dict[str, Columns] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    not_measured: dict[str, str] = field(default_factory=dict)
    """Measures that were asked for and are not there, with the reason, or of which no sample is whole."""
    failure: Failure | None = None
    raw: dict[str, bytes] = field(default_factory=dict)
    """Files for `raw/`."""


class Testbed(ABC):
    """A place where cells run.  It is pickled into the process that runs a cell."""

    __test__ = False  # pytest: not a test class

    @property
    @abstractmethod
    def name(self) -> str:
        """Key in the registry."""

    @property
    def jobs_max(self) -> int | None:
        """How many cells may run at once; None: as many as there are cores."""
        return None

    def jobs(self, wanted: int) -> int:
        """The number of cells at once: as wanted, but at most what can run here."""
        return min(wanted, self.jobs_max or wanted)

    def obstacles(self) -> list[str]:
        """What is in the way of measuring here now, a sentence each; asked once before a run."""
        return []

    @abstractmethod
    def unsupported(self, cell: Cell) -> str | None:
        """Why the cell cannot run here, naming what could; None if it can."""

    def is_same_for_every_seed(self, cell: Cell) -> bool:
        """Whether the repetitions of a cell, which differ in their seeds alone, have one result here.

        Then a plan asks about the first one only: whether it can run, and how long it should take.
        """
        return False

    @abstractmethod
    def parameter_mistake(self, cell: Cell) -> ParameterMistake | None:
        """The first parameter of the cell's transport that cannot be; None if there is none."""

    def differences(self, cell: Cell) -> list[str]:
        """What the network of a cell that can run here has other than asked for, a sentence each."""
        return []

    @abstractmethod
    def estimate_seconds(self, cell: Cell) -> float:
        """How long the cell should take."""

    def estimate_events(self, cell: Cell) -> float | None:
        """How many events an engine should simulate for it; None where nothing is simulated."""
        return None

    @abstractmethod
    def run(self, cell: Cell, progress: Progress) -> CellResult:
        """Run one cell to its end.

        A failure that the testbed recognises is returned in the result, with what was measured until then, or
        raised as TestbedError; any other exception counts as a bug.
        """
