"""Tests: settings, values and frames."""

import math
from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.sample_run import write_manifest, write_sample_run
from helpers.small_runs import cell, manifest

import rogue
from rogue.reports.metrics.statistics import MeanInterval, mean_interval
from rogue.reports.pages.answer import answer_of
from rogue.reports.pages.tables import metric_tables
from rogue.reports.reading.files import read_manifest
from rogue.reports.reading.load import Run
from rogue.reports.results import (
    PublishedNumber,
    Results,
    factor_name,
    lost_text,
    settings_of,
    spoken_text,
    value_text,
    values_text,
)
from rogue.workloads.records import TABLES


def test_settings_are_transport_and_factor_point(tmp_path: Path) -> None:
    cells = [
        cell(f"{transport}-{n}-r{k}", transport=transport, factors={"workload.senders": n}, repetition=k)
        for k in (1, 2)
        for n in (2, 4)
        for transport in ("rogue", "roce")
    ]
    write_manifest(tmp_path, manifest(cells))
    settings = settings_of(read_manifest(tmp_path).cells)
    assert [setting.title for setting in settings] == [
        "RoGUE, senders 2",
        "Native RoCE without PFC, senders 2",
        "RoGUE, senders 4",
        "Native RoCE without PFC, senders 4",
    ]
    assert [entry.id for entry in settings[0].entries] == ["rogue-2-r1", "rogue-2-r2"]


def test_variants_of_a_transport_are_separate_settings(tmp_path: Path) -> None:
    cells = [cell("a"), cell("b", transport="rogue-25us", transport_name="rogue")]
    write_manifest(tmp_path, manifest(cells))
    settings = settings_of(read_manifest(tmp_path).cells)
    assert [setting.style.name for setting in settings] == ["RoGUE", "rogue-25us"]
    assert {setting.registry_name for setting in settings} == {"rogue"}


def test_factor_keys_become_words() -> None:
    assert factor_name("workload.senders") == "senders"
    assert factor_name("rogue.base_rtt_floor") == "base rtt floor"


def test_mean_is_over_finished_runs_only(results: Results) -> None:
    roce = next(setting for setting in results.measured_settings if setting.transport == "roce")
    assert len(roce.entries) == 3
    per_run = results.per_run(roce, "probe_p50_ns")
    assert len(per_run) == 2
    assert results.mean(roce, "probe_p50_ns") == mean_interval(per_run)


def test_missing_metric_has_no_mean(results: Results) -> None:
    roce = next(setting for setting in results.measured_settings if setting.transport == "roce")
    assert results.mean(roce, "rtt_p50_ns") is None


def test_unsupported_transport_is_a_setting_without_results(results: Results) -> None:
    assert [setting.transport for setting in results.settings] == ["rogue", "roce", "roce+dcqcn"]
    assert [setting.transport for setting in results.measured_settings] == ["rogue", "roce"]


def test_whole_run_has_one_interval(results: Results, sweep: Results) -> None:
    assert results.interval_ns == 1_000_000_000  # 5 s of traffic
    assert sweep.interval_ns == 100_000_000  # 2 s of traffic


def test_run_without_a_finished_cell_has_no_results(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest([cell(status="pending")], status="running"))
    empty = Results(Run(tmp_path))
    assert empty.measured_settings == []
    assert empty.values == {}


@pytest.mark.parametrize("metric", ["aggregate_bps", "jain", "queue_p50_bytes"])
def test_repetitions_are_in_order(results: Results, metric: str) -> None:
    rogue = results.measured_settings[0]
    expected = [results.values[f"rogue-r{n}"][metric] for n in (1, 2, 3)]
    assert results.per_run(rogue, metric) == expected


@pytest.mark.parametrize(
    ("value", "measured", "has_place"), [(0.9, 0.5, True), (0.0, 0.5, False), (0.9, math.inf, False)]
)
def test_multiple_needs_a_finite_measurement(
    results: Results, value: float, measured: float, has_place: bool
) -> None:
    mean = MeanInterval(measured, None, None, 1)
    number = PublishedNumber("X-1", results.measured_settings[0], "jain", value, 0.0, mean)
    assert number.has_place is has_place


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write_sample_run(tmp_path / "run")


def test_frames_name_the_cell_of_each_row(directory: Path) -> None:
    run, plain = rogue.load(directory), Run(directory)
    cells = run.manifest.cells
    assert list(run.cells["cell"]) == [cell.id for cell in cells]
    assert list(run.cells["status"]) == [cell.status.value for cell in cells]
    flows = run.table("flows")
    key = ["cell", "cell_transport", *(f"factor.{name}" for name in cells[0].factors), "cell_repetition"]
    assert list(flows) == [*key, *TABLES["flows"].column_names()]
    for name, rows in flows.groupby("cell"):
        frame = plain.table(str(name), "flows")
        assert frame is not None
        assert list(rows["end_ns"].dropna()) == list(frame["end_ns"].dropna())
    assert set(run.metrics["metric"]) >= {"aggregate_bps", "jain"}
    assert set(run.metrics["unit"]) >= {"bps", "index"}


