"""Columns of text, the same for every terminal."""

from collections.abc import Sequence


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of a table, two spaces apart."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
