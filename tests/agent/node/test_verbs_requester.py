"""Tests: the requesting and the responding end over real verbs."""

import hashlib
import json
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from helpers.agent_roles import LIMIT_MS, Actor, Stage, play, results

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError, SettingsError
from rogue.agent.core.limiter import Claim
from rogue.agent.drivers.limiters import LIMITERS
from rogue.agent.drivers.limiters.client import GRANT, REVOKE, WELCOME
from rogue.agent.drivers.limiters.software import SoftwareLimiter
from rogue.agent.drivers.replay import replay
from rogue.agent.node import data_process
from rogue.agent.node.messages import Connect, Load, Prepare, Start
from rogue.agent.node.processes import listener_at
from rogue.agent.node.role import RoleState

REQUEST, IDLE, RETURN, RETURN_AND_REQUEST = (claim.value for claim in Claim)
PREPARE = Prepare("here", LIMIT_MS, "requester", "10.9.0.1", "rogue", 1_000_000)


@pytest.mark.parametrize("transport", ["rogue", "roce", "rogue-uc", "roce-uc"])
def test_transfers_of_every_transport_complete(stage: Stage, transport: str) -> None:
    here, there = stage.pair(transport, buffer_bytes=2 * 2**20, fill_seed=7)
    play(here, there, Load("here", LIMIT_MS, 2 * 2**20, count=3))
    sent, received = results(here, checksum=True), results(there, checksum=True)
    assert (sent.status, sent.transfers_ok, sent.error, received.status) == ("ok", 3, None, "idle")
    assert sent.sha256 == received.sha256 != hashlib.sha256(bytes(2 * 2**20)).hexdigest()
    moved = received.moved_bytes if transport.endswith("uc") else sent.moved_bytes
    assert moved == 3 * 2 * 2**20
    assert {"posting_ns", "deciding_ns", "polling_ns", "rearming_ns"} < set(sent.spent)
    assert [row["name"] for row in here.rows("counters")] == ["sent_pkts"]


@pytest.mark.parametrize(
    ("transport", "options"), [("rogue", {"record_rtt": False}), ("roce", {"record_control": True})]
)
def test_samples_are_recorded_on_request_if_there_are_any(
    stage: Stage, transport: str, options: dict[str, bool]
) -> None:
    here, there = stage.pair(transport, **options)
    play(here, there, Load("here", LIMIT_MS, 10 * 65_536))
    assert not {"rtt", "control"} & here.workplace.spool.paths.keys()
    assert results(here).status == "ok"


def test_metrics_of_the_control_are_recorded_on_request(stage: Stage) -> None:
    here, there = stage.pair(record_control=True)
    play(here, there, Load("here", LIMIT_MS, 10 * 65_536))
    assert {row["name"] for row in here.rows("control")} >= {"cwnd_packets", "base_rtt_ns"}
    assert len(here.rows("control")) % len(here.rows("rtt")) == 0


def test_a_log_of_the_inputs_replays_to_identical_actions(stage: Stage) -> None:
    here, there = stage.pair(record_inputs=True)
    stage.fabric.verbs_left = 20
    play(here, there, Load("here", LIMIT_MS, 10 * 65_536, count=5), run_ns=50_000_000)
    here.workplace.spool.flush()
    with here.workplace.spool.paths["inputs"].open() as log:
        assert replay(log) > 20


def test_a_lost_queue_pair_is_a_result_and_not_an_error(stage: Stage) -> None:
    here, there = stage.pair("roce")
    stage.fabric.verbs_left = 0
    play(here, there, Load("here", LIMIT_MS, 65_536))
    sent = results(here)
    assert (sent.status, sent.error) == ("error", "IBV_WC_RETRY_EXC_ERR")
    assert [row["event"] for row in here.rows("events")] == ["qp_failed"]


def test_a_transfer_may_be_larger_than_the_memory_but_a_verb_may_not(stage: Stage) -> None:
    here, there = stage.pair(buffer_bytes=4 * 65_536 + 5)
    play(here, there, Load("here", LIMIT_MS, 1_000_000))
    assert results(here).moved_bytes == 1_000_000
    small, _ = stage.pair(buffer_bytes=4_096)
    small.role.handle(Load("here", LIMIT_MS, 1_000_000))
    with pytest.raises(SettingsError, match="size_bytes: got 1000000, expected at most 4096"):
        small.role.handle(Start("here", LIMIT_MS, 1, 1_000_000))


def test_reads_are_for_reliable_connections_only(stage: Stage) -> None:
    here, there = stage.pair(verb="read")
    play(here, there, Load("here", LIMIT_MS, 300_000))
    assert results(here).status == "ok"
    with pytest.raises(SettingsError, match="an unreliable connection has no READ"):
        stage.pair("rogue-uc", verb="read")


