from rogue_agent.control.messages import Prepared, Results
from virtual import figures
from virtual.transfer import Order, Outcome, RttSample

SPENT = {
    "waiting_ns": 500_000,
    "posting_ns": 300_000,
    "deciding_ns": 100_000,
    "polling_ns": 60_000,
    "rearming_ns": 40_000,
}


def outcome(samples: list[RttSample]) -> Outcome:
    sent = Results(
        "mover",
        "ok",
        sha256="a" * 64,
        start_ns=1_000_000_000,
        end_ns=1_500_000_000,
        verbs=12,
        batches=10,
        spent=dict(SPENT),
    )
    requester = Prepared("mover", "rc", "10.9.0.1", 2_500_000_000, 4096, "host", "event", "none")
    received = Results("mover", "idle", 0, 0, sha256="b" * 64)
    return Outcome(Order(10_000_000, "rogue", 7), requester, sent, received, samples)


def test_throughput_is_payload_over_the_transfers_own_time() -> None:
    assert figures.throughput_bytes_per_s(outcome([]).sent, 10_000_000) == 20e6


def test_both_checksums_are_shown_so_that_a_difference_is_seen() -> None:
    text = "\n".join(figures.lines(outcome([])))
    assert "a" * 64 in text
    assert "b" * 64 in text


def test_where_the_time_went_is_shown_as_share_and_per_batch() -> None:
    text = "\n".join(figures.lines(outcome([])))
    assert "waiting   50.0%     50.0 µs per batch" in text
    assert "rearming   4.0%      4.0 µs per batch" in text


def test_only_accepted_samples_count_in_the_percentiles() -> None:
    samples = [RttSample(float(us * 1000), True) for us in range(1, 100)] + [RttSample(9e9, False)]
    text = "\n".join(figures.lines(outcome(samples)))
    assert "99 accepted of 100; p10 10, p50 50, p90 90 µs" in text


def test_too_few_samples_have_no_percentiles() -> None:
    assert "RTT samples: 0 accepted of 0" in "\n".join(figures.lines(outcome([])))
