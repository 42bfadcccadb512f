"""Limiters of a card: one maximum rate per traffic class, over DCB netlink."""

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import NamedTuple

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.limiters import bank
from rogue.agent.drivers.limiters.base import LimiterSlots, PacedInterface, RateLimiter, WriteRow
from rogue.agent.drivers.netlink import DcbNetlink
from rogue.agent.drivers.poller import Poller

_SWITCH_S = 0.000_02
"""Switch interval of the interpreter, so that the thread soon runs; the default is 5 ms."""


class Order(NamedTuple):
    """A rate to set: when it was requested, the rate, and the card's effective rate."""

    requested_ns: HostNs
    requested_bps: int
    effective_bps: int


class RateWriter:
    """A thread that sets one rate at a time; of several waiting requests only the newest counts.

    `write` runs on the thread. The poller calls `on_written`, and raises errors of `write`. All other methods
    are for the flow's thread.
    """

    def __init__(
        self, write: Callable[[Order], None], poller: Poller, on_written: Callable[[HostNs, Order], None]
    ) -> None:
        self._write = write
        self._poller = poller
        self._on_written = on_written
        self._changed = threading.Condition()
        self._waiting: Order | None = None
        self._written: Order | None = None
        self._error: Exception | None = None
        self._is_over = False
        self._outstanding: list[Order] = []
        self._news = os.eventfd(0)
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        poller.watch(self._news, self._read)
        self._thread = threading.Thread(target=self._run, name="rates", daemon=True)
        self._thread.start()

    @property
    def is_settled(self) -> bool:
        """True if every order that counts was carried out and reported."""
        return not self._outstanding

    def queue(self, order: Order) -> Order | None:
        """Queue an order; return the waiting one that it replaces."""
        with self._changed:
            overtaken, self._waiting = self._waiting, order
            self._changed.notify()
        if overtaken is not None:
            self._outstanding.remove(overtaken)
        self._outstanding.append(order)
        return overtaken

    def close(self) -> list[Order]:
        """End the thread after the current order; return the orders that were not reported."""
        with self._changed:
            self._waiting, self._is_over = None, True
            self._changed.notify()
        self._thread.join()
        sys.setswitchinterval(self._switch_s)
        if self._poller.is_watched(self._news):
            self._poller.leave(self._news)
        os.close(self._news)
        return self._outstanding

    def _read(self, now: HostNs) -> None:
        os.eventfd_read(self._news)
        with self._changed:
            written, self._written, error = self._written, None, self._error
            self._changed.notify()
        if error is not None:
            raise error
        if written is not None:
            self._outstanding.remove(written)
            self._on_written(now, written)

    def _run(self) -> None:
        while (order := self._next()) is not None:
            try:
                self._write(order)
            except Exception as error:  # raised on the flow's thread
                self._error = error
            else:
                self._written = order
            os.eventfd_write(self._news, 1)
            if self._error is not None:
                return

    def _next(self) -> Order | None:
        """Wait for an order, and until the last one was reported."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_over or (self._waiting is not None and self._written is None)
            )
            order, self._waiting = self._waiting, None
            return order


_STEP_BPS = 100_000_000
_COARSE_STEP_BPS = 1_000_000_000
_FINE_STEPS_BPS_MAX = 25_500_000_000
"""mlx5 uses up to 255 units of 100 Mb/s, and units of 1 Gb/s above that; mlx4 has 100 Mb/s units only.

Kernels before commit a7bf4d5063c7 use the small unit up to 26 Gb/s: 25.6 Gb/s are 256 units, which overflow
the card's register, so that it applies 100 Mb/s.

Source: Linux, drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c (mlx5e_dcbnl_ieee_setmaxrate) and
mlx4/en_dcb_nl.c (mlx4_en_dcbnl_ieee_setmaxrate).
"""
_RATE_BPS_MAX = 255_000_000_000
"""Maximum of a card's 8-bit register; above it no limit is set. Kernels before 43b27d1bd88a truncate."""
_BPS_PER_KBPS = 1_000
_PRIORITIES = 8


