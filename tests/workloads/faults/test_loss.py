"""A link that loses packets."""

import pytest
from pydantic import ValidationError

from workloads.faults.loss import Loss


def loss(**keys: object) -> Loss:
    return Loss.model_validate({"target": "h1", **keys})


@pytest.mark.parametrize(
    ("keys", "probability"),
    [({"one_in": 4096}, 1 / 4096), ({"one_in": 0}, 0.0), ({"probability": 0.25}, 0.25)],
)
def test_how_often(keys: dict[str, object], probability: float) -> None:
    assert loss(**keys).mean_probability == probability


@pytest.mark.parametrize("one_in", [0, 2, 4096, 65536])
def test_a_filter_on_the_identification(one_in: int) -> None:
    assert loss(model="identification", one_in=one_in).one_in == one_in


@pytest.mark.parametrize(
    "keys",
    [
        {}, {"one_in": 8, "probability": 0.1}, {"probability": 1}, {"one_in": -1}, {"one_in": 1},
        {"one_in": 8, "model": "all"},
        {"one_in": 8, "from": "2s", "until": "2s"}, {"model": "identification", "one_in": 1000},
        {"model": "identification", "one_in": 131_072}, {"model": "identification", "probability": 0.5},
        {"model": "burst", "one_in": 8, "burst_packets": 1},
        {"model": "burst", "probability": 0.75, "burst_packets": 3},
    ],
)  # fmt: skip
def test_impossible_ones_are_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        loss(**keys)


def test_how_often_bursts_begin() -> None:
    """Runs of 4 packets, one packet in 5 lost: the gaps have 16 packets."""
    assert loss(model="burst", one_in=5, burst_packets=4).burst_begins_probability == pytest.approx(1 / 16)
