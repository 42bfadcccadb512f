"""Twice as many flows again and again."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.doubling import Doubling

HOSTS = Placement(tuple(f"h{index}" for index in range(101)), "h100", 37e9, 40_000_000_000)


def test_the_published_one() -> None:
    workload = Doubling.model_validate({})
    assert workload.levels == (3, 6, 12, 24, 48, 96, 100, 96, 48, 24, 12, 6, 3)
    assert workload.duration_ns == 130_000_000


def test_as_many_flows_run_in_each_step() -> None:
    workload = Doubling.model_validate({})
    flows = workload.flows(HOSTS, 1)
    for step, level in enumerate(workload.levels):
        middle_ns = step * 10_000_000 + 5_000_000
        running = [flow for flow in flows if flow.start_ns <= middle_ns < (flow.repeat_until_ns or 0)]
        assert len(running) == level


def test_it_must_grow() -> None:
    with pytest.raises(ValidationError, match="fewer than senders, 3"):
        Doubling.model_validate({"senders": 3})
