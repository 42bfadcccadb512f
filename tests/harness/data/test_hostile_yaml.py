"""Test which YAML is read, and that hostile YAML is one sentence."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rogue.harness.data.yaml_text import DEPTH_MAX, VALUES_MAX, YamlError, format_path, parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", {"a": 1}),
        ("[1, -2, 2.5, 1e3, .5]", [1, -2, 2.5, 1000.0, 0.5]),
        ("[true, false, null, ~, '']", [True, False, None, None, ""]),
        ("[no, yes, on, off, y]", ["no", "yes", "on", "off", "y"]),
        ("[1:30, 2001-01-01, 0x10, 1_000, 010]", ["1:30", "2001-01-01", "0x10", "1_000", 10]),
        ("['1', \"2\"]", ["1", "2"]),
        ("{x: &k 1ms, y: *k}", {"x": "1ms", "y": "1ms"}),
        ("a: &k [1, 2]\nb: *k", {"a": [1, 2], "b": [1, 2]}),
        ("<<: 1", {"<<": 1}),
        ("\ufeffa: 1", {"a": 1}),
        ("", None),
    ],
)
def test_values(text: str, value: object) -> None:
    assert parse_yaml(text).value == value


def test_lines_of_every_part() -> None:
    lines = parse_yaml("a: 1\nb:\n  - x\n  - {c: 2}\n").lines
    assert lines[("a",)] == 1
    assert lines[("b", 0)] == 3
    assert lines[("b", 1, "c")] == 4


def test_a_copy_is_not_shared() -> None:
    value = parse_yaml("a: &k [1]\nb: *k").value
    assert isinstance(value, dict)
    value["a"].append(2)
    assert value["b"] == [1]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{', '.join(['*' + chr(97 + level)] * 9)}]\n"
    for level in range(8)
)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\na: 2", 2, "the key a twice"),
        ("x: {a: 1, a: 2}", 1, "the key x.a twice"),
        ("a: !!python/object:os.system x", 1, "the tag"),
        ("!x\na: 1", 1, "the tag !x"),
        ("a: .nan", 1, "expected a finite number"),
        ("a: 1e999", 1, "expected a finite number"),
        ("a: " + "9" * 5000, 1, "a number of 5000 digits"),
        ("&a [*a]", 1, "an anchor &a that is complete"),
        ("a: *b", 1, "an anchor &b"),
        ("a: 1\n---\nb: 2", 2, "a second document"),
        ("? [a]\n: b", 1, "a word as a key"),
        ("a: &x 1\n*x : 2", 2, "an alias as a key"),
        ("a: [1,\nb", 2, "text that is not YAML"),
        ("a: 1\nb: \x07", 2, "the control character 0x7"),
        ("[" * 1000, 1, f"more than {DEPTH_MAX} levels"),
        ("- a\n" * (VALUES_MAX + 1), VALUES_MAX, "more than"),
        (BOMB, 5, "aliases expanded"),
    ],
)
def test_unsafe_yaml_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse_yaml(text)
    assert (caught.value.line, words in str(caught.value)) == (line, True), str(caught.value)


@given(st.text())
def test_any_text_is_a_value_or_a_yaml_error(text: str) -> None:
    try:
        parse_yaml(text)
    except YamlError as error:
        assert error.line >= 1


# Digits left out: writers of YAML 1.1 leave words such as 1e3 unquoted, which YAML 1.2 reads as numbers.
WORDS = st.text(st.characters(codec="ascii", min_codepoint=32, exclude_categories=["Nd", "Cc"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_reads_what_a_yaml_writer_writes(value: object) -> None:
    assert (
        parse_yaml(yaml.safe_dump(value, default_style='"' if isinstance(value, str) else None)).value
        == value
    )


def test_paths_are_written_with_dots_and_brackets() -> None:
    assert format_path(("traffic", 0, "workload", "size")) == "traffic[0].workload.size"


def nested_aliases(levels: int, anchors: int) -> str:
    """Return anchors that each nest the one before in this many lists."""
    lines = ["a0: &a0 x"]
    lines += [
        f"a{number}: &a{number} {'[' * levels}*a{number - 1}{']' * levels}"
        for number in range(1, anchors + 1)
    ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r'title: "\UFFFFFFFF"', "an escape that is no character"),
        (r'title: "\e[2J"', "a control character"),
        (r'title: "\uD800"', "a control character"),
        (r'"\e": x', "a control character"),
        (nested_aliases(14, 36), "more than 16 levels"),
        ("[" * 60_000, "more than 16 levels"),
        ("{" * 60_000, "a list or mapping as a key"),
    ],
)
def test_hostile_yaml_is_one_error(text: str, words: str) -> None:
    with pytest.raises(YamlError, match=words):
        parse_yaml(text)


def test_alias_may_be_as_deep_as_its_copy() -> None:
    assert parse_yaml("a: &a [[x]]\nb: [*a]").value == {"a": [["x"]], "b": [[["x"]]]}
