"""A claim's own conditions: the shipped experiment that was written for it, at its full scale."""

from pathlib import Path

import pytest
import yaml
from helpers.tiny_run import cell, manifest

from rogue.reports.claims import read_claims
from rogue.reports.claims.claim import Claim
from rogue.reports.claims.conditions import (
    EXPERIMENTS,
    experiment_name,
    not_own_because,
    shipped_experiment,
)
from rogue.workloads.manifest import Manifest

CLAIM = Claim.model_validate(
    {
        "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
        "kind": "published", "judged_by": "number",
        "published": 0.9, "published_text": "0.9", "note": "n.", "experiments": ["rogue-paper/incast"],
    }
)  # fmt: skip
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


def test_the_shipped_experiment_has_the_claims_own_conditions() -> None:
    assert not_own_because(CLAIM, run(data=written())) is None
    assert (
        not_own_because(CLAIM, run(scale=None, data=written())) is None
    )  # a run from before there were scales


def test_another_experiment_has_not() -> None:
    assert str(not_own_because(CLAIM, run("experiments/quickstart.yaml"))) == (
        "this run is quickstart, the claim’s own experiment is rogue-paper/incast"
    )
    free = CLAIM.model_copy(update={"experiments": ()})
    assert (
        str(not_own_because(free, run(data=written()))) == "no shipped experiment was written for the claim"
    )


def test_a_smaller_scale_has_not() -> None:
    assert str(not_own_because(CLAIM, run(scale="quick", data=written()))) == (
        "this run has the scale quick, the claim needs the scale paper of rogue-paper/incast"
    )


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
def test_what_is_no_condition_may_change(change: dict[str, object]) -> None:
    assert not_own_because(CLAIM, run(data=written(**change))) is None


def test_a_condition_that_was_changed_is_named_whoever_changed_it() -> None:
    topology = {**shipped_experiment("rogue-paper/incast")["topology"], "delay": "5us"}  # type: ignore[index, dict-item]
    changed = run(data=written(topology=topology, faults=[{"kind": "link_cut"}]))
    assert str(not_own_because(CLAIM, changed)) == (
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
def test_without_the_files_the_options_are_believed(
    monkeypatch: pytest.MonkeyPatch, setting: str, is_own: bool
) -> None:
    """An installed package has no experiments, an old manifest no data."""
    assert (not_own_because(CLAIM, run(FILE, "paper", None, setting)) is None) is is_own
    monkeypatch.setattr("rogue.reports.claims.conditions.EXPERIMENTS", Path("/nowhere/experiments"))
    shipped_experiment.cache_clear()
    told = not_own_because(CLAIM, run(FILE, "paper", written(probe=None), setting))
    shipped_experiment.cache_clear()
    assert (told is None) is is_own
    if not is_own:
        assert str(told) == f"this run differs from rogue-paper/incast in {setting.partition('=')[0]}"


def test_names_cannot_leave_the_directory() -> None:
    assert shipped_experiment("../pyproject") is None
    assert shipped_experiment("/etc/passwd") is None


def test_every_claim_that_is_measured_has_experiments_that_are_there() -> None:
    for claim in read_claims():
        assert bool(claim.experiments) is bool(claim.metric), claim.id
        for name in claim.experiments:
            assert (EXPERIMENTS / f"{name}.yaml").is_file(), f"{claim.id} names {name}"


def test_the_quickstart_is_written_for_no_claim() -> None:
    assert not any("quickstart" in claim.experiments for claim in read_claims())


@pytest.mark.parametrize(
    ("manifest_of_run", "brief"),
    [
        (run(scale="quick"), "this run has the scale quick"),
        (run("experiments/quickstart.yaml"), "it is not the experiment of these claims"),
        (run(FILE, "paper", None, "workload.senders=4"), "this run differs from rogue-paper/incast in"),
    ],
)
def test_a_reason_is_the_same_for_all_claims_of_a_run(manifest_of_run: Manifest, brief: str) -> None:
    """What the run is, without what this claim alone would need."""
    reason = not_own_because(CLAIM, manifest_of_run)
    assert reason is not None
    assert reason.of_run.startswith(brief)
    assert "the claim" not in reason.of_run
