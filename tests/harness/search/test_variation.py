"""The file of a screening."""

from pathlib import Path

import pytest
from helpers.searched import VARIATION, space_document

from rogue.harness.errors import ConfigError
from rogue.harness.search.space import check_variation


@pytest.mark.parametrize(
    ("written", "changed", "words"),
    [
        ("levels: 4", "levels: 5", "an even number"),
        ("workload.senders", "seed.first", "dotted keys that start with"),
        ("{count: 2}", "{counts: 2}", "write count if that is meant"),
        ("levels: 4", "sobol: {samples: 12}", "a power of two"),
        ("levels: 4", "held_out: {first: 2}", "seeds above those of the screening"),
    ],
)
def test_a_mistake_has_a_place_and_what_to_do(tmp_path: Path, written: str, changed: str, words: str) -> None:
    assert list(check_variation(space_document(tmp_path, VARIATION)).seeds.numbers) == [1, 2]
    with pytest.raises(ConfigError) as caught:
        check_variation(space_document(tmp_path, VARIATION.replace(written, changed)))
    assert words in str(caught.value) and "space.yml" in str(caught.value)
