from helpers.networks import SEGMENTS, rtt_sample

from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.limiter import LinkFacts


def test_nothing_moves_the_window_and_the_limiter_is_left_alone() -> None:
    control = FixedParameters(window_packets=7).build(LinkFacts(10**10, 1024), SEGMENTS)
    control.on_sample(rtt_sample(10_000_000))
    control.on_loss()
    control.on_timeout()
    assert control.cwnd_packets == 7
    assert control.target_rate_bps is None
    assert control.metrics() == {"cwnd_packets": 7}