def test_completions_after_the_end_are_ignored(stage: Stage) -> None:
    here, there = stage.pair()
    play(here, there, Load("here", LIMIT_MS, 2**30, count=None), run_ns=3_000_000)
    before = results(here)
    for _ in range(100):
        here.turn()
    after = results(here)
    assert (after.verbs, after.moved_bytes) == (before.verbs, before.moved_bytes)
    assert before.transfers_unfinished == 1


def limited(stage: Stage) -> tuple[Actor, Actor]:
    """A flow whose window asks for 1 MB per 20 ms, which software has to hold back."""
    parameters = {"cc": "vegas", "base_rtt_floor_ns": 20_000_000, "hold_off_bytes": 0}
    options = {"limiter": "software", "priority": 2, "line_rate_bps": 10**9, "mtu_bytes": 1024}
    return stage.pair(parameters=parameters, **options)


def test_a_limiter_in_software_holds_verbs_back(stage: Stage) -> None:
    here, there = limited(stage)
    play(here, there, Load("here", LIMIT_MS, 10 * 65_536), run_ns=60 * 10**9, turns_max=10**6)
    sent = results(here, checksum=True)
    assert (sent.status, sent.sha256) == ("ok", results(there, checksum=True).sha256)
    first_bps = int(here.rows("limiter")[0]["effective_bps"])
    assert sent.end_ns - sent.start_ns > 2 * 65_536 * 8 * 10**9 / first_bps


def test_held_verbs_of_a_failed_queue_pair_are_posted_again(stage: Stage) -> None:
    here, there = limited(stage)
    assert here.introduction.qp_num is not None
    stage.fabric.broken.add(here.introduction.qp_num)
    play(here, there, Load("here", LIMIT_MS, 10 * 65_536), run_ns=60 * 10**9, turns_max=10**6)
    assert results(here).status == "ok"
    assert "shadow_switch" in [row["event"] for row in here.rows("events")]


class BehindLimiter(SoftwareLimiter):
    """Holds packets back that the device has called sent."""

    is_behind_device = True

    def release_ns(self, now: HostNs, wire_bytes: int) -> HostNs:
        return now


@pytest.mark.parametrize(("transport", "is_dated"), [("rogue-uc", True), ("rogue", False)])
def test_over_uc_a_batch_departs_when_the_limiter_behind_the_device_has_sent_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, transport: str, *, is_dated: bool
) -> None:
    """64 packets of 1024 bytes take more than half a millisecond at 1 Gb/s, and are called sent at once."""
    monkeypatch.setitem(LIMITERS, "htb", BehindLimiter)
    options = {"limiter": "htb", "priority": 2, "line_rate_bps": 10**9, "mtu_bytes": 1024}
    here, there = stage.pair(transport, record_inputs=True, **options)
    play(here, there, Load("here", LIMIT_MS, 10 * 65_536))
    here.workplace.spool.flush()
    log = [json.loads(line) for line in here.workplace.spool.paths["inputs"].read_text().splitlines()[1:]]
    posted_ns = next(arguments[1] for name, arguments, *_ in log if name == "on_posted")
    (_, _, left_ns, *_), *_ = next(arguments[1] for name, arguments, *_ in log if name == "on_completions")
    assert (left_ns - posted_ns > 65_536 * 8) is is_dated


def test_completions_may_be_polled_without_pause(stage: Stage) -> None:
    here, there = stage.pair(completions="polling")
    assert (here.introduction.completions, here.introduction.clock) == ("polling", "host")
    play(here, there, Load("here", LIMIT_MS, 1_000_000, count=3))
    sent = results(here)
    assert (sent.status, sent.transfers_ok, sent.spent["events"]) == ("ok", 3, 0)


class LentLimiter(SoftwareLimiter):
    """Holds nothing back, and can be lent; `used` are its priorities."""

    used: ClassVar[list[int]] = []
    settled: ClassVar[bool] = True

    @property
    def is_settled(self) -> bool:
        return self.settled

    def use(self, priority: int) -> None:
        self.used.append(priority)

    def release_ns(self, now: HostNs, wire_bytes: int) -> HostNs:
        return now


class Server:
    """The limiter server's end of a flow's connection."""

    def __init__(self, place: Path) -> None:
        self.received: list[bytes] = []
        self._listener = listener_at(place)
        self._flow: socket.socket | None = None

    def greet(self) -> None:
        self._flow, _ = self._listener.accept()
        self._flow.setblocking(False)
        self._flow.send(WELCOME)

    def send(self, message: bytes) -> None:
        assert self._flow is not None
        self._flow.send(message)

    def messages(self) -> list[bytes]:
        """Return all messages of the flow so far; an empty one is its end."""
        assert self._flow is not None
        while True:
            try:
                self.received.append(self._flow.recv(100))
            except BlockingIOError:
                return self.received
            if not self.received[-1]:
                return self.received

    def close(self) -> None:
        if self._flow is not None:
            self._flow.close()
        self._listener.close()


