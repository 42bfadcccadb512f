import base64
from pathlib import Path

import pytest
from helpers.two_testbeds import SLOWER, two_testbeds

from rogue.reports.comparison.agreement import Side
from rogue.reports.metrics import METRICS
from rogue.reports.pages.build import build
from rogue.reports.pages.side_by_side import Difference, SideBySide, side_by_side, with_ends, without_shared
from rogue.reports.quantities import NARROW_SPACE, Unit
from rogue.reports.results import Results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    return two_testbeds(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def compared(results: list[Results]) -> SideBySide:
    (comparison,) = side_by_side(results)
    return comparison


def row(compared: SideBySide, measure: str, transport: str = "RoGUE") -> list[str]:
    (found,) = [
        [value.text for value in each]
        for each in compared.table.rows
        if (each[0].text, each[1].text) == (transport, measure)
    ]
    return found[2:]


def test_each_measure_stands_beside_the_others_with_its_ratio(compared: SideBySide) -> None:
    assert [head.text for head in compared.table.head][2:] == ["simulator", "virtual", "÷ simulator"]
    own, its, ratio = row(compared, "All flows together")
    assert "Gb/s" in own
    assert its != own
    assert float(ratio) == pytest.approx(SLOWER, abs=0.01)


def test_what_one_run_lacks_is_a_dash_and_a_reason(compared: SideBySide) -> None:
    own, its, ratio = row(compared, "All flows together", "Native RoCE")
    assert own != its == ratio == "–"
    assert compared.missing == (
        "Native RoCE has no result on virtual (3 cells): the simulator has no roce yet",
    )


def test_a_large_difference_is_told_with_what_explains_it(compared: SideBySide) -> None:
    (rogue,) = compared.differences
    assert rogue.sentence.startswith("RoGUE: All flows together 9.21")
    assert "; Packets dropped 0 on simulator and" in rogue.sentence
    assert any("the processor of h0 is busy for 97.0" in reason for reason in rogue.reasons)


def test_means_are_shown_with_the_ends_between_which_they_lie(results: list[Results]) -> None:
    setting = results[0].measured_settings[0]
    side = Side("simulator", results[0], setting)
    values = results[0].per_run(setting, "probe_p50_ns")
    assert len(set(values)) > 1
    mean, _, ends = with_ends(side, METRICS["probe_p50_ns"], Unit.TIME.value).partition(" (")
    low, high = map(float, ends.rstrip(")").split(" to "))
    assert low <= float(mean.split(NARROW_SPACE)[0]) <= high
    assert low < high
    assert with_ends(side, METRICS["drops_packets"], Unit.COUNT.value) == "0", "one value needs no ends"
    assert with_ends(None, METRICS["jain"], Unit.INDEX.value) == "–"


def test_a_reason_that_all_differences_share_is_told_once() -> None:
    found = [Difference("one", ("software", "drops")), Difference("other", ("software",))]
    apart, shared = without_shared(found)
    assert [each.reasons for each in apart] == [("drops",), ()]
    assert shared == ["software"]
    assert without_shared(found[:1]) == (found[:1], []), "alone it keeps its own"


def test_what_is_level_is_no_difference(compared: SideBySide) -> None:
    assert not [each for each in compared.differences if "Probe" in each.sentence]


def test_the_table_can_be_taken_away_in_base_units(compared: SideBySide) -> None:
    text = base64.b64decode(compared.table.csv_href.partition(",")[2]).decode()
    (line,) = [line for line in text.splitlines() if line.startswith("RoGUE,aggregate_bps")]
    own, its, ratio = map(float, line.split(",")[2:])
    assert its / own == pytest.approx(ratio) == pytest.approx(SLOWER, abs=0.01)


def test_two_runs_on_one_testbed_are_not_compared(results: list[Results]) -> None:
    assert side_by_side([results[0], results[0]]) == []
    assert side_by_side(results[:1]) == []


@pytest.mark.usefixtures("one_figure")
def test_the_page_shows_it_before_the_runs(results: list[Results], tmp_path: Path) -> None:
    page = build([each.run.directory for each in results], tmp_path / "both.html").read_text()
    place = page.index("Side by side: ")
    assert place < page.index("÷ simulator") < page.index('id="run1"')
    assert "busy for 97.0" in page


def test_every_cell_of_a_row_has_one_unit(compared: SideBySide) -> None:
    units = {"ns", "µs", "ms", "s", "B", "KB", "MB", "GB", "Mb/s", "Gb/s"}
    for row in compared.table.rows:
        found = {word for value in row[2:] for word in value.text.split(NARROW_SPACE) if word in units}
        assert len(found) <= 1, [value.text for value in row]
