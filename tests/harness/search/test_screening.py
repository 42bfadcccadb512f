"""What a screening says of a claim."""

from pathlib import Path

import pytest
from helpers.searched import VARIATION, HillTestbed, hill_bench, space_document, testbed

from rogue.harness.search.asked import Asked
from rogue.harness.search.question import Question
from rogue.harness.search.screening import screen
from rogue.harness.search.space import Aim, check_variation

__all__ = ["testbed"]


@pytest.mark.parametrize(
    ("most", "limit", "held", "turned"),
    [
        (8, 5000.0, 4, {"workload.senders": (3, 3), "workload.size": (0, 3)}),
        (8, 9000.0, 9, {"workload.senders": (0, 3), "workload.size": (0, 3)}),
        (11, 4000.0, 2, {"workload.senders": (1, 1), "workload.size": (0, 1)}),
    ],
    ids=["at one end", "everywhere", "without a number at an end"],
)
def test_a_step_turns_a_claim_that_holds_at_one_of_its_ends(
    tmp_path: Path,
    testbed: HillTestbed,
    most: int,
    limit: float,
    held: int,
    turned: dict[str, tuple[int, int]],
) -> None:
    aim = Aim(metric="fct_mean_ns", direction="most", transport="own")
    variation = check_variation(space_document(tmp_path, VARIATION.replace("to: 8", f"to: {most}")))
    bench = hill_bench(tmp_path, testbed, aim, tuple(variation.keys))
    asked = Asked(Question("It is short.", aim, lambda number: number < limit), bench)
    (found,) = screen([asked], variation, lambda *_: None)
    assert {each.key: (each.turned, each.judged) for each in found.moved} == turned
    assert found.held == held
