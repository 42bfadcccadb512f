"""Tests: load an experiment file, check it, and resolve its defaults."""

import json
from pathlib import Path

import pytest
import yaml
from helpers.experiments import SMALL, WRONG_EXPERIMENTS, load_text, write_experiment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.load import POINTS_MAX, find_problems, hidden_values, load_experiment, resolve
from rogue.harness.experiment.model import Experiment

EXPERIMENTS = Path(__file__).parents[3] / "experiments"


@pytest.mark.parametrize("name", WRONG_EXPERIMENTS)
def test_wrong_experiment_gets_its_sentence(name: str, tmp_path: Path) -> None:
    text, lines = WRONG_EXPERIMENTS[name]
    file = write_experiment(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_experiment(file)
    assert str(caught.value).splitlines() == [f"{file}:{line}" for line in lines]


@pytest.mark.parametrize("file", sorted(EXPERIMENTS.rglob("*.yaml")), ids=lambda file: file.stem)
def test_shipped_experiments_are_valid(file: Path) -> None:
    experiment = load_experiment(str(file)).experiment
    assert experiment.title
    assert experiment.question is not None
    assert experiment.question.endswith("?"), "a report begins with the question of its experiment"


def test_mistake_in_a_data_file_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("start_ns,src,dst,size_bytes\n0,h0,h1,1\n5,h1,h4,1\n")
    text = SMALL.replace("{kind: incast, senders: 2, size: 1MB}", "{kind: trace, file: flows.csv}")
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, text)
    assert str(caught.value).endswith(
        "experiment.yaml:3: workload: got h4 in line 3, column dst of flows.csv, expected hosts that may have"
        " traffic, h0 to h3 without h2; add hosts, or correct the file."
    )
    (tmp_path / "flows.csv").write_text("start_ns,src,dst,size_bytes\n0,h0,h2,1\n")
    with pytest.raises(ConfigError, match=r"got h2 in line 2, .* leave the probe out, or correct the file"):
        load_text(tmp_path, text)
    with pytest.raises(ConfigError, match="got 'No such file or directory' on opening"):
        load_text(tmp_path, text, "workload.file=none.csv")


def test_a_file_may_be_a_factor(tmp_path: Path) -> None:
    for name, size in (("a.csv", 1), ("b.csv", 2)):
        (tmp_path / name).write_text(f"start_ns,src,dst,size_bytes\n0,h0,h1,{size}\n")
    text = SMALL.replace("{kind: incast, senders: 2, size: 1MB}", "{kind: trace, file: a.csv}")
    loaded = load_text(tmp_path, text + "factors: {workload.file: [a.csv, b.csv]}")
    assert [source.name for source in loaded.data] == ["a.csv", "b.csv"]
    assert [int(point.experiment.workload.file.sizes_bytes[0]) for point in loaded.points] == [1, 2]  # type: ignore[union-attr]


def test_factors_are_crossed_in_the_order_of_the_file(tmp_path: Path) -> None:
    loaded = load_text(
        tmp_path, SMALL + "factors: {workload.senders: [1, 2], topology.rate: [1Gbps, 10Gbps]}"
    )
    assert [tuple(point.factors.values()) for point in loaded.points] == [
        (1, "1Gbps"), (1, "10Gbps"), (2, "1Gbps"), (2, "10Gbps"),
    ]  # fmt: skip
    assert [point.experiment.topology.host_rate_bps("h0") for point in loaded.points] == [10**9, 10**10] * 2


def test_settings_come_before_factors(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, SMALL, "factors={workload.senders: [1, 3]}", "topology.hosts=9")
    assert [len(point.experiment.topology.host_names()) for point in loaded.points] == [9, 9]


def test_mistake_of_every_point_is_reported_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, SMALL + "factors: {workload.senders: [1, 2]}", "seed=-1")
    assert len(caught.value.problems) == 1


def test_too_many_points_are_counted_not_made(tmp_path: Path) -> None:
    values = list(range(1, 200))
    factors = {f"workload.{key}": values for key in ("senders", "size", "verb", "repeat_for")}
    with pytest.raises(ConfigError, match=f"{199**4} combinations, expected at most {POINTS_MAX}"):
        load_text(tmp_path, SMALL + yaml.safe_dump({"factors": factors}))


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)
KEYS = st.sampled_from([
    "name", "title", "question", "topology", "workload", "traffic", "probe", "transports", "factors",
    "faults", "repetitions", "seed", "measure", "time_limit", "other",
])  # fmt: skip


