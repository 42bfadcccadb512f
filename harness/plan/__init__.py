"""From an experiment to cells: what will be run, in which order, and what cannot."""
