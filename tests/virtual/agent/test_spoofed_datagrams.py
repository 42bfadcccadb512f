"""A hundred datagrams in the peers' own names, over soft-RoCE, while a cut is survived: nothing is believed.

A hundred thousand of them on fakes: tests/agent/drivers/verbs/test_hostile_datagrams.py.
"""

import json
import shlex
import threading
from pathlib import Path
from random import Random

import pytest
from helpers import spoofed_datagrams
from helpers.agent_flows import Flow, Node
from helpers.seals import STRANGERS_SEAL

from rogue.agent.core.messages import Resync, Resynced, encode

pytestmark = pytest.mark.virtual

SIZE_BYTES = 32 * 2**20
EACH = 50
CUT = "sleep 1; tc qdisc add dev eth1 root netem loss 100%; sleep 2; tc qdisc del dev eth1 root"
SCRIPT = Path(spoofed_datagrams.__file__).read_text()


def payloads(random: Random, qp_num: int) -> list[bytes]:
    """What the peer could have said, with a stranger's tag; cut; noise."""
    forged = [
        encode(Resync(1 + number % 4, qp_num, number), STRANGERS_SEAL)
        if number % 2
        else encode(Resynced(1 + number % 4), STRANGERS_SEAL)
        for number in range(EACH)
    ]
    return [
        content if number % 3 == 0 else content[: random.randrange(len(content))] if number % 3 == 1
        else random.randbytes(len(content))
        for number, content in enumerate(forged)
    ]  # fmt: skip


def orders(flow: Flow, victim: str, peer: str) -> list[dict[str, object]]:
    """Of each five one names a queue pair that is not the peer's."""
    there, here = flow.introductions[victim], flow.introductions[peer]
    assert there.side_qp_num is not None and here.side_qp_num is not None and there.qp_num is not None
    return [
        {
            "source": here.address,
            "destination": there.address,
            "to_qp_num": there.side_qp_num,
            "from_qp_num": here.side_qp_num + (number % 5 == 4),
            "qkey": there.side_qkey,
            "payload": content.hex(),
        }
        for number, content in enumerate(payloads(Random(victim), there.qp_num))
    ]


def test_a_hundred_datagrams_in_the_peers_name_change_nothing(nodes: tuple[Node, Node]) -> None:
    flow = Flow(*nodes, "rogue", buffer_bytes=SIZE_BYTES)
    attacks = []
    for victim, peer in (("responder", "requester"), ("requester", "responder")):
        command = f"python3 - {shlex.quote(json.dumps(orders(flow, victim, peer)))}"
        attacks.append((flow.nodes[peer].connection, command))
    flow.start(SIZE_BYTES, run_s=240, count=4)
    cuts = [threading.Thread(target=each.connection.run, args=(CUT,)) for each in nodes]
    for cut in cuts:
        cut.start()
    for cut in cuts:
        cut.join()
    assert [connection.run(command, SCRIPT) for connection, command in attacks] == ["sent\n", "sent\n"]
    sent, received = flow.end()
    flow.close()
    assert (sent.status, sent.transfers_ok, sent.error) == ("ok", 4, None)
    assert sent.sha256 == received.sha256
    for results in (sent, received):
        assert int(str(results.facts["strangers"])) == EACH // 5, results.facts
        assert int(str(results.facts["mistakes"])) == EACH - EACH // 5, results.facts
