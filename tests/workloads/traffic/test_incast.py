"""The incast."""

import pytest
from pydantic import ValidationError

from rogue.workloads.streams import START_JITTER_NS
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.incast import Incast

HOSTS = Placement(tuple(f"h{index}" for index in range(9)), "h8", 9.26e9, 10_000_000_000)


def incast(**changes: object) -> Incast:
    return Incast.model_validate({"senders": 8, "size": "128MB", **changes})


def test_eight_to_one() -> None:
    flows = incast().flows(HOSTS, 1)
    assert [(flow.source, flow.destination) for flow in flows] == [(f"h{index}", "h8") for index in range(8)]
    assert {(flow.verb, flow.size_bytes, flow.count) for flow in flows} == {("write", 128_000_000, 1)}


def test_fewer_senders_keep_the_receiver() -> None:
    assert [flow.destination for flow in incast(senders=2).flows(HOSTS, 1)] == ["h8", "h8"]


def test_a_sender_starts_alike_however_many_there_are() -> None:
    assert incast(senders=2).flows(HOSTS, 5) == incast().flows(HOSTS, 5)[:2]


def test_a_sender_may_have_several_connections() -> None:
    flows = incast(senders=2, connections=2).flows(HOSTS, 1)
    assert [flow.ends for flow in flows] == ["h0->h8", "h0->h8#1", "h1->h8", "h1->h8#1"]
    assert len({flow.start_ns for flow in flows}) == len(flows)
    assert flows[::2] == incast(senders=2).flows(HOSTS, 1)


def test_repeating_stops_with_time() -> None:
    flows = incast(repeat_for="20s").flows(HOSTS, 1)
    assert {(flow.count, flow.repeat_until_ns) for flow in flows} == {(None, 20_000_000_000)}
    assert incast(repeat_for="20s").duration_ns == 20_000_000_000
    assert incast().duration_ns is None


def test_the_application_may_post_small_verbs() -> None:
    assert {flow.verb_bytes for flow in incast(verb_size="1KiB").flows(HOSTS, 1)} == {1024}
    assert {flow.verb_bytes for flow in incast().flows(HOSTS, 1)} == {None}


def test_starts_are_jittered() -> None:
    starts = [flow.start_ns for flow in incast().flows(HOSTS, 1)]
    assert len(set(starts)) > 1
    assert all(0 <= start_ns <= START_JITTER_NS for start_ns in starts)


@pytest.mark.parametrize("changes", [{"senders": 0}, {"size": "-1MB"}, {"size": 5}, {"verb": "push"}])
def test_impossible_incasts_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        incast(**changes)
