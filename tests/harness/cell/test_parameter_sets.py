"""Tests: published sets of parameters, by the values of their sources."""

from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.experiments import cell_of, load_text, write_experiment

from rogue.harness.cell.cell import cell_facts
from rogue.harness.cell.parameter_sets import GBPS, PARAMETER_SETS, exceeds_defaults
from rogue.harness.plan.plan import make_plan
from rogue.harness.plan.text import plan_text
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.transports import parse_transport

STAR = """\
name: star
topology: {{kind: star, hosts: 4, rate: {rate}Gbps, delay: 1us}}
workload: {{kind: incast, senders: 2, size: 1MB}}
transports: [{transport}]
"""


def star(transport: str, rate: int = 100) -> str:
    return STAR.format(transport=transport, rate=rate)


SETS = [
    (owner, name, rate)
    for owner, sets in PARAMETER_SETS.items()
    for name, each in sets.items()
    for rate in each.values
]


@pytest.mark.parametrize(("owner", "name", "rate"), SETS)
def test_every_set_can_run_and_is_recorded_with_its_source(
    tmp_path: Path, owner: str, name: str, rate: int
) -> None:
    transport = owner if owner == "dctcp" else f"roce+{owner}"
    text = star(f"{{name: {transport}, variant: {name}}}", rate)
    plan = make_plan(load_text(tmp_path, text), SimulatorTestbed())
    assert [each.unsupported for each in plan.cells] == [None]
    facts = cell_facts(plan.cells[0].cell)
    assert facts["parameter_set"] == f"{transport} {name}"
    assert facts["parameter_source"] == PARAMETER_SETS[owner][name].source
    assert facts["unpublished_parameters"] is None


def test_values_of_the_source_at_100_gbps(tmp_path: Path) -> None:
    """Source: HPCC's run.py --cc dcqcn_paper --bw 100, and rdma-hw.cc."""
    group = cell_of(tmp_path, text=star("{name: roce+dcqcn, variant: hpcc-ns3}")).groups[0]
    assert group.settings.marking is not None and group.settings.control is not None
    curve = group.settings.marking
    assert (curve.kmin_bytes, curve.kmax_bytes, curve.pmax) == (400_000, 1_600_000, 0.2)
    values = group.settings.control.values
    assert (values["additive_increase_bps"], values["rate_min_bps"]) == (200e6, GBPS)
    assert (values["recoveries"], values["clamps_target"]) == (1, 0)


def test_line_rate_beyond_the_defaults_chooses_the_set(tmp_path: Path) -> None:
    plan = make_plan(load_text(tmp_path, star("roce+dcqcn")), SimulatorTestbed())
    named = cell_of(tmp_path, text=star("{name: roce+dcqcn, variant: hpcc-ns3}"))
    assert plan.cells[0].cell.groups[0].settings == named.groups[0].settings
    assert cell_facts(plan.cells[0].cell)["parameter_set"] == "roce+dcqcn hpcc-ns3"
    assert (
        "note: roce+dcqcn: hosts have 100 Gb/s, so it has the parameters of hpcc-ns3; `variant: defaults` "
        in plan_text(plan, jobs=1)
    )


@pytest.mark.parametrize(
    ("transport", "rate"),
    [("roce+dcqcn", 40), ("roce+dcqcn", 200), ("{name: roce+dcqcn, kmin: 10KB}", 100), ("rogue", 100)],
    ids=["within the paper's rate", "no source for the rate", "values of the user", "no set"],
)
def test_defaults_stay_without_a_set_for_the_rate(tmp_path: Path, transport: str, rate: int) -> None:
    assert cell_facts(cell_of(tmp_path, text=star(transport, rate)))["parameter_set"] == "defaults"


def test_variant_defaults_keeps_the_values_of_the_paper(tmp_path: Path) -> None:
    kept = cell_of(tmp_path, text=star("{name: roce+dcqcn, variant: defaults}")).groups[0]
    papers = cell_of(tmp_path, text=star("roce+dcqcn", 40)).groups[0]
    assert kept.settings.marking == papers.settings.marking


def test_threshold_of_dctcp_in_proportion_to_the_rate(tmp_path: Path) -> None:
    group = cell_of(tmp_path, text=star("{name: dctcp, variant: hpcc-ns3}", 25)).groups[0]
    assert group.settings.marking is not None
    assert group.settings.marking.kmin_bytes == 75_000


def test_stated_value_replaces_that_of_the_set(tmp_path: Path) -> None:
    text = star("{name: roce+dcqcn, variant: hpcc-ns3, kmin: 10KB}")
    marking = cell_of(tmp_path, text=text).groups[0].settings.marking
    assert marking is not None
    assert (marking.kmin_bytes, marking.kmax_bytes) == (10_000, 1_600_000)


def test_rate_without_values_is_an_error_with_the_known_rates(tmp_path: Path) -> None:
    for transport in ("roce+dcqcn", "dctcp"):
        file = write_experiment(tmp_path, star(f"{{name: {transport}, variant: hpcc-ns3}}", 10))
        done = rogue(tmp_path, "plan", file)
        assert done.code == 2
        assert "hpcc-ns3 (at 25, 50, 100 Gb/s)" in done.err


@pytest.mark.parametrize(
    ("transport", "note"),
    [
        (
            "rogue",
            "state `rate_change_max`, `cwnd_initial_packets`, `hold_off` (no public source has values), or ",
        ),
        (
            "{name: roce+dcqcn, variant: defaults}",
            "leave `variant` out: then `hpcc-ns3`, which has published",
        ),
        (
            "{name: roce+dcqcn, variant: ns3-rdma}",
            "leave `variant` out: then `hpcc-ns3`, which has published",
        ),
    ],
)
def test_plan_notes_defaults_beyond_their_rate(tmp_path: Path, transport: str, note: str) -> None:
    def planned(rate: int) -> str:
        return plan_text(make_plan(load_text(tmp_path, star(transport, rate)), SimulatorTestbed()), jobs=1)

    assert f"and hosts have 100 Gb/s; {note}" in planned(100)
    assert "published for up to" not in planned(40)


def test_stated_value_needs_no_note(tmp_path: Path) -> None:
    text = star("{name: rogue, rate_change_max: 10Gbps}")
    assert cell_facts(cell_of(tmp_path, text=text))["unpublished_parameters"] is None
    own = parse_transport("rogue")
    assert exceeds_defaults(own, {}, 100 * GBPS)
    assert not exceeds_defaults(own, {"cc": "mine"}, 100 * GBPS), "a control of somebody else"
