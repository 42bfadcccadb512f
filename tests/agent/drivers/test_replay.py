"""Recorded connections repeat identically, and all drivers use the same inputs."""

import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import get_args

import pytest
from helpers.fake_nic import PS_PER_S, FakeDriver, FakeNic
from helpers.fake_verbs import EVENT_FILE, fake_pyverbs
from helpers.fake_verbs_network import Fabric
from helpers.hostile_network import SEAL
from helpers.verbs_ends import scene

from rogue.agent.core.actions import RETRY_EXC_ERR, SUCCESS, Completion, PostSend, TransferDone
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import NicError, PeerError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Resynced, encode
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.transports import TRANSPORTS, settings_for
from rogue.agent.drivers import simulated
from rogue.agent.drivers.replay import RecordedConnection, ReplayError, replay
from rogue.agent.drivers.verbs import completion_queue
from rogue.simulator import CX3PRO, Simulation

LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
NOW = HostNs(1000)


def recorded_run(transport: str, instruments: Instruments = NO_INSTRUMENTS, **overrides: object) -> str:
    """A tenth of a second over the fake NIC, with transfers of all sizes."""
    rng = random.Random(1)

    def acknowledgements(number: int) -> int | None:
        return None if number % 50 == 7 else 3000

    settings = settings_for(transport, LINK.line_rate_bps, overrides)
    log = io.StringIO()
    connection = RecordedConnection(settings, LINK, 1, log=log, tracing=True, instruments=instruments)
    nic = FakeNic(
        LINK,
        rtt_ps=lambda at_ps: 50_000_000 + at_ps // 40 % 50_000_000,
        offset_ns=rng.randrange(10**12),
        drift_ppm=-30,
        lag_bytes=lambda: rng.randrange(160_001),
        acknowledgements=acknowledgements if settings.has_batch_acknowledgements else None,
    )

    def repeat(done: TransferDone) -> None:
        connection.submit(Transfer(done.transfer_id + 1, rng.choice([0, 1000, 100_000, 5_000_000])))

    connection.submit(Transfer(1, 1_000_000))
    FakeDriver(connection, nic, repeat).run_until(PS_PER_S // 10)
    return log.getvalue()


@pytest.mark.parametrize("transport", sorted(TRANSPORTS))
def test_a_replay_gives_the_recorded_actions(transport: str) -> None:
    assert replay(recorded_run(transport).splitlines()) > 200


def test_a_replay_repeats_the_readings_of_instruments() -> None:
    rng = random.Random(3)
    text = recorded_run("rogue", Instruments(random=rng.random), rtt_noise_ns=40_000)
    assert replay(text.splitlines()) > 200


def recovering() -> tuple[RecordedConnection, io.StringIO]:
    """A queue pair that fails, the reply about it, and garbage that is refused."""
    log = io.StringIO()
    settings = settings_for("rogue", LINK.line_rate_bps, {})
    connection = RecordedConnection(
        settings, LINK, 3, log=log, peer=Peer(LINK, 13, QueuePairNumbers(4, 14), SEAL)
    )
    connection.submit(Transfer(1, 100_000, verb="read"))
    for action in connection.actions():
        if isinstance(action, PostSend):
            connection.on_posted(action.wr_id, NicNs(7))
    connection.on_completions(NOW, [((1 << 56) + 1, RETRY_EXC_ERR, NicNs(9), 0, None)])
    connection.actions()
    with pytest.raises(PeerError):
        connection.on_peer_message(b"noise")
    connection.on_peer_message(encode(Resynced(1), SEAL))
    connection.actions()
    with pytest.raises(NicError):
        connection.on_posted(99, NicNs(0))
    return connection, log


def test_a_recovery_and_a_late_rate_are_replayed() -> None:
    connection, log = recovering()
    assert replay(log.getvalue().splitlines()) == 8
    connection.on_rate_set(None)
    connection.on_rate_set(2_000_000_000)
    connection.submit(Transfer(9, 65_536))
    connection.actions()
    assert '["on_rate_set",[null],[],null]' in log.getvalue()
    replay(log.getvalue().splitlines())


def test_a_different_or_unrecorded_action_is_an_error_with_its_line() -> None:
    lines = recovering()[1].getvalue().splitlines()
    number = next(index for index, line in enumerate(lines) if line.startswith('["actions"'))
    different = [*lines]
    different[number] = json.dumps(["actions", json.loads(lines[number])[1][:-1]])
    with pytest.raises(ReplayError, match="recorded was") as caught:
        replay(different)
    assert caught.value.line == number + 1
    with pytest.raises(ReplayError, match=r"but now it is .*SwitchToShadow"):
        replay([line for line in lines if not line.startswith('["actions"')])


def test_another_behaviour_is_seen() -> None:
    """The recorded connection had alpha 2; one with alpha 50 never rests."""
    first, *lines = recorded_run("rogue").splitlines()
    header = json.loads(first)
    header["settings"]["cc_parameters"]["alpha_packets"] = 50.0
    with pytest.raises(ReplayError):
        replay([json.dumps(header), *lines])


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "not the beginning"),
        (["{}"], "not the beginning"),
        (["{"], "not JSON"),
        (["[1]"], "not the beginning"),
    ],
)
def test_an_invalid_log_is_an_error(lines: list[str], words: str) -> None:
    with pytest.raises(ReplayError, match=words):
        replay(lines)


