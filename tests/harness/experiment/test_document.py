"""Test experiment files as they are written, and settings applied to them."""

import os
from pathlib import Path

import pytest
import yaml
from helpers.experiments import SMALL, load_text
from hypothesis import given
from hypothesis import strategies as st

from rogue.harness.data.yaml_text import SIZE_BYTES_MAX, format_path
from rogue.harness.errors import ConfigError
from rogue.harness.experiment.document import (
    Document,
    apply_settings,
    parse_path,
    read_document,
    show,
    with_setting,
)
from rogue.harness.experiment.find import DIRECTORY, experiment_files
from rogue.harness.experiment.load import load_experiment, resolve
from rogue.workloads.printable import printable


def test_data_and_places(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("name: x\nworkload:\n  senders: 8\n")
    read = read_document(str(file))
    assert read.data == {"name": "x", "workload": {"senders": 8}}
    assert read.place(("workload", "senders")) == f"{file}:3"
    assert read.place(("workload", "size")) == f"{file}:2"
    assert read.place(("probe",)) == f"{file}:1"
    assert len(read.sha256) == 64


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
def test_unreadable_file_is_one_error(tmp_path: Path, kind: str, words: str) -> None:
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


def read(**data: object) -> Document:
    return Document("a.yaml", "", data, {("workload",): "a.yaml:1", ("workload", "senders"): "a.yaml:2"})


def test_setting_copies_the_document() -> None:
    original = read(workload={"senders": 8})
    changed = with_setting(original, ("workload", "senders"), 4, "--set x")
    assert (original.data, changed.data) == ({"workload": {"senders": 8}}, {"workload": {"senders": 4}})
    assert changed.place(("workload", "senders")) == "--set x"
    assert changed.place(("workload",)) == "a.yaml:1"


@pytest.mark.parametrize("path", [("probe", "interval"), ("traffic", 1), ("traffic", 0, "x", "y"), (0,)])
def test_setting_without_a_parent_is_an_error(path: tuple[str | int, ...]) -> None:
    with pytest.raises(LookupError):
        with_setting(read(traffic=[{}]), path, 1, "here")


def test_as_written_drops_keys_of_the_long_form() -> None:
    short = read(transports=["rouge", {"name": "rogue", "alpha": []}])
    assert short.as_written(("transports", 0, "name")) == ("transports", 0)
    assert short.as_written(("transports", 1, "parameters", "alpha")) == ("transports", 1, "alpha")
    assert short.as_written(("transports", 1, "label")) == ("transports", 1, "label")


def document() -> Document:
    data = {"workload": {"senders": 8}, "traffic": [{"name": "a"}], "factors": {"workload.senders": [1, 2]}}
    return Document("a.yaml", "", data, {})


@pytest.mark.parametrize(
    ("setting", "path", "value"),
    [
        ("seed=7", ("seed",), 7),
        ("workload.size=1MB", ("workload", "size"), "1MB"),
        ("transports=[rogue, {name: roce}]", ("transports",), ["rogue", {"name": "roce"}]),
        ("traffic[0].name=b", ("traffic", 0, "name"), "b"),
        ("title=a=b", ("title",), "a=b"),
        ("probe=", ("probe",), None),
    ],
)
def test_value_is_yaml(setting: str, path: tuple[str | int, ...], value: object) -> None:
    assert apply_settings(document(), [setting]).written(path) == value


@pytest.mark.parametrize(("value", "values"), [("4", [4]), ("[4, 8]", [4, 8])])
def test_setting_a_factor_replaces_its_values(value: str, values: list[int]) -> None:
    changed = apply_settings(document(), [f"workload.senders={value}"])
    assert changed.data["factors"] == {"workload.senders": values}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("seed", "expected key=value"),
        ("=1", "expected key=value"),
        ("Seed=1", "expected key=value"),
        ("a..b=1", "expected key=value"),
        ("probe.interval=1ms", "a.yaml has no probe to set it in"),
        ("traffic[1].name=b", "a.yaml has no traffic[1] to set it in"),
        ("seed=[1", "text that is not YAML"),
        ("seed=.inf", "expected a finite number"),
        ("seed=!!int 5", "the tag"),
    ],
)
def test_wrong_setting_is_an_error(setting: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        apply_settings(document(), [setting])
    assert str(caught.value).startswith(f"--set {setting}: ")
    assert words in str(caught.value)


@given(
    st.from_regex(r"[a-z0-9_]{1,8}", fullmatch=True),
    st.lists(st.from_regex(r"[a-z0-9_]{1,8}", fullmatch=True) | st.integers(0, 999), max_size=6),
)
def test_paths_round_trip(first: str, rest: list[str | int]) -> None:
    path = (first, *rest)
    assert parse_path(format_path(path)) == path


QUICK = "repetitions: 5\nfactors: {workload.senders: [1, 2]}\nscales:\n  quick:\n    repetitions: 2\n"


def test_paper_is_the_default_and_changes_nothing(tmp_path: Path) -> None:
    for settings in ((), ("scale=paper",)):
        loaded = load_text(tmp_path, SMALL + QUICK, *settings)
        assert (loaded.experiment.scale, loaded.experiment.repetitions) == ("paper", 5)
        assert resolve(loaded)["scale"] == "paper"


def test_quick_applies_what_the_file_says(tmp_path: Path) -> None:
    text = SMALL + QUICK + "    workload.senders: 2\n    workload.size: 64KB\n"
    loaded = load_text(tmp_path, text, "scale=quick")
    resolved = resolve(loaded)
    assert (loaded.experiment.repetitions, resolved["scale"]) == (2, "quick")
    assert resolved["factors"] == {"workload.senders": [2]}
    assert resolved["workload"]["size_bytes"] == 64_000
    assert "scales" not in resolved


def test_default_quick_scale_is_one_repetition(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, SMALL + "repetitions: 5\n", "scale=quick")
    assert loaded.experiment.repetitions == 1


@pytest.mark.parametrize(
    "settings",
    [("scale=quick", "repetitions=3"), ("repetitions=3", "scale=quick"), ("scale=paper", "repetitions=3")],
)
def test_settings_override_the_scale_in_any_order(tmp_path: Path, settings: tuple[str, ...]) -> None:
    assert load_text(tmp_path, SMALL + QUICK, *settings).experiment.repetitions == 3


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        ("", ("scale=tiny",), "--set scale=tiny: scale: got 'tiny', expected one of 'paper' or 'quick'"),
        ("scales: {tiny: {}}\n", (), "expected one of 'paper' or 'quick'"),
        ("scales: {quick: 3}\n", ("scale=quick",), "a mapping"),
        ("scales: 3\n", ("scale=quick",), "a mapping"),
        (QUICK + "    faults[0].at: 1ms\n", ("scale=quick",), "has no faults to set it in"),
        (QUICK + "    No.Path: 1\n", ("scale=quick",), "expected a dotted key"),
        (QUICK + "    workload.size: none\n", ("scale=quick",), "workload.size: got 'none'"),
    ],
)
def test_wrong_scale_is_an_error(tmp_path: Path, text: str, settings: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, SMALL + text, *settings)
    assert said in str(caught.value)


def test_mistake_in_a_scale_has_its_line(tmp_path: Path) -> None:
    text = SMALL + QUICK + "    workload.size: none\n"
    line = text.splitlines().index("    workload.size: none") + 1
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, text, "scale=quick")
    assert f".yaml:{line}: workload.size" in str(caught.value)


@pytest.mark.parametrize("file", experiment_files(), ids=lambda file: str(file.relative_to(DIRECTORY)))
def test_shipped_experiments_have_a_quick_scale(file: Path) -> None:
    quick, paper = load_experiment(str(file), ("scale=quick",)), load_experiment(str(file))
    cells = [
        len(each.points) * len(each.experiment.transports) * each.experiment.repetitions
        for each in (quick, paper)
    ]
    assert cells[0] < cells[1] or cells[1] == 1
    assert quick.experiment.transports == paper.experiment.transports


@pytest.mark.parametrize("file", experiment_files(), ids=lambda file: str(file.relative_to(DIRECTORY)))
def test_reports_read_a_shipped_experiment_as_the_harness_does(file: Path) -> None:
    """Reports compare the two to decide if a run has a claim's conditions."""
    assert yaml.safe_load(file.read_text()) == apply_settings(read_document(str(file)), ()).data
