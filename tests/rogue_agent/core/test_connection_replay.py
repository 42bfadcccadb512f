"""Same inputs, same actions: a recorded run over the fake NIC, fed to a fresh connection."""

import random

import pytest
from helpers.fake_nic import PS_PER_S, FakeDriver, FakeNic

from rogue_agent.core.actions import Action, TransferDone
from rogue_agent.core.connection import Connection
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.segmentation import Transfer
from rogue_agent.core.transports import TRANSPORTS, settings_for

LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
INPUTS = ("submit", "on_posted", "on_rate_set", "on_completions", "on_receives", "on_qp_event", "on_timer")
Log = list[tuple[str, tuple[object, ...]]]


def recorded(connection: Connection, log: Log, actions: list[list[Action]]) -> Connection:
    """Make a connection write down its inputs, and what it hands out."""
    hand_out = connection.actions

    def recording_actions() -> list[Action]:
        log.append(("actions", ()))
        actions.append(hand_out())
        return actions[-1]

    for name in INPUTS:
        setattr(connection, name, recording(name, getattr(connection, name), log))
    connection.actions = recording_actions  # type: ignore[method-assign]
    return connection


def recording(name: str, take: object, log: Log) -> object:
    assert callable(take)

    def take_and_note(*arguments: object) -> None:
        log.append((name, arguments))
        take(*arguments)

    return take_and_note


def replay(connection: Connection, log: Log) -> list[list[Action]]:
    results = [getattr(connection, name)(*arguments) for name, arguments in log]
    return [result for (name, _), result in zip(log, results, strict=True) if name == "actions"]


@pytest.mark.parametrize("transport", sorted(TRANSPORTS))
def test_a_recorded_run_gives_the_same_actions_again(transport: str) -> None:
    rng = random.Random(1)

    def answers(number: int) -> int | None:
        return None if number % 50 == 7 else 3000

    settings = settings_for(transport, LINK.line_rate_bps, {})
    log: Log = []
    actions: list[list[Action]] = []
    connection = recorded(Connection(settings, LINK, 1, tracing=True), log, actions)
    nic = FakeNic(
        LINK,
        rtt_ps=lambda at_ps: 50_000_000 + at_ps // 40 % 50_000_000,
        offset_ns=rng.randrange(10**12),
        drift_ppm=-30,
        lag_bytes=lambda: rng.randrange(160_001),
        answers=answers if settings.is_answered else None,
    )

    def repeat(done: TransferDone) -> None:
        connection.submit(Transfer(done.transfer_id + 1, rng.choice([0, 1000, 100_000, 5_000_000])))

    connection.submit(Transfer(1, 1_000_000))
    FakeDriver(connection, nic, repeat).run_until(PS_PER_S // 10)
    assert len(log) > 500
    assert replay(Connection(settings, LINK, 1, tracing=True), log) == actions
