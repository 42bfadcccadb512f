"""Read the files and tables of a run, whose author may be somebody else."""
