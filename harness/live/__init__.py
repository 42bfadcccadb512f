"""A run on its way, as a page on this computer: which cells are done, what failed, the figures so far."""
