"""What the summary says about each kind of traffic."""

import pytest
from helpers.small_runs import manifest

from rogue.reports.metrics import METRICS
from rogue.reports.results.headlines import (
    CUT,
    DEFAULT,
    HEADLINES,
    OF_FAULTS,
    STANDSTILL,
    Headline,
    Headlines,
    headlines_of,
)
from rogue.workloads.faults import FAULTS
from rogue.workloads.manifest import Manifest
from rogue.workloads.traffic import WORKLOADS

ALL = {"default": DEFAULT, "cut": CUT, "standstill": STANDSTILL, **HEADLINES}


@pytest.mark.parametrize("headlines", ALL.values(), ids=list(ALL))
class TestEveryKind:
    def test_says_and_draws_known_metrics(self, headlines: Headlines) -> None:
        names = [headline.metric for headline in headlines.shown]
        assert {*names, *headlines.swept, *headlines.bars} <= set(METRICS)
        assert len(set(names)) == len(names)

    def test_has_room_for_each_value_that_it_says(self, headlines: Headlines) -> None:
        for headline in headlines.shown:
            assert headline.label or headline.phrase or headline.comparison
            assert headline.phrase is None or headline.phrase.count("{}") == 1
            assert headline.comparison is None or headline.comparison.count("{}") == 2

    def test_draws_at_most_two_rows(self, headlines: Headlines) -> None:
        assert 1 <= len(headlines.swept) <= 6


def test_kinds_are_those_of_the_workloads() -> None:
    assert set(HEADLINES) <= set(WORKLOADS)
    assert set(OF_FAULTS) <= set(FAULTS)


@pytest.mark.parametrize(
    ("experiment", "headlines"),
    [
        ({"workload": {"kind": "ping"}}, HEADLINES["ping"]),
        ({"workload": {"kind": "incast"}}, DEFAULT),
        ({"workload": {"kind": "incast"}, "faults": [{"kind": "link_cut"}]}, CUT),
        ({"workload": {"kind": "incast"}, "faults": [{"kind": "loss"}, "damaged"]}, DEFAULT),
        (
            {"traffic": [{"workload": {"kind": "incast"}}, {"workload": {"kind": "many_pairs"}}]},
            HEADLINES["many_pairs"],
        ),
        ({"workload": {"kind": "ping"}, "faults": [{"kind": "pause_storm"}]}, STANDSTILL),
        ({"workload": {"kind": "permutation"}}, HEADLINES["permutation"]),
        ({"workload": {"kind": "all_to_all"}}, HEADLINES["permutation"]),
        ({"workload": {"kind": "permutation"}, "topology": {"kind": "ring"}}, STANDSTILL),
        ({"workload": {"kind": "incast"}, "factors": {"topology.pause_alpha": [0.1]}}, STANDSTILL),
        ({"workload": {"kind": "incast"}, "factors": {"topology.alpha": [1]}}, DEFAULT),
        ({"traffic": "damaged", "workload": "damaged"}, DEFAULT),
        ({"traffic": [{"workload": {"kind": []}}], "faults": [{"kind": {}}]}, DEFAULT),
        ({}, DEFAULT),
    ],
)
def test_first_kind_with_headlines_decides(experiment: dict[str, object], headlines: Headlines) -> None:
    assert headlines_of(Manifest.model_validate(manifest([], experiment=experiment))) is headlines


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Probe, median", "median probe"),
        ("RTT estimate, median", "median RTT estimate"),
        ("Jain’s index, worst level", "worst level Jain’s index"),
        ("The whole", "the whole"),
    ],
)
def test_within_a_sentence_acronyms_and_names_keep_their_capitals(label: str, said: str) -> None:
    assert Headline("jain", label).said == said
