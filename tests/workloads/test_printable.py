"""Tests: make text from files safe to print, and suggest known words."""

import pytest

from rogue.workloads.printable import first_line, is_printable, meant, printable, printable_lines, shortened

STEERING = [
    "\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "a\rb", "\x00", "\x7f", "\u202etxt.exe", "\ud800",
    "\u061c", "\u200b", "\u200f", "\u2060", "\u2064", "\ufeff", "\u202a", "\u2066", "\u2028", "\u2029",
    "\xad", "\U000e0041", "\ue000", "\x85",
]  # fmt: skip


@pytest.mark.parametrize("text", ["RoGUE, 8-to-1", "µs → Gb/s", "words\tand a tab", "日本", "👍", "a\u202fb"])
def test_words_stay_as_they_are(text: str) -> None:
    assert (printable(text), printable_lines(text), is_printable(text)) == (text, text, True)


def test_only_texts_of_lines_have_lines() -> None:
    assert printable("two\nlines") == "two\ufffdlines"
    assert (printable_lines("two\nlines"), is_printable("two\nlines")) == ("two\nlines", True)


@pytest.mark.parametrize("text", STEERING)
def test_what_steers_a_terminal_is_replaced(text: str) -> None:
    cleaned = printable(text)
    assert is_printable(cleaned) and not is_printable(text)
    assert printable_lines(text) == cleaned
    assert len(cleaned) == len(text)
    cleaned.encode()


def test_a_long_text_is_cut() -> None:
    assert shortened("x" * 60) == "x" * 60
    assert shortened("x" * 61) == "x" * 57 + "..."
    assert shortened("ab\x1bcdefg", 6) == "ab\ufffd..."


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "one"),
        (ValueError("\nlate"), "late"),
        (ValueError("x" * 90), "x" * 20),
        (ValueError("\x1b[2J"), "\ufffd[2J"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_an_error_has_a_first_line(error: Exception, line: str) -> None:
    assert first_line(error, 20) == line


def test_the_closest_word_is_offered() -> None:
    known = ["transports", "topologies", "workloads"]
    assert meant("topologeis", known) == "write topologies if that is meant"


def test_nothing_is_offered_where_nothing_is_close() -> None:
    assert meant("x", ["transports"]) == "choose one of them"
    assert meant(None, ["transports"], "remove it") == "remove it"
