"""What all tests share."""

from hypothesis import settings

# Hypothesis's deadline is a wall clock, and would fail at random on a busy machine.
settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")
