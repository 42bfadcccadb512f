"""Tests: read the files that say what a search or screening varies."""

from pathlib import Path

import pytest
from helpers.searched import SPACE, VARIATION, space_document

from rogue.harness.errors import ConfigError
from rogue.harness.search.space import check_space, check_variation, read_space


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
def test_variation_a_mistake_has_a_place_and_what_to_do(
    tmp_path: Path, written: str, changed: str, words: str
) -> None:
    assert list(check_variation(space_document(tmp_path, VARIATION)).seeds.numbers) == [1, 2]
    with pytest.raises(ConfigError) as caught:
        check_variation(space_document(tmp_path, VARIATION.replace(written, changed)))
    assert words in str(caught.value) and "space.yml" in str(caught.value)
