"""RoCC's half in the NIC by itself: whom it obeys, and how it rises."""

from rogue.simulator._core import Controller

GBPS = 10**9
LINE_BPS = 40 * GBPS
MICROSECOND_PS = 1_000_000


def reaction_point(**parameters: float) -> Controller:
    settings = {"processing_delay_ns": 0.0, **parameters}
    return Controller("rocc", line_rate_bps=LINE_BPS, parameters=settings)


def test_without_a_message_nothing_limits_it() -> None:
    control = reaction_point()
    assert control.rate_bps == LINE_BPS
    assert control.deadline_ps is None


def test_the_least_of_several_ports_wins() -> None:
    control = reaction_point()
    control.on_feedback(0, port=1, rate_bps=10 * GBPS)
    assert control.rate_bps == 10 * GBPS
    control.on_feedback(0, port=2, rate_bps=20 * GBPS)
    assert control.rate_bps == 10 * GBPS  # another port that asks for more
    control.on_feedback(0, port=2, rate_bps=5 * GBPS)
    assert control.rate_bps == 5 * GBPS
    control.on_feedback(0, port=2, rate_bps=8 * GBPS)
    assert control.rate_bps == 8 * GBPS  # the port itself may raise it
    control.on_feedback(0, port=1, rate_bps=8 * GBPS)
    assert control.metrics(0)["port"] == 2  # not less


def test_it_doubles_without_a_message_until_it_needs_no_limit() -> None:
    control = reaction_point()
    control.on_feedback(0, port=1, rate_bps=15 * GBPS)
    rates = []
    for nth in range(1, 4):
        assert control.deadline_ps == nth * 55 * MICROSECOND_PS
        control.on_timer(control.deadline_ps)
        rates.append(control.rate_bps)
    assert rates == [30 * GBPS, 60 * GBPS, LINE_BPS]
    assert control.deadline_ps is None
    assert control.metrics(0)["is_limited"] == 0
    control.on_feedback(10**9, port=7, rate_bps=35 * GBPS)  # the port is forgotten
    assert control.rate_bps == 35 * GBPS


def test_a_message_of_its_port_keeps_it_from_rising() -> None:
    control = reaction_point()
    control.on_feedback(0, port=1, rate_bps=15 * GBPS)
    control.on_feedback(40 * MICROSECOND_PS, port=1, rate_bps=15 * GBPS)
    assert control.deadline_ps == 95 * MICROSECOND_PS
    control.on_feedback(50 * MICROSECOND_PS, port=2, rate_bps=16 * GBPS)
    assert control.deadline_ps == 95 * MICROSECOND_PS  # not accepted


def test_messages_take_time_to_act() -> None:
    control = reaction_point(processing_delay_ns=15_000)
    control.on_feedback(0, port=1, rate_bps=10 * GBPS)
    control.on_feedback(5 * MICROSECOND_PS, port=1, rate_bps=9 * GBPS)
    assert control.rate_bps == LINE_BPS
    assert control.deadline_ps == 15 * MICROSECOND_PS
    control.on_timer(15 * MICROSECOND_PS)
    assert control.rate_bps == 10 * GBPS
    assert control.deadline_ps == 20 * MICROSECOND_PS
    control.on_timer(20 * MICROSECOND_PS)
    assert control.rate_bps == 9 * GBPS
    assert control.deadline_ps == 75 * MICROSECOND_PS
