"""The transfers of IRN's experiments."""

from typing import Final

from workloads.flow_sizes.distribution import FlowSizes

IRN: Final = FlowSizes(
    meaning="half are single packets of 32 B to 1 KB, 15 % large ones of 200 KB to 3 MB; mean 168.4 KB",
    source="Mittal et al., SIGCOMM 2018, section 4.1: the shares of the classes",
    points=((32, 0), (1_000, 50), (200_000, 85), (3_000_000, 100)),
    between="logarithmic",
)
"""Deviation: the paper gives the classes only; within each the logarithm of the size is uniform."""