def test_repr_of_a_loaded_run(directory: Path) -> None:
    run = rogue.load(str(directory))
    count, run_id = len(run.manifest.cells), run.manifest.run_id
    recorded = [name for name in TABLES if list(directory.glob(f"cells/*/{name}.parquet"))]
    assert list(run.recorded) == recorded
    assert set(recorded) < set(TABLES)
    assert repr(run) == f"<run {run_id}: {count} cells; tables recorded: {', '.join(recorded)}>"
    assert run.recorded["flows"] == len(list(directory.glob("cells/*/flows.parquet")))


def test_a_notebook_shows_the_cells_and_no_markup_of_the_run(directory: Path) -> None:
    run = rogue.load(directory)
    run.manifest.experiment["name"] = "<script>"
    shown = run._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert all(cell.id in shown for cell in run.manifest.cells[:5])


def test_a_table_is_an_attribute(directory: Path) -> None:
    run = rogue.load(directory)
    assert run.flows.equals(run.table("flows"))
    assert "flows" in dir(run)
    with pytest.raises(AttributeError, match="a run has no 'flow'; its tables are flows, throughput, "):
        run.flow  # noqa: B018


def test_a_table_without_rows_has_its_columns(directory: Path) -> None:
    run = rogue.load(directory)
    for path in directory.glob("cells/*/events.parquet"):
        path.unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_args, **_named: None)
        assert list(run.table("events")) == list(TABLES["events"].column_names())


def test_error_of_an_unknown_table_lists_the_tables(directory: Path) -> None:
    with pytest.raises(ValueError, match="table: got 'flow', expected one of flows, throughput, "):
        rogue.load(directory).table("flow")


def test_changed_file_is_left_out_with_one_warning(directory: Path) -> None:
    run = rogue.load(directory)
    path = min(directory.glob("cells/*/flows.parquet"))
    cell = path.parent.name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(UserWarning, match=f"{cell}/flows.parquet is not the file that the run wrote"):
        assert cell not in set(run.table("flows")["cell"])
    assert cell not in set(run.table("flows")["cell"]), "and the second time without a word"


def test_measures_are_a_wide_frame_with_units(lossy_run: Path) -> None:
    run = rogue.load(lossy_run)
    frame = run.measures
    assert len(frame) == len(run.cells) == 6
    row = frame.set_index("cell").loc["roce-r1"]
    assert (row["probe_p50_ns"], row["probe_loss_share"]) == (900_000_000, 0.4)
    assert frame.attrs["units"]["probe_p50_ns"] == "ns"
    assert frame.attrs["titles"]["probe_loss_share"] == "Probes lost"
    long = run.metrics.set_index(["cell", "metric"])["value"]
    assert all(long[row["cell"], "probe_p50_ns"] == row["probe_p50_ns"] for _, row in frame.iterrows())


def test_manifest_is_printed_in_ten_lines(sample_run: Path) -> None:
    lines = repr(rogue.load(sample_run).manifest).splitlines()
    assert len(lines) == 10
    (cells,) = (line for line in lines if line.startswith("  cells: "))
    assert set(cells.removeprefix("  cells: ").split(", ")) == {"5 ok", "1 failed", "3 unsupported"}


def test_directory_without_a_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(rogue.ReportError, match="manifest"):
        rogue.load(tmp_path)


@pytest.fixture
def lossy_run(tmp_path: Path) -> Path:
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
    return write_cells(tmp_path, cells, {"kind": "incast"})


@pytest.fixture
def lossy(lossy_run: Path) -> Results:
    return Results(Run(lossy_run))


def ascii_spaces(text: str) -> str:
    return text.replace("\u202f", " ")


def test_text_of_a_measured_time(lossy: Results) -> None:
    rogue, _ = lossy.measured_settings
    assert ascii_spaces(value_text(lossy, rogue, "probe_p50_ns")) == "1 ms"


def test_text_of_an_infinite_time_has_the_lost_share(lossy: Results) -> None:
    _, roce = lossy.measured_settings
    assert ascii_spaces(value_text(lossy, roce, "probe_p50_ns")) == "none, 60.0 % lost"
    assert ascii_spaces(lost_text(lossy, roce, "probe_p50_ns")) == "60.0 % lost"
    assert ascii_spaces(values_text(lossy, roce, "probe_p50_ns")) == "900 000, none, none"


def test_text_of_a_missing_value(lossy: Results) -> None:
    rogue, _ = lossy.measured_settings
    assert value_text(lossy, rogue, "queue_p50_bytes") == "–"


def test_answer_table_and_words_say_the_same(lossy: Results) -> None:
    _, roce = lossy.measured_settings
    assert ascii_spaces(spoken_text(lossy, roce, "probe_p50_ns")) == "none (60.0 % lost)"
    (sentence,) = map(ascii_spaces, answer_of(lossy).sentences)
    said = (
        "RoGUE has a median probe latency of 1 ms; Native RoCE without PFC is worse with none (60.0 % lost)"
    )
    assert sentence.startswith(said)
    (table,) = (table for table in metric_tables(lossy) if table.title == "Delay and queue")
    column = [head.text for head in table.head].index("Probe p50")
    value = next(row[column] for row in table.rows if row[0].text == roce.style.name)
    assert value.text == "none"
    assert ascii_spaces(value.note).startswith("60.0 % lost; ")
