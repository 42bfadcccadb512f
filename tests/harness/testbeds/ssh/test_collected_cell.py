"""What comes of a cell."""

from collections.abc import Callable
from dataclasses import replace

from helpers.fake_agents import FakeAgent, fake_inventory, gone, prepared

from rogue.agent.node.messages import Message, Prepare, Result, Results, Stop
from rogue.harness.testbeds.base import CellResult, Failure
from rogue.harness.testbeds.ssh.nodes import close_nodes
from rogue.workloads.records import FailureKind

Run = Callable[..., CellResult]


def test_memories_that_differ_are_no_result(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h3"].sha256 = "cd" * 32
    failure = run().failure
    assert failure is not None
    assert failure.kind is FailureKind.INVALID_RESULT
    assert failure.message.startswith("main/h0->h3: the memories of the two ends differ")


def test_sends_that_went_out_again_lie_elsewhere(run: Run, agents: dict[str, FakeAgent]) -> None:
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


def test_transfers_that_were_cut_off_are_a_timeout(run: Run, agents: dict[str, FakeAgent]) -> None:
    def cut_off(request: Message) -> Message:
        assert isinstance(request, Result)
        return Results(request.role, "unfinished", 0, 10**9, transfers_unfinished=1)

    agents["h0"].replies[Result] = cut_off
    failure = run("time_limit=3s").failure
    assert failure is not None
    assert (failure.kind, failure.message[:45]) == (
        FailureKind.TIMEOUT, "1 of 2 flows were not done after 3 seconds; r",
    )  # fmt: skip


def test_a_role_that_failed_loses_no_table_of_the_others(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h0"].replies[Result] = lambda request: gone(request, "verbs", "flow0-requester", "ENOMEM")
    result = run()
    assert result.failure == Failure(FailureKind.VERBS, "h0, role flow0-requester: ENOMEM")
    assert result.tables["flows"]["flow_id"] == ["main/h1->h3"]
    assert {"cpu", "counters"} <= set(result.tables)
    assert isinstance(agents["h0"].asked[-1], Stop), "nobody knows what state the agents are in"


def test_what_is_hardware_is_a_fact(run: Run, agents: dict[str, FakeAgent]) -> None:
    facts = run().facts
    assert (facts["nic_is_hardware"], facts["nic_profile"]) == (False, None)
    assert "nic_firmware" not in facts
    card: dict[str, object] = {"device": "rxe0", "driver": "mlx4_core", "hca_type": "MT4103"}
    card |= {"firmware": "2.42.5000", "pcie": "8.0 GT/s PCIe x8"}
    for agent in agents.values():
        agent.capabilities = replace(agent.capabilities, ports=[card])
    close_nodes(fake_inventory())
    facts = run().facts
    assert (facts["nic_is_hardware"], facts["nic_profile"]) == (True, "cx3pro")
    assert facts["nic"] == "rxe0, ConnectX-3 Pro, driver mlx4_core (hardware)"
    assert (facts["nic_firmware"], facts["nic_pcie"]) == ("2.42.5000", "8.0 GT/s PCIe x8")
    assert "nic_accelerations" not in facts, "a ConnectX-3 has none"


def test_where_the_sender_s_agent_ran_is_a_fact(run: Run, agents: dict[str, FakeAgent]) -> None:
    assert "agent_processors" not in run().facts
    for agent in agents.values():
        agent.replies[Prepare] = lambda request: replace(prepared(request.role), processors="0,1")
    assert run().facts["agent_processors"] == "0,1"


def test_what_a_connection_was_told_is_kept_for_replay(run: Run, agents: dict[str, FakeAgent]) -> None:
    agents["h0"].files["flow0-requester"]["inputs"] = b"{}"
    result = run("transports=[{name: rogue, record_inputs: true}]")
    assert result.raw["flow0-requester.inputs"] == b"{}"
    assert result.facts["inputs_recorded"] is True


def test_what_goes_up_and_down_in_tcp_is_a_fact(run: Run, agents: dict[str, FakeAgent]) -> None:
    def told(request: Message) -> Message:
        assert isinstance(request, Result)
        facts: dict[str, object] = {"cwnd_packets": 12, "rtt_ns": 3_000_000, "sent_bytes": 7}
        return Results(request.role, "ok", 0, 10**9, transfers_ok=1, facts=facts)

    agents["h0"].replies[Result] = told
    facts = run("transports=[dctcp]").facts
    assert (facts["tcp_cwnd_packets"], facts["tcp_rtt_ns"]) == (12, 3_000_000)
    assert "tcp_sent_bytes" not in facts
