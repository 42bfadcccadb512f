"""The transfers of a web search cluster."""

from typing import Final

from workloads.flow_sizes.distribution import FlowSizes

WEB_SEARCH: Final = FlowSizes(
    meaning="a web search cluster: many of 10 KB to 80 KB, most bytes in those above 1 MB; mean 1.71 MB",
    source="Alizadeh et al., SIGCOMM 2010, section 2.2; table of HPCC's traffic generator",
    points=(
        (0, 0),
        (10_000, 15),
        (20_000, 20),
        (30_000, 30),
        (50_000, 40),
        (80_000, 53),
        (200_000, 60),
        (1_000_000, 70),
        (2_000_000, 80),
        (5_000_000, 90),
        (10_000_000, 97),
        (30_000_000, 100),
    ),
)
