"""A link that is cut for two seconds under a flow of RoGUE's, and what must have become of the flow."""

import threading

from helpers.agent_flows import Flow

from rogue.agent.drivers.replay import replay
from rogue.agent.node.messages import Results

SIZE_BYTES = 4 * 2**20
_NS_PER_S = 1_000_000_000
_CUT = "sleep 1; tc qdisc add dev eth1 root netem loss 100%; sleep 2; tc qdisc del dev eth1 root"


def start_and_cut(flow: Flow, repeat_for_s: int = 4) -> None:
    """Start transfers back to back, cut both ends' links while they run, and wait until the cut is over."""
    flow.start(SIZE_BYTES, run_s=240, count=None, repeat_for_ns=repeat_for_s * _NS_PER_S)
    cuts = [threading.Thread(target=each.connection.run, args=(_CUT,)) for each in flow.nodes.values()]
    for cut in cuts:
        cut.start()
    for cut in cuts:
        cut.join()


def check_survived(flow: Flow, sent: Results, received: Results) -> None:
    """It turned to the shadow queue pair and resynchronised, and the log of it all is whole."""
    assert (sent.status, sent.transfers_unfinished, sent.error) == ("ok", 0, None)
    assert sent.transfers_ok > 0
    assert sent.sha256 == received.sha256, "bytes sent again landed where they belong, and nowhere else"
    words = [row["event"] for row in flow.rows("requester", sent, "events")]
    assert words[0] == "qp_failed"
    assert {"shadow_switch", "reset", "resynchronised"} <= set(words)
    events = [row["event"] for row in flow.rows("responder", received, "events")]
    assert events.count("reset") == events.count("resynchronised") >= 1
    assert int(str(sent.facts["again_bytes"])) > 0
    inputs = flow.text("requester", sent, "inputs").splitlines()
    assert replay(inputs) > SIZE_BYTES // 65_536, "the log replays to identical actions"
