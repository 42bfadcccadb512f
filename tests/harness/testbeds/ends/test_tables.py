"""Tests: build the record tables from the files of the nodes, and judge each flow."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.experiments import cell_of

from rogue.agent.core.actions import RttSample
from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.recording import TRANSFER_COLUMNS as TRANSFERS_WRITTEN
from rogue.agent.drivers.recording import ThroughputSample
from rogue.agent.node.messages import Results
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.results.tables import encode, to_arrow
from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.harness.testbeds.ends.roles import NodeFlow, plan_roles
from rogue.harness.testbeds.ends.tables import (
    ENDS,
    Conducted,
    Readings,
    collect_tables,
    failure_of,
    node_counters,
)
from rogue.harness.testbeds.ends.tables import TRANSFER_COLUMNS as TRANSFERS_READ
from rogue.harness.testbeds.transfer_tables import flows_table, plain_yardstick
from rogue.workloads.records import FailureKind, FlowRow, RttRow, ThroughputRow

T = 10**12
TRANSFERS = b"""\
transfer_id,size_bytes,start_ns,end_ns,status,error,retransmitted_bytes
1,1000000,1000000000000,1000100000000,ok,,
2,1000000,1000100000000,,unfinished,,4096
"""
PROBES = b"""\
transfer_id,size_bytes,start_ns,end_ns,status,error,retransmitted_bytes,is_sent
1,0,2000000000000,2000000700000,ok,,,1
2,0,2000100000000,,unfinished,,,1
3,0,2000200000000,,error,,,0
"""
THROUGHPUT = b"""\
t_ns,interval_ns,delivered_bytes,cwnd_over_rtt_bps,limiter_bps
1001000000000,1000000000,1250000,,
1002000000000,1000000000,2500000,9.5e6,20000000
"""
RTT = b"""\
t_ns,wr_id,rtt_ns,base_rtt_ns,cwnd_packets,limiter_bps,accepted,reason,overruled
1000500000000,7,12000000,10000000,21.5,20000000,1,accepted,1
1000600000000,8,12000000,10000000,21.5,,0,hold_off,0
"""
CONTROL = b"t_ns,name,value\n1000500000000,cwnd_packets,21.5\n1000500000000,alpha,0.25\n"
EVENTS = b"t_ns,event,detail\n1000700000000,qp_failed,queue pair 20\n1000600000000,reset,queue pair 20\n"
COUNTERS = b"name,before,after\nsent_pkts,%d,%d\n"


def readings(tmp_path: Path, files: dict[str, dict[str, bytes]], *settings: str) -> tuple[Cell, Readings]:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", "workload.repeat_for=2s", *settings)
    flows = plan_roles(cell)
    roles = [flow.role(end) for flow in flows for end in ("requester", "responder")]  # type: ignore[arg-type]
    hosts = {flow.role("requester"): flow.host("requester") for flow in flows}
    everything = {role: files.get(role, {}) for role in roles}
    own = {"h0": T, "h1": T, "h2": 2 * T, "h3": 5 * T}
    results = {role: Results(role, "ok", 0, own[host] + 10**9) for role, host in hosts.items()}
    return cell, Readings(flows, Conducted(0, {}, results, everything), own)


@pytest.mark.parametrize(
    ("written", "row"),
    [(RttSample, RttRow), (ThroughputSample, ThroughputRow)],
)
def test_sample_fields_are_table_columns(written: type[NamedTuple], row: type[NamedTuple]) -> None:
    assert set(written._fields) <= set(row._fields)


def test_transfer_columns_are_in_files_and_in_the_table() -> None:
    read = {column.name for column in TRANSFERS_READ}
    assert read | {"waited_for_transfer"} == set(FlowRow._fields) & set(TRANSFERS_WRITTEN)
    assert {"transfer_id", "size_bytes", "start_ns", "end_ns", "status", "error"} <= set(TRANSFERS_WRITTEN)


def test_transfers(tmp_path: Path) -> None:
    cell, read = readings(tmp_path, {"flow0-requester": {"transfers": TRANSFERS}})
    first, second = to_arrow("flows", collect_tables(cell, read)["flows"]).to_pylist()
    assert (first["flow_id"], first["transport"], first["service"]) == ("main/h0->h3", "rogue", "rc")
    assert (first["start_ns"], first["end_ns"], first["fct_ns"]) == (0, 10**8, 10**8)
    assert first["goodput_bps"] == 80_000_000
    assert first["slowdown"] == pytest.approx(1e8 / first["ideal_fct_ns"])
    assert (second["status"], second["fct_ns"], second["retransmitted_bytes"]) == ("unfinished", None, 4096)


def test_throughput_is_read_at_the_end_that_sees_it(tmp_path: Path) -> None:
    own_end = readings(tmp_path, {"flow0-requester": {"throughput": THROUGHPUT}})
    rows = to_arrow("throughput", collect_tables(*own_end)["throughput"]).to_pylist()
    assert [(row["t_ns"], row["goodput_bps"], row["limiter_bps"]) for row in rows] == [
        (10**9, 10e6, None), (2 * 10**9, 20e6, 20_000_000),
    ]  # fmt: skip
    there = THROUGHPUT.replace(b"\n100", b"\n500")
    both = {"flow0-requester": {"throughput": THROUGHPUT}, "flow0-responder": {"throughput": there}}
    table = collect_tables(*readings(tmp_path, both, "transports=[roce-uc]"))["throughput"]
    assert (table["t_ns"], table["delivered_bytes"]) == ([10**9, 2 * 10**9], [1_250_000, 2_500_000])
    unseen = {"flow0-requester": {"throughput": THROUGHPUT}}
    assert "throughput" not in collect_tables(*readings(tmp_path, unseen, "transports=[roce-uc]"))


def test_probes_fill_the_latency_table_only(tmp_path: Path) -> None:
    cell, read = readings(tmp_path, {"probe-requester": {"transfers": PROBES}})
    tables = collect_tables(cell, read)
    probing = {"group": "probe", "service": "rc"}
    assert to_arrow("latency", tables["latency"]).to_pylist() == [
        {"src": "h2", "dst": "h3", "t_ns": 0, "rtt_ns": 700_000, "status": "ok", **probing},
        {"src": "h2", "dst": "h3", "t_ns": 10**8, "rtt_ns": None, "status": "unfinished", **probing},
    ]
    assert tables["flows"]["flow_id"] == []


def test_rtt_samples_and_sorted_events(tmp_path: Path) -> None:
    cell, read = readings(tmp_path, {"flow1-requester": {"rtt": RTT, "events": EVENTS}})
    tables = collect_tables(cell, read)
    rows = to_arrow("rtt", tables["rtt"]).to_pylist()
    assert [(row["t_ns"], row["accepted"], row["reason"]) for row in rows] == [
        (500_000_000, True, "accepted"), (600_000_000, False, "hold_off"),
    ]  # fmt: skip
    assert rows[0]["true_rtt_ns"] is None
    assert [row["overruled"] for row in rows] == [True, False]
    assert tables["events"]["event"] == ["reset", "qp_failed"]
    assert set(encode(tables)) == {"flows.parquet", "events.parquet", "rtt.parquet"}


def test_control_metrics(tmp_path: Path) -> None:
    files = {"flow1-requester": {"control": CONTROL}}
    table = collect_tables(*readings(tmp_path, files, "measure=[control]"))["control"]
    of_flow = {"flow_id": "main/h1->h3", "t_ns": 5 * 10**8}
    assert to_arrow("control", table).to_pylist() == [
        {**of_flow, "name": "cwnd_packets", "value": 21.5},
        {**of_flow, "name": "alpha", "value": 0.25},
    ]
    assert "control" not in collect_tables(*readings(tmp_path, files))


def test_faults_before_the_end_are_events(tmp_path: Path) -> None:
    cut = "faults=[{kind: link_cut, at: 650ms, target: h0, duration: 500ms}]"
    tables = collect_tables(*readings(tmp_path, {"flow1-requester": {"events": EVENTS}}, cut))
    assert tables["events"]["event"] == ["reset", "link_cut", "qp_failed"]


def test_counters_of_a_shared_nic_span_all_roles(tmp_path: Path) -> None:
    files = {
        "flow0-responder": {"counters": COUNTERS % (10, 50)},
        "flow1-responder": {"counters": COUNTERS % (12, 60)},
    }
    _, read = readings(tmp_path, files)
    assert node_counters(read) == [("h3", "", "sent_pkts", 10, 60)]


def test_counters_of_connections_are_summed_by_host(tmp_path: Path) -> None:
    """h3 serves two; each connection counts for itself, from 0."""
    tcp = b"name,before,after\ntcp_retransmitted_packets,0,%d\n"
    files = {
        "flow0-responder": {"counters": tcp % 3},
        "flow1-responder": {"counters": tcp % 4},
        "flow1-requester": {"counters": tcp % 9},
    }
    _, read = readings(tmp_path, files, "transports=[dctcp]")
    assert node_counters(read) == [
        ("h1", "", "tcp_retransmitted_packets", 0, 9), ("h3", "", "tcp_retransmitted_packets", 0, 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "file",
    [TRANSFERS.replace(b"1000000,", b"many,"), TRANSFERS.replace(b"size_bytes", b"bytes"), b"\xff\xfe"],
)
def test_damaged_role_file_is_an_invalid_result(tmp_path: Path, file: bytes) -> None:
    cell, read = readings(tmp_path, {"flow0-requester": {"transfers": file}})
    with pytest.raises(TestbedError, match="a file of the agent's makes no sense") as caught:
        collect_tables(cell, read)
    assert caught.value.kind is FailureKind.INVALID_RESULT


def test_arrivals_are_read_by_the_receivers_clock(tmp_path: Path) -> None:
    """From h0 to h1, whose clocks differ by 4 * T; the first waited for the second of another flow."""
    ring = "workload={kind: collective, hosts: 3, size: 3KB}"
    cell = cell_of(tmp_path, ring, "probe=null")
    flows = plan_roles(cell)
    head, *lines = TRANSFERS.decode().splitlines()
    text = f"{head},waited_for_role,waited_for_transfer\n{lines[0]},flow2-responder,2\n{lines[1]},,\n"
    files = {
        "flow0-requester": {"transfers": text.encode()},
        "flow0-responder": {"arrivals": b"transfer_id,arrived_ns\n1,5000099000000\n"},
    }
    results = {flow.role("requester"): Results(flow.role("requester"), "ok", 0, T) for flow in flows}
    read = Readings(flows, Conducted(0, {}, results, files), {"h0": T, "h1": 5 * T, "h2": T})
    first, second = to_arrow("flows", collect_tables(cell, read)["flows"]).to_pylist()
    assert (first["arrived_ns"], second["arrived_ns"]) == (99_000_000, None)
    assert (first["waited_for_flow"], first["waited_for_transfer"]) == ("main/h2->h0", 2)
    assert (second["waited_for_flow"], second["waited_for_transfer"]) == (None, None)


def results_of(flows: list[NodeFlow], **of_first: object) -> dict[str, Results]:
    """Every transfer arrived; the first requester may say something else."""
    results = {
        flow.role(end): Results(flow.role(end), "ok", 0, 1, transfers_ok=1, sha256="a" * 64)
        for flow in flows
        for end in ENDS
    }
    results["flow0-requester"] = Results("flow0-requester", "ok", 0, 1, **{"sha256": "a" * 64, **of_first})  # type: ignore[arg-type]
    return results


def test_unreliable_connection_may_lose_bytes(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[rogue-uc]")
    flows = plan_roles(cell)
    assert failure_of(cell, flows, results_of(flows, transfers_ok=1, sha256="b" * 64)) is None


@pytest.mark.parametrize("beside", ["", ", {name: finite, workload: {kind: ping, size: 1KB}}"])
@pytest.mark.parametrize(
    "workload",
    [
        "{kind: incast, senders: 2, size: 1MB, repeat_for: 5ms}",
        "{kind: poisson, size: 1MB, load: 1, arrive_for: 5ms}",
    ],
)
def test_timed_traffic_is_never_late(tmp_path: Path, workload: str, beside: str) -> None:
    groups = f"traffic=[{{name: timed, workload: {workload}}}{beside}]"
    flows = plan_roles(cell := cell_of(tmp_path, "workload=null", groups))
    assert failure_of(cell, flows, results_of(flows, transfers_unfinished=1)) is None


def transfers_table(tmp_path: Path, transport: str, *transfers: TransferRecord) -> Columns:
    """Return the table of transfers of the first flow."""
    cell = cell_of(tmp_path, f"transports=[{transport}]", "probe=null")
    planned = PlannedFlow(cell.groups[0], cell.groups[0].flows[0])
    return flows_table([(planned, each) for each in transfers], partial(plain_yardstick, cell))


def test_flow_row_is_derived_from_a_transfer(tmp_path: Path) -> None:
    whole = TransferRecord(1, 1_000_000, HostNs(500), HostNs(2_000_500), "ok", retransmitted_bytes=7)
    half = TransferRecord(2, 1_000_000, HostNs(900), HostNs(950), "error", "RETRY_EXC_ERR")
    table = transfers_table(tmp_path, "{name: rogue, label: ours}", whole, half)
    assert list(table["fct_ns"]) == [2_000_000, None]
    assert list(table["goodput_bps"]) == [4e9, None]
    assert list(table["slowdown"]) == [pytest.approx(2e6 / table["ideal_fct_ns"][0]), None]
    assert (table["group"][0], table["transport"][0], table["service"][0]) == ("main", "ours", "rc")
    assert list(table["error"]) == [None, "RETRY_EXC_ERR"]


def test_ideal_time_of_tcp_uses_its_own_packets(tmp_path: Path) -> None:
    table = transfers_table(tmp_path, "dctcp", TransferRecord(1, 100_000, HostNs(0)))
    # 68 full segments, the first twice, a last one of 720 bytes, and an ACK twice; 4 us of delay
    assert table["ideal_fct_ns"][0] == 4_000 + int((69 * 1538 + 720 + 78 + 2 * 84) * 0.8)
