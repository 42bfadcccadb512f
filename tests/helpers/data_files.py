"""Files of data for tests."""

from pathlib import Path

from rogue.harness.data.goal import read_goal
from rogue.harness.data.network import read_network
from rogue.harness.data.source import data_source
from rogue.harness.data.trace import read_trace
from rogue.workloads.topologies.links import LinkList
from rogue.workloads.traffic.goal import GoalSchedule
from rogue.workloads.traffic.trace import TraceRows

TRAFFIC = Path(__file__).parents[1] / "data" / "traffic"
FLOWS, OTHER_FLOWS = TRAFFIC / "flows.csv", TRAFFIC / "other.csv"
NETWORK, OTHER_NETWORK = TRAFFIC / "network.yaml", TRAFFIC / "other.yaml"
GOAL, OTHER_GOAL = TRAFFIC / "ring.goal", TRAFFIC / "pair.goal"
SIZES = TRAFFIC / "sizes.csv"
LEAF_SPINE = """\
Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Oversubscribed 2
Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Downlink_Latency_ns 500
"""
"""Of htsim: eight hosts below two leaves."""


def trace_rows(text: str) -> TraceRows:
    """What a CSV file of this text says."""
    return read_trace(data_source("flows.csv", text.encode()))


def goal_schedule(text: str) -> GoalSchedule:
    """What a GOAL file of this text says."""
    return read_goal(data_source("x.goal", text.encode()))


def link_list(text: str) -> LinkList:
    """What a YAML file of this text says."""
    return read_network(data_source("net.yaml", text.encode()))
