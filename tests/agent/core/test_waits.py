"""Who waits for what, worked by hand."""

from rogue.agent.core.application import Waits


def test_a_waiter_goes_on_after_the_last_of_its_causes_and_their_pauses() -> None:
    """a at 10 and 50 later, b at 40 and 5 later: 60, for which a is to blame."""
    waits: Waits[str, str] = Waits()
    waits.add("x", "a", 50)
    waits.add("x", "b", 5)
    assert waits
    assert waits.on_cause("a", 10) == []
    assert not waits.is_free("x")
    assert waits.on_cause("b", 40) == ["x"]
    assert waits.is_free("x")
    assert (waits.not_before_ns("x"), waits.last("x")) == (60, "a")
    assert not waits


def test_a_cause_happens_once() -> None:
    waits: Waits[int, str] = Waits()
    for number in range(3):
        waits.add(number, "a", 0)
    assert waits.is_awaited("a")
    assert waits.on_cause("a", 1) == [0, 1, 2]
    assert not waits.is_awaited("a")
    assert waits.on_cause("a", 2) == []
    assert waits.not_before_ns(0) == 1


def test_who_waits_for_nothing_has_nothing_to_name() -> None:
    waits: Waits[int, str] = Waits()
    assert waits.last(7) is None
    assert waits.on_cause("nothing", 3) == []
