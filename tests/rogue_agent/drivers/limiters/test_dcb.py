import io
from collections.abc import Callable
from pathlib import Path

import pytest

from rogue_agent.core.clocks import HostNs
from rogue_agent.drivers.limiters.base import LimiterError, PacedInterface
from rogue_agent.drivers.limiters.dcb import DcbLimiter, are_apart, step_bps, traffic_classes
from rogue_agent.drivers.poller import Poller
from rogue_agent.drivers.spool import Table


def test_rates_are_rounded_up_to_what_the_card_does(
    table: Table, rows: io.StringIO, poller: Poller, told: Callable[[], list[str]]
) -> None:
    limiter = DcbLimiter(table, poller, PacedInterface("enp1s0", "mlx4_core", 3, 10_000_000_000))
    assert limiter.set_rate(1_770_000_000, HostNs(5)) == 1_800_000_000
    assert limiter.set_rate(0, HostNs(6)) == 10_000_000_000
    limiter.close()
    assert told() == [
        "maxrate set dev enp1s0 tc-maxrate 4:0mbit",
        "maxrate set dev enp1s0 tc-maxrate 4:1800mbit",
        "maxrate set dev enp1s0 tc-maxrate 4:0mbit",
        "maxrate set dev enp1s0 tc-maxrate 4:0mbit",
    ]
    assert rows.getvalue().splitlines()[1] == "5,1770000000,1800000000,"


@pytest.mark.usefixtures("told")
def test_the_driver_says_which_traffic_class_a_priority_has() -> None:
    """mlx5 gives priority 0 class 1 and priority 1 class 0."""
    classes = traffic_classes("enp1s0")
    assert (classes[0], classes[1], classes[3]) == (1, 0, 4)
    assert are_apart(classes)
    assert not are_apart({**classes, 3: 2})


@pytest.mark.usefixtures("told")
def test_priorities_that_share_a_class_have_no_limiters(table: Table, poller: Poller, tmp_path: Path) -> None:
    program = tmp_path / "dcb"
    program.write_text("#!/bin/sh\necho prio-tc 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0\n")
    with pytest.raises(
        LimiterError, match=r"got 0:0 1:0 .*expected one each; set them: dcb ets set dev enp1s0 "
    ):
        DcbLimiter(table, poller, PacedInterface("enp1s0", "mlx5_core", 3, 10_000_000_000))
    program.write_text("#!/bin/sh\nexit 1\n")
    assert traffic_classes("enp1s0") == {}


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
