"""Five sabotages and another MTU, and which published claims turn by each: so claims watch our own code.

One seed each, and shorter than the board's runs; what counts is the change of the verdict.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.mutation import mutate
from helpers.paper_runs import MTU_OF_BOUNDS, Judged, judged

from rogue.agent.core.cc.vegas import Vegas
from rogue.agent.core.estimators import ESTIMATORS
from rogue.harness.cell import marking
from rogue.harness.cell.marking import MarkingCurve
from rogue.simulator.reliability import Reliability

GOOD = ("reproduced", "close")
PARKING_LOT = (
    "rogue-paper/figure-11-13",
    "transports=[rogue]",
    "repetitions=1",
    "workload.repeat_for=1s",
    "factors={topology.delay: [100ns]}",
    MTU_OF_BOUNDS,
)
"""RoGUE's probe through three congested links (R-20)."""
DCQCN_QUEUE = (
    "controls/dcqcn-queue",
    "repetitions=1",
    "workload.repeat_for=100ms",
    "factors={workload.senders: [2]}",
)
IRN = (
    "irn-paper/figures-1-6",
    "transports=[{name: irn, label: irn, cap_packets: 111, rto_low: 100us, rto_high: 320us}]",
    "repetitions=1",
    "workload.arrive_for=4ms",
    "workload.ignore_for=1ms",
)


def swapped_alpha_and_beta(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = "elif diff_packets {}:\n        self._grow"
    changes = (
        ("diff_packets > self._beta", "diff_packets < self._alpha"),
        (grow.format("< self._alpha"), grow.format("> self._beta")),
    )
    mutate(monkeypatch, Vegas, "on_sample", *changes)


def no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    with_floor = "max(self._floor_ns, rtt_ns)"
    mutate(monkeypatch, Vegas, "on_sample", (with_floor, "rtt_ns"))


def literal_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ESTIMATORS, "drained", ESTIMATORS["literal"])


def tiny_thresholds(kmax_bytes: int) -> Callable[[pytest.MonkeyPatch], None]:
    def sabotage(monkeypatch: pytest.MonkeyPatch) -> None:
        curve = MarkingCurve(kmin_bytes=0, kmax_bytes=kmax_bytes, pmax=0.01)
        monkeypatch.setattr(marking, "DCQCN_CURVE", curve)

    return sabotage


def no_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(
        monkeypatch,
        Reliability,
        "arguments",
        ("self.parameters.items()", "{**self.parameters, 'cap_packets': 0}.items()"),
    )


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    """Every claim of the three experiments without a sabotage."""
    found: dict[str, Judged] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, *settings in (PARKING_LOT, DCQCN_QUEUE, IRN):
            found |= judged(patch, tmp_path_factory.mktemp("healthy"), name, *settings)
    return found


@pytest.mark.parametrize(
    ("sabotage", "experiment", "missed"),
    [
        (swapped_alpha_and_beta, PARKING_LOT, {"R-20-p50", "R-20-p90"}),
        (no_floor, PARKING_LOT, {"R-20-p50", "R-20-p90"}),
        (literal_estimator, PARKING_LOT, {"R-20-p50", "R-20-p90"}),
        (tiny_thresholds(1_000), DCQCN_QUEUE, {"X-1-2"}),
        (no_cap, IRN, {"I-3"}),
    ],
    ids=["alpha-beta", "floor", "literal", "kmin", "cap"],
)
def test_claims_that_were_good_are_missed(
    healthy: dict[str, Judged],
    sabotage: Callable[[pytest.MonkeyPatch], None],
    experiment: tuple[str, ...],
    missed: set[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    sabotage(monkeypatch)
    name, *settings = experiment
    found = judged(monkeypatch, tmp_path, name, *settings)
    turned = {each for each, now in found.items() if now.found not in GOOD and healthy[each].found in GOOD}
    assert turned == missed, {each: (healthy[each], now) for each, now in found.items()}


def test_claims_that_hang_on_the_mtu(
    healthy: dict[str, Judged], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Thresholds count packets: with twice the bytes in each, queues are longer and shares are levelled."""
    name, *settings = PARKING_LOT
    found = judged(monkeypatch, tmp_path, name, *settings, "topology.mtu=2048")
    turned = {each: now.found for each, now in found.items() if now.found != healthy[each].found}
    assert turned == {
        "R-19-jain": "reproduced",
        "R-19-mean": "close",
        "R-20-p50": "close",
        "R-20-p90": "missed",
    }


def test_a_tiny_kmin_alone_leaves_the_tolerance(
    healthy: dict[str, Judged], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Kmin of 5 KB is a quarter of the queue of two flows: without it the queue falls by as much."""
    tiny_thresholds(200_000)(monkeypatch)
    name, *settings = DCQCN_QUEUE
    found = judged(monkeypatch, tmp_path, name, *settings)["X-1-2"]
    assert (healthy["X-1-2"].found, found.found) == ("reproduced", "close")
    assert 4_500 < healthy["X-1-2"].mean - found.mean < 6_500
