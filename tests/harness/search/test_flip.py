"""Tests: simplify a finding, and find the smallest change that flips a claim."""

from collections.abc import Callable
from pathlib import Path

from helpers.searched import SPACE, VARIATION, HillTestbed, hill_bench, space_document, testbed

from rogue.harness.search.asked import Asked
from rogue.harness.search.axis import axes_of
from rogue.harness.search.flip import Change, Flip, Turn, Values, find_flip, simplest, turns_again
from rogue.harness.search.question import Question
from rogue.harness.search.screening import Screened
from rogue.harness.search.space import Aim, check_space, check_variation

__all__ = ["testbed"]
AIM = Aim(metric="fct_mean_ns", direction="most", transport="own")


def flip(
    tmp_path: Path, testbed: HillTestbed, holds: Callable[[float], bool], points: int, text: str = VARIATION
) -> Flip:
    variation = check_variation(space_document(tmp_path, text))
    bench = hill_bench(tmp_path, testbed, AIM, tuple(variation.keys))
    screened = Screened(Asked(Question("It is short.", AIM, holds), bench), [], [])
    return find_flip(screened, axes_of(variation.keys, bench.base), points, range(1, 2))


def test_the_way_to_an_end_that_turns_a_claim_is_halved(tmp_path: Path, testbed: HillTestbed) -> None:
    """Below 5 µs with two to four senders: five are the smallest change, half of the range from 2 to 8."""
    found = flip(tmp_path, testbed, lambda number: number < 5000, 12)
    assert found.held is True and found.turn is not None
    (change,) = found.turn.changes
    assert (change.key, change.before, change.after, change.share) == ("workload.senders", 2, 5, 0.5)
    tried = [each.values for each in found.tried]
    assert tried[:3] == [{"workload.senders": 8}, {"workload.senders": 5}, {"workload.senders": 4}]
    assert all("workload.size" in each for each in tried[3:]), "then the other key, no further than that"


def test_a_claim_that_does_not_hold_may_turn_as_well(tmp_path: Path, testbed: HillTestbed) -> None:
    found = flip(tmp_path, testbed, lambda number: number > 2500, 12)
    assert found.held is False and found.turn is not None
    assert [each.after for each in found.turn.changes] == [3]


def test_two_keys_are_moved_where_none_turns_it_alone(tmp_path: Path, testbed: HillTestbed) -> None:
    """No number of senders of one kind gives ten; of both kinds together they do."""

    class Both(HillTestbed):
        def run(self, cell, progress):  # type: ignore[no-untyped-def]
            result = super().run(cell, progress)
            if any(flow.size_bytes > 5_000_000 for group in cell.groups for flow in group.flows):
                result.tables["flows"]["fct_ns"] = [2 * each for each in result.tables["flows"]["fct_ns"]]
            return result

    found = flip(tmp_path, Both(), lambda number: number < 10_000, 24)
    assert found.turn is not None
    assert {each.key for each in found.turn.changes} == {"workload.senders", "workload.size"}
    assert found.turn.measured.value is not None and found.turn.measured.value >= 10_000


def test_no_more_points_are_tried_than_may_be(tmp_path: Path, testbed: HillTestbed) -> None:
    assert len(flip(tmp_path, testbed, lambda number: number < 5000, 2).tried) == 2
    never = flip(tmp_path, testbed, lambda number: number < 1e9, 9)
    assert never.turn is None and len(never.tried) <= 9


def test_without_a_number_at_the_experiment_nothing_turns(tmp_path: Path, testbed: HillTestbed) -> None:
    aim = Aim(metric="probe_p50_ns", direction="most", transport="own")
    asked = Asked(Question("It is short.", aim, lambda _: True), hill_bench(tmp_path, testbed, aim, ()))
    found = find_flip(Screened(asked, [], []), [], 12, range(1, 2))
    assert (found.held, found.turn, found.tried) == (None, None, [])


def test_a_turn_that_needs_its_own_seed_does_not_turn_again(tmp_path: Path, testbed: HillTestbed) -> None:
    """2 µs with two senders, 4 µs with four and 5 µs with five, on every seed."""
    question = Question("It is short.", AIM, lambda number: number < 5000)
    asked = Asked(question, hill_bench(tmp_path, testbed, AIM, ("workload.senders",)))
    (own,) = asked.measure([{}], range(1, 2))
    far, near = (Turn((Change("workload.senders", 2, after, 0.5),), own) for after in (5, 4))
    assert turns_again(asked, far, True, range(101, 104)) == 3
    assert turns_again(asked, near, True, range(101, 104)) == 0


VALUES = {"workload.senders": 9, "workload.size": "37KB", "topology.buffer": "1MB"}


def simplified(tmp_path: Path, needed: int, budget: int = 8) -> tuple[Values, int]:
    """The simplest values of a find that needs so many senders, and how often was asked."""
    space = check_space(space_document(tmp_path, SPACE.replace("shrink: 8", f"shrink: {budget}")))
    asked: list[Values] = []

    def holds(values: Values) -> bool:
        asked.append(values)
        return int(values.get("workload.senders", 2)) >= needed

    return simplest(VALUES, space, holds), len(asked)


def test_keys_that_do_not_matter_go_back_and_the_others_shrink(tmp_path: Path) -> None:
    simple, _ = simplified(tmp_path, needed=6)
    assert simple == {"workload.senders": 7}, "1 and 5 are too few; 7 is the next that is tried"


def test_the_budget_ends_it(tmp_path: Path) -> None:
    simple, asked = simplified(tmp_path, needed=6, budget=2)
    assert asked == 2 and simple == {"workload.senders": 9, "topology.buffer": "1MB"}


def test_the_last_key_stays(tmp_path: Path) -> None:
    simple, asked = simplified(tmp_path, needed=1)
    assert len(simple) == 1 and asked == 2


def test_nothing_is_simpler_where_nothing_else_holds(tmp_path: Path) -> None:
    simple, asked = simplified(tmp_path, needed=10)
    assert simple == VALUES and asked == 7
