"""A field per pair of factor values."""

from pathlib import Path

import numpy as np
import pytest
from helpers.sample_kinds import write_cells
from helpers.tiny_run import cell, transfer
from matplotlib.collections import QuadMesh

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.two_factors import TwoFactors
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


@pytest.fixture
def crossed(tmp_path: Path) -> Results:
    """Two transports; 8 senders that write were not measured, and RoCE's 8 that read never came back."""
    cells = [
        (
            cell(
                f"{transport}-{n}-{verb}-r1",
                transport=transport,
                factors={"workload.senders": n, "workload.verb": verb},
            ),
            {
                "flows": [
                    transfer("main/h0->h1", fct_ns=1000 * n)
                    if (transport, n) != ("roce", 8)
                    else transfer("main/h0->h1", end_ns=None, fct_ns=None, status="unfinished")
                ]
            },
        )
        for transport in ("rogue", "roce")
        for n in (4, 2, 8)
        for verb in ("read", "write")
        if (n, verb) != (8, "write")
    ]
    return Results(Run(write_cells(tmp_path, cells, {"kind": "ping"})))


def test_a_panel_per_transport_and_a_field_per_point(crossed: Results) -> None:
    with figure_look():
        axes = TwoFactors().draw(crossed).axes
    assert [axis.get_title(loc="left") for axis in axes] == [
        "RoGUE: Completion, mean",
        "Native RoCE: Completion, mean",
    ]
    rogue, roce = axes
    assert [text.get_text() for text in rogue.get_xticklabels()] == ["2", "4", "8"]
    assert [text.get_text() for text in rogue.get_yticklabels()] == ["read", "write"]
    fields = [text.get_text().replace("\u202f", " ") for text in rogue.texts]
    assert fields == ["2 µs", "4 µs", "8 µs", "2 µs", "4 µs"]
    assert [text.get_text() for text in roce.texts if text.get_text() == "none"] == ["none"]
    assert [patch.get_xy() for patch in roce.patches] == [(2, 0)], "8 senders that read"


def test_panels_of_a_measure_share_their_shades(crossed: Results) -> None:
    with figure_look():
        axes = TwoFactors().draw(crossed).axes
    meshes = [mesh for axis in axes for mesh in axis.collections if isinstance(mesh, QuadMesh)]
    assert [mesh.norm.vmax for mesh in meshes] == [8000, 8000]
    assert np.ma.getmaskarray(meshes[1].get_array()).ravel()[2], "what never came back is no number"


def test_words_say_every_field(crossed: Results) -> None:
    text = TwoFactors().describe(crossed).replace("\u202f", " ")
    assert "RoGUE, senders 4, verb read 4 µs" in text
    assert "Native RoCE, senders 8, verb read none (100.0 % not completed)" in text


def test_one_factor_is_a_line_and_no_field(pings: Results) -> None:
    assert TwoFactors().skipped_because(pings) == TwoFactors().missing
