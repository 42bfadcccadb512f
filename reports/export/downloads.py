"""What a reader takes from a figure on the page: its picture and its data, inside the link."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import pandas as pd

from rogue.reports.drawing.figure_data import thinned
from rogue.reports.export.csv_files import csv_text

# Rows of a figure's data on the page; `rogue figures` writes all of them.
ROWS_MAX: Final = 600
LINE_MAX: Final = 80
# What may stand in a `data:` link as it is, and means nothing in HTML; base64 would take more.
_SAFE: Final = "/:=,;()+-._~!*"


@dataclass(frozen=True, slots=True)
class Download:
    """One link: what it says, what the file will be called, and the file."""

    text: str
    file_name: str
    href: str


def downloads(name: str, picture: str, data: pd.DataFrame) -> tuple[Download, ...]:
    """Return the links of one figure."""
    fewer = thinned(data, ROWS_MAX, LINE_MAX)
    part = "" if len(fewer) == len(data) else f", {len(fewer)} of {len(data)} points"
    return (
        Download("picture (SVG)", f"{name}.svg", f"data:image/svg+xml;charset=utf-8,{quote(picture, _SAFE)}"),
        Download(
            f"what is drawn (CSV{part})",
            f"{name}.csv",
            f"data:text/csv;charset=utf-8,{quote(csv_text(fewer), _SAFE)}",
        ),
    )
