"""Read the files and tables of a run, which may come from elsewhere."""
