from dataclasses import replace

from helpers.agent_roles import GID, LIMIT_MS, Stage

from rogue.agent.node.messages import Connect, Prepare

PREPARE = Prepare("here", LIMIT_MS, "requester", "10.9.0.1", "rogue", 4_096)


def test_an_introduction_says_what_was_found_and_how_it_will_work(stage: Stage) -> None:
    told = stage.enter(PREPARE).introduction
    assert (told.device, told.port, told.gid_index, told.gid, told.netdev) == ("rxe0", 1, 1, GID, "eth1")
    assert (told.mtu_bytes, told.port_rate_bps, told.line_rate_bps) == (4096, 2_500_000_000, 2_500_000_000)
    assert (told.clock, told.completions, told.limiter) == ("host", "event", "none")
    assert (told.service, told.buffer_bytes, told.tcp_port) == ("rc", 4_096, None)
    assert None not in {told.qp_num, told.shadow_qp_num, told.side_qp_num, told.psn, told.shadow_psn}


def test_a_transport_without_a_shadow_names_none(stage: Stage) -> None:
    told = stage.enter(replace(PREPARE, transport="roce-uc")).introduction
    assert (told.service, told.shadow_qp_num, told.side_qp_num) == ("uc", None, None)


def test_a_line_rate_or_mtu_that_is_asked_for_wins_over_the_ports(stage: Stage) -> None:
    told = stage.enter(replace(PREPARE, line_rate_bps=100_000_000, mtu_bytes=1024)).introduction
    assert (told.line_rate_bps, told.mtu_bytes) == (100_000_000, 1024)


def test_the_transports_parameters_reach_the_queue_pair(stage: Stage) -> None:
    request = replace(PREPARE, parameters={"retry_count": 3, "timeout_exponent": 18}, priority=4)
    actor = stage.enter(request)
    actor.role.handle(Connect("here", LIMIT_MS, actor.introduction))
    told = actor.introduction
    assert told.qp_num is not None
    attributes = stage.fabric.queue_pairs[told.qp_num].attributes
    assert attributes is not None
    assert (attributes.retry_cnt, attributes.timeout) == (3, 18)
    assert attributes.ah_attr.sl == 4  # type: ignore[attr-defined]


def test_the_smaller_mtu_of_both_ends_counts(stage: Stage) -> None:
    actor = stage.enter(PREPARE)
    actor.role.handle(Connect("here", LIMIT_MS, replace(actor.introduction, mtu_bytes=1024)))
    assert actor.introduction.qp_num is not None
    attributes = stage.fabric.queue_pairs[actor.introduction.qp_num].attributes
    assert attributes is not None
    assert attributes.path_mtu == 3
