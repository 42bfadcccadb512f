"""Tests: check whether a run meets the conditions of a claim."""

from pathlib import Path

import pytest
import yaml
from helpers.sample_run import Sample, write_manifest, write_sample_run
from helpers.small_runs import cell, claim_of, manifest

from rogue.reports.claims import read_claims
from rogue.reports.claims.claim import Claim, Condition
from rogue.reports.claims.conditions import (
    EXPERIMENTS,
    experiment_name,
    is_same_parameter,
    mismatch,
    other_conditions,
    other_experiment,
    parameter_value,
    shipped_experiment,
    transport_parameters,
)
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.manifest import Manifest


def claim(**condition: object) -> Claim:
    return claim_of(conditions=[condition])


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
        ({"parameter": "workload.senders", "equals": (4, 8)}, None),
        (
            {"parameter": "workload.senders", "equals": (4, 16)},
            "workload.senders is 8 in this run; the claim needs one of 4, 16",
        ),
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
def test_reason_of_a_mismatch(results: Results, condition: dict[str, object], reason: str | None) -> None:
    reason_found = mismatch(claim(**condition), results, results.settings[0])
    assert (reason_found or "").replace("\u202f", " ") == (reason or "")


def test_factor_that_the_claim_does_not_mention(sweep: Results) -> None:
    reason_found = mismatch(claim(parameter="workload.kind", equals="incast"), sweep, sweep.settings[0])
    assert reason_found == "the run varies workload.senders, about which the claim says nothing"


def test_factor_with_a_unit_is_parsed(tmp_path: Path) -> None:
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


def test_variant_is_not_the_published_transport(tmp_path: Path) -> None:
    directory = write_sample_run(tmp_path, Sample(transports=("rogue",), repetitions=1, seconds=1.0))
    path = directory / "manifest.json"
    path.write_text(path.read_text().replace('"transport": "rogue"', '"transport": "rogue-25us"'))
    results = Results(Run(directory))
    reason_found = mismatch(claim(parameter="workload.kind", equals="incast"), results, results.settings[0])
    assert reason_found == "rogue-25us runs with its own parameters, the claim with the published ones"


def test_text_is_not_a_number(results: Results) -> None:
    reason_found = mismatch(claim(parameter="workload.kind", at_least=2), results, results.settings[0])
    assert reason_found == "workload.kind is incast in this run; the claim needs at least 2"
    assert Condition(parameter="x", equals="a").at_least is None


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
def test_parameter_names_as_written_and_as_resolved(key: str, parameter: str, same: bool) -> None:
    assert is_same_parameter(key, parameter) is same


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
def test_claim_must_mention_what_the_run_changes(
    tmp_path: Path, conditions: list[object], reason: str | None
) -> None:
    run = results(tmp_path)
    reason_found = mismatch(claim_of(conditions=conditions), run, run.settings[0])
    assert (reason_found or "").replace("\u202f", " ") == (reason or "")


CLAIM = claim_of(experiments=["rogue-paper/incast"])
FILE = "experiments/rogue-paper/incast.yaml"


def run(
    file: str | None = FILE, scale: str | None = "paper", data: object = None, *settings: str
) -> Manifest:
    experiment = {"name": "x", **({"scale": scale} if scale else {})}
    source = {"file": file, "sha256": "0", "set": list(settings), "data": data or {}}
    return Manifest.model_validate(manifest([cell()], experiment=experiment, source=source))


def written(**changes: object) -> dict[str, object]:
    return {**yaml.safe_load((EXPERIMENTS / "rogue-paper/incast.yaml").read_text()), **changes}


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (FILE, "rogue-paper/incast"),
        ("/home/alice/rogue/experiments/rogue-paper/incast.yaml", "rogue-paper/incast"),
        ("rogue-paper/incast.yaml", "rogue-paper/incast"),
        ("/x/experiments/experiments/quickstart.yaml", "quickstart"),
        ("mine.yaml", "mine"),
        (None, None),
        ("", None),
    ],
)
def test_name_of_an_experiment(file: str | None, name: str | None) -> None:
    assert experiment_name(file) == name


@pytest.mark.parametrize("scale", ["paper", None], ids=["full scale", "from before there were scales"])
def test_shipped_experiment_has_its_own_conditions(scale: str | None) -> None:
    assert other_experiment(CLAIM, run(data=written())) is None
    assert other_conditions(run(scale=scale, data=written())) is None


def test_run_of_another_experiment() -> None:
    assert other_experiment(CLAIM, run("experiments/quickstart.yaml")) == (
        "this run is quickstart, the claim’s own experiment is rogue-paper/incast"
    )
    free = claim_of(experiments=())
    assert other_experiment(free, run()) == "no shipped experiment was written for the claim"


def test_run_at_another_scale() -> None:
    quick = run(scale="quick", data=written())
    assert other_experiment(CLAIM, quick) is None
    assert other_conditions(quick) == "this run has the scale quick instead of paper"


@pytest.mark.parametrize(
    "change",
    [
        {"repetitions": 3},
        {"seed": 9},
        {"title": "Mine"},
        {"measure": ["latency"]},
        {"transports": ["rogue"]},
        {"factors": {"workload.senders": [8]}},
        {"scales": {"quick": {"repetitions": 1}}},
    ],
)
def test_keys_that_are_no_conditions_may_change(change: dict[str, object]) -> None:
    assert other_conditions(run(data=written(**change))) is None


def test_changed_conditions_are_named() -> None:
    topology = {**shipped_experiment("rogue-paper/incast")["topology"], "delay": "5us"}  # type: ignore[index, dict-item]
    changed = run(data=written(topology=topology, faults=[{"kind": "link_cut"}]))
    assert other_conditions(changed) == (
        "this run differs from rogue-paper/incast in topology.delay and faults"
    )


@pytest.mark.parametrize(
    ("setting", "is_own"),
    [
        ("repetitions=3", True),
        ("factors.workload={}", True),
        ("transports[0]=rogue", True),
        ("workload.repeat_for=1s", False),
        ("topology.rate=25Gbps", False),
    ],
)
def test_options_of_the_command_decide_without_the_files(
    monkeypatch: pytest.MonkeyPatch, setting: str, is_own: bool
) -> None:
    """An installed package has no experiments, an old manifest no data."""
    expected = None if is_own else f"this run differs from rogue-paper/incast in {setting.partition('=')[0]}"
    assert other_conditions(run(FILE, "paper", None, setting)) == expected
    monkeypatch.setattr("rogue.reports.claims.conditions.EXPERIMENTS", Path("/nowhere/experiments"))
    shipped_experiment.cache_clear()
    found = other_conditions(run(FILE, "paper", written(probe=None), setting))
    shipped_experiment.cache_clear()
    assert found == expected


@pytest.mark.parametrize("name", ["../pyproject", "/etc/passwd"])
def test_experiment_outside_the_directory_is_unknown(name: str) -> None:
    assert shipped_experiment(name) is None


def test_measured_claims_have_existing_experiments() -> None:
    for claim in read_claims():
        assert bool(claim.experiments) is bool(claim.metric), claim.id
        assert "quickstart" not in claim.experiments
        for name in claim.experiments:
            assert (EXPERIMENTS / f"{name}.yaml").is_file(), f"{claim.id} names {name}"