@given(st.dictionaries(KEYS, ANYTHING, min_size=1, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
def test_anything_is_an_experiment_or_a_config_error(tmp_path: Path, changes: dict[str, object]) -> None:
    data = yaml.safe_load(SMALL) | changes
    file = write_experiment(tmp_path, yaml.safe_dump(data, allow_unicode=True))
    try:
        load_experiment(file)
    except ConfigError as error:
        assert all(problem.expected and problem.advice for problem in error.problems)


RIGHT: dict[str, object] = {
    "name": "x",
    "topology": {"kind": "star", "hosts": 3, "rate": "10Gbps"},
    "workload": {"kind": "incast", "senders": 2, "size": "1MB"},
    "transports": ["rogue"],
}


@pytest.mark.parametrize(
    ("changes", "key", "got", "expected"),
    [
        ({"seed": "a"}, "seed", "'a'", "a whole number"),
        ({"seed": 1.5}, "seed", "1.5", "a whole number"),
        ({"seed": -1}, "seed", "-1", "a number of at least 0"),
        ({"title": 5}, "title", "5", "text"),
        ({"title": ""}, "title", "''", "at least 1 characters"),
        ({"title": "x" * 201}, "title", "'" + "x" * 56 + "...", "at most 200 characters"),
        ({"transports": []}, "transports", "a list of 0", "a list of at least 1"),
        ({"transports": "rogue"}, "transports", "'rogue'", "a list"),
        (
            {"topology": {"kind": "star", "hosts": 4, "rate": "10Gbps", "weights": 5}},
            "topology.weights",
            "5",
            "a list",
        ),
        ({"transports": ["rogue"] * 101}, "transports", "a list of 101", "a list of at most 100"),
        ({"probe": {"kind": "write0"}}, "probe.interval", "nothing", "a value"),
        ({"measure": ["cpu", "gpu"]}, "measure[1]", "'gpu'", "one of 'throughput', 'latency'"),
        ({"traffic": [5]}, "traffic[0]", "5", "a mapping"),
    ],
)
def test_key_got_and_expected(changes: dict[str, object], key: str, got: str, expected: str) -> None:
    document = Document("x.yaml", "", RIGHT | changes, {})
    with pytest.raises(ValidationError) as caught:
        Experiment.model_validate(document.data)
    (problem,) = find_problems(caught.value, document)
    assert (problem.key, problem.got) == (key, got)
    assert problem.expected.startswith(expected)


def test_numbers_are_in_the_unit_that_the_key_names(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path, SMALL + "factors: {workload.senders: [1, 2]}"))
    topology = {
        "kind": "star", "hosts": 4, "rate_bps": 10**10, "delay_ns": 1000, "mtu_bytes": 1024,
        "framing": "rocev2", "nic": None, "delay_spread_ns": 5, "buffer_bytes": 9_000_000, "alpha": 1.0,
        "pause_alpha": 1 / 16, "pause_xoff_bytes": None, "pause_headroom_bytes": None,
        "pause_watchdog_ns": None, "pause_watchdog_restore_ns": 200_000_000, "ttl_hops": None,
    }  # fmt: skip
    written = resolved["topology"]
    assert isinstance(written, dict) and written.items() >= topology.items()
    assert resolved["factors"] == {"workload.senders": [1, 2]}
    assert resolved["title"] == "small"


def test_question_is_kept_and_may_be_missing(tmp_path: Path) -> None:
    assert resolve(load_text(tmp_path))["question"] is None
    assert resolve(load_text(tmp_path, SMALL + "question: Is it fast?"))["question"] == "Is it fast?"


def test_traffic_is_always_there(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path))
    assert resolved["workload"] == resolved["traffic"][0]["workload"]
    general = SMALL.replace("workload: {", "traffic: [{name: a, workload: {").replace("1MB}", "1MB}}]")
    assert "workload" not in resolve(load_text(tmp_path, general))


def test_measures_that_apply(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path, SMALL, "measure=[{kind: queues, interval: 1ms}, cpu]"))
    assert resolved["measure"] == {"queues": {"interval_ns": 1_000_000}, "cpu": {"interval_ns": None}}


def test_it_is_plain_json(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path))
    assert json.loads(json.dumps(resolved, allow_nan=False)) == resolved


FACTORS = SMALL + "factors: {workload.size: [2MB, 4MB]}\n"


def test_hidden_base_value_is_reported_with_its_line(tmp_path: Path) -> None:
    (words,) = hidden_values(load_text(tmp_path, FACTORS))
    assert (
        words == f"{tmp_path}/experiment.yaml:3: workload.size: '1MB' is never run: factors has '2MB', '4MB'"
    )


@pytest.mark.parametrize(
    "settings",
    [
        ("workload.size=8MB",),
        ("factors={workload.size: [1MB, 2MB]}",),
        ("factors={workload.size: [3MB]}",),
        ("factors={workload.verb_size: [64KiB, 1MB]}",),
        ("scale=quick",),
    ],
)
def test_used_base_value_is_not_reported(tmp_path: Path, settings: tuple[str, ...]) -> None:
    assert list(hidden_values(load_text(tmp_path, FACTORS, *settings))) == []
