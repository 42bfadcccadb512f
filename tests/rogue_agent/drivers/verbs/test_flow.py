import io

import pytest
from helpers.fake_verbs import Fabric

from rogue_agent.core.actions import SwitchToShadow, Trace
from rogue_agent.core.application import Schedule
from rogue_agent.core.clocks import HostNs, NicNs
from rogue_agent.core.connection import Connection
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.transports import settings_for
from rogue_agent.drivers.verbs.endpoint import Endpoint
from rogue_agent.drivers.verbs.flow import SAMPLE_COLUMNS, VerbsFlow

START = HostNs(1_000)
LINK = LinkFacts(line_rate_bps=10_000_000_000, mtu_bytes=1024, has_limiter=False)


class Ticker:
    """A clock that moves by one microsecond per reading."""

    def __init__(self) -> None:
        self.now = 0

    def read(self) -> NicNs:
        self.now += 1_000
        return NicNs(self.now)


def flow_over(
    endpoint: Endpoint, size_bytes: int, samples: io.StringIO, transport: str = "rogue"
) -> VerbsFlow:
    settings = settings_for(transport, LINK.line_rate_bps, {})
    connection = Connection(settings, LINK, endpoint.queue_pair.qp_num, tracing=True)
    return VerbsFlow(connection, Schedule(size_bytes, START), endpoint, samples, Ticker().read)


def run_to_the_end(flow: VerbsFlow, endpoint: Endpoint) -> None:
    """Do what the event loop does, without sleeping."""
    flow.on_time(START)
    while not flow.is_finished:
        polls = list(endpoint.queue.drain())
        assert polls, "nothing completes and nothing is finished"
        for completions in polls:
            flow.on_completions(HostNs(START + 5_000), completions)


def test_a_transfer_arrives_whole_and_is_reported_once(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, responder = connected
    requester.buffer.fill(7)
    flow = flow_over(requester, requester.buffer.size_bytes, io.StringIO())
    run_to_the_end(flow, requester)
    assert responder.buffer.sha256() == requester.buffer.sha256()
    assert [(each.status, each.error) for each in flow.transfers] == [("ok", None)]
    assert (flow.posted_verbs, flow.posted_batches) == (16, 16)
    assert flow.failures == []


def test_nothing_is_posted_before_the_schedule_says_so(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, _ = connected
    flow = flow_over(requester, 4096, io.StringIO())
    assert flow.deadline_ns == START
    flow.on_time(HostNs(START - 1))
    assert (flow.posted_verbs, flow.is_finished) == (0, False)


def test_each_batch_leaves_one_row_of_samples(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, _ = connected
    samples = io.StringIO()
    run_to_the_end(flow_over(requester, 10 * 65_536, samples), requester)
    header, *rows = samples.getvalue().splitlines()
    assert header == ",".join(SAMPLE_COLUMNS)
    assert len(rows) == 10
    assert all(row.count(",") == header.count(",") for row in rows)
    assert rows[0].split(",")[:2] == ["6000", "1"]


def test_a_sample_without_an_estimate_leaves_its_field_empty(connected: tuple[Endpoint, Endpoint]) -> None:
    samples = io.StringIO()
    flow = flow_over(connected[0], 4096, samples)
    flow.trace(Trace(HostNs(5), 3, None, 1000, "hold_off", {}))
    assert samples.getvalue().splitlines()[-1] == "5,3,,,,1000,0,hold_off"


def test_a_lost_queue_pair_ends_the_transfer_with_the_nics_word(
    connected: tuple[Endpoint, Endpoint], fabric: Fabric
) -> None:
    requester, _ = connected
    fabric.verbs_left = 3
    flow = flow_over(requester, 10 * 65_536, io.StringIO())
    run_to_the_end(flow, requester)
    assert [(each.status, each.error) for each in flow.transfers] == [("error", "IBV_WC_RETRY_EXC_ERR")]
    assert [failure.description for failure in flow.failures] == ["IBV_WC_RETRY_EXC_ERR"]


def test_a_refused_post_ends_the_transfer_with_the_librarys_word(
    connected: tuple[Endpoint, Endpoint], fabric: Fabric
) -> None:
    requester, _ = connected
    fabric.queue_pairs[requester.queue_pair.qp_num].refuses = True
    flow = flow_over(requester, 65_536, io.StringIO())
    flow.on_time(START)
    assert flow.is_finished
    assert flow.transfers[0].status == "error"
    assert "Cannot allocate memory" in (flow.transfers[0].error or "")


def test_a_verb_that_this_driver_lacks_is_refused_by_name(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, _ = connected
    settings = settings_for("rogue", LINK.line_rate_bps, {})
    connection = Connection(settings, LINK, requester.queue_pair.qp_num)
    flow = VerbsFlow(connection, Schedule(10, START, verb="send"), requester, io.StringIO(), Ticker().read)
    flow.on_time(START)
    assert flow.transfers[0].error == "this driver has WRITEs only: no send with immediate None"


def test_a_flow_cut_off_is_unfinished(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, _ = connected
    flow = flow_over(requester, 10 * 65_536, io.StringIO())
    flow.on_time(START)
    flow.finish(HostNs(START + 9))
    assert flow.is_finished
    assert [(each.status, each.end_ns) for each in flow.transfers] == [("unfinished", START + 9)]


def test_time_spent_posting_is_counted(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, _ = connected
    flow = flow_over(requester, 4 * 65_536, io.StringIO())
    run_to_the_end(flow, requester)
    assert flow.posting_ns == 4 * 1_000


def test_there_is_no_shadow_to_turn_to(connected: tuple[Endpoint, Endpoint]) -> None:
    flow = flow_over(connected[0], 4096, io.StringIO())
    with pytest.raises(AssertionError, match="no shadow"):
        flow.recover(SwitchToShadow(3, 0), START)


def test_there_is_no_limiter_to_program(connected: tuple[Endpoint, Endpoint]) -> None:
    flow = flow_over(connected[0], 4096, io.StringIO())
    with pytest.raises(AssertionError, match="no limiter"):
        flow.set_rate(1_000_000)
