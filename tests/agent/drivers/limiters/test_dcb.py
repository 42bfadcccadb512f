"""Tests: limiters of a card: one maximum rate per traffic class over DCB netlink."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.fake_dcb import FakeCard, FakeKernel

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers import netlink
from rogue.agent.drivers.limiters.base import PacedInterface, WriteRow
from rogue.agent.drivers.limiters.dcb import (
    DcbLimiter,
    DcbSlots,
    Order,
    RateWriter,
    are_apart,
    has_limiters,
    paused_priorities,
    step_bps,
)
from rogue.agent.drivers.poller import Poller

GBPS = 1_000_000_000


def of_priority(priority: int, write_row: WriteRow, poller: Poller, rate_bps: int = 10 * GBPS) -> DcbLimiter:
    return DcbLimiter(write_row, poller, PacedInterface("enp1s0", "mlx4_core", priority, rate_bps))


def test_rates_are_rounded_up_to_what_the_card_does(
    write_row: WriteRow, rows: io.StringIO, poller: Poller, cards: dict[str, FakeCard]
) -> None:
    """The driver says that priority 3 has class 4."""
    limiter = of_priority(3, write_row, poller)
    assert limiter.set_rate(1_770_000_000, HostNs(5)) == 1_800_000_000
    assert cards["enp1s0"].rates_kbps == [0, 0, 0, 0, 1_800_000, 0, 0, 0]
    assert limiter.set_rate(0, HostNs(6)) == 10_000_000_000
    limiter.close()
    none = [0] * 8
    assert cards["enp1s0"].told == [none, [0, 0, 0, 0, 1_800_000, 0, 0, 0], none]
    assert rows.getvalue().splitlines()[1].startswith("5,1770000000,1800000000,")
    assert len(limiter.actuations_ns) == 2, "the driver tells when its card has a rate"


def test_flows_of_one_host_keep_their_rates(
    write_row: WriteRow, poller: Poller, cards: dict[str, FakeCard]
) -> None:
    flows = [of_priority(priority, write_row, poller) for priority in range(1, 8)]
    for index, flow in enumerate(flows, 1):
        flow.set_rate(index * GBPS, HostNs(5))
    assert cards["enp1s0"].rates_kbps == [
        1_000_000,
        0,
        2_000_000,
        4_000_000,
        3_000_000,
        5_000_000,
        6_000_000,
        7_000_000,
    ]
    with pytest.raises(LimiterError, match="limiter 4 of enp1s0 is taken by another flow of this host"):
        of_priority(3, write_row, poller)
    flows[0].close()
    assert cards["enp1s0"].rates_kbps[0] == 0
    assert cards["enp1s0"].rates_kbps[2] == 2_000_000


def test_slots_are_lent_all_or_none(write_row: WriteRow, poller: Poller, cards: dict[str, FakeCard]) -> None:
    taken = of_priority(3, write_row, poller)
    interface = PacedInterface("enp1s0", "mlx4_core", 1, 10 * GBPS)
    with pytest.raises(LimiterError, match="limiter 4 of enp1s0 is taken"):
        DcbSlots(interface, [1, 2, 3])
    taken.close()
    DcbSlots(interface, [1, 2, 3]).close()


@pytest.mark.parametrize("prio_tc", [(0,) * 8, None])
def test_what_is_refused_leaves_nothing_open(
    write_row: WriteRow,
    poller: Poller,
    cards: dict[str, FakeCard],
    monkeypatch: pytest.MonkeyPatch,
    prio_tc: tuple[int, ...] | None,
) -> None:
    """An agent lives longer than a flow that is refused: classes that are not apart, or a limiter taken."""
    taken = of_priority(3, write_row, poller)
    kernels: list[FakeKernel] = []

    def opened() -> FakeKernel:
        kernels.append(FakeKernel(**cards))
        return kernels[-1]

    monkeypatch.setattr(netlink, "netlink_socket", opened)
    cards["enp1s0"].prio_tc = prio_tc or cards["enp1s0"].prio_tc
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(LimiterError):
        of_priority(3, write_row, poller)
    with pytest.raises(LimiterError):
        DcbSlots(PacedInterface("enp1s0", "mlx4_core", 1, 10 * GBPS), [3])
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert [kernel.is_closed for kernel in kernels] == [True, True]
    taken.close()


def test_a_rate_that_no_register_holds_is_none(
    write_row: WriteRow, poller: Poller, cards: dict[str, FakeCard]
) -> None:
    fast = DcbLimiter(write_row, poller, PacedInterface("enp1s0", "mlx5_core", 3, 400 * GBPS))
    assert fast.set_rate(255 * GBPS, HostNs(5)) == 255 * GBPS
    assert fast.set_rate(256 * GBPS, HostNs(6)) == 400 * GBPS
    assert cards["enp1s0"].rates_kbps[4] == 0


@pytest.mark.parametrize("driver", ["mlx4_core", "mlx5_core"])
def test_what_we_say_is_applied_is_what_the_driver_makes_of_it(
    driver: str, write_row: WriteRow, poller: Poller, cards: dict[str, FakeCard]
) -> None:
    """mlx4 rounds up, mlx5 down: whole steps are neither."""
    cards["enp1s0"].driver = driver
    for line_rate_bps in (10 * GBPS, 25 * GBPS, 100 * GBPS):
        limiter = DcbLimiter(write_row, poller, PacedInterface("enp1s0", driver, 3, line_rate_bps))
        for rate_bps in (1, 99_999_999, 100_000_001, line_rate_bps // 3, line_rate_bps - 1, line_rate_bps):
            effective_bps = limiter.set_rate(rate_bps, HostNs(5))
            assert effective_bps == cards["enp1s0"].rates_kbps[4] * 1_000
        limiter.close()


def test_no_rate_falls_where_old_kernels_take_it_for_100_mbps(
    write_row: WriteRow, poller: Poller, cards: dict[str, FakeCard]
) -> None:
    """25.6 Gb/s are 256 units of 100 Mb/s, and eight bits hold 255: the next whole Gb/s are taken."""
    cards["enp1s0"].driver = "mlx5_core"
    limiter = DcbLimiter(write_row, poller, PacedInterface("enp1s0", "mlx5_core", 3, 25 * GBPS))
    assert [limiter.set_rate(rate, HostNs(5)) for rate in (25_500_000_000, 25_500_000_001, 26 * GBPS)] == [
        25_500_000_000, 26 * GBPS, 26 * GBPS,
    ]  # fmt: skip
    assert cards["enp1s0"].rates_kbps[4] == 26_000_000


@pytest.mark.usefixtures("cards")
def test_whether_an_interface_has_limiters(cards: dict[str, FakeCard]) -> None:
    assert has_limiters("enp1s0")
    cards["eth1"].prio_tc = (0,) * 8
    assert not has_limiters("eth1"), "its priorities share a class"
    cards["enp1s0"].app += ((5, 3, 26),)
    assert not has_limiters("enp1s0"), "it takes the class from the DSCP"
    cards["enp1s0"].app = ()
    assert has_limiters("enp1s0")
    cards["enp1s0"].has_rates = False
    assert not has_limiters("enp1s0"), "its driver has no rates"
    assert not has_limiters("no-such-device")
    assert are_apart(dict.fromkeys(range(8), 0)) is False


def test_priorities_that_pause(cards: dict[str, FakeCard]) -> None:
    cards["enp1s0"].paused = (0, 3, 7)
    assert [paused_priorities(name) for name in ("enp1s0", "eth1", "no-such-device")] == [[0, 3, 7], [], []]


def test_priorities_that_share_a_class_have_no_limiters(
    write_row: WriteRow, poller: Poller, cards: dict[str, FakeCard], tmp_path: Path
) -> None:
    cards["enp1s0"].prio_tc = (0,) * 8
    with pytest.raises(
        LimiterError, match=r"got 0:0 1:0 .*expected one each; set them: dcb ets set dev enp1s0 "
    ):
        of_priority(3, write_row, poller)
    assert not (tmp_path / "limiters").exists()


@pytest.mark.parametrize(
    ("driver", "line_rate_bps", "step"),
    [
        ("mlx4_core", 10_000_000_000, 100_000_000),
        ("mlx4_core", 40_000_000_000, 100_000_000),
        ("mlx5_core", 25_000_000_000, 100_000_000),
        ("mlx5_core", 40_000_000_000, 1_000_000_000),
        ("mlx5_core", 100_000_000_000, 1_000_000_000),
    ],
)
def test_fast_cards_have_coarse_steps(driver: str, line_rate_bps: int, step: int) -> None:
    assert step_bps(driver, line_rate_bps) == step


def test_a_flow_that_goes_on_meanwhile_hears_when_its_rate_acts(
    write_row: WriteRow, rows: io.StringIO, poller: Poller, cards: dict[str, FakeCard]
) -> None:
    """The flow waits for its first rate, and for the first one of a turn, before it posts."""
    acting: list[int] = []
    limiter = of_priority(3, write_row, poller)
    limiter.on_acting = lambda _now, rate_bps: acting.append(rate_bps)
    assert limiter.set_rate(2 * GBPS, HostNs(5)) == 2 * GBPS
    assert limiter.set_rate(3 * GBPS, HostNs(6)) is None
    assert not limiter.is_settled
    poller.turn(None)
    assert (acting, limiter.is_settled) == ([3 * GBPS], True)
    assert cards["enp1s0"].rates_kbps[4] == 3_000_000
    limiter.use(3)
    assert limiter.set_rate(4 * GBPS, HostNs(7)) == 4 * GBPS
    limiter.set_rate(0, HostNs(8))
    poller.turn(None)
    assert acting[1:] == [10 * GBPS], "no limit is the line rate"
    limiter.close()
    assert [row.split(",")[0] for row in rows.getvalue().splitlines()[1:]] == ["5", "6", "7", "8"]


def test_a_card_that_refuses_a_rate_ends_the_flow_that_went_on(
    write_row: WriteRow, rows: io.StringIO, poller: Poller, cards: dict[str, FakeCard]
) -> None:
    limiter = of_priority(3, write_row, poller)
    limiter.on_acting = lambda _now, _rate_bps: None
    limiter.set_rate(2 * GBPS, HostNs(5))
    cards["enp1s0"].error = 95
    limiter.set_rate(3 * GBPS, HostNs(6))
    with pytest.raises(LimiterError, match="refuses this maxrate: Operation not supported"):
        poller.turn(None)
    cards["enp1s0"].error = 0
    limiter.close()
    assert rows.getvalue().splitlines()[-1] == "6,3000000000,3000000000,"


PATIENCE_S = 20


class Card:
    """Takes a rate when it is let, and then says so."""

    def __init__(self) -> None:
        self.begun, self.let = threading.Semaphore(0), threading.Semaphore(0)
        self.rates_bps: list[int] = []
        self.error: LimiterError | None = None

    def write(self, order: Order) -> None:
        self.begun.release()
        assert self.let.acquire(timeout=PATIENCE_S)
        if self.error is not None:
            raise self.error
        self.rates_bps.append(order.effective_bps)


class Flow:
    def __init__(self, poller: Poller) -> None:
        self.card, self.poller, self.told = Card(), poller, list[int]()
        self.writer = RateWriter(self.card.write, poller, self.on_written)

    def on_written(self, _now: HostNs, order: Order) -> None:
        self.told.append(order.effective_bps)

    def tell(self, rate_bps: int) -> int | None:
        overtaken = self.writer.queue(Order(HostNs(5), rate_bps, rate_bps))
        return None if overtaken is None else overtaken.effective_bps

    def until_begun(self) -> None:
        assert self.card.begun.acquire(timeout=PATIENCE_S)

    def until_written(self) -> None:
        """The poller sleeps until the thread has news."""
        self.card.let.release()
        self.poller.turn(None)


@contextmanager
def flow_of(poller: Poller) -> Iterator[Flow]:
    flow = Flow(poller)
    yield flow
    flow.card.let.release(10)
    flow.writer.close()


def test_the_flow_goes_on_and_hears_when_a_rate_acts(poller: Poller) -> None:
    with flow_of(poller) as flow:
        assert flow.writer.is_settled
        assert flow.tell(7) is None
        flow.until_begun()
        assert (flow.told, flow.writer.is_settled) == ([], False)
        flow.until_written()
        assert (flow.told, flow.card.rates_bps, flow.writer.is_settled) == ([7], [7], True)


def test_of_those_that_wait_the_newest_counts(poller: Poller) -> None:
    with flow_of(poller) as flow:
        flow.tell(1)
        flow.until_begun()
        assert [flow.tell(rate) for rate in (2, 3)] == [None, 2]
        flow.until_written()
        assert (flow.told, flow.writer.is_settled) == ([1], False)
        flow.until_begun()
        flow.until_written()
        assert (flow.told, flow.card.rates_bps, flow.writer.is_settled) == ([1, 3], [1, 3], True)


def test_what_the_card_refuses_is_raised_where_the_flow_is(poller: Poller) -> None:
    with flow_of(poller) as flow:
        flow.card.error = LimiterError("no such rate")
        flow.tell(1)
        flow.until_begun()
        with pytest.raises(LimiterError, match="no such rate"):
            flow.until_written()
        assert not flow.writer.is_settled


def test_at_the_end_what_was_begun_is_written_and_nothing_else(poller: Poller) -> None:
    flow = Flow(poller)
    flow.tell(1)
    flow.until_begun()
    flow.tell(2)
    flow.card.let.release()
    assert [order.effective_bps for order in flow.writer.close()] == [1, 2]
    assert (flow.card.rates_bps, flow.told) == ([1], [])
