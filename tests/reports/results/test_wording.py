"""One text for a value, wherever it stands."""

from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.small_runs import cell

from rogue.reports.pages.summary import cards, comparison
from rogue.reports.pages.tables import metric_tables
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.results.results import lost_text, never_text, spoken_text, value_text, values_text


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """RoGUE's probes take 1 ms; native RoCE loses 4, 6 and 8 of 10, so that one of three medians is there."""
    cells = []
    for repetition, gone in ((1, 4), (2, 6), (3, 8)):
        for transport, lost, rtt_ns in (("rogue", 0, 1_000_000), ("roce", gone, 900_000_000)):
            rows = [
                {"t_ns": n, "rtt_ns": rtt_ns if n >= lost else None, "status": "ok" if n >= lost else "error"}
                for n in range(10)
            ]
            entry = cell(f"{transport}-r{repetition}", transport=transport, repetition=repetition)
            cells.append((entry, {"latency": rows}))
    return Results(Run(write_cells(tmp_path, cells, {"kind": "incast"})))


def ascii_spaces(text: str) -> str:
    return text.replace("\u202f", " ")


def test_what_came_back_is_a_time(results: Results) -> None:
    rogue, _ = results.measured_settings
    assert ascii_spaces(value_text(results, rogue, "probe_p50_ns")) == "1 ms"


def test_what_never_came_back_is_none_and_says_how_much_was_lost(results: Results) -> None:
    _, roce = results.measured_settings
    assert ascii_spaces(value_text(results, roce, "probe_p50_ns")) == "none, 60.0 % lost"
    assert ascii_spaces(lost_text(results, roce, "probe_p50_ns")) == "60.0 % lost"
    assert ascii_spaces(values_text(results, roce, "probe_p50_ns")) == "900 000, none, none"


def test_what_was_not_measured_is_a_dash(results: Results) -> None:
    rogue, _ = results.measured_settings
    assert value_text(results, rogue, "queue_p50_bytes") == "–"


def test_card_table_and_words_say_the_same(results: Results) -> None:
    _, roce = results.measured_settings
    text = ascii_spaces(value_text(results, roce, "probe_p50_ns"))
    card = next(card for card in cards(results) if card.style == roce.style)
    assert ascii_spaces(dict(card.numbers)["Probe, median"]) == text
    assert ascii_spaces(spoken_text(results, roce, "probe_p50_ns")) == "none (60.0 % lost)"
    said = ascii_spaces(never_text(results, roce, "probe_p50_ns"))
    assert said == "is lost, as 60.0 % are"
    assert f"median probe {said}" in ascii_spaces(card.sentence).lower()
    beside = f"the median probe takes 1 ms (with Native RoCE it {said})"
    assert beside in ascii_spaces(comparison(results)[0])
    (table,) = (table for table in metric_tables(results) if table.title == "Delay and queue")
    column = [head.text for head in table.head].index("Probe p50")
    value = next(row[column] for row in table.rows if row[0].text == roce.style.name)
    assert value.text == "none"
    assert ascii_spaces(value.note).startswith("60.0 % lost; ")
