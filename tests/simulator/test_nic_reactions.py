"""Tests: reactions of NICs to single lost and marked packets, by profile."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from helpers.networks import MILLISECOND_NS, Host, Star, connect, counter

from rogue.simulator import IDEAL, PROFILES, NicControl, NicProfile, PacketEvent, Simulation
from rogue.simulator.profiles import RetryRules

SUCCESS, RETRY_EXCEEDED = 0, 12
TIMEOUT_NS = 4_096 * 2**3
LINUX = replace(IDEAL, retry_rules=PROFILES["soft_roce"].retry_rules)
PER_VERB = replace(IDEAL, retry_rules=RetryRules(refills_per_verb=True))
"""Rules of retries only; a verb's last packet and each 64th request an ACK."""


def lost(psn: int, transmission: int = 1, **event: Any) -> dict[str, Any]:
    return {"psn": psn, "transmission": transmission, "action": "drop", **event}


def run(
    profile: NicProfile, *events: dict[str, Any], packets: int = 20, verbs: int = 1, **connection: Any
) -> tuple[Host, Simulation]:
    """Send WRITE verbs of some packets from h0 to h1, with an ACK for each verb; events happen to some."""
    simulation = Star(hosts=2, profile=profile).build()
    simulation.record_packets()
    end = connect(simulation, "h0", "h1", timeout_exponent=3, **connection)
    for event in events:
        host = "h0" if event.get("packet", "data") == "data" else "h1"
        simulation.inject_packet_event(PacketEvent(host=host, queue_pairs=[end.qp_num], **event))
    host_software = Host(end)
    for wr_id in range(verbs):
        end.post_write(wr_id, packets * 1024, True)
    simulation.run_until(2 * MILLISECOND_NS)
    simulation.check_invariants()
    assert None not in simulation.packet_event_times_ns()
    return host_software, simulation


@pytest.mark.parametrize(
    ("profile", "status", "timeouts"),
    [(IDEAL, SUCCESS, 0), (PER_VERB, RETRY_EXCEEDED, 0), (LINUX, RETRY_EXCEEDED, 1)],
)
def test_two_losses_before_an_ack_with_one_retry(profile: NicProfile, status: int, timeouts: int) -> None:
    """Packet 4 is lost, and while it and its successors are sent again, packet 10.

    The second NAK acknowledges packets 4 to 9. Where that refills the counter it is answered. Where only a
    whole verb does, no retry is left for it; Linux ignores the NAK, and its timer finds none left.
    """
    host, simulation = run(profile, lost(4), lost(10, 2), retry_count=1)
    assert host.statuses == [(0, status)]
    assert counter(simulation, "timeouts") == timeouts


@pytest.mark.parametrize("profile", [IDEAL, LINUX])
@pytest.mark.parametrize(("retries", "status"), [(1, RETRY_EXCEEDED), (2, SUCCESS)])
def test_the_same_packet_is_lost_twice(profile: NicProfile, retries: int, status: int) -> None:
    """A gap has one NAK, so a timeout finds the second loss and takes the second retry."""
    host, simulation = run(profile, lost(4), lost(4, 2), retry_count=retries)
    assert host.statuses == [(0, status)]
    assert counter(simulation, "timeouts") == 1


@pytest.mark.parametrize("profile", [IDEAL, LINUX])
def test_a_nak_that_acknowledges_a_verb_refills_the_retries(profile: NicProfile) -> None:
    """The ACK of the first verb is lost; the NAK for packet 12 of the second verb says the same."""
    events = (lost(4), lost(12), lost(7, packet="ack"))
    host, simulation = run(profile, *events, packets=8, verbs=2, retry_count=1)
    assert host.statuses == [(0, SUCCESS), (1, SUCCESS)]
    assert counter(simulation, "timeouts") == 0


@pytest.mark.parametrize(("profile", "status"), [(IDEAL, RETRY_EXCEEDED), (LINUX, SUCCESS)])
def test_seven_retries_never_run_out_in_linux(profile: NicProfile, status: int) -> None:
    events = [lost(0, transmission) for transmission in range(1, 11)]
    if status == RETRY_EXCEEDED:
        events = events[:8]
    host, _ = run(profile, *events, retry_count=7)
    assert host.statuses == [(0, status)]


@pytest.mark.parametrize(("profile", "timeouts"), [(IDEAL, 0), (LINUX, 1)])
def test_a_lost_response_to_a_read(profile: NicProfile, timeouts: int) -> None:
    simulation = Star(hosts=2, profile=profile).build()
    end = connect(simulation, "h0", "h1", timeout_exponent=3)
    simulation.inject_packet_event(PacketEvent(host="h1", queue_pairs=[end.qp_num], psn=2, action="drop"))
    host = Host(end)
    end.post_read(1, 8 * 1024, True)
    simulation.run_until(MILLISECOND_NS)
    assert host.statuses == [(1, SUCCESS)]
    assert counter(simulation, "timeouts") == timeouts


def times_ps(simulation: Simulation, port: str, kind: str) -> list[int]:
    rows = pd.DataFrame(simulation.packet_table())
    return list(rows["t_ps"][(rows["port"] == port) & (rows["kind"] == kind)])


def test_delays_of_a_nak_and_of_what_it_asks_for() -> None:
    delayed = replace(IDEAL, nak_delay_ns=3_000, resend_delay_ns=7_000)
    runs = [run(profile, lost(4))[1] for profile in (IDEAL, delayed)]
    naks = [times_ps(each, "h1->s0", "nak") for each in runs]
    assert [len(each) for each in naks] == [1, 1]
    assert naks[1][0] - naks[0][0] == 3_000_000
    arrivals_ps = [each[0] + (66 + 20) * 800 * 2 + 2 * 1_000_000 for each in naks]
    resent = [
        min(at for at in times_ps(each, "h0->s0", "write") if at >= arrival_ps)
        for each, arrival_ps in zip(runs, arrivals_ps, strict=True)
    ]
    assert resent[1] - arrivals_ps[1] == 7_000_000
    assert resent[0] - arrivals_ps[0] < 1_000_000


