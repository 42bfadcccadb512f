"""What is known about a cell before anything runs."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.cell.cell import cell_facts

POISSON = "workload={kind: poisson, load: 0.5, size: 20KB, arrive_for: 30ms, ignore_for: 4ms}"


def test_what_counts_for_nothing_is_told(tmp_path: Path) -> None:
    facts = cell_facts(cell_of(tmp_path, POISSON))
    assert (facts["warm_up_ns"], facts["arriving_ns"]) == (4_000_000, 30_000_000)
    assert (facts["framing"], facts["mtu_bytes"], facts["replaced_verbs"]) == ("rocev2", 1024, None)
    lasting = cell_facts(cell_of(tmp_path))
    assert (lasting["bottleneck_port"], lasting["arriving_ns"]) == ("s0->h3", None)


def test_the_bytes_of_one_collective_are_told(tmp_path: Path) -> None:
    """3 MB over 3 ranks: 2 * 2/3 of them in an all-reduce; of two collectives there is no one number."""
    ring = "{kind: collective, operation: all_reduce, hosts: 3, size: 3MB}"
    facts = cell_facts(cell_of(tmp_path, f"workload={ring}"))
    assert (facts["bus_bytes"], facts["rank_goodput_bps"]) == (4_000_000, 10e9 * 1024 / 1106)
    facts = cell_facts(cell_of(tmp_path))
    assert (facts["bus_bytes"], facts["rank_goodput_bps"]) == (None, None)
    two = f"""\
name: x
topology: {{kind: star, hosts: 4, rate: 10Gbps}}
traffic: [{{name: a, workload: {ring}}}, {{name: b, workload: {ring}}}]
transports: [roce]
"""
    assert cell_facts(cell_of(tmp_path, text=two))["bus_bytes"] is None


def test_traffic_that_time_cuts_is_told_apart(tmp_path: Path) -> None:
    assert cell_facts(cell_of(tmp_path, "workload.repeat_for=10ms"))["repeats"] is True
    assert cell_facts(cell_of(tmp_path))["repeats"] is False
    assert cell_facts(cell_of(tmp_path, POISSON))["repeats"] is False


def test_a_burst_is_no_load(tmp_path: Path) -> None:
    """Both transfers of a trace start within a microsecond and drain: their queue is the whole traffic's."""
    rows = "start_us,src,dst,size_bytes\n0,h0,h3,10000000\n1,h1,h3,10000000\n"
    (tmp_path / "burst.csv").write_text(rows)
    for drain in ("", ", drain_for: 20ms"):
        trace = f"workload={{kind: trace, file: burst.csv{drain}}}"
        assert cell_facts(cell_of(tmp_path, trace))["arriving_ns"] is None
    (tmp_path / "burst.csv").write_text(f"{rows}5000,h0,h3,1000\n")
    longer = "workload={kind: trace, file: burst.csv, drain_for: 20ms}"
    assert cell_facts(cell_of(tmp_path, longer))["arriving_ns"] == 5_000_001
