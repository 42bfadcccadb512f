"""The conductor with real agents of this computer: TCP over loopback, no network to build."""

import csv
import json
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.agent_roles import GID

from rogue.agent.drivers.netlink import QueueReading
from rogue.agent.drivers.poller import ExactPoller
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.node import conductor, serve
from rogue.agent.node.capabilities import capabilities
from rogue.agent.node.conductor import conduct, run
from rogue.agent.node.fields import AgentError, MessageError
from rogue.agent.node.messages import After, Arrivals, Capabilities, Load, Message, Prepare, Results
from rogue.agent.node.orders import (
    ACCOUNT,
    COUNTS,
    FILES,
    ORDERS,
    REACHED,
    SAMPLES,
    Account,
    Command,
    Orders,
    RoleOrder,
    TimedCommand,
)
from rogue.agent.node.role import NodeContext
from rogue.agent.node.serve import KnownNode
from rogue.agent.node.stillness import Stillness, sleep_until_motion
from rogue.agent.node.wire import encode

LIMIT_MS = 30_000
SIZE_BYTES = 100_000
PORTS = {"here": "lo"}


def role(end: str, peer: str, offset_ns: int = 0) -> RoleOrder:
    prepare = Prepare(
        f"flow0-{end}", LIMIT_MS, end, "127.0.0.1", "reno", SIZE_BYTES, sample_interval_ns=1_000_000
    )  # type: ignore[arg-type]
    loads = [encode(Load(f"flow0-{end}", LIMIT_MS, SIZE_BYTES)).decode()] if end == "requester" else []
    lines = encode(prepare).decode(), loads
    return RoleOrder(f"flow0-{end}", end, f"flow0-{peer}", *lines, offset_ns, 10**9, 0)


def conducted(
    folder: Path,
    first: str = "true",
    offset_ns: int = 0,
    hung_after_ns: int = 20 * 10**9,
    ports: dict[str, str] = PORTS,
) -> Account:
    roles = [role("requester", "responder", offset_ns), role("responder", "requester")]
    cut = TimedCommand(0, Command(["echo", "cut"]), "lo 0")
    clock = {"clock": Command(["cat", "/proc/uptime"])}
    limits = 1, 1_000_000, 1, LIMIT_MS, hung_after_ns
    orders = Orders([Command([first])], roles, ports, *limits, [cut], clock)
    (folder / ORDERS).write_text(orders.text())
    conduct(folder)
    return Account.read((folder / ACCOUNT).read_text())


def test_a_transfer_from_orders_to_account(tmp_path: Path) -> None:
    account = conducted(tmp_path)
    assert account.failure is None
    assert account.results["flow0-requester"].moved_bytes == SIZE_BYTES
    assert account.start_ns is not None and account.kernel
    assert "ok" in (tmp_path / FILES / "flow0-requester.transfers").read_text()
    counts = json.loads((tmp_path / COUNTS).read_text())
    assert counts["meanwhile"] == {"lo 0": "cut\n"}, "the timed command"
    assert float(counts["before"]["clock"].split()[0]) <= float(counts["after"]["clock"].split()[0])
    head, first = (tmp_path / SAMPLES).read_text().splitlines()[:2]
    assert (head, first[:5]) == ("port,t_ns,bytes,drops,marks,sent_packets,repeats", "here,")


