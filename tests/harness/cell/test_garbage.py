import gc

import pytest

from rogue.harness.cell.demand import nothing_thrown_away


def test_nothing_is_looked_for_inside_and_all_is_as_before_afterwards() -> None:
    with nothing_thrown_away():
        assert not gc.isenabled()
        with nothing_thrown_away():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_passes_through() -> None:
    with pytest.raises(ValueError, match="inside"), nothing_thrown_away():
        raise ValueError("inside")
    assert gc.isenabled()
