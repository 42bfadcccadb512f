"""The contract of every registered RTT estimator."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.settings import Instruments
from rogue.agent.core.window import Batch

NAMES = sorted(ESTIMATORS)
GBPS = 10**9
LEFT_NS: dict[int, float] = {}
INSTRUMENTS = Instruments(left_ns=LEFT_NS.__getitem__)  # what the simulator tells the oracle, and nobody else
SERIALISATION_NS = (70_800 - 1106) * 8 // 2 + 1106 * 8 // 10


def batches(rtts_ns: list[int]) -> list[tuple[Batch, NicNs]]:
    """Batches at 2 Gb/s, each posted when the one before has completed, with their completions."""
    result = []
    at_ns = 1000
    for rtt_ns in rtts_ns:
        batch = Batch()
        batch.wire_bytes, batch.last_packet_wire_bytes = 70_800, 1106
        batch.rate_bps, batch.is_anchored, batch.enqueued_ns = 2 * GBPS, True, NicNs(at_ns)
        batch.wr_id, batch.signaled_before_ns = len(result) + 1, None
        LEFT_NS[batch.wr_id] = at_ns + SERIALISATION_NS
        at_ns += SERIALISATION_NS + rtt_ns
        result.append((batch, NicNs(at_ns)))
    return result


@pytest.mark.parametrize("name", NAMES)
@given(rtts_ns=st.lists(st.integers(10_000, 10_000_000), min_size=1, max_size=20))
def test_a_batch_alone_is_measured_to_within_one_packet_gap(name: str, rtts_ns: list[int]) -> None:
    estimator = ESTIMATORS[name](10 * GBPS, INSTRUMENTS)
    for (batch, completed_ns), rtt_ns in zip(batches(rtts_ns), rtts_ns, strict=True):
        assert estimator.sample(batch, completed_ns) == pytest.approx(rtt_ns, abs=1106 * 8 / 2)


@pytest.mark.parametrize("name", NAMES)
@given(rtts_ns=st.lists(st.integers(10_000, 10_000_000), min_size=2, max_size=20))
def test_same_inputs_same_samples(name: str, rtts_ns: list[int]) -> None:
    one, other = ESTIMATORS[name](10 * GBPS, INSTRUMENTS), ESTIMATORS[name](10 * GBPS, INSTRUMENTS)
    for batch, completed_ns in batches(rtts_ns):
        assert one.sample(batch, completed_ns) == other.sample(batch, completed_ns)


@pytest.mark.parametrize("name", NAMES)
def test_a_rate_change_leaves_an_estimator_usable(name: str) -> None:
    estimator = ESTIMATORS[name](10 * GBPS, INSTRUMENTS)
    for (batch, completed_ns), _ in pairwise(batches([60_000, 70_000, 80_000])):
        estimator.on_rate_change()
        assert estimator.sample(batch, completed_ns) is not None


@pytest.mark.parametrize("name", NAMES)
def test_an_estimator_says_what_it_needs_and_where_it_comes_from(name: str) -> None:
    assert isinstance(ESTIMATORS[name].needs_anchor, bool)
    assert "Source:" in (ESTIMATORS[name].__doc__ or "")


def test_the_base_class_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        RttEstimator(10 * GBPS)  # type: ignore[abstract]
