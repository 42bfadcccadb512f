"""Work out a cell once for every testbed: groups, network, timing."""