def test_sampling_pauses_while_nothing_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first sample until the flow has ended, whose packets do not wake it here."""

    def sleep(agents: list[int], limit_ns: int) -> bool:
        return bool(select.select(agents, (), (), limit_ns / 1e9)[0])

    monkeypatch.setattr(conductor, "STILL_AFTER_NS", 0)
    monkeypatch.setattr(conductor, "_JUST_NOW_NS", 200_000_000)
    monkeypatch.setattr(conductor, "sleep_until_motion", sleep)
    assert conducted(tmp_path, offset_ns=1_000_000_000).failure is None
    assert max(int(line.rpartition(",")[2]) for line in (tmp_path / SAMPLES).read_text().split()[1:]) > 10


def test_without_ports_nothing_is_sampled(tmp_path: Path) -> None:
    account = conducted(tmp_path, ports={})
    assert account.results["flow0-requester"].moved_bytes == SIZE_BYTES
    assert (tmp_path / SAMPLES).read_text() == "port,t_ns,bytes,drops,marks,sent_packets,repeats\n"
    assert json.loads((tmp_path / COUNTS).read_text())["meanwhile"] == {"lo 0": "cut\n"}


def test_a_failed_command_is_in_the_account(tmp_path: Path) -> None:
    account = conducted(tmp_path, first="false")
    assert (account.start_ns, account.failure_kind) == (None, "configuration")
    assert account.failure == "false: exit code 1"


def test_an_invalid_message_is_in_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.encode", lambda _message: b'{"type": "dance"}')
    account = conducted(tmp_path)
    assert account.failure_kind == "protocol"
    assert account.failure is not None and account.failure.startswith("the orders: type: got 'dance'")


def test_a_folder_without_room_is_in_the_account(tmp_path: Path) -> None:
    (tmp_path / SAMPLES).mkdir()
    account = conducted(tmp_path)
    assert account.failure_kind == "out_of_space"
    assert account.failure == f"the conductor: {tmp_path / SAMPLES}: Is a directory"


def test_a_role_that_does_not_end_has_hung(tmp_path: Path) -> None:
    account = conducted(tmp_path, offset_ns=60 * 10**9, hung_after_ns=1)
    assert account.failure_kind == "timeout"
    assert account.failure == "flow0-requester did not end in its time"


def test_progress_is_reported(tmp_path: Path) -> None:
    conducted(tmp_path, offset_ns=3_000_000)
    assert int((tmp_path / REACHED).read_text()) >= 1_000_000
    assert not list(tmp_path.glob("*.new"))


def test_many_roles_have_several_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conductor, "ROLES_MAX", 1)
    account = conducted(tmp_path)
    assert account.results["flow0-requester"].moved_bytes == SIZE_BYTES
    assert len(list(tmp_path.glob("agent*.log"))) == 2


def test_a_failed_program_is_an_error_with_its_output() -> None:
    with pytest.raises(AgentError, match="ls -- /nowhere: ls: "):
        run(Command(["ls", "--", "/nowhere"]))


def test_flows_that_share_limiters_have_one_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    def order(number: int, address: str, turns: list[int]) -> RoleOrder:
        request = Prepare(f"flow{number}", LIMIT_MS, "requester", address, "rogue", 100, turns=turns)
        return RoleOrder(f"flow{number}", "requester", "", encode(request).decode(), [], 0, 1, 0)

    monkeypatch.setattr(conductor, "ROLES_MAX", 3)
    roles = [order(number, f"10.0.0.{number % 3}", [1, 2] if number % 3 else []) for number in range(9)]
    agents = conductor._agents(roles)
    assert len({agents[f"flow{number}"] for number in (1, 4, 7)}) == 1
    assert len({agents[f"flow{number}"] for number in (2, 5, 8)}) == 1
    assert set(agents.values()) == {0, 1, 2}
    words = r"4 ends of flows at 10\.0\.0\.1 share limiters, or wait for each other, and an agent has 3 roles"
    with pytest.raises(AgentError, match=words):
        conductor._agents([*roles, order(10, "10.0.0.1", [1, 2])])


def waiting_roles(responders_peer: str) -> list[RoleOrder]:
    """Two flows there and back; the second waits for the first one's arrival at 127.0.0.2, and 5 ms."""
    addresses = {
        "flow0-requester": "127.0.0.1", "flow0-responder": "127.0.0.2",
        "flow1-requester": "127.0.0.2", "flow1-responder": "127.0.0.1",
    }  # fmt: skip
    peers = {"flow0-responder": responders_peer}
    orders = []
    for name, address in addresses.items():
        flow, _, end = name.partition("-")
        prepare = Prepare(name, LIMIT_MS, end, address, "reno", SIZE_BYTES, tells=["arrival"])  # type: ignore[arg-type]
        loads: list[Message] = [Arrivals(name, LIMIT_MS, [[0, SIZE_BYTES]])] if end == "requester" else []
        if name == "flow1-requester":
            loads.append(After(name, LIMIT_MS, "flow0-responder", "arrival", [[0, 0, 5_000_000]]))
        other = peers.get(name, f"{flow}-{'requester' if end == 'responder' else 'responder'}")
        lines = encode(prepare).decode(), [encode(load).decode() for load in loads]
        orders.append(RoleOrder(name, end, other, *lines, 0, 20 * 10**9, 0))
    return orders


def waited(folder: Path, responders_peer: str) -> tuple[Account, dict[str, list[dict[str, str]]]]:
    orders = Orders([], waiting_roles(responders_peer), {}, 1, 1_000_000, 10**9, LIMIT_MS, 30 * 10**9)
    (folder / ORDERS).write_text(orders.text())
    conduct(folder)
    files = {
        path.name: list(csv.DictReader(path.read_text().splitlines())) for path in (folder / FILES).glob("*")
    }
    return Account.read((folder / ACCOUNT).read_text()), files


def test_a_transfer_waits_for_an_arrival_at_its_host(tmp_path: Path) -> None:
    account, files = waited(tmp_path, "flow0-requester")
    assert account.failure is None
    assert account.results["flow1-requester"].transfers_ok == 1
    (second,) = files["flow1-requester.transfers"]
    (arrival,) = files["flow0-responder.arrivals"]
    assert int(second["start_ns"]) >= int(arrival["arrived_ns"]) + 5_000_000
    assert (second["waited_for_role"], second["waited_for_transfer"]) == ("flow0-responder", "1")


