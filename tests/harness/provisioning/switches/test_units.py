import pytest

from rogue.harness.provisioning.switches.platform import kilobytes_mistake, percent_mistake, whole_percent


@pytest.mark.parametrize(("probability", "percent"), [(0.01, 1), (0.07, 7), (0.29, 29), (1.0, 100)])
def test_whole_percent(probability: float, percent: int) -> None:
    assert (whole_percent(probability), percent_mistake(probability)) == (percent, None)


@pytest.mark.parametrize("probability", [0.001, 0.125, 0.005])
def test_less_than_a_percent_cannot_be_said(probability: float) -> None:
    assert str(percent_mistake(probability)).startswith(f"got probability {probability:g}, expected whole")


def test_whole_kilobytes() -> None:
    assert kilobytes_mistake(150_000, 1000) is None
    assert kilobytes_mistake(150_000, 1024) == "got 150000 bytes, expected a multiple of 1024"
