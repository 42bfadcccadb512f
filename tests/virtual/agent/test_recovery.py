"""A link that is cut for two seconds: the shadow queue pair, the side channel, and the log of it all."""

import threading

import pytest
from helpers.agent_flows import Flow, Node

from rogue.agent.drivers.replay import replay

pytestmark = pytest.mark.virtual

SIZE_BYTES = 32 * 2**20
CUT = "sleep 1; tc qdisc add dev eth1 root netem loss 100%; sleep 2; tc qdisc del dev eth1 root"


@pytest.mark.parametrize("verb", ["write", "read"])
def test_a_cut_is_survived_by_turning_to_the_shadow_and_resynchronising(
    nodes: tuple[Node, Node], verb: str
) -> None:
    flow = Flow(*nodes, "rogue", buffer_bytes=SIZE_BYTES, verb=verb, requester={"record_inputs": True})
    flow.start(SIZE_BYTES, run_s=240, count=4)
    cuts = [threading.Thread(target=each.connection.run, args=(CUT,)) for each in nodes]
    for cut in cuts:
        cut.start()
    for cut in cuts:
        cut.join()
    sent, received = flow.end()
    assert (sent.status, sent.transfers_ok, sent.error) == ("ok", 4, None)
    assert sent.sha256 == received.sha256, "bytes sent again landed where they belong, and nowhere else"
    words = [row["event"] for row in flow.rows("requester", sent, "events")]
    assert words[0] == "qp_failed"
    assert {"shadow_switch", "reset", "resynchronised"} <= set(words)
    events = [row["event"] for row in flow.rows("responder", received, "events")]
    assert events.count("reset") == events.count("resynchronised") >= 1
    assert int(str(sent.facts["again_bytes"])) > 0
    inputs = flow.text("requester", sent, "inputs").splitlines()
    assert replay(inputs) > SIZE_BYTES // 65_536, "the log replays to identical actions"
    flow.close()
