"""Named random streams."""

from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.streams import SOURCE_PORTS, START_JITTER_NS, random_stream, source_port, start_jitter_ns

JITTER_OF_SEED_1 = [1430, 9388, 5212, 9120]


def test_stream_is_the_same_on_every_machine() -> None:
    assert [start_jitter_ns(1, f"h{index}->h8") for index in range(4)] == JITTER_OF_SEED_1


def test_streams_of_two_purposes_differ() -> None:
    assert random_stream(1, "start/a").random() != random_stream(1, "start/b").random()


def test_using_one_stream_leaves_the_others_alone() -> None:
    untouched = random_stream(7, "ecmp").random()
    random_stream(7, "start").random()
    assert random_stream(7, "ecmp").random() == untouched


@given(st.integers(), st.text())
def test_jitter_is_within_ten_microseconds(seed: int, flow_id: str) -> None:
    assert 0 <= start_jitter_ns(seed, flow_id) <= START_JITTER_NS


def test_jitter_is_uniform() -> None:
    jitters = [start_jitter_ns(seed, "f") for seed in range(2000)]
    assert abs(sum(jitters) / len(jitters) - START_JITTER_NS / 2) < 200
    assert min(jitters) < 100
    assert max(jitters) > START_JITTER_NS - 100


def test_source_ports_are_spread_over_their_range() -> None:
    ports = [source_port(1, f"main/h0->h1#{number}") for number in range(4000)]
    assert set(ports) <= set(SOURCE_PORTS) and len(set(ports)) > 3000
    assert abs(sum(ports) / len(ports) - 0xE000) < 300  # the mean's sigma is 75
    assert source_port(2, "main/h0->h1#0") != ports[0]
