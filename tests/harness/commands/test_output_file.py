from pathlib import Path

import pytest

from rogue.harness.commands.opening import write_output
from rogue.harness.errors import StorageError


def test_directories_above_are_made_and_an_earlier_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "new/below/claims.json"
    for text in ("earlier\n", "µs\n"):
        write_output(file, text)
    assert file.read_text(encoding="utf-8") == "µs\n"
    assert [each.name for each in file.parent.iterdir()] == ["claims.json"]


def test_what_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as caught:
        write_output(tmp_path / "file/cards.json", "{}")
    got = "got 'File exists', expected a file to write; name another."
    assert str(caught.value) == f"{tmp_path}/file/cards.json: {got}"
