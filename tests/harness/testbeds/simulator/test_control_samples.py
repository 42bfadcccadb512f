"""What controls believe, as a table: of agents after each sample, of NICs at intervals."""

from pathlib import Path

import pandas as pd
import pytest
from helpers.experiments import SMALL, cell_of

from rogue.harness.results.cell_directory import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator import SimulatorTestbed

NICS = {
    "dcqcn": {"alpha", "target_bps", "rate_bps"},
    "timely": {"rtt_ns", "gradient", "streak", "rate_bps"},
    "rocc": {"is_limited", "port", "rate_bps"},
    "hpcc": {"utilisation", "reference_bytes", "stage", "rate_bps", "window_bytes"},
}


def run(tmp_path: Path, *settings: str, text: str = SMALL) -> CellResult:
    result = SimulatorTestbed().run(
        cell_of(tmp_path, "workload.size=10MB", *settings, text=text), lambda _fraction: None
    )
    assert result.failure is None
    return result


def table_of(result: CellResult, name: str = "control") -> pd.DataFrame:
    frame: pd.DataFrame = to_arrow(name, result.tables[name]).to_pandas()
    return frame


def test_an_agents_control_tells_after_each_sample(tmp_path: Path) -> None:
    result = run(tmp_path, "measure=[rtt, control]")
    samples, told = table_of(result, "rtt"), table_of(result)
    assert set(told["name"]) == {"cwnd_packets", "base_rtt_ns", "diff_packets", "is_slow_start"}
    windows = told[told["name"] == "cwnd_packets"]
    assert windows["value"].tolist() == samples["cwnd_packets"].tolist()
    assert windows["t_ns"].tolist() == samples["t_ns"].tolist()
    assert windows["flow_id"].tolist() == samples["flow_id"].tolist()


def test_it_needs_no_table_of_samples(tmp_path: Path) -> None:
    result = run(tmp_path, "measure=[control]")
    assert "rtt" not in result.tables
    assert len(table_of(result)) > 100


@pytest.mark.parametrize("name", NICS)
def test_a_nics_control_is_asked_at_intervals(tmp_path: Path, name: str) -> None:
    measure = "measure=[{kind: throughput, interval: 100us}, control]"
    told = table_of(run(tmp_path, measure, f"transports=[roce+{name}]"))
    assert set(told["name"]) == NICS[name]
    assert set(told["flow_id"]) == {"main/h0->h3", "main/h1->h3"}
    rates = told[(told["name"] == "rate_bps") & (told["flow_id"] == "main/h0->h3")]
    assert rates["t_ns"].tolist() == [100_000 * (n + 1) for n in range(len(rates))]
    assert 0 < rates["value"].min() < 9e9


def test_of_a_read_the_responders_nic_is_asked(tmp_path: Path) -> None:
    """The requester's control, out of which no data go, never leaves the line rate."""
    settings = (
        "measure=[{kind: throughput, interval: 100us}, control]",
        "transports=[roce+dcqcn]",
        "workload.verb=read",
    )
    told = table_of(run(tmp_path, *settings))
    assert told.loc[told["name"] == "rate_bps", "value"].min() < 9e9


@pytest.mark.parametrize("transport", ["rogue", "roce+dcqcn"])
def test_measuring_changes_nothing(tmp_path: Path, transport: str) -> None:
    settings = (f"transports=[{transport}]", "workload.repeat_for=20ms")
    measured = run(tmp_path, "measure=[{kind: throughput, interval: 7us}, rtt, control]", *settings)
    plain = run(tmp_path, "measure=[{kind: throughput, interval: 7us}, rtt]", *settings)
    assert measured.facts["completions_digest"] == plain.facts["completions_digest"]


def test_without_a_control_the_cell_says_so(tmp_path: Path) -> None:
    result = run(tmp_path, "measure=[control]", "transports=[roce]")
    assert result.not_measured["control"].startswith("roce has no control")


def test_only_who_asks_gets_it(tmp_path: Path) -> None:
    assert "control" not in run(tmp_path).tables


def test_an_interval_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    cell = cell_of(
        tmp_path, "measure=[{kind: throughput, interval: 100ns}, control]", "workload.repeat_for=1s"
    )
    assert "control would have 20000000 samples" in str(SimulatorTestbed().unsupported(cell))
