"""Loss over an unreliable connection on real verbs: losses are inferred, and the window reacts.

docs/explanation/testbeds.md describes how soft-RoCE handles losses. Its tests are long ones, because it
changes with the kernel and not with us.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from helpers.agent_flows import Flow, Node, Rows

from rogue.agent.node.messages import Results

pytestmark = pytest.mark.virtual

SIZE_BYTES = 4 * 2**20
RUN_S = 10
NS_PER_S = 1_000_000_000
PACKET_BYTES = 4096
ONE_PERCENT = "tc qdisc replace dev eth1 root netem loss 1%"
# A floor above any RTT of a busy host: Vegas only grows its window, so that every cut is a loss.
PARAMETERS = {
    "base_rtt_floor_ns": 400_000_000,
    "acknowledgement_wait_ns": 200_000_000,
    "acknowledgement_wait_max_ns": 800_000_000,
}


@dataclass
class Lossy:
    """Results of ten seconds of transfers back to back with 1 % loss."""

    sent: Results
    received: Results
    samples: Rows
    arrivals: Rows

    def arrived_bytes(self, from_s: float) -> int:
        """Return the bytes that arrived after this time."""
        since_ns = self.received.start_ns + from_s * NS_PER_S
        return sum(int(row["delivered_bytes"]) for row in self.arrivals if int(row["t_ns"]) > since_ns)

    @property
    def acknowledgements_s(self) -> list[int]:
        """Return the times of sampled acknowledgements, in seconds after the start."""
        return [(int(row["t_ns"]) - self.sent.start_ns) // NS_PER_S for row in self.samples]


def lossy(nodes: tuple[Node, Node], transport: str, verb: str, verb_bytes: int | None) -> Lossy:
    """Run a flow through losses."""
    nodes[0].connection.run(ONE_PERCENT)
    parameters = PARAMETERS if transport == "rogue-uc" else {}
    flow = Flow(*nodes, transport, buffer_bytes=SIZE_BYTES, parameters=parameters, verb=verb)
    repeat_for_ns = RUN_S * NS_PER_S
    sent, received = flow.run(
        SIZE_BYTES, run_s=RUN_S, count=None, repeat_for_ns=repeat_for_ns, verb_bytes=verb_bytes
    )
    samples = flow.rows("requester", sent, "rtt") if "rtt" in sent.files else []
    arrivals = flow.rows("responder", received, "throughput")
    flow.close()
    return Lossy(sent, received, samples, arrivals)


@pytest.fixture(scope="module")
def packets(nodes: tuple[Node, Node]) -> Iterator[Lossy]:
    """Run RoGUE over UC in verbs of one packet."""
    yield lossy(nodes, "rogue-uc", "write", PACKET_BYTES)


def test_losses_are_inferred_from_missing_acknowledgements(packets: Lossy) -> None:
    """One batch in a hundred loses its last packet, which requests the acknowledgement."""
    batches, inferred = packets.sent.batches, int(str(packets.sent.facts["inferred_losses"]))
    assert packets.sent.error is None, "what is lost over UC stays lost, and nothing fails"
    assert 0 < inferred < batches / 10
    assert packets.received.facts["mistakes"] == packets.sent.facts["mistakes"] == 0


def test_each_inferred_loss_halves_the_window(packets: Lossy) -> None:
    windows = [float(row["cwnd_packets"]) for row in packets.samples]
    halved = sum(after <= 0.6 * before for before, after in pairwise(windows))
    assert halved >= 1, "the window was cut by more than Vegas ever does"


def test_transfers_continue_to_the_end_of_the_run(packets: Lossy) -> None:
    assert packets.sent.transfers_ok > 0
    assert max(packets.acknowledgements_s) >= RUN_S - 2
    assert packets.arrived_bytes(RUN_S - 3) > 0
    whole = packets.sent.transfers_ok * SIZE_BYTES
    assert whole * 0.9 < packets.received.moved_bytes < packets.sent.verbs * PACKET_BYTES


@pytest.mark.long
def test_messages_of_many_packets_survive_losses_as_sends(nodes: tuple[Node, Node]) -> None:
    """If the middle of a SEND is lost, soft-RoCE continues with the next receive."""
    sends = lossy(nodes, "rogue-uc", "send", None)
    assert sends.sent.error is None
    assert int(str(sends.sent.facts["inferred_losses"])) > 0
    assert sends.arrived_bytes(RUN_S - 3) > 0


@pytest.mark.long
def test_soft_roce_takes_no_write_after_a_lost_middle_packet(nodes: tuple[Node, Node]) -> None:
    """The reason for verbs of one packet; they are unnecessary if this fails with a newer kernel."""
    writes = lossy(nodes, "rogue-uc", "write", None)
    assert writes.sent.error is None
    assert writes.arrived_bytes(RUN_S / 2) == 0
    assert int(str(writes.sent.facts["acknowledgement_timeouts"])) >= 2, "and RoGUE notices"


@pytest.mark.long
def test_native_uc_does_not_report_losses(nodes: tuple[Node, Node]) -> None:
    native = lossy(nodes, "roce-uc", "write", PACKET_BYTES)
    assert native.sent.error is None
    assert 0 < native.received.moved_bytes < native.sent.verbs * PACKET_BYTES