class DcbLimiter(RateLimiter):
    """The traffic class of a priority, in the bank that all processes share.

    A rate is effective when the bank has set it, because the driver waits for the card. A flow with
    `on_acting` sets rates on a thread, except the first one, before which it posts nothing. There is no
    limit initially, even if a killed process has left one.
    """

    kind = "dcb"

    def __init__(self, write_row: WriteRow, poller: Poller, interface: PacedInterface) -> None:
        super().__init__(write_row)
        self._poller = poller
        self._line_rate_bps = interface.line_rate_bps
        self.step_bps = step_bps(interface.driver, interface.line_rate_bps)
        self._has_coarse_steps = interface.driver.startswith("mlx5")
        self._is_lent = interface.is_lent
        with ExitStack() as opened:
            self._classes, self._bank = _open_bank(interface.netdev, opened)
            self._slot = self._classes[interface.priority]
            if not self._is_lent:
                self._bank.take(self._slot)
            self._opened = opened.pop_all()
        self._writer: RateWriter | None = None
        self._is_first = True

    def use(self, priority: int) -> None:
        """Use the class of this priority from now on."""
        self._is_first = True
        self._slot = self._classes[priority]
        self._bank.borrow(self._slot)

    @property
    def is_settled(self) -> bool:
        """True if the card has the last rate."""
        return self._writer is None or self._writer.is_settled

    def set_rate(self, rate_bps: int, now: HostNs) -> int | None:
        """Set the maximum of the traffic class, rounded up to whole steps."""
        effective_bps = _rounded_up(rate_bps, self.step_bps)
        if self._has_coarse_steps and effective_bps > _FINE_STEPS_BPS_MAX:
            effective_bps = _rounded_up(rate_bps, _COARSE_STEP_BPS)
        if effective_bps > _RATE_BPS_MAX:
            effective_bps = 0
        if self.on_acting is not None and not self._is_first:
            self._write_later(Order(now, rate_bps, effective_bps))
            return None
        self._is_first = False
        self._write(Order(now, rate_bps, effective_bps))
        self._record(now, rate_bps, effective_bps, self._poller.now() - now)
        return effective_bps or self._line_rate_bps

    def _write(self, order: Order) -> None:
        self._bank.set_rate(self._slot, order.effective_bps // _BPS_PER_KBPS)

    def _write_later(self, order: Order) -> None:
        if self._writer is None:
            self._writer = RateWriter(self._write, self._poller, self._on_written)
        dropped = self._writer.queue(order)
        if dropped is not None:
            self._record(*dropped, None)

    def _on_written(self, now: HostNs, order: Order) -> None:
        self._record(*order, now - order.requested_ns)
        if self.on_acting is not None and self.is_settled:
            self.on_acting(now, order.effective_bps or self._line_rate_bps)

    def close(self) -> None:
        """Lift the limit, unless it was lent."""
        if self._writer is not None:
            for order in self._writer.close():
                self._record(*order, None)
        if not self._is_lent:
            self._bank.give_back(self._slot)
        self._opened.close()


class DcbSlots(LimiterSlots):
    """Slots of the bank."""

    def __init__(self, interface: PacedInterface, priorities: Sequence[int]) -> None:
        with ExitStack() as opened:
            classes, self._bank = _open_bank(interface.netdev, opened)
            self._slots = {priority: classes[priority] for priority in priorities}
            for slot in self._slots.values():
                self._bank.take(slot)
            self._opened = opened.pop_all()

    def lift(self, priority: int) -> None:
        """Remove the maximum of the class."""
        self._bank.set_rate(self._slots[priority], 0)

    def close(self) -> None:
        """Release all slots."""
        for slot in self._slots.values():
            self._bank.give_back(slot)
        self._opened.close()


def _rounded_up(rate_bps: int, step_bps: int) -> int:
    return -(-rate_bps // step_bps) * step_bps


def step_bps(driver: str, line_rate_bps: int) -> int:
    """Return the step of a card's rates; the larger one of two, because the core knows one per limiter."""
    is_coarse = driver.startswith("mlx5") and line_rate_bps > _FINE_STEPS_BPS_MAX
    return _COARSE_STEP_BPS if is_coarse else _STEP_BPS


def has_limiters(netdev: str) -> bool:
    """True if an interface's driver has maximum rates, and a class for each service level.

    A card that trusts the DSCP puts packets of all service levels into one class.
    """
    try:
        with closing(DcbNetlink(netdev)) as card:
            has_classes = are_apart(card.traffic_classes()) and not card.trusts_dscp()
            return has_classes and bool(card.rates_kbps())
    except (LimiterError, OSError):
        return False


def paused_priorities(netdev: str) -> list[int]:
    """Return the priorities with PFC on an interface; none if they cannot be read."""
    try:
        with closing(DcbNetlink(netdev)) as card:
            return card.paused()
    except (LimiterError, OSError):
        return []


def are_apart(classes: Mapping[int, int]) -> bool:
    """True if no two priorities share a traffic class."""
    return len(classes) == len(set(classes.values())) == _PRIORITIES


def _open_bank(netdev: str, opened: ExitStack) -> tuple[dict[int, int], bank.Bank]:
    """Return the traffic class of each priority, and the bank; `opened` closes both."""
    card = DcbNetlink(netdev)
    opened.callback(card.close)
    classes = _classes_of(card, netdev)
    limiters = bank.Bank(bank.PLACE / netdev, card.set_rates)
    opened.callback(limiters.close)
    return classes, limiters


def _classes_of(card: DcbNetlink, netdev: str) -> dict[int, int]:
    classes = card.traffic_classes()
    if not are_apart(classes):
        shared = " ".join(f"{priority}:{number}" for priority, number in classes.items()) or "nothing"
        apart = " ".join(f"{priority}:{priority}" for priority in range(_PRIORITIES))
        raise LimiterError(
            f"dcb: traffic classes of priorities on {netdev}: got {shared}, expected one each; "
            f"set them: dcb ets set dev {netdev} prio-tc {apart}"
        )
    return classes
