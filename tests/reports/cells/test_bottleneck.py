"""Tests: which port limits a cell, and the full packets of its flows."""

from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.small_runs import cell, transfer

from rogue.reports.cells.bottleneck import bottleneck_of, bottleneck_sentence, packets_of_flows
from rogue.reports.cells.view import CellView
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def queue(port: str, t_ns: int, waiting: int, **more: int) -> dict[str, object]:
    sample = {"node": "s0", "port": port, "priority": 0, "t_ns": t_ns, "bytes": waiting, "max_bytes": waiting}
    return {**sample, "drops": 0, "marks": 0, **more}


def view_of(directory: Path, queues: list[dict[str, object]], pauses: list[dict[str, object]]) -> CellView:
    tables = {"flows": [transfer("main/h0->h1")], "queues": queues, "pauses": pauses}
    run = write_cells(
        directory, [(cell("c-r1"), {name: rows for name, rows in tables.items() if rows})], {"kind": "incast"}
    )
    return Results(Run(run)).views["c-r1"]


def test_bottleneck_is_the_longest_queue(tmp_path: Path) -> None:
    queues = [
        queue("a->b", 1, 3000),
        queue("a->b", 2, 3000, drops=2),
        queue("b->c", 1, 0),
        queue("b->c", 2, 2000),
    ]
    found = bottleneck_of(view_of(tmp_path, queues, []))
    assert found is not None
    assert (found.port, found.share, found.longest_bytes, found.dropped) == ("a->b", 0.75, 3000, 2)


def test_bottleneck_sentence_has_evidence(tmp_path: Path) -> None:
    pause = {"node": "a", "port": "a->b", "priority": 0, "start_ns": 0, "duration_ns": 1_500_000}
    other = {**pause, "port": "b->c"}
    view = view_of(tmp_path, [queue("a->b", 1, 3000, marks=4)], [pause, other])
    assert bottleneck_sentence(view) == (
        "most waits at a->b (100 % of what waits at switches, 3\u202fKB at most, 4 marked,"
        " itself paused for 1.5 ms): what pauses it is the bottleneck"
    )


def test_no_queue_means_no_bottleneck(tmp_path: Path) -> None:
    view = view_of(tmp_path, [queue("a->b", 1, 0)], [])
    assert bottleneck_of(view) is None
    assert "own links are the limit" in bottleneck_sentence(view)


def view_of_of_packets(
    directory: Path, transport: str, traffic: list[dict[str, object]], **facts: object
) -> CellView:
    flows = [transfer("rdma/h0->h1", group="rdma"), transfer("other/h2->h1", group="other")]
    entry = cell("x-r1", transport="label", transport_name=transport, facts={"mtu_bytes": 1024, **facts})
    run = write_cells(directory, [(entry, {"flows": flows})], {"kind": "incast"}, traffic=traffic)
    return Results(Run(run)).views["x-r1"]


@pytest.mark.parametrize(
    ("transport", "framing", "frame_bytes", "payload_bytes"),
    [
        ("roce+pfc", "rocev2", 1086, 1024),  # 62 bytes around 1024
        ("rogue", None, 1086, 1024),
        ("irn", "ns3", 1054, 1024),  # 30 bytes
        ("roce+hpcc", "rocev2", 1128, 1024),  # and 42 of telemetry
        ("dctcp", "rocev2", 1518, 1460),  # 58 bytes, whatever the network's MTU
        ("iwarp", "rocev2", 1518, 1440),  # 78 bytes
    ],
)
def test_worked_examples(
    tmp_path: Path, transport: str, framing: str, frame_bytes: int, payload_bytes: int
) -> None:
    packets = packets_of_flows(view_of_of_packets(tmp_path, transport, [], framing=framing))
    assert {(each.frame_bytes, each.payload_bytes) for each in packets.values()} == {
        (frame_bytes, payload_bytes)
    }


def test_packets_of_groups_with_different_transports(tmp_path: Path) -> None:
    """If one group has telemetry, all RDMA packets have room for it, and TCP packets do not."""
    traffic: list[dict[str, object]] = [
        {"name": "rdma", "transport": None},
        {"name": "other", "transport": "dctcp"},
    ]
    packets = packets_of_flows(view_of_of_packets(tmp_path, "roce+hpcc", traffic))
    assert {flow_id: each.frame_bytes for flow_id, each in packets.items()} == {
        "rdma/h0->h1": 1128,
        "other/h2->h1": 1518,
    }
    traffic[1]["transport"] = "roce"
    packets = packets_of_flows(view_of_of_packets(tmp_path / "again", "roce+hpcc", traffic))
    assert {each.frame_bytes for each in packets.values()} == {1128}


def test_unknown_transport_has_no_packets(tmp_path: Path) -> None:
    assert packets_of_flows(view_of_of_packets(tmp_path, "carrier-pigeon", [])) == {}
