"""What the exit code of `rogue` means."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes; documented in `rogue --help`."""

    OK = 0
    CELLS_FAILED = 1
    """The run is there, but at least one cell has no result."""
    USAGE = 2
    """The command or the experiment file is wrong; nothing was written."""
    REPORT_FAILED = 3
    """The results are there, the report is not."""
    NOTHING_TO_RUN = 4
    """No cell of the plan can run on this testbed."""
    DAMAGED = 5
    """A file of the run is missing, changed or added."""
    STORAGE = 6
    """The run directory cannot be written."""
    TESTBED = 7
    """Machines or nodes of a testbed do not do what was asked."""
    MEMORY = 8
    """This computer has too little memory for it, or lets us have too little."""
    BUG = 70
    """Our mistake."""
    INTERRUPTED = 130
    """Ctrl-C; finished cells are kept."""
    TERMINATED = 143
    """Asked to end by the system; finished cells are kept."""
