"""Linux as one process with a virtual clock: built once, booted for each cell."""
