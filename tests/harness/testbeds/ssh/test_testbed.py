"""Test the SSH testbed from the plan to the tables."""

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from helpers.fake_agents import DOOL, FakeAgent, fake_inventory, gone, prepared
from helpers.fake_switch import hardware, wanted
from helpers.roce_bytes import frame_of, ipv4, transport

from rogue.agent.node.messages import EndRole, Heartbeat, Message, Prepare, Result, Results, Stop, Watch
from rogue.harness.provisioning.findings import Finding
from rogue.harness.results.tables import encode
from rogue.harness.testbeds.base import CellResult, Failure, TestbedError
from rogue.harness.testbeds.ssh import SshTestbed, testbed
from rogue.harness.testbeds.ssh.nodes import close_nodes
from rogue.workloads.records import FailureKind

Run = Callable[..., CellResult]


def test_from_the_plan_to_the_tables(run: Run) -> None:
    result = run()
    assert result.failure is None
    assert set(encode(result.tables)) == {
        "flows.parquet", "events.parquet", "counters.parquet", "cpu.parquet",
    }  # fmt: skip
    assert result.tables["flows"]["flow_id"] == ["main/h0->h3", "main/h1->h3"]
    sent = zip(result.tables["counters"]["port"], result.tables["counters"]["before"], strict=True)
    assert ("s0->h3", 1000) in list(sent)
    assert result.facts["bottleneck_port"] == "s0->h3"
    assert result.facts["nic"] == "rxe0 (software)"
    assert result.facts["rate_limiter"] == "tc htb (software)"
    assert result.facts["timestamps"] == "the host's clock (software)"
    assert result.raw["flow0-requester.log"] == b"all is well"
    assert json.loads(result.raw["capabilities.json"])["h0"]["pyverbs"] == "44.0"


def test_role_that_does_not_end_restarts_agents_and_keeps_the_result(
    run: Run, agents: dict[str, FakeAgent]
) -> None:
    agents["h1"].replies[EndRole] = lambda request: gone(request, "timeout", "flow1-requester", "hangs")
    assert run().failure is None
    assert isinstance(agents["h0"].requests[-1], Stop)


def test_nodes_without_our_own_switch(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        testbed, "load_inventory", lambda _path, is_trusted: replace(fake_inventory(), switch=None)
    )
    result = run()
    assert result.failure is None
    assert result.facts["switch"] == "not set up by this project"
    assert "not ours" in result.not_measured["queues"]
    assert result.tables["counters"]["node"] == []
    assert "flows.parquet" in encode(result.tables)


