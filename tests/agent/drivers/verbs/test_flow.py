"""The two ends of a connection over fake verbs."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import pytest
from helpers.fake_verbs_network import Fabric
from helpers.verbs_ends import BUFFER_BYTES, START, Scene, scene

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.verbs.pyverbs import Pyverbs

SEGMENT_BYTES = 65_536


SceneOf = Callable[..., Scene]


@pytest.fixture
def scene_of(stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric) -> SceneOf:
    return partial(scene, stack, pyverbs, fabric)


@pytest.fixture
def rogue(scene_of: SceneOf) -> Scene:
    return scene_of()


@pytest.fixture
def shadowed(scene_of: SceneOf) -> Scene:
    return scene_of(has_shadow=True)


@pytest.fixture
def over_uc(scene_of: SceneOf) -> Scene:
    return scene_of("rogue-uc")


def test_a_transfer_arrives_whole_and_is_reported_once(rogue: Scene) -> None:
    rogue.requester.buffer.fill(7)
    rogue.follow(Schedule(BUFFER_BYTES, START))
    rogue.run()
    assert rogue.responder.buffer.sha256() == rogue.requester.buffer.sha256()
    assert rogue.log.ended == {"ok": 1, "error": 0, "unfinished": 0}
    assert (rogue.flow.posted_verbs, rogue.flow.posted_batches) == (16, 16)
    (row,) = rogue.sent.rows("transfers")
    assert (row["transfer_id"], row["size_bytes"], row["status"], row["error"]) == ("1", "1000000", "ok", "")


def test_probes_of_no_bytes_go_out_at_their_instants(rogue: Scene) -> None:
    rogue.flow.follow(Schedule(0, START, count=3, interval_ns=500))
    rogue.flow.on_time(START)
    assert (rogue.flow.posted_verbs, rogue.flow.deadline_ns) == (1, START + 500)
    rogue.flow.on_time(HostNs(START + 1_200))
    assert rogue.flow.posted_verbs == 3
    rogue.run()
    assert [row["size_bytes"] for row in rogue.sent.rows("transfers")] == ["0", "0", "0"]


def test_a_transfer_larger_than_the_memory_wraps(rogue: Scene) -> None:
    rogue.requester.buffer.fill(3)
    rogue.follow(Schedule(4 * BUFFER_BYTES, START))
    rogue.run()
    assert rogue.flow.posted_verbs == -(-4 * BUFFER_BYTES // SEGMENT_BYTES)
    assert (rogue.log.ended["ok"], rogue.flow.records.meter.total_bytes) == (1, 4 * BUFFER_BYTES)


def test_nothing_is_posted_before_the_start(rogue: Scene) -> None:
    rogue.flow.follow(Schedule(4096, START))
    assert rogue.flow.deadline_ns == START
    rogue.flow.on_time(HostNs(START - 1))
    assert (rogue.flow.posted_verbs, rogue.flow.is_finished) == (0, False)


def test_each_batch_behind_another_one_leaves_one_row_of_samples(rogue: Scene) -> None:
    rogue.follow(Schedule(10 * SEGMENT_BYTES, START))
    rogue.run()
    rows = rogue.sent.rows("rtt")
    assert [row["wr_id"] for row in rows] == ["2", "4", "6", "8", "10"]
    assert rows[0]["t_ns"] == "6000"
    assert {row["accepted"] for row in rows} <= {"0", "1"}
    control = rogue.sent.rows("control")
    assert [row["value"] for row in control if row["name"] == "cwnd_packets"] == [
        row["cwnd_packets"] for row in rows
    ]
    assert {(row["t_ns"], row["name"]) for row in control} >= {
        ("6000", "base_rtt_ns"),
        ("6000", "is_slow_start"),
    }


def test_a_lost_queue_pair_fails_the_transfer_with_the_status(rogue: Scene) -> None:
    rogue.fabric.verbs_left = 3
    rogue.follow(Schedule(10 * SEGMENT_BYTES, START))
    rogue.run()
    assert (rogue.log.ended["error"], rogue.log.first_error) == (1, "IBV_WC_RETRY_EXC_ERR")
    assert [row["event"] for row in rogue.sent.rows("events")] == ["qp_failed"]


def test_a_refused_post_fails_the_transfer_with_the_error_of_pyverbs(rogue: Scene) -> None:
    rogue.fabric.queue_pairs[rogue.requester.queue_pair.qp_num].refuses = True
    rogue.follow(Schedule(SEGMENT_BYTES, START))
    assert rogue.flow.is_finished
    assert "Cannot allocate memory" in (rogue.log.first_error or "")


def test_a_finished_flow_has_unfinished_transfers(rogue: Scene) -> None:
    rogue.follow(Schedule(10 * SEGMENT_BYTES, START))
    rogue.flow.finish(HostNs(START + 9))
    assert rogue.flow.is_finished
    (row,) = rogue.sent.rows("transfers")
    assert (row["status"], row["end_ns"]) == ("unfinished", "")


def test_time_spent_posting_is_counted(rogue: Scene) -> None:
    rogue.follow(Schedule(4 * SEGMENT_BYTES, START))
    rogue.run()
    assert rogue.flow.posting_ns == 4 * 2_000, "the clock is read for the verb's stamp in between"


def test_reads_return_the_bytes_of_the_peer(scene_of: SceneOf) -> None:
    reading = scene_of(verb="read")
    reading.responder.buffer.fill(5)
    reading.follow(Schedule(BUFFER_BYTES, START, verb="read"))
    reading.run()
    assert reading.requester.buffer.sha256() == reading.responder.buffer.sha256()


def test_the_peers_limiter_paces_reads(scene_of: SceneOf) -> None:
    reading = scene_of(verb="read", has_limiter=True)
    reading.follow(Schedule(BUFFER_BYTES, START, verb="read"))
    reading.run()
    reading.turn()
    assert len(reading.received.rows("limiter")) >= 1


def test_sends_arrive_adjacent_in_the_peers_buffer(scene_of: SceneOf) -> None:
    sending = scene_of(verb="send")
    sending.requester.buffer.fill(5)
    sending.follow(Schedule(15 * SEGMENT_BYTES, START, verb="send"))
    sending.run()
    sending.turn()
    assert sending.library.delivered_messages == 15
    sent, received = sending.requester.buffer.mapped, sending.responder.buffer.mapped
    assert sent[: 15 * SEGMENT_BYTES] == received[: 15 * SEGMENT_BYTES]


def test_the_limiter_is_set_before_the_first_post(scene_of: SceneOf) -> None:
    limited = scene_of(has_limiter=True)
    limited.follow(Schedule(4 * SEGMENT_BYTES, START))
    assert limited.limiter is not None
    assert limited.limiter.writes == 1
    row = limited.sent.rows("limiter")[0]
    assert int(row["effective_bps"]) >= int(row["requested_bps"])


def test_a_flow_posts_without_samples_while_a_rate_is_late(
    scene_of: SceneOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = scene_of(has_limiter=True)
    limiter = limited.limiter
    assert limiter is not None and limiter.on_acting is not None
    late: list[int] = []
    apply = limiter.set_rate
    monkeypatch.setattr(limiter, "set_rate", lambda rate_bps, now: late.append(apply(rate_bps, now)))
    limited.follow(Schedule(60 * SEGMENT_BYTES, START))
    for _ in range(5):
        limited.turn()
    assert limited.flow.posted_batches >= 10
    assert {row["accepted"] for row in limited.sent.rows("rtt")} <= {"0"}
    limiter.on_acting(HostNs(6_000), late[0])
    limited.run()
    assert "1" in {row["accepted"] for row in limited.sent.rows("rtt")}


def test_over_uc_the_peer_acknowledges_each_batch(over_uc: Scene) -> None:
    over_uc.requester.buffer.fill(9)
    over_uc.follow(Schedule(BUFFER_BYTES, START))
    over_uc.run()
    while over_uc.turn():
        pass
    assert over_uc.responder.buffer.sha256() == over_uc.requester.buffer.sha256()
    assert len(over_uc.sent.rows("rtt")) == 16
    assert over_uc.library._meter.total_bytes == BUFFER_BYTES


def test_over_uc_lost_bytes_are_not_counted(over_uc: Scene) -> None:
    over_uc.fabric.lossy.add(over_uc.responder.queue_pair.qp_num)
    over_uc.follow(Schedule(SEGMENT_BYTES, START))
    over_uc.run()
    over_uc.turn()
    assert (over_uc.log.ended["ok"], over_uc.library._meter.total_bytes) == (1, 0)


def test_native_uc_counts_writes_by_their_immediates(scene_of: SceneOf) -> None:
    native = scene_of("roce-uc")
    native.follow(Schedule(BUFFER_BYTES, START, count=3))
    native.run()
    native.turn()
    assert native.library._meter.total_bytes == 3 * BUFFER_BYTES
    assert native.library.mistakes == 0


def test_the_shadow_takes_over_and_the_lost_queue_pair_is_resynchronised(shadowed: Scene) -> None:
    shadowed.requester.buffer.fill(11)
    main, shadow = (pair.qp_num for pair in shadowed.requester.pairs)
    shadowed.follow(Schedule(15 * SEGMENT_BYTES, START, count=4))
    shadowed.turn()
    shadowed.fabric.broken.add(main)
    shadowed.run()
    assert shadowed.log.ended == {"ok": 4, "error": 0, "unfinished": 0}
    words = [row["event"] for row in shadowed.sent.rows("events")]
    assert words == ["qp_failed", "reset", "shadow_switch", "resynchronised"]
    assert f"queue pair {shadow}" in shadowed.sent.rows("events")[2]["detail"]
    assert [row["event"] for row in shadowed.received.rows("events")] == ["reset", "resynchronised"]
    assert shadowed.flow.again_bytes > 0
    sent, received = shadowed.requester.buffer.mapped, shadowed.responder.buffer.mapped
    assert sent[: 15 * SEGMENT_BYTES] == received[: 15 * SEGMENT_BYTES]


def test_both_queue_pairs_may_fail_in_turn(shadowed: Scene) -> None:
    main, shadow = (pair.qp_num for pair in shadowed.requester.pairs)
    shadowed.follow(Schedule(15 * SEGMENT_BYTES, START, count=6))
    for lost in (main, shadow, main):
        shadowed.turn()
        shadowed.fabric.broken.add(lost)
        shadowed.turn()
        shadowed.turn()
    shadowed.run()
    assert shadowed.log.ended["ok"] == 6
    assert [row["event"] for row in shadowed.sent.rows("events")].count("shadow_switch") == 3


def test_invalid_datagrams_are_dropped_and_counted(shadowed: Scene) -> None:
    assert shadowed.responder.side is not None and shadowed.requester.side is not None
    shadowed.follow(Schedule(SEGMENT_BYTES, START))
    shadowed.responder.side.send(b"hello")
    shadowed.requester.side.send(b"RoGU but not a message")
    shadowed.run()
    assert (shadowed.flow.mistakes, shadowed.library.mistakes) == (1, 1)
    assert shadowed.received.rows("events") == []


def test_acknowledgements_free_the_send_queue_from_time_to_time(over_uc: Scene) -> None:
    over_uc.follow(Schedule(SEGMENT_BYTES, START, count=100))
    signaled = 0
    while not over_uc.flow.is_finished:
        for completions in over_uc.requester.queue.drain():
            over_uc.flow.on_completions(START, completions)
        for completions in over_uc.responder.queue.drain():
            signaled += sum(entry[0] < 1 << 61 for entry in completions)
            over_uc.library.on_completions(START, completions)
    assert signaled == 100 // 32


def test_an_acknowledgement_that_cannot_be_posted_is_counted_as_a_mistake(
    over_uc: Scene, fabric: Fabric
) -> None:
    fabric.queue_pairs[over_uc.responder.queue_pair.qp_num].refuses = True
    over_uc.follow(Schedule(SEGMENT_BYTES, START))
    over_uc.turn()
    assert over_uc.library.mistakes == 1


def test_receives_are_handled_before_datagrams(scene_of: SceneOf) -> None:
    both = scene_of(verb="send", has_shadow=True)
    both.follow(Schedule(3 * SEGMENT_BYTES, START, verb="send"))
    both.fabric.broken.add(both.requester.queue_pair.qp_num)
    both.run()
    both.turn()
    assert both.library.delivered_messages == 3
    assert both.library.mistakes == 0
