"""What is asked: topologies, traffic, faults and the record schema. Pure data, no I/O."""
