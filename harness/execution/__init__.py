"""Running cells: one process per slot, so that a cell that dies takes nothing with it."""
