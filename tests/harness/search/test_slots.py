"""Slots that outlive a batch."""

from concurrent.futures import Future

import pytest

from rogue.harness.search.bench import KeptSlots


class Counted:
    """A slot that counts its closings; what it starts ends when the test says so."""

    def __init__(self) -> None:
        self.closed = 0
        self.future: Future[object] = Future()

    def start(self, _task: object) -> Future[object]:
        self.future = Future()
        return self.future

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def made() -> list[Counted]:
    return []


def lender(made: list[Counted]) -> KeptSlots:
    def make() -> Counted:
        made.append(Counted())
        return made[-1]

    return KeptSlots(make)  # type: ignore[arg-type]


def test_an_idle_slot_is_lent_again_and_ended_last(made: list[Counted]) -> None:
    with lender(made) as slots:
        first = slots.lend()
        first.start(None).set_result(None)  # type: ignore[arg-type]
        first.close()
        slots.lend().close()
        assert len(made) == 1 and made[0].closed == 0
    assert made[0].closed == 1


def test_what_still_runs_is_ended(made: list[Counted]) -> None:
    with lender(made) as slots:
        lent = slots.lend()
        lent.start(None)  # type: ignore[arg-type]
        lent.close()
        assert made[0].closed == 1
