"""Where values lie on a key's range."""

from pathlib import Path

import pytest
from helpers.experiments import load_text
from helpers.searched import EXPERIMENT, HillTestbed

from rogue.harness.errors import UsageError
from rogue.harness.search.axis import axes_of, place_of
from rogue.harness.search.base import make_base
from rogue.harness.search.ranges import Range
from rogue.harness.search.space import Aim

SENDERS = Range.model_validate({"from": 2, "to": 8, "unit": "hosts", "source": "a test"})
SIZE = Range.model_validate({"from": "1KB", "to": "100MB", "scale": "log", "source": "a test"})
BUFFER = Range.model_validate({"choices": ["1MB", "3MB", "9MB"], "source": "a test"})


def test_an_axis_starts_at_the_experiments_own_value(tmp_path: Path) -> None:
    base = make_base(load_text(tmp_path, EXPERIMENT), HillTestbed(), Aim(metric="jain", transport="own"), 1)
    keys = {"workload.senders": SENDERS, "workload.size": SIZE, "topology.buffer": BUFFER}
    senders, size, buffer = axes_of(keys, base)
    assert (senders.start, buffer.start) == (0.0, 1.0) and size.start == pytest.approx(0.6)
    assert senders.distance_to(5) == 0.5 and size.distance_to("10MB") == pytest.approx(0.2)
    assert [buffer.at(share) for share in (0.0, 0.4, 1.0)] == ["1MB", "3MB", "9MB"]
    assert buffer.distance_to("3MB") == 0.5 and senders.at(0.5) == 5


@pytest.mark.parametrize(("key", "got"), [("topology.delay", "default"), ("workload.size", "1MB")])
def test_an_own_value_outside_of_the_range_is_a_sentence(tmp_path: Path, key: str, got: str) -> None:
    base = make_base(load_text(tmp_path, EXPERIMENT), HillTestbed(), Aim(metric="jain", transport="own"), 1)
    narrow = Range.model_validate({"from": "2MB", "to": "4MB", "source": "a test"})
    with pytest.raises(UsageError, match=f"got {got} at {key} .* expected a value from 2MB to 4MB"):
        axes_of({key: narrow}, base)


def test_what_is_no_value_of_a_range_has_no_place() -> None:
    assert place_of(SENDERS, 9) is None and place_of(SENDERS, 8) == 1.0
    assert place_of(BUFFER, "2MB") is None and place_of(SIZE, "default") is None


def test_an_end_has_its_place_however_it_is_written(tmp_path: Path) -> None:
    delay = Range.model_validate({"from": "1.5us", "to": "20us", "source": "a test"})
    assert place_of(delay, "1.5us") == place_of(delay, "1500ns") == 0.0
    assert place_of(delay, "1.4us") is None
    base = make_base(
        load_text(tmp_path, EXPERIMENT, "topology.delay=1.5us"), HillTestbed(),
        Aim(metric="jain", transport="own"), 1,
    )  # fmt: skip
    (axis,) = axes_of({"topology.delay": delay}, base)
    assert axis.distance_to(axis.at(0.0)) == 0.0, "the same time in other words is no change"