@pytest.fixture
def turning(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Actor, Actor, Server]]:
    """A flow that takes turns, its peer, and the limiter server."""
    monkeypatch.setitem(LIMITERS, "htb", LentLimiter)
    monkeypatch.setattr(LentLimiter, "used", [])
    with tempfile.TemporaryDirectory(prefix="turns-") as place:
        monkeypatch.setattr(data_process, "socket_of", lambda _directory, _address: Path(place) / "turns")
        with closing(Server(Path(place) / "turns")) as server, ThreadPoolExecutor(1) as greeting:
            there = stage.enter(replace(PREPARE, role="there", end="responder"))
            greeting.submit(server.greet)
            here = stage.enter(replace(PREPARE, limiter="htb", priority=1, turns=[1, 2]))
            there.role.handle(Connect("there", LIMIT_MS, here.introduction))
            here.role.handle(Connect("here", LIMIT_MS, there.introduction))
            here.role.handle(Load("here", LIMIT_MS, 40 * 65_536))
            yield here, there, server


def start(here: Actor, there: Actor) -> None:
    for actor, name in ((there, "there"), (here, "here")):
        actor.role.handle(Start(name, LIMIT_MS, 1_000_000, 10**12))


def go_round(here: Actor, there: Actor, turns: int = 200) -> None:
    for _ in range(turns):
        here.turn()
        there.turn()


def test_a_flow_posts_only_in_its_turns_and_moves_its_queue_pairs(
    turning: tuple[Actor, Actor, Server], stage: Stage
) -> None:
    here, there, server = turning
    start(here, there)
    while here.role.state is not RoleState.RUNNING:
        here.turn()
    go_round(here, there)
    assert server.messages() == [REQUEST]
    assert stage.fabric.verbs_left == 1 << 30, "nothing was posted"
    server.send(GRANT + b"2")
    go_round(here, there, 3)
    server.send(REVOKE)
    go_round(here, there)
    assert server.messages() == [REQUEST, RETURN_AND_REQUEST]
    posted = (1 << 30) - stage.fabric.verbs_left
    assert 0 < posted < 40
    server.send(GRANT + b"1")
    go_round(here, there, 2_000)
    assert here.role.state is RoleState.FINISHED
    assert server.messages() == [REQUEST, RETURN_AND_REQUEST, IDLE, RETURN, b""], "and it has left"
    assert LentLimiter.used == [2, 1]
    assert results(here).status == "ok"
    assert [row["event"] for row in here.rows("events")] == ["turn", "turn_over", "turn", "turn_over"]


def owing_a_rate(here: Actor, there: Actor, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Move everything while the limiter does not say that it has the last rate."""
    monkeypatch.setattr(LentLimiter, "settled", False)
    start(here, there)
    while not server.messages():
        here.turn()
    server.send(GRANT + b"2")
    go_round(here, there, 2_000)
    assert here.role.state is RoleState.FINISHED
    assert server.messages() == [REQUEST, IDLE]


def test_a_finished_flow_leaves_when_its_last_rate_is_effective(
    turning: tuple[Actor, Actor, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there, server = turning
    owing_a_rate(here, there, server, monkeypatch)
    monkeypatch.setattr(LentLimiter, "settled", True)
    go_round(here, there, 2)
    assert server.messages() == [REQUEST, IDLE, RETURN, b""]


def test_a_finished_flow_needs_no_server(
    turning: tuple[Actor, Actor, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there, server = turning
    owing_a_rate(here, there, server, monkeypatch)
    server.close()
    monkeypatch.setattr(LentLimiter, "settled", True)
    go_round(here, there, 2)
    assert results(here).status == "ok"


def test_a_flow_fails_without_its_server(turning: tuple[Actor, Actor, Server]) -> None:
    here, there, server = turning
    start(here, there)
    while not server.messages():
        here.turn()
    server.close()
    with pytest.raises(LimiterError, match=r"shared limiters: (lost )?the server"):
        go_round(here, there)
    here.role.fail(LimiterError("the server has ended"))


def test_a_failed_flow_disconnects(turning: tuple[Actor, Actor, Server]) -> None:
    here, there, server = turning
    start(here, there)
    while not server.messages():
        here.turn()
    server.send(GRANT + b"2")
    go_round(here, there, 3)
    here.role.fail(SettingsError("anything", 0, "something else"))
    assert server.messages() == [REQUEST, b""]
