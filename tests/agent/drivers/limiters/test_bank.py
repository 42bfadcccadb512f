"""Several processes at one card, which is a file."""

import os
import random
import signal
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from helpers.fake_dcb import FakeCard, FakeKernel

from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers import netlink
from rogue.agent.drivers.limiters.bank import Bank, free_dead_limiters

WRITES = 10_000
PROCESSES = 7
RATES_KBPS = (0, 100_000, 200_000, 5_000_000, 10_000_000)


class CardFile:
    """Rates of a card, in a file that all processes see; it takes two writes to change them."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        os.pwrite(self._descriptor, bytes(72), 0)

    def set_rates(self, rates: Sequence[int]) -> None:
        data = struct.pack("8Q", *rates)
        os.pwrite(self._descriptor, data[:32], 0)
        os.pwrite(self._descriptor, data[32:], 32)
        (calls,) = struct.unpack("Q", os.pread(self._descriptor, 8, 64))
        os.pwrite(self._descriptor, struct.pack("Q", calls + 1), 64)

    @property
    def rates(self) -> list[int]:
        return list(struct.unpack("8Q", os.pread(self._descriptor, 64, 0)))

    @property
    def calls(self) -> int:
        return int(struct.unpack("Q", os.pread(self._descriptor, 8, 64))[0])


@pytest.fixture
def card(tmp_path: Path) -> CardFile:
    return CardFile(tmp_path / "card")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "eth1"


def in_child(work: Callable[[], None]) -> int:
    """Run something in a fork, whose exit code says whether it went well."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def test_seven_processes_lose_no_update(place: Path, card: CardFile) -> None:
    """Whenever `set_rate` returns the card has our rate, whatever the others do meanwhile."""

    def write_at_random(slot: int) -> None:
        draw, own = random.Random(slot), Bank(place, card.set_rates)
        own.take(slot)
        for _ in range(WRITES):
            rate = draw.choice(RATES_KBPS)
            own.set_rate(slot, rate)
            assert card.rates[slot] == rate

    children = [in_child(lambda slot=slot: write_at_random(slot)) for slot in range(1, PROCESSES + 1)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * PROCESSES
    assert card.calls < PROCESSES * WRITES, "a rate that the card has already costs no call"


def test_a_killed_process_frees_its_slot(place: Path, card: CardFile) -> None:
    reader, writer = os.pipe()

    def hold() -> None:
        held = Bank(place, card.set_rates)
        held.take(3)
        held.set_rate(3, 700_000)
        os.write(writer, b"!")
        signal.pause()

    child = in_child(hold)
    os.read(reader, 1)
    ours = Bank(place, card.set_rates)
    ours.take(1)
    ours.set_rate(1, 100_000)
    assert not ours.free_dead(), "it lives"
    with pytest.raises(LimiterError, match="limiter 3 of eth1 is taken by another flow of this host"):
        ours.take(3)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert card.rates == [0, 100_000, 0, 700_000, 0, 0, 0, 0]
    assert ours.free_dead()
    assert card.rates == [0, 100_000, 0, 0, 0, 0, 0, 0]
    ours.take(3)


def test_taking_a_slot_lifts_limits_of_ended_processes(place: Path, card: CardFile) -> None:
    gone = Bank(place, card.set_rates)
    gone.take(2)
    gone.set_rate(2, 300_000)
    gone.close()
    assert card.rates[2] == 300_000
    Bank(place, card.set_rates).take(5)
    assert card.rates == [0] * 8


def test_waiting_rates_are_set_in_one_call(place: Path, card: CardFile) -> None:
    """While one call is under way two others write: the first of them hands over both."""
    second, third = Bank(place, card.set_rates), Bank(place, card.set_rates)
    second.take(2)
    third.take(3)
    second._wanted[2], third._wanted[3] = 200_000, 300_000
    before = card.calls
    second.set_rate(2, 200_000)
    third.set_rate(3, 300_000)
    assert (card.rates[2], card.rates[3], card.calls - before) == (200_000, 300_000, 1)


def test_a_failed_call_is_repeated_by_the_next(place: Path, card: CardFile) -> None:
    fails = [True]

    def set_rates(rates: Sequence[int]) -> None:
        if fails:
            fails.pop()
            raise LimiterError("busy")
        card.set_rates(rates)

    taker = Bank(place, card.set_rates)
    taker.take(1)
    taker._set_rates = set_rates
    with pytest.raises(LimiterError, match="busy"):
        taker.set_rate(1, 100_000)
    taker.set_rate(1, 100_000)
    assert card.rates[1] == 100_000


def test_a_process_killed_after_its_call_leaves_no_rate(place: Path, card: CardFile) -> None:
    """It has set the rates and ends: the state of the card is unknown, so they are set again."""

    def set_rates(rates: Sequence[int]) -> None:
        card.set_rates(rates)
        raise KeyboardInterrupt

    gone = Bank(place, card.set_rates)
    gone.take(2)
    gone._set_rates = set_rates
    with pytest.raises(KeyboardInterrupt):
        gone.set_rate(2, 700_000)
    gone.close()
    assert card.rates[2] == 700_000
    assert Bank(place, card.set_rates).free_dead()
    assert card.rates == [0] * 8


def test_giving_back_lifts_the_limit_and_frees_the_slot(place: Path, card: CardFile) -> None:
    first, second = Bank(place, card.set_rates), Bank(place, card.set_rates)
    first.take(4)
    first.set_rate(4, 100_000)
    first.give_back(4)
    assert card.rates == [0] * 8
    second.take(4)


def test_limits_of_all_cards_are_freed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = FakeKernel(eth1=FakeCard(), eth2=FakeCard(error=5))
    monkeypatch.setattr(netlink, "netlink_socket", lambda: kernel)
    free_dead_limiters(tmp_path / "nothing")
    for name in ("eth1", "eth2"):
        gone = Bank(tmp_path / name, lambda _rates: None)
        gone.take(2)
        gone.set_rate(2, 300_000)
        gone.close()
    free_dead_limiters(tmp_path)
    assert kernel.cards["eth1"].told == [[0] * 8]
    assert "limiters of eth2 cannot be freed: dcb: eth2: the driver refuses" in capsys.readouterr().err
    free_dead_limiters(tmp_path)
    assert kernel.cards["eth1"].told == [[0] * 8], "there is nothing left to lift"


def test_a_borrower_sets_the_rate_of_a_lent_slot(place: Path, card: CardFile) -> None:
    """Its owner keeps it; the borrower writes its rate, until it borrows another one."""
    owner, user = Bank(place, card.set_rates), Bank(place, card.set_rates)
    for slot in (2, 3):
        owner.take(slot)
    user.borrow(2)
    user.set_rate(2, 500_000)
    assert card.rates[2] == 500_000
    user.borrow(3)
    with pytest.raises(AssertionError, match="slot 2 was not taken"):
        user.set_rate(2, 0)
    user.close()
    assert card.rates[2] == 500_000
    owner.set_rate(2, 0)
    assert card.rates[2] == 0
    owner.close()
