"""Tests: limiters of a card: one maximum rate per traffic class over DCB netlink."""

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.fake_dcb import FakeCard, FakeKernel

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers import netlink
from rogue.agent.drivers.limiters.base import PacedInterface
from rogue.agent.drivers.limiters.dcb import (
    DcbLimiter,
    DcbSlots,
    Order,
    RateWriter,
    has_limiters,
    paused_priorities,
    step_bps,
)
from rogue.agent.drivers.poller import Poller

GBPS = 1_000_000_000
LimiterOf = Callable[..., DcbLimiter]


def test_rates_are_rounded_up_to_steps_of_the_card(
    limiter_of: LimiterOf, rows: io.StringIO, cards: dict[str, FakeCard]
) -> None:
    """The driver says that priority 3 has class 4."""
    limiter = limiter_of("dcb")
    assert limiter.set_rate(1_770_000_000, HostNs(5)) == 1_800_000_000
    assert cards["eth1"].rates_kbps == [0, 0, 0, 0, 1_800_000, 0, 0, 0]
    assert limiter.set_rate(0, HostNs(6)) == 10_000_000_000
    limiter.close()
    none = [0] * 8
    assert cards["eth1"].told == [none, [0, 0, 0, 0, 1_800_000, 0, 0, 0], none]
    assert rows.getvalue().splitlines()[1].startswith("5,1770000000,1800000000,")
    assert len(limiter.actuations_ns) == 2, "the driver tells when its card has a rate"


def test_flows_of_one_host_keep_their_rates(limiter_of: LimiterOf, cards: dict[str, FakeCard]) -> None:
    flows = [limiter_of("dcb", priority) for priority in range(1, 8)]
    for index, flow in enumerate(flows, 1):
        flow.set_rate(index * GBPS, HostNs(5))
    assert cards["eth1"].rates_kbps == [
        1_000_000,
        0,
        2_000_000,
        4_000_000,
        3_000_000,
        5_000_000,
        6_000_000,
        7_000_000,
    ]
    with pytest.raises(LimiterError, match="limiter 4 of eth1 is taken by another flow of this host"):
        limiter_of("dcb")
    flows[0].close()
    assert cards["eth1"].rates_kbps[0] == 0
    assert cards["eth1"].rates_kbps[2] == 2_000_000


def test_slots_are_lent_all_or_none(limiter_of: LimiterOf, cards: dict[str, FakeCard]) -> None:
    taken = limiter_of("dcb")
    interface = PacedInterface("eth1", "mlx4_core", 1, 10 * GBPS)
    with pytest.raises(LimiterError, match="limiter 4 of eth1 is taken"):
        DcbSlots(interface, [1, 2, 3])
    taken.close()
    DcbSlots(interface, [1, 2, 3]).close()


@pytest.mark.parametrize("prio_tc", [(0,) * 8, None])
def test_a_refused_limiter_leaves_nothing_open(
    limiter_of: LimiterOf,
    cards: dict[str, FakeCard],
    monkeypatch: pytest.MonkeyPatch,
    prio_tc: tuple[int, ...] | None,
) -> None:
    """An agent lives longer than a flow that is refused: classes that are not apart, or a limiter taken."""
    taken = limiter_of("dcb")
    kernels: list[FakeKernel] = []

    def opened() -> FakeKernel:
        kernels.append(FakeKernel(**cards))
        return kernels[-1]

    monkeypatch.setattr(netlink, "netlink_socket", opened)
    cards["eth1"].prio_tc = prio_tc or cards["eth1"].prio_tc
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(LimiterError):
        limiter_of("dcb")
    with pytest.raises(LimiterError):
        DcbSlots(PacedInterface("eth1", "mlx4_core", 1, 10 * GBPS), [3])
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert [kernel.is_closed for kernel in kernels] == [True, True]
    taken.close()


