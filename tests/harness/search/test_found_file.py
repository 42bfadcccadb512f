"""Tests: write a finding as an experiment file and as a page."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from helpers.searched import hill

from rogue.harness.errors import UsageError
from rogue.harness.experiment.find import DIRECTORY, found_files
from rogue.harness.experiment.load import load_experiment
from rogue.harness.search.base import named_for_search
from rogue.harness.search.found_file import (
    MARK,
    FoundBy,
    criterion,
    found_document,
    found_text,
    read_criterion,
)
from rogue.harness.search.question import make_target
from rogue.harness.search.space import Aim


def test_values_and_seeds_stand_in_it_and_scales_do_not(tmp_path: Path) -> None:
    document = named_for_search(hill(tmp_path, "scales={quick: {repetitions: 1}}").document)
    values = {"workload.senders": 7, "transports[1].rto_low": "200us"}
    found_by = FoundBy("It breaks", ("rogue", "search", "x"), "# aim: {}", has_files=True)
    text = found_text(found_document(document, values, range(101, 104)), found_by)
    file = tmp_path / "find.yml"
    file.write_text(text)
    found = load_experiment(str(file)).experiment
    assert (found.name, found.seed, found.repetitions, found.scales) == ("hill-found", 101, 3, {})
    assert found.transports[1].parameters == {"rto_low": "200us"}
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert head[:2] == ["# It breaks.", "# Found by: rogue search x"]
    assert head[2].endswith("experiment.yaml: copy this file there.")


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\x1b"])
def test_no_word_of_the_head_begins_a_line_of_its_own(tmp_path: Path, end: str) -> None:
    document = replace(hill(tmp_path).document, file=f"here{end}seed: 8")
    command = ("rogue", "search", f"my file{end}seed: 7")
    found_by = FoundBy(f"It{end}seed: 6", command, "# aim: {}", has_files=True)
    text = found_text(found_document(document, {}, range(101, 104)), found_by)
    head, _, body = text.partition("name: ")
    assert [line[:2] for line in head.splitlines()] == ["# "] * 4
    assert "seed" not in body.partition("seed: 101")[0] and "search 'my file" in head


AIM = Aim(metric="jain", bound=0.5, transport="a\nb: c")


def test_it_comes_back_with_the_direction_that_was_meant(tmp_path: Path) -> None:
    file = tmp_path / "find.yml"
    line = criterion(AIM, make_target(AIM))
    file.write_text(f"# Something else.\n{line}\nname: x\n")
    assert line.count("\n") == 0
    assert read_criterion(file) == AIM.model_copy(update={"direction": "least"})
    assert yaml.safe_load(file.read_text()) == {"name": "x"}, "a comment to everybody else"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: x\n", "got no aim"),
        (f"{MARK}{{\n", "got an aim that cannot be read"),
        (f'{MARK}{{"metric": "jain", "bounds": 1}}\n', "got an aim that cannot be read"),
        (f'{MARK}{{"metric": "jain"}}\n', "got an aim without bound"),
    ],
)
def test_what_cannot_be_judged_is_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "find.yml"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_criterion(file)


@pytest.mark.parametrize("file", found_files(), ids=lambda file: file.stem)
def test_the_finds_that_are_kept_say_what_their_space_said(file: Path) -> None:
    space = yaml.safe_load((DIRECTORY / "found/spaces" / file.name).read_text())
    assert read_criterion(file) == Aim.model_validate(space["aim"])
