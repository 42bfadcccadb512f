"""`--set`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.settings import apply_settings, parse_path
from rogue.harness.experiment.yaml_text import format_path


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


def test_later_settings_win() -> None:
    assert apply_settings(document(), ["seed=1", "seed=2"]).data["seed"] == 2


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
def test_wrong_settings_say_what_to_do(setting: str, words: str) -> None:
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
