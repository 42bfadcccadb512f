"""A substitute for tc, and a kernel with a card: they record their commands, and reply as the real ones."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.fake_dcb import FakeCard, FakeKernel
from helpers.ticking_clock import TickingClock

from rogue.agent.drivers import netlink
from rogue.agent.drivers.limiters import LIMITERS, bank
from rogue.agent.drivers.limiters.base import COLUMNS, PacedInterface, RateLimiter
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Table

CLASSES = (1, 0, 2, 4, 3, 5, 6, 7)
_PROGRAM = """#!/bin/sh
case "${{0##*/}} $*" in
    "tc "|"tc -force -batch -") ;;
    *) echo "Unknown option." >&2; exit 1 ;;
esac
while read -r line; do
    echo "$line" >>{told}
    case "$line" in
        *show*) echo "class htb 1:13 root prio 0 rate 1Mbit" ;;
        *bad*) echo "Error: invalid" >&2 ;;
    esac
done
"""


@pytest.fixture
def poller() -> Poller:
    return Poller(TickingClock().read)


@pytest.fixture
def rows() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def limiter_of(rows: io.StringIO, poller: Poller) -> Callable[..., RateLimiter]:
    """Return a function that opens a limiter of a kind, by default of priority 3 at 10 Gb/s on eth1."""
    write_row = Table(rows, COLUMNS).row

    def make(
        kind: str,
        priority: int = 3,
        line_rate_bps: int = 10**10,
        driver: str = "mlx4_core",
        **options: object,
    ) -> RateLimiter:
        interface = PacedInterface("eth1", driver, priority, line_rate_bps, **options)  # type: ignore[arg-type]
        return LIMITERS[kind](write_row, poller, interface)

    return make


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Put the program in front of the real one; return a function that gives its commands."""
    log = tmp_path / "told"
    log.touch()
    path = tmp_path / "tc"
    path.write_text(_PROGRAM.format(told=log))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return lambda: log.read_text().splitlines()


@pytest.fixture
def cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeCard]:
    """Cards behind this computer's netlink, and a place of our own for what processes share."""
    cards = {name: FakeCard(prio_tc=CLASSES) for name in ("eth1", "enp1s0")}
    monkeypatch.setattr(netlink, "netlink_socket", lambda: FakeKernel(**cards))
    monkeypatch.setattr(bank, "PLACE", tmp_path / "limiters")
    return cards
