"""What an experiment says once it is read."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.model import Experiment
from rogue.workloads.topologies import TOPOLOGIES

GROUPS = """\
name: groups
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: bulk, workload: {kind: incast, senders: 3, size: 1MB}}
  - {name: rival, workload: {kind: incast, senders: 1, size: 2MB}, transport: roce, priority: 3}
transports: [rogue]
"""


def test_short_form_is_a_group_called_main(tmp_path: Path) -> None:
    experiment = load_text(tmp_path).experiment
    assert [(each.name, each.transport, each.priority) for each in experiment.groups] == [("main", None, 0)]


def test_groups(tmp_path: Path) -> None:
    experiment = load_text(tmp_path, GROUPS).experiment
    assert [(each.name, str(each.transport), each.priority) for each in experiment.groups] == [
        ("bulk", "None", 0), ("rival", "roce", 3),
    ]  # fmt: skip


def test_the_probe_has_the_last_host_but_one_for_itself(tmp_path: Path) -> None:
    assert load_text(tmp_path).experiment.placement.hosts == ("h0", "h1", "h3")
    assert load_text(tmp_path, GROUPS).experiment.placement.hosts == ("h0", "h1", "h2", "h3")


def test_pairs_beside_a_probe_need_no_more_hosts_than_they_name(tmp_path: Path) -> None:
    pairs = "workload={kind: pairs, flows: [{source: h0, destination: h3}], run_for: 1ms}"
    assert load_text(tmp_path, SMALL, pairs).experiment.placement.described == "h0 to h3 without h2"


def test_everything_is_measured_by_default(tmp_path: Path) -> None:
    experiment = load_text(tmp_path).experiment
    assert experiment.measures("latency")
    assert experiment.measures("cpu")
    assert not load_text(tmp_path, GROUPS).experiment.measures("latency")


def test_what_is_measured_and_how_often(tmp_path: Path) -> None:
    experiment = load_text(
        tmp_path, SMALL, "measure=[{kind: throughput, interval: 100ms}, queues]"
    ).experiment
    assert experiment.interval_ns("throughput") == 100_000_000
    assert experiment.interval_ns("queues") is None
    assert experiment.measures("queues")
    assert not experiment.measures("rtt")


@pytest.mark.parametrize("senders", [2, 3])
def test_hosts_must_suffice(tmp_path: Path, senders: int) -> None:
    if senders == 2:
        assert load_text(tmp_path, SMALL, f"workload.senders={senders}").experiment
    else:
        with pytest.raises(
            ConfigError, match="expected at least 5 hosts, 4 for the traffic and one for the probe"
        ):
            load_text(tmp_path, SMALL, f"workload.senders={senders}")


@pytest.mark.parametrize("target", ["h0", "s0-h3"])
def test_faults_strike_links_that_there_are(tmp_path: Path, target: str) -> None:
    cut = f"faults=[{{kind: link_cut, at: 1ms, target: {target}, duration: 1ms}}]"
    assert len(load_text(tmp_path, SMALL, cut).experiment.faults) == 1


def test_a_switch_does_one_thing_with_what_is_for_a_host(tmp_path: Path) -> None:
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
def test_more_transfers_than_can_be_drawn_are_refused_at_once(
    tmp_path: Path, workload: str, got: str
) -> None:
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
