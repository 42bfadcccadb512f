from dataclasses import dataclass, field

import pytest

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.parameters import Parameters, at_least, between, override


@dataclass(frozen=True, slots=True)
class Sample(Parameters):
    size_bytes: int = field(default=10, metadata=at_least(1))
    share: float = field(default=0.5, metadata=between(0, 1))
    is_on: bool = True


def test_values_replace_defaults_and_the_rest_stays() -> None:
    assert override(Sample(), {"share": 0.25, "is_on": False}) == Sample(
        size_bytes=10, share=0.25, is_on=False
    )


def test_a_whole_number_may_stand_for_a_fraction() -> None:
    assert override(Sample(), {"share": 1}).share == 1


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"sise_bytes": 1}, "sise_bytes: got 1, expected one of the parameters is_on, share, size_bytes"),
        ({"size_bytes": 1.5}, "size_bytes: got 1.5, expected a value of type int"),
        ({"size_bytes": True}, "size_bytes: got True, expected a value of type int"),
        ({"size_bytes": "1"}, "size_bytes: got '1', expected a value of type int"),
        ({"size_bytes": 0}, "size_bytes: got 0, expected a number of at least 1"),
        ({"share": 1.5}, "share: got 1.5, expected a number from 0 to 1"),
        ({"share": float("nan")}, "share: got nan, expected a number from 0 to 1"),
        ({"is_on": 1}, "is_on: got 1, expected a value of type bool"),
    ],
)
def test_bad_overrides_are_refused_with_a_reason(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        override(Sample(), overrides)
    assert str(caught.value) == message


def test_infinity_is_not_a_number_of_bytes() -> None:
    @dataclass(frozen=True, slots=True)
    class Open(Parameters):
        rate: float = field(default=1.0, metadata=at_least(0))

    with pytest.raises(SettingsError, match="rate: got inf"):
        override(Open(), {"rate": float("inf")})
