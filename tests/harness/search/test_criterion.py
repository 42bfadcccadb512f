"""What a find shows stands in one line of its file."""

from pathlib import Path

import pytest
import yaml

from rogue.harness.commands.experiments import DIRECTORY, found_files
from rogue.harness.errors import UsageError
from rogue.harness.search.found_file import MARK, criterion, read_criterion
from rogue.harness.search.question import make_target
from rogue.harness.search.space import Aim

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
