"""Loss over an unreliable connection: missing answers are inferred, and the window reacts."""

from itertools import pairwise

import pytest
from helpers.agent_flows import Flow, Node

pytestmark = pytest.mark.virtual

SIZE_BYTES = 8 * 2**20
FEW_PERCENT = "tc qdisc replace dev eth1 root netem loss 1%"
# A floor above any RTT of a busy host: Vegas only grows its window, so that every cut is a loss.
PARAMETERS = {
    "base_rtt_floor_ns": 400_000_000,
    "answer_wait_ns": 200_000_000,
    "answer_wait_max_ns": 800_000_000,
}


def test_losses_are_inferred_from_missing_answers(nodes: tuple[Node, Node]) -> None:
    source, _ = nodes
    source.connection.run(FEW_PERCENT)
    flow = Flow(*nodes, "rogue-uc", buffer_bytes=SIZE_BYTES, parameters=PARAMETERS)
    sent, received = flow.run(SIZE_BYTES, run_s=240)
    assert sent.status == "ok", "what is lost over UC stays lost, and nothing fails"
    lost_bytes = SIZE_BYTES - received.moved_bytes
    assert 0 < lost_bytes < SIZE_BYTES, "a verb of 16 packets is lost with one time in seven"
    assert lost_bytes % 65_536 == 0
    windows = [float(row["cwnd_packets"]) for row in flow.rows("requester", sent, "rtt")]
    halved = sum(after <= 0.6 * before for before, after in pairwise(windows))
    assert halved >= 2, "the window was cut by more than Vegas ever does"
    flow.close()


def test_native_uc_loses_in_silence(nodes: tuple[Node, Node]) -> None:
    source, _ = nodes
    source.connection.run(FEW_PERCENT)
    flow = Flow(*nodes, "roce-uc", buffer_bytes=SIZE_BYTES)
    sent, received = flow.run(SIZE_BYTES, count=2)
    assert sent.status == "ok"
    assert received.moved_bytes < 2 * SIZE_BYTES
    flow.close()
