"""Files of data before anybody looked into them."""

import os
from pathlib import Path

import pytest
from pydantic_core import PydanticCustomError

from rogue.harness.data import source
from rogue.harness.data.source import data_source, read_source


def told(path: Path) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        read_source(path, path.name)
    assert caught.value.context is not None
    return str(caught.value.context["got"]).replace(str(path), path.name)


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"abc")
    read = read_source(tmp_path / "a.csv", "a.csv")
    assert (read.content, read.text, read.name) == (b"abc", "abc", "a.csv")
    assert read.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180
    assert read == data_source("a.csv", b"abc")


def test_what_cannot_be_read_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(tmp_path / "none.csv") == "'No such file or directory' on opening none.csv"
    assert told(tmp_path) == f"'Is a directory' on opening {tmp_path.name}"
    os.mkfifo(tmp_path / "pipe")
    assert told(tmp_path / "pipe") == "'it is no regular file' on opening pipe"
    (tmp_path / "empty").touch()
    assert told(tmp_path / "empty") == "empty, which is empty"
    assert told(tmp_path / "a\0b").startswith("'embedded null byte'")
    (tmp_path / "large").write_bytes(b"12345")
    monkeypatch.setattr(source, "SIZE_BYTES_MAX", 4)
    assert told(tmp_path / "large") == "'it has 5 bytes' on opening large"


def test_a_file_of_ten_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(10**10)  # a hole
    assert told(tmp_path / "huge") == "'it has 10000000000 bytes' on opening huge"


def test_what_is_no_text_is_told_with_its_line() -> None:
    with pytest.raises(PydanticCustomError) as caught:
        data_source("a.csv", b"x\ny\n\xff").text  # noqa: B018
    assert caught.value.context is not None
    assert caught.value.context["got"] == "the byte 0xff in line 3 of a.csv"
