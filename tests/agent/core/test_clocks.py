"""Tests: the two clocks of an agent, and the deadlines of a connection."""

import pytest

from rogue.agent.core.clocks import Deadline, DeadlineReason, HostNs, earlier


@pytest.mark.parametrize(
    ("one_ns", "other_ns", "first_ns"), [(None, None, None), (3, None, 3), (None, 4, 4), (3, 4, 3), (5, 4, 4)]
)
def test_what_never_comes_is_not_the_earlier(
    one_ns: HostNs | None, other_ns: HostNs | None, first_ns: HostNs | None
) -> None:
    assert earlier(one_ns, other_ns) == first_ns


def test_a_deadline_tells_its_reason_in_words() -> None:
    deadline = Deadline(HostNs(5), DeadlineReason.RESYNC)
    assert deadline.host_ns == 5
    assert deadline.reason.value == "the peer's reply about a lost queue pair"
