from pathlib import Path

import pytest
from helpers.two_testbeds import two_testbeds

from rogue.reports.comparison.agreement import Side, reasons
from rogue.reports.metrics import METRICS


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    return pair(tmp_path_factory.mktemp("sides"), 2)


def pair(directory: Path, repetitions: int) -> tuple[Side, Side]:
    """RoGUE on both testbeds."""
    one, other = (
        Side(label, results, results.measured_settings[0])
        for label, results in zip(("simulator", "virtual"), two_testbeds(directory, repetitions), strict=True)
    )
    return one, other


def test_a_busy_processor_and_software_are_told_of_the_side_that_has_them(sides: tuple[Side, Side]) -> None:
    found = reasons([METRICS["aggregate_bps"]], *sides)
    assert found[0] == "On virtual the processor of h0 is busy for 97.0\u202f% of the time, which bounds it."
    assert found[-1] == (
        "On virtual the NIC (rxe0), its limiter (tc htb), its clock (the host's clock) and the switch"
        " (Linux tc) are software, slower than hardware, and their time is part of what is measured."
    )
    assert not any("simulator the" in sentence for sentence in found)


def test_drops_explain_everything_but_themselves(sides: tuple[Side, Side]) -> None:
    assert any(text.startswith("Switches drop ") for text in reasons([METRICS["aggregate_bps"]], *sides))
    assert not any(text.startswith("Switches drop ") for text in reasons([METRICS["drops_packets"]], *sides))


class Spread(Side):
    """A side whose probes take 1 to 40 ms."""

    def mean(self, metric: str) -> float | None:
        return {"probe_p10_ns": 1e6, "probe_p90_ns": 40e6}.get(metric)


def test_a_median_between_two_kinds_of_probes_says_little(sides: tuple[Side, Side]) -> None:
    own, other = sides
    spread = Spread("virtual", other.results, other.setting)
    (text,) = [each for each in reasons([METRICS["probe_p50_ns"]], own, spread) if "probe" in each]
    assert text.startswith(
        "On virtual one probe in ten takes less than 1\u202fms and one in ten more than 40\u202fms"
    )
    assert not any("probe" in each for each in reasons([METRICS["jain"]], own, spread))
    assert not any("probe" in each for each in reasons([METRICS["probe_p50_ns"]], own, other))


def test_one_run_may_be_chance(tmp_path: Path) -> None:
    found = reasons([METRICS["aggregate_bps"]], *pair(tmp_path, 1))
    assert "Virtual has 1 run: there may be chance in it." in found


def test_where_nothing_explains_it_that_is_said(sides: tuple[Side, Side]) -> None:
    own, _ = sides
    assert reasons([METRICS["aggregate_bps"]], own, own) == ["Nothing that was recorded explains it."]
