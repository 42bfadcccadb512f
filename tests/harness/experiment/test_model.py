"""Test the keys of experiments: transports, measures, kinds and what must fit together."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from helpers.experiments import SMALL, load_text
from pydantic import BaseModel, Field, ValidationError

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.choices import MEASURES, SAMPLED, MeasureChoice, TrafficGroup, TransportChoice
from rogue.harness.experiment.keys import ByKind, Key, keys_of
from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import FAULTS
from rogue.workloads.probes import PROBES
from rogue.workloads.records import TABLES
from rogue.workloads.specification import Specification, Time
from rogue.workloads.topologies import TOPOLOGIES, Topology
from rogue.workloads.traffic import WORKLOADS


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
    ("written", "advice"),
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
def test_advice_is_about_the_named_transport(tmp_path: Path, written: str, advice: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        load_text(tmp_path, SMALL, f"transports=[{written}]")
    assert advice in str(refusal.value)


def test_only_sampled_measures_have_an_interval() -> None:
    for kind in MEASURES:
        if kind not in SAMPLED:
            with pytest.raises(ValidationError, match="only throughput and queues are sampled"):
                MeasureChoice.model_validate({"kind": kind, "interval": "1ms"})


def test_every_measure_has_its_table() -> None:
    assert set(MEASURES) == set(TABLES) - {"flows", "counters", "events"}


@pytest.mark.parametrize("own", [{"ports": ["a"]}, {"until": "1ms"}, {"packets_max": 9}])
def test_only_packets_have_a_selection(own: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="only packets are chosen"):
        MeasureChoice.model_validate({"kind": "queues", **own})


@pytest.mark.parametrize("until", ["1ns", "1us"])
def test_the_end_of_packets_is_after_their_start(until: str) -> None:
    with pytest.raises(ValidationError, match="a time after from"):
        MeasureChoice.model_validate({"kind": "packets", "from": "1us", "until": until})


class Holder(BaseModel):
    topology: Annotated[Topology, ByKind(TOPOLOGIES)] | None = None


@pytest.mark.parametrize(
    ("written", "loc"),
    [
        (5, ("topology",)),
        ({}, ("topology", "kind")),
        ({"kind": "moebius"}, ("topology", "kind")),
        ({"kind": []}, ("topology", "kind")),
        ({"kind": "star", "rate": "1Gbps"}, ("topology", "hosts")),
    ],
)
def test_wrong_kind_names_its_key(written: object, loc: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        Holder.model_validate({"topology": written})
    assert [error["loc"] for error in caught.value.errors()] == [loc]


PARTS = [Experiment, TransportChoice, MeasureChoice, TrafficGroup]
REGISTRIES = [TOPOLOGIES, WORKLOADS, PROBES, FAULTS]


class Sample(Specification):
    kind: Literal["sample"] = "sample"
    wait_ns: Time = 50_000
    """How long.

    Source: none.
    """
    share: float = Field(default=0.5, gt=0, le=1)
    """A share."""
    targets: list[Literal["a", "b"]] | None = None
    """Which."""
    is_on: bool = False
    """Whether."""
    count: int = Field(ge=2)
    """How many."""


def test_keys_are_described_as_written() -> None:
    assert keys_of(Sample) == [
        Key("wait", "time", "50us", "How long."),
        Key("share", "number, above 0 to 1", "0.5", "A share."),
        Key("targets", "list: a or b", "none", "Which."),
        Key("is_on", "true or false", "false", "Whether."),
        Key("count", "integer, from 2", "required", "How many."),
    ]


def test_keys_of_classes_with_a_short_form() -> None:
    assert [key.name for key in keys_of(TransportChoice)] == ["name", "label"]
    assert [key.name for key in keys_of(MeasureChoice)] == [
        "kind", "interval", "required", "ports", "flows", "from", "until", "packets_max",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    [*PARTS, *(kind for registry in REGISTRIES for kind in registry.values())],
    ids=lambda k: k.__name__,
)
def test_every_key_has_a_meaning_and_a_type(kind: type[Specification]) -> None:
    for key in keys_of(kind):
        assert key.meaning.endswith("."), f"{kind.__name__}.{key.name} has no docstring"
        assert key.type
        assert "_ns" not in key.name and "Undefined" not in key.default


GROUPS = """\
name: groups
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: bulk, workload: {kind: incast, senders: 3, size: 1MB}}
  - {name: rival, workload: {kind: incast, senders: 1, size: 2MB}, transport: roce, priority: 3}
