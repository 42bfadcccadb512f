"""Short forms of transports and measures."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text
from pydantic import ValidationError

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.choices import MEASURES, SAMPLED, MeasureChoice, TransportChoice
from rogue.workloads.records import TABLES


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


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("uet+pfc", "expected uet or uet with +rccc; leave +pfc out"),
        ("uet+spray", "its load_balancing; leave +spray out"),
        ("dctcp+pfc", "expected dctcp; leave +pfc out"),
        ("roce+rccc", "leave +rccc out"),
        ("uet+rcc", "expected uet or uet with +rccc; write uet+rccc if that is meant"),
        ("uet+pfcs", "expected uet or uet with +rccc; write uet+rccc if that is meant"),
        ("roce+dcqn", "write roce+dcqcn if that is meant"),
        ("roce+pfc+pfc", "expected each feature once; write roce+pfc if that is meant"),
        ("rouge+pfc", "write rogue+pfc if that is meant"),
        ("uet+xyz123", "expected uet or uet with +rccc; `rogue list transports` explains them"),
    ],
)
def test_advice_is_about_the_transport_that_was_named(tmp_path: Path, written: str, told: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        load_text(tmp_path, SMALL, f"transports=[{written}]")
    assert told in str(refusal.value)


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


def test_packets_may_be_chosen() -> None:
    written = {
        "kind": "packets",
        "ports": ["h0->s0"],
        "flows": ["main/h0->h1"],
        "from": "1us",
        "until": "2us",
    }
    chosen = MeasureChoice.model_validate({**written, "packets_max": 5})
    assert (chosen.from_ns, chosen.until_ns, chosen.packets_max) == (1_000, 2_000, 5)
    assert MeasureChoice.model_validate("packets").packets_max == 100_000


@pytest.mark.parametrize("own", [{"ports": ["a"]}, {"until": "1ms"}, {"packets_max": 9}])
def test_nothing_but_packets_is_chosen(own: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="only packets are chosen"):
        MeasureChoice.model_validate({"kind": "queues", **own})


@pytest.mark.parametrize("until", ["1ns", "1us"])
def test_the_end_of_packets_is_after_their_start(until: str) -> None:
    with pytest.raises(ValidationError, match="a time after from"):
        MeasureChoice.model_validate({"kind": "packets", "from": "1us", "until": until})
