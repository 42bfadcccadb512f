"""A link that is cut for two seconds: the shadow queue pair, the side channel, and the log of it all.

The same under WRITE, while strangers talk: test_spoofed_datagrams.py.
"""

import pytest
from helpers.agent_flows import Flow, Node
from helpers.agent_star import SIZE_BYTES, check_survived, start_and_cut

pytestmark = pytest.mark.virtual


def test_a_cut_under_read_is_survived_by_turning_to_the_shadow_and_resynchronising(
    nodes: tuple[Node, Node],
) -> None:
    flow = Flow(*nodes, "rogue", buffer_bytes=SIZE_BYTES, verb="read", requester={"record_inputs": True})
    start_and_cut(flow)
    check_survived(flow, *flow.end())
    flow.close()
