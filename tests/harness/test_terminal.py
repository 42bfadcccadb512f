"""Tests: print messages, aligned columns and progress counts."""

import io
import itertools

import pytest

from rogue.harness.terminal import CountDisplay, align, in_silence, notify


def test_columns_are_aligned() -> None:
    assert align([("a", "bb", "c"), ("ddd", "e", "")]) == ["a    bb  c", "ddd  e"]


def test_lines_are_ours_and_no_text_of_others_begins_one(capsys: pytest.CaptureFixture[str]) -> None:
    notify("x\nrogue: all is well", "  and more\x1b[2J")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "rogue: x\ufffdrogue: all is well\n  and more\ufffd[2J\n"


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, *, seconds_each: float) -> str:
    clock = itertools.count(0.0, seconds_each)
    with CountDisplay(stream, lambda: next(clock)) as counted:
        for done in range(1, 4):
            counted(done, 3, "planning cells")
        counted(1, 13, "drawing figures")
    return stream.getvalue()


def test_a_terminal_shows_how_many_of_how_many() -> None:
    text = shown(Terminal(), seconds_each=2.0)
    assert "planning cells" in text
    assert "1 of 13" in text


def test_what_is_over_within_a_second_shows_nothing() -> None:
    assert shown(Terminal(), seconds_each=0.1) == ""


def test_without_a_terminal_nothing_is_shown() -> None:
    assert shown(io.StringIO(), seconds_each=2.0) == ""
    in_silence(1, 2, "planning cells")
