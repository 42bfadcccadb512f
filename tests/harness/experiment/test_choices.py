"""Short forms of transports and measures."""

import pytest
from pydantic import ValidationError

from harness.experiment.choices import MEASURES, SAMPLED, MeasureChoice, TransportChoice
from workloads.records import TABLES


@pytest.mark.parametrize(
    ("written", "name", "parameters", "shown"),
    [
        ("rogue", "rogue", {}, "rogue"),
        ({"name": "rogue"}, "rogue", {}, "rogue"),
        (
            {"name": "rogue", "base_rtt_floor": "25us"},
            "rogue",
            {"base_rtt_floor": "25us"},
            "rogue,base_rtt_floor=25us",
        ),
        ({"name": "roce+pfc", "label": "lossless"}, "roce+pfc", {}, "lossless"),
    ],
)
def test_transport(written: object, name: str, parameters: dict[str, object], shown: str) -> None:
    choice = TransportChoice.model_validate(written)
    assert (str(choice.name), choice.parameters, choice.shown) == (name, parameters, shown)


@pytest.mark.parametrize(
    "written", ["rouge", 5, [], {}, {"name": "rogue", "alpha": []}, {"label": "x"}, "a+b"]
)
def test_wrong_transport(written: object) -> None:
    with pytest.raises(ValidationError):
        TransportChoice.model_validate(written)


def test_measure_by_name_or_with_an_interval() -> None:
    assert MeasureChoice.model_validate("rtt").interval_ns is None
    assert MeasureChoice.model_validate({"kind": "queues", "interval": "1ms"}).interval_ns == 1_000_000


def test_only_what_is_sampled_has_an_interval() -> None:
    for kind in MEASURES:
        if kind not in SAMPLED:
            with pytest.raises(ValidationError, match="only throughput and queues are sampled"):
                MeasureChoice.model_validate({"kind": kind, "interval": "1ms"})


def test_every_measure_has_its_table() -> None:
    assert set(MEASURES) == set(TABLES) - {"flows", "counters", "events"}
