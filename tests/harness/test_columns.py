"""Columns of text."""

from rogue.harness.terminal import align


def test_columns_are_aligned() -> None:
    assert align([("a", "bb", "c"), ("ddd", "e", "")]) == ["a    bb  c", "ddd  e"]
