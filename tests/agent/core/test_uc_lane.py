"""Batches over UC: sent, acknowledged, lost, and waited for in vain."""

import random
from contextlib import suppress

import pytest
from helpers.fake_nic import PS_PER_S, FakeDriver, FakeNic
from helpers.networks import rtt_sample

from rogue.agent.core.actions import RETRY_EXC_ERR, SUCCESS, Action, PostSend, SetRate, TransferDone
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import NicError, PeerError
from rogue.agent.core.immediates import batch_immediate, batch_of
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.transports import settings_for

SEGMENT = 65_536
MS = 1_000_000
LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
NOW = HostNs(0)


class Sender:
    """A connection over UC, input by input."""

    def __init__(self, *transfers: Transfer, **overrides: object) -> None:
        settings = settings_for("rogue-uc", LINK.line_rate_bps, {"hold_off_bytes": 0, **overrides})
        self.connection = Connection(settings, LINK, 1)
        self.posted: list[PostSend] = []
        for transfer in transfers:
            self.connection.submit(transfer)
        self.carry_out()

    def carry_out(self, nic_ns: int = 0) -> list[Action]:
        actions = self.connection.actions()
        for action in actions:
            if isinstance(action, PostSend):
                self.connection.on_posted(action.wr_id, NicNs(nic_ns))
                self.posted.append(action)
            elif isinstance(action, SetRate):
                self.connection.on_rate_set(action.rate_bps)
        return actions

    def sent(self, *wr_ids: int, at_ns: int = 0) -> list[Action]:
        entries = [(wr_id, SUCCESS, NicNs(at_ns), 0, None) for wr_id in wr_ids]
        self.connection.on_completions(HostNs(at_ns), entries)
        return self.carry_out(at_ns)

    def acknowledged(self, *numbers: int, at_ns: int = 0, processing_ns: int = 0) -> list[Action]:
        entries = [
            (0, SUCCESS, NicNs(at_ns), 0, batch_immediate(number, processing_ns)) for number in numbers
        ]
        self.connection.on_receives(HostNs(at_ns), entries)
        return self.carry_out(at_ns)

    @property
    def cwnd_packets(self) -> float:
        return self.connection._writes.feedback.cc.cwnd_packets


def wide_sender(segments: int) -> Sender:
    """A sender whose window of 400 packets holds six batches."""
    options = {"cwnd_initial_packets": 400.0, "slow_start": False, "cwnd_cap_bdp": 1e3}
    return Sender(Transfer(1, segments * SEGMENT), **options)


def numbers(actions: list[Action]) -> list[int]:
    return [batch_of(each.imm).number for each in actions if isinstance(each, PostSend) and each.imm]


