"""The runs of a results directory: as a list, and as the page `index.html`.

Nothing here loads what reads tables or draws, so that a list of hundreds of runs is there at once.
"""

from rogue.reports.index.page import write_index
from rogue.reports.index.run_entries import Entry, State, find_entries

__all__ = ["Entry", "State", "find_entries", "write_index"]
