"""Experiment files that somebody wrote to break us: each is one sentence, soon."""

import pytest

from rogue.harness.experiment.yaml_text import YamlError, parse_yaml


def nested_aliases(levels: int, anchors: int) -> str:
    """Each anchor is so many lists deep, around the anchor before it."""
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
        (nested_aliases(1, 36), "more than 16 levels"),
        ("[" * 60_000, "more than 16 levels"),
        ("x: " + "[" * 60_000, "more than 16 levels"),
        ("{" * 60_000, "a list or mapping as a key"),
    ],
)
def test_it_is_a_sentence(text: str, words: str) -> None:
    with pytest.raises(YamlError, match=words):
        parse_yaml(text)


def test_aliases_may_be_as_deep_as_what_is_written_out() -> None:
    assert parse_yaml("a: &a [[x]]\nb: [*a]").value == {"a": [["x"]], "b": [[["x"]]]}
