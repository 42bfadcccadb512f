"""What stands below a model's keys."""

from pydantic import BaseModel

from rogue.workloads.specification import meanings


class Base(BaseModel):
    """A model."""

    rate_bps: int = 1
    """Of a link,
    in bits per second."""
    bare: int = 2


class Derived(Base):
    """One that adds to it."""

    bare: int = 3
    """Explained here alone."""


def test_a_field_is_explained_by_the_text_below_it_or_below_that_of_a_base() -> None:
    assert meanings(Base) == {"rate_bps": "Of a link,\nin bits per second."}
    assert meanings(Derived) == {**meanings(Base), "bare": "Explained here alone."}
