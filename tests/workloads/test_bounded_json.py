"""JSON of others is read within bounds, and as it is."""

import json

import pytest

from rogue.workloads.manifest import (
    DEPTH_MAX,
    INTEGER_MAX,
    VALUES_MAX,
    check_values,
    harmless,
    parse_json,
)


@pytest.mark.parametrize(
    "content", [{"a": [1, -2.5, None, True, "x\ny"]}, [INTEGER_MAX, -INTEGER_MAX], "\x1b"]
)
def test_what_a_run_can_say_is_read_as_it_is(content: object) -> None:
    assert parse_json(json.dumps(content).encode()) == content


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[1e999]", "a number is larger than any that a computer holds"),
        (b"[NaN]", "NaN is no number of JSON's"),
        (b"[9223372036854775808]", "an integer of 19 digits is larger than any of a run"),
        (
            b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1),
            "more than 100 lists and objects within each other",
        ),
        (b"[" * 100_000, "more than 100 lists and objects within each other"),
        (b"," * VALUES_MAX, "it has up to 5000001 values, more than 5000000"),
        (b"\xff", "can't decode byte"),
    ],
)
def test_nonsense_is_a_sentence(text: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_json(text)


def test_as_deep_as_may_be_is_read() -> None:
    deepest: object = 1
    for _ in range(DEPTH_MAX - 1):
        deepest = [deepest]
    check_values(deepest)
    with pytest.raises(ValueError, match="more than 100 lists"):
        check_values([deepest])


def test_texts_and_keys_are_made_harmless_and_texts_keep_their_lines() -> None:
    assert harmless({"\x1b[2J\n": ["a\nb\u200b", 1.5]}) == {"\ufffd[2J\ufffd": ["a\nb\ufffd", 1.5]}
