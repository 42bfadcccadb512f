"""A testbed without a network: what a cell does is written in the label of its transport.

ok        measures something
throws    is a bug
dies      kills its own process
starves   gets no more memory
lingers   says nothing more, and never ends
invalid   gives a table that is not in the schema
timeout   fails knowingly, with what it measured until then
waits     tells the named pipe $ROGUE_FAKE_PIPE that it runs, then never ends
mends     throws until the file $ROGUE_FAKE_MENDED exists
"""

import os
import signal
import tempfile
import threading
from pathlib import Path

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.testbeds.base import CellResult, Columns, Failure, Progress, Testbed
from rogue.workloads.records import FailureKind
from rogue.workloads.streams import start_jitter_ns

PIPE = "ROGUE_FAKE_PIPE"
MENDED = "ROGUE_FAKE_MENDED"
OBSTACLE = "ROGUE_FAKE_OBSTACLE"


class FakeTestbed(Testbed):
    """Runs nothing, fails on demand."""

    @property
    def name(self) -> str:
        return "fake"

    def obstacles(self) -> list[str]:
        return [os.environ[OBSTACLE]] if OBSTACLE in os.environ else []

    def unsupported(self, cell: Cell) -> str | None:
        return "the fake testbed has no switches" if str(cell.transport.name) == "roce+pfc" else None

    def parameter_mistake(self, cell: Cell) -> ParameterMistake | None:
        if "colour" in cell.transport.parameters:
            return ParameterMistake("colour", "no colour", "remove it")
        return None

    def estimate_seconds(self, cell: Cell) -> float:
        return 1.5

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        progress(0.5)
        tables: dict[str, Columns] = {"flows": flows(cell)}
        match cell.transport.shown:
            case "throws":
                raise ZeroDivisionError("as asked")
            case "mends" if not Path(os.environ[MENDED]).exists():
                raise ZeroDivisionError("until it is mended")
            case "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            case "starves":
                raise MemoryError
            case "lingers":
                os.closerange(3, 256)
                threading.Event().wait()
            case "invalid":
                tables["queues"] = {"node": ["s0"]}
            case "timeout":
                return CellResult(tables, failure=Failure(FailureKind.TIMEOUT, "it took too long"))
            case "waits" if PIPE in os.environ:
                with tempfile.TemporaryDirectory(prefix="rogue-cell-"):
                    Path(os.environ[PIPE]).write_text(f"{os.getpid()}\n")
                    threading.Event().wait()
        progress(1.0)
        return CellResult(tables, facts={"answer": 42}, not_measured={"cpu": "nothing is computed"})


def flows(cell: Cell) -> Columns:
    """One transfer, whose start depends on the seed alone."""
    start_ns = start_jitter_ns(cell.seed, "fake")
    row: dict[str, object] = {
        "flow_id": "main/h0->h1", "transfer_id": 0, "group": "main", "transport": cell.transport.shown,
        "verb": "write", "service": "rc", "src": "h0", "dst": "h1", "size_bytes": 1000, "start_ns": start_ns,
        "end_ns": start_ns + 900, "fct_ns": 900, "ideal_fct_ns": 850, "slowdown": 900 / 850,
        "goodput_bps": 8e12 / 900, "retransmitted_bytes": 0, "status": "ok", "error": None,
        "arrived_ns": None, "waited_for_flow": None, "waited_for_transfer": None,
    }  # fmt: skip
    return {name: [value] for name, value in row.items()}
