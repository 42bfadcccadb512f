from helpers.agent_roles import LIMIT_MS, Stage, play, results

from rogue.agent.node.messages import Load


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
