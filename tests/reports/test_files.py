"""Files of reports are there whole or not at all."""

from pathlib import Path

import pytest

from rogue.reports.errors import ReportError
from rogue.reports.files import write_whole


def test_the_new_text_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    write_whole(path, "old")
    write_whole(path, "nuée\n")
    assert path.read_bytes() == "nuée\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_that_cannot_be_written_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="the report cannot be written: Is a directory; free space or"):
        write_whole(tmp_path, "x")
