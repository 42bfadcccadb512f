import pytest
from helpers.agent_roles import LIMIT_MS, Stage, play, results

from rogue.agent.core.errors import SettingsError
from rogue.agent.node.messages import Arrivals, Load


def test_what_arrives_over_uc_is_counted_by_interval(stage: Stage) -> None:
    here, there = stage.pair("rogue-uc", sample_interval_ns=1_000_000)
    play(here, there, Load("here", LIMIT_MS, 1_000_000, count=20))
    rows = there.rows("throughput")
    assert results(there).moved_bytes == 20_000_000
    assert len(rows) >= 1
    assert {row["interval_ns"] for row in rows} == {"1000000"}


def test_messages_are_counted(stage: Stage) -> None:
    here, there = stage.pair("roce", verb="send", buffer_bytes=2 * 2**20)
    play(here, there, Load("here", LIMIT_MS, 2 * 2**20))
    received = results(there)
    assert received.facts["delivered_messages"] == 2
    assert (received.status, received.moved_bytes) == ("idle", 2 * 2**20)


def test_the_passive_end_takes_its_part_in_a_recovery(stage: Stage) -> None:
    here, there = stage.pair()
    assert here.introduction.qp_num is not None
    stage.fabric.broken.add(here.introduction.qp_num)
    play(here, there, Load("here", LIMIT_MS, 500_000))
    assert [row["event"] for row in there.rows("events")] == ["reset", "resynchronised"]
    assert "shadow_switch" in [row["event"] for row in here.rows("events")]
    assert results(here).status == "ok"


@pytest.mark.parametrize("transport", ["rogue", "roce"])
@pytest.mark.parametrize("verb", ["write", "send"])
def test_the_last_verb_of_a_transfer_says_that_it_has_arrived(
    stage: Stage, transport: str, verb: str
) -> None:
    here, there = stage.pair(transport, verb=verb, buffer_bytes=4 * 2**20, tells=["arrival"])
    here.role.handle(Arrivals("here", LIMIT_MS, [[0, 150_000], [0, 1], [5_000_000, 65_536]]))
    play(here, there, None)
    rows = there.rows("arrivals")
    assert [row["transfer_id"] for row in rows] == ["1", "2", "3"]
    starts = [int(row["start_ns"]) for row in here.rows("transfers")]
    assert all(start < int(row["arrived_ns"]) for start, row in zip(starts, rows, strict=True))
    assert results(here).status == "ok"


def test_each_arrives_once_when_it_is_sent_again(stage: Stage) -> None:
    """The shadow queue pair repeats what was not acknowledged, of which some may have arrived."""
    here, there = stage.pair(tells=["arrival"])
    assert here.introduction.qp_num is not None
    here.role.handle(Arrivals("here", LIMIT_MS, [[0, 100_000]] * 5))
    stage.fabric.broken.add(here.introduction.qp_num)
    play(here, there, None)
    assert [row["transfer_id"] for row in there.rows("arrivals")] == ["1", "2", "3", "4", "5"]
    assert results(there).facts["mistakes"] == 0


def test_what_cannot_tell_of_arrivals_is_refused(stage: Stage) -> None:
    with pytest.raises(SettingsError, match=r"tells.*expected nothing, but of WRITEs and SENDs over RC"):
        stage.pair("rogue-uc", tells=["arrival"])
    with pytest.raises(SettingsError, match="tells"):
        stage.pair("rogue", verb="read", tells=["arrival"])
