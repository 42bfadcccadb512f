import ctypes
import io
import os
from collections.abc import Iterator

import pytest
from helpers.fake_verbs import Fabric

from rogue_agent.core.application import Schedule
from rogue_agent.core.clocks import HostNs
from rogue_agent.core.connection import Connection
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.transports import settings_for
from rogue_agent.drivers.verbs import clock
from rogue_agent.drivers.verbs.endpoint import Endpoint
from rogue_agent.drivers.verbs.flow import VerbsFlow
from rogue_agent.drivers.verbs.loop import Abandoned, EventLoop

LINK = LinkFacts(line_rate_bps=10_000_000_000, mtu_bytes=1024, has_limiter=False)
SIZE_BYTES = 10 * 65_536
LONG_NS = 60_000_000_000


@pytest.fixture
def lifeline() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)


class Clock:
    """A host clock that moves by one microsecond per reading, whatever the machine's speed."""

    def __init__(self) -> None:
        self.now = 0

    def read(self) -> HostNs:
        self.now += 1_000
        return HostNs(self.now)


def content(endpoint: Endpoint) -> bytes:
    return ctypes.string_at(endpoint.buffer.address, SIZE_BYTES)


def loop_over(endpoint: Endpoint, lifeline: int, start_ns: int = 0) -> tuple[VerbsFlow, EventLoop]:
    connection = Connection(settings_for("rogue", LINK.line_rate_bps, {}), LINK, endpoint.queue_pair.qp_num)
    schedule = Schedule(SIZE_BYTES, HostNs(start_ns))
    flow = VerbsFlow(connection, schedule, endpoint, io.StringIO(), clock.nic_ns)
    return flow, EventLoop(flow, endpoint.queue, Clock().read, lifeline)


def test_a_flow_runs_to_its_end_by_events(
    connected: tuple[Endpoint, Endpoint], lifeline: tuple[int, int]
) -> None:
    requester, responder = connected
    requester.buffer.fill(3)
    flow, loop = loop_over(requester, lifeline[0])
    loop.run(HostNs(LONG_NS))
    assert [each.status for each in flow.transfers] == ["ok"]
    assert content(responder) == content(requester) != bytes(SIZE_BYTES)
    assert 1 <= loop.spent.events <= 10
    assert loop.spent.polls >= loop.spent.events
    os.close(lifeline[1])


def test_the_time_limit_ends_a_flow(connected: tuple[Endpoint, Endpoint], lifeline: tuple[int, int]) -> None:
    flow, loop = loop_over(connected[0], lifeline[0], start_ns=LONG_NS)
    loop.run(HostNs(2_000))
    assert flow.is_finished
    assert flow.posted_verbs == 0
    os.close(lifeline[1])


def test_a_flow_is_abandoned_when_the_other_side_hangs_up(
    connected: tuple[Endpoint, Endpoint], lifeline: tuple[int, int]
) -> None:
    _, loop = loop_over(connected[0], lifeline[0], start_ns=LONG_NS)
    os.close(lifeline[1])
    with pytest.raises(Abandoned):
        loop.run(HostNs(2 * LONG_NS))


def test_a_request_that_waits_on_the_lifeline_does_not_disturb_a_flow(
    connected: tuple[Endpoint, Endpoint], lifeline: tuple[int, int]
) -> None:
    os.write(lifeline[1], b"next request\n")
    flow, loop = loop_over(connected[0], lifeline[0])
    loop.run(HostNs(LONG_NS))
    assert flow.transfers[0].status == "ok"
    assert os.read(lifeline[0], 100) == b"next request\n"
    os.close(lifeline[1])


def test_a_queue_pair_that_fails_ends_the_flow(
    connected: tuple[Endpoint, Endpoint], lifeline: tuple[int, int], fabric: Fabric
) -> None:
    fabric.verbs_left = 2
    flow, loop = loop_over(connected[0], lifeline[0])
    loop.run(HostNs(LONG_NS))
    assert flow.transfers[0].status == "error"
    os.close(lifeline[1])


def test_each_part_of_the_loop_is_charged_to_its_account(
    connected: tuple[Endpoint, Endpoint], lifeline: tuple[int, int]
) -> None:
    _, loop = loop_over(connected[0], lifeline[0])
    loop.run(HostNs(LONG_NS))
    spent = loop.spent
    assert spent.rearming_ns == spent.events * 1_000
    assert spent.polling_ns == spent.polls * 1_000
    assert spent.waiting_ns == spent.events * 1_000
    os.close(lifeline[1])
