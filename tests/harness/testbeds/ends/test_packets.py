"""The table of packets, from what switches captured."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.roce_bytes import aeth, frame_of, ipv4, transport

from rogue.agent.node.capture import CapturedPacket
from rogue.agent.node.messages import Prepared
from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.ends.packets import Recorded, Struck, capture_order, packets_table
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.kernel.network import cell_ports, port_interfaces
from rogue.workloads.records import PacketRow

FIRST_PSN = 0xFFFFFF
TEXT = """\
name: captured
topology: {kind: star, hosts: 3, rate: 10Gbps, delay: 1us, mtu: 1024, buffer: 9MB, alpha: 1}
workload: {kind: incast, senders: 1, size: 100KB}
transports: [roce]
measure: [packets]
"""
FROM, TO, BACK = "h0->s0", "s0->h2", "h2->s0"


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    return cell_of(tmp_path, text=TEXT)


def data(psn: int) -> bytes:
    """Return a packet from h0 to h2, whose addresses are those of the helper's packets."""
    return frame_of(ipv4(transport(0x07, psn=(FIRST_PSN + psn) & 0xFFFFFF, payload=bytes(1024)), tos=2))


def acknowledgement(psn: int) -> bytes:
    """Return an ACK from h2 to h0."""
    frame = frame_of(ipv4(transport(0x11, psn=(FIRST_PSN + psn) & 0xFFFFFF, extension=aeth(0x1F))))
    to_requester = (16).to_bytes(3, "big")
    return frame[:26] + frame[30:34] + frame[26:30] + frame[34:47] + to_requester + frame[50:]


def rows_of(
    cell: Cell, captured: list[tuple[int, str, bytes]], end_ns: int = 0, struck: tuple[Struck, ...] = ()
) -> list[PacketRow]:
    flows = plan_roles(cell)
    order = capture_order(cell, flows, port_interfaces(cell.topology))
    assert order is not None
    ports = list(order.ports)
    addresses = {"requester": ("10.0.0.1", 16), "responder": ("10.0.0.2", 17)}
    prepared = {
        role.name: Prepared(
            role.name, "rc", address, 10**10, 1024, "host", "event", "none", qp_num=number, psn=psn
        )
        for role in flows[0].roles
        for (address, number), psn in [(addresses[role.end], FIRST_PSN if role.end == "requester" else 99)]
    }
    packets = [CapturedPacket(t_ns, ports.index(port), frame) for t_ns, port, frame in captured]
    recorded = Recorded(packets, ports, cell_ports(cell), end_ns, struck)
    columns = packets_table(cell, flows, prepared, recorded)
    return [PacketRow(*row) for row in zip(*(columns[name] for name in PacketRow._fields), strict=True)]


def test_numbers_count_from_the_first_packet_of_the_flow(cell: Cell) -> None:
    rows = rows_of(
        cell,
        [
            (5, FROM, data(0)),
            (6, FROM, data(1)),
            (9, TO, data(0)),
            (9, TO, data(1)),
            (9, BACK, acknowledgement(0)),
        ],
    )
    assert [(row.t_ps, row.port, row.kind, row.psn) for row in rows] == [
        (5_000, FROM, "write", 0),
        (6_000, FROM, "write", 1),
        (9_000, BACK, "ack", 0),
        (9_000, TO, "write", 0),
        (9_000, TO, "write", 1),
    ]
    assert {(row.flow_id, row.src, row.dst) for row in rows if row.kind == "write"} == {
        ("main/h0->h2", "h0", "h2")
    }
    assert rows[0].flags == "ect"
    assert not any(row.dropped for row in rows)


def test_packet_that_later_ones_overtook_is_lost(cell: Cell) -> None:
    rows = rows_of(cell, [(5, FROM, data(0)), (6, FROM, data(1)), (7, FROM, data(2)), (9, TO, data(1))])
    assert [(row.t_ps, row.port, row.psn, row.reason) for row in rows if row.dropped] == [
        (5_000, TO, 0, "buffer")
    ], "number 2 may be under way"
    late = rows_of(cell, [(5, FROM, data(0))], end_ns=10**12)
    assert [row.psn for row in late if row.dropped] == [0]


def test_struck_packet_is_dropped_at_the_first_switch(cell: Cell) -> None:
    struck = (
        Struck(FROM, 5, FIRST_PSN, "drop"),
        Struck(FROM, 6, (FIRST_PSN + 1) & 0xFFFFFF, "corrupt"),
        Struck(FROM, 7, (FIRST_PSN + 2) & 0xFFFFFF, "mark"),
    )
    captured = [
        (5, FROM, data(0)),
        (6, FROM, data(1)),
        (7, FROM, data(2)),
        (9, TO, data(1)),
        (9, TO, data(2)),
    ]
    rows = rows_of(cell, captured, 10**12, struck)
    assert [(row.port, row.psn, row.reason) for row in rows if row.dropped] == [(FROM, 0, "event")]
    assert [row.psn for row in rows if row.flags and "corrupt" in row.flags] == [1]
    assert [(row.port, row.psn) for row in rows if row.marked] == [(FROM, 2)]


def test_copy_at_another_host_is_a_stray_and_strangers_have_no_flow(cell: Cell) -> None:
    stranger = frame_of(ipv4(transport(0x64, extension=bytes(8))))
    rows = rows_of(cell, [(5, "s0->h1", data(0)), (6, FROM, stranger), (7, FROM, b"no packet of RoCE")])
    assert [(row.kind, row.flow_id) for row in rows] == [
        ("stray", "main/h0->h2"),
        ("datagram", "main/h0->h2"),
    ]
