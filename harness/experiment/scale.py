"""`scale`: an experiment at the paper's size, or the quick version that its file describes."""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from rogue.harness.experiment.document import Document

Scale = Literal["paper", "quick"]
PAPER: Final[Scale] = "paper"
SCALE: Final = "scale"
SCALES: Final = "scales"
WITHOUT_WORDS: Final[Mapping[str, object]] = {"repetitions": 1}
"""The meaning of another scale in a file that does not define it."""


def scaled_values(document: Document) -> list[tuple[str, object, str]]:
    """Return what the document's scale changes: key, value, and where that was written.

    Nothing for `paper`. What is no scale, and what is no mapping, is left to the check of the whole document.
    """
    scale = document.data.get(SCALE, PAPER)
    if scale == PAPER or scale not in get_args(Scale):
        return []
    scales = document.data.get(SCALES)
    values = scales.get(scale) if isinstance(scales, dict) else None
    if values is None:
        return [(key, value, document.place((SCALE,))) for key, value in WITHOUT_WORDS.items()]
    if not isinstance(values, dict):
        return []
    return [(str(key), value, document.place((SCALES, str(scale), key))) for key, value in values.items()]
