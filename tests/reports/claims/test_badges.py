"""What keeps a claim out of the headline."""

import pytest
from helpers.small_runs import FIELDS

from rogue.reports.claims import Claim, read_claims
from rogue.reports.claims.words import BADGE_MEANINGS, Badge, badges_of, is_headline, kind_text

CLAIMS = {claim.id: claim for claim in read_claims()}


def claim(**changes: object) -> Claim:
    return Claim.model_validate({**FIELDS, **changes})


def test_what_is_published_and_nothing_else_wears_no_badge() -> None:
    assert badges_of(claim()) == {}
    assert is_headline(claim())
    assert kind_text(claim()) == "published"


@pytest.mark.parametrize(
    ("changes", "badge", "text"),
    [
        ({"kind": "derived", "kind_reason": "Why."}, Badge.DERIVED, "derived"),
        ({"kind": "model", "kind_reason": "Why."}, Badge.MODEL, "model"),
        ({"fitted_to": "Why."}, Badge.FITTED, "published, fitted"),
        ({"order_of_magnitude": "Why."}, Badge.ORDER_OF_MAGNITUDE, "published, order of magnitude"),
        ({"vacuous_alone": "Why."}, Badge.VACUOUS_ALONE, "published, vacuous alone"),
    ],
)
def test_each_badge_keeps_a_claim_out_and_has_its_reason(
    changes: dict[str, object], badge: Badge, text: str
) -> None:
    found = claim(**changes)
    assert badges_of(found) == {badge: "Why."}
    assert not is_headline(found)
    assert kind_text(found) == text
    assert BADGE_MEANINGS[badge]


def test_a_claim_may_wear_several() -> None:
    both = claim(kind="derived", kind_reason="A sum.", vacuous_alone="A full port.")
    assert list(badges_of(both)) == [Badge.DERIVED, Badge.VACUOUS_ALONE]
    assert kind_text(both) == "derived, vacuous alone"


def of(badge: Badge) -> set[str]:
    return {name for name, each in CLAIMS.items() if badge in badges_of(each)}


SMARTT = ("32-4K", "32-1M", "32-32M", "8-1M", "8-32M", "P")


def test_what_nobody_published_is_no_published_claim() -> None:
    """Fluid models, closed forms, sums, and what follows from a rule: reference values of ours."""
    derived = {f"X-5-{what}-{n}" for what in ("swing", "crest", "trough") for n in (1, 2, 10, 40)}
    derived |= {"X-3-queue-2", "X-3-queue-10", "X-3-queue-40", "X-6-use", "M-2", "slow-receiver"}
    derived |= {"C-3-shares", "C-3-use", "C-6-rate", "deadlock-flooding", "deadlock-flooding-flow"}
    derived |= {"PT-4a-equilibrium", "SW-htsim-queue"}
    derived |= {
        f"RP-6-{who}-{what}" for who in ("REPS", "OPS") for what in ("tail-slow", "mean-slow", "again")
    }
    derived |= {"RP-8-0", "RP-8-10", "RP-8-20", "RP-reroute"}
    derived |= {f"SM-{case}-NSCC" for case in SMARTT}
    assert of(Badge.DERIVED) == derived
    assert of(Badge.MODEL) == {
        "X-1-2", "X-1-10", "X-2-2", "X-2-64", "X-2-10-slope", "X-2-64-slope", "slow-receiver-drops",
        "deadlock-ring", "deadlock-ring-irn", "deadlock-clos", "deadlock-clos-flows", "deadlock-flooding-irn",
    }  # fmt: skip


def test_what_is_so_wide_that_it_says_little_wears_a_badge() -> None:
    assert of(Badge.ORDER_OF_MAGNITUDE) == {"R-28-timely", "R-28-dcqcn", "SW-T3-loss"}
    for name, each in CLAIMS.items():
        if each.published and each.tolerance / abs(each.published) > 0.5:
            assert name in of(Badge.ORDER_OF_MAGNITUDE), f"{name}: more than half of the number is tolerance"


def test_what_a_full_port_passes_wears_a_badge() -> None:
    """A quarter of a full port, in Gb/s: 2.31 of 10, 9.71 of 40; both lie within what the claims allow."""
    for name, full_bps in (("R-19-mean", 2.31e9), ("R-25-mean", 9.71e9), ("R-27-mean", 9.71e9)):
        published = CLAIMS[name].published
        assert published is not None
        assert abs(published - full_bps) <= CLAIMS[name].tolerance
    mean = CLAIMS["R-26-mean"]
    assert mean.published is not None
    assert abs(mean.published - 9.71e9) > mean.tolerance, "a full port does not pass, so no badge"
    longest = {f"SM-{case}-{what}" for case in SMARTT for what in ("tail", "NSCC")}
    assert of(Badge.VACUOUS_ALONE) - longest - {"SM-32-4K-mean"} == {
        "R-12-same", "R-13-roce", "R-14-tolerates", "R-19-mean", "R-25-mean", "R-27-mean", "R-21-rogue",
        "R-21-dctcp", "R-22-rogue", "C-3-use", "X-6-use", "M-1-drops", "M-5",
        "PT-4a-throughput", "PT-4a-throughput-255", "PT-4b-throughput", "PT-4b-throughput-255",
        "SW-17-throughput", "SW-T3-throughput", "SW-htsim-throughput",
    }  # fmt: skip


def test_the_longest_transfers_of_smartts_cases_are_what_a_full_port_passes() -> None:
    """A frame takes 41.6 ns and the way 8.7 us; of the permutation 16 hosts share four uplinks."""
    packets = {"32-1M": 32 * 256, "32-32M": 32 * 8192, "8-1M": 8 * 256, "8-32M": 8 * 8192, "P": 4 * 8192}
    for case, number in packets.items():
        tail = CLAIMS[f"SM-{case}-tail"]
        assert tail.published is not None
        assert 0 < tail.published - (number * 41.6 + 8_654) <= tail.tolerance
        assert f"SM-{case}-tail" in of(Badge.VACUOUS_ALONE)
    rounds = CLAIMS["SM-P-OPS-tail"]
    assert rounds.published is not None
    assert rounds.published - (4 * 8192 * 41.6 + 8_654) > rounds.tolerance, "a full port does not pass"


def test_hpccs_claims_are_hpccs() -> None:
    for name in ("X-6-queue", "X-6-use"):
        assert CLAIMS[name].paper == "hpcc"
        assert CLAIMS[name].source.startswith("Li et al., HPCC")
