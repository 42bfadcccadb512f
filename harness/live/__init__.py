"""Show a run in progress as a page on this computer: cells, failures, and figures so far."""
