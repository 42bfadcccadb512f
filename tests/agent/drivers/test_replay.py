"""Same inputs, same actions: recorded lives, fed to fresh connections."""

import io
import json
import random

import pytest
from helpers.fake_nic import PS_PER_S, FakeDriver, FakeNic
from helpers.hostile_network import SEAL

from rogue.agent.core.actions import RETRY_EXC_ERR, PostSend, TransferDone
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.errors import NicError, PeerError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Resynced, encode
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.transports import TRANSPORTS, settings_for
from rogue.agent.drivers.replay import RecordedConnection, ReplayError, replay

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
def test_a_recorded_run_gives_the_same_actions_again(transport: str) -> None:
    assert replay(recorded_run(transport).splitlines()) > 200


def test_what_instruments_said_is_said_again() -> None:
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


def test_a_recovery_with_datagrams_and_refusals_is_repeated() -> None:
    assert replay(recovering()[1].getvalue().splitlines()) == 8


def test_a_rate_that_acts_later_is_repeated() -> None:
    connection, log = recovering()
    connection.on_rate_set(None)
    connection.on_rate_set(2_000_000_000)
    connection.submit(Transfer(9, 65_536))
    connection.actions()
    assert '["on_rate_set",[null],[],null]' in log.getvalue()
    replay(log.getvalue().splitlines())


def changed(text: str, line: int, change: object) -> list[str]:
    lines = text.splitlines()
    entry = json.loads(lines[line])
    assert callable(change)
    lines[line] = json.dumps(change(entry))
    return lines


def test_another_action_than_recorded_is_told_with_its_line() -> None:
    text = recovering()[1].getvalue()
    number = next(index for index, line in enumerate(text.splitlines()) if line.startswith('["actions"'))
    lines = changed(text, number, lambda entry: ["actions", entry[1][:-1]])
    with pytest.raises(ReplayError, match="recorded was") as caught:
        replay(lines)
    assert caught.value.line == number + 1


def test_actions_that_were_not_recorded_are_told() -> None:
    lines = [line for line in recovering()[1].getvalue().splitlines() if not line.startswith('["actions"')]
    with pytest.raises(ReplayError, match=r"but now it is .*SwitchToShadow"):
        replay(lines)


def test_another_behaviour_is_seen() -> None:
    """The recorded connection had alpha 2; one with alpha 50 never rests."""
    text = recorded_run("rogue")
    lines = changed(
        text,
        0,
        lambda header: {
            **header,
            "settings": {
                **header["settings"],
                "cc_parameters": {**header["settings"]["cc_parameters"], "alpha_packets": 50.0},
            },
        },
    )
    with pytest.raises(ReplayError):
        replay(lines)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "not the beginning"),
        (["{}"], "not the beginning"),
        (["{"], "not JSON"),
        (["[1]"], "not the beginning"),
    ],
)
def test_what_is_no_log_is_refused(lines: list[str], words: str) -> None:
    with pytest.raises(ReplayError, match=words):
        replay(lines)


def test_an_unknown_input_is_refused() -> None:
    header = recovering()[1].getvalue().splitlines()[0]
    actions = recovering()[1].getvalue().splitlines()[2]
    with pytest.raises(ReplayError, match="no connection has"):
        replay([header, '["actions",[["SetRate",1769600000]]]', '["on_lunch",[],[],null]', actions])
