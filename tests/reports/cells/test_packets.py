"""Which packets a flow's transport has."""

from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.tiny_run import cell, transfer

from rogue.reports.cells.bottleneck import packets_of_flows
from rogue.reports.cells.view import CellView
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def view_of(directory: Path, transport: str, traffic: list[dict[str, object]], **facts: object) -> CellView:
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
    packets = packets_of_flows(view_of(tmp_path, transport, [], framing=framing))
    assert {(each.frame_bytes, each.payload_bytes) for each in packets.values()} == {
        (frame_bytes, payload_bytes)
    }


def test_groups_have_transports_of_their_own(tmp_path: Path) -> None:
    """Where one group has telemetry, the packets of all RDMA have room for it; TCP's have not."""
    traffic: list[dict[str, object]] = [
        {"name": "rdma", "transport": None},
        {"name": "other", "transport": "dctcp"},
    ]
    packets = packets_of_flows(view_of(tmp_path, "roce+hpcc", traffic))
    assert {flow_id: each.frame_bytes for flow_id, each in packets.items()} == {
        "rdma/h0->h1": 1128,
        "other/h2->h1": 1518,
    }
    traffic[1]["transport"] = "roce"
    packets = packets_of_flows(view_of(tmp_path / "again", "roce+hpcc", traffic))
    assert {each.frame_bytes for each in packets.values()} == {1128}


def test_a_transport_that_nobody_knows_has_no_packets(tmp_path: Path) -> None:
    assert packets_of_flows(view_of(tmp_path, "carrier-pigeon", [])) == {}
