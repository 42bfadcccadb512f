"""Whether a run does what a claim is about."""

from pathlib import Path

import pytest
from helpers.sample_run import Sample, write_sample_run

from rogue.reports.claims.claim import Claim, Condition
from rogue.reports.claims.conditions import mismatch, parameter_value
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

FIELDS: dict[str, object] = {
    "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
    "kind": "published", "judged_by": "number",
    "published": 1.0, "published_text": "1", "note": "n.",
}  # fmt: skip


def claim(**condition: object) -> Claim:
    return Claim.model_validate({**FIELDS, "conditions": [condition]})


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("topology.rate_bps", 10**10),
        ("workload.kind", "incast"),
        ("facts.nic_profile", "cx3pro"),
        ("measured.interval_ns", 10**9),
        ("workload.nothing", None),
        ("workload.kind.deeper", None),
    ],
)
def test_parameters_come_from_experiment_facts_and_measurement(
    results: Results, parameter: str, value: object
) -> None:
    assert parameter_value(results, results.settings[0], parameter) == value


def test_factor_point_wins_over_the_experiment(sweep: Results) -> None:
    values = [parameter_value(sweep, setting, "workload.senders") for setting in sweep.settings]
    assert values == [2, 2, 4, 4]


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"parameter": "workload.senders", "equals": 8}, None),
        ({"parameter": "workload.senders", "at_least": 2}, None),
        (
            {"parameter": "workload.senders", "equals": 4},
            "workload.senders is 8 in this run; the claim needs 4",
        ),
        (
            {"parameter": "workload.repeat_for_ns", "at_least": 20_000_000_000},
            "workload.repeat_for_ns is 5 s in this run; the claim needs at least 20 s",
        ),
        (
            {"parameter": "topology.rate_bps", "equals": 25_000_000_000},
            "topology.rate_bps is 10.0 Gb/s in this run; the claim needs 25.0 Gb/s",
        ),
        (
            {"parameter": "workload.size_bytes", "equals": 1_000_000},
            "workload.size_bytes is 128 MB in this run; the claim needs 1 MB",
        ),
        (
            {"parameter": "faults.kind", "equals": "link_cut"},
            "faults.kind is not set in this run; the claim needs link_cut",
        ),
    ],
)
def test_reason(results: Results, condition: dict[str, object], reason: str | None) -> None:
    said = mismatch(claim(**condition), results, results.settings[0])
    assert (said or "").replace("\u202f", " ") == (reason or "")


def test_factor_that_the_claim_does_not_speak_of(sweep: Results) -> None:
    said = mismatch(claim(parameter="workload.kind", equals="incast"), sweep, sweep.settings[0])
    assert said == "the run varies workload.senders, about which the claim says nothing"


def test_factor_written_with_a_unit_is_understood(tmp_path: Path) -> None:
    directory = write_sample_run(tmp_path, Sample(transports=("rogue",), repetitions=1, seconds=1.0))
    path = directory / "manifest.json"
    path.write_text(
        path.read_text().replace(
            '"factors": {}, "repetition"', '"factors": {"workload.size": "128MB"}, "repetition"'
        )
    )
    results = Results(Run(directory))
    assert parameter_value(results, results.settings[0], "workload.size_bytes") == 128_000_000
    condition = {"parameter": "workload.size_bytes", "equals": 128_000_000}
    assert mismatch(claim(**condition), results, results.settings[0]) is None


def test_variant_with_parameters_of_its_own_is_not_the_published_transport(tmp_path: Path) -> None:
    directory = write_sample_run(tmp_path, Sample(transports=("rogue",), repetitions=1, seconds=1.0))
    path = directory / "manifest.json"
    path.write_text(path.read_text().replace('"transport": "rogue"', '"transport": "rogue-25us"'))
    results = Results(Run(directory))
    said = mismatch(claim(parameter="workload.kind", equals="incast"), results, results.settings[0])
    assert said == "rogue-25us runs with parameters of its own, the claim with the published ones"


def test_text_is_not_a_number(results: Results) -> None:
    said = mismatch(claim(parameter="workload.kind", at_least=2), results, results.settings[0])
    assert said == "workload.kind is incast in this run; the claim needs at least 2"
    assert Condition(parameter="x", equals="a").at_least is None
