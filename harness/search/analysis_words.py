"""What an analysis came to, in sentences and rows of text."""

from collections.abc import Sequence
from statistics import fmean

from rogue.harness.search.analysis import Analysed, Indices
from rogue.harness.search.bench import Measured
from rogue.harness.search.flip import Change, Flip
from rogue.harness.search.words import value_text
from rogue.reports.quantities import counted, joined


def turn_line(analysed: Analysed, held_out: range) -> str | None:
    """Return the smallest change that turns a claim; None where none was looked for."""
    flip = analysed.flip
    if flip is None:
        return None
    if flip.held is None:
        return f"No change was looked for: no number at the experiment's own values ({flip.own.problem})."
    word = "holds" if flip.held else "does not hold"
    own = f"It {word} at the experiment's own values ({number_text(analysed, flip.own)})"
    tried = counted(len(flip.tried), "point")
    if flip.turn is None:
        return f"{own}, and at none of {tried} that were tried is that otherwise."
    there = number_text(analysed, flip.turn.measured)
    changes = joined([_change_text(each) for each in flip.turn.changes])
    others = counted(len(held_out), "other seed")
    return f"{own}. {_smallest(flip)}: {changes} ({there}). Of {others} it turns with {flip.again}."


def _smallest(flip: Flip) -> str:
    return f"The smallest change that turns it, of {counted(len(flip.tried), 'point')} tried"


def _change_text(change: Change) -> str:
    return f"{change.key} from {change.before} to {change.after}, {change.share:.2f} of its range"


def number_text(analysed: Analysed, measured: Measured) -> str:
    """Return the mean over the seeds with its unit, or why there is none."""
    if measured.value is None:
        return "no number"
    return value_text(fmean(measured.known), analysed.screened.question.target)


def index_rows(indices: Indices) -> list[Sequence[str]]:
    """Return a table of the indices; nothing but its head without any."""
    rows: list[Sequence[str]] = [("key", "alone", "with others")]
    for key, each in zip(indices.keys, indices.found or (), strict=False):
        first, total = (each.first, each.first_within), (each.total, each.total_within)
        rows.append((key, *(f"{value:.2f} ± {within:.2f}" for value, within in (first, total))))
    return rows