def sent(profile: NicProfile, kind: str = "write", **connection: Any) -> list[int]:
    """Return the numbers of what h0 sends, or of h1's ACKs, when packet 4 of 20 is lost."""
    rows = pd.DataFrame(run(profile, lost(4), **connection)[1].packet_table())
    port = "h0->s0" if kind == "write" else "h1->s0"
    return [int(psn) for psn in rows["psn"][(rows["port"] == port) & (rows["kind"] == kind)]]


def test_packets_that_the_card_has_taken_up_leave_after_the_nak() -> None:
    at_once = sent(IDEAL)
    resent = at_once.index(4, 5)
    lagging = sent(replace(IDEAL, packets_after_nak_max=3))
    assert lagging[: resent + 4] == [*range(resent + 3), 4]
    assert sent(replace(IDEAL, packets_after_nak_max=100)) == [*range(20), *range(4, 20)]


@pytest.mark.parametrize(("most", "new"), [(0, []), (3, [8, 9, 10]), (100, [8, 9, 10, 11])])
def test_a_nak_opens_a_closed_window_before_the_card_goes_back(most: int, new: list[int]) -> None:
    """The NAK for packet 4 acknowledges four packets."""
    profile = replace(IDEAL, unacknowledged_packets_max=8, packets_after_nak_max=most)
    assert sent(profile)[: 9 + len(new)] == [*range(8), *new, 4]


def test_the_count_to_the_next_request_for_an_ack_includes_what_is_sent_again() -> None:
    """Twelve packets leave before packet 4 is sent again, so that the next request is the sixth after it."""
    counting = replace(IDEAL, retry_rules=RetryRules(keeps_ack_count=True))
    assert sent(counting).index(4, 5) == 12
    assert sent(IDEAL, "ack", ack_every_packets=6) == [5, 11, 17, 19]
    assert sent(counting, "ack", ack_every_packets=6) == [9, 15, 19]


def cnps(profile: NicProfile, marks_ns: tuple[int, ...] = (0,)) -> list[int]:
    """Two flows from h0 and one from h1 send a marked packet each time to h2; when h2 sends CNPs."""
    simulation = Star(hosts=3, profile=profile).build()
    simulation.record_packets(["h2->s0"])
    control = NicControl("dcqcn", {"cnp_gap_ns": 10_000})
    ends = [connect(simulation, host, "h2", control=control) for host in ("h0", "h0", "h1")]
    for end, host in zip(ends, ("h0", "h0", "h1"), strict=True):
        for psn in range(len(marks_ns)):
            event = PacketEvent(host=host, queue_pairs=[end.qp_num], psn=psn, action="mark")
            simulation.inject_packet_event(event)
    for at_ns in marks_ns:
        for end in ends:
            simulation.schedule(at_ns, lambda now, end=end: end.post_write(now, 100, False))
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    return times_ps(simulation, "h2->s0", "cnp")


@pytest.mark.parametrize(("scope", "count"), [("per_qp", 3), ("per_ip", 2), ("per_port", 1)])
def test_what_shares_the_least_time_between_cnps(scope: Any, count: int) -> None:
    assert len(cnps(replace(IDEAL, cnp_scope=scope))) == count


def test_the_card_may_have_its_own_time_between_cnps() -> None:
    marks_ns = (0, 20_000, 40_000)
    assert len(cnps(IDEAL, marks_ns)) == 9
    assert len(cnps(replace(IDEAL, cnp_interval_ns=30_000), marks_ns)) == 6


def test_cnps_are_delayed() -> None:
    at_once, late = cnps(IDEAL), cnps(replace(IDEAL, cnp_delay_ns=4_000))
    assert late[0] - at_once[0] == 4_000_000


@pytest.mark.parametrize(
    ("profile", "gap_ns", "count"),
    [
        (IDEAL, 1, 0),
        (replace(IDEAL, cnp_with_nak=True), 1, 2),
        (replace(IDEAL, cnp_with_nak=True), MILLISECOND_NS, 1),
    ],
)
def test_the_card_may_send_a_cnp_with_a_nak(profile: NicProfile, gap_ns: int, count: int) -> None:
    """Two gaps have two NAKs; the least time between CNPs holds for these, too."""
    control = NicControl("dcqcn", {"cnp_gap_ns": gap_ns})
    host, simulation = run(profile, lost(4), lost(10, 2), retry_count=7, control=control)
    assert host.statuses == [(0, SUCCESS)]
    naks, sent = (times_ps(simulation, "h1->s0", kind) for kind in ("nak", "cnp"))
    assert (len(naks), len(sent)) == (2, count)
    assert all(0 < at - nak < 1_000_000 for nak, at in zip(naks, sent, strict=False))


@pytest.mark.parametrize(("least_ns", "waits_ns"), [(0, TIMEOUT_NS), (1, TIMEOUT_NS), (500_000, 500_000)])
def test_no_timeout_is_shorter_than_the_least_one(least_ns: int, waits_ns: int) -> None:
    host, simulation = run(replace(IDEAL, timeout_min_ns=least_ns), lost(0), packets=1)
    assert host.statuses == [(0, SUCCESS)]
    first, second = times_ps(simulation, "h0->s0", "write")
    assert second - first == pytest.approx(waits_ns * 1_000, abs=1_000_000)
