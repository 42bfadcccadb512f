"""Tests: read and write the files that describe a search."""

from pathlib import Path

import pytest

from rogue.harness.errors import ConfigError
from rogue.harness.search.space import read_space_document, read_variation_document

SPACES = "`rogue list spaces` has some to start from"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", f"got an empty file, expected a readable space file; {SPACES}"),
        (
            b"a: 1\n---\nb: 2\n",
            "got a second document, expected a readable space file; remove the `---` line",
        ),
        (b"\xff", "expected UTF-8 text; save the file as UTF-8"),
        (b"a: 1\na: 2\n", "expected each key once"),
    ],
)
def test_a_fault_is_one_of_a_space(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "space.yml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_space_document(str(file))
    assert words in str(caught.value) and "experiment" not in str(caught.value)


def test_what_varies_is_no_space(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_variation_document(str(tmp_path))
    words = "got a directory, expected a readable file of what varies; docs/SEARCH.md says what is in it"
    assert words in str(caught.value)
