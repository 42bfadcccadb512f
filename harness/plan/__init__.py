"""Plan the cells of an experiment: their order, their cost, and what cannot run."""
