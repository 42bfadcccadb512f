"""The transfers of IRN's experiments."""

from typing import Final

from workloads.flow_sizes.distribution import FlowSizes

IRN: Final = FlowSizes(
    meaning="half are single packets of 32 B to 1 KB, 15 % large ones of 200 KB to 3 MB; mean 195 KB",
    source="Mittal et al., SIGCOMM 2018, section 4.1; Benson et al., IMC 2010, as in pHost’s simulator",
    points=(  # packets of 1460 B
        (32, 0),
        (1_000, 50),
        (2 * 1460, 60),
        (3 * 1460, 70),
        (5 * 1460, 75),
        (7 * 1460, 80),
        (40 * 1460, 81.25),
        (72 * 1460, 82.5),
        (137 * 1460, 85),
        (267 * 1460, 90),
        (1_187 * 1460, 95),
        (2_107 * 1460, 100),
    ),
)
"""Deviation: the paper gives the classes only; the table is the one that has them (ADR 17)."""
