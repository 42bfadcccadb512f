"""Every distribution of the registry."""

from random import Random

import pytest

from workloads.flow_sizes import FLOW_SIZES, FlowSizes


@pytest.fixture(params=FLOW_SIZES)
def sizes(request: pytest.FixtureRequest) -> FlowSizes:
    return FLOW_SIZES[request.param]


def test_it_is_explained(sizes: FlowSizes) -> None:
    assert sizes.meaning and sizes.source


def test_samples_have_the_mean(sizes: FlowSizes) -> None:
    """Of 100 000 samples; the standard deviation of a size is up to seven times its mean."""
    stream = Random(1)
    mean = sum(sizes.sample(stream) for _ in range(100_000)) / 100_000
    assert mean == pytest.approx(sizes.mean_bytes, rel=0.05)


def test_samples_have_the_shares(sizes: FlowSizes) -> None:
    stream = Random(2)
    samples = [sizes.sample(stream) for _ in range(20_000)]
    for size, percent in sizes.points:
        share = sum(sample <= size for sample in samples) / len(samples)
        assert share == pytest.approx(percent / 100, abs=0.012)  # three sigma at most
