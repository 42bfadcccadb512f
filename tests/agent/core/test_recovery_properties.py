"""Two connections and their libraries, over queue pairs that fail and a side channel that lies.

Each connection's WRITEs, SENDs and READs run over a main and a shadow queue pair of the model in
helpers/recovery_model.py. Verbs may be executed and acknowledged in any portions, packets of a life that is
over arrive late, and queue pairs fail in between. Datagrams may be lost, repeated, reordered and forged.
"""

import re
from collections.abc import Callable

import pytest
from helpers.recovery_model import SEGMENT, SETTINGS, Life, Side
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rogue.agent.core.actions import RETRY_EXC_ERR, SUCCESS, WR_FLUSH_ERR, Completion, ResetQueuePair, Verb
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.lane import Reports
from rogue.agent.core.library import Deliver, Library
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.states import State
from rogue.agent.core.window import Window

SIZES = st.sampled_from([0, 100, SEGMENT, 3 * SEGMENT + 1])
LIMIT_NS = SETTINGS.resync_limit_ns


class RecoveryMachine(RuleBasedStateMachine):
    """Rules are what applications, NICs, network and time may do."""

    @initialize()
    def connect(self) -> None:
        self.now_ns = 0
        self.sides = [Side(1), Side(2)]
        self.carry_out()

    def carry_out(self) -> None:
        for side in self.sides:
            side.carry_out(self.now_ns)

    @rule(number=st.integers(0, 1), size=SIZES, verb=st.sampled_from(["write", "read", "send"]))
    def submit(self, number: int, size: int, verb: Verb) -> None:
        side = self.sides[number]
        transfer_id = len(side.sizes)
        side.sizes[transfer_id], side.verbs[transfer_id] = size, verb
        if verb == "send":
            side.expected += [transfer_id * 100 + piece for piece in range(max(1, -(-size // SEGMENT)))]
        side.connection.submit(Transfer(transfer_id, size, verb=verb))
        self.carry_out()

    @rule(number=st.integers(0, 1), which=st.integers(0, 1), count=st.integers(1, 4))
    def execute(self, number: int, which: int, count: int) -> None:
        """Verbs arrive in order, unless the queue pair was reset on one end only."""
        side = self.sides[number]
        wire = list(side.wires.values())[which]
        life = wire.life
        for _ in range(count):
            if life.executed < len(life.posted) and life.sq_psn == wire.expected_psn:
                verb = life.posted[life.executed]
                life.executed += 1
                side.execute(wire, verb)
        self.carry_out()

    @rule(number=st.integers(0, 1), which=st.integers(0, 1))
    def arrive_late(self, number: int, which: int) -> None:
        """A packet of a life that is over at our end, but not at the peer's."""
        side = self.sides[number]
        wire = list(side.wires.values())[which]
        if wire.late and wire.late[0][0] == wire.expected_psn:
            _, verb = wire.late.popleft()
            side.execute(wire, verb)
            self.carry_out()

    @rule(number=st.integers(0, 1), which=st.integers(0, 1), count=st.integers(1, 4))
    def acknowledge(self, number: int, which: int, count: int) -> None:
        self.now_ns += 100_000
        side = self.sides[number]
        life = list(side.wires.values())[which].life
        if not life.is_failed:
            side.connection.on_completions(HostNs(self.now_ns), self.completions(life, count))
            self.carry_out()

    def completions(self, life: Life, count: int) -> list[Completion]:
        entries: list[Completion] = []
        while life.acknowledged < life.executed and len(entries) < count:
            verb = life.posted[life.acknowledged]
            life.acknowledged += 1
            if verb.signaled:
                entries.append((verb.wr_id, SUCCESS, NicNs(self.now_ns), verb.length_bytes, None))
        return entries

    @precondition(lambda self: any(side.posting.life.posted for side in self.sides))
    @rule(number=st.integers(0, 1), event_first=st.booleans(), flushes=st.booleans())
    def fail(self, number: int, event_first: bool, flushes: bool) -> None:
        """The queue pair in use fails: its oldest verb first, then the others, soon or never."""
        side = self.sides[number]
        wire = side.posting
        life = wire.life
        if wire.is_reset or life.is_failed or life.acknowledged == len(life.posted):
            return
        life.is_failed = True
        lost = life.posted[life.acknowledged :]
        entries: list[Completion] = [(lost[0].wr_id, RETRY_EXC_ERR, NicNs(self.now_ns), 0, None)]
        if flushes:
            entries += [(verb.wr_id, WR_FLUSH_ERR, NicNs(self.now_ns), 0, None) for verb in lost[1:]]
        now = HostNs(self.now_ns)
        if event_first:
            side.connection.on_qp_error(now, wire.qp_num)
            self.carry_out()
        side.connection.on_completions(now, entries)
        self.carry_out()

    @rule(number=st.integers(0, 1), to_library=st.booleans(), keep=st.booleans(), index=st.integers(0, 9))
    def deliver_datagram(self, number: int, to_library: bool, keep: bool, index: int) -> None:
        """Any of the datagrams on their way arrives; it may arrive again."""
        side = self.sides[number]
        queue = side.to_library if to_library else side.to_connection
        if not queue:
            return
        payload = queue[index % len(queue)] if keep else queue.pop(index % len(queue))
        (side.library if to_library else side.connection).on_peer_message(payload)
        self.carry_out()

    @rule(number=st.integers(0, 1), to_library=st.booleans())
    def lose_datagrams(self, number: int, to_library: bool) -> None:
        side = self.sides[number]
        (side.to_library if to_library else side.to_connection).clear()

    @rule(number=st.integers(0, 1), to_library=st.booleans(), payload=st.binary(max_size=40))
    def forge_datagram(self, number: int, to_library: bool, payload: bytes) -> None:
        side = self.sides[number]
        with pytest.raises(PeerError):
            (side.library if to_library else side.connection).on_peer_message(payload)
        self.carry_out()

    @rule(ns=st.sampled_from([0, 10_000_000, 400_000_000, LIMIT_NS]))
    def pass_time(self, ns: int) -> None:
        self.now_ns += ns
        for side in self.sides:
            side.connection.on_timer(HostNs(self.now_ns))
        self.carry_out()

    @invariant()
    def messages_are_delivered_exactly_once_and_in_order(self) -> None:
        for side in self.sides:
            assert side.delivered == side.expected[: len(side.delivered)]

    @invariant()
    def only_a_lost_peer_fails_a_transfer(self) -> None:
        for side in self.sides:
            if any(not done.is_ok for done in side.done.values()):
                assert len(side.failures) == 1
            assert (side.connection.state is State.FAILED) == bool(side.failures)

    def teardown(self) -> None:
        """From here on nothing fails: everything is delivered and reported, or was given up before.

        The side channel comes last, so that whatever can be reported too early will be.
        """
        if not hasattr(self, "sides"):
            return
        for turn in range(400):
            self.now_ns += 20_000_000
            for number, side in enumerate(self.sides):
                while turn > 20 and side.to_library:
                    side.library.on_peer_message(side.to_library.pop(0))
                while turn > 20 and side.to_connection:
                    side.connection.on_peer_message(side.to_connection.pop(0))
                side.connection.on_timer(HostNs(self.now_ns))
                side.carry_out(self.now_ns)
                for which in range(2):
                    self.execute(number, which, 10)
                    self.acknowledge(number, which, 10)
            if all(side.done.keys() == side.sizes.keys() for side in self.sides):
                break
        for side in self.sides:
            assert side.done.keys() == side.sizes.keys(), "something stays unreported"
            if not side.failures:
                assert all(done.is_ok for done in side.done.values())
                assert side.delivered == side.expected


RUNS = hypothesis_settings(max_examples=150, stateful_step_count=60, deadline=None, derandomize=True)
MUTANT_RUNS = hypothesis_settings(RUNS, phases=[Phase.generate], report_multiple_bugs=False)


def test_every_transfer_is_reported_once_after_its_arrival() -> None:
    run_state_machine_as_test(RecoveryMachine, settings=RUNS)


def the_library_skips_its_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    serve = Side.serve

    def without_reset(self: Side, action: object) -> None:
        if not isinstance(action, ResetQueuePair):
            serve(self, action)

    monkeypatch.setattr(Side, "serve", without_reset)


def reports_do_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reports, "suspect", lambda self, transfer_ids: None)


def repeated_messages_are_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    def take(self: Library, incoming: object, byte_len: int, imm: int | None) -> None:
        self._actions.append(Deliver(byte_len, imm))

    monkeypatch.setattr(Library, "_take", take)


def verbs_are_not_posted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Window, "take_all", lambda self: self.batches.clear() or [])


@pytest.mark.parametrize(
    ("mutate", "complaint"),
    [
        (the_library_skips_its_reset, "late packet"),
        (reports_do_not_wait_for_it, "late packet"),
        (repeated_messages_are_delivered, r"assert \[.*\] == \["),
        (verbs_are_not_posted_again, "stays unreported|not all has arrived"),
    ],
)
def test_the_same_machine_sees_each_mutant(
    mutate: Callable[[pytest.MonkeyPatch], None], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first falsifying run is enough: no shrinking."""
    mutate(monkeypatch)
    with pytest.raises(AssertionError) as caught:
        run_state_machine_as_test(RecoveryMachine, settings=MUTANT_RUNS)
    # what broke off in the middle of a step makes the teardown complain as well
    complaints = f"{caught.value} {caught.value.__context__}"
    assert re.search(complaint, complaints), complaints
