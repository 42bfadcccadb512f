"""Distributions of transfer sizes that an experiment can name."""

from typing import Final

from workloads.flow_sizes.distribution import FlowSizes
from workloads.flow_sizes.fb_hadoop import FB_HADOOP
from workloads.flow_sizes.irn import IRN
from workloads.flow_sizes.web_search import WEB_SEARCH

FLOW_SIZES: Final[dict[str, FlowSizes]] = {
    "irn": IRN,
    "web_search": WEB_SEARCH,
    "fb_hadoop": FB_HADOOP,
}

__all__ = ["FLOW_SIZES", "FlowSizes"]
