"""What an analysis should take."""

from pathlib import Path

from helpers.searched import AIM, WHOLE, HillTestbed, hill, space_document

from rogue.harness.search.analysis_forecast import parts_of, plan_lines
from rogue.harness.search.base import make_base
from rogue.harness.search.question import Question
from rogue.harness.search.space import check_variation

PLAIN = Question("M", AIM)
CLAIM = Question("C-1: it is short.", AIM, lambda number: number < 5000)
RATIO = Question("C-2: it grows.", AIM, lambda number: number > 2, {"workload.senders": 2})
OTHER = Question(
    "C-3: it is shorter.", AIM.model_copy(update={"against": "other"}), lambda number: number < 1
)


def test_cells_of_each_part_are_counted(tmp_path: Path) -> None:
    """Nine points, two seeds; indices at 4 * 4 points, turns at 8 points and the experiment's own.

    Both ends of a turn run with three seeds more: 9 * 2 + 2 * 3 cells for each setting.
    """
    variation, loaded = check_variation(space_document(tmp_path, WHOLE)), hill(tmp_path)

    def parts(*questions: Question) -> list[tuple[str, int, int]]:
        return parts_of(
            [(each, make_base(loaded, HillTestbed(), each.aim, 1)) for each in questions], variation
        )

    assert parts(PLAIN) == [("screening", 9, 18), ("indices", 16, 32)]
    assert parts(PLAIN, CLAIM)[0] == ("screening", 9, 18), "both ask for the same cells"
    assert parts(CLAIM, RATIO, OTHER) == [
        ("screening", 9, 54),
        ("indices", 48, 160),
        ("turns", 27, 120),
    ]


def test_the_plan_has_ranges_with_their_sources_and_a_time(tmp_path: Path) -> None:
    variation = check_variation(space_document(tmp_path, WHOLE))
    base = make_base(hill(tmp_path), HillTestbed(), AIM, 1)
    first, *_, last = plan_lines([(CLAIM, base)], variation, 2)
    assert first == "workload.senders: 2 to 8 hosts, linear; a test"
    assert last.startswith("at most 74 cells in all, about ") and last.endswith("with 2 at once")
    wide = check_variation(space_document(tmp_path, WHOLE.replace("from: 2, to: 8", "from: 20, to: 80")))
    assert list(plan_lines([(PLAIN, base)], wide, 1))[-1].startswith("none of the first values can be")
