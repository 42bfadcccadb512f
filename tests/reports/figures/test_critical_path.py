"""The critical path, on transfers worked by hand."""

import numpy as np
import pytest

from rogue.reports.figures.critical_path import CriticalPath
from rogue.reports.results import Results


def test_each_receiver_has_a_row_and_the_path_goes_from_row_to_row(waiting: Results) -> None:
    """h0 to h1 from 0 to 1 us, h1 to h2 from 1.5 to 4 us; h3 has all after 1.5 us."""
    (axis,) = CriticalPath().draw(waiting).axes
    assert [text.get_text() for text in axis.get_yticklabels()] == ["h1", "h2", "h3"]
    every, path, done = axis.get_lines()
    assert len(np.asarray(every.get_xdata())) == 3 * 3
    assert np.asarray(path.get_xdata(), float) * 1e3 == pytest.approx([0, 1, 1.5, 4])
    assert np.asarray(path.get_ydata()).tolist() == [0, 0, 1, 1]
    assert np.asarray(done.get_xdata(), float) * 1e3 == pytest.approx([1, 4, 1.5])


def test_words_name_the_chain_and_the_last(waiting: Results) -> None:
    text = CriticalPath().describe(waiting).replace("\u202f", " ")
    assert "The whole took 4 µs; the critical path has 2 transfers, to h1, h2;" in text
    assert "h2 was last, 2.5 µs after the median host." in text


def test_where_nothing_waits_it_is_not_drawn(results: Results) -> None:
    assert "flows.parquet" in str(CriticalPath().skipped_because(results))
