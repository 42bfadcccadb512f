"""Topologies, traffic, faults and the record schema as pure data, without I/O."""