def test_settings_not_compared_are_a_fact(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rack = replace(fake_inventory(), switch=None, hardware_switches=(hardware(wanted("declared"), None),))
    monkeypatch.setattr(testbed, "load_inventory", lambda _path, is_trusted: rack)
    facts = run().facts
    assert facts["switches_not_compared"] == "nothing of tor was read back: it has no login"
    assert "switches_differ" not in facts


def test_logs_of_data_processes_are_kept(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h2"].left = {
        "flow1-responder.log": b"warning", "flow0-responder.log": b"",
        "flow1-responder-counters.csv": b"name", "flow9-requester.log": b"of another cell",
    }  # fmt: skip
    raw = run().raw
    assert raw["flow1-responder.log"] == b"warning"
    assert not {"flow0-responder.log", "flow9-requester.log", "flow1-responder-counters.csv"} & set(raw)


def test_aborted_cell_keeps_results_of_other_flows(run: Run, agents: dict[str, FakeAgent]) -> None:
    """h1 falls silent; the flow of h0 has ended, and the responder of h1's is asked what it saw."""
    agents["h1"].replies[Heartbeat] = lambda request: gone(request, "bug", "flow1-requester", "it broke")
    agents["h1"].left = {"flow1-requester.log": b"Traceback", "flow1-requester-rtt.csv": b"t_ns"}
    result = run()
    assert result.failure is not None
    assert result.failure.message == "h1, role flow1-requester: it broke"
    assert result.tables["flows"]["flow_id"] == ["main/h0->h3"]
    assert result.raw["h0.dool.csv"] == DOOL
    assert ("s0->h3", 2000) in zip(
        result.tables["counters"]["port"], result.tables["counters"]["after"], strict=True
    )
    assert set(encode(result.tables)) >= {"flows.parquet", "counters.parquet"}
    assert (result.raw["flow1-requester.log"], result.raw["flow1-requester-rtt.csv"]) == (
        b"Traceback",
        b"t_ns",
    )
    assert set(json.loads(result.raw["results.json"])) >= {"flow0-requester", "flow1-responder"}
    assert isinstance(agents["h0"].requests[-1], Stop)


def test_unreadable_file_loses_no_other(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h2"].left = {"flow0-responder.log": b"secret", "flow1-responder.log": b"warning"}
    agents["h2"].unreadable = {"flow0-responder.log"}
    raw = run().raw
    assert raw["flow1-responder.log"] == b"warning"
    assert "flow0-responder.log" not in raw


def test_lost_node_is_asked_only_once(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h1"].replies[Heartbeat] = lambda _request: None
    failure = run().failure
    assert failure is not None
    assert failure.kind is FailureKind.NODE_LOST
    assert (agents["h1"].listings, agents["h0"].listings) == (0, 1)


def test_cell_that_never_starts_keeps_logs_and_all_failures(run: Run, agents: dict[str, FakeAgent]) -> None:
    """All failures are reported, not only that of the first node."""
    for host, flow in (("h0", "flow0"), ("h1", "flow1")):
        agents[host].replies[Prepare] = partial(
            gone, kind="verbs", role=f"{flow}-requester", text="no device"
        )
        agents[host].left = {f"{flow}-requester.log": b"libibverbs: nothing"}
    result = run()
    assert result.failure is not None
    assert result.failure.kind is FailureKind.VERBS
    assert result.failure.message == (
        "h0, role flow0-requester: no device; h1, role flow1-requester: no device"
    )
    assert result.tables == {}
    assert result.raw["flow1-requester.log"] == b"libibverbs: nothing"
    assert "capabilities.json" in result.raw


def test_obstacles_are_the_doctors_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused, warned = (Finding("h0", "MTU of eth1", "1", "2", "do", refuses) for refuses in (True, False))
    monkeypatch.setattr(testbed, "load_inventory", lambda _path, is_trusted: fake_inventory())
    monkeypatch.setattr(testbed, "examine", lambda *_: [refused, warned])
    assert SshTestbed("virtual", tmp_path).obstacles() == [str(refused)]


def test_differing_memories_are_an_invalid_result(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h3"].sha256 = "cd" * 32
    failure = run().failure
    assert failure is not None
    assert failure.kind is FailureKind.INVALID_RESULT
    assert failure.message.startswith("main/h0->h3: the memories of the two ends differ")


def test_memories_are_not_compared_after_resent_sends(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h3"].sha256 = "cd" * 32
    send = "workload.verb=send"
    failure = run(send).failure
    assert failure is not None

    def sent_again(request: Message) -> Message:
        assert isinstance(request, Result)
        sha256 = agents["h0"].sha256
        return Results(request.role, "ok", 0, 1, transfers_ok=1, sha256=sha256, facts={"again_bytes": 65_536})

    for name in ("h0", "h1"):
        agents[name].replies[Result] = sent_again
    assert run(send).failure is None


def test_unfinished_transfers_are_a_timeout(run: Run, agents: dict[str, FakeAgent]) -> None:
    def cut_off(request: Message) -> Message:
        assert isinstance(request, Result)
        return Results(request.role, "unfinished", 0, 10**9, transfers_unfinished=1)

    agents["h0"].replies[Result] = cut_off
    failure = run("time_limit=3s").failure
    assert failure is not None
    assert (failure.kind, failure.message[:45]) == (
        FailureKind.TIMEOUT, "1 of 2 flows were not done after 3 seconds; r",
    )  # fmt: skip


def test_failed_role_loses_no_table_of_other_roles(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h0"].replies[Result] = lambda request: gone(request, "verbs", "flow0-requester", "ENOMEM")
    result = run()
    assert result.failure == Failure(FailureKind.VERBS, "h0, role flow0-requester: ENOMEM")
    assert result.tables["flows"]["flow_id"] == ["main/h1->h3"]
    assert {"cpu", "counters"} <= set(result.tables)
    assert isinstance(agents["h0"].requests[-1], Stop), "the state of the agents is unknown"


def test_hardware_of_a_card_is_in_the_facts(run: Run, agents: dict[str, FakeAgent]) -> None:
    facts = run().facts
    assert (facts["nic_is_hardware"], facts["nic_profile"]) == (False, None)
    assert "nic_firmware" not in facts
    card: dict[str, object] = {"device": "rxe0", "driver": "mlx4_core", "hca_type": "MT4103"}
    card |= {"firmware": "2.42.5000", "pcie": "8.0 GT/s PCIe x8"}
    card |= {"offloads": "TSO on, GRO on, LRO off", "interrupt_moderation": "adaptive-rx on, rx-usecs 16"}
    for agent in agents.values():
        agent.capabilities = replace(agent.capabilities, ports=[card], idle_states="POLL 0 us, C1 2 us")
    close_nodes(fake_inventory())
    facts = run().facts
    assert (facts["nic_is_hardware"], facts["nic_profile"]) == (True, "cx3pro")
    assert facts["nic"] == "rxe0, ConnectX-3 Pro, driver mlx4_core (hardware)"
    assert (facts["nic_firmware"], facts["nic_pcie"]) == ("2.42.5000", "8.0 GT/s PCIe x8")
    assert (facts["nic_offloads"], facts["node_idle_states"]) == (
        "TSO on, GRO on, LRO off",
        "POLL 0 us, C1 2 us",
    )
    assert facts["nic_interrupt_moderation"] == "adaptive-rx on, rx-usecs 16"
    assert "nic_accelerations" not in facts, "a ConnectX-3 has none"


def test_processors_of_the_agent_are_a_fact(run: Run, agents: dict[str, FakeAgent]) -> None:
    assert "agent_processors" not in run().facts
    for agent in agents.values():
        agent.replies[Prepare] = lambda request: replace(prepared(request.role), processors="0,1")
    assert run().facts["agent_processors"] == "0,1"


def test_recorded_inputs_are_kept_for_replay(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h0"].files["flow0-requester"]["inputs"] = b"{}"
    result = run("transports=[{name: rogue, record_inputs: true}]")
    assert result.raw["flow0-requester.inputs"] == b"{}"
    assert result.facts["inputs_recorded"] is True


def test_tcp_gauges_are_facts(run: Run, agents: dict[str, FakeAgent]) -> None:
    def with_facts(request: Message) -> Message:
        assert isinstance(request, Result)
        facts: dict[str, object] = {"cwnd_packets": 12, "rtt_ns": 3_000_000, "sent_bytes": 7}
        return Results(request.role, "ok", 0, 10**9, transfers_ok=1, facts=facts)

    agents["h0"].replies[Result] = with_facts
    facts = run("transports=[dctcp]").facts
    assert (facts["tcp_cwnd_packets"], facts["tcp_rtt_ns"]) == (12, 3_000_000)
    assert "tcp_sent_bytes" not in facts


DROPPED = "{kind: packet_event, flow: main/h1->h3, psn: 0, do: drop}"
EVENTS = f"faults=[{DROPPED}, {{kind: packet_event, flow: main/h1->h3, psn: 9, do: mark}}]"
FIRST_PSN = 0xFFFFFF


def watched(struck: bytes = b"[[0, 250, 16777215]]") -> dict[str, bytes]:
    """Return the files of a switch that has seen two packets to h3 at h1's port, and passed on one."""
    frames = [
        frame_of(ipv4(transport(0x07, psn=(FIRST_PSN + psn) & 0xFFFFFF, payload=bytes(64)))) for psn in (0, 1)
    ]
    captured = (
        (250, PORTS.index("h1->s0"), frames[0]),
        (300, PORTS.index("h1->s0"), frames[1]),
        (900, PORTS.index("s0->h3"), frames[1]),
    )
    packets = b"".join(struct.pack("<QHH", t_ns, port, len(frame)) + frame for t_ns, port, frame in captured)
    return {"packets": packets, "struck": struck}


PORTS = [port for host in range(4) for port in (f"h{host}->s0", f"s0->h{host}")]


@pytest.fixture
def watching(agents: dict[str, FakeAgent]) -> FakeAgent:
    """A switch machine that has watched packets."""
    switch = agents["fabric"]
    switch.files = {"switch": watched()}

    def results(request: Message) -> Results:
        files: dict[str, object] = {name: f"/tmp/switch/{name}" for name in switch.files["switch"]}
        return Results("switch", "idle", 0, 1, facts={"packets_missed": 3}, files=files)

    switch.replies[Result] = results
    for host, address in (("h1", "10.0.0.1"), ("h3", "10.0.0.2")):
        agents[host].replies[Prepare] = lambda request, address=address: replace(
            prepared(request.role), address=address, psn=FIRST_PSN
        )
    return switch


def test_switch_machine_watches_packets(run: Run, agents: dict[str, FakeAgent], watching: FakeAgent) -> None:
    result = run("measure=[throughput, packets]", EVENTS)
    assert result.failure is None
    columns = ("t_ps", "port", "kind", "flow_id", "psn", "dropped", "reason")
    rows = list(zip(*(result.tables["packets"][name] for name in columns), strict=True))
    assert rows == [
        (250_000, "h1->s0", "write", "main/h1->h3", 0, True, "event"),
        (300_000, "h1->s0", "write", "main/h1->h3", 1, False, None),
        (900_000, "s0->h3", "write", "main/h1->h3", 1, False, None),
    ]
    events = result.tables["events"]
    assert ("main/h1->h3", 250) in zip(events["flow_id"], events["t_ns"], strict=True)
    assert result.facts["packet_events_unmet"] == 1
    assert result.facts["packets_missed"] == 3
    kinds = [type(request).__name__ for request in watching.requests]
    assert [kind for kind in kinds if kind != "Clock"] == ["Hello", "Watch", "Start", "Result", "EndRole"]
    orders = json.loads("".join(request.part for request in watching.requests if isinstance(request, Watch)))
    assert orders["packet_events"][0]["first_psns"] == {"17": FIRST_PSN}
    assert list(orders["capture"]["ports"]) == PORTS


def test_switch_machine_is_left_alone_by_cells_that_watch_nothing(
    run: Run, agents: dict[str, FakeAgent]
) -> None:
    assert run().failure is None
    assert agents["fabric"].requests == []


@pytest.mark.parametrize("struck", [b"[[0, 250]]", b"["])
def test_damaged_files_of_a_switch_fail_the_cell(run: Run, watching: FakeAgent, struck: bytes) -> None:
    watching.files = {"switch": watched(struck)}
    failure = run("measure=[throughput, packets]", EVENTS).failure
    assert failure is not None
    assert failure.kind is FailureKind.INVALID_RESULT
    assert failure.message.startswith("fabric: its packets are damaged")


def test_switch_that_reports_an_unknown_event_is_damaged(run: Run, watching: FakeAgent) -> None:
    watching.files = {"switch": watched(b"[[7, 250, 1]]")}
    with pytest.raises(TestbedError, match="fabric: its packets are damaged"):
        run("measure=[throughput, packets]", EVENTS)