def test_no_transfer_waits_for_a_failed_flow(tmp_path: Path) -> None:
    """The responder expects another address and refuses the first flow; the second does not wait for 20 s."""
    account, files = waited(tmp_path, "flow1-requester")
    assert account.results["flow0-requester"].status == "error"
    assert account.results["flow1-requester"].status == "ok"
    assert account.results["flow1-requester"].end_ns - account.results["flow0-requester"].end_ns < 10**10
    assert files["flow0-responder.arrivals"] == []


ROOT = Path(__file__).parents[3]


def test_a_node_is_inspected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = [PortAddress("rxe-h0", 1, 1, GID, 10**10, "h0")]
    monkeypatch.setattr(serve, "roce_ports", lambda *, is_fresh: ports if is_fresh else [])
    monkeypatch.setattr("rogue.agent.node.capabilities.output_of", lambda command: pytest.fail(command[0]))
    known = KnownNode.found()
    assert known.ports is ports
    assert isinstance(known.capabilities, Capabilities)
    assert [port["device"] for port in known.capabilities.ports] == ["rxe-h0"]


def test_the_timer_slack_is_minimal() -> None:
    """In a separate process, because the setting is permanent."""
    code = """
import ctypes
from rogue.agent.node.serve import be_exact
be_exact()
print(ctypes.CDLL(None).prctl(30, 0, 0, 0, 0))  # PR_GET_TIMERSLACK
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT)
    assert done.stdout == b"1\n"


def test_a_role_gets_the_known_ports_and_the_virtual_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[NodeContext] = []

    class Idle:
        def __init__(self, _source: int, _sink: int, context: NodeContext, _open_end: object) -> None:
            found.append(context)

        def serve(self) -> int:
            return 7

    monkeypatch.setattr(serve, "DataProcess", Idle)
    ports = [PortAddress("rxe-h0", 1, 1, GID, 10**10, "h0")]
    assert serve.work(KnownNode(ports, capabilities(known=ports)), "flow0-requester", tmp_path, 0, 1) == 7
    (context,) = found
    assert context.ports is ports
    assert isinstance(context.poller, ExactPoller)
    assert context.clock() == context.stamp() == context.clock()


LONG_NS = 60 * 10**9


def test_stillness_is_reached_after_a_time_without_changes() -> None:
    """A packet that only passes through leaves nothing waiting, and is counted as sent."""
    stillness = Stillness(after_ns=10)
    one, other = {"p": QueueReading(sent_packets=1)}, {"p": QueueReading(sent_packets=2)}
    found = [
        stillness.is_reached(*each) for each in ((one, 0), (one, 9), (one, 10), (other, 11), (other, 21))
    ]
    assert found == [False, False, True, False, True]


def test_without_permission_to_see_packets_there_is_no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> socket.socket:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refuse)
    assert sleep_until_motion([], LONG_NS) is False


def test_a_packet_or_a_message_ends_the_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root there is no packet socket: one end of a pair stands for it."""
    for moving in (True, False):
        tap, network = socket.socketpair()
        with network, monkeypatch.context() as patched:
            patched.setattr(socket, "socket", lambda *_, tap=tap: tap)
            reader, writer = os.pipe()
            network.send(b"packet") if moving else os.write(writer, b"word")
            assert sleep_until_motion([reader], LONG_NS) is True
            assert tap.fileno() == -1, "closed again, because it copies every packet"
            os.close(reader)
            os.close(writer)


ROLE = RoleOrder("flow0-requester", "requester", "flow0-responder", "{}", ["{}"], 5, 10, 0)


def test_orders_are_read_as_written() -> None:
    down, show = Command(["ip", "link", "set", "dev", "p0b", "down"]), Command(["tc", "-s", "qdisc", "show"])
    timed = [TimedCommand(5, show, "p0b 0"), TimedCommand(5, down)]
    first = Command(["tc", "-batch", "-"], "qdisc")
    orders = Orders([first], [ROLE], {"s0->h0": "p0b"}, 3, 1, 2, 3, 4, timed, {"all": show})
    assert Orders.read(orders.text()) == orders


def test_an_account_is_read_as_written() -> None:
    account = Account(start_ns=7, results={"flow0-requester": Results("flow0-requester", "ok", 1, 2)})
    assert Account.read(account.text()) == account
    assert Account.read(Account("timeout", "late").text()).failure == "late"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "account: got '', expected JSON"),
        ("[]", r"account: got \[\], expected an object"),
        ('{"start": 1}', "account: unknown fields 'start'"),
        ('{"start_ns": "now"}', "account.start_ns: got 'now', expected an integer"),
        ('{"failure_kind": "war"}', "account.failure_kind: got 'war'"),
        ('{"results": {"flow0": []}}', "account.results: got .*, expected an object with a Results"),
        ('{"results": {"flow0": {}}}', "account.results.flow0: missing fields"),
    ],
)
def test_an_invalid_account_is_an_error_with_its_field(text: str, words: str) -> None:
    with pytest.raises(MessageError, match=words):
        Account.read(text)
