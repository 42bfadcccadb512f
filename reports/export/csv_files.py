"""CSV as the report and `rogue export` write it: no text becomes a formula where a spreadsheet opens it."""

import csv
import re
from collections.abc import Iterable
from typing import Final, TextIO

import pandas as pd

_FORMULA: Final = re.compile(r"\A(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;\t\r\n])(?=[ \"]*[=+\-@＝＋－＠])")
"""Where a formula could begin: at the front, or behind what separates fields where a comma does not.

Source: OWASP, CSV Injection.
"""
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def harmless(field: object) -> object:
    """Put an apostrophe before each part of a text that could be taken for a formula; a number is none."""
    if not isinstance(field, str) or _NUMBER.fullmatch(field) or not _FORMULA.search(field):
        return field
    return _FORMULA.sub("'", field)


def write_rows(rows: Iterable[Iterable[object]], file: TextIO) -> None:
    """Write rows, the head among them, to a file that was opened with `newline=""`."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([harmless(field) for field in row] for row in rows)


def harmless_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with harmless names and texts; what holds numbers is not copied."""
    shown = frame.copy(deep=False)
    for place, (_, column) in enumerate(frame.items()):
        if not pd.api.types.is_numeric_dtype(column.dtype):
            texts = column.astype(object)
            if any(harmless(each) is not each for each in texts.unique()):
                shown.isetitem(place, texts.map(harmless).array)
    return shown.set_axis([harmless(name) for name in frame.columns], axis=1)


def csv_text(frame: pd.DataFrame) -> str:
    """A whole file."""
    return harmless_frame(frame).to_csv(index=False, lineterminator="\n")
