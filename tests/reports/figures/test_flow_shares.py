"""Tests: figures: the goodput of each flow, as shares and as a distribution."""

import numpy as np
import pytest
from helpers.sample_run import Sample, write_sample_run

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.flow_shares import NAMES_MAX, FlowShares, FlowSpread, shares
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Results:
    sample = Sample(senders=(4, NAMES_MAX + 1), repetitions=2, seconds=1.0)
    return Results(Run(write_sample_run(tmp_path_factory.mktemp("crowd"), sample)))


def test_few_flows_are_marks_and_many_are_boxes(crowd: Results) -> None:
    assert {setting.factor_text for setting in FlowShares().shown(crowd)} == {"senders 4"}
    assert {setting.factor_text for setting in FlowSpread().shown(crowd)} == {"senders 17"}


def test_a_row_per_transport_over_all_repetitions(crowd: Results) -> None:
    with figure_look():
        (axis,) = FlowSpread().draw(crowd).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["RoGUE", "Native RoCE"]
    text = FlowSpread().describe(crowd)
    assert text.count("34 flows of all repetitions") == 2
    setting = FlowSpread().shown(crowd)[0]
    values = np.concatenate([shares(view) for view in crowd.views_of(setting)])
    assert f"median {100 * np.median(values):.1f}" in text


def test_run_of_few_flows_says_why_it_has_none(sweep: Results) -> None:
    assert FlowSpread().skipped_because(sweep) == FlowSpread().missing
    assert "more than 16 flows" in FlowSpread().missing
