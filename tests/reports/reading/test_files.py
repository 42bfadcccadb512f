"""Files of reports are there whole or not at all."""

import tracemalloc
from pathlib import Path

import pytest

from rogue.reports.errors import ReportError
from rogue.reports.reading.files import TABLE_BYTES_MAX, checksum, read_regular, write_whole


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


def test_a_file_that_has_more_than_it_says_has_no_checksum() -> None:
    """Those of the kernel are empty by their size, and some never end."""
    with pytest.raises(OSError, match="more bytes than it says"):
        checksum(Path("/proc/self/maps"))


def test_a_file_takes_no_more_memory_than_it_has_bytes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert read_regular(tmp_path / "x", TABLE_BYTES_MAX) == b"x" * 1000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size_bytes", [0, 9, 10])
def test_a_file_of_up_to_so_many_bytes_is_read_whole(size_bytes: int, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * size_bytes)
    assert read_regular(tmp_path / "x", 10) == b"x" * size_bytes
    with pytest.raises(OSError, match="it has more than 8 bytes"):
        read_regular(Path("/proc/self/status"), 8)  # whose size the system gives as 0
    assert len(read_regular(Path("/proc/self/status"))) > 100
