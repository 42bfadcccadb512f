"""The agent that runs on a node: a sans-IO core and the drivers that connect it to a NIC."""
