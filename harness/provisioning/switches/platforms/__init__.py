"""One file per vendor: its names, its units and its command line."""
