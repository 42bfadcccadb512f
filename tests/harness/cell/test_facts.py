"""What is known about a cell before anything runs."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.cell.facts import cell_facts

POISSON = "workload={kind: poisson, load: 0.5, size: 20KB, arrive_for: 30ms, ignore_for: 4ms}"


def test_what_counts_for_nothing_is_told(tmp_path: Path) -> None:
    facts = cell_facts(cell_of(tmp_path, POISSON))
    assert facts["warm_up_ns"] == 4_000_000
    assert (facts["framing"], facts["mtu_bytes"], facts["replaced_verbs"]) == ("rocev2", 1024, None)
    assert cell_facts(cell_of(tmp_path))["bottleneck_port"] == "s0->h2"