@pytest.mark.parametrize("driver", ["mlx4_core", "mlx5_core"])
def test_the_driver_applies_the_reported_rate(
    driver: str, limiter_of: LimiterOf, cards: dict[str, FakeCard]
) -> None:
    """mlx4 rounds up, mlx5 down: whole steps are neither."""
    cards["eth1"].driver = driver
    for line_rate_bps in (10 * GBPS, 25 * GBPS, 100 * GBPS):
        limiter = limiter_of("dcb", 3, line_rate_bps, driver)
        for rate_bps in (1, 99_999_999, 100_000_001, line_rate_bps // 3, line_rate_bps - 1, line_rate_bps):
            assert limiter.set_rate(rate_bps, HostNs(5)) == cards["eth1"].rates_kbps[4] * 1_000
        limiter.close()


@pytest.mark.parametrize(
    ("line_rate_bps", "rate_bps", "effective_bps", "set_kbps"),
    [
        # 25.6 Gb/s are 256 units of 100 Mb/s, and eight bits hold 255: the next whole Gb/s are taken
        (25 * GBPS, 25_500_000_000, 25_500_000_000, 25_500_000),
        (25 * GBPS, 25_500_000_001, 26 * GBPS, 26_000_000),
        # above 255 Gb/s there is no limit
        (400 * GBPS, 255 * GBPS, 255 * GBPS, 255_000_000),
        (400 * GBPS, 256 * GBPS, 400 * GBPS, 0),
    ],
)
def test_no_rate_overflows_the_register(
    limiter_of: LimiterOf,
    cards: dict[str, FakeCard],
    line_rate_bps: int,
    rate_bps: int,
    effective_bps: int,
    set_kbps: int,
) -> None:
    cards["eth1"].driver = "mlx5_core"
    limiter = limiter_of("dcb", 3, line_rate_bps, "mlx5_core")
    assert limiter.set_rate(rate_bps, HostNs(5)) == effective_bps
    assert cards["eth1"].rates_kbps[4] == set_kbps


@pytest.mark.parametrize(
    "change",
    [
        {"prio_tc": (0,) * 8},  # its priorities share a class
        {"app": ((5, 3, 26),)},  # it takes the class from the DSCP
        {"has_rates": False},
    ],
)
def test_whether_an_interface_has_limiters(cards: dict[str, FakeCard], change: dict[str, object]) -> None:
    assert has_limiters("eth1")
    assert not has_limiters("no-such-device")
    for name, value in change.items():
        setattr(cards["eth1"], name, value)
    assert not has_limiters("eth1")


def test_priorities_that_pause(cards: dict[str, FakeCard]) -> None:
    assert [paused_priorities(name) for name in ("eth1", "no-such-device")] == [[], []]
    cards["eth1"].paused = (0, 3, 7)
    assert paused_priorities("eth1") == [0, 3, 7]


def test_priorities_that_share_a_class_are_an_error(
    limiter_of: LimiterOf, cards: dict[str, FakeCard], tmp_path: Path
) -> None:
    cards["eth1"].prio_tc = (0,) * 8
    with pytest.raises(
        LimiterError, match=r"got 0:0 1:0 .*expected one each; set them: dcb ets set dev eth1 "
    ):
        limiter_of("dcb")
    assert not (tmp_path / "limiters").exists()


@pytest.mark.parametrize(
    ("driver", "line_rate_bps", "step"),
    [
        ("mlx4_core", 40 * GBPS, 100_000_000),
        ("mlx5_core", 25 * GBPS, 100_000_000),
        ("mlx5_core", 40 * GBPS, GBPS),
    ],
)
def test_fast_cards_have_coarse_steps(driver: str, line_rate_bps: int, step: int) -> None:
    assert step_bps(driver, line_rate_bps) == step


def test_a_rate_in_the_background_is_reported_when_effective(
    limiter_of: LimiterOf, poller: Poller, rows: io.StringIO, cards: dict[str, FakeCard]
) -> None:
    """The flow waits for its first rate, and for the first one of a turn, before it posts."""
    acting: list[int] = []
    limiter = limiter_of("dcb")
    limiter.on_acting = lambda _now, rate_bps: acting.append(rate_bps)
    assert limiter.set_rate(2 * GBPS, HostNs(5)) == 2 * GBPS
    assert limiter.set_rate(3 * GBPS, HostNs(6)) is None
    assert not limiter.is_settled
    poller.turn(None)
    assert (acting, limiter.is_settled) == ([3 * GBPS], True)
    assert cards["eth1"].rates_kbps[4] == 3_000_000
    limiter.use(3)
    assert limiter.set_rate(4 * GBPS, HostNs(7)) == 4 * GBPS
    limiter.set_rate(0, HostNs(8))
    poller.turn(None)
    assert acting[1:] == [10 * GBPS], "no limit is the line rate"
    limiter.close()
    assert [row.split(",")[0] for row in rows.getvalue().splitlines()[1:]] == ["5", "6", "7", "8"]


def test_a_refused_background_rate_is_an_error(
    limiter_of: LimiterOf, poller: Poller, rows: io.StringIO, cards: dict[str, FakeCard]
) -> None:
    limiter = limiter_of("dcb")
    limiter.on_acting = lambda _now, _rate_bps: None
    limiter.set_rate(2 * GBPS, HostNs(5))
    cards["eth1"].error = 95
    limiter.set_rate(3 * GBPS, HostNs(6))
    with pytest.raises(LimiterError, match="refuses this maxrate: Operation not supported"):
        poller.turn(None)
    cards["eth1"].error = 0
    limiter.close()
    assert rows.getvalue().splitlines()[-1] == "6,3000000000,3000000000,"


PATIENCE_S = 20


class Card:
    """Takes a rate when the test lets it."""

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


def test_the_writer_reports_a_written_rate(poller: Poller) -> None:
    with flow_of(poller) as flow:
        assert flow.writer.is_settled
        assert flow.tell(7) is None
        flow.until_begun()
        assert (flow.told, flow.writer.is_settled) == ([], False)
        flow.until_written()
        assert (flow.told, flow.card.rates_bps, flow.writer.is_settled) == ([7], [7], True)


def test_only_the_newest_waiting_rate_is_written(poller: Poller) -> None:
    with flow_of(poller) as flow:
        flow.tell(1)
        flow.until_begun()
        assert [flow.tell(rate) for rate in (2, 3)] == [None, 2]
        flow.until_written()
        assert (flow.told, flow.writer.is_settled) == ([1], False)
        flow.until_begun()
        flow.until_written()
        assert (flow.told, flow.card.rates_bps, flow.writer.is_settled) == ([1, 3], [1, 3], True)


def test_an_error_of_the_writer_is_raised_by_the_poller(poller: Poller) -> None:
    with flow_of(poller) as flow:
        flow.card.error = LimiterError("no such rate")
        flow.tell(1)
        flow.until_begun()
        with pytest.raises(LimiterError, match="no such rate"):
            flow.until_written()
        assert not flow.writer.is_settled


def test_close_finishes_the_current_rate_only(poller: Poller) -> None:
    flow = Flow(poller)
    flow.tell(1)
    flow.until_begun()
    flow.tell(2)
    flow.card.let.release()
    assert [order.effective_bps for order in flow.writer.close()] == [1, 2]
    assert (flow.card.rates_bps, flow.told) == ([1], [])
