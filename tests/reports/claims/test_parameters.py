"""Where a parameter of a run is found."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.tiny_run import cell, manifest

from rogue.reports.claims.claim import Claim
from rogue.reports.claims.conditions import is_same_parameter, mismatch, parameter_value, transport_parameters
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

EXPERIMENT = {
    "name": "n",
    "transports": [{"label": "rogue", "name": "rogue", "parameters": {"rtt_noise": "25us"}}],
    "faults": [{"kind": "loss", "one_in": 4096}],
}


def results(directory: Path, **factors: object) -> Results:
    write_manifest(directory, manifest([cell(factors=factors)], experiment=EXPERIMENT))
    return Results(Run(directory))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("transport.rtt_noise_ns", 25_000),
        ("faults[0].one_in", 4096),
        ("faults[1].one_in", None),
        ("faults.one_in", None),
        ("transports[0].label", "rogue"),
    ],
)
def test_lists_and_transport_parameters(tmp_path: Path, parameter: str, value: object) -> None:
    run = results(tmp_path)
    assert parameter_value(run, run.settings[0], parameter) == value


def test_factor_over_a_transport_parameter_wins(tmp_path: Path) -> None:
    run = results(tmp_path, **{"transports[0].rtt_noise": "50us"})
    assert parameter_value(run, run.settings[0], "transport.rtt_noise_ns") == 50_000
    assert transport_parameters(run, run.settings[0]) == {"rtt_noise": "25us"}


@pytest.mark.parametrize(
    ("key", "parameter", "same"),
    [
        ("workload.size", "workload.size_bytes", True),
        ("workload.size", "workload.verb_size_bytes", False),
        ("transports[1].rtt_noise", "transport.rtt_noise_ns", True),
        ("faults[0].one_in", "faults[0].one_in", True),
    ],
)
def test_names_as_written_and_as_resolved(key: str, parameter: str, same: bool) -> None:
    assert is_same_parameter(key, parameter) is same


FIELDS: dict[str, object] = {
    "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
    "kind": "published", "judged_by": "number",
    "published": 1.0, "published_text": "1", "note": "n.",
}  # fmt: skip
NOISE = {"parameter": "transport.rtt_noise_ns", "at_least": 1, "at_most": 50_000}
LOSS = {"parameter": "faults[0].one_in", "at_least": 1}


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ([], "rogue runs with its own rtt_noise, the claim with the published one"),
        ([NOISE], "the run has faults, about which the claim says nothing"),
        ([NOISE, LOSS], None),
        (
            [{**NOISE, "at_most": 20_000}, LOSS],
            "transport.rtt_noise_ns is 25 µs in this run; the claim needs at least 1 ns and at most 20 µs",
        ),
    ],
)
def test_claim_must_speak_of_what_the_run_changes(
    tmp_path: Path, conditions: list[object], reason: str | None
) -> None:
    run = results(tmp_path)
    claim = Claim.model_validate({**FIELDS, "conditions": conditions})
    said = mismatch(claim, run, run.settings[0])
    assert (said or "").replace("\u202f", " ") == (reason or "")
