"""Columns of text."""

from harness.columns import align


def test_columns_are_aligned() -> None:
    assert align([("a", "bb", "c"), ("ddd", "e", "")]) == ["a    bb  c", "ddd  e"]
