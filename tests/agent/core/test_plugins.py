from collections.abc import Iterator

import pytest

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.estimators.literal import Literal
from rogue.agent.core.plugins import ADDED, register_control, register_estimator
from rogue.agent.core.transports import settings_for


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    for each in ADDED:
        each.remove()
    ADDED.clear()


def test_a_control_and_an_estimator_can_be_named() -> None:
    register_control("still", FixedParameters)
    register_estimator("plain", Literal)
    settings = settings_for("rogue", 10**10, {"cc": "still", "estimator": "plain", "window_packets": 3.0})
    assert settings.cc_parameters == FixedParameters(3.0)
    assert [str(each) for each in ADDED] == ["control still", "estimator plain"]
    for each in ADDED:
        each.remove()
    assert "still" not in CONGESTION_CONTROLS
    assert "plain" not in ESTIMATORS
    ADDED.clear()


@pytest.mark.parametrize(
    ("name", "words"),
    [("vegas", "a second control vegas"), ("../x", "the name '../x' of a control"), ("", "the name '' of a")],
)
def test_a_name_that_is_taken_or_none_is_refused(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        register_control(name, FixedParameters)
    assert ADDED == []


def test_something_else_than_a_class_of_its_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="as a estimator, expected a subclass of RttEstimator"):
        register_estimator("x", FixedParameters)  # type: ignore[arg-type]
