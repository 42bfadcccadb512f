"""Where a factor's values stand on an axis."""

import pytest
from matplotlib.figure import Figure

from rogue.reports.drawing.factor_axis import apply, factor_axis


@pytest.mark.parametrize(
    ("key", "values", "places", "is_log"),
    [
        ("workload.senders", ["8", "2", "4"], {"2": 2, "4": 4, "8": 8}, False),
        ("workload.size", ["64B", "64KiB"], {"64B": 64, "64KiB": 65_536}, True),
        ("transports[0].rtt_noise", ["0us", "100us"], {"0us": 0, "100us": 100_000}, False),
        ("workload.verb", ["write", "read"], {"write": 0, "read": 1}, False),
        ("faults[0].one_in", ["0", "4096", "65536"], {"0": 0, "65536": 1 / 65_536, "4096": 1 / 4096}, False),
        ("faults[0].one_in", ["0", "1024", "65536"], {"0": 0, "65536": 1 / 65_536, "1024": 1 / 1024}, True),
    ],
)
def test_values_stand_by_size_or_in_order(
    key: str, values: list[str], places: dict[str, float], is_log: bool
) -> None:
    axis = factor_axis(key, values)
    assert axis.places == places
    assert list(axis.places) == list(places)
    assert axis.is_log is is_log


def test_loss_is_labelled_as_a_fraction() -> None:
    assert factor_axis("faults[0].one_in", ["0", "4096"]).labels == {"0": "0", "4096": "1/4096"}


def test_labels_that_would_touch_are_left_out() -> None:
    panel = Figure().subplots()
    apply(panel, factor_axis("workload.senders", [str(n) for n in range(1, 41)]))
    labels = [text.get_text() for text in panel.get_xticklabels()]
    assert labels[0] == "1"
    assert 5 <= sum(bool(label) for label in labels) <= 25
    assert len(labels) == 40


def test_single_value_has_room_around_it() -> None:
    panel = Figure().subplots()
    apply(panel, factor_axis("workload.senders", ["8"]))
    assert panel.get_xlim() == (7.5, 8.5)


def test_zero_has_a_place_beside_a_logarithmic_axis() -> None:
    """One in 65536, 8192 and 1024 are as far apart as they are from each other; zero stands left of them."""
    panel = Figure().subplots()
    apply(panel, factor_axis("faults[0].one_in", ["0", "65536", "8192", "1024"]))
    to_axes = panel.transScale + panel.transLimits
    zero, first, second, third = (
        float(to_axes.transform((place, 0.0))[0]) for place in (0.0, 1 / 65_536, 1 / 8192, 1 / 1024)
    )
    assert 0 < zero < first
    assert second - first == pytest.approx(third - second)
    assert panel.get_xlabel() == "fraction of the packets that is lost"
