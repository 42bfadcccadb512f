"""Ends over real verbs: what both share, and the responder."""

from dataclasses import replace

import pytest
from helpers.agent_roles import GID, LIMIT_MS, Stage, play, results

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.resync import NONCE_BYTES, Seal
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.verbs.side_channel import RemoteSide
from rogue.agent.node.data_process import endpoint_plan
from rogue.agent.node.messages import Arrivals, Connect, Load, Prepare, Prepared
from rogue.agent.node.role import random_bits
from rogue.agent.node.verbs_end import remote_of, seal_of

PREPARE = Prepare("here", LIMIT_MS, "requester", "10.9.0.1", "rogue", 4_096)


def test_the_introduction_of_an_end(stage: Stage) -> None:
    introduced = stage.enter(PREPARE).introduction
    assert (introduced.device, introduced.port, introduced.gid_index, introduced.gid, introduced.netdev) == (
        "rxe0",
        1,
        1,
        GID,
        "eth1",
    )
    assert (introduced.mtu_bytes, introduced.port_rate_bps, introduced.line_rate_bps) == (
        4096,
        2_500_000_000,
        2_500_000_000,
    )
    assert (introduced.clock, introduced.completions, introduced.limiter) == ("host", "event", "none")
    assert (introduced.service, introduced.buffer_bytes, introduced.tcp_port) == ("rc", 4_096, None)
    assert None not in {
        introduced.qp_num,
        introduced.shadow_qp_num,
        introduced.side_qp_num,
        introduced.psn,
        introduced.shadow_psn,
    }


def test_a_transport_without_a_shadow_introduces_none(stage: Stage) -> None:
    introduced = stage.enter(replace(PREPARE, transport="roce-uc")).introduction
    assert (introduced.service, introduced.shadow_qp_num, introduced.side_qp_num) == ("uc", None, None)


def test_a_requested_line_rate_and_mtu_replace_those_of_the_port(stage: Stage) -> None:
    introduced = stage.enter(replace(PREPARE, line_rate_bps=100_000_000, mtu_bytes=1024)).introduction
    assert (introduced.line_rate_bps, introduced.mtu_bytes) == (100_000_000, 1024)


def test_parameters_and_the_smaller_mtu_reach_the_queue_pair(stage: Stage) -> None:
    request = replace(PREPARE, parameters={"retry_count": 3, "timeout_exponent": 18}, priority=4)
    actor = stage.enter(request)
    actor.role.handle(Connect("here", LIMIT_MS, replace(actor.introduction, mtu_bytes=1024)))
    assert actor.introduction.qp_num is not None
    attributes = stage.fabric.queue_pairs[actor.introduction.qp_num].attributes
    assert attributes is not None
    assert (attributes.retry_cnt, attributes.timeout, attributes.path_mtu) == (3, 18, 3)
    assert attributes.ah_attr.sl == 4  # type: ignore[attr-defined]


PEER = Prepared(
    "there", "rc", "10.9.0.2", 10**10, 1024, "host", "event", "none", gid=GID, qp_num=17, psn=5,
    shadow_qp_num=18, shadow_psn=6, side_qp_num=19, side_qkey=20, nonce="ab" * 16, rkey=7,
    buffer_address=4096, buffer_bytes=100,
)  # fmt: skip


@pytest.mark.parametrize(
    ("transport", "end", "verb", "expected"),
    [
        ("rogue", "requester", "write", (0, 16)),
        ("rogue", "responder", "write", (0, 16)),
        ("rogue", "responder", "read", (256, 16)),
        ("rogue", "responder", "send", (256, 65_536)),
        ("rogue-uc", "requester", "write", (256, 16)),
        ("rogue-uc", "responder", "write", (256, 16)),
        ("roce-uc", "requester", "write", (0, 16)),
        ("roce", "responder", "send", (256, 100_000)),
    ],
)
def test_receives_by_transport_end_and_verb(
    transport: str, end: str, verb: str, expected: tuple[int, int]
) -> None:
    request = replace(PREPARE, transport=transport, end=end, verb=verb, buffer_bytes=100_000)  # type: ignore[arg-type]
    plan = endpoint_plan(request, settings_for(transport, 10**10, {}))
    assert (plan.receives, plan.receive_bytes) == expected


