"""Space files: what they say, and sentences about mistakes."""

from pathlib import Path

import pytest
from helpers.searched import SPACE, space_document

from rogue.harness.errors import ConfigError
from rogue.harness.search.space import check_space, read_space


def test_defaults_are_one_seed_tpe_and_five_seeds_held_out(tmp_path: Path) -> None:
    text = "keys: {workload.size: {from: 1KB, to: 1MB, source: x}}\nbudget: {cells: 5}\n"
    space = check_space(space_document(tmp_path, text))
    assert (space.sampler, list(space.seeds.numbers), list(space.seeds.held_out)) == (
        "tpe", [1], [101, 102, 103, 104, 105],
    )  # fmt: skip
    assert space.aim is None and space.budget.for_ns == 3600 * 10**9


@pytest.mark.parametrize(
    ("changed", "line", "words"),
    [
        ("{from: 1KB, to: 10MB, scale: log, source: a test}", "{from: 1KB}", "space.yml:4"),
        ("cells: 12", "cells: 0", "at least 1"),
        ("held_out_first: 101", "held_out_first: 2", "above all that the search sees"),
        ("held_out_first: 101", "held_out_first: 9999", "end at most 10000 above first, 1"),
        ("workload.senders", "budget.senders", "dotted keys that start with topology"),
        ("metric: fct_mean_ns", "metrics: fct_mean_ns", "write metric if that is meant"),
    ],
)
def test_a_mistake_has_a_place_and_what_to_do(tmp_path: Path, changed: str, line: str, words: str) -> None:
    assert changed in SPACE
    with pytest.raises(ConfigError) as caught:
        check_space(space_document(tmp_path, SPACE.replace(changed, line)))
    assert words in str(caught.value)


def test_a_file_that_is_not_there_is_no_space(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_space(str(tmp_path / "space.yml"))
    assert "expected a readable space file; `rogue list spaces` has some" in str(caught.value)
