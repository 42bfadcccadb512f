"""A screening with indices and turns, on a testbed where each sender takes 1000 ns."""

from pathlib import Path
from typing import Final

from helpers.searched import VARIATION, HillTestbed, hill_bench, space_document

from rogue.harness.search.analysis import Analysed, analyse
from rogue.harness.search.asked import Asked
from rogue.harness.search.question import Question
from rogue.harness.search.space import Aim, Variation, check_variation

AIM: Final = Aim(metric="fct_mean_ns", direction="most", transport="own")
WHOLE: Final = VARIATION + "flip: 8\nsobol: {keys: 2, samples: 4}\n"


def analysed(
    tmp_path: Path, testbed: HillTestbed, text: str = WHOLE, *, claims: bool = True
) -> tuple[Analysed, Variation]:
    """What came of one question, a claim that holds below 5 µs, and the file that was asked."""
    variation = check_variation(space_document(tmp_path, text))
    question = Question("C-1: It is short.", AIM, (lambda number: number < 5000) if claims else None)
    told: list[object] = []
    bench = hill_bench(tmp_path, testbed, AIM, tuple(variation.keys))
    (found,) = analyse([Asked(question, bench)], variation, lambda *each: told.append(each))
    assert len(told) == len(found.ran)
    return found, variation
