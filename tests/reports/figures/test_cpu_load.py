"""Processor time at both ends, with figures worked by hand."""

import pytest
from matplotlib.patches import Rectangle

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.cpu_load import CpuLoad
from rogue.reports.results import Results


def heights(results: Results, panel: int) -> list[float]:
    axis = CpuLoad().draw(results).axes[panel]
    bars = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
    return [bar.get_height() for bar in bars]


def test_clients_and_servers_by_transport(loaded: Results) -> None:
    """WRITE: the senders' mean is 30 %, the receiver's 10 and 20 %; the prober is neither."""
    assert heights(loaded, 0) == pytest.approx([30, 15, 15, 7.5])


def test_the_client_of_a_read_is_the_receiver(loaded: Results) -> None:
    assert heights(loaded, 1) == pytest.approx([15, 30, 7.5, 15])


def test_the_line_spans_the_repetitions(loaded: Results) -> None:
    client, server = CpuLoad().draw(loaded).axes[0].collections[0].get_paths()
    assert client.vertices[:, 1].tolist() == pytest.approx([30, 30])
    assert server.vertices[:, 1].tolist() == pytest.approx([10, 20])


def test_panels_are_named_after_their_point(loaded: Results) -> None:
    with figure_look():
        titles = [axis.get_title(loc="left") for axis in CpuLoad().draw(loaded).axes]
    assert titles == ["verb write", "verb read"]


def test_words(loaded: Results) -> None:
    text = CpuLoad().describe(loaded).replace("\u202f", " ")
    assert "RoGUE, verb write: client 30.0 %, server 15.0 % of one core." in text