def test_the_last_verb_of_each_batch_requests_an_acknowledgement() -> None:
    """Eight transfers fill the window one by one; the next eight wait, and share two batches."""
    sender = Sender(*[Transfer(number, SEGMENT // 4) for number in range(16)])
    sender.sent(*range(1, 9))
    sender.acknowledged(*range(8))
    asking = [send.wr_id for send in sender.posted if send.imm is not None]
    assert asking == [*range(1, 9), 12, 16]
    assert [send.wr_id for send in sender.posted if send.signaled] == asking


def test_an_application_immediate_or_send_is_followed_by_the_library_immediate() -> None:
    for transfer in (Transfer(1, 100, imm=9), Transfer(1, 100, verb="send")):
        own, library = Sender(transfer).posted
        assert (own.imm, own.signaled) == (transfer.imm, False)
        assert (library.length_bytes, library.signaled, library.imm) == (0, True, batch_immediate(0))


def test_a_transfer_is_done_when_its_last_byte_has_left_and_the_window_when_it_is_acknowledged() -> None:
    sender = Sender(Transfer(1, 3 * SEGMENT))
    assert sender.sent(1) == []
    assert numbers(sender.acknowledged(0)) == [2]
    sender.acknowledged(1)
    assert sender.sent(2, 3) == [TransferDone(1, True, 3 * SEGMENT)]
    assert sender.connection.inflight_bytes == SEGMENT


def test_processing_time_is_no_part_of_the_sample() -> None:
    """Slow start doubles at 52 us of RTT; with the 40 us that the library took, it would end."""
    sender = Sender(Transfer(1, 9 * SEGMENT), rate_change_max_bps=1)
    left_ns = (70_804 - 1110) * 8 / 1.7696 + 1110 * 8 / 10
    sender.sent(1)
    sender.acknowledged(0, at_ns=round(left_ns) + 52_000 + 40_000, processing_ns=40_000)
    assert sender.cwnd_packets == 20


def test_an_acknowledgement_that_overtakes_others_means_that_they_are_lost() -> None:
    """Of six batches out, 1 and 2 are missing: one halving, and their bytes are in flight no more."""
    sender = wide_sender(20)
    assert numbers(sender.posted) == [0, 1, 2, 3, 4, 5]
    sender.sent(*range(1, 7))
    sender.acknowledged(0, at_ns=10 * MS)
    before = sender.cwnd_packets
    sender.connection._writes.feedback.cc.cwnd_packets = 400
    sender.acknowledged(3, at_ns=11 * MS)
    assert sender.cwnd_packets <= 201 < before
    assert sender.connection.inflight_bytes <= max(201 * 1024, 2 * SEGMENT)
    assert sender.connection.losses() == {"inferred_losses": 2, "acknowledgement_timeouts": 0}


def test_a_flight_with_two_losses_is_one_loss_for_the_control(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Batches 1 and 4 were under way together; 7 was handed out when the loss of 1 was known."""
    sender = wide_sender(40)
    losses: list[int] = []
    control = type(sender.connection._writes.feedback.cc)
    monkeypatch.setattr(control, "on_loss", lambda _: losses.append(1))
    assert numbers(sender.posted) == [0, 1, 2, 3, 4, 5]
    sender.sent(*range(1, 7))
    assert numbers(sender.acknowledged(0, 2, at_ns=10 * MS)) == [6, 7, 8]
    assert len(losses) == 1
    sender.acknowledged(3, 5, at_ns=90 * MS)
    assert len(losses) == 1
    sender.sent(7, 8, 9, at_ns=91 * MS)
    sender.acknowledged(6, 8, at_ns=91 * MS)
    assert len(losses) == 2


def test_a_sample_and_a_loss_without_a_sample_each_set_the_rate() -> None:
    """An RTT of 10 ms lowers the rate. So does a loss that a batch of unknown processing time reveals."""
    sender = wide_sender(20)
    sender.sent(*range(1, 7))
    for number, processing_ns in ((0, 0), (3, 1000 * MS)):
        actions = sender.acknowledged(number, at_ns=10 * MS, processing_ns=processing_ns)
        assert any(isinstance(action, SetRate) for action in actions), number


def test_the_wait_worked_example() -> None:
    """4 * 90 us is less than 1 ms; 4 * 500 us is not. It doubles with each failure, up to 64 ms."""
    lane = Sender(Transfer(1, SEGMENT)).connection._writes
    lane._smooth(80_000)
    lane._smooth(160_000)
    assert lane._srtt_ns == 90_000, "1/8 of the difference"
    assert lane.wait_ns == MS
    lane._srtt_ns = 500_000.0
    waits = []
    for lane._timeouts in range(7):
        waits.append(lane.wait_ns // MS)
    assert waits == [2, 4, 8, 16, 32, 64, 64]


def test_the_wait_starts_when_a_batch_has_left() -> None:
    sender = Sender(Transfer(1, 2 * SEGMENT))
    assert sender.connection.next_deadline() is None
    sender.sent(1, at_ns=5 * MS)
    assert sender.connection.next_deadline() == 6 * MS


def test_a_timeout_restarts_the_window_and_sends_a_probe() -> None:
    sender = Sender(Transfer(1, 9 * SEGMENT))
    sender.connection._writes.feedback.cc.on_sample(rtt_sample(60_000))
    sender.sent(1, 2, at_ns=0)
    sender.connection.on_timer(HostNs(MS - 1))
    assert sender.carry_out() == []
    sender.connection.on_timer(HostNs(MS))
    rate, probe = sender.carry_out()
    assert isinstance(rate, SetRate)
    assert isinstance(probe, PostSend)
    assert (probe.length_bytes, probe.signaled, probe.imm) == (0, False, batch_immediate(2))
    assert (sender.cwnd_packets, sender.connection.inflight_bytes) == (10, 0)
    assert sender.connection.next_deadline() == 3 * MS, "twice as long"
    sender.connection.on_timer(HostNs(3 * MS))
    assert numbers(sender.carry_out()) == [3], "another probe, and nothing else"
    assert sender.connection.losses() == {"inferred_losses": 0, "acknowledgement_timeouts": 2}
    sender.connection.submit(Transfer(2, 10))
    assert sender.carry_out() == []
    assert numbers(sender.acknowledged(3, at_ns=3 * MS + 60_000)) == [4, 5], "posting continues"


def test_a_late_acknowledgement_changes_nothing() -> None:
    sender = Sender(Transfer(1, 9 * SEGMENT))
    sender.sent(1, 2)
    sender.connection.on_timer(HostNs(MS))
    sender.carry_out()
    assert sender.acknowledged(0, 1, at_ns=2 * MS) == []
    assert sender.connection.next_deadline() is not None


def test_an_unneeded_probe_may_still_be_posted() -> None:
    """An acknowledgement is read between the decision and the posting."""
    sender = Sender(Transfer(1, 9 * SEGMENT), acknowledgement_wait_ns=MS)
    sender.sent(1, at_ns=0)
    sender.connection.on_timer(HostNs(MS))
    probe = next(each for each in sender.connection.actions() if isinstance(each, PostSend))
    sender.acknowledged(1, at_ns=MS)
    assert sender.connection._writes._probe is None  # type: ignore[attr-defined]
    sender.connection.on_posted(probe.wr_id, NicNs(2 * MS))


def test_an_acknowledgement_may_be_read_before_the_signal() -> None:
    sender = Sender(Transfer(1, SEGMENT))
    sender.acknowledged(0)
    assert sender.connection.next_deadline() is None
    assert sender.sent(1) == [TransferDone(1, True, SEGMENT)]
    assert sender.connection.next_deadline() is None


def test_signals_out_of_order_are_refused() -> None:
    with pytest.raises(NicError, match="not the oldest signalled verb"):
        Sender(Transfer(1, 2 * SEGMENT)).sent(2)


@pytest.mark.parametrize(
    ("transport", "imm"),
    [*(("rogue-uc", imm) for imm in (None, 5, 0xE000_0001, 1 << 32)), ("rogue", batch_immediate(0))],
)
def test_an_unexpected_receive_is_an_error_of_the_peer(transport: str, imm: int | None) -> None:
    connection = Connection(settings_for(transport, LINK.line_rate_bps, {}), LINK, 1)
    with pytest.raises(PeerError, match=r"expected the acknowledgement|expected a batch|expected 32 bits"):
        connection.on_receives(NOW, [(0, SUCCESS, NicNs(0), 0, imm)])


def test_a_failed_queue_pair_fails_what_has_not_left() -> None:
    sender = Sender(Transfer(1, SEGMENT), Transfer(2, SEGMENT), Transfer(3, SEGMENT))
    assert sender.sent(1) == [TransferDone(1, True, SEGMENT)]
    entries = [(2, RETRY_EXC_ERR, NicNs(0), 0, None)]
    sender.connection.on_completions(NOW, entries)
    reported = [each for each in sender.carry_out() if isinstance(each, TransferDone)]
    assert reported == [TransferDone(2, False, 0), TransferDone(3, False, 0, is_sent=False)]


def test_a_number_may_be_reused_after_a_failure() -> None:
    sender = Sender(Transfer(1, SEGMENT))
    sender.connection.on_completions(NOW, [(1, RETRY_EXC_ERR, NicNs(0), 0, None)])
    sender.carry_out()
    sender.connection.submit(Transfer(1, SEGMENT))
    assert sender.carry_out() == [TransferDone(1, False, 0, is_sent=False)], "it never left"


def test_there_is_no_read_over_uc() -> None:
    with pytest.raises(AssertionError, match="no READ"):
        Sender(Transfer(1, 1, verb="read"))


@pytest.mark.parametrize(("loss", "samples_min"), [(0.0, 150), (0.02, 100), (0.5, 3)])
def test_estimates_over_a_nic_are_exact_despite_losses(loss: float, samples_min: int) -> None:
    """Limiter lag, drifting clock, 3 us in the library, and RTTs between 50 and 100 us."""
    rng = random.Random(5)
    nic = FakeNic(
        LINK,
        rtt_ps=lambda at_ps: 50_000_000 + at_ps // 40 % 50_000_000,
        offset_ns=rng.randrange(10**12),
        drift_ppm=40,
        lag_bytes=lambda: rng.randrange(160_001),
        acknowledgements=lambda number: None if rng.random() < loss else 3000,
    )
    settings = settings_for("rogue-uc", LINK.line_rate_bps, {})
    connection = Connection(settings, LINK, 1, tracing=True)
    connection.submit(Transfer(1, 20_000 * SEGMENT))
    driver = FakeDriver(connection, nic, lambda done: None)
    driver.run_until(PS_PER_S // 4)
    accepted = [trace for trace in driver.traces if trace.sample.accepted]
    assert len(accepted) > samples_min
    for trace in accepted:
        assert abs(trace.rtt_ns - nic.true_rtt_ns(trace.sample.wr_id)) < 100


def test_an_acknowledgement_of_an_unposted_batch_has_no_effect() -> None:
    """Sixteen batches; the window takes eight. The tenth was never posted, and acknowledges nothing."""
    sender = Sender(*[Transfer(number, SEGMENT) for number in range(32)])
    unposted = len(sender.posted)
    inflight_bytes = sender.connection.inflight_bytes
    with suppress(PeerError):
        sender.acknowledged(unposted)
    assert sender.connection.inflight_bytes == inflight_bytes


def test_a_processing_time_longer_than_the_rtt_is_an_error() -> None:
    """Posted at 1 ms, acknowledged at 2 ms, and said to have been there for 1.1 ms: no RTT is negative."""
    sender = Sender()
    sender.connection.submit(Transfer(1, SEGMENT))
    sender.carry_out(nic_ns=MS)
    sender.sent(1, at_ns=MS + 10)
    with pytest.raises(PeerError, match="before it was posted"):
        sender.acknowledged(0, at_ns=2 * MS, processing_ns=MS + 20_000)
    sender.acknowledged(0, at_ns=2 * MS, processing_ns=MS - 20_000)
    assert sender.connection.inflight_bytes == 0
