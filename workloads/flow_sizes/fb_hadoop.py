"""The transfers of a Hadoop cluster."""

from typing import Final

from workloads.flow_sizes.distribution import FlowSizes

FB_HADOOP: Final = FlowSizes(
    meaning="a Hadoop cluster: six in ten below 1 KB, most bytes in those above 300 KB; mean 120 KB",
    source="Roy et al., SIGCOMM 2015; table of HPCC's traffic generator",
    points=(
        (0, 0),
        (100, 1),
        (200, 2),
        (300, 5),
        (350, 15),
        (400, 20),
        (500, 30),
        (600, 40),
        (700, 50),
        (1_000, 60),
        (2_000, 67),
        (7_000, 70),
        (30_000, 72),
        (50_000, 82),
        (80_000, 87),
        (120_000, 90),
        (300_000, 95),
        (1_000_000, 97.5),
        (2_000_000, 99),
        (10_000_000, 100),
    ),
)
