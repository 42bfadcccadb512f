"""The sans-IO RoGUE core: it never reads a clock and never does I/O. Standard library only."""
