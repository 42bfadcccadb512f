"""Tests: units, random streams and printable text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.printable import (
    did_you_mean,
    first_line,
    is_printable,
    printable,
    printable_lines,
    shortened,
)
from rogue.workloads.streams import SOURCE_PORTS, START_JITTER_NS, random_stream, source_port, start_jitter_ns
from rogue.workloads.units import QUANTITY_OF_SUFFIX, RATE, SIZE, TIME, Quantity, UnitError

QUANTITIES = list(QUANTITY_OF_SUFFIX.values())


@pytest.mark.parametrize(
    ("quantity", "text", "amount"),
    [
        (SIZE, "1KB", 1000),
        (SIZE, "1KiB", 1024),
        (SIZE, "128MB", 128_000_000),
        (SIZE, "64KiB", 65_536),
        (SIZE, "1.5 MiB", 1_572_864),
        (SIZE, "0B", 0),
        (RATE, "10Gbps", 10_000_000_000),
        (RATE, "2.5Gbps", 2_500_000_000),
        (RATE, "100Mbps", 100_000_000),
        (RATE, "1bps", 1),
        (TIME, "50us", 50_000),
        (TIME, "1.5us", 1_500),
        (TIME, "20s", 20_000_000_000),
        (TIME, "9223372036854775807ns", 2**63 - 1),
        (TIME, "-0ns", 0),
    ],
)
def test_parse_worked_examples(quantity: Quantity, text: str, amount: int) -> None:
    assert quantity.parse(text) == amount


@pytest.mark.parametrize(
    ("quantity", "value", "words"),
    [
        (SIZE, 128, "put one of the units B, KB, MB"),
        (SIZE, 1.5, "put one of the units"),
        (SIZE, True, "put one of the units"),
        (SIZE, None, "put one of the units"),
        (SIZE, "128", "put one of the units"),
        (SIZE, "128mb", "write the unit as MB"),
        (SIZE, "128Mb", "write the unit as MB"),
        (SIZE, "128kib", "write the unit as KiB"),
        (SIZE, "128Mbit", "the units are B, KB"),
        (SIZE, "-5MB", "remove the minus sign"),
        (SIZE, "0.3B", "expected a whole number of B"),
        (SIZE, "1e3KB", "write one number and one of the units"),
        (SIZE, "1_000KB", "write one number and one of the units"),
        (SIZE, "١KB", "write one number and one of the units"),
        (SIZE, "9" * 5000 + "B", "write one number and one of the units"),
        (SIZE, "9000000TiB", "below 2^63 B"),
        (RATE, "10G", "the units are bps, Kbps, Mbps, Gbps and Tbps"),
        (RATE, "10gbps", "write the unit as Gbps"),
        (TIME, "50µs", "the units are ns, us, ms and s"),
        (TIME, "0.5ns", "expected a whole number of ns"),
        (TIME, "nan", "write one number"),
        (TIME, "", "write one number"),
    ],
)
def test_wrong_quantity_says_what_to_do(quantity: Quantity, value: object, words: str) -> None:
    with pytest.raises(UnitError) as caught:
        quantity.parse(value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("quantity", "amount", "text"),
    [
        (SIZE, 128_000_000, "128MB"),
        (SIZE, 65_536, "64KiB"),
        (SIZE, 1_000, "1KB"),
        (SIZE, 1_001, "1001B"),
        (RATE, 10_000_000_000, "10Gbps"),
        (TIME, 50_000, "50us"),
        (TIME, 0, "0s"),
    ],
)
def test_format_is_what_a_person_would_write(quantity: Quantity, amount: int, text: str) -> None:
    assert quantity.format(amount) == text


@given(st.sampled_from(QUANTITIES), st.integers(0, 2**63 - 1))
def test_round_trip(quantity: Quantity, amount: int) -> None:
    assert quantity.parse(quantity.format(amount)) == amount


@given(st.sampled_from(QUANTITIES), st.one_of(st.text(), st.integers(), st.floats(), st.none()))
def test_anything_is_an_amount_or_a_unit_error(quantity: Quantity, value: object) -> None:
    try:
        amount = quantity.parse(value)
    except UnitError as error:
        assert error.expected
        assert error.advice
    else:
        assert 0 <= amount < 2**63


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


STEERING = [
    "\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "a\rb", "\x00", "\x7f", "\u202etxt.exe", "\ud800",
    "\u061c", "\u200b", "\u200f", "\u2060", "\u2064", "\ufeff", "\u202a", "\u2066", "\u2028", "\u2029",
    "\xad", "\U000e0041", "\ue000", "\x85",
]  # fmt: skip


@pytest.mark.parametrize("text", ["RoGUE, 8-to-1", "µs → Gb/s", "words\tand a tab", "日本", "👍", "a\u202fb"])
def test_words_stay_as_they_are(text: str) -> None:
    assert (printable(text), printable_lines(text), is_printable(text)) == (text, text, True)


def test_only_texts_of_lines_have_lines() -> None:
    assert printable("two\nlines") == "two\ufffdlines"
    assert (printable_lines("two\nlines"), is_printable("two\nlines")) == ("two\nlines", True)


@pytest.mark.parametrize("text", STEERING)
def test_what_steers_a_terminal_is_replaced(text: str) -> None:
    cleaned = printable(text)
    assert is_printable(cleaned) and not is_printable(text)
    assert printable_lines(text) == cleaned
    assert len(cleaned) == len(text)
    cleaned.encode()


def test_a_long_text_is_cut() -> None:
    assert shortened("x" * 60) == "x" * 60
    assert shortened("x" * 61) == "x" * 57 + "..."
    assert shortened("ab\x1bcdefg", 6) == "ab\ufffd..."


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "one"),
        (ValueError("\nlate"), "late"),
        (ValueError("x" * 90), "x" * 20),
        (ValueError("\x1b[2J"), "\ufffd[2J"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_an_error_has_a_first_line(error: Exception, line: str) -> None:
    assert first_line(error, 20) == line


def test_the_closest_word_is_offered() -> None:
    known = ["transports", "topologies", "workloads"]
    assert did_you_mean("topologeis", known) == "write topologies if that is meant"


def test_nothing_is_offered_where_nothing_is_close() -> None:
    assert did_you_mean("x", ["transports"]) == "choose one of them"
    assert did_you_mean(None, ["transports"], "remove it") == "remove it"
