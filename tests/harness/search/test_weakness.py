"""A find with another transport in the place of the one that it was found in."""

from pathlib import Path

import pytest
from helpers.searched import HillTestbed, hill

from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.search.question import make_target
from rogue.harness.search.space import Aim
from rogue.harness.search.weakness import Tried, Verdict, make_weakness

AIM = Aim(metric="fct_mean_ns", direction="most", bound=2, transport="own", against="other")


def test_the_other_takes_the_place_with_its_own_parameters(tmp_path: Path) -> None:
    loaded = hill(tmp_path, "transports=[{name: roce, label: own, segment: 16KB}, {name: irn, label: other}]")
    made = make_weakness(Path("hill.yml"), loaded, AIM, HillTestbed(), "rogue")
    choices = made.base.loaded.experiment.transports
    assert [each.shown for each in choices] == ["rogue", "other"] and not choices[0].parameters
    assert (made.name, made.target.is_ratio) == ("hill", True)
    assert made.base.loaded.settings[-1].startswith("transports="), "so that each cell can be run again"


def test_without_a_name_the_find_is_what_it_is(tmp_path: Path) -> None:
    loaded = hill(tmp_path)
    assert make_weakness(Path("hill.yml"), loaded, AIM, HillTestbed(), None).base.loaded is loaded


def test_who_cannot_take_the_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="irn is what own is compared with here"):
        make_weakness(Path("hill.yml"), hill(tmp_path), AIM, HillTestbed(), "irn")
    with pytest.raises(ConfigError, match="got 'nobody'"):
        make_weakness(Path("hill.yml"), hill(tmp_path), AIM, HillTestbed(), "nobody")


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        ((2.0, 3.0), Verdict.SHARED),
        ((1.9, 3.0), Verdict.PARTLY),
        ((1.9, 1.0), Verdict.NOT_SHARED),
        ((3.0, None), Verdict.UNKNOWN),
        ((), Verdict.UNKNOWN),
    ],
)
def test_each_seed_counts(numbers: tuple[float | None, ...], verdict: Verdict) -> None:
    assert Tried("hill", "", make_target(AIM), numbers).verdict is verdict
