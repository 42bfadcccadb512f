"""Reading experiment files."""

import os
from pathlib import Path

import pytest

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.document import Document, read_document, show, with_setting
from rogue.harness.experiment.yaml_text import SIZE_BYTES_MAX
from rogue.workloads.printable import printable


def test_data_and_places(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("name: x\nworkload:\n  senders: 8\n")
    document = read_document(str(file))
    assert document.data == {"name": "x", "workload": {"senders": 8}}
    assert document.place(("workload", "senders")) == f"{file}:3"
    assert document.place(("workload", "size")) == f"{file}:2"
    assert document.place(("probe",)) == f"{file}:1"
    assert len(document.sha256) == 64


def wrong_file(directory: Path, kind: str) -> Path:
    path = directory / "wrong.yaml"
    match kind:
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "unreadable":
            return Path("/proc/self/mem")
        case "not-utf-8":
            path.write_bytes(b"name: \xff\n")
        case "empty":
            path.write_text("")
        case "list":
            path.write_text("- a\n")
        case "huge":
            path.write_text("#" * (SIZE_BYTES_MAX + 1))
        case "nul":
            return Path("a\0b")
    return path


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("missing", "'No such file or directory' on opening it"),
        ("directory", "got a directory, expected an experiment file"),
        ("pipe", "got a device or pipe, expected a regular file"),
        ("unreadable", "on opening it"),
        ("not-utf-8", "got the byte 0xff at offset 6, expected UTF-8 text; save the file as UTF-8"),
        ("empty", "got an empty file, expected a mapping"),
        ("list", "got a list of 1, expected a mapping"),
        ("huge", f"got more than {SIZE_BYTES_MAX} bytes"),
        ("nul", "on opening it"),
    ],
)
def test_wrong_files_get_one_sentence(tmp_path: Path, kind: str, words: str) -> None:
    path = wrong_file(tmp_path, kind)
    with pytest.raises(ConfigError) as caught:
        read_document(str(path))
    assert words in str(caught.value)
    assert str(caught.value).startswith(printable(f"{path}: got "))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (5, "5"),
        ("x", "'x'"),
        ([1, 2], "a list of 2"),
        ({"a": 1}, "a mapping"),
        ("y" * 100, "'" + "y" * 56 + "..."),
    ],
)
def test_values_are_shown_short(value: object, text: str) -> None:
    assert show(value) == text


def document(**data: object) -> Document:
    return Document("a.yaml", "", data, {("workload",): "a.yaml:1", ("workload", "senders"): "a.yaml:2"})


def test_setting_leaves_the_original_alone() -> None:
    original = document(workload={"senders": 8})
    changed = with_setting(original, ("workload", "senders"), 4, "--set x")
    assert (original.data, changed.data) == ({"workload": {"senders": 8}}, {"workload": {"senders": 4}})
    assert changed.place(("workload", "senders")) == "--set x"
    assert changed.place(("workload",)) == "a.yaml:1"


def test_setting_adds_a_key() -> None:
    assert with_setting(document(), ("seed",), 4, "here").data == {"seed": 4}


@pytest.mark.parametrize("path", [("probe", "interval"), ("traffic", 1), ("traffic", 0, "x", "y"), (0,)])
def test_setting_needs_something_to_put_it_into(path: tuple[str | int, ...]) -> None:
    with pytest.raises(LookupError):
        with_setting(document(traffic=[{}]), path, 1, "here")


def test_parts_that_a_short_form_leaves_out() -> None:
    short = document(transports=["rouge", {"name": "rogue", "alpha": []}])
    assert short.as_written(("transports", 0, "name")) == ("transports", 0)
    assert short.as_written(("transports", 1, "parameters", "alpha")) == ("transports", 1, "alpha")
    assert short.as_written(("transports", 1, "label")) == ("transports", 1, "label")
