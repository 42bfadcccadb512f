"""Sentences for what pydantic finds."""

import pytest
from pydantic import ValidationError

from rogue.harness.experiment.document import Document
from rogue.harness.experiment.load import find_problems
from rogue.harness.experiment.model import Experiment

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