transports: [rogue]
"""


def test_probe_reserves_the_last_host_but_one(tmp_path: Path) -> None:
    assert load_text(tmp_path).experiment.placement.hosts == ("h0", "h1", "h3")
    assert load_text(tmp_path, GROUPS).experiment.placement.hosts == ("h0", "h1", "h2", "h3")


def test_what_is_measured_and_how_often(tmp_path: Path) -> None:
    experiment = load_text(
        tmp_path, SMALL, "measure=[{kind: throughput, interval: 100ms}, queues]"
    ).experiment
    assert experiment.interval_ns("throughput") == 100_000_000
    assert experiment.interval_ns("queues") is None
    assert experiment.measures("queues")
    assert not experiment.measures("rtt")


@pytest.mark.parametrize("senders", [2, 3])
def test_too_few_hosts_is_an_error(tmp_path: Path, senders: int) -> None:
    if senders == 2:
        assert load_text(tmp_path, SMALL, f"workload.senders={senders}").experiment
    else:
        with pytest.raises(
            ConfigError, match="expected at least 5 hosts, 4 for the traffic and one for the probe"
        ):
            load_text(tmp_path, SMALL, f"workload.senders={senders}")


def test_conflicting_forwarding_faults_are_an_error(tmp_path: Path) -> None:
    misrouted = "{kind: misrouting, target: s0-h3, destination: h3}"
    flooded = "{kind: flooding, target: s0, destination: h3}"
    of_another = "{kind: flooding, target: s0, destination: h2}"
    assert load_text(tmp_path, SMALL, f"faults=[{misrouted}, {misrouted}, {of_another}]").experiment
    sentence = "got misrouting s0-h3 and flooding s0 of what is for h3, expected at most one misrouting or"
    with pytest.raises(ConfigError, match=sentence):
        load_text(tmp_path, SMALL, f"faults=[{misrouted}, {of_another}, {flooded}]")


@pytest.mark.parametrize(
    ("workload", "got"),
    [
        ("{kind: poisson, load: 0.5, size: 1B, arrive_for: 1000000s}", "1.9e+15"),
        ("{kind: pingmesh, places: [1], run_for: 10s, interval: 1us}", "3e+07"),
    ],
)
def test_too_many_transfers_is_an_error(tmp_path: Path, workload: str, got: str) -> None:
    sentence = f"workload: got about {got} transfers, expected at most 5000000 transfers; let them start"
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, SMALL, f"workload={workload}")
    assert sentence in str(caught.value)


def test_json_schema_knows_the_kinds_and_the_short_forms() -> None:
    schema = Experiment.model_json_schema()
    assert [kind["title"] for kind in schema["properties"]["topology"]["oneOf"]] == [
        kind.__name__ for kind in TOPOLOGIES.values()
    ]
    listed = next(
        kind for kind in schema["properties"]["workload"]["anyOf"][0]["oneOf"] if kind["title"] == "Pairs"
    )
    assert listed["properties"]["flows"]["items"]["$ref"].removeprefix("#/$defs/") in schema["$defs"]
    name, mapping = schema["$defs"]["TransportChoice"]["anyOf"]
    assert (name["type"], mapping["required"], sorted(mapping["properties"])) == (
        "string",
        ["name"],
        ["label", "name"],
    )
    name, mapping = schema["$defs"]["MeasureChoice"]["anyOf"]
    assert ("rtt" in name["enum"], mapping["required"]) == (True, ["kind"])


def test_tolerances_name_measures_of_the_report(tmp_path: Path) -> None:
    assert load_text(tmp_path, SMALL, "agree_within={probe_p50_ns: .1}").experiment.agree_within == {
        "probe_p50_ns": 0.1
    }
    with pytest.raises(ConfigError, match="got the measure probe_p5_ns, expected measures of the report"):
        load_text(tmp_path, SMALL, "agree_within={probe_p5_ns: .1}")
    with pytest.raises(ConfigError, match=r"agree_within\.probe_p50_ns"):
        load_text(tmp_path, SMALL, "agree_within={probe_p50_ns: 5}")
