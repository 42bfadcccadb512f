"""The list of the runs of a results directory.

Nothing here loads what reads tables or draws, so that a list of hundreds of runs is there at once.
"""

from rogue.reports.index.run_entries import Entry, State, find_entries

__all__ = ["Entry", "State", "find_entries"]
