"""Which setting a comparison means."""

import pytest

from rogue.reports.claims.claim import Reference
from rogue.reports.claims.conditions import ratio_to, reference_setting, reference_text
from rogue.reports.results import Results, Setting


def setting(results: Results, transport: str, load: float) -> Setting:
    point = (("workload.load", str(load)),)
    return next(s for s in results.settings if (s.transport, s.factors) == (transport, point))


@pytest.mark.parametrize(
    ("reference", "transport", "load"),
    [
        ({"transport": "roce"}, "roce", 0.75),
        ({"at": {"workload.load": 0.1}}, "rogue", 0.1),
        ({"transport": "roce", "at": {"workload.load": 0.1}}, "roce", 0.1),
    ],
)
def test_finds_the_other_side(
    pairs: Results, reference: dict[str, object], transport: str, load: float
) -> None:
    own = setting(pairs, "rogue", 0.75)
    found = reference_setting(pairs, own, Reference.model_validate(reference))
    assert found == setting(pairs, transport, load)


def test_other_factors_stay_as_they_are(sweep: Results) -> None:
    """A point that the reference does not name must not be moved: there is no second factor to move to."""
    own = sweep.settings[0]
    assert reference_setting(sweep, own, Reference(at={"workload.size_bytes": 128_000_000})) == own
    assert reference_setting(sweep, own, Reference(transport="dctcp")) is None


def test_ratio_needs_repetitions_that_both_have(results: Results) -> None:
    """The third repetition of RoCE failed: two ratios remain."""
    rogue, roce = results.measured_settings
    ratio = ratio_to(results, rogue, roce, "probe_p50_ns")
    above, below = (results.by_repetition(side, "probe_p50_ns") for side in (rogue, roce))
    assert ratio is not None
    assert ratio.n == 2
    assert ratio.mean == pytest.approx((above[1] / below[1] + above[2] / below[2]) / 2)


def test_reference_in_words() -> None:
    assert reference_text(Reference(transport="roce")) == "Native RoCE"
    assert reference_text(Reference(at={"workload.load": 0.1})) == "the same at load 0.1"
