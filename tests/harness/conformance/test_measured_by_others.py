"""Tests: numbers of real cards, measured by others; a profile with the parameters of the card has them."""

from pathlib import Path

import pytest

import rogue
from rogue.reports.claims import read_claims
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.shipped import shipped

CLAIMS = {claim.id: claim for claim in read_claims() if claim.measured_by_others}
CARD = "like: cx4\nvalues: {cnp_delay_ns: 55000, cnp_with_nak: true, timeout_min_ns: 500000000}\n"


@pytest.mark.parametrize("name", ["NIC-1", "NIC-2", "NIC-5"])
def test_a_profile_with_the_parameters_has_the_numbers_of_the_card(tmp_path: Path, name: str) -> None:
    claim, card = CLAIMS[name], tmp_path / "card.yaml"
    assert claim.metric is not None and claim.published is not None
    card.write_text(CARD)
    (experiment,) = claim.experiments
    file = str(shipped("experiments") / f"{experiment}.yaml")
    settings = ["repetitions=1", f"factors={{topology.nic: [cx4, {card}]}}"]
    rogue.run(file, settings=settings, out=tmp_path / "results")
    (directory,) = (tmp_path / "results").glob("*/*")
    results = Results(Run(directory))
    of_cx4, of_card = [values[claim.metric] for values in results.values.values()]
    assert of_cx4 is not None and of_card is not None
    assert abs(of_cx4 - claim.published) > claim.tolerance >= abs(of_card - claim.published)


def test_what_is_not_compared_says_why() -> None:
    without = [claim for claim in CLAIMS.values() if claim.metric is None]
    assert [claim.id for claim in without if "Not comparable: " in claim.note] == [
        f"NIC-{number}" for number in range(6, 12)
    ]