def test_an_unknown_input_is_an_error() -> None:
    header = recovering()[1].getvalue().splitlines()[0]
    actions = recovering()[1].getvalue().splitlines()[2]
    with pytest.raises(ReplayError, match="no connection has"):
        replay([header, '["actions",[["SetRate",1769600000]]]', '["on_lunch",[],[],null]', actions])


RATE_BPS = 10**10
MTU_BYTES = 1024
SIZE_BYTES = 12 * 65_536
START = HostNs(1_000)
SECOND_NS = 10**9
INPUTS = [
    "submit",
    "on_posted",
    "on_post_refused",
    "on_rate_set",
    "on_completions",
    "on_qp_error",
    "on_timer",
]
# The entry of a completion queue: our field, and what verbs call it.
IBV_WC = {"wr_id": int, "status": int, "completion_ts": int, "byte_len": int, "imm_data": int | None}
ECHOES = {"on_rate_set", "on_qp_error", "on_timer"}
"""They depend on the limiter, and on when an error is noticed."""
Recorded = list[tuple[str, tuple[object, ...]]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Every input that any connection gets from here on."""
    inputs: Recorded = []

    def recorder(name: str) -> Callable[..., object]:
        original = getattr(Connection, name)

        def record(self: Connection, *arguments: object) -> object:
            inputs.append((name, arguments))
            return original(self, *arguments)

        return record

    for name in INPUTS:
        monkeypatch.setattr(Connection, name, recorder(name))
    return inputs


def run_simulated(*, is_failing: bool) -> None:
    """One transfer over a simulated NIC; a link that loses everything makes the queue pair fail."""
    simulation = Simulation(seed=3)
    for host in ("a", "b"):
        simulation.add_host(host, CX3PRO)
    loss = 0.999_999 if is_failing else 0.0
    simulation.add_link("a", "b", rate_bps=RATE_BPS, delay_ps=10**6, loss_probability=loss)
    settings = settings_for("rogue", RATE_BPS, {})
    queue_pair, _ = simulation.connect("a", "b", mtu_bytes=MTU_BYTES, retry_count=1, timeout_exponent=8)
    flow = simulated.SimulatedFlow(
        simulation,
        queue_pair,
        settings=settings,
        link=LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=CX3PRO.rate_step_bps),
        schedule=Schedule(SIZE_BYTES, START),
        record_rtt=True,
    )
    flow.start()
    simulation.run_until(SECOND_NS)
    assert flow.transfers[0].status == ("error" if is_failing else "ok")


@pytest.fixture
def event_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)


def run_verbs(*, is_failing: bool) -> None:
    """One transfer over verbs whose completions are read as the event loop reads them."""
    fabric = Fabric(verbs_left=3 if is_failing else 1 << 30)
    with ExitStack() as stack:
        verbs = scene(stack, fake_pyverbs(fabric), fabric)
        verbs.follow(Schedule(SIZE_BYTES, START))
        verbs.run()
        assert verbs.log.ended["error" if is_failing else "ok"] == 1


RUNS = {"simulated": run_simulated, "verbs": run_verbs}


def completions_in(recorded: Recorded) -> Iterator[tuple[object, ...]]:
    for name, arguments in recorded:
        if name == "on_completions":
            _now, entries = arguments
            assert type(entries) is list
            yield from entries


def shapes_of(recorded: Recorded) -> set[tuple[str, ...]]:
    """Each input's name and the exact types of its arguments."""
    return {(name, *(type(argument).__name__ for argument in arguments)) for name, arguments in recorded}


def test_a_completion_is_a_selection_of_ibv_wc() -> None:
    fields = tuple(int if each is NicNs else each for each in get_args(Completion))
    assert fields == tuple(IBV_WC.values())


@pytest.mark.usefixtures("event_file")
@pytest.mark.parametrize("is_failing", [False, True], ids=["whole", "failing"])
def test_both_drivers_pass_the_same_kinds_of_inputs(recorded: Recorded, is_failing: bool) -> None:
    shapes = {}
    for driver, run in RUNS.items():
        recorded.clear()
        run(is_failing=is_failing)
        entries = list(completions_in(recorded))
        assert any(entry[1] != SUCCESS for entry in entries) is is_failing
        for entry in entries:
            assert type(entry) is tuple, "a subclass could carry more than its fields"
            assert [type(value) for value in entry[:4]] == [int] * 4
            assert entry[4] is None or type(entry[4]) is int
        shapes[driver] = {shape for shape in shapes_of(recorded) if shape[0] not in ECHOES}
    assert shapes["simulated"] == shapes["verbs"]
    assert ("on_completions", "int", "list") in shapes["simulated"]
    assert ("on_posted", "int", "int") in shapes["simulated"]


def test_the_simulated_nic_stamps_by_its_own_clock(recorded: Recorded) -> None:
    run_simulated(is_failing=False)
    for name, arguments in recorded:
        if name == "on_completions":
            now, entries = arguments
            assert isinstance(entries, list)
            assert all(entry[2] != now for entry in entries), "host time in place of the NIC's"
