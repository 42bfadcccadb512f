"""Units: exact both ways, and a clear word about everything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
