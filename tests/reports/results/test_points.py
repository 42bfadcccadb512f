"""Tests: factor points, and the measures of a kind of traffic."""

from itertools import product
from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.small_runs import cell, manifest, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.reading.load import Run
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.results.headlines import (
    CUT,
    DEFAULT,
    HEADLINES,
    OF_FAULTS,
    STANDSTILL,
    Headlines,
    headlines_of,
    topics_of,
)
from rogue.reports.results.points import chosen_points, points_text, quoted_points, swept_factor
from rogue.workloads.faults import FAULTS
from rogue.workloads.manifest import Manifest
from rogue.workloads.traffic import WORKLOADS

Point = dict[str, str | int]


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> list[Setting]:
    """Settings of transports and factor points, all measured."""
    transports, points = request.param
    return results_of(tmp_path, [(name, point) for point in points for name in transports]).measured_settings


def results_of(directory: Path, settings: list[tuple[str, Point]]) -> Results:
    cells = [
        (cell(f"c{n}", transport=name, factors=point), {"flows": [transfer("main/h0->h1", fct_ns=1000 * n)]})
        for n, (name, point) in enumerate(settings, start=1)
    ]
    return Results(Run(write_cells(directory, cells, {"kind": "ping"})))


def senders(*values: int) -> list[Point]:
    return [{"workload.senders": value} for value in values]


@pytest.mark.parametrize(
    ("settings", "panels_per_setting", "drawn"),
    [
        ((("rogue", "roce"), senders(1, 2, 3, 4)), 1, [1, 2, 3, 4]),
        ((("rogue", "roce"), senders(1, 2, 3, 4, 5)), 1, [1, 3, 5]),
        ((("rogue", "roce", "irn", "dctcp", "iwarp"), senders(1, 2, 3)), 1, [1, 3]),
        ((tuple(f"t{n}" for n in range(12)), senders(1, 2, 3)), 1, [3]),
        ((tuple(f"t{n}" for n in range(13)), senders(1, 2, 3)), 1, [3]),
        ((tuple(f"t{n}" for n in range(13)), senders(1, 2, 3)), 0, [1, 2, 3]),
        ((("rogue", "roce"), senders(1, 2, 3, 4)), 2, [1, 3, 4]),
    ],
    indirect=["settings"],
)
def test_drawn_points_include_the_quoted_one(
    settings: list[Setting], panels_per_setting: int, drawn: list[int]
) -> None:
    chosen = chosen_points(settings_by_point(settings), quoted_points(settings), panels_per_setting)
    assert chosen == [f"senders {number}" for number in drawn]


def test_quoted_point_is_that_of_the_summary(tmp_path: Path) -> None:
    """The rival has nothing at the last point."""
    results = results_of(
        tmp_path,
        [("rogue", point) for point in senders(1, 2, 3, 4, 5, 6)]
        + [("roce", point) for point in senders(1, 2)],
    )
    assert quoted_points(results.measured_settings) == ["senders 2"]
    points = settings_by_point(results.measured_settings)
    assert chosen_points(points, ["senders 2"], 1) == ["senders 1", "senders 2", "senders 4"]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ((("rogue",), senders(3, 5)), "senders 3, 5"),
        (
            (
                ("rogue", "roce"),
                [
                    {"workload.senders": n, "workload.verb": verb}
                    for n, verb in product((2, 3, 4), ("read", "write"))
                ],
            ),
            "senders 2, 3, 4 with verb read or verb write",
        ),
        (
            (
                ("rogue",),
                [
                    {"workload.senders": 2, "workload.verb": "read"},
                    {"workload.senders": 3, "workload.verb": "write"},
                    {"workload.senders": 4, "workload.verb": "write"},
                ],
            ),
            "senders 2 with verb read; senders 3, 4 with verb write",
        ),
    ],
    indirect=["settings"],
)
def test_points_are_named_by_their_values(settings: list[Setting], text: str) -> None:
    assert points_text(settings) == text
    assert swept_factor(settings) == "workload.senders"


ALL = {"default": DEFAULT, "cut": CUT, "standstill": STANDSTILL, **HEADLINES}


@pytest.mark.parametrize("headlines", ALL.values(), ids=list(ALL))
class TestEveryKind:
    def test_says_and_draws_known_metrics(self, headlines: Headlines) -> None:
        names = [headline.metric for headline in headlines.shown]
        assert {*names, *headlines.swept, *headlines.bars} <= set(METRICS)
        assert len(set(names)) == len(names)

    def test_predicates_have_the_value(self, headlines: Headlines) -> None:
        assert all(headline.said("71 µs").count("71 µs") == 1 for headline in headlines.shown)

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
    ("question", "topics"),
    [
        (
            "How much noise in its RTT samples is borne before an incast loses throughput?",
            ["aggregate_share"],
        ),
        ("Does the paper's own floor of the base RTT change the throughput?", ["aggregate_share"]),
        ("Which floor makes cwnd / RTT match the throughput?", ["aggregate_share"]),
        ("Do switches pause more when an ingress may take 1/64 of the buffer?", ["paused_sum_ns"]),
        ("Which details take it below its share, where the path is longer?", ["jain"]),
        ("How much processor time does each take?", ["client_cpu_share"]),
        ("Does a permutation take as long?", ["whole_ns"]),
        ("How much longer does a READ take?", ["whole_ns"]),
        ("Does the tail of the RTT grow?", ["slowdown_p99", "probe_p50_ns"]),
    ],
)
def test_words_that_name_no_measure_are_no_topic(question: str, topics: list[str]) -> None:
    found = topics_of(Manifest.model_validate(manifest([], experiment={"question": question})))
    assert [own[0].metric for own in found] == topics


def test_latency_of_a_ping_mesh_is_a_topic() -> None:
    question = "How much does a heavy load raise the latency of RDMA?"
    (topic,) = topics_of(Manifest.model_validate(manifest([], experiment={"question": question})))
    assert {"mesh_rc_p99_ns", "mesh_tcp_p99_ns"} <= {each.metric for each in topic}


def test_question_names_measures_in_the_order_of_its_words() -> None:
    question = "Does it carry the throughput with short queues, not fewer queue pairs?"
    experiment = {"workload": {"kind": "incast"}, "question": question}
    topics = topics_of(Manifest.model_validate(manifest([], experiment=experiment)))
    assert [own[0].metric for own in topics] == ["aggregate_share", "queue_p50_bytes"]
