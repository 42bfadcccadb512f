"""IRN's claims speak of what IRN's experiments state, so that every one of them is judged."""

from pathlib import Path

import pytest

from rogue.harness.experiment.load import load_experiment
from rogue.reports.claims.claim import read_claims
from rogue.reports.claims.conditions import is_same_parameter

DIRECTORY = Path(__file__).parents[2] / "experiments"
EXPERIMENTS = {
    "irn-paper/figures-1-6": ("I-1", "I-2", "I-3", "I-4", "I-5", "I-6", "I-7"),
    "irn-paper/figure-7": ("I-8",),
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_parameter_of_a_transport_is_spoken_of(name: str) -> None:
    stated = {
        str(choice.name): choice.parameters
        for choice in load_experiment(str(DIRECTORY / f"{name}.yaml")).experiment.transports
    }
    claims = [claim for claim in read_claims() if claim.id[:3] in EXPERIMENTS[name]]
    assert {claim.id[:3] for claim in claims} == set(EXPERIMENTS[name])
    for claim in claims:
        spoken_of = [condition.parameter for condition in claim.conditions]
        for key in stated[claim.transport]:
            assert any(is_same_parameter(f"transport.{key}", each) for each in spoken_of), (claim.id, key)
