"""Run cells in slots: a process each, so that a cell that dies affects no other."""
