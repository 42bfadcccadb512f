"""A hundred datagrams in the peers' own names, over soft-RoCE, while a cut under WRITE is survived.

A hundred thousand of them on fakes: tests/agent/drivers/verbs/test_side_channel.py.
"""

import json
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from helpers import spoofed_datagrams
from helpers.agent_flows import Flow, Node
from helpers.agent_star import SIZE_BYTES, check_survived, start_and_cut
from helpers.hostile_network import STRANGERS_SEAL

from rogue.agent.core.resync import Resync, Resynced, encode

pytestmark = pytest.mark.virtual

EACH = 50
REPEAT_FOR_S = 15
"""Until both victims have been sent everything: two interpreters start meanwhile on emulated processors."""
SCRIPT = Path(spoofed_datagrams.__file__).read_text()


def payloads(random: Random, qp_num: int) -> list[bytes]:
    """Yield messages of the peer with a stranger's tag, cut messages, and noise."""
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
    """Return orders; one of five names a queue pair that is not the peer's."""
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


def test_spoofed_datagrams_change_nothing(nodes: tuple[Node, Node]) -> None:
    flow = Flow(*nodes, "rogue", buffer_bytes=SIZE_BYTES, requester={"record_inputs": True})
    attacks = []
    for victim, peer in (("responder", "requester"), ("requester", "responder")):
        command = f"python3 - {shlex.quote(json.dumps(orders(flow, victim, peer)))}"
        attacks.append((flow.nodes[peer].connection, command))
    start_and_cut(flow, REPEAT_FOR_S)
    with ThreadPoolExecutor(len(attacks)) as pool:
        said = pool.map(lambda attack: attack[0].run(attack[1], SCRIPT), attacks)
        assert list(said) == ["sent\n", "sent\n"]
    sent, received = flow.end()
    check_survived(flow, sent, received)
    flow.close()
    for results in (sent, received):
        assert int(str(results.facts["strangers"])) == EACH // 5, results.facts
        assert int(str(results.facts["mistakes"])) == EACH - EACH // 5, results.facts