def test_the_other_end_is_taken_from_its_introduction() -> None:
    remote = remote_of(PEER, has_shadow=True)
    assert [(end.gid, end.qp_num, end.psn) for end in remote.ends] == [(GID, 17, 5), (GID, 18, 6)]
    assert remote.side == RemoteSide(GID, 19, 20)
    assert (remote.memory.address, remote.memory.rkey) == (4096, 7)
    assert len(remote_of(PEER, has_shadow=False).ends) == 1


@pytest.mark.parametrize("name", ["gid", "qp_num", "shadow_psn", "side_qp_num", "side_qkey", "rkey"])
def test_a_peer_of_another_transport_is_an_error(name: str) -> None:
    with pytest.raises(SettingsError, match=f"peer.{name}: got None"):
        remote_of(replace(PEER, **{name: None}), has_shadow=True)  # type: ignore[arg-type]


def test_both_ends_make_the_same_seal_of_both_nonces() -> None:
    own, other = bytes(NONCE_BYTES), bytes.fromhex("ab" * 16)
    assert seal_of(own, PEER, is_requester=True) == Seal(own, other)
    assert seal_of(own, PEER, is_requester=False) == Seal(other, own)
    with pytest.raises(SettingsError, match=r"peer\.nonce: got None"):
        seal_of(own, replace(PEER, nonce=None), is_requester=True)


def test_secrets_come_from_the_system_unless_there_is_a_seed() -> None:
    seeded = replace(PREPARE, secret_seed=5)
    assert random_bits(seeded)(128) == random_bits(seeded)(128)
    assert random_bits(PREPARE)(128) != random_bits(PREPARE)(128)


def test_arrivals_over_uc_are_counted_by_interval(stage: Stage) -> None:
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


@pytest.mark.parametrize("transport", ["rogue", "roce"])
@pytest.mark.parametrize("verb", ["write", "send"])
def test_the_last_verb_of_a_transfer_reports_its_arrival(stage: Stage, transport: str, verb: str) -> None:
    here, there = stage.pair(transport, verb=verb, buffer_bytes=4 * 2**20, tells=["arrival"])
    here.role.handle(Arrivals("here", LIMIT_MS, [[0, 150_000], [0, 1], [5_000_000, 65_536]]))
    play(here, there, None)
    rows = there.rows("arrivals")
    assert [row["transfer_id"] for row in rows] == ["1", "2", "3"]
    starts = [int(row["start_ns"]) for row in here.rows("transfers")]
    assert all(start < int(row["arrived_ns"]) for start, row in zip(starts, rows, strict=True))
    assert results(here).status == "ok"


def test_a_repeated_transfer_arrives_once(stage: Stage) -> None:
    """The shadow queue pair repeats what was not acknowledged, of which some may have arrived."""
    here, there = stage.pair(tells=["arrival"])
    assert here.introduction.qp_num is not None
    here.role.handle(Arrivals("here", LIMIT_MS, [[0, 100_000]] * 5))
    stage.fabric.broken.add(here.introduction.qp_num)
    play(here, there, None)
    assert [row["transfer_id"] for row in there.rows("arrivals")] == ["1", "2", "3", "4", "5"]
    assert results(there).facts["mistakes"] == 0


def test_arrival_events_need_writes_or_sends_over_rc(stage: Stage) -> None:
    with pytest.raises(SettingsError, match=r"tells.*expected none, except for WRITEs and SENDs over RC"):
        stage.pair("rogue-uc", tells=["arrival"])
    with pytest.raises(SettingsError, match="tells"):
        stage.pair("rogue", verb="read", tells=["arrival"])
