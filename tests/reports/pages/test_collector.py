"""The garbage collector while a report is built."""

import gc

import pytest

from rogue.reports.pages.collector import OBJECTS_BETWEEN, seldom_collecting


def test_usual_thresholds_return_after_a_failure_too() -> None:
    usual = gc.get_threshold()
    with pytest.raises(ValueError, match="broken"), seldom_collecting():
        assert gc.get_threshold() == (OBJECTS_BETWEEN, *usual[1:])
        raise ValueError("broken")
    assert gc.get_threshold() == usual
